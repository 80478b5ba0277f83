// Option pricing: Black-Scholes, a binomial tree, Monte Carlo with device random numbers; Sobol-like and Halton points.
//@ exercises: expf, logf, sqrtf, erfc, rsqrtf, fast math, curand XORWOW/Philox/MRG in kernels, double precision reduction, template kernels
#include "support.h"

#include <cmath>
#include <curand_kernel.h>

__device__ float normal_cdf(float d) {
  const float a[] = {0.31938153f, -0.356563782f, 1.781477937f, -1.821255978f, 1.330274429f};
  float k = 1.0f / (1.0f + 0.2316419f * fabsf(d));
  float cnd = rsqrtf(2 * 3.14159265f) * __expf(-0.5f * d * d) * (k * (a[0] + k * (a[1] + k * (a[2] + k * (a[3] + k * a[4])))));
  return d > 0 ? 1.0f - cnd : cnd;
}

__global__ void black_scholes(float2* prices, const float* spot, const float* strike, const float* years, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    const float r = 0.02f, v = 0.30f;
    float s = spot[i], x = strike[i], t = years[i], root = sqrtf(t);
    float d1 = __fdividef(__logf(s / x) + (r + 0.5f * v * v) * t, v * root), d2 = d1 - v * root;
    float discount = __expf(-r * t);
    float c1 = normal_cdf(d1), c2 = normal_cdf(d2);
    prices[i] = make_float2(s * c1 - x * discount * c2, x * discount * (1 - c2) - s * (1 - c1));
  }
}

__global__ void binomial(double* out, double spot, double strike, double years, int steps) {
  extern __shared__ double value[];
  const double r = 0.02, v = 0.30;
  double dt = years / steps, up = exp(v * sqrt(dt)), growth = exp(r * dt), p = (growth - 1 / up) / (up - 1 / up);
  for (int i = threadIdx.x; i <= steps; i += blockDim.x) value[i] = fmax(spot * exp(v * sqrt(dt) * (2.0 * i - steps)) - strike, 0.0);
  for (int step = steps; step > 0; --step) {
    __syncthreads();
    double next[4];
    int n = 0;
    for (int i = threadIdx.x; i < step; i += blockDim.x) next[n++] = (p * value[i + 1] + (1 - p) * value[i]) / growth;
    __syncthreads();
    n = 0;
    for (int i = threadIdx.x; i < step; i += blockDim.x) value[i] = next[n++];
  }
  __syncthreads();
  if (threadIdx.x == 0) *out = value[0];
}

template <class State> __global__ void monte_carlo(double* sums, int paths, double spot, double strike, double years) {
  State state;
  int id = blockIdx.x * blockDim.x + threadIdx.x;
  curand_init(1234, id, 0, &state);
  const double r = 0.02, v = 0.30;
  double mean = (r - 0.5 * v * v) * years, spread = v * sqrt(years), sum = 0;
  for (int i = 0; i < paths; i += 2) {
    float2 g = curand_normal2(&state);
    sum += fmax(spot * exp(mean + spread * g.x) - strike, 0.0) + fmax(spot * exp(mean + spread * g.y) - strike, 0.0);
  }
  __shared__ double partial[4];
  for (int offset = 16; offset > 0; offset /= 2) sum += __shfl_down_sync(~0u, sum, offset);
  if (threadIdx.x % 32 == 0) partial[threadIdx.x / 32] = sum;
  __syncthreads();
  if (threadIdx.x == 0) atomicAdd(sums, partial[0] + partial[1] + partial[2] + partial[3]);
}

__global__ void halton(float2* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  auto radical = [](int k, int base) {
    float f = 1, r = 0;
    for (; k > 0; k /= base) f /= base, r += f * (k % base);
    return r;
  };
  if (i < n) out[i] = make_float2(radical(i + 1, 2), radical(i + 1, 3));
}

double cdf(double d) { return 0.5 * std::erfc(-d / std::sqrt(2.0)); }
double call(double s, double x, double t, double r = 0.02, double v = 0.30) {
  double d1 = (std::log(s / x) + (r + 0.5 * v * v) * t) / (v * std::sqrt(t));
  return s * cdf(d1) - x * std::exp(-r * t) * cdf(d1 - v * std::sqrt(t));
}

int main() {
  const int n = 3000;
  std::vector<float> spot(n), strike(n), years(n);
  Lcg random{5};
  for (int i = 0; i < n; ++i) spot[i] = 5 + random.next() % 2500 / 100.0f, strike[i] = 1 + random.next() % 9900 / 100.0f, years[i] = 0.25f + random.next() % 975 / 100.0f;
  Buffer<float> s(spot), x(strike), t(years);
  Buffer<float2> prices(n);
  black_scholes<<<12, 128>>>(prices, s, x, t, n);
  SYNC_OK();
  auto p = prices.get();
  double worst = 0;
  for (int i = 0; i < n; ++i) worst = std::fmax(worst, std::fabs(p[i].x - call(spot[i], strike[i], years[i])));
  std::printf("black-scholes %s\n", worst < 2e-3 ? "ok" : "wrong");

  Buffer<double> out(1);
  binomial<<<1, 128, 400 * sizeof(double)>>>(out, 100, 95, 1, 399);
  SYNC_OK();
  double exact = call(100, 95, 1);
  std::printf("binomial %s\n", std::fabs(out.get()[0] - exact) < 0.02 ? "ok" : "wrong");
  auto check = [&](const char* name, int paths) {
    SYNC_OK();
    double mean = out.get()[0] * std::exp(-0.02) / (512.0 * paths);
    std::printf("%s %s\n", name, std::fabs(mean - exact) < 0.4 ? "ok" : "wrong");
    out.clear();
  };
  out.clear();
  monte_carlo<curandState><<<4, 128>>>(out, 64, 100, 95, 1);
  check("xorwow", 64);
  monte_carlo<curandStatePhilox4_32_10_t><<<4, 128>>>(out, 64, 100, 95, 1);
  check("philox", 64);
  Buffer<float2> points(256);
  halton<<<2, 128>>>(points, 256);
  SYNC_OK();
  auto h = points.get();
  std::printf("halton %g %g %g %g\n", h[0].x, h[6].x, h[254].x, h[0].y);
}
