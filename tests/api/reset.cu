// cudaDeviceReset: memory is gone, variables have their initial values again, streams are dead.
//@ exercises: cudaDeviceReset and what can be done after it
#include "codes.h"

__device__ int counter = 5;
__global__ void count() { ++counter; }

int main() {
  int value = 0;
  int* p;
  count<<<1, 1>>>();
  CODE(cudaMalloc(&p, 16));
  CODE(cudaMemcpyFromSymbol(&value, counter, 4));
  std::printf("%d\n", value);
  CODE(cudaDeviceReset());
  CODE(cudaMemcpy(&value, p, 4, cudaMemcpyDeviceToHost));
  CODE(cudaMemcpyFromSymbol(&value, counter, 4));
  std::printf("%d\n", value);
  count<<<1, 1>>>();
  CODE(cudaMemcpyFromSymbol(&value, counter, 4));
  std::printf("%d\n", value);
  CODE(cudaDeviceReset());
}
