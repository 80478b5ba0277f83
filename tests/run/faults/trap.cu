// One thread of many executes trap.
//@ exercises: [EXEC-TRAP]: coordinates of the thread
//@ exit: 1
//@ expect: trap\.cu:11:\d+: error\[trap\]
//@ expect: thread \(5,1,0\)
//@ expect: block \(2,0,0\)
#include <cuda_runtime.h>

__global__ void run() {
  if (threadIdx.x == 5 && threadIdx.y == 1 && blockIdx.x == 2) {
    __trap();
  }
}

int main() {
  run<<<4, dim3(8, 2)>>>();
  cudaDeviceSynchronize();
}
