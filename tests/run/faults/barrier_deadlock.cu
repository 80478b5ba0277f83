// Two warps wait at two different barriers that each needs the other.
//@ exercises: [BAR-6] / [HANG-DEADLOCK]: the run ends with a report of who waits where
//@ exit: 1
//@ expect: error\[(deadlock|barrier-divergence)\]
#include <cuda_runtime.h>

__global__ void run() {
  if (threadIdx.x < 32) {
    asm volatile("bar.sync 1, 64;");
  } else {
    asm volatile("bar.sync 2, 64;");
  }
}

int main() {
  run<<<1, 64>>>();
  cudaDeviceSynchronize();
}
