// Numerical kernels: fast Fourier transform, conjugate gradients, k-means, Monte Carlo, LU factorisation, Newton iteration.
//@ exercises: double arithmetic with fma, sincospi, shared-memory FFT with bit reversal, many small dependent launches, results printed to few digits: the assembler may fuse what PTX leaves open
#include "support.h"

#include <cmath>

__global__ void fft(const float* in, float2* out) {
  // Radix-2 transform of 256 points by 128 threads.
  __shared__ float2 data[256];
  int t = threadIdx.x;
  for (int i = t; i < 256; i += 128) {
    data[__brev(i) >> 24] = make_float2(in[i], 0);
  }
  __syncthreads();
  for (int half = 1; half < 256; half *= 2) {
    int position = t % half, base = t / half * 2 * half + position;
    float s, c;
    sincospif(-static_cast<float>(position) / half, &s, &c);
    float2 a = data[base], b = data[base + half];
    float2 rotated = make_float2(b.x * c - b.y * s, b.x * s + b.y * c);
    __syncthreads();
    data[base] = make_float2(a.x + rotated.x, a.y + rotated.y);
    data[base + half] = make_float2(a.x - rotated.x, a.y - rotated.y);
    __syncthreads();
  }
  out[t] = data[t];
  out[t + 128] = data[t + 128];
}

__device__ double block_sum(double value) {
  __shared__ double sums[128];
  sums[threadIdx.x] = value;
  __syncthreads();
  for (int stride = 64; stride > 0; stride /= 2) {
    if (threadIdx.x < stride) {
      sums[threadIdx.x] += sums[threadIdx.x + stride];
    }
    __syncthreads();
  }
  double result = sums[0];
  __syncthreads();
  return result;
}

__global__ void conjugate_gradients(double* x, const double* b, int iterations, double* residual) {
  // The matrix is tridiagonal (-1, 2.5, -1); one row per thread.
  __shared__ double direction[130];
  int t = threadIdx.x;
  if (t == 0) {
    direction[0] = direction[129] = 0;
  }
  double r = b[t], p = r, solution = 0, squared = block_sum(r * r);
  for (int i = 0; i < iterations; ++i) {
    direction[t + 1] = p;
    __syncthreads();
    double product = 2.5 * p - direction[t] - direction[t + 2];
    double alpha = squared / block_sum(p * product);
    solution += alpha * p;
    r -= alpha * product;
    double next = block_sum(r * r);
    p = r + next / squared * p;
    squared = next;
  }
  x[t] = solution;
  if (t == 0) {
    *residual = sqrt(squared);
  }
}

__global__ void assign(const float2* points, int n, const float2* centres, int k, int* member, float* sums, int* counts) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) {
    return;
  }
  int best = 0;
  float nearest = INFINITY;
  for (int c = 0; c < k; ++c) {
    float dx = points[i].x - centres[c].x, dy = points[i].y - centres[c].y, d = dx * dx + dy * dy;
    if (d < nearest) {
      nearest = d;
      best = c;
    }
  }
  member[i] = best;
  // Coordinates are small integers: their sums are exact in any order.
  atomicAdd(&sums[2 * best], points[i].x);
  atomicAdd(&sums[2 * best + 1], points[i].y);
  atomicAdd(&counts[best], 1);
}

__global__ void recentre(float2* centres, const float* sums, const int* counts) {
  int c = threadIdx.x;
  if (counts[c]) {
    centres[c] = make_float2(sums[2 * c] / counts[c], sums[2 * c + 1] / counts[c]);
  }
}

__global__ void monte_carlo(unsigned* inside, int tries) {
  Lcg random{blockIdx.x * blockDim.x + threadIdx.x + 1ull};
  unsigned hits = 0;
  for (int i = 0; i < tries; ++i) {
    unsigned x = random.next() & 0xffff, y = random.next() & 0xffff;
    hits += static_cast<unsigned long long>(x) * x + static_cast<unsigned long long>(y) * y < 0x100000000ull;
  }
  hits = __reduce_add_sync(0xffffffffu, hits);
  if (threadIdx.x % 32 == 0) {
    atomicAdd(inside, hits);
  }
}

