// The four kernels as a CUDA program, for heddle run: cuda ROUNDS
#include "../kernels/peers.cu"
#include "timing.h"

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  const size_t most = vector_size * sizeof(float);
  float *in = (float*)malloc(most), *out = (float*)malloc(most), *a, *b;
  fill(in, vector_size);
  cudaMalloc(&a, most);
  cudaMalloc(&b, most);
  cudaMemcpy(a, in, most, cudaMemcpyHostToDevice);
  for (const char* kernel : {"vecadd", "reduce", "matmul", "nbody"}) {
    double best = 1e9;
    for (int round = 0; round < atoi(argv[1]); ++round) {
      const double before = processor_ms();
      switch (kernel[0]) {
      case 'v': vecadd<<<vector_size / 256, 256>>>(a, a, b, vector_size); break;
      case 'r': reduce<<<reduced, 256>>>(a, b, vector_size); break;
      case 'm': matmul<<<dim3(matrix / 16, matrix / 16), dim3(16, 16)>>>(a, a, b, matrix); break;
      default: nbody<<<bodies / 256, 256>>>((const float4*)a, (float4*)b, bodies); break;
      }
      if (cudaDeviceSynchronize() != cudaSuccess) return 1;
      const double ms = processor_ms() - before;
      best = ms < best ? ms : best;
    }
    cudaMemcpy(out, b, most, cudaMemcpyDeviceToHost);
    check(kernel, in, out);
    printf("%s %.3f\n", kernel, best);
  }
}
