// Both halves of the block come to a barrier, but not to the same one.
//@ command: run
//@ args: --seed=0
//@ compare: no
__global__ void k(int* p) {
  if (threadIdx.x < 32) {
    __syncthreads();
    p[threadIdx.x] = 1;
  } else {
    __syncthreads(); //~ ERROR barrier-divergence barrier in divergent code
    p[threadIdx.x] = 2;
  }
}

int main() {
  int* p = nullptr;
  cudaMalloc(&p, 64 * sizeof(int));
  k<<<1, 64>>>(p);
  return cudaDeviceSynchronize() == cudaSuccess ? 0 : 1;
}
