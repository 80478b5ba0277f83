// The second half of library_work.h: memory whose address a stand-in reads from device memory while it
// works (arrays of pointers).
#pragma once

#include <cstdint>

extern "C" {

/// Where the host reaches `bytes` bytes at an address of the device; nullptr: they are not all there,
/// which has then been reported. Only while work of heddle_library_work is carried out.
void* heddle_library_reach(const char* call, const void* at, std::uint64_t bytes);
using HeddleLibraryReach = decltype(heddle_library_reach);

} // extern "C"
