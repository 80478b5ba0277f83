// IEEE arithmetic in the four rounding modes, denormal numbers, signed zeros, NaN, and comparisons.
//@ exercises: __fadd_rn/rz/ru/rd, __fmul, __fmaf, __fdiv, __fsqrt, __frcp, __frsqrt_rn and the double forms, setp with NaN, fmin/fmax, copysign
//@ also-flags: -G
#include "support.h"

#include <cmath>
#include <cstring>
#include <limits>

__device__ void put(unsigned*& out, float value) { *out++ = value != value ? 0x7fffffffu : __float_as_uint(value); }
__device__ void put(unsigned long long*& out, double value) {
  *out++ = value != value ? 0x7fffffffffffffffull : static_cast<unsigned long long>(__double_as_longlong(value));
}

__global__ void single(const float* values, int n, unsigned* out) {
  float a = values[blockIdx.x], b = values[threadIdx.x], c = values[(blockIdx.x + threadIdx.x) % n];
  unsigned* row = out + (blockIdx.x * n + threadIdx.x) * 32;
  put(row, __fadd_rn(a, b)); put(row, __fadd_rz(a, b)); put(row, __fadd_ru(a, b)); put(row, __fadd_rd(a, b));
  put(row, __fsub_rn(a, b)); put(row, __fsub_rz(a, b)); put(row, __fsub_ru(a, b)); put(row, __fsub_rd(a, b));
  put(row, __fmul_rn(a, b)); put(row, __fmul_rz(a, b)); put(row, __fmul_ru(a, b)); put(row, __fmul_rd(a, b));
  put(row, __fmaf_rn(a, b, c)); put(row, __fmaf_rz(a, b, c)); put(row, __fmaf_ru(a, b, c)); put(row, __fmaf_rd(a, b, c));
  put(row, __fdiv_rn(a, b)); put(row, __fdiv_rz(a, b)); put(row, __fdiv_ru(a, b)); put(row, __fdiv_rd(a, b));
  put(row, __fsqrt_rn(a)); put(row, __fsqrt_rz(a)); put(row, __fsqrt_ru(a)); put(row, __fsqrt_rd(a));
  put(row, __frcp_rn(a)); put(row, __frcp_rz(a)); put(row, __frcp_ru(a)); put(row, __frcp_rd(a));
  put(row, __frsqrt_rn(a));
  put(row, fminf(a, b));
  put(row, fmaxf(a, b));
  *row++ = (a < b) | (a <= b) << 1 | (a == b) << 2 | (a != b) << 3 | (a > b) << 4 | ((a != a) | (b != b)) << 5 |
           (signbit(a) != 0) << 6 | (isinf(a) != 0) << 7 | (isfinite(b) != 0) << 8;
}

__global__ void wide(const double* values, int n, unsigned long long* out) {
  double a = values[blockIdx.x], b = values[threadIdx.x], c = values[(blockIdx.x + threadIdx.x) % n];
  unsigned long long* row = out + (blockIdx.x * n + threadIdx.x) * 32;
  put(row, __dadd_rn(a, b)); put(row, __dadd_rz(a, b)); put(row, __dadd_ru(a, b)); put(row, __dadd_rd(a, b));
  put(row, __dsub_rn(a, b)); put(row, __dsub_rz(a, b)); put(row, __dsub_ru(a, b)); put(row, __dsub_rd(a, b));
  put(row, __dmul_rn(a, b)); put(row, __dmul_rz(a, b)); put(row, __dmul_ru(a, b)); put(row, __dmul_rd(a, b));
  put(row, __fma_rn(a, b, c)); put(row, __fma_rz(a, b, c)); put(row, __fma_ru(a, b, c)); put(row, __fma_rd(a, b, c));
  put(row, __ddiv_rn(a, b)); put(row, __ddiv_rz(a, b)); put(row, __ddiv_ru(a, b)); put(row, __ddiv_rd(a, b));
  put(row, __dsqrt_rn(a)); put(row, __dsqrt_rz(a)); put(row, __dsqrt_ru(a)); put(row, __dsqrt_rd(a));
  put(row, __drcp_rn(a)); put(row, __drcp_rz(a)); put(row, __drcp_ru(a)); put(row, __drcp_rd(a));
  put(row, fmin(a, b));
  put(row, fmax(a, b));
  put(row, copysign(a, b));
  *row++ = (a < b) | (a <= b) << 1 | (a == b) << 2 | (a != b) << 3 | isnan(a) << 4 | (a >= b) << 5;
}

template <class W, class T, class Kernel> void test(const char* name, Kernel kernel, const std::vector<T>& values) {
  int n = static_cast<int>(values.size());
  Buffer<T> input(values);
  Buffer<W> out(n * n * 32);
  kernel<<<n, n>>>(input.data(), n, out.data());
  SYNC_OK();
  auto result = out.get();
  for (int k = 0; k < 32; ++k) {
    std::vector<W> column(n * n);
    for (int i = 0; i < n * n; ++i) {
      column[i] = result[i * 32 + k];
    }
    std::printf("%s %2d %016llx\n", name, k, static_cast<unsigned long long>(digest(column)));
  }
}

int main() {
  using F = std::numeric_limits<float>;
  using D = std::numeric_limits<double>;
  std::vector<float> singles = {0.0f, -0.0f, 1, -1, 0.1f, -0.3f, 3, 1e10f, -1e-10f, F::min(), F::denorm_min(),
                                -F::denorm_min() * 12345, F::max(), -F::max(), F::infinity(), -F::infinity(),
                                F::quiet_NaN(), 1.0000001f, 0.99999994f, 8388608.5f, 16777216, 1.5f, 2.5e-20f, 7e19f};
  std::vector<double> doubles = {0.0, -0.0, 1, -1, 0.1, -0.3, 3, 1e100, -1e-100, D::min(), D::denorm_min(),
                                 -D::denorm_min() * 12345, D::max(), -D::max(), D::infinity(), -D::infinity(),
                                 D::quiet_NaN(), 1 + D::epsilon(), 1 - D::epsilon() / 2, 4503599627370496.5, 2.5e-160, 7e159};
  test<unsigned>("float", single, singles);
  test<unsigned long long>("double", wide, doubles);
}
