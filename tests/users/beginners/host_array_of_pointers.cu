#include <cstdio>
__global__ void fill(int** rows) { rows[blockIdx.x][threadIdx.x] = threadIdx.x; }  //~ host-memory
int main() {
  int* rows[4];
  for (int i = 0; i < 4; ++i) cudaMalloc(&rows[i], 32 * sizeof(int));
#ifdef RIGHT
  int** d;
  cudaMalloc(&d, sizeof rows);
  cudaMemcpy(d, rows, sizeof rows, cudaMemcpyHostToDevice);
  fill<<<4, 32>>>(d);
#else
  fill<<<4, 32>>>(rows);
#endif
  int h[32];
  cudaError_t e = cudaMemcpy(h, rows[2], sizeof h, cudaMemcpyDeviceToHost);
  printf("%s %d\n", cudaGetErrorString(e), h[9]);
  for (int i = 0; i < 4; ++i) cudaFree(rows[i]);
#ifdef RIGHT
  cudaFree(d);
#endif
}
