// A host that polls a flag and calls nothing
// A launch alone promises nothing: the kernel need not start before the host waits for it by a call.
// gallery: check; expect: may-hang
#include <cuda/atomic>

#include <new>

using Flag = cuda::atomic<int, cuda::thread_scope_system>;

__global__ void set(Flag* flag) {
  flag->store(1);
}

int main() {
  Flag* flag;
  cudaMallocManaged(&flag, sizeof(Flag));
  new (flag) Flag(0);
  set<<<1, 1>>>(flag);
  while (flag->load() == 0) {
  }
  return cudaDeviceSynchronize();
}
