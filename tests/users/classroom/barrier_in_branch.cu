// Exercise: a reversal through shared memory, with the barrier in a branch.
__global__ void reverse(int* data, int n) {
  __shared__ int copy[64];
  int i = threadIdx.x;
#ifdef RIGHT
  if (i < n) copy[i] = data[i];
  __syncthreads();
  if (i < n) data[i] = copy[n - 1 - i];
#else
  if (i < n) {
    copy[i] = data[i];
    __syncthreads(); //~ barrier-divergence
    data[i] = copy[n - 1 - i];
  }
#endif
}

int main() {
  int* data;
  cudaMalloc(&data, 64 * sizeof(int));
  cudaMemset(data, 0, 64 * sizeof(int));
  reverse<<<1, 64>>>(data, 40);
  cudaError_t error = cudaDeviceSynchronize();
  cudaFree(data);
  return error == cudaSuccess ? 0 : 1;
}
