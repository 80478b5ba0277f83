// Matrix products on tensor cores through nvcuda::wmma, every element type, and through mma.sync with ldmatrix; compared with the host.
//@ exercises: wmma load/mma/store of f16, bf16, tf32, f64, s8, u8 in their shapes and layouts, fragments filled and read element by element, mma.sync m16n8k16, ldmatrix, cp.async
#include "support.h"

#include <cmath>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <mma.h>

using namespace nvcuda;

template <class In, class Fragment, class Out, int M, int N, int K, class LayoutA, class LayoutB>
__global__ void product(const In* a, const In* b, Out* c, int m, int n, int k, Out scale) {
  int tile_m = blockIdx.y * M, tile_n = blockIdx.x * N;
  wmma::fragment<wmma::matrix_a, M, N, K, Fragment, LayoutA> fa;
  wmma::fragment<wmma::matrix_b, M, N, K, Fragment, LayoutB> fb;
  wmma::fragment<wmma::accumulator, M, N, K, Out> fc;
  wmma::fill_fragment(fc, Out(0));
  constexpr bool rows_a = std::is_same<LayoutA, wmma::row_major>::value, rows_b = std::is_same<LayoutB, wmma::row_major>::value;
  for (int step = 0; step < k; step += K) {
    wmma::load_matrix_sync(fa, rows_a ? a + tile_m * k + step : a + step * m + tile_m, rows_a ? k : m);
    wmma::load_matrix_sync(fb, rows_b ? b + step * n + tile_n : b + tile_n * k + step, rows_b ? n : k);
    wmma::mma_sync(fc, fa, fb, fc);
  }
  for (int i = 0; i < fc.num_elements; ++i) fc.x[i] = fc.x[i] * scale;
  wmma::store_matrix_sync(c + tile_m * n + tile_n, fc, n, wmma::mem_row_major);
}

template <class T> double number(T v) { return static_cast<double>(v); }
template <> double number(__half v) { return __half2float(v); }
template <> double number(__nv_bfloat16 v) { return __bfloat162float(v); }
template <class T> T make(int v) { return static_cast<T>(v); }
template <> __half make(int v) { return __float2half(static_cast<float>(v)); }
template <> __nv_bfloat16 make(int v) { return __float2bfloat16(static_cast<float>(v)); }

template <class In, class Fragment, class Out, int M, int N, int K, class LayoutA, class LayoutB> void run(const char* name) {
  const int m = 2 * M, n = 2 * N, k = 3 * K;
  std::vector<In> a(m * k), b(k * n);
  Lcg random{static_cast<std::uint64_t>(M + 10 * N + K)};
  bool is_unsigned = std::is_same<In, unsigned char>::value;
  for (In& v : a) v = make<In>(static_cast<int>(random.next() % 9) - (is_unsigned ? 0 : 4));
  for (In& v : b) v = make<In>(static_cast<int>(random.next() % 9) - (is_unsigned ? 0 : 4));
  Buffer<In> da(a), db(b);
  Buffer<Out> c(m * n);
  product<In, Fragment, Out, M, N, K, LayoutA, LayoutB><<<dim3(2, 2), 32>>>(da, db, c, m, n, k, make<Out>(2));
  SYNC_OK();
  auto got = c.get();
  int wrong = 0;
  constexpr bool rows_a = std::is_same<LayoutA, wmma::row_major>::value, rows_b = std::is_same<LayoutB, wmma::row_major>::value;
  for (int i = 0; i < m; ++i)
    for (int j = 0; j < n; ++j) {
      double sum = 0;
      for (int l = 0; l < k; ++l) sum += number(a[rows_a ? i * k + l : l * m + i]) * number(b[rows_b ? l * n + j : j * k + l]);
      wrong += number(got[i * n + j]) != 2 * sum;
    }
  std::printf("%-22s %dx%dx%d: %d wrong\n", name, M, N, K, wrong);
}

// 16x8x16 from shared memory with ldmatrix; operands staged by cp.async.
__global__ void by_hand(const __half* a, const __half* b, float* c) {
  __shared__ __align__(16) __half sa[16 * 16], sb[16 * 8];
  int t = threadIdx.x;
  unsigned pa = static_cast<unsigned>(__cvta_generic_to_shared(sa)), pb = static_cast<unsigned>(__cvta_generic_to_shared(sb));
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(pa + t * 16), "l"(a + t * 8));
  if (t < 16) asm volatile("cp.async.ca.shared.global [%0], [%1], 16;" ::"r"(pb + t * 16), "l"(b + t * 8));
  asm volatile("cp.async.commit_group;\ncp.async.wait_group 0;");
  __syncwarp();
  unsigned fa[4], fb[2];
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];" : "=r"(fa[0]), "=r"(fa[1]), "=r"(fa[2]), "=r"(fa[3]) : "r"(pa + (t % 16) * 32 + t / 16 * 16));
  asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0,%1}, [%2];" : "=r"(fb[0]), "=r"(fb[1]) : "r"(pb + (t % 16) * 16));
  float d[4] = {};
  asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
               : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]) : "r"(fa[0]), "r"(fa[1]), "r"(fa[2]), "r"(fa[3]), "r"(fb[0]), "r"(fb[1]));
  for (int i = 0; i < 4; ++i) c[(t / 4 + i / 2 * 8) * 8 + t % 4 * 2 + i % 2] = d[i];
}

int main() {
  using Row = wmma::row_major;
  using Col = wmma::col_major;
  run<__half, __half, float, 16, 16, 16, Row, Col>("half to float");
  run<__half, __half, float, 16, 16, 16, Col, Row>("half to float");
  run<__half, __half, __half, 16, 16, 16, Row, Row>("half to half");
  run<__half, __half, float, 32, 8, 16, Row, Col>("half to float");
  run<__half, __half, float, 8, 32, 16, Col, Col>("half to float");
  run<__nv_bfloat16, __nv_bfloat16, float, 16, 16, 16, Row, Col>("bfloat16");
  run<__nv_bfloat16, __nv_bfloat16, float, 8, 32, 16, Row, Row>("bfloat16");
  run<float, wmma::precision::tf32, float, 16, 16, 8, Row, Col>("tf32");
  run<double, double, double, 8, 8, 4, Row, Col>("double");
  run<double, double, double, 8, 8, 4, Col, Row>("double");
  run<signed char, signed char, int, 16, 16, 16, Row, Col>("signed char");
  run<unsigned char, unsigned char, int, 32, 8, 16, Col, Row>("unsigned char");
  std::vector<__half> a(256), b(128);
  for (int i = 0; i < 256; ++i) a[i] = __float2half(static_cast<float>(i % 13 - 6));
  for (int i = 0; i < 128; ++i) b[i] = __float2half(static_cast<float>(i % 7 - 3));
  Buffer<__half> da(a), db(b);
  Buffer<float> c(128);
  by_hand<<<1, 32>>>(da, db, c);
  SYNC_OK();
  auto got = c.get();
  int wrong = 0;
  for (int i = 0; i < 16; ++i)
    for (int j = 0; j < 8; ++j) {
      float sum = 0;
      for (int l = 0; l < 16; ++l) sum += __half2float(a[i * 16 + l]) * __half2float(b[l * 8 + j]);
      wrong += sum != got[i * 8 + j];
    }
  std::printf("mma.sync: %d wrong\n", wrong);
}
