// One thread of each warp behind the end would do; the report names the first and counts the others.
//@ command: run
__global__ void fill(int* p) {
  p[threadIdx.x + blockIdx.x * blockDim.x] = 1; //~ ERROR out-of-bounds write of 4 bytes
}

int main() {
  int* p = nullptr;
  cudaMalloc(&p, 100 * sizeof(int));
  fill<<<2, 64>>>(p);
  cudaDeviceSynchronize();
  return 0;
}
