#include <cstdio>
__global__ void produce(int* v) { v[threadIdx.x] = threadIdx.x; }
__global__ void consume(const int* v, int* w) { w[threadIdx.x] = v[threadIdx.x] + 1; }  //~ data-race
int main() {
  int *v, *w, h[64];
  cudaStream_t s, t;
  cudaStreamCreate(&s);
  cudaStreamCreate(&t);
  cudaMalloc(&v, sizeof h);
  cudaMalloc(&w, sizeof h);
  cudaMemset(v, 0, sizeof h);
  cudaDeviceSynchronize();
  produce<<<1, 64, 0, s>>>(v);
#ifdef RIGHT
  cudaEvent_t e;
  cudaEventCreate(&e);
  cudaEventRecord(e, s);
  cudaStreamWaitEvent(t, e, 0);
#endif
  consume<<<1, 64, 0, t>>>(v, w);
  cudaDeviceSynchronize();
  cudaMemcpy(h, w, sizeof h, cudaMemcpyDeviceToHost);
  printf("%d\n", h[1]);
  cudaFree(v);
  cudaFree(w);
  cudaStreamDestroy(s);
  cudaStreamDestroy(t);
}
