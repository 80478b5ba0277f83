// Macros by which programs ask for the compiler's version.
#include <cuda_runtime.h>
#if __CUDACC_VER_MAJOR__ * 100 + __CUDACC_VER_MINOR__ < 1105
#error "nvcc 11.5 or newer is needed"
#endif
#if !defined(__NVCC__) || !defined(__CUDACC_VER_BUILD__) || __CUDACC_VER_MAJOR__ != CUDART_VERSION / 1000
#error "not the toolkit's version"
#endif
__global__ void old_bad(int* out) {
#if __CUDACC_VER_MAJOR__ >= 12
  if (threadIdx.x < 16) __syncthreads(); // expect: thread_synchronization_in_divergent_region
#endif
  out[threadIdx.x] = 1;
}
