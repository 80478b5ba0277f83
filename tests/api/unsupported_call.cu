// An entry point that Heddle does not implement: named once, answered NotSupported, exit code 3.
//@ exercises: unsupported.def
//@ exit: 3
//@ expect: heddle: unsupported: cudaImportExternalMemory
#include <cstdio>
#include <cuda_runtime.h>

int main() {
  cudaExternalMemory_t memory;
  cudaExternalMemoryHandleDesc description = {};
  for (int i = 0; i < 2; ++i) {
    const cudaError_t code = cudaImportExternalMemory(&memory, &description);
    const cudaError_t last = cudaGetLastError();
    std::printf("%s %s\n", cudaGetErrorName(code), cudaGetErrorName(last));
  }
}
