// Exercise: a histogram. Two threads may count in the same bin.
__global__ void histogram(const unsigned char* in, int n, int* bins) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
#ifdef RIGHT
    atomicAdd(&bins[in[i]], 1);
#else
    bins[in[i]] += 1; //~ data-race
#endif
  }
}

int main() {
  const int n = 1024;
  unsigned char host[n];
  for (int i = 0; i < n; ++i) host[i] = i % 7;
  unsigned char* in;
  int* bins;
  cudaMalloc(&in, n);
  cudaMalloc(&bins, 256 * sizeof(int));
  cudaMemset(bins, 0, 256 * sizeof(int));
  cudaMemcpy(in, host, n, cudaMemcpyHostToDevice);
  histogram<<<n / 256, 256>>>(in, n, bins);
  cudaDeviceSynchronize();
  cudaFree(in);
  cudaFree(bins);
  return 0;
}
