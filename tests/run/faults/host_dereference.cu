// The host writes through a pointer that cudaMalloc returned.
//@ exercises: [MEM-HOST]: device memory is not for the host
//@ exit: 1
//@ expect: error\[host-dereference\]
#include <cuda_runtime.h>

int main() {
  int* data;
  cudaMalloc(&data, 64);
  data[3] = 1;
}
