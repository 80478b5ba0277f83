// Work that is found while running, locks, persistent blocks, roles for warps, helpers and classes: all of it right.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cuda/atomic>
#include <cuda/barrier>
namespace cg = cooperative_groups;
typedef unsigned long long u64;

// Tiles are taken from a counter.
__device__ unsigned next_tile;
__global__ void persistent(const float* in, float* out, unsigned tiles, int n) {
  __shared__ unsigned tile;
  __shared__ float stage[256];
  while (true) {
    __syncthreads();
    if (threadIdx.x == 0) tile = atomicAdd(&next_tile, 1u);
    __syncthreads();
    if (tile >= tiles) return;
    const unsigned i = tile * blockDim.x + threadIdx.x;
    stage[threadIdx.x] = i < n ? in[i] : 0.f;
    __syncthreads();
    if (i < n) out[i] = stage[(threadIdx.x + 1) % blockDim.x];
  }
}
// The same through a helper that returns the tile to all, in a for loop.
__device__ __forceinline__ int fetch(int* counter, int* slot) {
  __syncthreads();
  if (threadIdx.x == 0) *slot = atomicAdd(counter, 1);
  __syncthreads();
  return *slot;
}
__global__ void persistent_helper(int* counter, const int* work, int* done, int total) {
  __shared__ int slot, sum;
  for (int t = fetch(counter, &slot); t < total; t = fetch(counter, &slot)) {
    if (threadIdx.x == 0) sum = 0;
    __syncthreads();
    for (int i = work[t] + threadIdx.x; i < work[t + 1]; i += blockDim.x) atomicAdd(&sum, i & 3);
    __syncthreads();
    if (threadIdx.x == 0) done[t] = sum;
  }
}
// A ticket for the block that comes from thread 0 by a shuffle and shared memory.
__global__ void chained_scan(const int* in, int* out, volatile int* status, int* ticket, int n) {
  __shared__ int s_block, s_prefix, s_sum[32];
  const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
  if (threadIdx.x == 0) s_block = atomicAdd(ticket, 1);
  __syncthreads();
  const int block = s_block;
  const int i = block * blockDim.x + threadIdx.x;
  int v = i < n ? in[i] : 0;
  for (int d = 1; d < 32; d <<= 1) {
    const int up = __shfl_up_sync(0xffffffffu, v, d);
    if (lane >= d) v += up;
  }
  if (lane == 31) s_sum[warp] = v;
  __syncthreads();
  int before = 0;
  for (int w = 0; w < warp; ++w) before += s_sum[w];
  if (threadIdx.x == blockDim.x - 1) {
    int prefix = 0;
    if (block > 0) {
      cuda::atomic_ref<int, cuda::thread_scope_device> last(const_cast<int&>(status[block - 1]));
      int s;
      while ((s = last.load(cuda::std::memory_order_acquire)) == 0) __nanosleep(20);
      prefix = s - 1;
    }
    cuda::atomic_ref<int, cuda::thread_scope_device> mine(const_cast<int&>(status[block]));
    mine.store(prefix + before + v + 1, cuda::std::memory_order_release);
    s_prefix = prefix;
  }
  __syncthreads();
  if (i < n) out[i] = s_prefix + before + v;
}

// One lock for a block's update, taken by one thread.
struct Mutex {
  int* word;
  __device__ void lock() {
    if (threadIdx.x == 0) {
      while (atomicCAS(word, 0, 1) != 0) __nanosleep(50);
      __threadfence();
    }
    __syncthreads();
  }
  __device__ void unlock() {
    __syncthreads();
    if (threadIdx.x == 0) {
      __threadfence();
      atomicExch(word, 0); // expect: cuda_legacy_atomic
    }
  }
};
__global__ void locked_update(int* word, float* table, const float* add, int n) {
  Mutex m{word};
  m.lock();
  for (int i = threadIdx.x; i < n; i += blockDim.x) table[i] += add[blockIdx.x * n + i];
  m.unlock();
}

