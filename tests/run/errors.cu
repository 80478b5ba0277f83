// Error codes: what wrong calls return, how the last error is kept and cleared, names and texts.
//@ exercises: cudaGetLastError/cudaPeekAtLastError, invalid values, handles and symbols, cudaGetErrorString, error after an asynchronous failure is not needed here
#include "support.h"

__global__ void nothing() {}
__device__ int symbol;

#define SHOW(call) std::printf("%s: %s\n", #call, cudaGetErrorName(call))

int main() {
  int* device;
  CUDA_OK(cudaMalloc(&device, 64));
  int host[4] = {};
  SHOW(cudaMemcpy(nullptr, host, 16, cudaMemcpyHostToDevice));
  SHOW(cudaMemcpy(device, host, 16, static_cast<cudaMemcpyKind>(77)));
  SHOW(cudaMemcpyToSymbol(symbol, host, 16));
  SHOW(cudaMemset(nullptr, 0, 8));
  nothing<<<1, 4096>>>();
  SHOW(cudaPeekAtLastError());
  SHOW(cudaGetLastError());
  SHOW(cudaGetLastError());
  nothing<<<1, 1>>>();
  SHOW(cudaGetLastError());
  SHOW(cudaDeviceSynchronize());
  std::printf("%s | %s | %s\n", cudaGetErrorString(cudaSuccess), cudaGetErrorString(cudaErrorInvalidValue),
              cudaGetErrorString(cudaErrorMemoryAllocation));
  std::printf("%s | %s\n", cudaGetErrorString(cudaErrorIllegalAddress), cudaGetErrorName(static_cast<cudaError_t>(12345)));
  // NotReady is an answer, not an error: it is not remembered.
  SHOW(cudaFree(device));
  SHOW(cudaGetLastError());
  SHOW(cudaMallocHost(nullptr, 16));
  SHOW(cudaStreamCreate(nullptr));
  SHOW(cudaEventRecord(nullptr));
}
