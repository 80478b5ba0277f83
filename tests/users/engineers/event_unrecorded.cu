#include <cstdio>
__global__ void produce(int* v) { v[threadIdx.x] = threadIdx.x; }
__global__ void consume(const int* v, int* w) { w[threadIdx.x] = v[threadIdx.x] + 1; }  //~ data-race
int main() {
  int *v, *w, h[64];
  cudaStream_t s, t;
  cudaEvent_t e;
  cudaStreamCreate(&s);
  cudaStreamCreate(&t);
  cudaEventCreate(&e);
  cudaMalloc(&v, sizeof h);
  cudaMalloc(&w, sizeof h);
  cudaMemset(v, 0, sizeof h);
  cudaDeviceSynchronize();
  produce<<<1, 64, 0, s>>>(v);
#ifdef RIGHT
  cudaEventRecord(e, s);
#endif
  cudaStreamWaitEvent(t, e, 0);
  consume<<<1, 64, 0, t>>>(v, w);
  cudaDeviceSynchronize();
  cudaMemcpy(h, w, sizeof h, cudaMemcpyDeviceToHost);
  printf("%d\n", h[1]);
  cudaEventDestroy(e);
  cudaStreamDestroy(s);
  cudaStreamDestroy(t);
  cudaFree(v);
  cudaFree(w);
}
