#include <cstdio>
// Lanes leave the loop after different numbers of rounds.
__global__ void rounds(const int* in, int* out, int n) {
  int sum = 0;
#ifdef RIGHT
  for (int base = 0; base < n; base += 32) {
    int i = base + threadIdx.x;
    int v = i < n ? in[i] : 0;
#else
  for (int i = threadIdx.x; i < n; i += 32) {
    int v = in[i];
#endif
    for (int d = 16; d > 0; d /= 2) v += __shfl_xor_sync(0xffffffff, v, d);  //~ uninitialised
    sum += v;
  }
  if (threadIdx.x == 0) *out = sum;
}
int main() {
  const int n = 40;
  int h[n], *in, *out;
  for (int i = 0; i < n; ++i) h[i] = 1;
  cudaMalloc(&in, sizeof h);
  cudaMalloc(&out, sizeof(int));
  cudaMemcpy(in, h, sizeof h, cudaMemcpyHostToDevice);
  rounds<<<1, 32>>>(in, out, n);
  cudaMemcpy(h, out, sizeof(int), cudaMemcpyDeviceToHost);
  printf("%d\n", h[0]);
  cudaFree(in);
  cudaFree(out);
}
