// Second unit of separate_compilation.cu: definitions that the first one uses.
#include "separate.h"

__device__ int global_counter = 1000;
__device__ int global_table[16] = {1, 2, 4, 8};
__constant__ float weights[4] = {0.5f, 1.5f, 2.5f, 3.5f};
__device__ Operation* installed;

// A static function and variable with names that the other unit uses as well.
static __device__ int hidden = 17;
static __device__ int helper(int x) { return x * 3 + hidden - 17; }

__device__ int triple(int x) { return helper(x); }

__device__ unsigned long long factorial_step(unsigned n) { return n * factorial(n - 1); }

static __device__ int negate(int x) { return -x; }
__device__ Function chosen = negate;

struct Shift : Operation {
  __device__ int apply(int x) const override { return x << scale; }
};

__global__ void install(int scale) {
  auto shift = new Shift;
  shift->scale = scale;
  installed = shift;
}

__device__ __noinline__ float weigh(const float* values, int n) {
  float sum = 0;
  for (int i = 0; i < n; ++i) {
    sum += values[i] * weights[i % 4];
  }
  return sum;
}

__device__ int block_sum(int value) {
  __shared__ int data[256];
  data[threadIdx.x] = value;
  __syncthreads();
  for (unsigned stride = blockDim.x / 2; stride > 0; stride /= 2) {
    if (threadIdx.x < stride) {
      data[threadIdx.x] += data[threadIdx.x + stride];
    }
    __syncthreads();
  }
  int result = data[0];
  __syncthreads();
  return result;
}

int host_part(int x) { return x + 1; }
