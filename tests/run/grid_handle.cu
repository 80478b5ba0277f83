// A barrier of the grid through the device runtime's functions, as code that does not come from
// cooperative_groups.h calls it (numba-cuda).
//@ exercises: cudaCGGetIntrinsicHandle, cudaCGSynchronize: blocks in three dimensions, several rounds
//@ flags: -rdc=true -lcudadevrt
//@ hardware: not recorded yet
//@ seeds: 1 2
#include "support.h"

#include <cstdio>

constexpr int blocks = 12;
constexpr int rounds = 4;

__global__ void passes_on(int* words, int* wrong) {
  const unsigned long long grid = cudaCGGetIntrinsicHandle(cudaCGScopeGrid);
  const int block = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
  for (int round = 0; round < rounds; ++round) {
    if (threadIdx.x + threadIdx.y == 0) {
      words[round * blocks + block] = block + round;
    }
    if (cudaCGSynchronize(grid, 0) != cudaSuccess) {
      atomicAdd(wrong, 1);
    }
    const int other = (block + 5) % blocks;
    if (words[round * blocks + other] != other + round) {
      atomicAdd(wrong, 1);
    }
  }
}

int main() {
  int* words = nullptr;
  int* wrong = nullptr;
  CUDA_OK(cudaMalloc(&words, rounds * blocks * sizeof(int)));
  CUDA_OK(cudaMallocManaged(&wrong, sizeof(int)));
  *wrong = 0;
  void* arguments[] = {&words, &wrong};
  CUDA_OK(cudaLaunchCooperativeKernel(passes_on, dim3(3, 2, 2), dim3(24, 2), arguments, 0, nullptr));
  CUDA_OK(cudaDeviceSynchronize());
  std::printf("wrong: %d\n", *wrong);
  return 0;
}
