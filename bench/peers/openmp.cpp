// The four problems by hand, as one would write them for a CPU: g++ -O3 -fopenmp
#define _POSIX_C_SOURCE 200809L
#include "timing.h"

#include <cstring>
#include <initializer_list>

namespace {

void vecadd(const float* a, const float* b, float* c) {
#pragma omp parallel for simd
  for (int i = 0; i < vector_size; ++i) {
    c[i] = a[i] + b[i];
  }
}

void reduce(const float* in, float* out) {
#pragma omp parallel for
  for (int block = 0; block < reduced; ++block) {
    float sum = 0;
#pragma omp simd reduction(+ : sum)
    for (int i = 0; i < 1024; ++i) {
      sum += in[block * 1024 + i];
    }
    out[block] = sum;
  }
}

void matmul(const float* a, const float* b, float* c) {
  constexpr int n = matrix, tile = 64;
#pragma omp parallel for
  for (int row = 0; row < n; ++row) {
    std::memset(c + row * n, 0, n * sizeof(float));
    for (int k0 = 0; k0 < n; k0 += tile) {
      for (int k = k0; k < k0 + tile; ++k) {
        const float x = a[row * n + k];
#pragma omp simd
        for (int col = 0; col < n; ++col) {
          c[row * n + col] += x * b[k * n + col];
        }
      }
    }
  }
}

void nbody(const float* p, float* a) {
  static float x[bodies], y[bodies], z[bodies], m[bodies];
  for (int i = 0; i < bodies; ++i) {
    x[i] = p[i * 4];
    y[i] = p[i * 4 + 1];
    z[i] = p[i * 4 + 2];
    m[i] = p[i * 4 + 3];
  }
#pragma omp parallel for
  for (int i = 0; i < bodies; ++i) {
    float ax = 0, ay = 0, az = 0;
#pragma omp simd reduction(+ : ax, ay, az)
    for (int j = 0; j < bodies; ++j) {
      const float dx = x[j] - x[i], dy = y[j] - y[i], dz = z[j] - z[i];
      const float inverse = 1 / sqrtf(dx * dx + dy * dy + dz * dz + 0.01F);
      const float w = m[j] * inverse * inverse * inverse;
      ax += dx * w;
      ay += dy * w;
      az += dz * w;
    }
    a[i * 4] = ax;
    a[i * 4 + 1] = ay;
    a[i * 4 + 2] = az;
    a[i * 4 + 3] = 0;
  }
}

} // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    return 2;
  }
  auto* in = static_cast<float*>(aligned_alloc(4096, vector_size * sizeof(float)));
  auto* out = static_cast<float*>(aligned_alloc(4096, vector_size * sizeof(float)));
  fill(in, vector_size);
  for (const char* kernel : {"vecadd", "reduce", "matmul", "nbody"}) {
    double best = 1e9;
    for (int round = 0; round < atoi(argv[1]); ++round) {
      const double before = processor_ms();
      switch (kernel[0]) {
      case 'v':
        vecadd(in, in, out);
        break;
      case 'r':
        reduce(in, out);
        break;
      case 'm':
        matmul(in, in, out);
        break;
      default:
        nbody(in, out);
        break;
      }
      const double ms = processor_ms() - before;
      best = ms < best ? ms : best;
    }
    check(kernel, in, out);
    printf("%s %.3f\n", kernel, best);
  }
}
