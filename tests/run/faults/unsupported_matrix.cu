// Sparse tensor-core instructions are present in one kernel and executed in another: only the execution is reported, as Heddle's gap.
//@ exercises: [SCOPE]: unsupported instructions fail when executed, never when merely present
//@ exit: 3
//@ expect: error\[unsupported\]
#include <cuda_runtime.h>

#include <cstdio>

__global__ void fine(int* out) { *out = 5; }

__global__ void multiply() {
  asm volatile("{ .reg .b32 a, e; .reg .f32 d0, d1, d2, d3, z;\n"
               "mov.b32 a, 0; mov.b32 e, 0; mov.f32 z, 0f00000000;\n"
               "mma.sp::ordered_metadata.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32\n"
               "{d0, d1, d2, d3}, {a, a}, {a, a}, {z, z, z, z}, e, 0x0; }");
}

int main() {
  int *out, host = 0;
  cudaMalloc(&out, 4096);
  fine<<<1, 1>>>(out);
  cudaMemcpy(&host, out, sizeof host, cudaMemcpyDeviceToHost);
  std::printf("%d\n", host);
  std::fflush(stdout);
  multiply<<<1, 32>>>();
  cudaDeviceSynchronize();
}