// Roles by warp: only named barriers of those that take part, then one for all.
__device__ __forceinline__ void named_sync(int name, int threads) {
  asm volatile("bar.sync %0, %1;" : : "r"(name), "r"(threads) : "memory");
}
__device__ __forceinline__ void named_arrive(int name, int threads) {
  asm volatile("bar.arrive %0, %1;" : : "r"(name), "r"(threads) : "memory");
}
__global__ void producer_consumer(const float* in, float* out, int rounds) {
  __shared__ float buffer[2][128];
  const bool producer = threadIdx.x < 128;
  const int t = threadIdx.x % 128;
  if (producer) {
    for (int r = 0; r < rounds; ++r) {
      if (r >= 2) named_sync(3 + (r & 1), 256);
      buffer[r & 1][t] = in[r * 128 + t];
      named_arrive(1 + (r & 1), 256);
    }
  } else {
    for (int r = 0; r < rounds; ++r) {
      named_sync(1 + (r & 1), 256);
      out[r * 128 + t] = buffer[r & 1][127 - t];
      if (r + 2 < rounds) named_arrive(3 + (r & 1), 256);
    }
  }
  __syncthreads();
  if (threadIdx.x == 0) out[rounds * 128] = buffer[0][0];
}
using barrier = cuda::barrier<cuda::thread_scope_block>;
__device__ void produce(barrier* ready, barrier* filled, float* buffer, const float* in, int n, int len) {
  for (int i = 0; i < n / len; ++i) {
    ready[i % 2].arrive_and_wait();
    for (int j = threadIdx.x; j < len; j += 32) buffer[(i % 2) * len + j] = in[i * len + j];
    filled[i % 2].arrive();
  }
}
__device__ void consume(barrier* ready, barrier* filled, const float* buffer, float* out, int n, int len) {
  ready[0].arrive();
  ready[1].arrive();
  for (int i = 0; i < n / len; ++i) {
    filled[i % 2].arrive_and_wait();
    for (int j = threadIdx.x - 32; j < len; j += blockDim.x - 32) out[i * len + j] = buffer[(i % 2) * len + j];
    ready[i % 2].arrive();
  }
}
__global__ void roles_with_objects(int n, const float* in, float* out, int len) {
  extern __shared__ float buffer[];
  __shared__ char storage[4 * sizeof(barrier)];
  barrier* bars = reinterpret_cast<barrier*>(storage);
  auto block = cg::this_thread_block();
  if (block.thread_rank() < 4) init(bars + block.thread_rank(), block.size());
  block.sync();
  if (block.thread_rank() < 32) produce(bars, bars + 2, buffer, in, n, len);
  else consume(bars, bars + 2, buffer, out, n, len);
}

