// The mask of elect.sync names lanes that never come.
//@ command: run
//@ args: --nvcc=-arch=sm_90
//@ compare: no
__global__ void k(int* p) {
  if (threadIdx.x < 16) {
    int elected = 0;
    asm volatile("{ .reg .pred p; elect.sync _|p, 0xffffffff; selp.b32 %0, 1, 0, p; }" : "=r"(elected)); //~ ERROR warp-mask its mask names lane 16 too
    p[32] = elected;
  }
  p[threadIdx.x] = 1;
}

int main() {
  int* p = nullptr;
  cudaMalloc(&p, 33 * sizeof(int));
  k<<<1, 32>>>(p);
  return cudaDeviceSynchronize() == cudaSuccess ? 0 : 1;
}
