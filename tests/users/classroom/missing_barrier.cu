// Exercise: the sum of a block, as a tree. Each round needs what the round before has written.
#include <cstdio>

__global__ void sum(const int* in, int* out) {
  __shared__ int s[256];
  int t = threadIdx.x;
  s[t] = in[t];
  __syncthreads();
  for (int d = blockDim.x / 2; d > 0; d /= 2) {
    if (t < d) s[t] += s[t + d]; //~ data-race
#ifdef RIGHT
    __syncthreads();
#endif
  }
  if (t == 0) *out = s[0];
}

int main() {
  int host[256], result = 0;
  for (int& x : host) x = 1;
  int *in, *out;
  cudaMalloc(&in, sizeof host);
  cudaMalloc(&out, sizeof(int));
  cudaMemcpy(in, host, sizeof host, cudaMemcpyHostToDevice);
  sum<<<1, 256>>>(in, out);
  cudaMemcpy(&result, out, sizeof(int), cudaMemcpyDeviceToHost);
  std::printf("sum: %d\n", result);
  cudaFree(in);
  cudaFree(out);
  return 0;
}
