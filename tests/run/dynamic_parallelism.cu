// Kernels that launch kernels: recursion, streams and events of the device, copies, tail launches.
//@ exercises: the device runtime: launches in a block's own stream, named streams, events, tail launches, fire and forget, copies and sets, errors of launches, depth, kernels by pointer
//@ flags: -rdc=true -lcudadevrt
//@ also-flags: -rdc=true -lcudadevrt -G
//@ seeds: 1 2
#include "support.h"

#include <algorithm>

// --- Quicksort: each part in a stream of its own ------------------------------------------------------
__device__ void select(int* data, int left, int right) {
  for (int i = left; i <= right; ++i) {
    int least = i;
    for (int j = i + 1; j <= right; ++j) {
      least = data[j] < data[least] ? j : least;
    }
    int swapped = data[i];
    data[i] = data[least];
    data[least] = swapped;
  }
}

__global__ void sort(int* data, int left, int right, int depth) {
  if (depth >= 12 || right - left <= 16) {
    select(data, left, right);
    return;
  }
  int *low = data + left, *high = data + right, pivot = data[(left + right) / 2];
  while (low <= high) {
    while (*low < pivot) ++low;
    while (*high > pivot) --high;
    if (low <= high) {
      int swapped = *low;
      *low++ = *high;
      *high-- = swapped;
    }
  }
  int ends[2][2] = {{left, static_cast<int>(high - data)}, {static_cast<int>(low - data), right}};
  for (auto& end : ends) {
    if (end[0] < end[1]) {
      cudaStream_t stream;
      cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
      sort<<<1, 1, 0, stream>>>(data, end[0], end[1], depth + 1);
      cudaStreamDestroy(stream);
    }
  }
}

// --- A tree: a node is summed up by a tail launch, when both of its children are done --------------------
struct Node {
  int low, high, sum;
  Node* child[2];
};

__global__ void sum_leaf(const int* values, Node* node) {
  __shared__ int sum;
  if (threadIdx.x == 0) sum = 0;
  __syncthreads();
  for (int i = node->low + threadIdx.x; i < node->high; i += blockDim.x) atomicAdd(&sum, values[i]);
  __syncthreads();
  if (threadIdx.x == 0) node->sum = sum;
}

__global__ void sum_children(Node* node) { node->sum = node->child[0]->sum + node->child[1]->sum; }

__global__ void build(const int* values, Node* nodes, int* next, Node* node) {
  if (node->high - node->low <= 64) {
    sum_leaf<<<1, 32>>>(values, node);
    return;
  }
  int middle = (node->low + node->high) / 2, at = atomicAdd(next, 2);
  for (int k = 0; k < 2; ++k) {
    Node* child = nodes + at + k;
    child->low = k ? middle : node->low;
    child->high = k ? node->high : middle;
    node->child[k] = child;
    build<<<1, 1>>>(values, nodes, next, child);
  }
  sum_children<<<1, 1, 0, cudaStreamTailLaunch>>>(node);
}

// --- Order within one block -------------------------------------------------------------------------------
__global__ void fill(int* p, int value) { p[blockIdx.x * blockDim.x + threadIdx.x] = value; }
__global__ void add(int* p, const int* q) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  p[i] += q[i];
}

__global__ void ordered(int* p, int* q, int* results) {
  if (threadIdx.x != 0) return;
  fill<<<4, 32>>>(p, 3);
  add<<<4, 32>>>(p, p);
  cudaEvent_t event;
  cudaEventCreateWithFlags(&event, cudaEventDisableTiming);
  cudaStream_t stream;
  cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
  cudaEventRecord(event, 0);
  cudaStreamWaitEvent(stream, event, 0);
  cudaMemcpyAsync(q, p, 128 * sizeof(int), cudaMemcpyDeviceToDevice, stream);
  add<<<4, 32, 0, stream>>>(q, p);
  cudaMemsetAsync(p + 128, 0, 128 * sizeof(int), stream);
  cudaEventDestroy(event);
  cudaStreamDestroy(stream);
  results[0] = cudaGetLastError();
  fill<<<1, 2000>>>(p, 1); // too large a block
  results[1] = cudaPeekAtLastError();
  printf("%s: %s\n", cudaGetErrorName(cudaPeekAtLastError()), cudaGetErrorString(cudaGetLastError()));
  results[2] = cudaGetLastError();
  int device = -1, lanes = 0;
  cudaGetDevice(&device);
  cudaDeviceGetAttribute(&lanes, cudaDevAttrWarpSize, device);
  results[3] = device * 100 + lanes;
}

// --- Templates, pointers, depth ------------------------------------------------------------------------------
template <int N> __global__ void twice(int* count) {
  if constexpr (N > 0) {
    twice<N - 1><<<2, 1, 0, cudaStreamFireAndForget>>>(count);
  }
  atomicAdd(count, 1);
}

using Fill = void (*)(int*, int);
__device__ Fill fills[] = {fill};
__global__ void by_pointer(int* p) { fills[0]<<<1, 32>>>(p, 77); }

__global__ void deeper(int* depth, int* error) {
  atomicAdd(depth, 1);
  deeper<<<1, 1>>>(depth, error);
  if (cudaError_t e = cudaGetLastError(); e != cudaSuccess) *error = e;
}

int main() {
  constexpr int n = 2000;
  int *data, *p, *q, *results, *next;
  Node* nodes;
  CUDA_OK(cudaMallocManaged(&data, n * sizeof(int)));
  CUDA_OK(cudaMallocManaged(&p, 4096));
  CUDA_OK(cudaMallocManaged(&q, 4096));
  CUDA_OK(cudaMallocManaged(&results, 64));
  CUDA_OK(cudaMallocManaged(&next, sizeof(int)));
  CUDA_OK(cudaMallocManaged(&nodes, 200 * sizeof(Node)));
  int sum = 0;
  for (int i = 0; i < n; ++i) sum += data[i] = i * 7919 % 1000;

  sort<<<1, 1>>>(data, 0, n - 1, 0);
  CUDA_OK(cudaDeviceSynchronize());
  std::printf("sorted: %d\n", std::is_sorted(data, data + n));

  *next = 1;
  nodes[0].low = 0;
  nodes[0].high = n;
  build<<<1, 1>>>(data, nodes, next, nodes);
  CUDA_OK(cudaDeviceSynchronize());
  std::printf("tree: %d nodes, sum right: %d\n", *next, nodes[0].sum == sum);

  p[128] = 5;
  ordered<<<1, 32>>>(p, q, results);
  fill<<<1, 1>>>(q + 200, q[0] * 0 + 9); // after the children, too
  CUDA_OK(cudaDeviceSynchronize());
  std::printf("ordered: %td %td %d\n", std::count(p, p + 128, 6), std::count(q, q + 128, 12), p[128]);
  std::printf("errors: %d %d %d, device and warp: %d\n", results[0], results[1], results[2], results[3]);

  *results = 0;
  twice<5><<<1, 1>>>(results);
  CUDA_OK(cudaDeviceSynchronize());
  by_pointer<<<1, 1>>>(p);
  CUDA_OK(cudaDeviceSynchronize());
  std::printf("templates: %d, pointer: %d\n", *results, p[31]);

  results[0] = results[1] = 0;
  deeper<<<1, 1>>>(results, results + 1);
  CUDA_OK(cudaDeviceSynchronize());
  std::printf("depth: %d, then %s\n", results[0], cudaGetErrorName(static_cast<cudaError_t>(results[1])));
}
