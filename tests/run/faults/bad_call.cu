// Calls through a function pointer that is no function.
//@ exercises: [EXEC-CALL]
//@ exit: 1
//@ expect: error\[bad-call\]
#include <cuda_runtime.h>

using Function = int (*)(int);
__device__ Function table[2];

__global__ void call(int* out) { *out = table[threadIdx.x](3); }

int main() {
  int* out;
  cudaMalloc(&out, 4);
  call<<<1, 1>>>(out);
  cudaDeviceSynchronize();
}
