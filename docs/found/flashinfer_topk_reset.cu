// The last block resets what the others have read, and has not acquired that they have
//
// Program: FlashInfer 0.7.2rc6, include/flashinfer/topk.cuh, the last block of a group
// Status: formal. By the memory model the reset may come before the reads; no hardware is known to do so, since the
//   reset depends on the value of the update.
// Reported: no, and it need not be
// Rule: RACE-SYNC. The others release by a fence and an update; the last one updates relaxed and does not acquire.
//@ command: run --races
//@ exit: 1
//@ findings: 1
//@ expect: is read at .* without an acquire
#include <cuda_runtime.h>

__global__ void group(int* histogram, unsigned* left, int* out) {
  out[blockIdx.x] = histogram[0];
  __threadfence(); // an atomicAdd behind it releases; there is no fence behind that
  if (atomicAdd(left, 1) == gridDim.x - 1) {
    histogram[0] = 0;
  }
}

int main() {
  int* memory;
  cudaMalloc(&memory, 16 * sizeof(int));
  cudaMemset(memory, 0, 16 * sizeof(int));
  group<<<4, 1>>>(memory, reinterpret_cast<unsigned*>(memory + 1), memory + 2);
  return cudaDeviceSynchronize();
}
