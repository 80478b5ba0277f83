// facts: what a GPU does where PTX leaves room, printed as text; facts.md keeps the answers.
//
//   nvcc -std=c++17 -O2 -arch=sm_90 facts.cu -o facts && ./facts [DUMP-FOLDER]
//
// 1. Approximate functions over every f32 (or f16, bf16) input: distance to the correctly rounded result.
// 2. shfl.sync reading from lanes that do not take part.
// With DUMP-FOLDER: distances for all mantissas of one or two binades, one signed byte each.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include <cuda_runtime.h>

#define CHECK(call)                                                                   \
  do {                                                                                \
    cudaError_t e = (call);                                                           \
    if (e != cudaSuccess) {                                                           \
      std::printf("%s: %s\n", #call, cudaGetErrorString(e));                          \
      std::exit(1);                                                                   \
    }                                                                                 \
  } while (0)

struct Statistics {
  unsigned long long count[6]; // |distance| 0, 1, 2, 3, 4 or more; [5]: special results that differ
  unsigned long long above;    // of distance 1 or more: hardware above the correctly rounded result
  unsigned long long worst_ulp;      // (distance << 32) | input
  unsigned long long worst_special;  // input of a special mismatch (largest)
  unsigned long long worst_relative; // float bits of |hw - true| / |true| << 32 | input
  unsigned long long worst_absolute; // float bits of |hw - true| << 32 | input
};

__device__ long long ordered(float f) { // monotonic in f, ±0 equal
  int i = __float_as_int(f);
  return i < 0 ? -static_cast<long long>(i & 0x7fffffff) : i;
}

#define UNARY(name, text)                                                             \
  struct name {                                                                       \
    static __device__ float hardware(float x) {                                       \
      float d;                                                                        \
      asm volatile(text " %0, %1;" : "=f"(d) : "f"(x));                               \
      return d;                                                                       \
    }                                                                                 \
    static __device__ double exact(float x);                                          \
    static const char* text_of() { return text; }                                     \
  };
UNARY(Rcp, "rcp.approx.f32")
UNARY(RcpFtz, "rcp.approx.ftz.f32")
UNARY(Sqrt, "sqrt.approx.f32")
UNARY(SqrtFtz, "sqrt.approx.ftz.f32")
UNARY(Rsqrt, "rsqrt.approx.f32")
UNARY(RsqrtFtz, "rsqrt.approx.ftz.f32")
UNARY(Ex2, "ex2.approx.f32")
UNARY(Ex2Ftz, "ex2.approx.ftz.f32")
UNARY(Lg2, "lg2.approx.f32")
UNARY(Lg2Ftz, "lg2.approx.ftz.f32")
UNARY(Sin, "sin.approx.f32")
UNARY(SinFtz, "sin.approx.ftz.f32")
UNARY(Cos, "cos.approx.f32")
UNARY(CosFtz, "cos.approx.ftz.f32")
UNARY(Tanh, "tanh.approx.f32")
__device__ double Rcp::exact(float x) { return 1.0 / x; }
__device__ double RcpFtz::exact(float x) { return 1.0 / x; }
__device__ double Sqrt::exact(float x) { return sqrt(double(x)); }
__device__ double SqrtFtz::exact(float x) { return sqrt(double(x)); }
__device__ double Rsqrt::exact(float x) { return rsqrt(double(x)); }
__device__ double RsqrtFtz::exact(float x) { return rsqrt(double(x)); }
__device__ double Ex2::exact(float x) { return exp2(double(x)); }
__device__ double Ex2Ftz::exact(float x) { return exp2(double(x)); }
__device__ double Lg2::exact(float x) { return log2(double(x)); }
__device__ double Lg2Ftz::exact(float x) { return log2(double(x)); }
__device__ double Sin::exact(float x) { return sin(double(x)); }
__device__ double SinFtz::exact(float x) { return sin(double(x)); }
__device__ double Cos::exact(float x) { return cos(double(x)); }
__device__ double CosFtz::exact(float x) { return cos(double(x)); }
__device__ double Tanh::exact(float x) { return tanh(double(x)); }

/// The angle in turns that the hardware is assumed to work on, and what follows from it.
struct SinOfTurns {
  static __device__ float hardware(float x) { return Sin::hardware(x); }
  static __device__ double exact(float x) { return sinpi(2.0 * double(__fmul_rz(x, 0.15915494f))); }
  static const char* text_of() { return "sin.approx.f32 against sin(2*pi*fl_rz(x*0.15915494f))"; }
};
struct CosOfTurns {
  static __device__ float hardware(float x) { return Cos::hardware(x); }
  static __device__ double exact(float x) { return cospi(2.0 * double(__fmul_rz(x, 0.15915494f))); }
  static const char* text_of() { return "cos.approx.f32 against cos(2*pi*fl_rz(x*0.15915494f))"; }
};
struct SqrtByRsqrt {
  static __device__ float hardware(float x) { return Sqrt::hardware(x); }
  static __device__ double exact(float x) { return x == 0.0f ? x : __fmul_rn(x, Rsqrt::hardware(x)); }
  static const char* text_of() { return "sqrt.approx.f32 against fl(x * rsqrt.approx(x))"; }
};
struct SqrtByRcpRsqrt {
  static __device__ float hardware(float x) { return Sqrt::hardware(x); }
  static __device__ double exact(float x) { return Rcp::hardware(Rsqrt::hardware(x)); }
  static const char* text_of() { return "sqrt.approx.f32 against rcp.approx(rsqrt.approx(x))"; }
};

template <class F>
__global__ void sweep(Statistics* result, uint32_t first, unsigned long long n, float limit) {
  Statistics s = {};
  unsigned long long stride = static_cast<unsigned long long>(gridDim.x) * blockDim.x;
  for (unsigned long long i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += stride) {
    uint32_t bits = first + static_cast<uint32_t>(i);
    float x = __uint_as_float(bits);
    if (!(fabsf(x) <= limit) && limit > 0) {
      continue;
    }
    float hw = F::hardware(x);
    double exact = F::exact(x);
    float rounded = static_cast<float>(exact);
    bool special = isnan(hw) || isinf(hw) || isnan(rounded) || isinf(rounded) || rounded == 0 || hw == 0;
    if (special) {
      bool same = (isnan(hw) && isnan(rounded)) || __float_as_uint(hw) == __float_as_uint(rounded);
      s.count[same ? 0 : 5]++;
      if (!same) {
        s.worst_special = max(s.worst_special, static_cast<unsigned long long>(bits));
      }
      continue;
    }
    long long d = ordered(hw) - ordered(rounded);
    unsigned long long distance = d < 0 ? -d : d;
    s.count[distance < 4 ? distance : 4]++;
    s.above += d > 0;
    s.worst_ulp = max(s.worst_ulp, min(distance, 0xffffffffULL) << 32 | bits);
    float absolute = static_cast<float>(fabs(hw - exact));
    float relative = static_cast<float>(fabs(hw - exact) / fabs(exact));
    s.worst_absolute = max(s.worst_absolute, static_cast<unsigned long long>(__float_as_uint(absolute)) << 32 | bits);
    if (fabsf(rounded) >= 1.17549435e-38f) {
      s.worst_relative = max(s.worst_relative, static_cast<unsigned long long>(__float_as_uint(relative)) << 32 | bits);
    }
  }
  for (int i = 0; i < 6; ++i) {
    atomicAdd(&result->count[i], s.count[i]);
  }
  atomicAdd(&result->above, s.above);
  atomicMax(&result->worst_ulp, s.worst_ulp);
  atomicMax(&result->worst_special, s.worst_special);
  atomicMax(&result->worst_relative, s.worst_relative);
  atomicMax(&result->worst_absolute, s.worst_absolute);
}

float as_float(uint32_t bits) {
  float f;
  __builtin_memcpy(&f, &bits, 4);
  return f;
}

template <class F>
void report(const char* range, uint32_t first, unsigned long long n, float limit) {
  static Statistics* s = nullptr;
  if (s == nullptr) {
    CHECK(cudaMalloc(&s, sizeof *s));
  }
  CHECK(cudaMemset(s, 0, sizeof *s));
  sweep<F><<<132 * 8, 256>>>(s, first, n, limit);
  CHECK(cudaDeviceSynchronize());
  Statistics h;
  CHECK(cudaMemcpy(&h, s, sizeof h, cudaMemcpyDeviceToHost));
  std::printf("%s, %s: ulp distance 0: %llu, 1: %llu, 2: %llu, 3: %llu, more: %llu (above: %llu); largest %llu at 0x%08x; "
              "special results that differ: %llu (largest input 0x%08x); max relative %.4g at 0x%08x, absolute %.4g at 0x%08x\n",
              F::text_of(), range, h.count[0], h.count[1], h.count[2], h.count[3], h.count[4], h.above, h.worst_ulp >> 32,
              static_cast<uint32_t>(h.worst_ulp), h.count[5], static_cast<uint32_t>(h.worst_special),
              as_float(h.worst_relative >> 32), static_cast<uint32_t>(h.worst_relative), as_float(h.worst_absolute >> 32),
              static_cast<uint32_t>(h.worst_absolute));
  std::fflush(stdout);
}

template <class F>
void all() {
  report<F>("all f32", 0, 1ULL << 32, 0);
}
template <class F>
void angles() {
  report<F>("|x| <= 2 pi", 0, 1ULL << 32, 6.2831855f);
  report<F>("|x| <= 100 pi", 0, 1ULL << 32, 314.15927f);
}

/// Distance to the correctly rounded result in ulps, or (Fixed) the error in units of 2^-27.
template <class F, bool Fixed>
__global__ void distances(signed char* out, uint32_t first, uint32_t n) {
  uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) {
    return;
  }
  float x = __uint_as_float(first + i);
  float hw = F::hardware(x);
  double exact = F::exact(x);
  long long d = Fixed ? static_cast<long long>(rint((double(hw) - exact) * 134217728.0))
                      : ordered(hw) - ordered(static_cast<float>(exact));
  out[i] = static_cast<signed char>(max(-127LL, min(127LL, d)));
}

