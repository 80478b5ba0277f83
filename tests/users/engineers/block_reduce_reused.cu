#include <cstdio>
#include <cub/block/block_reduce.cuh>
__global__ void two_sums(const int* in, int* out) {
  using Reduce = cub::BlockReduce<int, 64>;
  __shared__ typename Reduce::TempStorage storage;
  int a = Reduce(storage).Sum(in[threadIdx.x]);
#ifdef RIGHT
  __syncthreads();
#endif
  int b = Reduce(storage).Sum(in[threadIdx.x] * in[threadIdx.x]);  //~ data-race
  if (threadIdx.x == 0) {
    out[0] = a;
    out[1] = b;
  }
}
int main() {
  int h[64], *in, *out;
  for (int i = 0; i < 64; ++i) h[i] = i;
  cudaMalloc(&in, sizeof h);
  cudaMalloc(&out, 2 * sizeof(int));
  cudaMemcpy(in, h, sizeof h, cudaMemcpyHostToDevice);
  two_sums<<<1, 64>>>(in, out);
  cudaMemcpy(h, out, 2 * sizeof(int), cudaMemcpyDeviceToHost);
  printf("%d %d\n", h[0], h[1]);
  cudaFree(in);
  cudaFree(out);
}
