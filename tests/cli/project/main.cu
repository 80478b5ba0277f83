#include "signal.h"

#include <cstring>

void wait_on_host(volatile int* flag);

__global__ void wait_kernel(volatile int* flag) {
  while (*flag == 0) {
  }
}

int main(int, char** arguments) {
  int* flag = nullptr;
  cudaMallocManaged(&flag, sizeof(int));
  *flag = 0;
  cudaStream_t first, second;
  cudaStreamCreate(&first);
  cudaStreamCreate(&second);
  if (std::strcmp(arguments[1], "host") == 0) {
    raise(flag, first);
    wait_on_host(flag); // nothing obliges the kernel to start
  } else {
    raise(flag, first);
    wait_kernel<<<1, 1, 0, std::strcmp(arguments[1], "ordered") == 0 ? first : second>>>(flag);
  }
  return cudaDeviceSynchronize();
}