__global__ void lu(double* a, int n) {
  // In place, no pivoting, one block.
  for (int k = 0; k < n - 1; ++k) {
    for (int i = k + 1 + threadIdx.x; i < n; i += blockDim.x) {
      double factor = a[i * n + k] / a[k * n + k];
      a[i * n + k] = factor;
      for (int j = k + 1; j < n; ++j) {
        a[i * n + j] -= factor * a[k * n + j];
      }
    }
    __syncthreads();
  }
}

__global__ void newton(double* out) {
  double target = threadIdx.x + 2.0, x = target;
  int steps = 0;
  while (fabs(x * x * x - target) > 1e-12 * target && steps < 50) {
    x -= (x * x * x - target) / (3 * x * x);
    ++steps;
  }
  out[threadIdx.x] = x + steps * 100;
}

int main() {
  {
    std::vector<float> signal(256);
    for (int i = 0; i < 256; ++i) {
      signal[i] = std::sin(2 * 3.14159265f * 5 * i / 256) + 0.5f * std::cos(2 * 3.14159265f * 20 * i / 256);
    }
    Buffer<float> in(signal);
    Buffer<float2> out(256);
    fft<<<1, 128>>>(in, out);
    SYNC_OK();
    auto result = out.get();
    for (int i : {5, 20, 251}) {
      std::printf("fft[%d] %.2f %.2f\n", i, std::abs(result[i].x) < 0.005f ? 0.0f : result[i].x, std::abs(result[i].y) < 0.005f ? 0.0f : result[i].y);
    }
  }
  {
    std::vector<double> b(128);
    for (int i = 0; i < 128; ++i) {
      b[i] = i % 7 - 3;
    }
    Buffer<double> db(b), x(128), residual(1);
    conjugate_gradients<<<1, 128>>>(x, db, 40, residual);
    SYNC_OK();
    std::printf("cg %.9f %.9f residual small %d\n", x.get()[0], x.get()[64], residual.get()[0] < 1e-6);
  }
  {
    constexpr int n = 1000, k = 4;
    std::vector<float2> points(n), start = {{0, 0}, {50, 0}, {0, 50}, {50, 50}};
    Lcg random{14};
    for (auto& point : points) {
      int cluster = static_cast<int>(random.next() % 4);
      point = make_float2(static_cast<float>(cluster % 2 * 60 + random.next() % 20), static_cast<float>(cluster / 2 * 60 + random.next() % 20));
    }
    Buffer<float2> dpoints(points), centres(start);
    Buffer<float> sums(2 * k);
    Buffer<int> counts(k), member(n);
    for (int i = 0; i < 5; ++i) {
      sums.clear();
      counts.clear();
      assign<<<(n + 127) / 128, 128>>>(dpoints, n, centres, k, member, sums, counts);
      recentre<<<1, k>>>(centres, sums, counts);
    }
    SYNC_OK();
    for (auto centre : centres.get()) {
      std::printf("(%.4f %.4f) ", centre.x, centre.y);
    }
    std::printf("%016llx\n", static_cast<unsigned long long>(digest(member.get())));
  }
  {
    Buffer<unsigned> inside(1);
    monte_carlo<<<8, 64>>>(inside, 200);
    SYNC_OK();
    std::printf("monte carlo %u\n", inside.get()[0]);
  }
  {
    constexpr int n = 40;
    std::vector<double> a(n * n);
    for (int i = 0; i < n * n; ++i) {
      a[i] = i % (n + 1) == 0 ? n + 5.0 : i * 31 % 17 * 0.25;
    }
    Buffer<double> d(a);
    lu<<<1, 40>>>(d, n);
    SYNC_OK();
    std::printf("lu %.9g %.9g\n", d.get().back(), d.get()[20 * n + 31]);
  }
  {
    Buffer<double> out(32);
    newton<<<1, 32>>>(out);
    SYNC_OK();
    std::printf("newton %.10f %.10f\n", out.get()[0], out.get()[31]);
  }
}
