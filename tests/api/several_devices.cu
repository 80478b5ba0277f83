// Three virtual devices: each has its own copy of a variable and its own streams; managed variables are
// shared; copies between devices keep the order of both.
//@ exercises: --devices, cudaSetDevice, variables of each device, cudaMemcpyPeer, peer access, __managed__
//@ heddle: --devices 3
//@ hardware: one GPU is not three
#include <cstdio>
#include <cuda_runtime.h>

__device__ int own = 1;
__managed__ int shared_by_all = 10;

__global__ void add(int* out) {
  own += 1;
  *out = own;
}
__global__ void add_shared(int n) { shared_by_all += n; }

int main() {
  int count = 0;
  cudaGetDeviceCount(&count);
  std::printf("%d devices\n", count);
  int* out[3];
  for (int round = 0; round < 2; ++round) {
    for (int d = 0; d < 3; ++d) {
      cudaSetDevice(d);
      if (round == 0) {
        cudaMalloc(&out[d], 4);
      }
      for (int i = 0; i <= d; ++i) {
        add<<<1, 1>>>(out[d]);
      }
    }
  }
  for (int d = 0; d < 3; ++d) {
    int value = 0;
    cudaSetDevice(d);
    cudaMemcpy(&value, out[d], 4, cudaMemcpyDeviceToHost);
    cudaPointerAttributes a;
    cudaPointerGetAttributes(&a, out[d]);
    int symbol = 0;
    cudaMemcpyFromSymbol(&symbol, own, 4);
    std::printf("device %d: %d %d, memory of device %d\n", d, value, symbol, a.device);
  }
  shared_by_all += 1;
  for (int d = 0; d < 3; ++d) {
    cudaSetDevice(d);
    add_shared<<<1, 1>>>(100);
    cudaDeviceSynchronize();
  }
  std::printf("shared %d\n", shared_by_all);

  int can = -1;
  cudaDeviceCanAccessPeer(&can, 0, 2);
  cudaSetDevice(0);
  std::printf("peer %d ", can);
  for (int i = 0; i < 2; ++i) {
    std::printf("%s\n", cudaGetErrorName(cudaDeviceEnablePeerAccess(2, 0)));
  }
  cudaSetDevice(2);
  add<<<1, 1>>>(out[2]);
  cudaSetDevice(0);
  cudaMemcpyPeer(out[0], 0, out[2], 2, 4); // after the kernel on device 2
  int value = 0;
  cudaMemcpy(&value, out[0], 4, cudaMemcpyDeviceToHost);
  std::printf("copied %d\n", value);
  cudaEvent_t e;
  cudaEventCreate(&e);
  cudaSetDevice(1);
  std::printf("%s\n", cudaGetErrorName(cudaEventRecord(e)));
}
