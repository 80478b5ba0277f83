// A spin lock within a warp: ends under every schedule of independent threads, hangs in lockstep.
//
//@ case:
//@ flags: --warps=independent
//@ verdict: terminates
//@ case:
//@ flags: --warps=both
//@ verdict: may-hang
//@ finding: livelock SIMT-LIVENESS
#include <cuda/atomic>

__device__ cuda::atomic<int, cuda::thread_scope_device> lock;
__device__ int counter;

__global__ void increment() {
  while (lock.exchange(1) != 0) {
  }
  counter = counter + 1;
  lock.store(0);
}

int main() {
  increment<<<1, 2>>>();
  return cudaDeviceSynchronize();
}
