// A race between host code and work in flight, of a plain run, in words.
#pragma once

#include "report/diagnostic.h"
#include "runtime/diagnostics/pending_work.h"

namespace heddle::runtime {

report::Diagnostic diagnose(const PendingRace& race, const memory::AddressSpace& space);

} // namespace heddle::runtime
