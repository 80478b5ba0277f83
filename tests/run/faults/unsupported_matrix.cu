// Sparse multiplications by a warpgroup are present in one kernel and executed in another: only the execution is reported, as Heddle's gap.
//@ exercises: [SCOPE]: unsupported instructions fail when executed, never when merely present
//@ flags: -gencode=arch=compute_90a,code=[sm_90a,compute_90a]
//@ exit: 3
//@ expect: error\[unsupported\].*sparse wgmma
#include <cuda_runtime.h>

#include <cstdio>

__global__ void fine(int* out) { *out = 5; }

__global__ void multiply() {
  asm volatile("{ .reg .b32 e; .reg .b64 m; .reg .f32 d0, d1, d2, d3; .reg .pred p;\n"
               "mov.b32 e, 0; mov.b64 m, 0; mov.f32 d0, 0f00000000; mov.f32 d1, d0; mov.f32 d2, d0;\n"
               "mov.f32 d3, d0; setp.eq.b32 p, e, 1;\n"
               "wgmma.mma_async.sp.sync.aligned.m64n8k32.f32.f16.f16 {d0, d1, d2, d3}, m, m, e, 0, p, 1, 1, 0, 0; }");
}

int main() {
  int *out, host = 0;
  cudaMalloc(&out, 4096);
  fine<<<1, 1>>>(out);
  cudaMemcpy(&host, out, sizeof host, cudaMemcpyDeviceToHost);
  std::printf("%d\n", host);
  std::fflush(stdout);
  multiply<<<1, 128>>>();
  cudaDeviceSynchronize();
}
