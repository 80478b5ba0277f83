// The mask of __syncwarp() names lanes that never come.
//@ command: run
//@ compare: no
__global__ void k(int* p) {
  if (threadIdx.x < 16) {
    __syncwarp(); //~ ERROR warp-mask its mask names lane 16 too
  }
  p[threadIdx.x] = 1;
}

int main() {
  int* p = nullptr;
  cudaMalloc(&p, 32 * sizeof(int));
  k<<<1, 32>>>(p);
  return cudaDeviceSynchronize() == cudaSuccess ? 0 : 1;
}
