// Threads that ask once whether a phase of an mbarrier has completed, and do something by the answer. The
// search need not try both answers if it makes no difference which one it is: each side leads to where they
// meet, and nobody can tell which one was taken. Here one side does not, or somebody can.
//
// Thread 0 completes the phase; thread 1 asks, before or behind that. A loop that only computes is seen to be
// one after many instructions, which takes a second and, beside others, more than the default of ten.
#include "cases.h"
#include "mbarrier.h"

/// What the compiler does not see through: it ends at once if `n` is 2, and never if it is 1.
__device__ void go_round(unsigned n) {
  do {
    asm volatile("xor.b32 %0, %0, 2;" : "+r"(n));
  } while (n != 0);
}
__device__ int seen;

/// `does` is given the answer.
template <class Does> __device__ void answered(MBarrier& bar, Does does) {
  bar.begin(1);
  if (threadIdx.x == 0) {
    bar.arrive();
  } else {
    does(bar.complete(0));
  }
}

//@ case: yes-goes-round
//@ flags: --max-time=60
//@ verdict: may-hang
//@ finding: no-progress-loop LOOP
//@ case: yes-ends
//@ verdict: terminates
__global__ void yes_goes_round(unsigned n) {
  __shared__ MBarrier bar;
  answered(bar, [n](bool yes) {
    if (yes) {
      go_round(n);
    }
  });
}

//@ case: no-goes-round
//@ flags: --max-time=60
//@ verdict: may-hang
//@ finding: no-progress-loop LOOP
//@ case: no-ends
//@ verdict: terminates
__global__ void no_goes_round(unsigned n) {
  __shared__ MBarrier bar;
  answered(bar, [n](bool yes) {
    if (!yes) {
      go_round(n);
    }
  });
}

// The phase is over when it is asked: the answer cannot be no.
//@ case: known-no-goes-round
//@ flags: --max-time=60
//@ verdict: terminates
//@ case: known-yes-goes-round
//@ flags: --max-time=60
//@ verdict: may-hang
//@ finding: no-progress-loop LOOP
template <bool if_yes> __global__ void known_goes_round(unsigned n) {
  __shared__ MBarrier bar;
  bar.begin(1);
  if (threadIdx.x == 0) {
    bar.arrive();
  }
  __syncthreads();
  if (threadIdx.x == 1 && bar.complete(0) == if_yes) {
    go_round(n);
  }
}

// Who completes it itself knows, too.
//@ case: own-no-goes-round
//@ flags: --max-time=60
//@ verdict: terminates
__global__ void own_no_goes_round(unsigned n) {
  __shared__ MBarrier bar;
  bar.begin(1);
  if (threadIdx.x == 0) {
    bar.arrive();
    if (!bar.complete(0)) {
      go_round(n);
    }
  }
}

// Behind the answer it waits as long as it is yes, or asks until it is yes and goes round then.
//@ case: waits-for-no
//@ verdict: may-hang
//@ finding: livelock HANG-LIVELOCK
__global__ void waits_for_no(unsigned) {
  __shared__ MBarrier bar;
  answered(bar, [](bool yes) {
    if (!yes) {
      while (bar.complete(0)) {
      }
    }
  });
}
//@ case: waits-and-goes-round
//@ flags: --max-time=60
//@ verdict: may-hang
//@ finding: no-progress-loop LOOP
//@ case: waits-and-ends
//@ verdict: terminates
__global__ void waits_and_goes_round(unsigned n) {
  __shared__ MBarrier bar;
  answered(bar, [n](bool yes) {
    if (!yes) {
      bar.wait(0);
      go_round(n);
    }
  });
}

//@ case: yes-traps
//@ verdict: defect
//@ finding: trap EXEC-TRAP
//@ case: no-traps
//@ verdict: defect
//@ finding: trap EXEC-TRAP
template <bool if_yes> __global__ void traps(unsigned) {
  __shared__ MBarrier bar;
  answered(bar, [](bool yes) {
    if (yes == if_yes) {
      asm volatile("trap;");
    }
  });
}

//@ case: yes-calls
//@ flags: --max-time=60
//@ verdict: may-hang
//@ finding: no-progress-loop LOOP
//@ case: yes-calls-what-ends
//@ verdict: terminates
__device__ __noinline__ void goes_round(unsigned n) { go_round(n); }
__global__ void yes_calls(unsigned n) {
  __shared__ MBarrier bar;
  answered(bar, [n](bool yes) {
    if (yes) {
      goes_round(n);
    }
  });
}

// A plain store, which thread 0 sees behind the barrier.
//@ case: yes-stores
//@ flags: --max-time=60
//@ verdict: may-hang
//@ finding: no-progress-loop LOOP
//@ case: yes-stores-for-nobody
//@ verdict: terminates
__global__ void yes_stores(unsigned n) {
  __shared__ MBarrier bar;
  answered(bar, [](bool yes) {
    if (yes) {
      seen = 1;
    }
  });
  __syncthreads();
  if (threadIdx.x == 0 && seen == 1) {
    go_round(n);
  }
}

constexpr unsigned hangs = 1, ends = 2;
template <class Kernel> int run(Kernel kernel, unsigned n) {
  kernel<<<1, 2>>>(n);
  return cudaDeviceSynchronize() == cudaSuccess ? 0 : 1;
}

#define CASE(name, kernel, n) \
  {name, [](Setup) { return run(kernel, n); }}

int main(int argc, char** argv) {
  return run_case(argc, argv, {
      CASE("yes-goes-round", yes_goes_round, hangs),
      CASE("yes-ends", yes_goes_round, ends),
      CASE("no-goes-round", no_goes_round, hangs),
      CASE("no-ends", no_goes_round, ends),
      CASE("known-no-goes-round", known_goes_round<false>, hangs),
      CASE("known-yes-goes-round", known_goes_round<true>, hangs),
      CASE("own-no-goes-round", own_no_goes_round, hangs),
      CASE("waits-for-no", waits_for_no, hangs),
      CASE("waits-and-goes-round", waits_and_goes_round, hangs),
      CASE("waits-and-ends", waits_and_goes_round, ends),
      CASE("yes-traps", traps<true>, hangs),
      CASE("no-traps", traps<false>, hangs),
      CASE("yes-calls", yes_calls, hangs),
      CASE("yes-calls-what-ends", yes_calls, ends),
      CASE("yes-stores", yes_stores, hangs),
      CASE("yes-stores-for-nobody", yes_stores, ends),
  });
}
