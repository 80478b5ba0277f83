#include <cstdio>
__device__ int lock;
__device__ int counter;
__global__ void count() {
  if (threadIdx.x != 0) return;
  while (atomicCAS(&lock, 0, 1) != 0) {}  //~ data-race
#ifdef RIGHT
  __threadfence();
  counter = counter + 1;
  __threadfence();
  atomicExch(&lock, 0);
#else
  counter = counter + 1;  //~ data-race
  lock = 0;  //~ data-race
#endif
}
int main() {
  count<<<2, 32>>>();
  int h;
  cudaMemcpyFromSymbol(&h, counter, sizeof h);
  printf("%d\n", h);
}
