// Shared memory of a kernel in Python that is not Triton's (numba): it is the user's own, unlike that of holders.cu.
#include "cases.h"

template <bool right> __global__ void of_numba(int* out) {
  __shared__ int held[16];
  if (!right || threadIdx.x < 16) {
#line 1 "kernel.py"
    held[threadIdx.x % 16] = static_cast<int>(threadIdx.x);
#line 10 "python_lines.cu"
  }
  __syncthreads();
  out[threadIdx.x] = held[threadIdx.x % 16];
}
CASE(line_of_numba, "data-race") { of_numba<right><<<1, 32>>>(device_memory<int>(32)); }
