// The reference: every schedule of a micro-program, without any reduction.
//
// To be read in one go: depth first over the machine, every move of every state, each thread told
// apart from every other one. The judge is that of `heddle check`.
#pragma once

#include "reduce/micro_device.h"
#include "reduce/outcome.h"

namespace heddle::enumeration {

Outcome reference_search(MicroDevice& device);

} // namespace heddle::enumeration
