#include <cstdio>
#include <thrust/device_vector.h>
__global__ void twice(int* v, int n) { int i = threadIdx.x; if (i < n) v[i] *= 2; }  //~ out-of-bounds
int main() {
  thrust::device_vector<int> v(40, 3);
#ifdef RIGHT
  twice<<<1, 64>>>(thrust::raw_pointer_cast(v.data()), v.size());
#else
  twice<<<1, 64>>>(thrust::raw_pointer_cast(v.data()), 64);
#endif
  printf("%d\n", (int)v[5]);
}
