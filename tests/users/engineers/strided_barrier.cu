#include <cstdio>
// The last round of the loop is for some threads only.
__global__ void sums(const int* in, int* out, int n) {
  __shared__ int s[64];
  int total = 0;
#ifdef RIGHT
  for (int base = 0; base < n; base += blockDim.x) {
    int i = base + threadIdx.x;
    s[threadIdx.x] = i < n ? in[i] : 0;
#else
  for (int i = threadIdx.x; i < n; i += blockDim.x) {
    s[threadIdx.x] = in[i];
#endif
    __syncthreads();  //~ barrier-divergence
    total += s[threadIdx.x ^ 1];
    __syncthreads();
  }
  out[threadIdx.x] = total;
}
int main() {
  const int n = 96;
  int h[n], *in, *out;
  for (int i = 0; i < n; ++i) h[i] = i;
  cudaMalloc(&in, sizeof h);
  cudaMalloc(&out, 64 * sizeof(int));
  cudaMemcpy(in, h, sizeof h, cudaMemcpyHostToDevice);
  sums<<<1, 64>>>(in, out, n);
  cudaMemcpy(h, out, 64 * sizeof(int), cudaMemcpyDeviceToHost);
  printf("%d\n", h[0]);
  cudaFree(in);
  cudaFree(out);
}
