// A spin lock that every thread of a warp takes: ends with independent threads, hangs in lockstep.
//
//@ exercises: a lock within a warp, --warps=lockstep: the lane with the lock waits at the
//             reconvergence point for the lanes that spin
//@ heddle: --warps=lockstep
//@ exit: 1
//@ expect: error\[livelock\]
//@ expect: 30 more: spins
//@ expect: thread \(0,0,0\) of block \(0,0,0\) of kernel '.*': waits at the reconvergence point of the branch at .*spin_lock\.cu:17 .* for lanes 0xfffffffe of its warp.*SIMT-LIVENESS
//@ hardware: it hangs on a GPU of that time
#include <cstdio>

__device__ int lock, counter;

__global__ void increment() {
  // The loop ends with the branch; behind it is the reconvergence point.
  while (atomicCAS(&lock, 0, 1) != 0) {
  }
  counter = counter + 1;
  __threadfence();
  atomicExch(&lock, 0);
}

int main() {
  increment<<<1, 32>>>();
  return cudaDeviceSynchronize() != cudaSuccess;
}
