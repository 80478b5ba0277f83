// What the heap must not have back, because devices still reach it.
#pragma once

#include <cstddef>

extern "C" {

/// Asked before [p, p + bytes) is returned to the heap; nullptr: nothing is kept. Looked up with
/// dlsym by the explorer.
void heddle_set_kept(bool (*keeps)(const void* p, std::size_t bytes));

} // extern "C"
