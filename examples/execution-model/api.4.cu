// Execution.Model.API.4 of the CUDA C++ execution model.
//
// Terminates: as API.3, but queries repeated for ever make some device thread progress.
//
// Changed: the flag is passed by reference, because device code must not name a host variable;
// cudaHostRegister takes its flags explicitly.
//@ verdict: terminates
//@ rests-on: QUERY
#include <cuda/atomic>

cuda::atomic<int, cuda::thread_scope_system> flag = 0;
__global__ void producer(cuda::atomic<int, cuda::thread_scope_system>& flag) { flag.store(1); }
int main() {
  cudaHostRegister(&flag, sizeof(flag), cudaHostRegisterDefault);
  producer<<<1, 1>>>(flag);
  while (flag.load() == 0) {
    (void)cudaStreamQuery(0);
  }
  return cudaDeviceSynchronize();
}
