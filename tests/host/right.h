// What right.cu, right_pipelines.cu and right_threads.cu have in common: kernels, streams, memory of `count` numbers,
// and the main function, which executes the case that the first argument names.
#pragma once

#include <cuda_runtime.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>

constexpr int count = 32, bytes = count * sizeof(int);

__global__ void fill(int* to, int value) { to[threadIdx.x] = value; }
__global__ void add(int* to, const int* from) { to[threadIdx.x] += from[threadIdx.x]; }
__global__ void copy(int* to, const int* from) { to[threadIdx.x] = from[threadIdx.x]; }
__global__ void raise_flag(int* data, int* flag, int value) {
  *data = value;
  __threadfence_system();
  atomicExch_system(flag, 1);
}

inline void must(cudaError_t error) {
  if (error != cudaSuccess) {
    std::printf("%s\n", cudaGetErrorString(error));
    std::exit(2);
  }
}
template <class T = int> T* device(int n = count) {
  T* p = nullptr;
  must(cudaMalloc(&p, n * sizeof(T)));
  return p;
}
inline int* managed() {
  int* p = nullptr;
  must(cudaMallocManaged(&p, bytes));
  return p;
}
inline int* pinned() {
  int* p = nullptr;
  must(cudaMallocHost(&p, bytes));
  return p;
}
inline cudaStream_t stream(unsigned flags = cudaStreamNonBlocking) {
  cudaStream_t s = nullptr;
  must(cudaStreamCreateWithFlags(&s, flags));
  return s;
}
inline cudaEvent_t event() {
  cudaEvent_t e = nullptr;
  must(cudaEventCreateWithFlags(&e, cudaEventDisableTiming));
  return e;
}
inline bool all(const int* p, int value) {
  for (int i = 0; i < count; ++i) {
    if (p[i] != value) {
      return false;
    }
  }
  return true;
}

struct Case {
  const char* name;
  bool (*run)();
};
template <std::size_t N> int run_case(const Case (&cases)[N], int n, char** words) {
  for (const Case& one : cases) {
    if (n > 1 && std::strcmp(one.name, words[1]) == 0) {
      return one.run() ? 0 : 1;
    }
  }
  return 2;
}
