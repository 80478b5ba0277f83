// What fixes a limit of the device, and streams of another device than the current one.
//@ exercises: cudaDeviceSetLimit behind kernels that use printf or malloc, launches into streams of another device
//@ heddle: --devices 2
//@ hardware: needs two GPUs
#include "support.h"

__device__ int* kept;
__device__ __noinline__ void say(int i) { printf("thread %d\n", i); }

__global__ void silent(int* out) { *out = 1; }
__global__ void speaks(int i) { say(i); }
__global__ void allocates() {
  kept = static_cast<int*>(malloc(16));
  free(kept);
}

static const char* set(cudaLimit limit, size_t value) {
  const cudaError_t code = cudaDeviceSetLimit(limit, value);
  cudaGetLastError();
  return cudaGetErrorName(code);
}

int main() {
  int* out = nullptr;
  CUDA_OK(cudaMalloc(&out, sizeof *out));
  silent<<<1, 1>>>(out);
  SYNC_OK();
  std::printf("before: %s %s\n", set(cudaLimitPrintfFifoSize, 1 << 20), set(cudaLimitMallocHeapSize, 16 << 20));
  speaks<<<1, 1>>>(7);
  SYNC_OK();
  std::printf("behind printf: %s %s\n", set(cudaLimitPrintfFifoSize, 1 << 20), set(cudaLimitMallocHeapSize, 16 << 20));
  allocates<<<1, 1>>>();
  SYNC_OK();
  std::printf("behind malloc: %s %s\n", set(cudaLimitPrintfFifoSize, 1 << 20), set(cudaLimitMallocHeapSize, 16 << 20));
  std::printf("the stack: %s\n", set(cudaLimitStackSize, 4096));

  cudaStream_t stream;
  cudaEvent_t event;
  CUDA_OK(cudaSetDevice(1));
  std::printf("another device: %s\n", set(cudaLimitPrintfFifoSize, 1 << 20));
  CUDA_OK(cudaStreamCreate(&stream));
  int* there = nullptr;
  CUDA_OK(cudaMalloc(&there, sizeof *there));
  CUDA_OK(cudaSetDevice(0));
  silent<<<1, 1, 0, stream>>>(there);
  std::printf("launch: %s\n", cudaGetErrorName(cudaGetLastError()));
  void* arguments[] = {&there};
  const cudaError_t code = cudaLaunchKernel(silent, 1, 1, arguments, 0, stream);
  std::printf("cudaLaunchKernel: %s\n", cudaGetErrorName(code));
  cudaGetLastError();
  CUDA_OK(cudaEventCreate(&event));
  std::printf("record: %s\n", cudaGetErrorName(cudaEventRecord(event, stream)));
  cudaGetLastError();
  std::printf("copy: %s\n", cudaGetErrorName(cudaMemsetAsync(there, 0, 4, stream)));
  std::printf("wait: %s\n", cudaGetErrorName(cudaStreamSynchronize(stream)));
  CUDA_OK(cudaSetDevice(1));
  CUDA_OK(cudaStreamDestroy(stream));
}
