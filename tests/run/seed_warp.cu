// The lanes of a warp race for a word of shared memory, in a block whose rows are half a warp. With --seed, compiled
// code gives them the order that they have without it: each instruction by all of them.
//@ exercises: --seed, compiled code of parts of a warp
//@ heddle: --seed 3 --jit=always
//@ hardware: a data race; on a GPU the outcome may be another one
#include <cstdio>

__global__ void exchange(int* result) {
  __shared__ int place[32];
  const int thread = threadIdx.y * 16 + threadIdx.x;
  place[thread] = thread + 1;
  asm volatile("" ::: "memory");
  result[thread] = place[31 - thread];
}

int main() {
  int* result = nullptr;
  cudaMallocManaged(&result, 32 * sizeof(int));
  for (int round = 0; round < 3; ++round) {
    exchange<<<1, dim3(16, 2)>>>(result);
    cudaDeviceSynchronize();
    int sum = 0;
    for (int i = 0; i < 32; ++i) sum += result[i] == 32 - i;
    printf("%d lanes read what their partners wrote\n", sum);
  }
}
