//@ command: run
struct Pair {
  int first, second;
};

__global__ void store(Pair* p) {
  p->second = 1; //~ ERROR null
}

int main() {
  store<<<1, 1>>>(nullptr);
  cudaDeviceSynchronize();
  return 0;
}
