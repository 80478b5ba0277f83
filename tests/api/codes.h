// CODE(call): prints what the call returned and what that did to the thread's last error. The outputs
// beside the programs are those of an H200 (driver 580.159.04, CUDA 13.0).
#pragma once

#include <cstdio>
#include <cuda_runtime.h>

inline void print_code(const char* call, cudaError_t code) {
  const cudaError_t peeked = cudaPeekAtLastError();
  const cudaError_t last = cudaGetLastError();
  const cudaError_t again = cudaGetLastError();
  std::printf("%s: %d, peek %d, last %d, again %d\n", call, code, peeked, last, again);
  std::fflush(stdout);
}

#define CODE(...) print_code(#__VA_ARGS__, __VA_ARGS__)
/// A launch written with <<<…>>>: what cudaGetLastError says after it.
#define LAUNCH(...)                                                                                \
  do {                                                                                             \
    __VA_ARGS__;                                                                                   \
    std::printf("%s: %d\n", #__VA_ARGS__, cudaGetLastError());                                     \
    std::fflush(stdout);                                                                           \
  } while (false)
