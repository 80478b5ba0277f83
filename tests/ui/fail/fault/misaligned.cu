//@ command: run
__global__ void read(const char* p, int* out) {
  *out = *reinterpret_cast<const int*>(p + 2); //~ ERROR misaligned
}

int main() {
  char* p = nullptr;
  int* out = nullptr;
  cudaMalloc(&p, 64);
  cudaMalloc(&out, sizeof(int));
  read<<<1, 1>>>(p, out);
  cudaDeviceSynchronize();
  return 0;
}
