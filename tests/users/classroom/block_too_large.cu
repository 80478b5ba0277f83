// Exercise: one thread for each element, all in one block.
__global__ void fill(int* data, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) data[i] = i;
}

int main() {
  const int n = 5000;
  int* data;
  cudaMalloc(&data, n * sizeof(int));
#ifdef RIGHT
  fill<<<(n + 255) / 256, 256>>>(data, n);
#else
  fill<<<1, n>>>(data, n); //~ api-misuse
#endif
  cudaDeviceSynchronize();
  cudaFree(data);
  return 0;
}
