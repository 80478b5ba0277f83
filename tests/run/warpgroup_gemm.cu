// Matrix products as kernels for Hopper make them: a warp that copies tensors ahead and warpgroups that multiply, compared with the host.
//@ exercises: wgmma with every swizzle, lines along k and transposed, A in registers; cp.async.bulk.tensor that writes what wgmma reads, a pipeline of mbarriers, setmaxnreg, elect.sync, fence.proxy.async; code for sm_90a
//@ flags: -gencode=arch=compute_90a,code=[sm_90a,compute_90a]
#include "../support/warpgroup.h"
#include "support.h"

#include <type_traits>

constexpr int tile_m = 64, tile_n = 32, stages = 3;

/// How a matrix lies in shared memory: its rows along k (a box of `span` bytes along k), or across
/// (a box of `span` bytes along m or n).
template <int span_bytes, bool transposed_> struct Layout {
  static constexpr int span = span_bytes;
  static constexpr bool transposed = transposed_;
  static constexpr unsigned mode = span == 128 ? 1 : span == 64 ? 2 : span == 32 ? 3 : 0;
  static constexpr CUtensorMapSwizzle swizzle = span == 128  ? CU_TENSOR_MAP_SWIZZLE_128B
                                                : span == 64 ? CU_TENSOR_MAP_SWIZZLE_64B
                                                : span == 32 ? CU_TENSOR_MAP_SWIZZLE_32B
                                                             : CU_TENSOR_MAP_SWIZZLE_NONE;
  /// Columns of a box.
  static constexpr int columns = span / 2;
};

/// A block makes a tile of 64 × 32 per consumer: warpgroup 0 copies, the others multiply, each its
/// own 64 rows. A stage holds `depth` of k.
template <class A, class B, int consumers, int depth>
__global__ void __launch_bounds__(128 * (consumers + 1), 1)
gemm(const __grid_constant__ CUtensorMap map_a, const __grid_constant__ CUtensorMap map_b, float* c, int n, int k) {
  constexpr int a_bytes = tile_m * depth * 2, b_bytes = tile_n * depth * 2;
  extern __shared__ __align__(1024) unsigned char memory[];
  unsigned char(*as)[consumers][a_bytes] = reinterpret_cast<unsigned char(*)[consumers][a_bytes]>(memory);
  unsigned char(*bs)[b_bytes] = reinterpret_cast<unsigned char(*)[b_bytes]>(memory + stages * consumers * a_bytes);
  __shared__ std::uint64_t full[stages], empty[stages];
  const int group = threadIdx.x / 128;
  if (threadIdx.x == 0) {
    for (int s = 0; s < stages; ++s) {
      barrier_init(&full[s], 1);
      barrier_init(&empty[s], consumers);
    }
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  }
  __syncthreads();
  const int steps = k / depth, first_m = blockIdx.y * tile_m * consumers, first_n = blockIdx.x * tile_n;
  if (group == 0) {
    asm volatile("setmaxnreg.dec.sync.aligned.u32 40;");
    if (threadIdx.x < 32 && elect_one()) {
      for (int step = 0; step < steps; ++step) {
        const int s = step % stages, round = step / stages, at = step * depth;
        if (round > 0) barrier_wait(&empty[s], (round - 1) % 2);
        barrier_expect(&full[s], consumers * a_bytes + b_bytes);
        // Boxes lie one after the other, each of so many lines.
        constexpr int a_lines = A::transposed ? depth : tile_m, b_lines = B::transposed ? depth : tile_n;
        for (int part = 0; part < consumers; ++part)
          for (int x = 0; x < (A::transposed ? tile_m : depth); x += A::columns)
            load_box(as[s][part] + x * a_lines * 2, &map_a, (A::transposed ? first_m + part * tile_m : at) + x,
                     A::transposed ? at : first_m + part * tile_m, &full[s]);
        for (int x = 0; x < (B::transposed ? tile_n : depth); x += B::columns)
          load_box(bs[s] + x * b_lines * 2, &map_b, (B::transposed ? first_n : at) + x, B::transposed ? at : first_n, &full[s]);
      }
    }
    return;
  }
  asm volatile("setmaxnreg.inc.sync.aligned.u32 160;");
  const int part = group - 1, thread = threadIdx.x % 128;
  float d[16];
  for (int step = 0; step < steps; ++step) {
    const int s = step % stages;
    barrier_wait(&full[s], step / stages % 2);
    wgmma_fence();
    for (int i = 0; i < depth; i += 16) {
      // 16 of k: a piece of a line or so many lines further.
      const auto place = [i](auto layout, const unsigned char* at, int lines) {
        using L = decltype(layout);
        if (L::transposed) {
          const unsigned box = depth * L::span;
          return L::mode == 0 ? matrix_at(at + i * 16, 128, box, 0) : matrix_at(at + i * L::span, box, 8 * L::span, L::mode);
        }
        const int box = i / L::columns, within = i % L::columns;
        return matrix_at(at + box * lines * L::span + within * 2, lines * L::span, 8 * L::span, L::mode);
      };
      multiply<A::transposed, B::transposed>(d, place(A(), as[s][part], tile_m), place(B(), bs[s], tile_n), step + i > 0);
    }
    wgmma_commit();
    // The group before this one has completed: its stage may be filled again.
    wgmma_wait<1>();
    asm volatile("bar.sync %0, 128;" ::"r"(group) : "memory");
    if (step > 0 && thread == 0) barrier_arrive(&empty[(step - 1) % stages]);
  }
  wgmma_wait<0>();
  for (int i = 0; i < 16; ++i)
    c[(first_m + part * tile_m + row_of(thread, i)) * n + first_n + column_of(thread, i)] = d[i];
}

