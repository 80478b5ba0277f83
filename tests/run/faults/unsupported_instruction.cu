// An instruction that Heddle does not implement is present in one kernel and executed in another: only the execution is reported, as Heddle's gap.
//@ exercises: [SCOPE]: unsupported instructions fail when executed, never when merely present
//@ exit: 3
//@ expect: error\[unsupported\].*multimem
#include <cuda_runtime.h>

#include <cstdio>

__global__ void fine(int* out) { *out = 5; }

__global__ void add(int* everywhere) {
  asm volatile("multimem.red.relaxed.sys.global.add.u32 [%0], 1;" ::"l"(everywhere) : "memory");
}

int main() {
  int *out, host = 0;
  cudaMalloc(&out, 4096);
  fine<<<1, 1>>>(out);
  cudaMemcpy(&host, out, sizeof host, cudaMemcpyDeviceToHost);
  std::printf("%d\n", host);
  std::fflush(stdout);
  add<<<1, 32>>>(out);
  cudaDeviceSynchronize();
}
