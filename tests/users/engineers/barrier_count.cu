#include <cstdio>
#include <cuda/barrier>
__global__ void step(int* v) {
  __shared__ cuda::barrier<cuda::thread_scope_block> barrier;
#ifdef RIGHT
  if (threadIdx.x == 0) init(&barrier, blockDim.x);
#else
  if (threadIdx.x == 0) init(&barrier, blockDim.x + 1);
#endif
  __syncthreads();
  v[threadIdx.x] = threadIdx.x;
  barrier.arrive_and_wait();  //~ livelock
  v[threadIdx.x] += v[(threadIdx.x + 1) % blockDim.x];
}
int main() {
  int h[32], *d;
  cudaMalloc(&d, sizeof h);
  step<<<1, 1>>>(d);
  cudaMemcpy(h, d, sizeof(int), cudaMemcpyDeviceToHost);
  printf("%d\n", h[0]);
  cudaFree(d);
}
