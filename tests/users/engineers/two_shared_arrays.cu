#include <cstdio>
__global__ void stage(const int* in, int* out) {
  extern __shared__ int memory[];
  int* left = memory;
  int* right = memory + blockDim.x;
  left[threadIdx.x] = in[threadIdx.x];
  right[threadIdx.x] = in[threadIdx.x] * 2;  //~ out-of-bounds
  __syncthreads();
  out[threadIdx.x] = left[threadIdx.x] + right[blockDim.x - 1 - threadIdx.x];
}
int main() {
  int h[64], *in, *out;
  for (int i = 0; i < 64; ++i) h[i] = i;
  cudaMalloc(&in, sizeof h);
  cudaMalloc(&out, sizeof h);
  cudaMemcpy(in, h, sizeof h, cudaMemcpyHostToDevice);
#ifdef RIGHT
  stage<<<1, 64, 2 * 64 * sizeof(int)>>>(in, out);
#else
  stage<<<1, 64, 64 * sizeof(int)>>>(in, out);
#endif
  cudaMemcpy(h, out, sizeof h, cudaMemcpyDeviceToHost);
  printf("%d\n", h[0]);
  cudaFree(in);
  cudaFree(out);
}
