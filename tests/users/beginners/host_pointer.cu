#include <cstdio>
#include <cstdlib>
__global__ void add(const int* a, int* b, int n) {
  int i = threadIdx.x;
  if (i < n) b[i] = a[i] + 1;  //~ host-memory
}
int main() {
  const int n = 64;
  int* h = (int*)malloc(n * sizeof(int));
  for (int i = 0; i < n; ++i) h[i] = i;
  int *a, *b;
  cudaMalloc(&a, n * sizeof(int));
  cudaMalloc(&b, n * sizeof(int));
  cudaMemcpy(a, h, n * sizeof(int), cudaMemcpyHostToDevice);
#ifdef RIGHT
  add<<<1, n>>>(a, b, n);
#else
  add<<<1, n>>>(h, b, n);
#endif
  cudaMemcpy(h, b, n * sizeof(int), cudaMemcpyDeviceToHost);
  printf("%d\n", h[5]);
  cudaFree(a);
  cudaFree(b);
  free(h);
}