template <class F, bool Fixed>
void dump(const std::string& folder, const char* name, uint32_t first, uint32_t n) {
  signed char* d = nullptr;
  CHECK(cudaMalloc(&d, n));
  distances<F, Fixed><<<n / 256, 256>>>(d, first, n);
  CHECK(cudaDeviceSynchronize());
  std::vector<signed char> h(n);
  CHECK(cudaMemcpy(h.data(), d, n, cudaMemcpyDeviceToHost));
  CHECK(cudaFree(d));
  FILE* f = std::fopen((folder + "/" + name).c_str(), "wb");
  if (f != nullptr) {
    std::fwrite(h.data(), 1, n, f);
    std::fclose(f);
  }
}

// --- f16, bf16 -----------------------------------------------------------------------------------------
#define HALF(name, text)                                                              \
  struct name {                                                                       \
    static __device__ uint16_t hardware(uint16_t x) {                                 \
      uint16_t d;                                                                     \
      asm volatile(text " %0, %1;" : "=h"(d) : "h"(x));                               \
      return d;                                                                       \
    }                                                                                 \
    static const char* text_of() { return text; }                                     \
  };
HALF(TanhF16, "tanh.approx.f16")
HALF(TanhBF16, "tanh.approx.bf16")
HALF(Ex2F16, "ex2.approx.f16")
HALF(Ex2BF16, "ex2.approx.ftz.bf16")

