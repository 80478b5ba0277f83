// Tensor-core instructions are present in one kernel and executed in another: only the execution is reported, as Heddle's gap.
//@ exercises: [SCOPE]: unsupported instructions fail when executed, never when merely present
//@ exit: 3
//@ expect: error\[unsupported\]
#include <cuda_fp16.h>
#include <cuda_runtime.h>
#include <mma.h>

#include <cstdio>

__global__ void fine(int* out) { *out = 5; }

__global__ void multiply(const half* a, const half* b, float* c) {
  using namespace nvcuda::wmma;
  fragment<matrix_a, 16, 16, 16, half, row_major> x;
  fragment<matrix_b, 16, 16, 16, half, col_major> y;
  fragment<accumulator, 16, 16, 16, float> z;
  fill_fragment(z, 0.0f);
  load_matrix_sync(x, a, 16);
  load_matrix_sync(y, b, 16);
  mma_sync(z, x, y, z);
  store_matrix_sync(c, z, 16, mem_row_major);
}

int main() {
  int *out, host = 0;
  cudaMalloc(&out, 4096);
  fine<<<1, 1>>>(out);
  cudaMemcpy(&host, out, sizeof host, cudaMemcpyDeviceToHost);
  std::printf("%d\n", host);
  std::fflush(stdout);
  half* matrices;
  cudaMalloc(&matrices, 4096);
  multiply<<<1, 32>>>(matrices, matrices + 256, reinterpret_cast<float*>(out));
  cudaDeviceSynchronize();
}
