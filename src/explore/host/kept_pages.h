// KeptPages: memory of the host's that is no longer registered, and that work under way still
// reaches, because cudaHostUnregister has not waited for it ([API-WAIT]).
//
//   keep_pages(p, bytes, command);  // cudaHostUnregister goes on before devices have finished
//   keeps_pages(p, bytes)           // asked by free(): the heap must not have these back
//   let_pages_go(p);                // devices have finished: `command` is carried out
//
// A search is one thread of the kernel, so nothing here is locked. What is kept follows from the
// commands under way, so it is no part of a state's name.
#pragma once

#include "machine/world.h"

#include <cstddef>
#include <vector>

namespace heddle::explore {

/// False: there are too many already, or the program is not instrumented.
bool keep_pages(const void* p, std::size_t bytes, machine::CommandPtr until);
void let_pages_go(const void* p);
/// Any of [p, p + bytes)?
bool keeps_pages(const void* p, std::size_t bytes);
/// Until when.
std::vector<machine::CommandPtr> keepers_of(const void* p, std::size_t bytes);

} // namespace heddle::explore
