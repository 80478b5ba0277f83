// A spin lock that the lanes of one warp take. In lockstep it hangs, whatever goes first, if the
// lane that has it waits for the others behind the loop; released inside of the loop, the way out
// of that time, it ends; one lane for each warp is as with independent threads.
//
//@ case: behind 2
//@ flags: --warps=independent
//@ verdict: terminates
//@ case: behind 8
//@ flags: --warps=independent
//@ verdict: terminates
//@ case: inside 2
//@ flags: --warps=independent
//@ verdict: terminates
//@ case: inside 8
//@ flags: --warps=independent
//@ verdict: terminates
//@ case: behind 1
//@ flags: --warps=lockstep
//@ verdict: terminates
//@ case: behind 2
//@ flags: --warps=lockstep
//@ verdict: may-hang
//@ finding: livelock SIMT-LIVENESS
//@ case: behind 32
//@ flags: --warps=lockstep
//@ verdict: may-hang
//@ finding: livelock SIMT-LIVENESS
//@ case: inside 2
//@ flags: --warps=lockstep
//@ verdict: terminates
//@ case: inside 8
//@ flags: --warps=lockstep
//@ verdict: terminates
//@ case: leaders 64
//@ flags: --warps=lockstep
//@ verdict: terminates
// Another layout of the same code.
//@ case: behind 2
//@ nvcc: -G
//@ flags: --warps=lockstep
//@ verdict: may-hang
//@ finding: livelock SIMT-LIVENESS
//@ case: inside 2
//@ nvcc: -G
//@ flags: --warps=lockstep
//@ verdict: terminates
#include <cstdlib>
#include <cstring>

__device__ int lock;
__device__ volatile int counter;

__global__ void behind() {
  while (atomicCAS(&lock, 0, 1) != 0) {
  }
  counter = counter + 1;
  __threadfence();
  atomicExch(&lock, 0);
}

__global__ void inside() {
  for (bool done = false; !done;) {
    if (atomicCAS(&lock, 0, 1) == 0) {
      counter = counter + 1;
      __threadfence();
      atomicExch(&lock, 0);
      done = true;
    }
  }
}

__global__ void leaders() {
  if (threadIdx.x % 32 == 0) {
    while (atomicCAS(&lock, 0, 1) != 0) {
    }
    counter = counter + 1;
    __threadfence();
    atomicExch(&lock, 0);
  }
}

int main(int argc, char** argv) {
  const int threads = std::atoi(argv[2]);
  if (std::strcmp(argv[1], "behind") == 0) {
    behind<<<1, threads>>>();
  } else if (std::strcmp(argv[1], "inside") == 0) {
    inside<<<1, threads>>>();
  } else {
    leaders<<<1, threads>>>();
  }
  return cudaDeviceSynchronize() != cudaSuccess;
}
