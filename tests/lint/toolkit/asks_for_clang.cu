// lint-options: --arch=sm_90 -- -std=c++17
// What a program has for Clang alone does not compile here; nvcc reads the other branch.
#include <cuda_runtime.h>

#if defined(__clang__)
__device__ only_for_clang made(void);
#endif

#ifdef __clang__
__device__ int twice(only_for_clang v) { return v.n; }
#else
__device__ int twice(int v) { return 2 * v; }
#endif

__global__ void all_threads(int* p) {
  p[threadIdx.x] = twice(p[threadIdx.x]);
  __syncthreads();
}

__global__ void some_threads_bad(int* p) {
  if (threadIdx.x < 3) {
    p[threadIdx.x] = twice(p[threadIdx.x]);
    __syncthreads(); // expect: thread_synchronization_in_divergent_region
  }
  p[0] += 1;
}
