// The reference: every schedule of a micro-program, without any reduction.
//
// To be read in one go: depth first over the machine, every move of every state, each thread told
// apart from every other one. The judge is that of `heddle check`.
#pragma once

#include "reduce/micro_device.h"
#include "reduce/outcome.h"

#include <cstddef>
#include <limits>
#include <optional>

namespace heddle::enumeration {

struct ReferenceOptions {
  std::size_t most = std::numeric_limits<std::size_t>::max(); // states
  bool checks_names = true; // that states of one name go on alike, which doubles the time
};

/// Nothing: there are more than `most` states.
std::optional<Outcome> reference_search(MicroDevice& device, const ReferenceOptions& options = {});

} // namespace heddle::enumeration
