// [API-ARGS]: wrong arguments get the documented codes, and nothing else happens.
//@ command: run
#include <cstdio>

__global__ void kernel() {}

#define SHOW(call) std::printf("%-45s %s\n", #call, cudaGetErrorName(call))

int main() {
  void* p = nullptr;
  SHOW(cudaMalloc(nullptr, 4));
  SHOW(cudaMemcpy(&p, &p, 4, static_cast<cudaMemcpyKind>(17)));
  SHOW(cudaSetDevice(99));
  SHOW((kernel<<<1, 2048>>>(), cudaGetLastError()));
  SHOW((kernel<<<0, 1>>>(), cudaGetLastError()));
  SHOW(cudaDeviceSynchronize());
  return 0;
}
