// Execution.Model.Stream.0 of the CUDA C++ execution model.
//
// May hang: some device thread makes progress, but it may always be the one of `second`, which then
// never leaves its loop: `second` may starve `first`.
//
// Changed: the flag is passed by reference, because device code must not name a host variable;
// cudaHostRegister takes its flags explicitly.
//@ verdict: may-hang
//@ finding: starvation API
//@ names: while (flag.load
//@ names: cudaDeviceSynchronize
//@ names: flag.store(1
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
  cudaStream_t s0, s1;
  cudaStreamCreate(&s0);
  cudaStreamCreate(&s1);
  first<<<1, 1, 0, s0>>>(flag);
  second<<<1, 1, 0, s1>>>(flag);
  return cudaDeviceSynchronize();
}
