#include <cstdio>
#include <thrust/device_vector.h>
__global__ void twice(int* v, int n) { int i = threadIdx.x; if (i < n) v[i] *= 2; }  //~ use-after-free
int main() {
  thrust::device_vector<int> v(32, 1);
  int* raw = thrust::raw_pointer_cast(v.data());
  v.resize(4096, 1);
#ifdef RIGHT
  raw = thrust::raw_pointer_cast(v.data());
#endif
  twice<<<1, 32>>>(raw, 32);
  printf("%d\n", (int)v[0]);
}