__device__ float widen(uint16_t x, bool brain) {
  float f;
  if (brain) {
    return __uint_as_float(static_cast<uint32_t>(x) << 16);
  }
  asm("cvt.f32.f16 %0, %1;" : "=f"(f) : "h"(x));
  return f;
}
__device__ uint16_t narrow(float x, bool brain) {
  uint16_t d;
  if (brain) {
    asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(d) : "f"(x));
  } else {
    asm("cvt.rn.f16.f32 %0, %1;" : "=h"(d) : "f"(x));
  }
  return d;
}

/// counts: equals the correctly rounded result; equals the f32 approximation (.ftz or not) rounded.
template <class F, bool Brain, bool IsTanh>
__global__ void half_sweep(unsigned* counts) {
  uint32_t bits = blockIdx.x * blockDim.x + threadIdx.x;
  auto x = static_cast<uint16_t>(bits);
  float wide = widen(x, Brain);
  uint16_t hw = F::hardware(x);
  double exact = IsTanh ? tanh(double(wide)) : exp2(double(wide));
  uint16_t rounded = narrow(static_cast<float>(exact), Brain);
  uint16_t by_f32 = narrow(IsTanh ? Tanh::hardware(wide) : Ex2::hardware(wide), Brain);
  uint16_t by_ftz = narrow(IsTanh ? Tanh::hardware(wide) : Ex2Ftz::hardware(wide), Brain);
  bool nan = isnan(wide);
  atomicAdd(&counts[0], hw == rounded);
  atomicAdd(&counts[1], hw == by_f32);
  atomicAdd(&counts[2], hw == by_ftz);
  atomicAdd(&counts[3], nan);
  if (hw != rounded && !nan) {
    int d = abs(static_cast<int>(hw & 0x7fff) - static_cast<int>(rounded & 0x7fff));
    atomicMax(&counts[4], static_cast<unsigned>(d));
    if (atomicAdd(&counts[5], 1) < 6) {
      printf("    %s 0x%04x: 0x%04x, correctly rounded 0x%04x, by f32 0x%04x\n", Brain ? "bf16" : "f16", x, hw, rounded, by_f32);
    }
  }
}

