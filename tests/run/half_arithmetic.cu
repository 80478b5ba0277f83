// Half precision: scalar and packed arithmetic, comparisons, conversions, math functions, shuffles.
//@ exercises: __half/__half2 operators, add/mul/fma.rn.f16(x2), sat and relu forms, hmin/hmax NaN rules, cvt f16, h2exp2 and friends, half in shuffles and atomics
#include "support.h"

#include <cuda_fp16.h>

#include <cmath>

__device__ unsigned short clean(__half value) {
  return __hisnan(value) ? 0x7fff : __half_as_ushort(value);
}

__global__ void scalar(const float* values, int n, unsigned short* out) {
  __half a = __float2half(values[blockIdx.x]), b = __float2half(values[threadIdx.x]);
  __half c = __float2half(values[(blockIdx.x + threadIdx.x) % n]);
  unsigned short* row = out + (blockIdx.x * n + threadIdx.x) * 20;
  *row++ = clean(a + b);
  *row++ = clean(a - b);
  *row++ = clean(a * b);
  *row++ = clean(a / b);
  *row++ = clean(__hfma(a, b, c));
  *row++ = clean(__hfma_sat(a, b, c));
  *row++ = clean(__hfma_relu(a, b, c));
  *row++ = clean(__hadd_sat(a, b));
  *row++ = clean(__hneg(a));
  *row++ = clean(__habs(a));
  *row++ = clean(__hmax(a, b));
  *row++ = clean(__hmin(a, b));
  *row++ = clean(__hmax_nan(a, b));
  *row++ = clean(__hadd_rn(a, __hmul_rn(b, c)));
  *row++ = __heq(a, b) | __hlt(a, b) << 1 | __hge(a, b) << 2 | __hneu(a, b) << 3 | __hltu(a, b) << 4 | __hisinf(a) << 5;
  *row++ = static_cast<unsigned short>(__half2int_rn(a)) ^ __half2ushort_rz(b);
  *row++ = clean(hceil(a)) ^ clean(hfloor(b));
  *row++ = clean(hrint(a)) ^ clean(htrunc(b)) << 1;
  *row++ = clean(hsqrt(__habs(a)));
  *row++ = clean(__int2half_rn(static_cast<int>(threadIdx.x) * 1000 - 7));
}

__global__ void packed(const float* values, int n, unsigned* out) {
  int i = threadIdx.x;
  __half2 a = __floats2half2_rn(values[i], values[(i + 1) % n]);
  __half2 b = __float22half2_rn({values[(i + 2) % n], values[(i + 5) % n]});
  auto bits = [](__half2 value) { return static_cast<unsigned>(clean(__low2half(value))) | clean(__high2half(value)) << 16; };
  unsigned* row = out + i * 12;
  *row++ = bits(a + b);
  *row++ = bits(a * b);
  *row++ = bits(__hfma2(a, b, a));
  *row++ = bits(__hsub2_sat(a, b));
  *row++ = bits(__hmax2(a, b));
  *row++ = bits(__lowhigh2highlow(a));
  *row++ = bits(__lows2half2(a, b));
  *row++ = __hgt2_mask(a, b);
  *row++ = bits(__hge2(a, b));
  *row++ = __hbeq2(a, a);
  *row++ = bits(__shfl_xor_sync(0x000fffffu, a, 1, 2));
  *row++ = bits(__hcmadd(a, b, a));
}

__global__ void functions(float* out) {
  __half x = __float2half(0.75f + threadIdx.x * 0.5f);
  float* row = out + threadIdx.x * 8;
  row[0] = __half2float(hexp(x));
  row[1] = __half2float(hlog(x));
  row[2] = __half2float(hsin(x));
  row[3] = __half2float(hcos(x));
  row[4] = __half2float(hrsqrt(x));
  row[5] = __half2float(hrcp(x));
  row[6] = __half2float(hexp2(x));
  row[7] = __half2float(h2log2(__half2half2(x)).x);
}

__global__ void dot(const __half2* a, const __half2* b, float* out) {
  float sum = 0;
  for (int i = threadIdx.x; i < 256; i += 32) {
    float2 product = __half22float2(__hmul2(a[i], b[i]));
    sum += product.x + product.y;
  }
  for (int offset = 16; offset; offset /= 2) {
    sum += __shfl_down_sync(0xffffffffu, sum, offset);
  }
  if (threadIdx.x == 0) {
    *out = sum;
  }
}

int main() {
  std::vector<float> values = {0, -0.0f, 1, -1, 0.1f, 0.3333f, 65504, -65504, 70000, 1e-8f, 6e-8f, -3e-5f, INFINITY,
                               -INFINITY, NAN, 2.5f, 1.0009766f, 2048.5f, 0.99951172f, -7.75f};
  int n = static_cast<int>(values.size());
  Buffer<float> in(values);
  Buffer<unsigned short> scalars(n * n * 20);
  scalar<<<n, n>>>(in, n, scalars);
  SYNC_OK();
  auto result = scalars.get();
  for (int k = 0; k < 20; ++k) {
    std::vector<unsigned short> column;
    for (int i = 0; i < n * n; ++i) {
      column.push_back(result[i * 20 + k]);
    }
    std::printf("%2d %016llx %04x\n", k, static_cast<unsigned long long>(digest(column)), column[4 * n + 5]);
  }
  Buffer<unsigned> pairs(n * 12);
  packed<<<1, 20>>>(in, n, pairs);
  SYNC_OK();
  std::printf("packed %016llx\n", static_cast<unsigned long long>(digest(pairs.get())));
  Buffer<float> more(8 * 4);
  functions<<<1, 4>>>(more);
  SYNC_OK();
  auto functions_result = more.get();
  for (int i = 0; i < 4; ++i) {
    for (int k = 0; k < 8; ++k) {
      std::printf("%.2f ", functions_result[i * 8 + k]);
    }
    std::printf("\n");
  }
  std::vector<__half2> a(256), b(256);
  for (int i = 0; i < 256; ++i) {
    a[i] = __floats2half2_rn(i % 16, 1);
    b[i] = __floats2half2_rn(0.5f, i % 8);
  }
  Buffer<__half2> da(a), db(b);
  Buffer<float> sum(1);
  dot<<<1, 32>>>(da, db, sum);
  SYNC_OK();
  std::printf("dot %g, host conversion %g\n", sum.get()[0], __half2float(__float2half(3.14159f)));
}
