// Memory shared by host and device: managed with advice, prefetch and attachment, zero-copy, registered, pools; all in one reduction.
//@ exercises: cudaMallocManaged, cudaMemAdvise, cudaMemPrefetchAsync, cudaStreamAttachMemAsync, cudaHostAllocMapped, cudaHostRegister, cudaPointerGetAttributes, cudaMemPool*, linked lists through managed memory
#include "support.h"

#include <numeric>

struct Node {
  int value;
  Node* next;
};

__global__ void walk(const Node* node, long long* sum) {
  long long s = 0;
  for (; node != nullptr; node = node->next) s += node->value;
  *sum = s;
}
__global__ void saxpy(float* y, const float* x, float a, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = a * x[i] + y[i];
}
__managed__ int counter = 5;
__global__ void count() { atomicAdd_system(&counter, 1); }

int main() {
  Node* list = nullptr;
  for (int i = 1; i <= 200; ++i) {
    Node* node;
    CUDA_OK(cudaMallocManaged(&node, sizeof *node));
    *node = {i, list};
    list = node;
  }
  long long* sum;
  CUDA_OK(cudaMallocManaged(&sum, sizeof *sum));
  walk<<<1, 1>>>(list, sum);
  SYNC_OK();
  std::printf("list %lld\n", *sum);
  while (list != nullptr) {
    Node* next = list->next;
    CUDA_OK(cudaFree(list));
    list = next;
  }
  const int n = 5000;
  float *x, *y;
  CUDA_OK(cudaMallocManaged(&x, n * sizeof(float)));
  CUDA_OK(cudaMallocManaged(&y, n * sizeof(float), cudaMemAttachHost));
  for (int i = 0; i < n; ++i) x[i] = static_cast<float>(i), y[i] = 1;
  cudaMemLocation device{cudaMemLocationTypeDevice, 0}, host{cudaMemLocationTypeHost, 0};
  CUDA_OK(cudaMemAdvise(x, n * sizeof(float), cudaMemAdviseSetReadMostly, device));
  CUDA_OK(cudaMemAdvise(y, n * sizeof(float), cudaMemAdviseSetPreferredLocation, device));
  cudaStream_t stream;
  CUDA_OK(cudaStreamCreate(&stream));
  CUDA_OK(cudaStreamAttachMemAsync(stream, y));
  CUDA_OK(cudaMemPrefetchAsync(x, n * sizeof(float), device, 0, stream));
  saxpy<<<(n + 255) / 256, 256, 0, stream>>>(y, x, 2, n);
  CUDA_OK(cudaMemPrefetchAsync(y, n * sizeof(float), host, 0, stream));
  CUDA_OK(cudaStreamSynchronize(stream));
  std::printf("saxpy %g %g\n", y[10], y[n - 1]);
  cudaPointerAttributes attributes;
  CUDA_OK(cudaPointerGetAttributes(&attributes, x + 3));
  std::printf("type %d\n", attributes.type);

  float *mapped, *alias;
  CUDA_OK(cudaHostAlloc(&mapped, n * sizeof(float), cudaHostAllocMapped | cudaHostAllocPortable));
  CUDA_OK(cudaHostGetDevicePointer(&alias, mapped, 0));
  std::vector<float> own(n, 3);
  CUDA_OK(cudaHostRegister(own.data(), n * sizeof(float), cudaHostRegisterMapped));
  float* own_alias;
  CUDA_OK(cudaHostGetDevicePointer(&own_alias, own.data(), 0));
  for (int i = 0; i < n; ++i) mapped[i] = 0.5f;
  saxpy<<<(n + 255) / 256, 256>>>(alias, own_alias, 4, n);
  SYNC_OK();
  std::printf("mapped %g\n", std::accumulate(mapped, mapped + n, 0.0));
  CUDA_OK(cudaHostUnregister(own.data()));
  CUDA_OK(cudaFreeHost(mapped));

  cudaMemPool_t pool;
  CUDA_OK(cudaDeviceGetDefaultMemPool(&pool, 0));
  unsigned long long threshold = ~0ull;
  CUDA_OK(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &threshold));
  float* from_pool;
  for (int round = 0; round < 3; ++round) {
    CUDA_OK(cudaMallocAsync(&from_pool, n * sizeof(float), stream));
    CUDA_OK(cudaMemcpyAsync(from_pool, y, n * sizeof(float), cudaMemcpyDefault, stream));
    saxpy<<<(n + 255) / 256, 256, 0, stream>>>(from_pool, x, 1, n);
    CUDA_OK(cudaMemcpyAsync(y, from_pool, n * sizeof(float), cudaMemcpyDefault, stream));
    CUDA_OK(cudaFreeAsync(from_pool, stream));
  }
  CUDA_OK(cudaStreamSynchronize(stream));
  std::printf("pool %g\n", y[10]);
  count<<<4, 32>>>();
  SYNC_OK();
  std::printf("managed variable %d\n", counter);
  CUDA_OK(cudaStreamDestroy(stream));
  for (void* p : {static_cast<void*>(x), static_cast<void*>(y), static_cast<void*>(sum)}) CUDA_OK(cudaFree(p));
}
