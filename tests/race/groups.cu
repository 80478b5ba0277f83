// One missing barrier is one finding, with all pairs of accesses that it would order; two are two.
//@ find: data-race 1
#include "cases.h"

template <bool right> __global__ void several(int* out) {
  __shared__ int a[256];
  __shared__ int b[256];
  a[threadIdx.x] = threadIdx.x;
  b[threadIdx.x] = threadIdx.x;
  if (right) {
    __syncthreads();
  }
  int sum = a[(threadIdx.x + 32) % 256];
  sum += b[(threadIdx.x + 64) % 256];
  sum += a[(threadIdx.x + 1) % 256];
  sum += b[(threadIdx.x + 2) % 256];
  out[threadIdx.x] = sum;
}
CASE(several_reads, "the same barrier is missing between 3 other pairs of accesses:") {
  several<right><<<1, 256>>>(device_memory<int>(256));
}

template <bool right> __global__ void rounds(const int* in, int* out, int count) {
  __shared__ int a[128];
  __shared__ int b[128];
  int sum = 0;
  for (int i = 0; i < count; ++i) {
    a[threadIdx.x] = in[i];
    b[threadIdx.x] = in[i + 1];
    __syncthreads();
    for (int k = 0; k < 128; ++k) {
      sum += a[k];
      sum += b[127 - k];
    }
    if (right) {
      __syncthreads();
    }
  }
  out[threadIdx.x] = sum;
}
CASE(end_of_the_loop, "at the end of the loop body: the accesses are of different rounds") {
  rounds<right><<<1, 128>>>(device_memory<int>(9), device_memory<int>(128), 8);
}

// Unrolled: the compiler has written the rounds one after the other.
template <bool right> __global__ void unrolled(int* out) {
  __shared__ int a[128];
  int sum = 0;
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    a[threadIdx.x] = sum + i;
    __syncthreads();
    sum += a[(threadIdx.x + 64) % 128];
    sum += a[(threadIdx.x + 65) % 128];
    if (right) {
      __syncthreads();
    }
  }
  out[threadIdx.x] = sum;
}
CASE(end_of_an_unrolled_loop, "at the end of the loop body") {
  unrolled<right><<<1, 128>>>(device_memory<int>(128));
}

// A barrier that not every launch executes is none between the two: they may be of one round.
template <bool right> __global__ void barrier_now_and_then(const float* in, float* out, int rounds, bool often) {
  __shared__ float a[128];
  float sum = 0;
  for (int t = 0; t < rounds; ++t) {
    a[threadIdx.x] = in[t] * threadIdx.x;
    if (often) {
      __syncthreads();
    }
    for (int k = 0; k < 128; ++k) {
      sum += a[k];
    }
    __syncthreads();
  }
  out[threadIdx.x] = sum;
}
CASE(barrier_that_is_not_executed, "help: put __syncthreads.. between the two") {
  barrier_now_and_then<right><<<1, 128>>>(device_memory<float>(9), device_memory<float>(128), 8, right);
}
