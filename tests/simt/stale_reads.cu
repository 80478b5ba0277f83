// Plain reads of global memory in a lockstep machine with a cache that nobody keeps up to date.
//
//@ exercises: --stale-reads: a block sees an old value until a fence; volatile and atomic reads do
//             not; nor does the next kernel
//@ heddle: --warps=lockstep --stale-reads
//@ hardware: the values that a stale cache gives
#include <cstdio>

__device__ int data, seen[5];
__device__ volatile int turn;

__global__ void blocks() {
  int* plain = &data;
  if (blockIdx.x == 0) {
    seen[0] = *plain;
    turn = 1;
    while (turn != 2) {
    }
    asm volatile("ld.global.u32 %0, [%1];" : "=r"(seen[1]) : "l"(plain) : "memory"); // stale
    seen[2] = *(volatile int*)plain;
    seen[3] = atomicAdd(plain, 0);
    asm volatile("" ::: "memory");
    __threadfence();
    asm volatile("ld.global.u32 %0, [%1];" : "=r"(seen[4]) : "l"(plain) : "memory");
  } else {
    while (turn != 1) {
    }
    *plain = 42;
    turn = 2;
  }
}

__global__ void again(int* result) { *result = data; }

int main() {
  blocks<<<2, 1>>>();
  int values[5], *result, last = 0;
  cudaMemcpyFromSymbol(values, seen, sizeof values);
  std::printf("%d %d %d %d %d\n", values[0], values[1], values[2], values[3], values[4]);
  cudaMalloc(&result, sizeof last);
  again<<<1, 1>>>(result);
  cudaMemcpy(&last, result, sizeof last, cudaMemcpyDeviceToHost);
  std::printf("%d\n", last);
}
