// Host memory that the device reads and writes: mapped pinned memory, registered memory of malloc, of the stack and of globals.
//@ exercises: cudaHostAlloc flags, cudaHostGetDevicePointer, cudaHostGetFlags, cudaHostRegister/Unregister, cudaMallocHost, cudaPointerGetAttributes
#include "support.h"

#include <cstring>

static int global_array[64];

__global__ void triple(int* data, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    data[i] *= 3;
  }
}

__global__ void sum_into(const int* data, int n, long long* sum) {
  long long total = 0;
  for (int i = threadIdx.x; i < n; i += 32) {
    total += data[i];
  }
  for (int offset = 16; offset; offset /= 2) {
    total += __shfl_down_sync(~0u, total, offset);
  }
  if (threadIdx.x == 0) {
    *sum = total;
  }
}

const char* kind(const void* pointer) {
  cudaPointerAttributes attributes;
  CUDA_OK(cudaPointerGetAttributes(&attributes, pointer));
  switch (attributes.type) {
  case cudaMemoryTypeUnregistered: return "unregistered";
  case cudaMemoryTypeHost: return "host";
  case cudaMemoryTypeDevice: return "device";
  case cudaMemoryTypeManaged: return "managed";
  default: return "other";
  }
}

int main() {
  constexpr int n = 1000;
  {
    int* host;
    CUDA_OK(cudaHostAlloc(&host, n * sizeof(int), cudaHostAllocMapped | cudaHostAllocPortable));
    long long* sum;
    CUDA_OK(cudaHostAlloc(&sum, sizeof *sum, cudaHostAllocMapped));
    for (int i = 0; i < n; ++i) {
      host[i] = i;
    }
    int* device;
    CUDA_OK(cudaHostGetDevicePointer(&device, host, 0));
    triple<<<(n + 127) / 128, 128>>>(device, n);
    sum_into<<<1, 32>>>(device, n, sum);
    SYNC_OK();
    unsigned flags = 0;
    CUDA_OK(cudaHostGetFlags(&flags, host));
    std::printf("mapped: %d %lld, portable %d, mapped %d, %s\n", host[n - 1], *sum,
                (flags & cudaHostAllocPortable) != 0, (flags & cudaHostAllocMapped) != 0, kind(host));
    CUDA_OK(cudaFreeHost(host));
    CUDA_OK(cudaFreeHost(sum));
  }
  {
    int* host = static_cast<int*>(std::malloc(n * sizeof(int)));
    for (int i = 0; i < n; ++i) {
      host[i] = -i;
    }
    CUDA_OK(cudaHostRegister(host, n * sizeof(int), cudaHostRegisterMapped));
    int* device;
    CUDA_OK(cudaHostGetDevicePointer(&device, host, 0));
    triple<<<(n + 127) / 128, 128>>>(device, n);
    // An interior pointer maps to an interior pointer.
    int* interior;
    CUDA_OK(cudaHostGetDevicePointer(&interior, host + 10, 0));
    EXPECT(interior == device + 10);
    triple<<<1, 1>>>(interior, 1);
    SYNC_OK();
    std::printf("registered: %d %d %s\n", host[10], host[n - 1], kind(host));
    CUDA_OK(cudaHostUnregister(host));
    std::free(host);
  }
  {
    for (int i = 0; i < 64; ++i) {
      global_array[i] = i * i;
    }
    CUDA_OK(cudaHostRegister(global_array, sizeof global_array, cudaHostRegisterDefault));
    std::printf("twice: %s\n", cudaGetErrorName(cudaHostRegister(global_array, sizeof global_array, 0)));
    (void)cudaGetLastError();
    triple<<<1, 64>>>(global_array, 64);
    SYNC_OK();
    std::printf("global: %d\n", global_array[63]);
    CUDA_OK(cudaHostUnregister(global_array));
    std::printf("not registered: %s\n", cudaGetErrorName(cudaHostUnregister(global_array)));
    (void)cudaGetLastError();
  }
  {
    int* pinned;
    CUDA_OK(cudaMallocHost(&pinned, n * sizeof(int)));
    for (int i = 0; i < n; ++i) {
      pinned[i] = 1;
    }
    Buffer<int> device(n);
    CUDA_OK(cudaMemcpyAsync(device, pinned, n * sizeof(int), cudaMemcpyHostToDevice));
    triple<<<(n + 127) / 128, 128>>>(device, n);
    CUDA_OK(cudaMemcpyAsync(pinned, device, n * sizeof(int), cudaMemcpyDeviceToHost));
    SYNC_OK();
    std::printf("pinned: %d %d, device pointer is %s\n", pinned[0], pinned[n - 1], kind(device.data()));
    CUDA_OK(cudaFreeHost(pinned));
  }
}
