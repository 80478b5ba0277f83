// What compute-sanitizer's synccheck sees, in a plain run: a barrier that part of the block goes around.
//@ command: run
//@ compare: no
__global__ void k(int* p) {
  if (threadIdx.x < 40) {
    __syncthreads(); //~ ERROR barrier-divergence barrier in divergent code
  }
  p[threadIdx.x] = 1;
}

int main() {
  int* p = nullptr;
  cudaMalloc(&p, 64 * sizeof(int));
  k<<<1, 64>>>(p);
  return cudaDeviceSynchronize() == cudaSuccess ? 0 : 1;
}
