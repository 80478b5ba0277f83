// Which calls fail after a trap in a kernel, and with which code.
//@ exercises: EXEC.STICKY: sticky errors, what still works, cudaDeviceReset afterwards
//@ exit: 1
//@ expect: error\[(trap)\]
#include "after_fault.h"

#include <cassert>

__device__ char bytes[8];

__global__ void fail() {
  __trap();
}

int main() {
  fail<<<1, 1>>>();
  after_fault();
}
