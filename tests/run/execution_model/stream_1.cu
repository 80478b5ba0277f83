// Execution.Model.Stream.1: the kernel that spins follows the one that sets the flag in the same stream.
//@ exercises: [DEP]: the outcome "terminates"
//@ seeds: 1 2 3 4
#include <cuda/atomic>

#include <cstdio>

cuda::atomic<int, cuda::thread_scope_system> flag = 0;

__global__ void first(cuda::atomic<int, cuda::thread_scope_system>* flag) { flag->store(1, cuda::memory_order_relaxed); }
__global__ void second(cuda::atomic<int, cuda::thread_scope_system>* flag) {
  while (flag->load(cuda::memory_order_relaxed) == 0) {
  }
}

int main() {
  cudaHostRegister(&flag, sizeof(flag), cudaHostRegisterDefault);
  cudaStream_t s0;
  cudaStreamCreate(&s0);
  first<<<1, 1, 0, s0>>>(&flag);
  second<<<1, 1, 0, s0>>>(&flag);
  cudaError_t status = cudaDeviceSynchronize();
  std::printf("%s %d\n", cudaGetErrorName(status), flag.load());
  return static_cast<int>(status);
}
