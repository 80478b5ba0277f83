// A binary that holds machine code only.
//@ exercises: the message says what to change in the compilation
//@ flags: -gencode arch=compute_90,code=sm_90
//@ exit: 2
//@ expect: only SASS .* no PTX; build with -arch=sm_90
#include <cuda_runtime.h>

__global__ void run() {}

int main() {
  run<<<1, 1>>>();
  return cudaDeviceSynchronize() != cudaSuccess;
}