template <class A, class B, int consumers, int depth> void run(const char* name) {
  const int m = 2 * consumers * tile_m, n = 2 * tile_n, k = 7 * depth;
  std::vector<__half> a(m * k), b(n * k);
  Lcg random{static_cast<std::uint64_t>(A::span + B::span)};
  std::vector<int> x(m * k), y(n * k); // row by row, and column by column
  for (int& v : x) v = static_cast<int>(random.next() % 9) - 4;
  for (int& v : y) v = static_cast<int>(random.next() % 9) - 4;
  for (int i = 0; i < m; ++i)
    for (int l = 0; l < k; ++l) a[A::transposed ? l * m + i : i * k + l] = __float2half(static_cast<float>(x[i * k + l]));
  for (int j = 0; j < n; ++j)
    for (int l = 0; l < k; ++l) b[B::transposed ? l * n + j : j * k + l] = __float2half(static_cast<float>(y[j * k + l]));
  Buffer<__half> da(a), db(b);
  Buffer<float> c(m * n);
  const CUtensorMap map_a = A::transposed ? map_of(da, m, k, A::columns, depth, A::swizzle) : map_of(da, k, m, A::columns, tile_m, A::swizzle);
  const CUtensorMap map_b = B::transposed ? map_of(db, n, k, B::columns, depth, B::swizzle) : map_of(db, k, n, B::columns, tile_n, B::swizzle);
  const int bytes = stages * depth * 2 * (consumers * tile_m + tile_n) + 1024;
  CUDA_OK(cudaFuncSetAttribute(gemm<A, B, consumers, depth>, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes));
  gemm<A, B, consumers, depth><<<dim3(n / tile_n, 2), 128 * (consumers + 1), bytes>>>(map_a, map_b, c, n, k);
  SYNC_OK();
  const auto got = c.get();
  int wrong = 0;
  for (int i = 0; i < m; ++i)
    for (int j = 0; j < n; ++j) {
      int sum = 0;
      for (int l = 0; l < k; ++l) sum += x[i * k + l] * y[j * k + l];
      wrong += got[i * n + j] != static_cast<float>(sum);
    }
  std::printf("%s: %d of %d wrong\n", name, wrong, m * n);
}

