// bfloat16 and the 8-bit floating-point formats: arithmetic, conversions with every rounding, saturation.
//@ exercises: __nv_bfloat16(2) operators, fma.rn.bf16(x2), cvt.rn/rz.bf16, cvt.e4m3x2/e5m2x2 both ways with satfinite, __nv_fp8 types
#include "support.h"

#include <cuda_bf16.h>
#include <cuda_fp8.h>

#include <cmath>

__device__ unsigned short clean(__nv_bfloat16 value) { return __hisnan(value) ? 0x7fff : __bfloat16_as_ushort(value); }

__global__ void scalar(const float* values, int n, unsigned short* out) {
  __nv_bfloat16 a = __float2bfloat16(values[blockIdx.x]), b = __float2bfloat16(values[threadIdx.x]);
  __nv_bfloat16 c = __float2bfloat16(values[(blockIdx.x + threadIdx.x) % n]);
  unsigned short* row = out + (blockIdx.x * n + threadIdx.x) * 14;
  *row++ = clean(a + b);
  *row++ = clean(a - b);
  *row++ = clean(a * b);
  *row++ = clean(a / b);
  *row++ = clean(__hfma(a, b, c));
  *row++ = clean(__hfma_relu(a, b, c));
  *row++ = clean(__hmax(a, b));
  *row++ = clean(__hmin_nan(a, b));
  *row++ = clean(__habs(__hneg(a)));
  *row++ = __heq(a, b) | __hlt(a, b) << 1 | __hleu(a, b) << 2;
  *row++ = clean(__float2bfloat16_rz(values[blockIdx.x]));
  *row++ = clean(__float2bfloat16_ru(values[blockIdx.x]));
  *row++ = clean(__float2bfloat16_rd(values[threadIdx.x]));
  *row++ = clean(__double2bfloat16(values[blockIdx.x] * 1.00001));
}

__global__ void packed(const float* values, int n, unsigned* out) {
  int i = threadIdx.x;
  __nv_bfloat162 a = __floats2bfloat162_rn(values[i], values[(i + 1) % n]);
  __nv_bfloat162 b = __floats2bfloat162_rn(values[(i + 3) % n], values[(i + 4) % n]);
  auto bits = [](__nv_bfloat162 value) { return static_cast<unsigned>(clean(__low2bfloat16(value))) | clean(__high2bfloat16(value)) << 16; };
  out[i * 4] = bits(__hadd2(a, b));
  out[i * 4 + 1] = bits(__hmul2(a, b));
  out[i * 4 + 2] = bits(__hfma2(a, b, b));
  out[i * 4 + 3] = bits(__hmin2(a, b));
}

__global__ void eight_bits(const float* values, unsigned* out) {
  float value = values[threadIdx.x];
  unsigned* row = out + threadIdx.x * 6;
  row[0] = __nv_cvt_float_to_fp8(value, __NV_SATFINITE, __NV_E4M3);
  row[1] = __nv_cvt_float_to_fp8(value, __NV_SATFINITE, __NV_E5M2);
  row[2] = __nv_cvt_float2_to_fp8x2({value, -value}, __NV_SATFINITE, __NV_E4M3);
  __nv_fp8_e4m3 narrow(value);
  __nv_fp8_e5m2 other(value);
  row[3] = narrow.__x;
  row[4] = other.__x;
  row[5] = __nv_cvt_halfraw2_to_fp8x2(__half2_raw(__floats2half2_rn(value, value * 2)), __NV_SATFINITE, __NV_E5M2);
}

__global__ void widen(unsigned* out) {
  // Every 8-bit pattern in both formats.
  auto pattern = static_cast<__nv_fp8_storage_t>(threadIdx.x);
  __half e4m3 = __half(__nv_cvt_fp8_to_halfraw(pattern, __NV_E4M3));
  __half e5m2 = __half(__nv_cvt_fp8_to_halfraw(pattern, __NV_E5M2));
  out[threadIdx.x] = (__hisnan(e4m3) ? 0x7fffu : __half_as_ushort(e4m3)) | (__hisnan(e5m2) ? 0x7fffu : __half_as_ushort(e5m2)) << 16;
}

int main() {
  std::vector<float> values = {0, -0.0f, 1, -1, 0.1f, 0.3333f, 447, 449, 464, 480, 57344, 61440, 65536, 1e-3f, 0.0009765625f,
                               1.5e-5f, -3e-6f, INFINITY, -INFINITY, NAN, 3.3e38f, 1.00390625f, 1.01171875f, 2.75f, 1e-40f};
  int n = static_cast<int>(values.size());
  Buffer<float> in(values);
  Buffer<unsigned short> scalars(n * n * 14);
  Buffer<unsigned> pairs(n * 4), bytes(n * 6), wide(256);
  scalar<<<n, n>>>(in, n, scalars);
  packed<<<1, n>>>(in, n, pairs);
  eight_bits<<<1, n>>>(in, bytes);
  widen<<<1, 256>>>(wide);
  SYNC_OK();
  auto result = scalars.get();
  for (int k = 0; k < 14; ++k) {
    std::vector<unsigned short> column;
    for (int i = 0; i < n * n; ++i) {
      column.push_back(result[i * 14 + k]);
    }
    std::printf("%2d %016llx %04x\n", k, static_cast<unsigned long long>(digest(column)), column[4 * n + 5]);
  }
  std::printf("packed %016llx\n", static_cast<unsigned long long>(digest(pairs.get())));
  auto fp8 = bytes.get();
  for (int i = 0; i < n; ++i) {
    std::printf("%g:", values[i] != values[i] ? 0.0 : values[i]);
    for (int k = 0; k < 6; ++k) {
      std::printf(" %x", fp8[i * 6 + k]);
    }
    std::printf("\n");
  }
  std::printf("widened %016llx %08x\n", static_cast<unsigned long long>(digest(wide.get())), wide.get()[0x3c]);
}
