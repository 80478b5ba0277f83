// Data races and uninitialised memory in one run (--races --uninitialised): each monitor sees what it sees alone, of what
// the other one looks at, too; also where the host reads what it has copied.
//@ find: together
//@ nvcc: -std=c++20
#include "cases.h"

#include <cooperative_groups.h>

#include <vector>

constexpr int n = 128;

template <class T> T* unwritten_memory(size_t count) {
  T* p = nullptr;
  must(cudaMalloc(&p, count * sizeof(T)));
  return p;
}

template <bool right> __global__ void both(int* out) {
  __shared__ int count;
  __shared__ int tile[n];
  if (right && threadIdx.x == 0) count = 0;
  if (right) __syncthreads();
  atomicAdd(&count, 1);
  tile[threadIdx.x] = threadIdx.x;
  if (right) __syncthreads();
  out[threadIdx.x] = tile[n - 1 - threadIdx.x] * 2;
  __syncthreads();
  if (threadIdx.x == 0) out[0] = count;
}
CASE(two_findings, "error.uninitialised.(.|\\n)*atomicAdd(.|\\n)*error.data-race.|error.data-race.(.|\\n)*error.uninitialised.(.|\\n)*atomicAdd") {
  both<right><<<1, n>>>(device_memory<int>(n));
}

/// Long enough to be compiled.
template <bool right> __global__ void rounds(const float* in, float* out, int count) {
  __shared__ float s[n];
  float sum = 0;
  for (int k = 0; k < count; ++k) {
    s[threadIdx.x] = in[threadIdx.x] + k;
    __syncthreads();
    sum += s[(threadIdx.x + 1) % n] * s[(threadIdx.x + 33) % n];
    if (right) __syncthreads();
  }
  out[threadIdx.x] = sum;
}
CASE(race_in_a_long_loop, "error.data-race.(.|\\n)*k < count|error.data-race.(.|\\n)*different rounds") {
  rounds<right><<<1, n>>>(device_memory<float>(n), unwritten_memory<float>(n), 3000);
}
CASE(unwritten_in_a_long_loop, "error.uninitialised.") {
  auto* in = right ? device_memory<float>(n) : unwritten_memory<float>(n);
  must(cudaMemset(in, 0, sizeof(float)));
  rounds<true><<<1, n>>>(in, device_memory<float>(n), 3000);
}

template <bool right> __global__ void __cluster_dims__(2, 1, 1) neighbours(int* out) {
  namespace cg = cooperative_groups;
  __shared__ int mine[32];
  auto cluster = cg::this_cluster();
  if (right || cluster.block_rank() == 0) mine[threadIdx.x] = threadIdx.x;
  cluster.sync();
  int* theirs = cluster.map_shared_rank(mine, 1 - cluster.block_rank());
  out[blockIdx.x * 32 + threadIdx.x] = theirs[threadIdx.x] + 1;
  cluster.sync();
}
CASE(shared_memory_of_a_neighbour, "error.uninitialised.(.|\\n)*theirs") {
  neighbours<right><<<2, 32>>>(device_memory<int>(64));
}

template <bool right> __global__ void lanes(int* out) {
  int value = out[threadIdx.x];
  if (threadIdx.x < 16) out[threadIdx.x + 16] = value + 1;
  if (right) __syncwarp();
  out[threadIdx.x + 32] = right ? 0 : out[31 - threadIdx.x];
}
CASE(race_of_lanes, "error.data-race.") {
  if (right) lanes<true><<<1, 16>>>(device_memory<int>(64));
  else lanes<false><<<1, 32>>>(device_memory<int>(64));
}

__global__ void square(int* out, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) out[i] = i * i;
}
static int add_up(const std::vector<int>& host) {
  int sum = 0;
  for (size_t i = 0; i < host.size(); ++i) sum += host[i];
  return sum;
}
CASE(host_adds_up_what_nobody_wrote, "host code uses a copy of uninitialised device memory(.|\\n)*sum .= host") {
  auto* out = unwritten_memory<int>(1000);
  square<<<right ? 4 : 3, 256>>>(out, 1000);
  std::vector<int> host(1000);
  must(cudaMemcpy(host.data(), out, 1000 * sizeof(int), cudaMemcpyDeviceToHost));
  volatile int result = add_up(host);
  static_cast<void>(result);
}
CASE(host_reads_what_it_has_written_itself, "host code uses a copy of uninitialised device memory") {
  auto* out = unwritten_memory<int>(64);
  square<<<1, 32>>>(out, 64);
  std::vector<int> host(64);
  must(cudaMemcpy(host.data(), out, 64 * sizeof(int), cudaMemcpyDeviceToHost));
  for (int i = 32; right && i < 64; ++i) host[i] = 0;
  std::vector<int> copy = host; // a copy is no use
  volatile int last = right ? copy[63] : host[63];
  static_cast<void>(last);
}
