// Execution.Model.API.1: a kernel with a block barrier, waited for by cudaDeviceSynchronize.
//@ exercises: [API], [CLUSTER]: the outcome "terminates and returns cudaSuccess"
//@ seeds: 1 2 3 4
#include <cstdio>

__global__ void hello_world() { __syncthreads(); }

int main() {
  hello_world<<<1, 2>>>();
  int status = static_cast<int>(cudaDeviceSynchronize());
  std::printf("status %d\n", status);
  return status;
}
