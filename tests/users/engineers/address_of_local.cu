#include <cstdio>
struct Settings { int n; float scale; };
#ifdef RIGHT
__global__ void apply(float* v, Settings s) { if (threadIdx.x < s.n) v[threadIdx.x] = s.scale; }
#else
__global__ void apply(float* v, const Settings* s) { if (threadIdx.x < s->n) v[threadIdx.x] = s->scale; }  //~ host-memory
#endif
int main() {
  Settings settings{32, 2.5f};
  float *d, h[32];
  cudaMalloc(&d, sizeof h);
  cudaMemset(d, 0, sizeof h);
#ifdef RIGHT
  apply<<<1, 32>>>(d, settings);
#else
  apply<<<1, 32>>>(d, &settings);
#endif
  cudaMemcpy(h, d, sizeof h, cudaMemcpyDeviceToHost);
  printf("%g\n", h[0]);
  cudaFree(d);
}
