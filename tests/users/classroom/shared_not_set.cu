// Exercise: count the even numbers of a block in shared memory, which does not begin with zero.
__global__ void count_even(const int* in, int* out) {
  __shared__ int count;
#ifdef RIGHT
  if (threadIdx.x == 0) count = 0;
  __syncthreads();
#endif
  if (in[threadIdx.x] % 2 == 0) {
    atomicAdd(&count, 1); //~ uninitialised
  }
  __syncthreads();
  if (threadIdx.x == 0) *out = count;
}

int main() {
  int host[64], result = 0;
  for (int i = 0; i < 64; ++i) host[i] = i;
  int *in, *out;
  cudaMalloc(&in, sizeof host);
  cudaMalloc(&out, sizeof(int));
  cudaMemcpy(in, host, sizeof host, cudaMemcpyHostToDevice);
  count_even<<<1, 64>>>(in, out);
  cudaMemcpy(&result, out, sizeof(int), cudaMemcpyDeviceToHost);
  cudaFree(in);
  cudaFree(out);
  return result > 64 ? 1 : 0;
}
