// Two reductions of a block in the same words of shared memory, without a barrier between them
//
// Program: ggml 0.9.8, src/ggml-cuda/common.cuh, block_reduce (softmax of 1024 columns: maximum, then sum)
// Status: confirmed; fixed in 0.15 (llama.cpp pull request 26385, "Fix data-races when reusing SMEM in block_reduce")
// Reported: by its authors, who found it with another tool; not by us
// Rule: RACE-BARRIER. A warp that has its result of the first reduction writes its part of the second one, while
//   another warp still reads the first.
//@ command: run --races
//@ exit: 1
//@ findings: 1
//@ expect: error\[data-race\]: .* in shared memory
//@ expect: put __syncthreads\(\)
#include <cuda_runtime.h>

template <class F> __device__ float of_block(float value, float* words, F combine) {
  for (int apart = 16; apart > 0; apart /= 2) {
    value = combine(value, __shfl_xor_sync(~0u, value, apart));
  }
  if (threadIdx.x % 32 == 0) {
    words[threadIdx.x / 32] = value;
  }
  __syncthreads();
  value = words[threadIdx.x % (blockDim.x / 32)];
  for (int apart = 16; apart > 0; apart /= 2) {
    value = combine(value, __shfl_xor_sync(~0u, value, apart));
  }
  return value;
}

__global__ void softmax(const float* in, float* out) {
  __shared__ float words[32];
  const float x = in[threadIdx.x];
  const float largest = of_block(x, words, [](float a, float b) { return fmaxf(a, b); });
  const float power = expf(x - largest);
  // __syncthreads() is missing here.
  const float sum = of_block(power, words, [](float a, float b) { return a + b; });
  out[threadIdx.x] = power / sum;
}

int main() {
  float* memory;
  cudaMalloc(&memory, 2048 * sizeof(float));
  cudaMemset(memory, 0, 2048 * sizeof(float));
  softmax<<<1, 1024>>>(memory, memory + 1024);
  return cudaDeviceSynchronize();
}