// The whole grid in step.
__global__ void jacobi_grid(const float* A, const float* b, float* x, float* x_new, double* sum, int n, float eps, int limit) {
  cg::grid_group grid = cg::this_grid();
  cg::thread_block block = cg::this_thread_block();
  cg::thread_block_tile<32> tile = cg::tiled_partition<32>(block);
  __shared__ double part;
  for (int k = 0; k < limit; ++k) {
    if (block.thread_rank() == 0) part = 0;
    if (grid.thread_rank() == 0) sum[(k + 1) % 3] = 0;
    block.sync();
    double d = 0;
    for (int row = grid.thread_rank(); row < n; row += grid.size()) {
      float s = b[row];
      for (int c = 0; c < n; ++c)
        if (c != row) s -= A[row * n + c] * x[c];
      x_new[row] = s / A[row * n + row];
      d += fabsf(x_new[row] - x[row]);
    }
    d = cg::reduce(tile, d, cg::plus<double>());
    if (tile.thread_rank() == 0) atomicAdd(&part, d);
    block.sync();
    if (block.thread_rank() == 0) atomicAdd(&sum[k % 3], part);
    grid.sync();
    float* t = x;
    x = x_new;
    x_new = t;
    if (sum[k % 3] <= eps) break;
  }
}
__device__ void gpu_dot(const float* a, const float* b, double* result, int n, const cg::thread_block& cta, const cg::grid_group& grid) {
  extern __shared__ double tmp[];
  double s = 0;
  for (int i = grid.thread_rank(); i < n; i += grid.size()) s += a[i] * b[i];
  cg::thread_block_tile<32> t32 = cg::tiled_partition<32>(cta);
  s = cg::reduce(t32, s, cg::plus<double>());
  if (t32.thread_rank() == 0) tmp[t32.meta_group_rank()] = s;
  cg::sync(cta);
  if (t32.meta_group_rank() == 0) {
    s = t32.thread_rank() < t32.meta_group_size() ? tmp[t32.thread_rank()] : 0.0;
    s = cg::reduce(t32, s, cg::plus<double>());
    if (t32.thread_rank() == 0) atomicAdd(result, s);
  }
}
__global__ void conjugate_gradient(const int* I, const int* J, const float* val, float* x, float* Ax, float* p, float* r, double* dot, int n, float tol) {
  cg::thread_block cta = cg::this_thread_block();
  cg::grid_group grid = cg::this_grid();
  const int max_iter = 10000;
  float r0 = 0.0f, r1;
  if (threadIdx.x == 0 && blockIdx.x == 0) *dot = 0.0;
  grid.sync();
  gpu_dot(r, r, dot, n, cta, grid);
  grid.sync();
  r1 = *dot;
  int k = 1;
  while (r1 > tol * tol && k <= max_iter) {
    const float beta = k > 1 ? r1 / r0 : 0.f;
    for (int i = grid.thread_rank(); i < n; i += grid.size()) p[i] = beta * p[i] + r[i];
    grid.sync();
    for (int i = grid.thread_rank(); i < n; i += grid.size()) {
      float s = 0;
      for (int j = I[i]; j < I[i + 1]; ++j) s += val[j] * p[J[j]];
      Ax[i] = s;
    }
    if (threadIdx.x == 0 && blockIdx.x == 0) *dot = 0.0;
    grid.sync();
    gpu_dot(p, Ax, dot, n, cta, grid);
    grid.sync();
    const float a = r1 / *dot;
    for (int i = grid.thread_rank(); i < n; i += grid.size()) {
      x[i] += a * p[i];
      r[i] -= a * Ax[i];
    }
    r0 = r1;
    grid.sync();
    if (threadIdx.x == 0 && blockIdx.x == 0) *dot = 0.0;
    grid.sync();
    gpu_dot(r, r, dot, n, cta, grid);
    grid.sync();
    r1 = *dot;
    k++;
  }
}

// Classes whose members synchronise, as block-wide primitives do.
template <typename T, int THREADS> class BlockScan {
public:
  struct Storage { T warp[THREADS / 32]; T total; };
  __device__ explicit BlockScan(Storage& s) : storage(s), linear(threadIdx.x) {}
  template <class Op> __device__ void exclusive(T in, T& out, T& aggregate, Op op) {
    const int lane = linear % 32, w = linear / 32;
    T inclusive = in;
#pragma unroll
    for (int d = 1; d < 32; d <<= 1) {
      T up = __shfl_up_sync(0xffffffffu, inclusive, d);
      if (lane >= d) inclusive = op(up, inclusive);
    }
    if (lane == 31) storage.warp[w] = inclusive;
    __syncthreads();
    T prefix{};
#pragma unroll
    for (int i = 0; i < THREADS / 32; ++i) {
      if (w == i) prefix = aggregate_so_far(i, op);
    }
    aggregate = aggregate_so_far(THREADS / 32, op);
    out = op(prefix, inclusive) - in;
  }
private:
  template <class Op> __device__ T aggregate_so_far(int count, Op op) {
    T sum{};
    for (int i = 0; i < count; ++i) sum = op(sum, storage.warp[i]);
    return sum;
  }
  Storage& storage;
  int linear;
};
struct Add { template <class T> __device__ T operator()(T a, T b) const { return a + b; } };
template <int THREADS> __global__ void expand(const int* degree, int* out, int n) {
  using Scan = BlockScan<int, THREADS>;
  __shared__ union { typename Scan::Storage scan; int queue[THREADS]; } shared;
  int offset = 0, total = 0;
  const int i = blockIdx.x * THREADS + threadIdx.x;
  int mine = i < n ? degree[i] : 0;
  Scan(shared.scan).exclusive(mine, offset, total, Add());
  __syncthreads();
  int done = 0;
  while (done < total) {
    while (mine > 0 && offset >= done && offset < done + THREADS) {
      shared.queue[offset - done] = i;
      ++offset;
      --mine;
    }
    __syncthreads();
    if (done + threadIdx.x < total) out[blockIdx.x * 4096 + done + threadIdx.x] = shared.queue[threadIdx.x];
    done += THREADS;
    __syncthreads();
  }
}
template __global__ void expand<128>(const int*, int*, int);

