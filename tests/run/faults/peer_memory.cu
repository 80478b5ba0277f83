// Device code uses memory of another device. With peer access it may; behind cudaDeviceDisablePeerAccess it
// may not, although the same instruction has done so before.
//@ exercises: [MEM-PEER], in one direction, before and after
//@ flags: -lineinfo
//@ heddle: --devices 2
//@ exit: 1
//@ expect: error\[peer-memory\]: .*4 bytes
//@ expect: peer_memory.cu:14:
//@ expect: \[MEM-PEER\]
//@ expect: cudaErrorIllegalAddress
//@ hardware: needs two GPUs
#include <cstdio>

__global__ void write(int* p) { p[threadIdx.x] = 1; }

int main() {
  int *own, *other;
  cudaSetDevice(1);
  cudaMalloc(&other, 128);
  cudaSetDevice(0);
  cudaMalloc(&own, 128);
  cudaDeviceEnablePeerAccess(1, 0);
  write<<<1, 32>>>(own);
  write<<<1, 32>>>(other);
  if (cudaDeviceSynchronize() != cudaSuccess) {
    return 9;
  }
  cudaMemcpy(own, other, 128, cudaMemcpyDefault); // needs no access
  cudaSetDevice(1);
  write<<<1, 32>>>(other);
  if (cudaDeviceSynchronize() != cudaSuccess) {
    return 8;
  }
  cudaSetDevice(0);
  cudaDeviceDisablePeerAccess(1);
  write<<<1, 32>>>(own);
  if (cudaDeviceSynchronize() != cudaSuccess) {
    return 7;
  }
  write<<<1, 32>>>(other);
  std::fprintf(stderr, "%s\n", cudaGetErrorName(cudaDeviceSynchronize()));
}
