// lint-options: --arch=sm_90 -- -std=c++17
// More of what was reported in packages and is right there, with twins that are wrong.
#include <cassert>
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
constexpr unsigned full = 0xffffffffu;
// --- A failed assertion leaves no loop: nobody goes on behind it
template <class T> __device__ T of_lane_0(T v) {
  union {
    T value;
    unsigned bits;
  } p;
  p.value = v;
  p.bits = __shfl_sync(full, p.bits, 0);
  return p.value;
}
__global__ void asserts_in_loop(int* cells, int n, int head) {
  for (int j = 0; j < n; ++j)
    for (int i = 0; i < n; ++i) {
      int mine = -1;
      head = of_lane_0(head);
      for (int k = 0; k < head; ++k) __syncthreads();
      if (threadIdx.x == 0) mine = atomicAdd(cells, 1);
      assert(mine <= n);
    }
  cells[threadIdx.x + 1] = head;
}
__global__ void breaks_in_loop_bad(int* cells, int n, int head) {
  for (int j = 0; j < n; ++j)
    for (int i = 0; i < n; ++i) {
      int mine = -1;
      head = of_lane_0(head) + 1;
      for (int k = 0; k < head; ++k) __syncthreads(); // expect: thread_synchronization_in_divergent_region
      if (threadIdx.x == 0) mine = atomicAdd(cells, 1);
      if (mine > n) break; // expect: thread_synchronization_bypassed
    }
  cells[threadIdx.x + 1] = head;
}
// --- What is written back is what was there
template <class T> struct Writes {
  struct Heads {
    int head, tail;
    T* out;
  };
  static __device__ void back(Heads& at) {
    at.head = of_lane_0(at.head);
    for (int k = 0; k < at.head; ++k) {
      __syncthreads();
      at.out[threadIdx.x] = k;
    }
  }
  static __device__ void another_bad(Heads& at) {
    at.tail = of_lane_0(at.tail + threadIdx.x / 32);
    for (int k = 0; k < at.tail; ++k) {
      __syncthreads(); // expect: potentially_thread_synchronization_in_divergent_region
      at.out[threadIdx.x] = k;
    }
  }
};
// --- In a template that nothing instantiates, what is passed by reference is the caller's object
template <int size, class T> __device__ void add_to(T step, float& sum, T* out) {
  if (sum > 3.0f) __syncthreads();
  sum += step * size;
  out[threadIdx.x] = step;
}
template <int size, class T> __global__ void passes_by_reference(T* out, T step, int n) {
  float sum = 0;
  for (int i = 0; i < n; ++i) add_to<size>(step, sum, out);
  out[0] = sum;
}
template <int size, class T> __device__ void add_own_to(T step, float& sum, T* out) {
  if (sum > 3.0f) __syncthreads(); // expect: thread_synchronization_in_divergent_region
  sum += step * size + threadIdx.x;
  out[threadIdx.x] = step;
}
template <int size, class T> __global__ void passes_by_reference_bad(T* out, T step, int n) {
  float sum = 0;
  for (int i = 0; i < n; ++i) add_own_to<size>(step, sum, out);
  out[0] = sum;
}
// --- A row whose length nothing says, and a mask for the lanes of one
__global__ void row_of_eight(float* p) {
  __shared__ float rows[16];
  if (threadIdx.x == 0) rows[threadIdx.y] = p[threadIdx.y];
  __syncthreads();
  if (threadIdx.y == 0) {
    float v = rows[threadIdx.x];
    v += __shfl_down_sync(0xff, v, 4);
    p[threadIdx.x] = __shfl_sync(0xff, v, 0);
  }
  p[99] = 1;
}
__global__ void part_of_row_bad(float* p) {
  if (threadIdx.y == 0) p[threadIdx.x] = __shfl_down_sync(0xf0, p[threadIdx.x], 1); // expect: calling_thread_not_in_mask
  p[99] = 1;
}
__global__ void all_rows_bad(float* p) {
  p[threadIdx.y] = __shfl_down_sync(0xff, p[threadIdx.x], 4); // expect: potentially_calling_thread_not_in_mask
}
__global__ void row_of_sixteen_bad(float* p) {
  if (threadIdx.y == 0) p[threadIdx.x] = __shfl_down_sync(0xff, p[threadIdx.x], 4); // expect: potentially_calling_thread_not_in_mask
  p[99] = 1;
}
void launch_row(float* p) { row_of_sixteen_bad<<<1, dim3(16, 8)>>>(p); }
// --- Clusters of six blocks
__global__ void __cluster_dims__(6, 1, 1) first_clusters(int* p) {
  if (blockIdx.x < 12) cg::this_cluster().sync();
  p[blockIdx.x] = 1;
}
__global__ void __cluster_dims__(6, 1, 1) part_of_cluster_bad(int* p) {
  if (blockIdx.x < 8) cg::this_cluster().sync(); // expect: thread_synchronization_in_divergent_region
  p[blockIdx.x] = 1;
}
