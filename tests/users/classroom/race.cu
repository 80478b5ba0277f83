// Exercise 1: every thread adds its element to a total, without an atomic.
#include <cstdio>

__global__ void total(const int* in, int* sum) {
  *sum += in[threadIdx.x];
}

int main() {
  int *in, *sum;
  cudaMallocManaged(&in, 64 * sizeof(int));
  cudaMallocManaged(&sum, sizeof(int));
  for (int i = 0; i < 64; ++i) in[i] = 1;
  *sum = 0;
  total<<<1, 64>>>(in, sum);
  cudaDeviceSynchronize();
  std::printf("total: %d\n", *sum);
  return 0;
}
