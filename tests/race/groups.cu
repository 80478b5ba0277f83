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

// Both lines read before they write, so the pairs of one look as if they were of one round. The barrier at the end of
// the body orders all of them.
template <bool right> __global__ void sorting(int* out) {
  __shared__ int s[128];
  const int t = threadIdx.x;
  s[t] = (t * 37) % 128;
  __syncthreads();
  for (int k = 2; k <= 128; k *= 2) {
    for (int j = k / 2; j > 0; j /= 2) {
      const int other = t ^ j;
      if (other > t && (s[t] > s[other]) == ((t & k) == 0)) {
        const int x = s[t];
        s[t] = s[other];
        s[other] = x;
      }
      if (right) {
        __syncthreads();
      }
    }
    __syncthreads();
  }
  out[t] = s[t];
}
CASE(rounds_of_a_sort, "race, too: the same barrier orders them if they are of different rounds") {
  sorting<right><<<1, 128>>>(device_memory<int>(128));
}

// The barrier at the end of the body is there; the one in it is not.
template <bool right> __global__ void shifted(int* out, int rounds) {
  __shared__ int s[128];
  const int t = threadIdx.x;
  s[t] = t;
  __syncthreads();
  for (int i = 0; i < rounds; ++i) {
    const int x = s[(t + 64) % 128];
    if (right) {
      __syncthreads();
    }
    s[t] = x + 1;
    __syncthreads();
  }
  out[t] = s[t];
}
CASE(read_before_written, "help: put __syncthreads.. between the two; if they are of different rounds of a loop, at the end") {
  shifted<right><<<1, 128>>>(device_memory<int>(128), 4);
}