template <class F, bool Brain, bool IsTanh>
void half_report() {
  unsigned* d = nullptr;
  CHECK(cudaMalloc(&d, 24));
  CHECK(cudaMemset(d, 0, 24));
  half_sweep<F, Brain, IsTanh><<<256, 256>>>(d);
  CHECK(cudaDeviceSynchronize());
  unsigned h[6];
  CHECK(cudaMemcpy(h, d, sizeof h, cudaMemcpyDeviceToHost));
  std::printf("%s, all inputs: correctly rounded %u, f32 approximation rounded %u (of .ftz %u) of 65536 (%u NaNs); largest distance %u\n",
              F::text_of(), h[0], h[1], h[2], h[3], h[4]);
}

// --- f64 -------------------------------------------------------------------------------------------------
__device__ uint64_t mix(uint64_t x) {
  x += 0x9e3779b97f4a7c15ULL;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
  return x ^ (x >> 31);
}

/// 0: rcp.approx.ftz.f64, 1: rsqrt.approx.ftz.f64, 2: rsqrt.approx.f64.
__global__ void double_sweep(int which, unsigned long long* worst, unsigned* low_bits_seen, unsigned* counts) {
  uint64_t i = blockIdx.x * blockDim.x + threadIdx.x;
  uint64_t h = mix(i);
  double x = __longlong_as_double(static_cast<long long>((h >> 12) | (0x3f0ULL + (h & 31)) << 52));
  double d = 0, exact = which == 0 ? 1.0 / x : rsqrt(x);
  float seed = 0, top = 0;
  switch (which) {
  case 0: asm volatile("rcp.approx.ftz.f64 %0, %1;" : "=d"(d) : "d"(x)); break;
  case 1: asm volatile("rsqrt.approx.ftz.f64 %0, %1;" : "=d"(d) : "d"(x)); break;
  default: asm volatile("rsqrt.approx.f64 %0, %1;" : "=d"(d) : "d"(x)); break;
  }
  double cut = __longlong_as_double(__double_as_longlong(x) & ~0xffffffffLL);
  top = static_cast<float>(cut); // 20 bits of fraction fit a float
  seed = which == 0 ? Rcp::hardware(top) : Rsqrt::hardware(top);
  double seed_cut = __longlong_as_double(__double_as_longlong(static_cast<double>(seed)) & ~0xffffffffLL);
  double exact_cut = which == 0 ? 1.0 / cut : rsqrt(cut);
  exact_cut = __longlong_as_double(__double_as_longlong(exact_cut) & ~0xffffffffLL);
  atomicAdd(&counts[0], seed_cut == d);
  atomicAdd(&counts[1], exact_cut == d);
  atomicAdd(&counts[2], exact == d);
  atomicOr(low_bits_seen, static_cast<unsigned>(__double_as_longlong(d)));
  atomicMax(worst, static_cast<unsigned long long>(__double_as_longlong(fabs((d - exact) / exact))));
}

void doubles() {
  static const char* const names[] = {"rcp.approx.ftz.f64", "rsqrt.approx.ftz.f64", "rsqrt.approx.f64"};
  for (int which = 0; which < 3; ++which) {
    char* p = nullptr;
    CHECK(cudaMalloc(&p, 64));
    CHECK(cudaMemset(p, 0, 64));
    double_sweep<<<65536, 256>>>(which, reinterpret_cast<unsigned long long*>(p), reinterpret_cast<unsigned*>(p + 8),
                                 reinterpret_cast<unsigned*>(p + 16));
    CHECK(cudaDeviceSynchronize());
    char h[64];
    CHECK(cudaMemcpy(h, p, 64, cudaMemcpyDeviceToHost));
    double worst;
    unsigned low, counts[3];
    __builtin_memcpy(&worst, h, 8);
    __builtin_memcpy(&low, h + 8, 4);
    __builtin_memcpy(counts, h + 16, 12);
    std::printf("%s, 2^24 inputs: max relative error %.4g, low 32 bits seen 0x%08x; equals the f32 approximation of the upper half, cut: %u; "
                "correct result of the upper half, cut: %u; correctly rounded: %u\n", names[which], worst, low, counts[0], counts[1], counts[2]);
  }
}

