// Exercise: managed memory. The launch returns before the kernel has run.
#include <cstdio>

__global__ void square(int* x) {
  x[threadIdx.x] *= x[threadIdx.x];
}

int main() {
  int* x;
  cudaMallocManaged(&x, 64 * sizeof(int));
  for (int i = 0; i < 64; ++i) x[i] = i;
  square<<<1, 64>>>(x);
#ifdef RIGHT
  cudaDeviceSynchronize();
#endif
  std::printf("7 * 7 = %d\n", x[7]); //~ data-race
  cudaDeviceSynchronize();
  cudaFree(x);
  return 0;
}
