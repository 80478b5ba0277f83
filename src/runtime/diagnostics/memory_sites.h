// Where the memory was allocated, and freed, that a finding is about: lines of host code.
#pragma once

#include "memory/address_space.h"
#include "report/diagnostic.h"

#include <optional>

namespace heddle::runtime {

/// Adds labels "allocated here" and "freed here", or notes, if the program has asked for it through
/// the API. `nearest`: what the finding names.
void add_memory_sites(report::Diagnostic& d, const std::optional<memory::Allocation>& nearest);

/// "allocated here", whatever became of it since: of what a race or an uninitialised value is in.
void add_allocation_site(report::Diagnostic& d, const std::optional<memory::Allocation>& one);

/// "freed here", which becomes the place of the finding if there is none.
void add_free_site(report::Diagnostic& d, const std::optional<memory::Allocation>& one);

} // namespace heddle::runtime
