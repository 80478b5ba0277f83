// Exercise: square 1,000 numbers and add them up on the host. Three blocks of 256 do not reach all of them.
#include <cstdio>
#include <vector>

__global__ void square(int* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = i * i;
}

int main() {
  const int n = 1000;
  int* out;
  cudaMalloc(&out, n * sizeof(int));
#ifdef RIGHT
  square<<<(n + 255) / 256, 256>>>(out, n);
#else
  square<<<n / 256, 256>>>(out, n);
#endif
  std::vector<int> host(n);
  cudaMemcpy(host.data(), out, n * sizeof(int), cudaMemcpyDeviceToHost);
  long sum = 0;
  for (int i = 0; i < n; ++i) sum += host[i]; //~ uninitialised
  std::printf("sum: %ld\n", sum);
  cudaFree(out);
  return 0;
}
