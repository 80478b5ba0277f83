// lint-options: --arch=sm_90 -- -Xcompiler -fopenmp
// The header lies in gcc's own folder.
#include <omp.h>
#ifndef _OPENMP
#error "-fopenmp defines it"
#endif
__global__ void add(int* p, int by) { p[blockIdx.x * blockDim.x + threadIdx.x] += by; }
int work(int* p) {
  int threads = 0;
#pragma omp parallel num_threads(4) reduction(+ : threads)
  {
    add<<<1, 128>>>(p + 128 * omp_get_thread_num(), 1);
    threads += 1;
  }
  return threads + omp_get_max_threads();
}
