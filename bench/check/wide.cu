// Blocks of many threads, for searches with --memory=ptx: wide.cu last|sum BLOCKS THREADS
#include <cstdlib>
#include <cstring>
#include <cuda_runtime.h>

constexpr int most_threads = 1024, most_blocks = 8;
__device__ unsigned count;
__device__ int in[most_blocks * most_threads], parts[most_blocks], total;

// The CUDA guide's pattern: the block that comes last adds up what all have left.
__global__ void last() {
  __shared__ bool is_last;
  if (threadIdx.x == 0) {
    parts[blockIdx.x] = blockIdx.x + 1;
  }
  __threadfence();
  __syncthreads();
  if (threadIdx.x == 0) {
    is_last = atomicInc(&count, gridDim.x - 1) == gridDim.x - 1;
  }
  __syncthreads();
  if (is_last && threadIdx.x == 0) {
    __threadfence();
    int sum = 0;
    for (unsigned i = 0; i < gridDim.x; ++i) {
      sum += parts[i];
    }
    total = sum;
  }
}

// A tree in shared memory, with a barrier for each of its levels.
__global__ void sum() {
  __shared__ int values[most_threads];
  const unsigned t = threadIdx.x;
  values[t] = in[blockIdx.x * blockDim.x + t];
  __syncthreads();
  for (unsigned half = blockDim.x / 2; half != 0; half /= 2) {
    if (t < half) {
      values[t] += values[t + half];
    }
    __syncthreads();
  }
  if (t == 0) {
    parts[blockIdx.x] = values[0];
  }
}

int main(int argc, char** argv) {
  if (argc != 4) {
    return 2;
  }
  const int blocks = std::atoi(argv[2]), threads = std::atoi(argv[3]);
  if (std::strcmp(argv[1], "last") == 0) {
    last<<<blocks, threads>>>();
  } else {
    sum<<<blocks, threads>>>();
  }
  return cudaDeviceSynchronize() != cudaSuccess;
}
