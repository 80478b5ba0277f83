// What allocation, copy and set calls answer to right and wrong arguments.
//@ exercises: cudaMalloc, cudaMemcpy with every kind between every pair of memories, cudaMemset, symbols
#include "codes.h"

#include <cstdlib>

__device__ int variable[16];
__constant__ int constants[4];
__managed__ int managed;

int main() {
  int host[64] = {};
  int* device = nullptr;
  int* other = reinterpret_cast<int*>(8);
  void* address = nullptr;
  std::size_t size = 0;
  CODE(cudaMalloc(&other, 0));
  std::printf("%d\n", other == nullptr);
  CODE(cudaMalloc(static_cast<void**>(nullptr), 4));
  CODE(cudaMalloc(&other, 1ULL << 45));
  CODE(cudaFree(nullptr));
  CODE(cudaMalloc(&device, 256));

  CODE(cudaMemcpy(device, host, 256, cudaMemcpyHostToDevice));
  CODE(cudaMemcpy(device, host, 256, cudaMemcpyDeviceToHost));
  CODE(cudaMemcpy(device, host, 256, cudaMemcpyHostToHost));
  CODE(cudaMemcpy(device, host, 256, cudaMemcpyDeviceToDevice));
  CODE(cudaMemcpy(device, host, 256, cudaMemcpyDefault));
  CODE(cudaMemcpy(host, device, 256, cudaMemcpyHostToDevice));
  CODE(cudaMemcpy(host, device, 256, cudaMemcpyDeviceToHost));
  CODE(cudaMemcpy(device, device, 256, cudaMemcpyHostToDevice));
  CODE(cudaMemcpy(host, host + 32, 128, cudaMemcpyDefault));
  CODE(cudaMemcpy(host, host + 32, 128, cudaMemcpyHostToDevice));
  CODE(cudaMemcpy(host, host + 32, 128, cudaMemcpyDeviceToHost));
  CODE(cudaMemcpy(device, host, 256, static_cast<cudaMemcpyKind>(5)));
  CODE(cudaMemcpy(device, host, 256, static_cast<cudaMemcpyKind>(-1)));

  int* big = static_cast<int*>(std::calloc(1, 1 << 24));
  CODE(cudaMemcpy(device, big, 1 << 23, cudaMemcpyHostToDevice));
  CODE(cudaMemcpy(device, big, 257, cudaMemcpyHostToDevice));
  CODE(cudaMemcpy(big, device, 1 << 23, cudaMemcpyDeviceToHost));
  CODE(cudaMemcpy(nullptr, host, 4, cudaMemcpyHostToDevice));
  CODE(cudaMemcpy(device, nullptr, 4, cudaMemcpyHostToDevice));
  CODE(cudaMemcpy(nullptr, nullptr, 0, cudaMemcpyHostToDevice));
  CODE(cudaMemcpy(device, nullptr, 4, cudaMemcpyDefault));

  CODE(cudaMemset(device, 0, 256));
  CODE(cudaMemset(device, 0, 1 << 24));
  CODE(cudaMemset(host, 0, 4));
  CODE(cudaMemset(nullptr, 0, 4));
  CODE(cudaMemset(nullptr, 0, 0));
  CODE(cudaMemsetAsync(device, 0, 4, cudaStream_t{}));

  CODE(cudaMemcpyToSymbol(variable, host, 64));
  CODE(cudaMemcpyToSymbol(variable, host, 65));
  CODE(cudaMemcpyToSymbol(variable, host, 4, 60));
  CODE(cudaMemcpyToSymbol(variable, host, 4, 61));
  CODE(cudaMemcpyToSymbol(variable, host, 4, 0, cudaMemcpyDeviceToHost));
  CODE(cudaMemcpyToSymbol(variable, device, 4, 0, cudaMemcpyDeviceToDevice));
  CODE(cudaMemcpyToSymbol(variable, device, 4, 0, cudaMemcpyDefault));
  CODE(cudaMemcpyFromSymbol(host, variable, 64));
  CODE(cudaMemcpyFromSymbol(host, variable, 68));
  CODE(cudaMemcpyToSymbol(static_cast<const void*>(host), host, 4));
  CODE(cudaMemcpyToSymbol(static_cast<const void*>(nullptr), host, 4));
  CODE(cudaMemcpyToSymbol(constants, host, 16));
  CODE(cudaMemcpyToSymbol(variable, static_cast<void*>(nullptr), 4));
  CODE(cudaMemcpyToSymbol(managed, host, 4));
  CODE(cudaGetSymbolAddress(&address, variable));
  CODE(cudaGetSymbolAddress(&address, static_cast<const void*>(host)));
  CODE(cudaGetSymbolSize(&size, constants));
  std::printf("%zu\n", size);
  CODE(cudaGetSymbolSize(&size, static_cast<const void*>(host)));
  CODE(cudaMemGetInfo(&size, &size));
  CODE(cudaFree(device));
  std::free(big);
}
