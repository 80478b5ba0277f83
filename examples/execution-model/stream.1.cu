// Execution.Model.Stream.1 of the CUDA C++ execution model.
//
// Terminates: as Stream.0, but stream order makes `second` wait for the completion of `first`.
//
// Changed: the flag is passed by reference, because device code must not name a host variable;
// cudaHostRegister takes its flags explicitly.
//@ verdict: terminates
//@ rests-on: API DEP
#include <cuda/atomic>

cuda::atomic<int, cuda::thread_scope_system> flag = 0;
__global__ void first(cuda::atomic<int, cuda::thread_scope_system>& flag) {
  flag.store(1, cuda::memory_order_relaxed);
}
__global__ void second(cuda::atomic<int, cuda::thread_scope_system>& flag) {
  while (flag.load(cuda::memory_order_relaxed) == 0) {}
}
int main() {
  cudaHostRegister(&flag, sizeof(flag), cudaHostRegisterDefault);
  cudaStream_t s0;
  cudaStreamCreate(&s0);
  first<<<1, 1, 0, s0>>>(flag);
  second<<<1, 1, 0, s0>>>(flag);
  return cudaDeviceSynchronize();
}
