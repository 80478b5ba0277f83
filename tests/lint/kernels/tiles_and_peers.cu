// lint-options: --arch=sm_80 -- -std=c++17
// In the styles of CUB and NCCL: tiles that are full or not, scans over warps, look-back, flags of peers, roles of
// warps. Half of them wrong.
#include <cooperative_groups.h>
#include <cuda/atomic>
namespace cg = cooperative_groups;
// --- A tile that is full or not (CUB's agents)
template <bool IsFull> __device__ float consume(const float* in, int valid, float* temp) {
  float v = 0;
  if constexpr (IsFull) {
    v = in[threadIdx.x];
  } else {
    if (threadIdx.x < valid) v = in[threadIdx.x];
  }
  temp[threadIdx.x] = v;
  __syncthreads();
  return temp[blockDim.x - 1 - threadIdx.x];
}
__global__ void full_or_not(const float* in, float* out, int n) {
  __shared__ float temp[256];
  int base = blockIdx.x * 256;
  float v;
  if (base + 256 <= n) v = consume<true>(in + base, 256, temp);
  else v = consume<false>(in + base, n - base, temp);
  out[base + threadIdx.x] = v;
}
template <bool IsFull> __device__ float consume_apart(const float* in, int valid, float* temp) {
  temp[threadIdx.x] = IsFull || threadIdx.x < valid ? in[threadIdx.x] : 0;
  __syncthreads(); // expect: unaligned_synchronization
  return temp[blockDim.x - 1 - threadIdx.x];
}
__global__ void full_or_not_by_thread_bad(const float* in, float* out, int n) {
  __shared__ float temp[256];
  int base = blockIdx.x * 256;
  float v;
  if (base + threadIdx.x < n) v = consume_apart<true>(in + base, 256, temp);
  else v = consume_apart<false>(in + base, n - base, temp);
  out[base + threadIdx.x] = v;
}
// --- Even share of the grid: tiles of the block in a loop
struct EvenShare { int begin, end; __device__ EvenShare(int n, int tile) { begin = blockIdx.x * tile; end = min(begin + tile, n); } };
__global__ void even_share(const int* in, int* out, int n) {
  __shared__ int temp[128];
  EvenShare share(n, 4096);
  int sum = 0;
  for (int at = share.begin; at < share.end; at += 128) {
    temp[threadIdx.x] = at + (int)threadIdx.x < share.end ? in[at + threadIdx.x] : 0;
    __syncthreads();
    sum += temp[127 - threadIdx.x];
    __syncthreads();
  }
  out[blockIdx.x * 128 + threadIdx.x] = sum;
}
struct OwnShare { int begin, end; __device__ OwnShare(int n, int tile) { begin = blockIdx.x * tile + threadIdx.x; end = n; } };
__global__ void own_share_bad(const int* in, int* out, int n) {
  __shared__ int temp[128];
  OwnShare share(n, 4096);
  int sum = 0;
  for (int at = share.begin; at < share.end; at += 128) {
    temp[threadIdx.x] = in[at];
    __syncthreads(); // expect: thread_synchronization_in_divergent_region
    sum += temp[127 - threadIdx.x];
    __syncthreads(); // expect: thread_synchronization_in_divergent_region
  }
  out[blockIdx.x * 128 + threadIdx.x] = sum;
}
// --- A scan with a functor, and a prefix from the caller (CUB's BlockScan)
template <int Threads> struct Scan {
  struct Storage { int warps[Threads / 32]; int prefix; };
  Storage& s;
  __device__ explicit Scan(Storage& storage) : s(storage) {}
  template <class Op, class Prefix> __device__ int inclusive(int v, Op op, Prefix&& prefix) {
    int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
#pragma unroll
    for (int d = 1; d < 32; d *= 2) {
      int other = __shfl_up_sync(0xffffffffu, v, d);
      if (lane >= d) v = op(v, other);
    }
    if (lane == 31) s.warps[warp] = v;
    __syncthreads();
    int before = 0;
    for (int w = 0; w < Threads / 32; ++w) if (w < warp) before = op(before, s.warps[w]);
    if (warp == 0) {
      int p = prefix(before);
      if (lane == 0) s.prefix = p;
    }
    __syncthreads();
    return op(op(v, before), s.prefix);
  }
};
__global__ void __launch_bounds__(256) scan(const int* in, int* out, int n) {
  __shared__ Scan<256>::Storage storage;
  int at = blockIdx.x * 256 + threadIdx.x;
  int v = at < n ? in[at] : 0;
  v = Scan<256>(storage).inclusive(v, [](int a, int b) { return a + b; }, [&](int) { return 7; });
  if (at < n) out[at] = v;
}
template <int Threads> struct ScanApart {
  struct Storage { int warps[Threads / 32]; };
  Storage& s;
  __device__ explicit ScanApart(Storage& storage) : s(storage) {}
  template <class Op> __device__ int inclusive(int v, Op op) {
    if ((threadIdx.x & 31) == 31) s.warps[threadIdx.x >> 5] = v;
    __syncthreads(); // expect: thread_synchronization_in_divergent_region
    return op(v, s.warps[0]);
  }
};
__global__ void __launch_bounds__(256) scan_of_some_bad(const int* in, int* out, int n) {
  __shared__ ScanApart<256>::Storage storage;
  int at = blockIdx.x * 256 + threadIdx.x;
  auto add = [](int a, int b) { return a + b; };
  if (at < n) out[at] = ScanApart<256>(storage).inclusive(in[at], add);
}
// --- The tile of a block by a counter (dynamic scheduling)
__device__ unsigned next_tile;
__global__ void tiles_by_counter(int* out, unsigned tiles) {
  __shared__ unsigned tile;
  while (true) {
    if (threadIdx.x == 0) tile = atomicAdd(&next_tile, 1u);
    __syncthreads();
    unsigned mine = tile;
    __syncthreads();
    if (mine >= tiles) return;
    out[mine * blockDim.x + threadIdx.x] = mine;
  }
}
__global__ void tiles_by_own_counter_bad(int* out, unsigned tiles) {
  __shared__ int temp[256];
  while (true) {
    unsigned mine = atomicAdd(&next_tile, 1u);
    if (mine >= tiles) return; // expect: early_exit_before_synchronization
    temp[threadIdx.x] = mine;
    __syncthreads();
    out[mine * blockDim.x + threadIdx.x] = temp[255 - threadIdx.x];
  }
}
// --- Segments: loops with bounds from memory around barriers
__global__ void segments(const int* offsets, const int* in, int* out) {
  __shared__ int temp[128];
  int begin = offsets[blockIdx.x], end = offsets[blockIdx.x + 1];
  for (int base = begin; base < end; base += 128) {
    if (base + threadIdx.x < end) temp[threadIdx.x] = in[base + threadIdx.x];
    __syncthreads();
    if (threadIdx.x == 0) for (int i = 0; i < 128 && base + i < end; ++i) out[blockIdx.x] += temp[i];
    __syncthreads();
  }
}
__global__ void segments_by_thread_bad(const int* offsets, const int* in, int* out) {
  __shared__ int temp[128];
  int begin = offsets[threadIdx.x], end = offsets[threadIdx.x + 1];
  for (int base = begin; base < end; base += 128) {
    temp[threadIdx.x] = in[base];
    __syncthreads(); // expect: thread_synchronization_in_divergent_region
    out[base] = temp[127 - threadIdx.x];
  }
}
// --- Until nobody has found anything more: a flag of the block
__global__ void until_done(int* level, const int* edges, int n) {
  __shared__ int changed;
  do {
    __syncthreads();
    if (threadIdx.x == 0) changed = 0;
    __syncthreads();
    for (int i = threadIdx.x; i < n; i += blockDim.x)
      if (level[edges[i]] > level[i] + 1) { level[edges[i]] = level[i] + 1; changed = 1; }
    __syncthreads();
  } while (changed);
}
__global__ void until_done_by_thread_bad(int* level, const int* edges, int n) {
  bool changed;
  do {
    changed = false;
    for (int i = threadIdx.x; i < n; i += blockDim.x)
      if (level[edges[i]] > level[i] + 1) { level[edges[i]] = level[i] + 1; changed = true; }
    __syncthreads(); // expect: thread_synchronization_in_divergent_region
  } while (changed);
}
__global__ void until_none_has_changed(int* level, const int* edges, int n) {
  bool changed;
  do {
    changed = false;
    for (int i = threadIdx.x; i < n; i += blockDim.x)
      if (level[edges[i]] > level[i] + 1) { level[edges[i]] = level[i] + 1; changed = true; }
  } while (__syncthreads_or(changed));
}
// --- Peers (NCCL): roles of threads, and barriers of the threads of one role
struct Primitives {
  int tid, threads;
  bool waits;
  __device__ Primitives(int t, int n) : tid(t), threads(n), waits(t < 8) {}
  __device__ void barrier() {
    if (threads == 32) __syncwarp();
    else asm volatile("bar.sync %0, %1;" ::"r"(15), "r"(threads) : "memory");
  }
  __device__ void step(volatile unsigned long long* flag, unsigned long long value, float* out) {
    if (waits) while (*flag < value) {} // expect: cuda_volatile_sync
    barrier();
    for (int i = tid; i < 1024; i += threads) out[i] = value;
    barrier();
    if (tid == threads - 1) *flag = value + 1;
  }
};
__global__ void primitives(volatile unsigned long long* flag, float* out) {
  int warps = blockDim.x / 32 - 1;
  if (threadIdx.x < warps * 32) Primitives(threadIdx.x, warps * 32).step(flag, 3, out);
}
__global__ void role_waits_for_all_bad(float* out, int n) {
  int warps = blockDim.x / 32 - 1;
  if (threadIdx.x < warps * 32) {
    for (int i = threadIdx.x; i < n; i += warps * 32) out[i] = i;
    __syncthreads(); // expect: thread_synchronization_in_divergent_region
    out[n + threadIdx.x] = 1;
  }
  out[2 * n + threadIdx.x] = 2;
}
// --- Which work the block does is the same for all threads: a table in shared memory
struct Work { int kind, count; };
__shared__ Work current;
__global__ void by_work(const Work* works, int* out) {
  if (threadIdx.x < sizeof(Work) / 4) ((int*)&current)[threadIdx.x] = ((const int*)&works[blockIdx.x])[threadIdx.x];
  __syncthreads();
  switch (current.kind) {
  case 0: for (int i = 0; i < current.count; ++i) { out[i * blockDim.x + threadIdx.x] = i; __syncthreads(); } break;
  case 1: __syncthreads(); out[threadIdx.x] = 1; break;
  default: out[threadIdx.x] = 2;
  }
}
__global__ void by_work_of_thread_bad(const Work* works, int* out) {
  const Work& mine = works[threadIdx.x % 3];
  switch (mine.kind) {
  case 0: for (int i = 0; i < mine.count; ++i) { out[i * blockDim.x + threadIdx.x] = i; __syncthreads(); } break; // expect: thread_synchronization_in_divergent_region
  case 1: __syncthreads(); out[threadIdx.x] = 1; break; // expect: thread_synchronization_in_divergent_region
  default: out[threadIdx.x] = 2;
  }
}
// --- The last block to arrive (deterministic reduction)
__device__ unsigned arrived;
__global__ void last_to_arrive(const float* in, float* part, float* out) {
  __shared__ bool last;
  part[blockIdx.x * blockDim.x + threadIdx.x] = in[threadIdx.x];
  __threadfence();
  __syncthreads();
  if (threadIdx.x == 0) last = atomicAdd(&arrived, 1u) == gridDim.x - 1;
  __syncthreads();
  if (last) {
    out[threadIdx.x] = part[threadIdx.x];
    __syncthreads();
    if (threadIdx.x == 0) arrived = 0;
  }
}
__global__ void last_to_arrive_by_thread_bad(const float* in, float* part, float* out) {
  part[blockIdx.x * blockDim.x + threadIdx.x] = in[threadIdx.x];
  __threadfence();
  bool last = atomicAdd(&arrived, 1u) == gridDim.x * blockDim.x - 1;
  if (last) {
    out[threadIdx.x] = part[threadIdx.x];
    __syncthreads(); // expect: thread_synchronization_in_divergent_region
    arrived = 0;
  }
}
// --- Radix digits: a loop over bits, each pass with barriers
template <int Bits> __global__ void __launch_bounds__(128) digits(unsigned* keys, int begin, int end) {
  __shared__ unsigned counts[1 << Bits], ranked[128];
  for (int bit = begin; bit < end; bit += Bits) {
    for (int i = threadIdx.x; i < (1 << Bits); i += 128) counts[i] = 0;
    __syncthreads();
    unsigned key = keys[threadIdx.x], digit = key >> bit & ((1 << Bits) - 1);
    unsigned rank = atomicAdd(&counts[digit], 1u);
    __syncthreads();
    for (int d = 1; d < (1 << Bits); d *= 2) {
      unsigned v = threadIdx.x < (1 << Bits) && threadIdx.x >= d ? counts[threadIdx.x - d] : 0;
      __syncthreads();
      if (threadIdx.x < (1 << Bits)) counts[threadIdx.x] += v;
      __syncthreads();
    }
    ranked[(digit ? counts[digit - 1] : 0) + rank] = key;
    __syncthreads();
    keys[threadIdx.x] = ranked[threadIdx.x];
  }
}
template __global__ void digits<4>(unsigned*, int, int);
template <int Bits> __global__ void __launch_bounds__(128) digits_until_sorted_bad(unsigned* keys) {
  __shared__ unsigned counts[1 << Bits];
  unsigned key = keys[threadIdx.x];
  while (key) {
    atomicAdd(&counts[key & ((1 << Bits) - 1)], 1u);
    __syncthreads(); // expect: thread_synchronization_in_divergent_region
    key >>= Bits;
  }
  keys[threadIdx.x] = counts[0];
}
template __global__ void digits_until_sorted_bad<4>(unsigned*);