// A callable that is run by all threads between barriers.
template <class F> __device__ void for_each_tile(int n, F f) {
  for (int base = 0; base < n; base += blockDim.x) {
    f(base + threadIdx.x, base + threadIdx.x < n);
    __syncthreads();
  }
}
__global__ void lambdas(const float* in, float* out, int n) {
  extern __shared__ float memory[];
  float* s = memory;
  auto sync_all = [] { __syncthreads(); };
  for_each_tile(n, [&](int i, bool inside) {
    s[threadIdx.x] = inside ? in[i] : 0;
    sync_all();
    if (inside) out[i] = s[blockDim.x - 1 - threadIdx.x];
  });
  auto finish = [&](bool all) { if (all) __syncthreads(); return s[0]; };
  const float f = finish(n > 0);
  if (threadIdx.x == 0) out[n] = f;
}

// A policy with an abstract step; what to do comes by value in a structure.
enum class Mode { Sum, Max, Count };
struct Config { int n, rounds; Mode mode; bool verbose; const int* table; };
__device__ int step_sum(const Config& c, int r, int* s) {
  s[threadIdx.x] = c.table[r];
  __syncthreads();
  int v = s[(threadIdx.x + 1) % blockDim.x];
  __syncthreads();
  return v;
}
__device__ int step_max(const Config& c, int r, int* s) {
  s[threadIdx.x] = r;
  __syncthreads();
  int v = max(s[0], s[threadIdx.x]);
  __syncthreads();
  return v;
}
__global__ void configured(Config c, int* out) {
  extern __shared__ float memory[];
  int* s = reinterpret_cast<int*>(memory);
  int acc = 0;
  for (int r = 0; r < c.rounds; ++r) {
    switch (c.mode) {
    case Mode::Sum:
      acc += step_sum(c, r, s);
      break;
    case Mode::Max:
      acc = step_max(c, r, s);
      break;
    default:
      acc += __syncthreads_count(threadIdx.x < c.n);
    }
    if (c.verbose && c.table[r] < 0) break;
  }
  out[blockIdx.x * blockDim.x + threadIdx.x] = acc;
}

// Simulated annealing until no thread has improved for a while.
__global__ void anneal(u64* seeds, float* best, int patience) {
  __shared__ int improved[2];
  __shared__ float top;
  u64 x = seeds[blockIdx.x * blockDim.x + threadIdx.x];
  float mine = 0;
  int calm = 0, parity = 0;
  if (threadIdx.x == 0) { top = 0; improved[0] = improved[1] = 0; }
  __syncthreads();
  while (calm < patience) {
    x ^= x << 13;
    x ^= x >> 7;
    mine = (x & 1023) / 1024.0f;
    if (mine > top) improved[parity] = 1;
    __syncthreads();
    if (improved[parity]) calm = 0;
    else ++calm;
    if (threadIdx.x == 0) { improved[parity ^ 1] = 0; top = mine > top ? mine : top; }
    parity ^= 1;
    __syncthreads();
  }
  if (threadIdx.x == 0) best[blockIdx.x] = top;
}

