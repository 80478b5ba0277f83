#include <cstdio>
#include <vector>
__global__ void histogram(const unsigned char* in, unsigned* out, int n) {
  __shared__ unsigned bins[256];
#ifdef RIGHT
  for (int b = threadIdx.x; b < 256; b += blockDim.x) bins[b] = 0;
#else
  bins[threadIdx.x] = 0;
#endif
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) atomicAdd(&bins[in[i]], 1);  //~ uninitialised
  __syncthreads();
  for (int b = threadIdx.x; b < 256; b += blockDim.x) atomicAdd(&out[b], bins[b]);  //~ uninitialised
}
int main() {
  const int n = 1000;
  std::vector<unsigned char> h(n);
  for (int i = 0; i < n; ++i) h[i] = i * 7;
  unsigned char* in;
  unsigned *out, r[256];
  cudaMalloc(&in, n);
  cudaMalloc(&out, sizeof r);
  cudaMemcpy(in, h.data(), n, cudaMemcpyHostToDevice);
  cudaMemset(out, 0, sizeof r);
  histogram<<<2, 128>>>(in, out, n);
  cudaMemcpy(r, out, sizeof r, cudaMemcpyDeviceToHost);
  printf("%u\n", r[200]);
  cudaFree(in);
  cudaFree(out);
}
