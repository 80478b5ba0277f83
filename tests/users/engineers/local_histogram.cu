#include <cstdio>
__global__ void digits(const int* in, int* out, int n) {
  int count[8] = {};
  for (int i = threadIdx.x; i < n; i += blockDim.x) {
#ifdef RIGHT
    if (in[i] < 8) ++count[in[i]];
#else
    ++count[in[i]];  //~ out-of-bounds
#endif
  }
  for (int k = 0; k < 8; ++k) atomicAdd(&out[k], count[k]);
}
int main() {
  int h[64], *in, *out;
  for (int i = 0; i < 64; ++i) h[i] = i % 9;
  cudaMalloc(&in, sizeof h);
  cudaMalloc(&out, 8 * sizeof(int));
  cudaMemcpy(in, h, sizeof h, cudaMemcpyHostToDevice);
  cudaMemset(out, 0, 8 * sizeof(int));
  digits<<<1, 16>>>(in, out, 64);
  cudaMemcpy(h, out, 8 * sizeof(int), cudaMemcpyDeviceToHost);
  printf("%d\n", h[0]);
  cudaFree(in);
  cudaFree(out);
}
