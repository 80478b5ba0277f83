// When copies take effect: pageable sources may be reused at once, pinned ones are read later, copies
// between device memories do not hold up the host.
//@ exercises: cudaMemcpyAsync of pageable and pinned memory, cudaMemset and device-to-device cudaMemcpy behind a busy stream
#include <cstdio>
#include <cuda_runtime.h>

__global__ void until(volatile int* flag) {
  while (*flag == 0) {
  }
}

int main() {
  volatile int* flag;
  int *pinned, *a, *b;
  cudaMallocHost((void**)&flag, 4);
  cudaMallocHost(&pinned, 4);
  cudaMalloc(&a, 4);
  cudaMalloc(&b, 4);
  cudaStream_t s;
  cudaStreamCreate(&s);

  *flag = 0;
  int pageable = 7;
  until<<<1, 1, 0, s>>>(flag);
  cudaMemcpyAsync(a, &pageable, 4, cudaMemcpyHostToDevice, s);
  pageable = 8;
  *pinned = 1;
  cudaMemcpyAsync(b, pinned, 4, cudaMemcpyHostToDevice, s);
  *pinned = 2; // before the copy, which waits for the kernel
  std::printf("%s\n", cudaGetErrorName(cudaStreamQuery(s)));
  *flag = 1;
  int result[2];
  cudaMemcpyAsync(result, a, 4, cudaMemcpyDeviceToHost, s);
  cudaMemcpyAsync(result + 1, b, 4, cudaMemcpyDeviceToHost, s);
  cudaStreamSynchronize(s);
  std::printf("pageable %d, pinned %d\n", result[0], result[1]);

  *flag = 0;
  until<<<1, 1>>>(flag);
  cudaMemset(a, 0x11, 4);
  cudaMemcpy(b, a, 4, cudaMemcpyDeviceToDevice);
  std::printf("%s\n", cudaGetErrorName(cudaStreamQuery(0)));
  *flag = 1;
  cudaMemcpy(result, b, 4, cudaMemcpyDeviceToHost);
  std::printf("%x %s\n", result[0], cudaGetErrorName(cudaDeviceSynchronize()));
}
