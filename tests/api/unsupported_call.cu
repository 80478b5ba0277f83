// An entry point that Heddle does not implement: named once, answered NotSupported, exit code 3.
// The same for who asks for functions that NVIDIA's libraries have among themselves, as a runtime
// of their own does.
//@ exercises: unsupported.def, cuGetExportTable
//@ exit: 3
//@ expect: heddle: unsupported: cudaImportExternalMemory
//@ expect: error\[unsupported\]: .* asks the driver for NVIDIA's private tables
#include <cuda.h>
#include <cuda_runtime.h>

#include <cstdio>

int main() {
  cudaExternalMemory_t memory;
  cudaExternalMemoryHandleDesc description = {};
  for (int i = 0; i < 2; ++i) {
    const cudaError_t code = cudaImportExternalMemory(&memory, &description);
    const cudaError_t last = cudaGetLastError();
    std::printf("%s %s\n", cudaGetErrorName(code), cudaGetErrorName(last));
  }
  void* ask = nullptr;
  cudaGetDriverEntryPointByVersion("cuGetExportTable", &ask, 12000, cudaEnableDefault, nullptr);
  const void* table = nullptr;
  CUuuid id = {};
  std::printf("%d\n", reinterpret_cast<decltype(&cuGetExportTable)>(ask)(&table, &id));
}