// --- shfl from lanes that do not take part -------------------------------------------------------------
__global__ void inactive(unsigned* out) {
  unsigned lane = threadIdx.x, in_range = 7777, got = 7777;
  if (lane >= 16) { // source lanes 0-15 are not in the mask
    asm volatile("{ .reg .pred p; shfl.sync.idx.b32 %0|p, %2, %3, 31, 0xffff0000; selp.u32 %1, 1, 0, p; }"
                 : "=r"(got), "=r"(in_range) : "r"(1000 + lane), "r"(lane - 16));
    out[lane] = got;
    out[32 + lane] = in_range;
  }
  __syncwarp();
  if (lane >= 8) { // lanes 0-7 have ended when the others read from them; they are named in the mask
    unsigned r, p;
    __nanosleep(1000);
    asm volatile("{ .reg .pred p; shfl.sync.up.b32 %0|p, %2, 8, 0, 0xffffff00; selp.u32 %1, 1, 0, p; }"
                 : "=r"(r), "=r"(p) : "r"(2000 + lane));
    out[64 + lane] = r;
    out[96 + lane] = p;
  }
}

void shuffles() {
  unsigned* d = nullptr;
  CHECK(cudaMalloc(&d, 512));
  CHECK(cudaMemset(d, 0xff, 512));
  inactive<<<1, 32>>>(d);
  CHECK(cudaDeviceSynchronize());
  unsigned h[128];
  CHECK(cudaMemcpy(h, d, 512, cudaMemcpyDeviceToHost));
  std::printf("shfl.idx from lanes 0-15 that are not in the mask (values 1000 + lane), lanes 16-31 get:");
  for (int i = 16; i < 32; ++i) {
    std::printf(" %u/%u", h[i], h[32 + i]);
  }
  std::printf("\nshfl.up by 8, mask 0xffffff00 (values 2000 + lane), lanes 8-31 get:");
  for (int i = 8; i < 32; ++i) {
    std::printf(" %u/%u", h[64 + i], h[96 + i]);
  }
  std::printf("\n");
}

int main(int argc, char** argv) {
  int driver = 0, runtime = 0;
  cudaDeviceProp properties;
  CHECK(cudaDriverGetVersion(&driver));
  CHECK(cudaRuntimeGetVersion(&runtime));
  CHECK(cudaGetDeviceProperties(&properties, 0));
  std::printf("%s, driver API %d, runtime %d\n", properties.name, driver, runtime);
  all<Rcp>(); all<RcpFtz>(); all<Sqrt>(); all<SqrtFtz>(); all<Rsqrt>(); all<RsqrtFtz>();
  all<Ex2>(); all<Ex2Ftz>(); all<Lg2>(); all<Lg2Ftz>(); all<Tanh>();
  angles<Sin>(); angles<SinFtz>(); angles<Cos>(); angles<CosFtz>(); angles<SinOfTurns>(); angles<CosOfTurns>();
  all<SqrtByRsqrt>(); all<SqrtByRcpRsqrt>();
  half_report<TanhF16, false, true>();
  half_report<TanhBF16, true, true>();
  half_report<Ex2F16, false, false>();
  half_report<Ex2BF16, true, false>();
  doubles();
  shuffles();
  if (argc > 1) {
    std::string folder = argv[1];
    dump<Rcp, false>(folder, "rcp-1-2.i8", 0x3f800000, 1 << 23);
    dump<Rsqrt, false>(folder, "rsqrt-1-4.i8", 0x3f800000, 1 << 24);
    dump<Sqrt, false>(folder, "sqrt-1-4.i8", 0x3f800000, 1 << 24);
    dump<Ex2Ftz, false>(folder, "ex2-1-2.i8", 0x3f800000, 1 << 23);
    dump<Lg2Ftz, true>(folder, "lg2-1-2.fixed.i8", 0x3f800000, 1 << 23);
    dump<Lg2Ftz, true>(folder, "lg2-half-1.fixed.i8", 0x3f000000, 1 << 23);
    dump<SinOfTurns, true>(folder, "sin-turns-1-4.fixed.i8", 0x3f800000, 1 << 24);
    dump<Tanh, false>(folder, "tanh-half-2.i8", 0x3f000000, 1 << 24);
  }
  return 0;
}
