// Expressions in which what differs between threads cancels, or does not; and templates and helpers whose
// arguments tell the threads apart.
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
constexpr int TPB = 128;

// A trip count that is rounded up to the block's size, which every launch gives as the same constant.
__global__ void rounded(int* p, int n) {
  for (int i = threadIdx.x; i < (n + TPB - 1) / TPB * TPB; i += blockDim.x) {
    p[i % n] = i;
    __syncthreads();
  }
}
__global__ void ceiled(int* p, int n) {
  int limit = (int)ceil((float)n / TPB) * TPB;
  for (int i = threadIdx.x; i < limit; i += blockDim.x) {
    p[i % n] = i;
    __syncthreads();
  }
}
__global__ void ceiled_in_the_condition(int* p, int n) {
  for (int i = threadIdx.x; i < ceil((float)n / TPB) * TPB; i += TPB) {
    p[i % n] = i;
    __syncthreads();
  }
  const float rounds = ceilf(float(n) / blockDim.x);
  for (int i = threadIdx.x; i < rounds * blockDim.x; i += blockDim.x) {
    p[i % n] = i;
    __syncthreads();
  }
}
// A multiple of something else, or of nothing.
__global__ void ceiled_bad(int* p, int n) {
  for (int i = threadIdx.x; i < ceil((float)n / 48) * 48; i += TPB) {
    p[i % n] = i;
    __syncthreads(); // expect: thread_synchronization_in_divergent_region
  }
}
__global__ void not_ceiled_bad(int* p, int n) {
  for (int i = threadIdx.x; i < ((float)n / TPB) * TPB; i += TPB) {
    p[i % n] = i;
    __syncthreads(); // expect: thread_synchronization_in_divergent_region
  }
}
__global__ void scaled_bad(int* p, float n) {
  int limit = (int)(n * TPB);
  for (int i = threadIdx.x; i < limit; i += TPB) {
    p[i % 7] = i;
    __syncthreads(); // expect: thread_synchronization_in_divergent_region
  }
}
// Launched with several sizes: nothing is known.
__global__ void rounded_bad(int* p, int n) {
  for (int i = threadIdx.x; i < (n + TPB - 1) / TPB * TPB; i += blockDim.x) {
    p[i % n] = i;
    __syncthreads(); // expect: thread_synchronization_in_divergent_region
  }
}

__global__ void by_one(int* p, int n) {
  int idx = blockIdx.x * blockDim.x + threadIdx.x;
  int base = idx / 1 - threadIdx.x;
  if (base < n) {
    __syncthreads();
  }
  p[idx] = base;
}
__global__ void by_two_bad(int* p, int n) {
  int idx = blockIdx.x * blockDim.x + threadIdx.x;
  int base = idx / 2 - threadIdx.x;
  if (base < n) {
    __syncthreads(); // expect: thread_synchronization_in_divergent_region
  }
  p[idx] = base;
}

__device__ int global_id() { return blockIdx.x * blockDim.x + threadIdx.x; }
__global__ void ranks(int* p, int n) {
  auto block = cg::this_thread_block();
  int first = global_id() - block.thread_rank();
  if (first < n) {
    block.sync();
  }
  p[first] = 1;
}
// With rows a rank is no threadIdx.x.
__global__ void ranks_bad(int* p, int n) {
  auto block = cg::this_thread_block();
  int first = global_id() - block.thread_rank();
  if (first < n) {
    block.sync(); // expect: thread_synchronization_in_divergent_region
  }
  p[first] = 1;
}

template <class T> __device__ void maybe(T i, int* p) {
  if (i < 16) {
    p[i] = 1;
    __syncthreads(); // expect: thread_synchronization_in_divergent_region
  }
  p[i] = 2;
}
template <class T> __device__ void together(T i, int* p) {
  if (i < 16) {
    __syncthreads();
  }
  p[threadIdx.x] = 2;
}
__global__ void templates(int* p, int n) {
  maybe(threadIdx.x, p);
  together(n, p);
  together(blockIdx.x, p);
}

// What one helper writes another one reads.
__device__ void put(int* s, int v) { s[threadIdx.x] = v; }
__device__ int get(int* s) { return s[threadIdx.x ^ 1]; } // expect: cuda_syncwarp_missing
__device__ int get_after(int* s) { return s[threadIdx.x ^ 1]; }
__global__ void helpers_bad(int* out) {
  __shared__ int s[32];
  put(s, 7);
  out[threadIdx.x] = get(s);
}
__global__ void helpers(int* out) {
  __shared__ int s[32];
  put(s, 7);
  __syncwarp();
  out[threadIdx.x] = get_after(s);
}

void launch(int* p) {
  rounded<<<1, TPB>>>(p, 100);
  rounded<<<2, TPB>>>(p, 200);
  ceiled<<<1, TPB>>>(p, 100);
  ceiled_in_the_condition<<<1, TPB>>>(p, 100);
  ceiled_bad<<<1, TPB>>>(p, 100);
  not_ceiled_bad<<<1, TPB>>>(p, 100);
  scaled_bad<<<1, TPB>>>(p, 2.5f);
  rounded_bad<<<1, TPB>>>(p, 100);
  rounded_bad<<<1, 96>>>(p, 100);
  by_one<<<1, TPB>>>(p, 100);
  by_two_bad<<<1, TPB>>>(p, 100);
  ranks<<<1, TPB>>>(p, 100);
  ranks_bad<<<1, dim3(16, 8)>>>(p, 100);
  templates<<<1, 32>>>(p, 3);
  helpers_bad<<<1, 32>>>(p);
  helpers<<<1, 32>>>(p);
}
