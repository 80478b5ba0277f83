// Two locks, taken in two orders
// Block 0 takes lock 0 and then lock 1; block 1 takes them the other way round. If each block holds its
// first lock, both spin forever. A cooperative launch does not help: all blocks run, and none advances.
// gallery: check; expect: may-hang
#include <cooperative_groups.h>
#include <cuda/atomic>

__device__ int locks[2];

__device__ void acquire(int which) {
  cuda::atomic_ref<int, cuda::thread_scope_device> lock(locks[which]);
  while (lock.exchange(1) != 0) {
  }
}
__device__ void release(int which) {
  cuda::atomic_ref<int, cuda::thread_scope_device>(locks[which]).store(0);
}

__global__ void transfer() {
  const int first = blockIdx.x;
  acquire(first);
  acquire(1 - first);
  release(1 - first);
  release(first);
}

int main() {
  cudaLaunchCooperativeKernel(transfer, dim3(2), dim3(1), nullptr);
  return cudaDeviceSynchronize();
}
