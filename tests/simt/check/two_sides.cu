// Lanes that part and do not wait for each other: ends however warps go.
//
//@ flags: --warps=both
//@ verdict: terminates
__global__ void count(int* p) {
  if (threadIdx.x < 3) {
    atomicAdd(p, 1);
  } else {
    atomicAdd(p, 2);
  }
}

int main() {
  int* p;
  cudaMalloc(&p, sizeof *p);
  cudaMemset(p, 0, sizeof *p);
  count<<<1, 5>>>(p);
  return cudaDeviceSynchronize();
}
