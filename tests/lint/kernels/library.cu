// In the style of libraries: policies, iterators, tiles of any shape, warps with parts of their own; all of it right.
#include <cooperative_groups.h>
#include <cstdint>
namespace cg = cooperative_groups;
#define DEVICE __device__ __forceinline__
#define WARP_SIZE 32
#define FULL 0xffffffffu
#define DIV_UP(a, b) (((a) + (b) - 1) / (b))
#define KERNEL_CHECK(c) do { if (!(c)) { printf("bad\n"); __trap(); } } while (0)
#define DISPATCH_BOOL(cond, NAME, ...) if (cond) { constexpr bool NAME = true; __VA_ARGS__ } else { constexpr bool NAME = false; __VA_ARGS__ }

namespace lib {
template <typename T> struct Params {
  const T* __restrict__ q;
  const T* __restrict__ k;
  T* __restrict__ out;
  const int* __restrict__ lengths;
  const int* __restrict__ block_table;
  int heads, seq, dim, stride, window;
  bool causal;
};
template <int M, int N, int K, int WARPS> struct Traits {
  static constexpr int kM = M, kN = N, kK = K, kThreads = WARPS * WARP_SIZE;
  static constexpr int kRowsPerWarp = M / WARPS;
};
struct Range {
  int lo, hi;
  DEVICE int size() const { return hi - lo; }
  DEVICE bool empty() const { return hi <= lo; }
  DEVICE Range clip(int a, int b) const { return Range{max(lo, a), min(hi, b)}; }
};
DEVICE Range range_of(int block, int per_block, int total) {
  const int begin = block * per_block;
  return Range{begin, min(begin + per_block, total)};
}
template <typename T> DEVICE T ldg_stream(const T* p) { return __ldg(p); }
DEVICE int ld_acquire(const int* p) {
  int v;
  asm volatile("ld.global.acquire.gpu.b32 %0, [%1];" : "=r"(v) : "l"(p) : "memory"); // expect: cuda_naive_spin
  return v;
}
DEVICE void cp_async16(void* smem, const void* gmem, bool valid) {
  unsigned address = static_cast<unsigned>(reinterpret_cast<uintptr_t>(smem));
  asm volatile("{ .reg .pred p; setp.ne.b32 p, %0, 0; @p cp.async.cg.shared.global [%1], [%2], 16; }" ::"r"((int)valid), "r"(address), "l"(gmem));
}
template <int N> DEVICE void cp_async_wait() { asm volatile("cp.async.wait_group %0;" ::"n"(N)); }
DEVICE void cp_async_commit() { asm volatile("cp.async.commit_group;"); }

// Attention: tiles of keys, a causal limit for the block, the last tile cut off.
template <class Tr, typename T, bool CAUSAL> DEVICE void attention_tile(const Params<T>& p, T* smem, const Range& keys, int row0, float (&acc)[4], float& row_max, float& row_sum) {
  T* sk = smem;
  T* sv = smem + Tr::kN * Tr::kK;
  const int tiles = DIV_UP(keys.size(), Tr::kN);
  const int last = CAUSAL ? min(tiles, DIV_UP(row0 + Tr::kM - keys.lo, Tr::kN)) : tiles;
  for (int t = 0; t < last; ++t) {
    const int k0 = keys.lo + t * Tr::kN;
    for (int e = threadIdx.x; e < Tr::kN * Tr::kK / 8; e += Tr::kThreads) {
      const int r = e / (Tr::kK / 8);
      cp_async16(sk + e * 8, p.k + (k0 + r) * p.stride + e % (Tr::kK / 8) * 8, k0 + r < keys.hi);
    }
    cp_async_commit();
    if (t + 1 < last) cp_async_wait<1>();
    else cp_async_wait<0>();
    __syncthreads();
    float score = 0;
    for (int i = 0; i < Tr::kK; ++i) score += static_cast<float>(sk[i]) * static_cast<float>(sv[i]);
    if (CAUSAL && k0 + (int)threadIdx.x > row0) score = -1e30f;
    float m = fmaxf(row_max, score);
    for (int d = WARP_SIZE / 2; d > 0; d >>= 1) m = fmaxf(m, __shfl_xor_sync(FULL, m, d));
    const bool rescale = __any_sync(FULL, m > row_max);
    if (rescale) {
      for (float& a : acc) a *= __expf(row_max - m);
      row_sum *= __expf(row_max - m);
      row_max = m;
    }
    row_sum += __expf(score - row_max);
    __syncthreads();
  }
}
template <class Tr, typename T> __global__ void __launch_bounds__(Tr::kThreads) attention(const __grid_constant__ Params<T> p) {
  extern __shared__ __align__(16) unsigned char raw[];
  T* smem = reinterpret_cast<T*>(raw);
  const int batch = blockIdx.z, row0 = blockIdx.x * Tr::kM;
  const int length = p.lengths ? p.lengths[batch] : p.seq;
  if (row0 >= length) return;
  const Range all = range_of(blockIdx.y, DIV_UP(length, gridDim.y), length);
  const Range keys = p.window > 0 ? all.clip(row0 - p.window, row0 + Tr::kM) : all;
  float acc[4] = {}, row_max = -1e30f, row_sum = 0;
  if (!keys.empty()) {
    DISPATCH_BOOL(p.causal, kCausal, attention_tile<Tr, T, kCausal>(p, smem, keys, row0, acc, row_max, row_sum);)
  }
  __syncthreads();
  if (row0 + threadIdx.x < length) p.out[(row0 + threadIdx.x) * p.stride] = acc[0] / row_sum;
}
template __global__ void attention<Traits<64, 64, 64, 4>, float>(const Params<float>);

// A pipeline of several stages, the trip count known to the block.
template <int STAGES, int TILE> __global__ void staged_sum(const float* __restrict__ in, float* __restrict__ out, int tiles_per_block, int n) {
  __shared__ float stage[STAGES][TILE];
  const int first = blockIdx.x * tiles_per_block;
  const int count = min(tiles_per_block, DIV_UP(n, TILE) - first);
  if (count <= 0) return;
  int fetch = 0;
#pragma unroll
  for (int s = 0; s < STAGES - 1; ++s, ++fetch) {
    if (fetch < count) cp_async16(&stage[fetch][threadIdx.x], in + (first + fetch) * TILE + threadIdx.x, true);
    cp_async_commit();
  }
  float sum = 0;
  for (int t = 0; t < count; ++t) {
    cp_async_wait<STAGES - 2>();
    __syncthreads();
    if (fetch < count) cp_async16(&stage[fetch % STAGES][threadIdx.x], in + (first + fetch) * TILE + threadIdx.x, true);
    ++fetch;
    cp_async_commit();
    sum += stage[t % STAGES][threadIdx.x];
  }
  out[blockIdx.x * TILE + threadIdx.x] = sum;
}
template __global__ void staged_sum<3, 128>(const float*, float*, int, int);

// Sampling: the threshold is searched by the whole block; all decide on shared values.
template <int B> DEVICE float block_total(float v, float* s) {
  for (int d = WARP_SIZE / 2; d; d /= 2) v += __shfl_xor_sync(FULL, v, d);
  if (threadIdx.x % WARP_SIZE == 0) s[threadIdx.x / WARP_SIZE] = v;
  __syncthreads();
  float total = 0;
#pragma unroll
  for (int w = 0; w < B / WARP_SIZE; ++w) total += s[w];
  __syncthreads();
  return total;
}
template <int B> __global__ void top_p_sample(const float* probs, int* result, const float* u, int vocabulary, float top_p) {
  __shared__ float scratch[B / WARP_SIZE];
  __shared__ int chosen;
  __shared__ struct { float low, high; int rounds; } search;
  const float* row = probs + blockIdx.x * vocabulary;
  if (threadIdx.x == 0) { search.low = 0; search.high = 1; search.rounds = 0; chosen = -1; }
  __syncthreads();
  do {
    const float mid = 0.5f * (search.low + search.high);
    float mass = 0;
    for (int i = threadIdx.x; i < vocabulary; i += B) mass += row[i] >= mid ? row[i] : 0.f;
    const float total = block_total<B>(mass, scratch);
    if (threadIdx.x == 0) {
      if (total > top_p) search.low = mid;
      else search.high = mid;
      ++search.rounds;
    }
    __syncthreads();
  } while (search.high - search.low > 1e-6f && search.rounds < 32);
  float before = 0;
  const float target = u[blockIdx.x] * top_p, low = search.low;
  for (int base = 0; base < vocabulary; base += B) {
    const int i = base + threadIdx.x;
    const float v = i < vocabulary && row[i] >= low ? row[i] : 0.f;
    const float total = block_total<B>(v, scratch);
    if (before + total > target) {
      if (v > 0) atomicCAS(&chosen, -1, i);
      break;
    }
    before += total;
  }
  __syncthreads();
  if (threadIdx.x == 0) result[blockIdx.x] = chosen >= 0 ? chosen : vocabulary - 1;
}
template __global__ void top_p_sample<256>(const float*, int*, const float*, int, float);

// Several problems of different size in one launch: which one is found by the block.
struct Problem { int m, n, k, tile_start; };
DEVICE int find_problem(const Problem* problems, int count, int tile) {
  int lo = 0, hi = count - 1;
  while (lo < hi) {
    const int mid = (lo + hi + 1) >> 1;
    if (problems[mid].tile_start <= tile) lo = mid;
    else hi = mid - 1;
  }
  return lo;
}
__global__ void grouped_gemm(const Problem* problems, int count, int tiles, const float* const* as, const float* const* bs, float* const* cs) {
  __shared__ float sa[16][17], sb[16][17];
  for (int tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
    const int which = find_problem(problems, count, tile);
    const Problem p = problems[which];
    const int local = tile - p.tile_start, across = DIV_UP(p.n, 16);
    const int row = local / across * 16 + threadIdx.y, col = local % across * 16 + threadIdx.x;
    float sum = 0;
    for (int k0 = 0; k0 < p.k; k0 += 16) {
      sa[threadIdx.y][threadIdx.x] = row < p.m && k0 + threadIdx.x < p.k ? as[which][row * p.k + k0 + threadIdx.x] : 0;
      sb[threadIdx.y][threadIdx.x] = col < p.n && k0 + threadIdx.y < p.k ? bs[which][(k0 + threadIdx.y) * p.n + col] : 0;
      __syncthreads();
      for (int i = 0; i < 16; ++i) sum += sa[threadIdx.y][i] * sb[i][threadIdx.x];
      __syncthreads();
    }
    if (row < p.m && col < p.n) cs[which][row * p.n + col] = sum;
  }
}

// Split-k with a semaphore: blocks wait in turn, then all threads of one continue.
__global__ void split_k(const float* in, float* out, int* semaphores, int splits, int n) {
  __shared__ int turn;
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  float v = i < n ? in[blockIdx.y * n + i] : 0;
  if (threadIdx.x == 0) {
    int seen;
    do {
      seen = ld_acquire(&semaphores[blockIdx.x]);
    } while (seen != blockIdx.y);
    turn = seen;
  }
  __syncthreads();
  if (turn > 0) v += i < n ? out[i] : 0;
  if (i < n) out[i] = v;
  __syncthreads();
  if (threadIdx.x == 0) {
    __threadfence();
    atomicExch(&semaphores[blockIdx.x], blockIdx.y + 1 == splits ? 0 : blockIdx.y + 1); // expect: cuda_legacy_atomic
  }
}

// An iterator of tiles that carries its own state.
class TileScheduler {
public:
  struct Tile { int m, n, valid; };
  DEVICE TileScheduler(int tiles_m, int tiles_n) : tiles_m_(tiles_m), tiles_n_(tiles_n), at_(blockIdx.x) {}
  DEVICE Tile current() const { return Tile{at_ / tiles_n_, at_ % tiles_n_, at_ < tiles_m_ * tiles_n_}; }
  DEVICE void advance() { at_ += gridDim.x; }
private:
  int tiles_m_, tiles_n_, at_;
};
__global__ void scheduled(const float* in, float* out, int tiles_m, int tiles_n) {
  extern __shared__ float buffer[];
  TileScheduler scheduler(tiles_m, tiles_n);
  for (auto tile = scheduler.current(); tile.valid; scheduler.advance(), tile = scheduler.current()) {
    buffer[threadIdx.x] = in[(tile.m * tiles_n + tile.n) * blockDim.x + threadIdx.x];
    __syncthreads();
    out[(tile.n * tiles_m + tile.m) * blockDim.x + threadIdx.x] = buffer[blockDim.x - 1 - threadIdx.x];
    __syncthreads();
  }
}

// A hash join: build, probe, spill; partitions of a block, sizes from an earlier kernel.
struct Slot { unsigned key, value; };
__global__ void join_partitions(const unsigned* keys_a, const unsigned* keys_b, const int* offsets_a, const int* offsets_b, int partitions, unsigned* out, int* out_count) {
  __shared__ Slot table[1024];
  __shared__ int found, base;
  for (int part = blockIdx.x; part < partitions; part += gridDim.x) {
    int a = offsets_a[part];
    const int a_end = offsets_a[part + 1], b = offsets_b[part], b_end = offsets_b[part + 1];
    if (a == a_end || b == b_end) continue;
    while (a < a_end) {
      const int chunk = min(512, a_end - a);
      for (int i = threadIdx.x; i < 1024; i += blockDim.x) table[i].key = 0xffffffffu;
      if (threadIdx.x == 0) found = 0;
      __syncthreads();
      for (int i = threadIdx.x; i < chunk; i += blockDim.x) {
        const unsigned key = keys_a[a + i];
        unsigned h = key * 2654435761u % 1024;
        while (atomicCAS(&table[h].key, 0xffffffffu, key) != 0xffffffffu) h = (h + 1) % 1024;
        table[h].value = a + i;
      }
      __syncthreads();
      for (int start = b; start < b_end; start += blockDim.x) {
        const int i = start + threadIdx.x;
        int place = -1;
        unsigned value = 0;
        if (i < b_end) {
          unsigned h = keys_b[i] * 2654435761u % 1024;
          while (table[h].key != 0xffffffffu) {
            if (table[h].key == keys_b[i]) { value = table[h].value; place = atomicAdd(&found, 1); break; }
            h = (h + 1) % 1024;
          }
        }
        const int any = __syncthreads_count(place >= 0);
        if (any > 0) {
          if (threadIdx.x == 0) { base = atomicAdd(out_count, any); found = 0; }
          __syncthreads();
          if (place >= 0) out[base + place] = value;
          __syncthreads();
        }
      }
      a += chunk;
    }
  }
}

// Rows of a block-sparse matrix; the mask is in bits that all threads read.
__global__ void block_sparse(const uint64_t* masks, const float* blocks, const float* x, float* y, int block_columns) {
  __shared__ float xs[64];
  float sum = 0;
  int at = 0;
  for (int w = 0; w < DIV_UP(block_columns, 64); ++w) {
    uint64_t bits = masks[blockIdx.x * DIV_UP(block_columns, 64) + w];
    while (bits != 0) {
      const int column = w * 64 + __popcll((bits & (0 - bits)) - 1);
      bits &= bits - 1;
      if (threadIdx.x < 64) xs[threadIdx.x] = x[column * 64 + threadIdx.x];
      __syncthreads();
      for (int i = 0; i < 64; ++i) sum += blocks[at * 4096 + threadIdx.x * 64 + i] * xs[i];
      ++at;
      __syncthreads();
    }
  }
  y[blockIdx.x * 64 + threadIdx.x] = sum;
}

// A tree in shared memory is walked by the whole block, level after level.
struct Node { int left, right, feature; float threshold; };
__global__ void build_histogram_tree(const Node* tree, const float* data, int* counts, int depth, int n) {
  __shared__ Node level[256];
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  int node = 0;
  bool alive = i < n;
  for (int d = 0; d < depth; ++d) {
    for (int j = threadIdx.x; j < (1 << d); j += blockDim.x) level[j] = tree[(1 << d) - 1 + j];
    __syncthreads();
    if (alive) {
      const Node& at = level[node - ((1 << d) - 1)];
      if (at.left < 0) alive = false;
      else node = data[i * 16 + at.feature] < at.threshold ? at.left : at.right;
    }
    if (!__syncthreads_or(alive)) break;
  }
  if (i < n) atomicAdd(&counts[node], 1);
}

// A state machine whose state is the block's own.
enum State { kIdle, kLoad, kCompute, kStore, kDone };
__global__ void machine(const int* program, int length, float* data) {
  __shared__ float regs[256];
  State state = kIdle;
  int pc = 0;
  while (state != kDone) {
    switch (state) {
    case kIdle:
      state = pc < length ? static_cast<State>(program[pc]) : kDone;
      ++pc;
      continue;
    case kLoad:
      regs[threadIdx.x] = data[threadIdx.x];
      __syncthreads();
      break;
    case kCompute: {
      const float v = regs[(threadIdx.x + 1) & 255];
      __syncthreads();
      regs[threadIdx.x] += v;
      __syncthreads();
      break;
    }
    case kStore:
      data[threadIdx.x] = regs[threadIdx.x];
      break;
    default:
      return;
    }
    state = kIdle;
  }
}

// The number of rounds is agreed by a vote of all threads, kept in a register.
__global__ void agreed_rounds(const int* need, float* x, int n) {
  __shared__ int most;
  if (threadIdx.x == 0) most = 0;
  __syncthreads();
  if (threadIdx.x < n) atomicMax(&most, need[threadIdx.x]);
  __syncthreads();
  const int rounds = most;
  for (int r = 0; r < rounds; ++r) {
    const float v = x[threadIdx.x ^ 1];
    __syncthreads();
    if (r < need[threadIdx.x]) x[threadIdx.x] = 0.5f * v;
    __syncthreads();
  }
}

// A loop over what is left, each thread with a counter of its own; who is ready first waits for the others.
__global__ void uneven(const int* work, float* out, int n) {
  __shared__ float s[128];
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  int left = i < n ? work[i] : 0;
  for (;;) {
    if (left > 0) s[threadIdx.x] = left--;
    else s[threadIdx.x] = 0;
    __syncthreads();
    float sum = 0;
    for (int k = 0; k < blockDim.x; ++k) sum += s[k];
    if (i < n) out[i] += sum;
    if (__syncthreads_count(left > 0) == 0) return;
  }
}
__global__ void checked(const float* in, float* out, int n) {
  __shared__ float s[256];
  KERNEL_CHECK(blockDim.x <= 256);
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  float v = 0;
  if (i < n) {
    v = in[i];
    KERNEL_CHECK(v >= 0);
  }
  s[threadIdx.x] = v;
  __syncthreads();
  if (i < n) out[i] = s[blockDim.x - 1 - threadIdx.x];
}

// Two-dimensional blocks: a row of threads is a warp, guards on y only where no barrier follows.
template <int COLS> __global__ void column_sums(const float* in, float* out, int rows, int cols) {
  __shared__ float s[8][COLS + 1];
  const int col = blockIdx.x * COLS + threadIdx.x;
  float sum = 0;
  for (int row = threadIdx.y; row < rows; row += blockDim.y)
    if (col < cols) sum += in[row * cols + col];
  s[threadIdx.y][threadIdx.x] = sum;
  __syncthreads();
  for (int half = blockDim.y >> 1; half > 0; half >>= 1) {
    if (threadIdx.y < half) s[threadIdx.y][threadIdx.x] += s[threadIdx.y + half][threadIdx.x];
    __syncthreads();
  }
  if (threadIdx.y != 0 || col >= cols) return;
  out[col] = s[0][threadIdx.x];
}
template __global__ void column_sums<32>(const float*, float*, int, int);

// Items are dealt out to the threads of a block in a fixed number of passes; edges by a predicate.
template <int THREADS, int ITEMS, typename K> DEVICE void load_striped(const K* in, int valid, K (&items)[ITEMS], K fallback) {
#pragma unroll
  for (int i = 0; i < ITEMS; ++i) {
    const int at = i * THREADS + threadIdx.x;
    items[i] = at < valid ? in[at] : fallback;
  }
}
template <int THREADS, int ITEMS, typename K> DEVICE void to_blocked(K (&items)[ITEMS], K* exchange) {
#pragma unroll
  for (int i = 0; i < ITEMS; ++i) exchange[i * THREADS + threadIdx.x] = items[i];
  __syncthreads();
#pragma unroll
  for (int i = 0; i < ITEMS; ++i) items[i] = exchange[threadIdx.x * ITEMS + i];
  __syncthreads();
}
template <int THREADS, int ITEMS, typename K> __global__ void agent(const K* in, K* out, int n, int per_block) {
  __shared__ union { K exchange[THREADS * ITEMS]; int flags[THREADS]; } temp;
  const int begin = blockIdx.x * per_block, end = min(begin + per_block, n);
  int at = begin;
  for (; at + THREADS * ITEMS <= end; at += THREADS * ITEMS) {
    K items[ITEMS];
    load_striped<THREADS, ITEMS>(in + at, THREADS * ITEMS, items, K());
    to_blocked<THREADS, ITEMS>(items, temp.exchange);
    for (int i = 0; i < ITEMS; ++i) out[at + threadIdx.x * ITEMS + i] = items[i];
  }
  if (at < end) {
    K items[ITEMS];
    load_striped<THREADS, ITEMS>(in + at, end - at, items, K());
    to_blocked<THREADS, ITEMS>(items, temp.exchange);
    for (int i = 0; i < ITEMS; ++i)
      if (at + threadIdx.x * ITEMS + i < end) out[at + threadIdx.x * ITEMS + i] = items[i];
  }
}
template __global__ void agent<128, 4, int>(const int*, int*, int, int);

// By a pointer to a member, by a function object, by a table of functions known at compile time.
using Step = void (*)(float*);
DEVICE void step_double(float* s) { s[threadIdx.x] *= 2; __syncthreads(); }
DEVICE void step_shift(float* s) {
  const float v = s[(threadIdx.x + 1) % blockDim.x];
  __syncthreads();
  s[threadIdx.x] = v;
  __syncthreads();
}
template <Step... STEPS> __global__ void steps(float* x, int rounds) {
  extern __shared__ float shared_floats[];
  shared_floats[threadIdx.x] = x[threadIdx.x];
  __syncthreads();
  for (int r = 0; r < rounds; ++r) (STEPS(shared_floats), ...);
  x[threadIdx.x] = shared_floats[threadIdx.x];
}
template __global__ void steps<step_double, step_shift>(float*, int);

// Threads of a block that split by role, with barriers of their own kind, meet again.
__global__ void loader_and_math(const float* in, float* out, int tiles) {
  __shared__ float buffer[2][96];
  const int role = threadIdx.x / 32;
  for (int t = 0; t <= tiles; ++t) {
    if (role == 3) {
      if (t < tiles)
        for (int i = threadIdx.x % 32; i < 96; i += 32) buffer[t & 1][i] = in[t * 96 + i];
    } else if (t > 0) {
      out[(t - 1) * 96 + threadIdx.x] = 2 * buffer[(t - 1) & 1][threadIdx.x];
    }
    __syncthreads();
  }
}
// The number of the warp by a shuffle that is written out: whole warps take the branches.
DEVICE int uniform_in_warp(int v) {
  int r;
  asm volatile("shfl.sync.idx.b32 %0, %1, 0, 0x1F, 0xFFFFFFFF;" : "=r"(r) : "r"(v));
  return r;
}
__global__ void roles_by_shuffle(const float* in, float* out, int rounds) {
  __shared__ float s[256];
  const int warp = uniform_in_warp(threadIdx.x / 32);
  if (warp == 0) {
    float v = in[threadIdx.x];
    for (int d = 16; d > 0; d >>= 1) v += __shfl_xor_sync(FULL, v, d);
    s[threadIdx.x] = v;
    __syncwarp();
    if (threadIdx.x == 0) s[1] = s[31];
  } else if (warp <= 3) {
    for (int r = 0; r < rounds; ++r) s[threadIdx.x] += __shfl_down_sync(FULL, in[r * 256 + threadIdx.x], 1);
  }
  __syncthreads();
  out[threadIdx.x] = s[threadIdx.x ^ 1];
}
} // namespace lib
int main() { return 0; }
