// Races that show in some orders of a block's warps only: `--races=N` must look at others than that of
// their numbers.
//
//@ flags: --races=8
//@ case: looked-once-volatile
//@ verdict: defect
//@ finding: data-race RACE-SYNC
//@ case: looked-once-released
//@ verdict: terminates
#include "cases.h"

__device__ int data, out;
__device__ volatile int plain_flag;
__device__ cuda::atomic<int, cuda::thread_scope_block> flag;

// The reader's warp goes before the writer's in the order of their numbers, and then it does not look
// at the data.
template <bool released> __global__ void looked_once() {
  if (threadIdx.x == 32) {
    data = 1;
    if (released) {
      flag.store(1, memory_order_release);
    } else {
      plain_flag = 1;
    }
  } else if (threadIdx.x == 0 && (released ? flag.load(memory_order_acquire) : plain_flag) != 0) {
    out = data;
  }
}

template <bool released> int look_once(Setup) {
  looked_once<released><<<1, 64>>>();
  return static_cast<int>(cudaDeviceSynchronize());
}

int main(int argc, char** argv) {
  return run_case(
      argc,
      argv,
      {{"looked-once-volatile", look_once<false>}, {"looked-once-released", look_once<true>}}
  );
}
