// lint-options: --arch=sm_90 -- -std=c++17
// What was reported in packages and is right there, with twins that are wrong.
#include <cooperative_groups.h>
#include <vector>
namespace cg = cooperative_groups;
constexpr unsigned full = 0xffffffffu;
// --- A wait that gives up with a trap: nobody goes on without the others
__device__ void tell_all(int* cells, int n) { for (int i = 0; i < n; ++i) cells[i] = 1; }
__device__ int wait_or_trap(volatile int* cell, int* cells, int n) {
  while (true) {
    int v = *cell; // expect: cuda_volatile_sync
    if (v < 0) {
      tell_all(cells, n);
      asm volatile("trap;");
      return -1;
    }
    if (v > 0) return v;
  }
}
__global__ void gives_up_by_trap(volatile int* cell, int* cells, int n) {
  for (int i = threadIdx.x; i < n; i += blockDim.x) cells[i] = wait_or_trap(cell + i, cells, n);
  __syncthreads();
  if (threadIdx.x == 0) {
    if (cells[0] > n) {
      tell_all(cells, n);
      __trap();
    }
    cells[1] = 0;
  }
  __syncthreads();
  cells[threadIdx.x] += cells[0];
}
__global__ void gives_up_by_exit_bad(int* cells, int n) {
  for (int i = threadIdx.x; i < n; i += blockDim.x)
    if (cells[i] < 0) {
      tell_all(cells, n);
      return; // expect: early_exit_before_synchronization
    }
  __syncthreads();
  cells[threadIdx.x] += cells[0];
}
__global__ void endless_bad(int* cells) {
  if (threadIdx.x == 3) while (true) atomicAdd(cells, 1);
  __syncthreads(); // expect: thread_synchronization_in_divergent_region
  cells[threadIdx.x] += cells[0];
}
// --- A mask for a group of lanes, and a branch that the group takes alike
__global__ void group_of_lanes(float* p, int groups) {
  unsigned mask = 0xffu << (threadIdx.x % 32 / 8 * 8);
  int group = threadIdx.x / 8;
  if (group < groups) p[threadIdx.x] = __shfl_xor_sync(mask, p[threadIdx.x], 4);
  for (int g = threadIdx.x >> 3; g < groups; g += 4) p[g] += __shfl_xor_sync(mask, p[g], 1);
  p[0] = 1;
}
template <int up, int width, int height>
__global__ void group_of_rounded_loop(float* p) {
  unsigned mask = 15u << (threadIdx.x % 32 / 4 * 4);
  const int columns = (width * 2 + 5) & ~3, rows = (height + up - 1) / up * up;
  for (int i = threadIdx.x; i < columns * rows / up; i += blockDim.x) p[i] += __shfl_xor_sync(mask, p[i], 1);
  p[0] = 1;
}
template <int up, int width, int height>
__global__ void group_of_other_loop_bad(float* p) {
  unsigned mask = 15u << (threadIdx.x % 32 / 4 * 4);
  const int columns = (width * 2 + 5) & ~1, rows = (height + up - 1) / up * up;
  for (int i = threadIdx.x; i < columns * rows / up; i += blockDim.x) p[i] += __shfl_xor_sync(mask, p[i], 1); // expect: potentially_inactive_thread_in_mask
  p[0] = 1;
}
template __global__ void group_of_rounded_loop<4, 31, 19>(float*);
template __global__ void group_of_other_loop_bad<4, 31, 19>(float*);
__global__ void part_of_group_bad(float* p, int groups) {
  unsigned mask = 0xffu << (threadIdx.x % 32 / 8 * 8);
  int group = threadIdx.x / 4;
  if (group < groups) p[threadIdx.x] = __shfl_xor_sync(mask, p[threadIdx.x], 4); // expect: potentially_inactive_thread_in_mask
  p[0] = 1;
}
__global__ void half_of_warp(float* p, int n) {
  unsigned mask = threadIdx.x % 32 >= 16 ? 0xffff0000u : 0x0000ffffu;
  int row = blockIdx.x * 8 + threadIdx.x / 16;
  bool valid = row < n;
  if (valid) p[row] = __shfl_xor_sync(mask, p[row], 8);
  p[0] = 1;
}
__global__ void half_of_warp_bad(float* p, int n) {
  unsigned mask = threadIdx.x % 32 >= 16 ? 0xffff0000u : 0x0000ffffu;
  int row = blockIdx.x * 8 + threadIdx.x;
  bool valid = row < n;
  if (valid) p[row] = __shfl_xor_sync(mask, p[row], 8); // expect: potentially_inactive_thread_in_mask
  p[0] = 1;
}
// --- Whole warps by comparison with a multiple of 32
__global__ void whole_warps(float* p, int warps) {
  if (threadIdx.x < warps * 32) p[threadIdx.x] = __shfl_xor_sync(full, p[threadIdx.x], 1);
  if (threadIdx.x >= (warps << 5) + 64) p[threadIdx.x] = __shfl_xor_sync(full, p[threadIdx.x], 2);
  if ((warps & ~31) > threadIdx.x) p[threadIdx.x] = __shfl_xor_sync(full, p[threadIdx.x], 4);
  p[0] = 1;
}
__global__ void parts_of_warps_bad(float* p, int warps) {
  if (threadIdx.x < warps * 24) p[threadIdx.x] = __shfl_xor_sync(full, p[threadIdx.x], 1); // expect: potentially_inactive_thread_in_mask
  if (threadIdx.x >= warps * 32 + 8) p[threadIdx.x] = __shfl_xor_sync(full, p[threadIdx.x], 2); // expect: potentially_inactive_thread_in_mask
  p[0] = 1;
}
__device__ int same_for_warp(int v) { return __shfl_sync(full, v, 0); }
__global__ void index_put_together(float* p, int n) {
  int lane = threadIdx.x % 32, warp = same_for_warp(threadIdx.x / 32), index = warp * 32 + lane;
  if (index < 64 * n) p[index] = __shfl_sync(full, p[index], lane ^ 3);
  p[0] = 1;
}
__global__ void index_put_together_bad(float* p, int n) {
  int lane = threadIdx.x % 32, warp = same_for_warp(threadIdx.x / 32), index = warp * 16 + lane;
  if (index < 64 * n) p[index] = __shfl_sync(full, p[index], lane ^ 3); // expect: potentially_inactive_thread_in_mask
  p[0] = 1;
}
__global__ void rows_put_together(float* p) {
  int index = 32 * threadIdx.y + threadIdx.x;
  if (index < 128) p[index] = __shfl_xor_sync(full, p[index], 1);
  p[0] = 1;
}
// --- A thread that has arrived at the cluster's barrier need not wait for it
__device__ void arrive() { asm volatile("barrier.cluster.arrive.release.aligned;" ::: "memory"); }
__device__ void await() { asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory"); }
__global__ void one_warp_waits(float* p) {
  arrive();
  if (threadIdx.x < 32) {
    await();
    p[threadIdx.x] = 1;
  }
  p[0] = 1;
}
__device__ void await_twice() { asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory"); } // expect: thread_synchronization_in_divergent_region
__global__ void one_warp_waits_and_all_arrive_again_bad(float* p) {
  arrive();
  if (threadIdx.x < 32) {
    await_twice();
    p[threadIdx.x] = 1;
  }
  arrive();
  p[0] = 1;
}
__global__ void one_warp_arrives_bad(float* p) {
  if (threadIdx.x < 32) {
    asm volatile("barrier.cluster.arrive.release.aligned;" ::: "memory"); // expect: thread_synchronization_in_divergent_region
    asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory");
  }
  p[0] = 1;
}
// --- A flag behind a table, both in one piece of shared memory
__global__ void flag_behind_table(int* p) {
  extern __shared__ int memory[];
  int* table = memory + 64;
  if (table[130]) {
    if (threadIdx.x < 128) table[threadIdx.x] = 0;
    __syncthreads();
    p[threadIdx.x] = table[0];
  }
  p[0] = 1;
}
__global__ void flag_in_table_bad(int* p) {
  extern __shared__ int memory[];
  int* table = memory + 64;
  if (table[100]) {
    if (threadIdx.x < 128) table[threadIdx.x] = 0;
    __syncthreads(); // expect: potentially_thread_synchronization_in_divergent_region
    p[threadIdx.x] = table[0];
  }
  p[0] = 1;
}
__global__ void own_rows_of_a_section(int* p, int n) {
  extern __shared__ int memory[];
  int* state = memory;
  int* rows = memory + 64;
  int* mine = rows + threadIdx.x * 4;
  if (state[0]) {
    for (int k = 0; k < n; ++k) mine[k] = 0;
    __syncthreads();
    p[threadIdx.x] = rows[3];
  }
  p[0] = 1;
}
__global__ void own_rows_of_the_same_section_bad(int* p, int n) {
  extern __shared__ int memory[];
  int* rows = memory + 64;
  int* mine = rows + threadIdx.x * 4;
  if (rows[n]) {
    for (int k = 0; k < n; ++k) mine[k] = 0;
    __syncthreads(); // expect: potentially_thread_synchronization_in_divergent_region
    p[threadIdx.x] = rows[3];
  }
  p[0] = 1;
}
// --- Flags of other devices: another member for the own block, or the flag of another block
struct Signal { unsigned start[64][8]; unsigned own[64]; };
__global__ void waits_for_peers(Signal* self, Signal* peer, int rank) {
  unsigned flag = self->own[blockIdx.x] + 1;
  if (threadIdx.x < 8) {
    peer->start[blockIdx.x][rank] = flag;
    while (*(volatile unsigned*)&self->start[blockIdx.x][threadIdx.x] != flag) {} // expect: cuda_volatile_sync
  }
  __syncthreads();
  if (threadIdx.x == 0) self->own[blockIdx.x] = flag;
}
__global__ void waits_for_neighbour_bad(Signal* self) {
  if (threadIdx.x == 0) {
    if (blockIdx.x > 0) while (*(volatile unsigned*)&self->own[blockIdx.x - 1] == 0) {} // expect: cuda_volatile_sync, cuda_progress_grid_wait
    self->own[blockIdx.x] = 1;
  }
}
__global__ void quick(int* p) { p[0] = 1; }
void launches(Signal* s, int* p) {
  waits_for_peers<<<8, 32>>>(s, s + 1, 0);
  waits_for_neighbour_bad<<<8, 32>>>(s);
  quick<<<1, 1>>>(p);
}
// --- A loop of the host through the library's iterators, and one that waits
bool positive(const std::vector<int>& sizes, const int* expected, int* p) {
  quick<<<1, 1>>>(p);
  for (auto it = sizes.rbegin(); it != sizes.rend(); ++it)
    if (*it != *expected) return false;
  return true;
}
void spins_bad(volatile int* p) {
  quick<<<1, 1>>>((int*)p);
  while (*p == 0) {} // expect: cuda_progress_host_spin
}
// --- Members of unnamed unions
struct Tagged {
  int tag;
  union { int number; float real; };
  __device__ Tagged(int t, int n) : tag(t), number(n) {}
};
__global__ void by_tag(int* p) {
  Tagged t(blockIdx.x, threadIdx.x);
  if (t.tag) __syncthreads();
  t.real = threadIdx.x;
  if (t.tag) __syncthreads();
  p[t.number] = 1;
}
__global__ void by_number_bad(int* p) {
  Tagged t(blockIdx.x, threadIdx.x);
  if (t.number) __syncthreads(); // expect: thread_synchronization_in_divergent_region
  t.number = 0;
  t.real = threadIdx.x;
  if (t.number) __syncthreads(); // expect: thread_synchronization_in_divergent_region
  p[0] = 1;
}
struct Nested { union { struct { short low, high; }; int whole; }; int count; };
__global__ void nested_bad(int* p) {
  Nested n;
  n.whole = 0;
  n.count = 1;
  n.high = threadIdx.x;
  if (n.count) __syncthreads();
  if (n.whole) __syncthreads(); // expect: thread_synchronization_in_divergent_region
  p[0] = 1;
}
// --- Two numbers in one word
__global__ void upper_half(int* p) {
  unsigned word = blockIdx.x << 16 | threadIdx.x, other = (blockIdx.x * 2048) ^ threadIdx.x;
  if (word >> 16 & 1) __syncthreads();
  if (word & 0xffff0000) __syncthreads();
  if (other / 2048) __syncthreads();
  if (other >> 11) __syncthreads();
  p[threadIdx.x] = 1;
}
__global__ void lower_half_bad(int* p) {
  unsigned word = blockIdx.x << 4 | threadIdx.x;
  if (word >> 4) __syncthreads(); // expect: thread_synchronization_in_divergent_region
  if (word & 0xfffffff0) __syncthreads(); // expect: thread_synchronization_in_divergent_region
  if (((blockIdx.x + 1) << 9 | threadIdx.x) >> 9) __syncthreads(); // expect: thread_synchronization_in_divergent_region
  p[threadIdx.x] = 1;
}
// --- Data of other lanes, from the other end
__global__ void from_the_other_end_bad(int* out) {
  __shared__ int s[32];
  s[threadIdx.x] = threadIdx.x;
  out[threadIdx.x] = s[31 - threadIdx.x]; // expect: cuda_syncwarp_missing
}
__global__ void from_the_other_end(int* out) {
  __shared__ int s[32];
  s[threadIdx.x] = threadIdx.x;
  __syncwarp();
  out[threadIdx.x] = s[31 - threadIdx.x];
}
