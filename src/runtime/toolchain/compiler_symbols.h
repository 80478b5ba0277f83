// Part of libheddle_nvrtc.so: where NVIDIA's function of a name is that this library stands before.
//
// A program that is linked with libnvrtc or libnvJitLink finds ours first. One that loads them
// itself (Python's packages do) asks dlsym with the handle of NVIDIA's library: dlsym is ours too,
// and keeps the handle. Wrong where two versions of one library are loaded in this way: the handle
// of the last one is kept.
#pragma once

namespace heddle::runtime {

/// nullptr: there is none.
void* next_compiler_symbol(const char* name);

} // namespace heddle::runtime
