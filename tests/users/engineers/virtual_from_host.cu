#include <cstdio>
#include <new>
struct Shape {
  __host__ __device__ virtual float area() const = 0;
};
struct Square : Shape {
  float side = 3;
  __host__ __device__ float area() const override { return side * side; }
};
__global__ void make(Square* s) { new (s) Square; }
__global__ void measure(const Shape* s, float* out) { *out = s->area(); }  //~ host-memory
int main() {
  Square *d, h;
  float *out, area = 0;
  cudaMalloc(&d, sizeof h);
  cudaMalloc(&out, sizeof(float));
#ifdef RIGHT
  make<<<1, 1>>>(d);
#else
  cudaMemcpy((void*)d, &h, sizeof h, cudaMemcpyHostToDevice);
#endif
  measure<<<1, 1>>>(d, out);
  cudaMemcpy(&area, out, sizeof area, cudaMemcpyDeviceToHost);
  printf("%g %g\n", area, h.area());
  cudaFree(d);
  cudaFree(out);
}
