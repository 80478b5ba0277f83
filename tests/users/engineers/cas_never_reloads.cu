#include <cstdio>
__global__ void maximum(int* result, const int* in) {
  int mine = in[threadIdx.x];
  int seen = *(volatile int*)result;
  while (seen < mine) {
#ifdef RIGHT
    int before = atomicCAS(result, seen, mine);
    if (before == seen) break;
    seen = before;
#else
    if (atomicCAS(result, seen, mine) == seen) break;  //~ livelock
#endif
  }
}
int main() {
  int h[2] = {3, 5}, *in, *result;
  cudaMalloc(&in, sizeof h);
  cudaMalloc(&result, sizeof(int));
  cudaMemcpy(in, h, sizeof h, cudaMemcpyHostToDevice);
  cudaMemset(result, 0, sizeof(int));
  maximum<<<1, 2>>>(result, in);
  cudaMemcpy(h, result, sizeof(int), cudaMemcpyDeviceToHost);
  printf("%d\n", h[0]);
  cudaFree(in);
  cudaFree(result);
}
