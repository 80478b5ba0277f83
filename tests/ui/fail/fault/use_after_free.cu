//@ command: run
__global__ void store(int* p) {
  *p = 1; //~ ERROR use-after-free
}

int main() {
  int* p = nullptr;
  int* q = nullptr;
  cudaMalloc(&p, sizeof(int));
  cudaFree(p);
  cudaMalloc(&q, sizeof(int)); // addresses are not used again
  store<<<1, 1>>>(p);
  cudaDeviceSynchronize();
  return 0;
}
