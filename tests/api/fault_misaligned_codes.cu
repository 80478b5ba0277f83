// Which calls fail after a misaligned access in a kernel, and with which code.
//@ exercises: EXEC.STICKY: sticky errors, what still works, cudaDeviceReset afterwards
//@ exit: 1
//@ expect: error\[(misaligned)\]
#include "after_fault.h"

#include <cassert>

__device__ __align__(8) char bytes[8];

__global__ void fail() {
  *reinterpret_cast<int*>(bytes + 1) = 1;
}

int main() {
  fail<<<1, 1>>>();
  after_fault();
}
