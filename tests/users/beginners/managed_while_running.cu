#include <cstdio>
__global__ void add(int* v) { v[threadIdx.x] += 1; }
int main() {
  int* v;
  cudaMallocManaged(&v, 32 * sizeof(int));
  for (int i = 0; i < 32; ++i) v[i] = i;
  add<<<1, 32>>>(v);
#ifdef RIGHT
  cudaDeviceSynchronize();
#endif
  v[0] = 100;  //~ data-race
  add<<<1, 32>>>(v);
  cudaDeviceSynchronize();
  printf("%d\n", v[0]);
  cudaFree(v);
}
