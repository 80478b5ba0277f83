#include <cstdio>
__global__ void count(const int* in, int* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
#ifdef RIGHT
  unsigned mask = __ballot_sync(0xffffffff, i < n);
#endif
  if (i < n) {
#ifdef RIGHT
    unsigned votes = __ballot_sync(mask, in[i] > 0);
    if ((threadIdx.x & 31) == 0) atomicAdd(out, __popc(votes));
#else
    unsigned votes = __ballot_sync(0xffffffff, in[i] > 0);
    if ((threadIdx.x & 31) == 0) *out += __popc(votes);  //~ data-race
#endif
  }
}
int main() {
  const int n = 100;
  int h[n], *a, *b;
  for (int i = 0; i < n; ++i) h[i] = i % 2;
  cudaMalloc(&a, sizeof h);
  cudaMalloc(&b, 4);
  cudaMemcpy(a, h, sizeof h, cudaMemcpyHostToDevice);
  cudaMemset(b, 0, 4);
  count<<<1, 128>>>(a, b, n);
  cudaMemcpy(h, b, 4, cudaMemcpyDeviceToHost);
  printf("%d\n", h[0]);
  cudaFree(a);
  cudaFree(b);
}
