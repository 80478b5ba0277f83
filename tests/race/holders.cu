// A program of Triton that holds a value several times stores it several times, from all lanes that hold it: where a sum
// is contracted, these differ in the last digit. Nobody but Triton's compiler accesses the memory that it calls
// global_smem. A user's own shared memory is another matter, whatever it is called, and in Python (numba), too.
//@ find: inside
#include "cases.h"

extern __shared__ float global_smem[];

// Lanes 16 apart have the same value; they add products in another order.
template <bool right> __global__ void moves_a_sum(const float* x, const float* y, float* out) {
  const unsigned held = threadIdx.x % 16;
  const float product = x[held] * y[held];
  const float sum = fmaf(x[held], y[held], __shfl_xor_sync(~0u, product, 16)) + (threadIdx.x / 16) * 1e-3f;
  if (!right || threadIdx.x < 16) {
#line 1 "kernel.py"
    global_smem[held] = sum;
#line 20 "holders.cu"
  }
  __syncthreads();
  out[threadIdx.x] = global_smem[threadIdx.x % 16];
}
CASE(moves_a_sum, "1 data race inside code of NVIDIA's libraries or Triton") {
  moves_a_sum<right><<<1, 32, 64>>>(device_memory<float>(16), device_memory<float>(16), device_memory<float>(32));
}
