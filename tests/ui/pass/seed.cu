// [REPLAY]: with a seed the schedule is reproducible, so every run prints the same bytes.
//@ command: run
//@ args: --seed 7
#include <cstdio>

__global__ void shout(int* next) {
  const int ticket = atomicAdd(next, 1);
  if (threadIdx.x == 0) {
    printf("block %d drew %d\n", static_cast<int>(blockIdx.x), ticket);
  }
}

int main() {
  int* next = nullptr;
  cudaMalloc(&next, sizeof(int));
  cudaMemset(next, 0, sizeof(int));
  shout<<<6, 64>>>(next);
  return cudaDeviceSynchronize();
}