/// A from registers, B as the threads have written it, without a tensor copy.
__global__ void from_registers(const __half* a, const __half* b, float* c) {
  __shared__ alignas(128) __half sb[32 * 16];
  const int thread = threadIdx.x, lane = thread % 32;
  for (int i = thread; i < 32 * 16; i += 128) // eight rows of eight elements lie together
    sb[i / 16 / 8 * 64 + i / 16 % 8 * 8 + i % 16 / 8 * 256 + i % 8] = b[i];
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  __syncthreads();
  unsigned fa[4];
  for (int r = 0; r < 4; ++r)
    memcpy(&fa[r], a + (thread / 32 * 16 + lane / 4 + r % 2 * 8) * 16 + lane % 4 * 2 + r / 2 * 8, 4);
  float d[16];
  wgmma_fence();
  multiply<0>(d, fa, matrix_at(sb, 512, 128, 0), false);
  wgmma_commit();
  wgmma_wait<0>();
  for (int i = 0; i < 16; ++i) c[row_of(thread, i) * 32 + column_of(thread, i)] = d[i];
}

/// What a copy leaves in shared memory where a swizzle's pattern does not begin.
__global__ void raw_box(const __grid_constant__ CUtensorMap map, unsigned* out) {
  __shared__ alignas(1024) unsigned char memory[4096];
  __shared__ std::uint64_t full;
  for (int i = threadIdx.x; i < 1024; i += 32) reinterpret_cast<unsigned*>(memory)[i] = 0;
  if (threadIdx.x == 0) barrier_init(&full, 1);
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  __syncwarp();
  if (threadIdx.x == 0) {
    barrier_expect(&full, 16 * 128);
    load_box(memory + 384, &map, 0, 0, &full);
  }
  barrier_wait(&full, 0);
  for (int i = threadIdx.x; i < 1024; i += 32) out[i] = reinterpret_cast<unsigned*>(memory)[i];
}

void raw_boxes() {
  std::vector<__half> a(64 * 64);
  for (int i = 0; i < 64 * 64; ++i) a[i] = __float2half(static_cast<float>(i % 2039));
  Buffer<__half> da(a);
  for (int shift = 0; shift < 3; ++shift) {
    Buffer<unsigned> out(1024);
    const unsigned columns = 64 >> shift;
    const CUtensorMapSwizzle swizzle = shift == 0   ? CU_TENSOR_MAP_SWIZZLE_128B
                                       : shift == 1 ? CU_TENSOR_MAP_SWIZZLE_64B
                                                    : CU_TENSOR_MAP_SWIZZLE_32B;
    raw_box<<<1, 32>>>(map_of(da, 64, 64, columns, 16 * 64 / columns, swizzle), out);
    SYNC_OK();
    const auto words = out.get();
    std::printf("box of %u columns: %016llx, word 100: %08x\n", columns, static_cast<unsigned long long>(digest(words)), words[100]);
  }
}

void registers() {
  std::vector<__half> a(64 * 16), b(32 * 16);
  for (int i = 0; i < 64 * 16; ++i) a[i] = __float2half(static_cast<float>(i % 11 - 5));
  for (int i = 0; i < 32 * 16; ++i) b[i] = __float2half(static_cast<float>(i % 7 - 3));
  Buffer<__half> da(a), db(b);
  Buffer<float> c(64 * 32);
  from_registers<<<1, 128>>>(da, db, c);
  SYNC_OK();
  const auto got = c.get();
  int wrong = 0;
  for (int i = 0; i < 64; ++i)
    for (int j = 0; j < 32; ++j) {
      float sum = 0;
      for (int l = 0; l < 16; ++l) sum += __half2float(a[i * 16 + l]) * __half2float(b[j * 16 + l]);
      wrong += got[i * 32 + j] != sum;
    }
  std::printf("A in registers: %d wrong\n", wrong);
}

int main() {
  run<Layout<128, false>, Layout<128, false>, 2, 64>("128 bytes, two consumers");
  run<Layout<64, false>, Layout<64, false>, 1, 64>("64 bytes");
  run<Layout<32, false>, Layout<32, false>, 1, 32>("32 bytes");
  run<Layout<16, false>, Layout<16, false>, 1, 32>("no swizzle");
  run<Layout<128, true>, Layout<64, true>, 1, 32>("transposed");
  run<Layout<32, true>, Layout<32, true>, 1, 32>("transposed, 32 bytes");
  run<Layout<16, true>, Layout<128, false>, 1, 64>("transposed A without swizzle");
  registers();
  raw_boxes();
}
