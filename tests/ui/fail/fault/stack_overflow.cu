//@ command: run
__device__ __noinline__ int recurse(int n) {
  volatile int a[64];
  a[n & 63] = n;
  return n == 0 ? 0 : recurse(n - 1) + a[n & 63]; //~ ERROR stack-overflow
}

__global__ void kernel(int* p, int n) {
  *p = recurse(n);
}

int main() {
  int* p = nullptr;
  cudaMalloc(&p, sizeof(int));
  kernel<<<1, 1>>>(p, 1000000);
  cudaDeviceSynchronize();
  return 0;
}
