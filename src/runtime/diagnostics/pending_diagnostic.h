// A race between host code and work in flight, of a plain run, in words.
#pragma once

#include "report/diagnostic.h"
#include "runtime/diagnostics/pending_pairs.h"
#include "runtime/diagnostics/pending_work.h"

namespace heddle::runtime {

report::Diagnostic diagnose(const PendingRace& race, const memory::AddressSpace& space);
/// Two commands that nothing orders.
report::Diagnostic diagnose(const PairedRace& race, const memory::AddressSpace& space);
/// And memory that is freed while work in flight uses it.
report::Diagnostic diagnose(const PendingFree& free);

} // namespace heddle::runtime
