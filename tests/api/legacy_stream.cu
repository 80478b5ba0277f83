// The legacy default stream waits for blocking streams and they for it; non-blocking streams do neither.
//@ exercises: implicit order of the default stream, cudaStreamNonBlocking, cudaStreamWaitEvent, events
//@ seeds: 1 2 3
#include <cstdio>
#include <cuda_runtime.h>

__global__ void store(int* to, int value, int delay) {
  for (volatile int i = 0; i < delay; ++i) {
  }
  *to = value;
}
__global__ void load(const int* from, int* to) { *to = *from; }
__global__ void until(volatile int* flag) {
  while (*flag == 0) {
  }
}

int main() {
  int *cell, *seen;
  volatile int* flag;
  cudaMallocManaged(&cell, 4);
  cudaMallocManaged(&seen, 64);
  cudaMallocHost((void**)&flag, 4);
  cudaStream_t a, b, aside;
  cudaStreamCreate(&a);
  cudaStreamCreate(&b);
  cudaStreamCreateWithFlags(&aside, cudaStreamNonBlocking);
  for (int round = 0; round < 4; ++round) {
    *cell = 0;
    store<<<1, 1, 0, a>>>(cell, 1, 2000);
    load<<<1, 1>>>(cell, seen + 0);          // the default stream waits for a
    store<<<1, 1>>>(cell, 2, 2000);
    load<<<1, 1, 0, b>>>(cell, seen + 1);    // b waits for the default stream
    cudaDeviceSynchronize();
    std::printf("%d %d\n", seen[0], seen[1]);
  }
  // A stream that stands aside runs while the default stream is busy.
  *flag = 0;
  until<<<1, 1>>>(flag);
  store<<<1, 1, 0, aside>>>(cell, 3, 0);
  std::printf("aside %s, ", cudaGetErrorName(cudaStreamSynchronize(aside)));
  std::printf("value %d, ", *cell);
  std::printf("default %s\n", cudaGetErrorName(cudaStreamQuery(0)));
  *flag = 1;
  // Explicit order through an event, also after the event is destroyed.
  cudaEvent_t e;
  cudaEventCreateWithFlags(&e, cudaEventDisableTiming);
  store<<<1, 1, 0, aside>>>(cell, 4, 5000);
  cudaEventRecord(e, aside);
  cudaStreamWaitEvent(b, e, 0);
  cudaEventDestroy(e);
  load<<<1, 1, 0, b>>>(cell, seen + 2);
  cudaStreamSynchronize(b);
  std::printf("after the event %d\n", seen[2]);
  cudaStreamDestroy(a);
  cudaStreamDestroy(b);
  cudaStreamDestroy(aside);
  std::printf("%s\n", cudaGetErrorName(cudaDeviceSynchronize()));
}
