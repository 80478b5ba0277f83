// A barrier that threads do not come to which have ended: fine by PTX, not by the CUDA guide.
//@ exercises: [BAR-GUIDE] as a finding: --barriers=guide
//@ flags: -lineinfo
//@ heddle: --barriers=guide
//@ exit: 1
//@ expect: ended_barrier_guide.cu:18:.* error\[barrier-divergence\]: a barrier of the block is skipped by threads that have already ended
//@ expect: 18 \|     __syncthreads\(\);
//@ expect: \(1\) thread
//@ expect: 14 \|   if \(threadIdx.x == 0\) \{
//@ expect: \(2\) the other threads skip the barrier here
#include <cuda_runtime.h>

__global__ void run(int* out) {
  if (threadIdx.x == 0) {
    out[0] = 1;
  } else {
    out[threadIdx.x] = 2;
    __syncthreads();
    out[threadIdx.x + 64] = out[65 - threadIdx.x];
  }
}

int main() {
  int* out;
  cudaMalloc(&out, 512);
  run<<<1, 64>>>(out);
  cudaDeviceSynchronize();
}
