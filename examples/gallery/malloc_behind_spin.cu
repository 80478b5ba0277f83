// A flag that the host sets behind a call that may wait
// The kernel spins until the host writes the flag. cudaMalloc in between may wait for the kernel.
// gallery: check; expect: may-hang
#include <cuda/atomic>

#include <new>

using Flag = cuda::atomic<int, cuda::thread_scope_system>;

__global__ void wait_for(Flag* flag) {
  while (flag->load() == 0) {
  }
}

int main() {
  Flag* flag;
  cudaMallocManaged(&flag, sizeof(Flag));
  new (flag) Flag(0);
  wait_for<<<1, 1>>>(flag);
  void* buffer;
  cudaMalloc(&buffer, 1024);
  flag->store(1);
  return cudaDeviceSynchronize();
}
