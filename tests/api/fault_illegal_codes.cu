// Which calls fail after an access out of bounds in a kernel, and with which code.
//@ exercises: EXEC.STICKY: sticky errors, what still works, cudaDeviceReset afterwards
//@ exit: 1
//@ expect: error\[(out-of-bounds|null)\]
#include "after_fault.h"

#include <cassert>

__device__ char bytes[8];

__global__ void fail() {
  *reinterpret_cast<int*>(0x100) = 1;
}

int main() {
  fail<<<1, 1>>>();
  after_fault();
}
