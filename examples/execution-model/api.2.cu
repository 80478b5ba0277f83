// Execution.Model.API.2 of the CUDA C++ execution model.
//
// May hang: cudaDeviceSynchronize is only called after a device thread has set the flag, but nothing
// obliges the producer to start before that; a launch by itself obliges nothing.
//
// Changed: the flag is passed by reference, because device code must not name a host variable;
// cudaHostRegister takes its flags explicitly.
//@ verdict: may-hang
//@ finding: starvation LAUNCH
//@ names: while (flag.load() == 0)
//@ names: flag.store(1)
#include <cuda/atomic>

cuda::atomic<int, cuda::thread_scope_system> flag = 0;
__global__ void producer(cuda::atomic<int, cuda::thread_scope_system>& flag) { flag.store(1); }
int main() {
  cudaHostRegister(&flag, sizeof(flag), cudaHostRegisterDefault);
  producer<<<1, 1>>>(flag);
  while (flag.load() == 0);
  return cudaDeviceSynchronize();
}
