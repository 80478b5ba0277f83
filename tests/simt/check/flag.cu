// One lane of a warp waits for a flag that another lane sets. With independent threads it always
// ends; a lockstep warp decides by which side of the branch goes first, whichever way the source is
// written and the compiler lays it out.
//
//@ case: waiting-first
//@ flags: --warps=independent
//@ verdict: terminates
//@ case: waiting-last
//@ flags: --warps=independent
//@ verdict: terminates
//@ case: swapped
//@ flags: --warps=independent
//@ verdict: terminates
//@ case: many
//@ flags: --warps=independent
//@ verdict: terminates
//@ case: waiting-first
//@ flags: --warps=lockstep
//@ verdict: may-hang
//@ finding: livelock SIMT-LIVENESS
//@ case: waiting-last
//@ flags: --warps=lockstep
//@ verdict: may-hang
//@ finding: livelock SIMT-LIVENESS
//@ case: swapped
//@ flags: --warps=lockstep
//@ verdict: may-hang
//@ finding: livelock SIMT-LIVENESS
//@ case: many
//@ flags: --warps=lockstep
//@ verdict: may-hang
//@ finding: livelock SIMT-LIVENESS
// Another layout of the same code.
//@ case: waiting-first
//@ nvcc: -G
//@ flags: --warps=lockstep
//@ verdict: may-hang
//@ finding: livelock SIMT-LIVENESS
//@ case: swapped
//@ nvcc: -G
//@ flags: --warps=lockstep
//@ verdict: may-hang
//@ finding: livelock SIMT-LIVENESS
// Between two warps it is as with independent threads.
//@ case: two-warps
//@ flags: --warps=lockstep
//@ verdict: terminates
// Both modes, and what is in one only.
//@ case: waiting-first
//@ flags: --warps=both
//@ verdict: may-hang
//@ finding: livelock SIMT-LIVENESS
#include <cstring>

__device__ volatile int flag;
__device__ int done;

/// The lane `waits` waits, the other ones set the flag; all go on together behind that.
__global__ void meet(int waits) {
  if (threadIdx.x == waits) {
    while (flag == 0) {
    }
    atomicAdd(&done, 1);
  } else {
    flag = 1;
    atomicAdd(&done, 2);
  }
  atomicAdd(&done, 4);
}

/// The same, written the other way round.
__global__ void swapped(int waits) {
  if (threadIdx.x != waits) {
    flag = 1;
    atomicAdd(&done, 2);
  } else {
    while (flag == 0) {
    }
    atomicAdd(&done, 1);
  }
  atomicAdd(&done, 4);
}

__global__ void warps() {
  if (threadIdx.x == 0) {
    while (flag == 0) {
    }
  } else if (threadIdx.x == 32) {
    flag = 1;
  }
}

int main(int argc, char** argv) {
  const auto is = [argv](const char* word) { return std::strcmp(argv[1], word) == 0; };
  if (is("two-warps")) {
    warps<<<1, 64>>>();
  } else if (is("swapped")) {
    swapped<<<1, 2>>>(0);
  } else {
    meet<<<1, is("many") ? 8 : 2>>>(is("waiting-last") ? 1 : 0);
  }
  return cudaDeviceSynchronize() != cudaSuccess;
}
