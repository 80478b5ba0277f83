// Threads that leave early do not hold up the others [BAR-3]; that is not divergence.
//@ command: run
__global__ void k(int* p, int n) {
  const int i = threadIdx.x;
  if (i >= n) {
    return;
  }
  p[i] = i;
  __syncthreads();
  p[i] += p[n - 1 - i];
}

int main() {
  int* p = nullptr;
  cudaMalloc(&p, 64 * sizeof(int));
  k<<<1, 64>>>(p, 40);
  return cudaDeviceSynchronize() == cudaSuccess ? 0 : 1;
}
