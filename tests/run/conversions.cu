// Conversions between integers and floating point in all rounding modes, with saturation, NaN and infinities; bit casts.
//@ exercises: cvt between s8..u64, f16, f32, f64 with rni/rzi/rmi/rpi, saturation, __double2hiint, __hiloint2double, ceil/floor/trunc/rint
#include "support.h"

#include <cmath>
#include <limits>

__global__ void from_float(const float* in, long long* out) {
  float a = in[threadIdx.x];
  long long* row = out + threadIdx.x * 24;
  *row++ = __float2int_rn(a); *row++ = __float2int_rz(a); *row++ = __float2int_ru(a); *row++ = __float2int_rd(a);
  *row++ = __float2uint_rn(a); *row++ = __float2uint_rz(a); *row++ = __float2uint_ru(a); *row++ = __float2uint_rd(a);
  *row++ = __float2ll_rn(a); *row++ = __float2ll_rz(a); *row++ = __float2ll_ru(a); *row++ = __float2ll_rd(a);
  *row++ = static_cast<long long>(__float2ull_rn(a)); *row++ = static_cast<long long>(__float2ull_rz(a));
  *row++ = __float_as_int(rintf(a)) & (a != a ? 0 : -1);
  *row++ = __float_as_int(truncf(a)) & (a != a ? 0 : -1);
  *row++ = __float_as_int(ceilf(a)) & (a != a ? 0 : -1);
  *row++ = __float_as_int(floorf(a)) & (a != a ? 0 : -1);
  *row++ = __float_as_int(roundf(a)) & (a != a ? 0 : -1);
  *row++ = __float_as_int(__saturatef(a));
  short s16;
  unsigned char u8;
  asm("{ .reg .s16 t; cvt.rzi.s16.f32 t, %1; mov.b16 %0, t; }" : "=h"(s16) : "f"(a));
  *row++ = s16;
  unsigned wide8;
  asm("{ .reg .u32 t; cvt.rni.u8.f32 t, %1; mov.b32 %0, t; }" : "=r"(wide8) : "f"(a));
  u8 = static_cast<unsigned char>(wide8);
  *row++ = u8;
  *row++ = lrintf(a == a && fabsf(a) < 1e18f ? a : 0.0f);
  *row++ = __double_as_longlong(static_cast<double>(a)) & (a != a ? 0 : -1ll);
}

__global__ void from_double(const double* in, long long* out) {
  double a = in[threadIdx.x];
  long long* row = out + threadIdx.x * 20;
  *row++ = __double2int_rn(a); *row++ = __double2int_rz(a); *row++ = __double2int_ru(a); *row++ = __double2int_rd(a);
  *row++ = __double2uint_rn(a); *row++ = __double2uint_rz(a);
  *row++ = __double2ll_rn(a); *row++ = __double2ll_rz(a); *row++ = __double2ll_ru(a); *row++ = __double2ll_rd(a);
  *row++ = static_cast<long long>(__double2ull_rz(a));
  bool nan = a != a;
  *row++ = nan ? 0 : __float_as_int(__double2float_rn(a));
  *row++ = nan ? 0 : __float_as_int(__double2float_rz(a));
  *row++ = nan ? 0 : __float_as_int(__double2float_ru(a));
  *row++ = nan ? 0 : __float_as_int(__double2float_rd(a));
  *row++ = __double2hiint(a) & (nan ? 0 : -1);
  *row++ = __double2loint(a) & (nan ? 0 : -1);
  *row++ = __double_as_longlong(__hiloint2double(__double2loint(a) & 0x3fffffff, __double2hiint(a)));
  *row++ = nan ? 0 : __double_as_longlong(nearbyint(a));
  *row++ = nan ? 0 : __double_as_longlong(round(a));
}

__global__ void from_integer(const long long* in, unsigned long long* out) {
  long long a = in[threadIdx.x];
  unsigned long long* row = out + threadIdx.x * 16;
  *row++ = __float_as_uint(__int2float_rn(a)); *row++ = __float_as_uint(__int2float_rz(a));
  *row++ = __float_as_uint(__uint2float_ru(a)); *row++ = __float_as_uint(__uint2float_rd(a));
  *row++ = __float_as_uint(__ll2float_rn(a)); *row++ = __float_as_uint(__ll2float_rz(a));
  *row++ = __float_as_uint(__ull2float_rn(a)); *row++ = __float_as_uint(__ull2float_ru(a));
  *row++ = __double_as_longlong(__int2double_rn(a)); *row++ = __double_as_longlong(__uint2double_rn(a));
  *row++ = __double_as_longlong(__ll2double_rn(a)); *row++ = __double_as_longlong(__ll2double_rz(a));
  *row++ = __double_as_longlong(__ull2double_ru(a)); *row++ = __double_as_longlong(__ull2double_rd(a));
  *row++ = static_cast<unsigned char>(a) * 1000 + static_cast<unsigned short>(a);
  *row++ = static_cast<unsigned long long>(static_cast<signed char>(a)) ^ static_cast<unsigned long long>(static_cast<short>(a)) << 20;
}

template <class In, class Out, class Kernel> void test(const char* name, Kernel kernel, const std::vector<In>& values, int width) {
  Buffer<In> input(values);
  Buffer<Out> out(values.size() * width);
  kernel<<<1, static_cast<unsigned>(values.size())>>>(input.data(), out.data());
  SYNC_OK();
  auto result = out.get();
  for (int k = 0; k < width; ++k) {
    std::vector<Out> column;
    for (std::size_t i = 0; i < values.size(); ++i) {
      column.push_back(result[i * width + k]);
    }
    std::printf("%s %2d %016llx %lld %lld\n", name, k, static_cast<unsigned long long>(digest(column)),
                static_cast<long long>(column[5]), static_cast<long long>(column[9]));
  }
}

int main() {
  using F = std::numeric_limits<float>;
  std::vector<float> singles = {0, -0.0f, 0.5f, -0.5f, 1.5f, 2.5f, -2.5f, 0.49999997f, 127.5f, 255.5f, 256, -129, 32767.5f,
                                1e9f, 2147483648.0f, -2147483648.0f, 4294967296.0f, 3e9f, 1e18f, -1e18f, 1e19f, 2e19f, 1e30f,
                                F::infinity(), -F::infinity(), F::quiet_NaN(), F::denorm_min(), F::max()};
  std::vector<double> doubles(singles.begin(), singles.end());
  for (double extra : {0.1, 1e300, -1e300, 2147483647.5, -2147483648.5, 9007199254740993.0, 1.00000006, 3.4e38, 3.5e38, 1e-46}) {
    doubles.push_back(extra);
  }
  std::vector<long long> integers = {0, 1, -1, 127, 128, 255, 16777217, 16777219, -16777217, 2147483647, -2147483648ll,
                                     4294967295ll, 0x7fffffffffffffffll, static_cast<long long>(0x8000000000000000ull),
                                     9007199254740993ll, -9007199254740993ll, 0x0123456789abcdefll};
  test<float, long long>("float", from_float, singles, 24);
  test<double, long long>("double", from_double, doubles, 20);
  test<long long, unsigned long long>("integer", from_integer, integers, 16);
}
