// libheddle_nvrtc.so: NVRTC's calls that hand out machine code hand out PTX instead.
//
// A program that compiles kernels while it runs may ask NVIDIA's compiler for a cubin, which
// nothing here can run; the same compilation has PTX too, and whoever loads the one loads the other
// (both go to cuModuleLoadData). This library is preloaded into programs that need libnvrtc, or may
// load it (compiler_symbols.h), which does everything else. Wrong where a program looks into the
// cubin itself.
#include "runtime/toolchain/compiler_symbols.h"

#include <cstddef>

namespace {

constexpr int nvrtc_internal_error = 11; // NVRTC_ERROR_INTERNAL_ERROR

template <class Function, class... Arguments>
int call_next(const char* name, Arguments... arguments) {
  const auto next = reinterpret_cast<Function>(heddle::runtime::next_compiler_symbol(name));
  return next != nullptr ? next(arguments...) : nvrtc_internal_error;
}

} // namespace

#pragma GCC visibility push(default)
extern "C" {

int nvrtcGetCUBINSize(void* program, std::size_t* bytes) {
  return call_next<int (*)(void*, std::size_t*)>("nvrtcGetPTXSize", program, bytes);
}

int nvrtcGetCUBIN(void* program, char* code) {
  return call_next<int (*)(void*, char*)>("nvrtcGetPTX", program, code);
}

} // extern "C"
#pragma GCC visibility pop
