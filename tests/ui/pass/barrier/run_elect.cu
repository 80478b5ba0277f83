// The masks of elect.sync name those who come: half of a warp, all of it, and all but lanes that have left early.
//@ command: run
//@ args: --nvcc=-arch=sm_90
__device__ int elected(unsigned mask) {
  int result = 0;
  asm volatile("{ .reg .pred p; elect.sync _|p, %1; selp.b32 %0, 1, 0, p; }" : "=r"(result) : "r"(mask));
  return result;
}
__global__ void k(int* p) {
  if (threadIdx.x < 16 && elected(0xffff)) {
    p[32] = 1;
  }
  p[threadIdx.x] = elected(0xffffffff);
}
__global__ void early(int* p) {
  if (threadIdx.x >= 16) {
    return;
  }
  p[threadIdx.x] = elected(0xffffffff);
}

int main() {
  int* p = nullptr;
  cudaMalloc(&p, 33 * sizeof(int));
  k<<<1, 32>>>(p);
  early<<<1, 32>>>(p);
  return cudaDeviceSynchronize() == cudaSuccess ? 0 : 1;
}
