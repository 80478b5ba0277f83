#include <cstdio>
struct Matrix { int n; float* data; };
__global__ void clear(Matrix* m) { m->data[threadIdx.x] = 0; }  //~ host-memory
int main() {
  Matrix h{32, nullptr}, *d;
#ifdef RIGHT
  cudaMalloc(&h.data, 32 * sizeof(float));
#else
  h.data = new float[32];
#endif
  cudaMalloc(&d, sizeof h);
  cudaMemcpy(d, &h, sizeof h, cudaMemcpyHostToDevice);
  clear<<<1, 32>>>(d);
  printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
#ifdef RIGHT
  cudaFree(h.data);
#else
  delete[] h.data;
#endif
  cudaFree(d);
}
