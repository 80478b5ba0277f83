// Execution.Model.API.4: the host spins on a flag of the device and calls a query function in its loop.
//@ exercises: [QUERY], [HOST]: the outcome "terminates"
//@ seeds: 1 2 3 4
#include <cuda/atomic>

#include <cstdio>

cuda::atomic<int, cuda::thread_scope_system> flag = 0;

// The document names the host variable in the kernel; nvcc wants its address as an argument.
__global__ void producer(cuda::atomic<int, cuda::thread_scope_system>* flag) { flag->store(1); }

int main() {
  cudaHostRegister(&flag, sizeof(flag), cudaHostRegisterDefault);
  producer<<<1, 1>>>(&flag);
  while (flag.load() == 0) {
    (void)cudaStreamQuery(0);
  }
  cudaError_t status = cudaDeviceSynchronize();
  std::printf("%s %d\n", cudaGetErrorName(status), flag.load());
  return static_cast<int>(status);
}
