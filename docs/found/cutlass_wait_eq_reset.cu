// A wait by a relaxed compare-and-swap, and what was waited for is read without an acquire
//
// Program: CUTLASS 4.2, include/cutlass/barrier.h, GenericBarrier::wait_eq_reset (used by stream-K)
// Status: formal. By the memory model the reads may come before the compare-and-swap has succeeded; the barrier of the
//   block behind it makes that unlikely on every GPU that we know of.
// Reported: no, and it need not be
// Rule: RACE-SYNC. A compare-and-swap without an order is relaxed. Mend: __threadfence() behind it.
//@ command: run --races
//@ exit: 1
//@ findings: 1
//@ expect: is read at .* without an acquire
#include <cuda_runtime.h>

__global__ void partial_sums(float* sums, int* flag, float* out) {
  if (blockIdx.x == 0) {
    sums[threadIdx.x] = 1;
    __syncthreads();
    if (threadIdx.x == 0) {
      __threadfence();
      atomicAdd(flag, 1);
    }
  } else {
    if (threadIdx.x == 0) {
      while (atomicCAS(flag, 1, 0) != 1) {
      }
    }
    __syncthreads();
    out[threadIdx.x] = sums[threadIdx.x];
  }
}

int main() {
  float* memory;
  int* flag;
  cudaMalloc(&memory, 64 * sizeof(float));
  cudaMalloc(&flag, sizeof(int));
  cudaMemset(flag, 0, sizeof(int));
  partial_sums<<<2, 32>>>(memory, flag, memory + 32);
  return cudaDeviceSynchronize();
}
