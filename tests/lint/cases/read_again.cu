// lint-options: --arch=sm_90 -- -std=c++17
// More of what was reported in packages and is right there, with twins that are wrong.
#include <cassert>
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
