// Two devices: separate memories, globals and streams; copies between peers; work on both at once.
//@ exercises: cudaSetDevice, one copy of each __device__ variable per device, cudaMemcpyPeer(Async), cudaDeviceEnablePeerAccess, events across devices, unified addresses
//@ heddle: --devices 2
//@ hardware: needs two GPUs
#include "support.h"

#include <thread>

__device__ int counter = 5;
__constant__ int constant = 1;

__global__ void bump(int by) { atomicAdd(&counter, by * constant); }
__global__ void fill(int* data, int value) { data[threadIdx.x] = value + static_cast<int>(threadIdx.x); }
__global__ void add(const int* from, int* to) { to[threadIdx.x] += from[threadIdx.x]; }

int main() {
  int count = 0;
  CUDA_OK(cudaGetDeviceCount(&count));
  std::printf("devices %d\n", count);
  int* data[2];
  for (int device = 0; device < 2; ++device) {
    CUDA_OK(cudaSetDevice(device));
    CUDA_OK(cudaMalloc(&data[device], 32 * sizeof(int)));
    int factor = 10 + device;
    CUDA_OK(cudaMemcpyToSymbol(constant, &factor, sizeof factor));
    bump<<<1, 4>>>(device + 1);
    fill<<<1, 32>>>(data[device], device * 100);
  }
  for (int device = 0; device < 2; ++device) {
    CUDA_OK(cudaSetDevice(device));
    CUDA_OK(cudaDeviceSynchronize());
    int value = 0;
    CUDA_OK(cudaMemcpyFromSymbol(&value, counter, sizeof value));
    cudaPointerAttributes attributes;
    CUDA_OK(cudaPointerGetAttributes(&attributes, data[device]));
    std::printf("device %d: counter %d, memory of device %d\n", device, value, attributes.device);
  }
  int host[32];
  CUDA_OK(cudaMemcpyPeer(data[0], 0, data[1], 1, 16 * sizeof(int)));
  CUDA_OK(cudaMemcpy(host, data[0], sizeof host, cudaMemcpyDefault));
  std::printf("copied %d %d\n", host[15], host[16]);

  int can = 0;
  CUDA_OK(cudaDeviceCanAccessPeer(&can, 0, 1));
  std::printf("peer access %d\n", can);
  if (can) {
    CUDA_OK(cudaSetDevice(0));
    CUDA_OK(cudaDeviceEnablePeerAccess(1, 0));
    add<<<1, 32>>>(data[1], data[0]);
    SYNC_OK();
    CUDA_OK(cudaMemcpy(host, data[0], sizeof host, cudaMemcpyDeviceToHost));
    std::printf("read from the peer %d %d\n", host[0], host[31]);
  }

  // An event of one device orders a stream of the other.
  cudaStream_t streams[2];
  cudaEvent_t ready;
  CUDA_OK(cudaSetDevice(1));
  CUDA_OK(cudaStreamCreate(&streams[1]));
  CUDA_OK(cudaEventCreateWithFlags(&ready, cudaEventDisableTiming));
  fill<<<1, 32, 0, streams[1]>>>(data[1], 7000);
  CUDA_OK(cudaEventRecord(ready, streams[1]));
  CUDA_OK(cudaSetDevice(0));
  CUDA_OK(cudaStreamCreate(&streams[0]));
  CUDA_OK(cudaStreamWaitEvent(streams[0], ready, 0));
  CUDA_OK(cudaMemcpyPeerAsync(data[0], 0, data[1], 1, sizeof host, streams[0]));
  CUDA_OK(cudaMemcpyAsync(host, data[0], sizeof host, cudaMemcpyDeviceToHost, streams[0]));
  CUDA_OK(cudaStreamSynchronize(streams[0]));
  std::printf("after the event %d\n", host[31]);

  // The current device belongs to the host thread.
  std::thread other([] {
    int device = -1;
    CUDA_OK(cudaGetDevice(&device));
    std::printf("a new thread starts on device %d\n", device);
    CUDA_OK(cudaSetDevice(1));
  });
  other.join();
  int device = -1;
  CUDA_OK(cudaGetDevice(&device));
  std::printf("this one stays on %d\n", device);
}
