// The four kernels at sizes that keep many cores busy, wall clock in ms, for cores.py: cores ROUNDS
#include "kernels/peers.cu"

#include <chrono>
#include <cstdio>
#include <cstdlib>

constexpr int vector_size = 1 << 26, matrix = 1024, bodies = 1 << 15;

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  float *a, *b;
  cudaMalloc(&a, vector_size * sizeof(float));
  cudaMalloc(&b, vector_size * sizeof(float));
  cudaMemset(a, 0, vector_size * sizeof(float));
  for (const char* kernel : {"vecadd", "reduce", "matmul", "nbody"}) {
    double best = 1e9;
    for (int round = 0; round < atoi(argv[1]); ++round) {
      const auto before = std::chrono::steady_clock::now();
      switch (kernel[0]) {
      case 'v': vecadd<<<vector_size / 256, 256>>>(a, a, b, vector_size); break;
      case 'r': reduce<<<vector_size / 1024, 256>>>(a, b, vector_size); break;
      case 'm': matmul<<<dim3(matrix / 16, matrix / 16), dim3(16, 16)>>>(a, a, b, matrix); break;
      default: nbody<<<bodies / 256, 256>>>((const float4*)a, (float4*)b, bodies); break;
      }
      if (cudaDeviceSynchronize() != cudaSuccess) return 1;
      const std::chrono::duration<double, std::milli> ms = std::chrono::steady_clock::now() - before;
      best = ms.count() < best ? ms.count() : best;
    }
    printf("%s %.3f\n", kernel, best);
  }
}
