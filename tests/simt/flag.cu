// One lane waits for a flag that another lane of its warp sets. Which side of the branch the
// compiler lets go first decides whether a lockstep warp ends.
//
//@ exercises: waiting within a warp, --warps=lockstep: hangs if the side that waits goes first
//@ args: waiting-first
//@ heddle: --warps=lockstep
//@ exit: 1
//@ expect: error\[livelock\]
//@ expect: thread \(0,0,0\) of block \(0,0,0\) of kernel '.*': spins \(
//@ expect: thread \(1,0,0\) of block \(0,0,0\) of kernel '.*': has had no turn since the branch at .*flag\.cu:\d+ .*: lanes 0x00000001 of its warp go first.*SIMT-LIVENESS
//@ hardware: it hangs on a GPU of that time
#include <cstdio>
#include <cstring>

__device__ volatile int flag;
__device__ int done;

/// The lane `waits` waits, the other one sets the flag; both go on together behind that.
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

int main(int argc, char** argv) {
  // The machine lets the side of the lowest lane go first.
  const int waits = std::strcmp(argv[1], "waiting-first") == 0 ? 0 : 1;
  meet<<<1, 2>>>(waits);
  if (cudaDeviceSynchronize() != cudaSuccess) {
    return 1;
  }
  int result = 0;
  cudaMemcpyFromSymbol(&result, done, sizeof result);
  std::printf("%d\n", result);
}
