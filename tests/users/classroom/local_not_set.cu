// Exercise: row sums, with a sum that nobody sets to zero. The compiler chooses a value for it.
__global__ void sums(const float* matrix, float* out, int columns) {
#ifdef RIGHT
  float sum = 0;
#else
  float sum;
#endif
  for (int i = 0; i < columns; ++i) {
    sum += matrix[threadIdx.x * columns + i]; //~ lint
  }
  out[threadIdx.x] = sum;
}

int main() {
  float *matrix, *out;
  cudaMalloc(&matrix, 32 * 8 * sizeof(float));
  cudaMalloc(&out, 32 * sizeof(float));
  cudaMemset(matrix, 0, 32 * 8 * sizeof(float));
  sums<<<1, 32>>>(matrix, out, 8);
  cudaError_t error = cudaDeviceSynchronize();
  cudaFree(matrix);
  cudaFree(out);
  return error == cudaSuccess ? 0 : 1;
}
