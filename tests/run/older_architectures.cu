// PTX for older and for several architectures at once: the newest that fits is taken, and __CUDA_ARCH__ tells which.
//@ exercises: fat binaries with several entries, PTX of sm_75 and sm_80 on a newer device, code that differs by __CUDA_ARCH__, fatbin compression modes
//@ flags: -gencode arch=compute_75,code=compute_75 -gencode arch=compute_80,code=[sm_80,compute_80] -gencode arch=compute_90,code=[sm_90,compute_90]
//@ also-flags: -gencode arch=compute_75,code=compute_75 -gencode arch=compute_90,code=compute_90 --compress-mode=none
//@ also-flags: -gencode arch=compute_90,code=[sm_90,compute_90] --compress-mode=speed
//@ also-flags: -gencode arch=compute_90,code=[sm_90,compute_90] --compress-mode=size
#include "support.h"

#include <cuda_fp16.h>

__global__ void architecture(int* out) {
#if __CUDA_ARCH__ >= 900
  out[0] = 90;
#elif __CUDA_ARCH__ >= 800
  out[0] = 80;
#else
  out[0] = 75;
#endif
}

__global__ void work(int* out) {
  int lane = threadIdx.x;
  // Reductions by instruction from sm_80 on, by shuffles before: the same result.
#if __CUDA_ARCH__ >= 800
  int sum = __reduce_add_sync(0xffffffffu, lane * 3);
#else
  int sum = lane * 3;
  for (int offset = 16; offset; offset /= 2) {
    sum += __shfl_xor_sync(0xffffffffu, sum, offset);
  }
#endif
  __half2 h = __hfma2(__half2half2(__int2half_rn(lane)), __float2half2_rn(0.5f), __float2half2_rn(1.0f));
  atomicAdd(&out[1], sum + static_cast<int>(__low2float(h) * 2));
}

int main() {
  Buffer<int> out(2);
  architecture<<<1, 1>>>(out);
  work<<<1, 32>>>(out);
  SYNC_OK();
  std::printf("architecture %d, sum %d\n", out.get()[0], out.get()[1]);
  cudaFuncAttributes attributes;
  CUDA_OK(cudaFuncGetAttributes(&attributes, work));
  std::printf("ptx %d\n", attributes.ptxVersion);
}