// Bodies in tiles, several blocks along y share a body; a guard that no thread of a block sees differently.
template <bool MULTI> __global__ void integrate(float4* next, const float4* old, float4* velocity, unsigned offset, unsigned bodies, float dt, int tiles) {
  cg::thread_block cta = cg::this_thread_block();
  extern __shared__ float4 sharedPos[];
  const int index = blockIdx.x * blockDim.x + threadIdx.x;
  if (blockIdx.x * blockDim.x >= bodies) return;
  float4 me = old[offset + index < bodies ? offset + index : 0];
  float3 acc = {0.f, 0.f, 0.f};
  for (int tile = 0; tile < tiles; tile++) {
    sharedPos[threadIdx.x] = old[tile * blockDim.x + threadIdx.x];
    cg::sync(cta);
#pragma unroll 128
    for (unsigned c = 0; c < blockDim.x; c++) {
      const float4 o = sharedPos[c];
      const float dx = o.x - me.x, dy = o.y - me.y, dz = o.z - me.z;
      const float inv = rsqrtf(dx * dx + dy * dy + dz * dz + 1e-4f);
      acc.x += dx * inv * o.w;
      acc.y += dy * inv * o.w;
      acc.z += dz * inv * o.w;
    }
    cg::sync(cta);
  }
  if (index >= bodies) return;
  velocity[index].x += acc.x * dt;
  next[index] = me;
}
template __global__ void integrate<false>(float4*, const float4*, float4*, unsigned, unsigned, float, int);

// FFT of a line in shared memory, radix 2; the sign is a template argument.
template <int N, int SIGN> __global__ void fft_line(float2* data) {
  __shared__ float2 s[2][N];
  int from = 0;
  for (int i = threadIdx.x; i < N; i += blockDim.x) s[0][i] = data[blockIdx.x * N + i];
  __syncthreads();
#pragma unroll
  for (int half = 1; half < N; half *= 2) {
    for (int i = threadIdx.x; i < N / 2; i += blockDim.x) {
      const int k = i & (half - 1);
      const float angle = SIGN * 3.14159265f * k / half;
      float2 a = s[from][i], b = s[from][i + N / 2];
      float2 w;
      w.x = cosf(angle);
      w.y = sinf(angle);
      const int j = ((i - k) << 1) + k;
      s[from ^ 1][j].x = a.x + w.x * b.x - w.y * b.y;
      s[from ^ 1][j + half].x = a.x - w.x * b.x + w.y * b.y;
    }
    from ^= 1;
    __syncthreads();
  }
  for (int i = threadIdx.x; i < N; i += blockDim.x) data[blockIdx.x * N + i] = s[from][i];
}
template __global__ void fft_line<1024, -1>(float2*);

// Thousands of systems, a block each, that stop at their own time (but together).
__global__ void batched_newton(float* x, const int* sizes, const int* offsets, int limit) {
  extern __shared__ unsigned char raw[];
  float* residual = (float*)raw;
  int* state = (int*)(raw + 256 * sizeof(float));
  const int n = sizes[blockIdx.x];
  float* mine = x + offsets[blockIdx.x];
  if (n == 0) return;
  if (threadIdx.x == 0) state[0] = 0;
  __syncthreads();
  for (int it = 0; it < limit && state[0] == 0; ++it) {
    float r = 0;
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
      const float f = mine[i] * mine[i] - 2;
      mine[i] -= f / (2 * mine[i]);
      r = fmaxf(r, fabsf(f));
    }
    residual[threadIdx.x] = r;
    __syncthreads();
    for (int s = blockDim.x / 2; s > 0; s /= 2) {
      if (threadIdx.x < s) residual[threadIdx.x] = fmaxf(residual[threadIdx.x], residual[threadIdx.x + s]);
      __syncthreads();
    }
    if (threadIdx.x == 0 && residual[0] < 1e-6f) state[0] = 1;
    __syncthreads();
  }
}

// assert and trap end the whole kernel, not one thread.
__global__ void guarded(const int* in, int* out, int n) {
  __shared__ int s[128];
  assert(blockDim.x == 128);
  const int v = in[threadIdx.x];
  assert(v >= 0);
  if (v > n) __trap();
  s[threadIdx.x] = v;
  __syncthreads();
  out[threadIdx.x] = s[127 - threadIdx.x];
}
int main() { return 0; }
