// What the audit library and libheddle_bind.so know of a program with NVIDIA's runtime library
// inside (nvcc's default, -cudart static).
//
//   cudaMalloc of the program:   jmp entry_i
//   entry_i:                     jmp *functions[i].target     (at first: on to the next line)
//                                push i; push runtime; jmp heddle_bind_first
//
// So the first call of any function asks libheddle_bind.so for all of them, and each later call
// goes to Heddle's libcudart directly. The dynamic linker binds functions in the same way.
#pragma once

#include <cstdint>

namespace heddle::loader {

struct StaticFunction {
  void* target; // where the call goes
  const char* name;
};

/// One program or library that contains a runtime library.
struct StaticRuntime {
  const char* file;
  std::uint32_t major; // 12 or 13: which libcudart has the functions that it was compiled for
  std::uint32_t count;
  StaticFunction* functions;
};

} // namespace heddle::loader
