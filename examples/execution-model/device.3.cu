// Execution.Model.Device.3 of the CUDA C++ execution model.
//
// May hang: device threads have no host.threads.5 for objects of automatic storage duration
// (device.threads.4).
//
// Changed: main launches the kernel.
//@ verdict: may-hang
//@ finding: no-progress-loop LOOP
//@ names: True.load()
//@ names: cudaDeviceSynchronize
#include <cuda/atomic>

__global__ void ex3() {
  cuda::atomic<bool, cuda::thread_scope_thread> True = true;
  while (True.load());
}

int main() {
  ex3<<<1, 1>>>();
  return (int)cudaDeviceSynchronize();
}
