// Floating-point atomics: every type and vector width. The values add up exactly, so the order cannot show.
//@ exercises: atomicAdd on float, double, half, half2, bfloat16(2), float2 and float4; red.add; atomic min/max of floats by bit tricks
#include "support.h"

#include <cuda_bf16.h>
#include <cuda_fp16.h>

struct Sums {
  float single;
  double wide;
  float2 two;
  alignas(16) float4 four;
  __half half_value;
  alignas(4) __half2 half_pair;
  __nv_bfloat16 brain;
  alignas(4) __nv_bfloat162 brain_pair;
  float lowest, highest;
};

__device__ void atomic_max(float* address, float value) {
  // The order of non-negative floats is that of their bits, and the reverse for negative ones.
  if (value >= 0) {
    atomicMax(reinterpret_cast<int*>(address), __float_as_int(value));
  } else {
    atomicMin(reinterpret_cast<unsigned*>(address), __float_as_uint(value));
  }
}

__global__ void add(Sums* sums) {
  int t = blockIdx.x * blockDim.x + threadIdx.x;
  float quarter = 0.25f * (t % 5);
  atomicAdd(&sums->single, quarter);
  atomicAdd(&sums->wide, t * 0.125);
  atomicAdd(&sums->two, make_float2(1.0f, 0.5f));
  atomicAdd(&sums->four, make_float4(1, 2, 3, 0.25f));
  atomicAdd(&sums->half_value, __float2half(0.5f));
  atomicAdd(&sums->half_pair, __floats2half2_rn(1.0f, 0.25f));
  if (t < 128) {
    atomicAdd(&sums->brain, __float2bfloat16(1.0f));
    atomicAdd(&sums->brain_pair, __floats2bfloat162_rn(1.0f, 0.5f));
  }
  atomic_max(&sums->highest, 0.1f * ((t * 37) % 256));
}

__global__ void add_shared(float* single, double* wide) {
  __shared__ float partial;
  __shared__ double wide_partial[2];
  if (threadIdx.x < 2) {
    if (threadIdx.x == 0) {
      partial = 0;
    }
    wide_partial[threadIdx.x] = 0;
  }
  __syncthreads();
  float before = atomicAdd(&partial, 1.0f);
  atomicAdd(&wide_partial[threadIdx.x % 2], before * 0.5);
  __syncthreads();
  if (threadIdx.x == 0) {
    atomicAdd_system(single, partial);
    atomicAdd_block(wide, wide_partial[0] + wide_partial[1]);
  }
}

int main() {
  Buffer<Sums> sums(1);
  add<<<4, 64>>>(sums);
  SYNC_OK();
  Sums s = sums.get()[0];
  std::printf("%g %g (%g %g) (%g %g %g %g)\n", s.single, s.wide, s.two.x, s.two.y, s.four.x, s.four.y, s.four.z, s.four.w);
  std::printf("%g (%g %g) %g (%g %g) %g\n", __half2float(s.half_value), __low2float(s.half_pair), __high2float(s.half_pair),
              __bfloat162float(s.brain), __low2float(s.brain_pair), __high2float(s.brain_pair), s.highest);
  Buffer<float> single(1);
  Buffer<double> wide(1);
  add_shared<<<1, 100>>>(single, wide);
  SYNC_OK();
  std::printf("shared %g %g\n", single.get()[0], wide.get()[0]);
}
