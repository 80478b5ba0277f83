// Exercise 2: a reversal through shared memory, with the barrier in a branch.
__global__ void reverse(int* data, int n) {
  __shared__ int copy[64];
  int i = threadIdx.x;
  if (i < n) {
    copy[i] = data[i];
    __syncthreads();
    data[i] = copy[n - 1 - i];
  } else {
    __syncthreads();
  }
}

int main() {
  int* data;
  cudaMalloc(&data, 64 * sizeof(int));
  cudaMemset(data, 0, 64 * sizeof(int));
  reverse<<<1, 64>>>(data, 40);
  return cudaDeviceSynchronize() == cudaSuccess ? 0 : 1;
}
