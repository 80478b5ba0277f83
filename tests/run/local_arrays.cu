// Local memory and parameters: arrays indexed at run time, large frames, structures by value, vectors of every width, alloca.
//@ exercises: .local depots, dynamic indexing, 4 KB kernel parameters, __grid_constant__, struct returns, vector types and their alignment, alloca, memcpy between local and global
//@ also-flags: -G
#include "support.h"

struct Large {
  int values[900];
};
struct Mixed {
  char c;
  double d;
  short s;
  float3 f;
  long long l;
  uchar4 u;
};

__global__ void by_value(Large large, char tail, long long last, int* out) {
  int t = threadIdx.x;
  out[t] = large.values[t * 25 % 900] + tail * 1000 + static_cast<int>(last);
}

__global__ void grid_constant(const __grid_constant__ Large large, int* out) {
  const int* pointer = &large.values[threadIdx.x]; // an address in parameter space
  out[threadIdx.x] = pointer[10] - pointer[0];
}

__device__ __noinline__ Mixed make(int t) {
  return {static_cast<char>(t), t * 0.5, static_cast<short>(-t), {t * 1.0f, t * 2.0f, t * 3.0f}, 1ll << (t % 60), {1, 2, 3, static_cast<unsigned char>(t)}};
}
__device__ __noinline__ double take(Mixed m, const Mixed& r) { return m.c + m.d + m.s + m.f.z + static_cast<double>(r.l % 1000) + r.u.w; }

__global__ void dynamic_index(const int* order, long long* out) {
  int t = threadIdx.x;
  int data[64];
  for (int i = 0; i < 64; ++i) {
    data[i] = i * t;
  }
  for (int i = 0; i < 64; ++i) {
    data[order[i]] += data[order[(i + t) % 64]];
  }
  double doubles[10];
  for (int i = 0; i < 10; ++i) {
    doubles[(i * 3 + t) % 10] = i * 0.25;
  }
  long long sum = 0;
  for (int i = 0; i < 64; ++i) {
    sum = sum * 3 + data[(i * 5 + t) % 64];
  }
  sum += static_cast<long long>(doubles[t % 10] * 100);
  Mixed mixed = make(t);
  mixed.f.z += doubles[3];
  sum += static_cast<long long>(take(mixed, make(t + 1)));
  // Frames differ in size by the thread.
  auto bytes = static_cast<unsigned char*>(alloca(16 + t));
  for (int i = 0; i < 16 + t; ++i) {
    bytes[i] = static_cast<unsigned char>(i * 7);
  }
  out[t] = sum + bytes[15 + t];
}

__global__ void vectors(const float4* in, double2* out, short4* small, longlong2* wide) {
  int t = threadIdx.x;
  float4 v = __ldg(&in[t]);
  out[t] = make_double2(v.x + v.y, v.z * v.w);
  small[t] = make_short4(static_cast<short>(v.x), static_cast<short>(-v.y), static_cast<short>(v.z), static_cast<short>(-v.w));
  longlong2 pair = make_longlong2(static_cast<long long>(v.x) << 40, ~static_cast<long long>(v.y));
  __stcg(&wide[t], pair);
  char3 three = make_char3(1, 2, 3);
  small[t].x += three.z + static_cast<short>(sizeof(three) * 10 + alignof(double4) + alignof(short4) + sizeof(int3));
}

int main() {
  Large large;
  for (int i = 0; i < 900; ++i) {
    large.values[i] = i * i;
  }
  Buffer<int> out(64);
  by_value<<<1, 32>>>(large, 'z', -123456, out);
  SYNC_OK();
  std::printf("by value %d %d\n", out.get()[0], out.get()[31]);
  grid_constant<<<1, 64>>>(large, out);
  SYNC_OK();
  std::printf("grid constant %d %d\n", out.get()[0], out.get()[63]);
  std::vector<int> order(64);
  for (int i = 0; i < 64; ++i) {
    order[i] = i * 37 % 64;
  }
  Buffer<int> device_order(order);
  Buffer<long long> sums(64);
  dynamic_index<<<1, 64>>>(device_order, sums);
  SYNC_OK();
  std::printf("dynamic %lld %lld %016llx\n", sums.get()[1], sums.get()[63], static_cast<unsigned long long>(digest(sums.get())));
  std::vector<float4> in(32);
  for (int i = 0; i < 32; ++i) {
    in[i] = make_float4(i + 0.5f, i * 2, i * 3, i * 4);
  }
  Buffer<float4> din(in);
  Buffer<double2> doubles(32);
  Buffer<short4> shorts(32);
  Buffer<longlong2> longs(32);
  vectors<<<1, 32>>>(din, doubles, shorts, longs);
  SYNC_OK();
  std::printf("vectors %g %g %d %lld %016llx\n", doubles.get()[7].x, doubles.get()[7].y, shorts.get()[7].x, longs.get()[7].x,
              static_cast<unsigned long long>(digest(shorts.get())));
}
