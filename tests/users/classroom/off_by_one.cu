// Exercise: y = a x + y. The bound is one too far.
__global__ void saxpy(int n, float a, const float* x, float* y) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
#ifdef RIGHT
  if (i < n)
#else
  if (i <= n)
#endif
    y[i] = a * x[i] + y[i]; //~ out-of-bounds
}

int main() {
  const int n = 1000;
  float *x, *y;
  cudaMalloc(&x, n * sizeof(float));
  cudaMalloc(&y, n * sizeof(float));
  cudaMemset(x, 0, n * sizeof(float));
  cudaMemset(y, 0, n * sizeof(float));
  saxpy<<<4, 256>>>(n, 2, x, y);
  cudaError_t error = cudaDeviceSynchronize();
  cudaFree(x);
  cudaFree(y);
  return error == cudaSuccess ? 0 : 1;
}
