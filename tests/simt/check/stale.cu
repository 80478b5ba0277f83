// A block that has read a place keeps on reading what it has seen, until a fence: with the cache of
// the old machine it waits for ever, though the value has been there all the time.
//
//@ case: plain
//@ flags: --warps=lockstep
//@ verdict: terminates
//@ case: fence
//@ flags: --warps=lockstep
//@ verdict: terminates
//@ case: plain
//@ flags: --warps=lockstep --stale-reads
//@ verdict: may-hang
//@ finding: no-progress-loop LOOP
//@ case: fence
//@ flags: --warps=lockstep --stale-reads
//@ verdict: terminates
//@ case: volatile
//@ flags: --warps=lockstep --stale-reads
//@ verdict: terminates
#include <cstring>

__device__ int data, sink;
__device__ volatile int turn;

__device__ int plain_read(const int* p) {
  int value;
  asm volatile("ld.global.u32 %0, [%1];" : "=r"(value) : "l"(p) : "memory");
  return value;
}

__global__ void blocks(int how) {
  if (blockIdx.x == 0) {
    sink = plain_read(&data);
    turn = 1;
    while (turn != 2) {
    }
    for (;;) {
      const int seen = how == 2 ? *(volatile int*)&data : plain_read(&data);
      if (seen != 0) {
        break;
      }
      if (how == 1) {
        __threadfence();
      }
    }
  } else {
    while (turn != 1) {
    }
    data = 42;
    turn = 2;
  }
}

int main(int, char** argv) {
  int how = std::strcmp(argv[1], "plain") == 0 ? 0 : std::strcmp(argv[1], "fence") == 0 ? 1 : 2;
  void* arguments[] = {&how};
  cudaLaunchCooperativeKernel((const void*)blocks, 2, 1, arguments, 0, nullptr);
  return cudaDeviceSynchronize() != cudaSuccess;
}
