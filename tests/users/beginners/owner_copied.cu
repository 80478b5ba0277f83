#include <cstdio>
struct Vector {
  int* data;
  int size;
  explicit Vector(int n) : size(n) { cudaMalloc(&data, n * sizeof(int)); }
#ifdef RIGHT
  __host__ __device__ Vector(const Vector& o) : data(o.data), size(o.size), owner(false) {}
  bool owner = true;
  ~Vector() { if (owner) cudaFree(data); }
#else
  ~Vector() { cudaFree(data); }
#endif
};
__global__ void fill(Vector v) { if (threadIdx.x < v.size) v.data[threadIdx.x] = 3; }  //~ use-after-free
int main() {
  Vector v(32);
  fill<<<1, 32>>>(v);
  int h[32];
  cudaMemcpy(h, v.data, sizeof h, cudaMemcpyDeviceToHost);  //~ use-after-free
  printf("%d\n", h[31]);
}  //~ double-free
