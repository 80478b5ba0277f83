#include <cstdio>
#include <cub/device/device_reduce.cuh>
int main() {
  int h[64], *in, *out, result = 0;
  for (int i = 0; i < 64; ++i) h[i] = i;
  cudaMalloc(&in, sizeof h);
  cudaMalloc(&out, sizeof(int));  //~ uninitialised
  cudaMemcpy(in, h, sizeof h, cudaMemcpyHostToDevice);
  void* storage = nullptr;
  size_t bytes = 0;
  cub::DeviceReduce::Sum(storage, bytes, in, out, 64);
#ifdef RIGHT
  cudaMalloc(&storage, bytes);
#endif
  cub::DeviceReduce::Sum(storage, bytes, in, out, 64);
  cudaMemcpy(&result, out, sizeof(int), cudaMemcpyDeviceToHost);
  printf("%d\n", result);
  cudaFree(storage);
  cudaFree(in);
  cudaFree(out);
}
