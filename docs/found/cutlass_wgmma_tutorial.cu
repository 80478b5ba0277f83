// Copies of four warps are multiplied together without a barrier between
//
// Program: CUTLASS 4.2, examples/cute/tutorial/hopper/wgmma_sm90.cu
// Status: formal. PTX orders nothing between the warps here; on an H200 they meet at the instruction, and its results are
//   right.
// Reported: no
// Rule: RACE-BARRIER. wgmma reads the matrices of all four warps once the first of them has come.
//@ command: run --races --nvcc=-gencode=arch=compute_90a,code=[sm_90a,compute_90a]
//@ exit: 1
//@ findings: 1
//@ expect: error\[data-race\]: asynchronous read races with a write in shared memory|races with
#include <cuda_runtime.h>

constexpr int a_bytes = 64 * 16 * 2;
constexpr int b_bytes = 8 * 16 * 2;

__device__ unsigned long long matrix_at(const void* p) { // no swizzle; 128 and 256 bytes apart
  const auto at = static_cast<unsigned long long>(__cvta_generic_to_shared(p));
  return (at & 0x3ffff) >> 4 | 8ull << 16 | 16ull << 32;
}

__global__ void multiply(float* out) {
  __shared__ alignas(128) unsigned char memory[a_bytes + b_bytes];
  for (int i = threadIdx.x; i < a_bytes + b_bytes; i += 128) {
    memory[i] = 0;
  }
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  // __syncthreads() is missing here.
  float d[4] = {};
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
  asm volatile("wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%0, %1, %2, %3}, %4, %5, 0, 1, 1, 0, 0;"
               : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
               : "l"(matrix_at(memory)), "l"(matrix_at(memory + a_bytes)));
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
  asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
  out[threadIdx.x] = d[0] + d[1] + d[2] + d[3];
}

int main() {
  float* out;
  cudaMalloc(&out, 128 * sizeof(float));
  multiply<<<1, 128>>>(out);
  return cudaDeviceSynchronize();
}
