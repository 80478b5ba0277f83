// Two missing barriers are two findings.
//@ find: data-race 2
#include "cases.h"

template <bool right> __global__ void two(int* out) {
  __shared__ int a[256];
  __shared__ int b[256];
  a[threadIdx.x] = threadIdx.x;
  if (right) {
    __syncthreads();
  }
  b[threadIdx.x] = a[(threadIdx.x + 32) % 256] + a[(threadIdx.x + 64) % 256];
  if (right) {
    __syncthreads();
  }
  out[threadIdx.x] = b[(threadIdx.x + 32) % 256] + b[(threadIdx.x + 64) % 256];
}
CASE(two_barriers, "RACE-BARRIER") { two<right><<<1, 256>>>(device_memory<int>(256)); }

template <bool right> __global__ void both_ends(int* out, int count) {
  __shared__ int a[128];
  int sum = 0;
  for (int i = 0; i < count; ++i) {
    a[threadIdx.x] = i;
    if (right) {
      __syncthreads();
    }
    sum += a[(threadIdx.x + 64) % 128];
    if (right) {
      __syncthreads();
    }
  }
  __syncthreads();
  a[threadIdx.x] = sum;
  if (right) {
    __syncthreads();
  }
  out[threadIdx.x] = a[(threadIdx.x + 64) % 128];
}
CASE(in_and_behind_a_loop, "RACE-BARRIER") { both_ends<right><<<1, 128>>>(device_memory<int>(128), 5); }
