// What the device says about itself: the parts that programs base decisions on. Expected values are those of compute capability 9.0.
//@ exercises: cudaGetDeviceProperties, cudaDeviceGetAttribute, cudaGetDeviceCount, cudaSetDevice, versions, limits, cudaDeviceReset, peer queries
#include "support.h"

int attribute(cudaDeviceAttr which) {
  int value = -1;
  CUDA_OK(cudaDeviceGetAttribute(&value, which, 0));
  return value;
}

int main() {
  int count = 0, device = -1, runtime = 0, driver = 0;
  CUDA_OK(cudaGetDeviceCount(&count));
  CUDA_OK(cudaGetDevice(&device));
  CUDA_OK(cudaRuntimeGetVersion(&runtime));
  CUDA_OK(cudaDriverGetVersion(&driver));
  std::printf("at least one %d, current %d, runtime %d, driver not older %d\n", count >= 1, device, runtime / 1000, driver >= runtime);
  cudaDeviceProp p;
  CUDA_OK(cudaGetDeviceProperties(&p, 0));
  std::printf("named %d, capability %d.%d, warp %d\n", p.name[0] != 0, p.major, p.minor, p.warpSize);
  std::printf("threads per block %d (%d %d %d), grid (%d %d %d)\n", p.maxThreadsPerBlock, p.maxThreadsDim[0], p.maxThreadsDim[1],
              p.maxThreadsDim[2], p.maxGridSize[0], p.maxGridSize[1], p.maxGridSize[2]);
  std::printf("shared %zu, opt-in %zu, per multiprocessor %zu, reserved %zu\n", p.sharedMemPerBlock, p.sharedMemPerBlockOptin,
              p.sharedMemPerMultiprocessor, p.reservedSharedMemPerBlock);
  std::printf("registers %d %d, constant %zu, threads per multiprocessor %d, blocks %d\n", p.regsPerBlock, p.regsPerMultiprocessor,
              p.totalConstMem, p.maxThreadsPerMultiProcessor, p.maxBlocksPerMultiProcessor);
  std::printf("unified %d managed %d concurrent managed %d mapped %d cooperative %d\n", p.unifiedAddressing, p.managedMemory,
              p.concurrentManagedAccess, p.canMapHostMemory, p.cooperativeLaunch);
  std::printf("multiprocessors at least 1: %d, memory at least 1 GB: %d\n", p.multiProcessorCount >= 1, p.totalGlobalMem >= 1u << 30);
  std::printf("attributes agree %d %d %d\n", attribute(cudaDevAttrMultiProcessorCount) == p.multiProcessorCount,
              attribute(cudaDevAttrComputeCapabilityMajor) == p.major, attribute(cudaDevAttrMaxThreadsPerBlock) == p.maxThreadsPerBlock);
  std::printf("clusters %d, priorities %d, pools %d, host register %d\n", attribute(cudaDevAttrClusterLaunch),
              attribute(cudaDevAttrStreamPrioritiesSupported), attribute(cudaDevAttrMemoryPoolsSupported),
              attribute(cudaDevAttrHostRegisterSupported));
  std::printf("wrong device: %s\n", cudaGetErrorName(cudaSetDevice(count + 5)));
  std::printf("kept: %s\n", cudaGetErrorName(cudaGetLastError()));
  std::printf("cleared: %s\n", cudaGetErrorName(cudaGetLastError()));
  int peer = -1;
  cudaError_t status = cudaDeviceCanAccessPeer(&peer, 0, 0);
  std::printf("own peer: %s %d\n", cudaGetErrorName(status), peer);
  (void)cudaGetLastError();
  CUDA_OK(cudaSetDevice(0));
  void* memory;
  CUDA_OK(cudaMalloc(&memory, 100));
  CUDA_OK(cudaDeviceReset());
  CUDA_OK(cudaMalloc(&memory, 100)); // usable again
  CUDA_OK(cudaFree(memory));
  char id[32];
  CUDA_OK(cudaDeviceGetPCIBusId(id, sizeof id, 0));
  int same = -1;
  CUDA_OK(cudaDeviceGetByPCIBusId(&same, id));
  std::printf("bus id finds device %d\n", same);
}
