// Execution.Model.API.3 of the CUDA C++ execution model.
//
// May hang: as API.2; one query may answer "not ready" and oblige nothing, only repeated ones do.
//
// Changed: the flag is passed by reference, because device code must not name a host variable;
// cudaHostRegister takes its flags explicitly.
//@ verdict: may-hang
//@ finding: starvation QUERY
//@ names: while (flag.load() == 0)
//@ names: flag.store(1)
#include <cuda/atomic>

cuda::atomic<int, cuda::thread_scope_system> flag = 0;
__global__ void producer(cuda::atomic<int, cuda::thread_scope_system>& flag) { flag.store(1); }
int main() {
  cudaHostRegister(&flag, sizeof(flag), cudaHostRegisterDefault);
  producer<<<1, 1>>>(flag);
  (void)cudaStreamQuery(0);
  while (flag.load() == 0);
  return cudaDeviceSynchronize();
}
