// The device heap: malloc, free, new and delete in kernels; memory that outlives a kernel; exhaustion.
//@ exercises: device malloc/free, operator new[]/delete[], alignment, cudaLimitMallocHeapSize, null on exhaustion, memcpy/memset builtins
#include "support.h"

struct Node {
  int value;
  Node* next;
};

__device__ Node* heads[64];

__global__ void build(int length) {
  Node* head = nullptr;
  for (int i = 0; i < length + static_cast<int>(threadIdx.x) % 3; ++i) {
    auto node = static_cast<Node*>(malloc(sizeof(Node)));
    node->value = i * 100 + threadIdx.x;
    node->next = head;
    head = node;
  }
  heads[threadIdx.x] = head;
}

__global__ void sum(long long* out) {
  long long total = 0;
  // Each thread walks the list of its neighbour.
  for (Node* node = heads[(threadIdx.x + 1) % blockDim.x]; node; node = node->next) {
    total += node->value;
  }
  out[threadIdx.x] = total;
}

__global__ void release() {
  for (Node* node = heads[threadIdx.x]; node;) {
    Node* next = node->next;
    free(node);
    node = next;
  }
}

__global__ void arrays(int* out) {
  int n = threadIdx.x * 7 + 1;
  auto numbers = new double[n];
  bool aligned = reinterpret_cast<unsigned long long>(numbers) % 16 == 0;
  for (int i = 0; i < n; ++i) {
    numbers[i] = i * 0.5;
  }
  auto bytes = static_cast<unsigned char*>(malloc(n));
  memset(bytes, 7, n);
  auto copy = static_cast<unsigned char*>(malloc(n));
  memcpy(copy, bytes, n);
  double total = 0;
  for (int i = 0; i < n; ++i) {
    total += numbers[i] + copy[i];
  }
  delete[] numbers;
  free(bytes);
  free(copy);
  free(nullptr);
  delete[] static_cast<int*>(nullptr);
  out[threadIdx.x] = aligned ? static_cast<int>(total) : -1;
}

__global__ void exhaust(int* out) {
  // One allocation per thread of which the heap cannot hold all: some get null, nobody faults.
  void* memory = malloc(1 << 20);
  if (memory) {
    static_cast<volatile char*>(memory)[(1 << 20) - 1] = 1;
    atomicAdd(&out[0], 1);
  } else {
    atomicAdd(&out[1], 1);
  }
  __syncthreads();
  free(memory);
}

__global__ void shared_allocation(int* out) {
  __shared__ int* data;
  if (threadIdx.x == 0) {
    data = static_cast<int*>(malloc(blockDim.x * sizeof(int)));
  }
  __syncthreads();
  data[threadIdx.x] = threadIdx.x * 2;
  __syncthreads();
  atomicAdd(&out[blockIdx.x], data[blockDim.x - 1 - threadIdx.x]);
  __syncthreads();
  if (threadIdx.x == 0) {
    free(data);
  }
}

int main() {
  CUDA_OK(cudaDeviceSetLimit(cudaLimitMallocHeapSize, 8 << 20));
  std::size_t size = 0;
  CUDA_OK(cudaDeviceGetLimit(&size, cudaLimitMallocHeapSize));
  std::printf("heap at least 8 MB %d\n", size >= 8 << 20);
  Buffer<long long> totals(64);
  build<<<1, 64>>>(5);
  sum<<<1, 64>>>(totals);
  release<<<1, 64>>>();
  SYNC_OK();
  auto total = totals.get();
  std::printf("lists %lld %lld %016llx\n", total[0], total[63], static_cast<unsigned long long>(digest(total)));

  Buffer<int> out(64);
  arrays<<<1, 64>>>(out);
  SYNC_OK();
  std::printf("arrays %d %d %016llx\n", out.get()[1], out.get()[63], static_cast<unsigned long long>(digest(out.get())));

  Buffer<int> counts(2);
  exhaust<<<1, 64>>>(counts);
  SYNC_OK();
  auto count = counts.get();
  std::printf("exhaustion: some %d, none left %d, all answered %d\n", count[0] > 0, count[1] > 0, count[0] + count[1] == 64);
  // All of it came back.
  counts.clear();
  exhaust<<<1, 4>>>(counts);
  SYNC_OK();
  std::printf("again: %d\n", counts.get()[0]);

  out.clear();
  shared_allocation<<<4, 50>>>(out);
  SYNC_OK();
  std::printf("shared %d %d\n", out.get()[0], out.get()[3]);
}
