// An indirect call to two functions, one of which waits for the other: in lockstep it hangs if the
// function that waits is entered first, whichever lanes call it ([SIMT-CALL-DIVERGE]).
//
//@ case: 0
//@ flags: --warps=independent
//@ verdict: terminates
//@ case: 0
//@ flags: --warps=lockstep
//@ verdict: may-hang
//@ finding: livelock SIMT-LIVENESS
//@ case: 1
//@ flags: --warps=lockstep
//@ verdict: may-hang
//@ finding: livelock SIMT-LIVENESS
//@ case: 2
//@ flags: --warps=both
//@ verdict: terminates
#include <cstdlib>

using Function = void (*)(int*);

__device__ __noinline__ void wait(int* flag) {
  while (atomicAdd(flag, 0) == 0) {
  }
}
__device__ __noinline__ void set(int* flag) {
  atomicExch(flag, 1);
}
__device__ __noinline__ void nothing(int*) {}

__device__ Function functions[3][2] = {{wait, set}, {set, wait}, {set, nothing}};

__global__ void call(int* flag, int which) {
  functions[which][threadIdx.x](flag);
}

int main(int, char** arguments) {
  int* flag;
  cudaMalloc(&flag, sizeof *flag);
  cudaMemset(flag, 0, sizeof *flag);
  call<<<1, 2>>>(flag, std::atoi(arguments[1]));
  return cudaDeviceSynchronize() != cudaSuccess;
}
