// Clauses of the execution model about device threads: what counts as a step ([STEP.1] to [STEP.4]), and
// whom a step obliges ([CLUSTER], [COOP], [DEV]).
//
//   program probe WHAT    does WHAT oblige the rest of its block?
//   program loop WHAT     a thread that does nothing but WHAT, for ever
//
// The probe: two blocks of a plain grid. In block 1, thread 0 does WHAT and says so; thread 1 sets the
// flag. A thread of block 0 waits for the flag only if it has been told that WHAT is done. If WHAT is a
// step, block 1 is guaranteed from then on and the flag will be set; if not, block 0 may wait for ever.
#include "../idioms/cases.h"

#include <cooperative_groups.h>

__device__ Atomic<int> said, flag, word;
__device__ int plain_word;
__device__ volatile int volatile_word;
__constant__ volatile int constant_word;

enum class What {
  Nothing, Print, VolatileRead, VolatileWrite, VolatileShared, VolatileLocal, AtomicRead, AtomicWrite, AtomicUpdate,
  FailedExchange, AtomicShared, AtomicLocal, Reduction, Barrier, NamedArrive, WarpSync, Vote, MBarrier, Fence, PlainRead, PlainWrite, Sleep
};

template <What what> __device__ __forceinline__ void act() {
  __shared__ int shared_word;
  if constexpr (what == What::Print) {
    printf(".");
  } else if constexpr (what == What::VolatileRead) {
    (void)volatile_word;
  } else if constexpr (what == What::VolatileWrite) {
    volatile_word = 0;
  } else if constexpr (what == What::VolatileShared) {
    *static_cast<volatile int*>(&shared_word) = 0;
  } else if constexpr (what == What::VolatileLocal) {
    volatile int local = 0;
    local = local + 1;
  } else if constexpr (what == What::AtomicRead) {
    (void)word.load(memory_order_relaxed);
  } else if constexpr (what == What::AtomicWrite) {
    word.store(0, memory_order_relaxed);
  } else if constexpr (what == What::AtomicUpdate) {
    (void)word.exchange(0, memory_order_relaxed);
  } else if constexpr (what == What::FailedExchange) {
    int expected = 5;
    (void)word.compare_exchange_strong(expected, 6, memory_order_relaxed);
  } else if constexpr (what == What::AtomicShared) {
    (void)atomicExch_block(&shared_word, 0);
  } else if constexpr (what == What::AtomicLocal) {
    cuda::atomic<int, cuda::thread_scope_thread> local{0};
    (void)local.exchange(1);
  } else if constexpr (what == What::Reduction) {
    asm volatile("red.relaxed.gpu.global.add.u32 [%0], 0;" ::"l"(&plain_word) : "memory");
  } else if constexpr (what == What::Barrier) {
    asm volatile("barrier.arrive 1, 64;" ::: "memory");
  } else if constexpr (what == What::WarpSync) {
    __syncwarp(1);
  } else if constexpr (what == What::Vote) {
    (void)__any_sync(1, 1);
  } else if constexpr (what == What::MBarrier) {
    __shared__ unsigned long long barrier;
    asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(
        static_cast<unsigned>(__cvta_generic_to_shared(&barrier))) : "memory");
    asm volatile("{ .reg .b64 t; mbarrier.arrive.shared.b64 t, [%0]; }" ::"r"(
        static_cast<unsigned>(__cvta_generic_to_shared(&barrier))) : "memory");
  } else if constexpr (what == What::Fence) {
    __threadfence();
  } else if constexpr (what == What::PlainRead) {
    asm volatile("{ .reg .u32 r; ld.global.u32 r, [%0]; }" ::"l"(&plain_word) : "memory");
  } else if constexpr (what == What::PlainWrite) {
    asm volatile("st.global.u32 [%0], 0;" ::"l"(&plain_word) : "memory");
  } else if constexpr (what == What::Sleep) {
    __nanosleep(1);
  }
}

template <What what> __global__ void probe() {
  if (blockIdx.x == 1) {
    if (threadIdx.x == 0) {
      act<what>();
      said.store(1, memory_order_relaxed);
    } else {
      flag.store(1, memory_order_relaxed);
    }
  } else if (threadIdx.x == 0 && said.load(memory_order_relaxed) != 0) {
    while (flag.load(memory_order_relaxed) == 0) {
    }
  }
}

template <What what> __global__ void loop() {
  while (true) {
    act<what>();
  }
}

// --- [STEP.1] to [STEP.4]: these oblige ------------------------------------------------------------

//@ case: probe printf
//@ verdict: terminates
//@ clause: device.threads.2
//@ case: probe volatile-read
//@ verdict: terminates
//@ clause: device.threads.3
//@ case: probe volatile-write
//@ verdict: terminates
//@ clause: device.threads.3
//@ case: probe volatile-shared
//@ verdict: terminates
//@ clause: device.threads.3
//@ case: probe atomic-read
//@ verdict: terminates
//@ clause: device.threads.4
//@ rests-on: CLUSTER
//@ case: probe atomic-update
//@ verdict: terminates
//@ clause: device.threads.4
//@ case: probe failed-exchange
//@ verdict: terminates
//@ clause: device.threads.4
//@ case: probe atomic-shared
//@ verdict: terminates
//@ clause: device.threads.4
//@ case: probe reduction
//@ verdict: terminates
//@ clause: device.threads.4
//@ case: probe barrier-arrive
//@ verdict: terminates
//@ clause: device.threads.4
//@ case: probe warp-sync
//@ verdict: terminates
//@ clause: device.threads.4
//@ case: probe vote
//@ verdict: terminates
//@ clause: device.threads.4
//@ case: probe mbarrier
//@ verdict: terminates
//@ clause: device.threads.4

// --- ... and these do not -----------------------------------------------------------------------------

//@ case: probe nothing
//@ verdict: may-hang
//@ finding: starvation CLUSTER
//@ clause: device.threads.2 device-threads
//@ case: probe volatile-local
//@ verdict: may-hang
//@ finding: starvation CLUSTER
//@ clause: device.threads.3
//@ case: probe atomic-local
//@ verdict: may-hang
//@ finding: starvation CLUSTER
//@ clause: device.threads.4
//@ case: probe atomic-write
//@ verdict: may-hang
//@ finding: starvation CLUSTER
//@ clause: device.threads.4
//@ case: probe fence
//@ verdict: may-hang
//@ finding: starvation CLUSTER
//@ clause: device.threads.4
//@ case: probe plain-read
//@ verdict: may-hang
//@ finding: starvation CLUSTER
//@ clause: device.threads.3
//@ case: probe plain-write
//@ verdict: may-hang
//@ finding: starvation CLUSTER
//@ clause: device.threads.3
//@ case: probe sleep
//@ verdict: may-hang
//@ finding: starvation CLUSTER
//@ clause: device.threads.4

// --- Loops: without a step nothing obliges the thread to go on; with steps it goes on for ever --------

//@ case: loop nothing
//@ verdict: may-hang
//@ finding: no-progress-loop LOOP
//@ clause: device.threads.1
//@ case: loop volatile-local
//@ verdict: may-hang
//@ finding: no-progress-loop LOOP
//@ case: loop atomic-local
//@ verdict: may-hang
//@ finding: no-progress-loop LOOP
//@ case: loop atomic-write
//@ verdict: may-hang
//@ finding: no-progress-loop LOOP
//@ case: loop fence
//@ verdict: may-hang
//@ finding: no-progress-loop LOOP
//@ case: loop plain-read
//@ verdict: may-hang
//@ finding: no-progress-loop LOOP
//@ case: loop plain-write
//@ verdict: may-hang
//@ finding: no-progress-loop LOOP
//@ case: loop sleep
//@ verdict: may-hang
//@ finding: no-progress-loop LOOP
//@ case: loop printf
//@ verdict: may-hang
//@ finding: livelock HANG-LIVELOCK
//@ case: loop volatile-read
//@ verdict: may-hang
//@ finding: livelock HANG-LIVELOCK
//@ case: loop volatile-write
//@ verdict: may-hang
//@ finding: livelock HANG-LIVELOCK
//@ case: loop volatile-shared
//@ verdict: may-hang
//@ finding: livelock HANG-LIVELOCK
//@ case: loop atomic-read
//@ verdict: may-hang
//@ finding: livelock HANG-LIVELOCK
//@ case: loop atomic-update
//@ verdict: may-hang
//@ finding: livelock HANG-LIVELOCK
//@ case: loop warp-sync
//@ verdict: may-hang
//@ finding: livelock HANG-LIVELOCK

// --- [STEP.1]: ending --------------------------------------------------------------------------------

// Many rounds without a step, but finitely many.
//@ case: ends
//@ verdict: terminates
//@ clause: device.threads.1
__global__ void long_way() {
  for (int i = 0; i < 20000; ++i) {
    asm volatile("");
  }
}

// --- [DEV]: a thread that has taken a step goes on, whoever spins -------------------------------------

// Two blocks. The first waits only if the second has announced itself by a step.
//@ case: started
//@ verdict: terminates
//@ clause: device-threads
//@ rests-on: DEV
__global__ void started() {
  if (blockIdx.x == 1) {
    said.exchange(1, memory_order_relaxed);
    flag.store(1, memory_order_relaxed);
  } else if (said.load(memory_order_relaxed) != 0) {
    while (flag.load(memory_order_relaxed) == 0) {
    }
  }
}

// --- Who else is obliged: block, cluster, cooperative grid, and nobody beyond --------------------------

// The last of N blocks sets the flag for which all others wait.
//@ case: last-sets plain 3
//@ verdict: may-hang
//@ finding: starvation CLUSTER
//@ clause: cluster cooperative-grid
//@ case: last-sets cluster 3
//@ verdict: terminates
//@ clause: cluster
//@ rests-on: CLUSTER
//@ case: last-sets cooperative 3
//@ verdict: terminates
//@ clause: cooperative-grid
//@ rests-on: COOP
//@ case: last-sets block 3
//@ verdict: terminates
//@ rests-on: CLUSTER
__global__ void last_sets() {
  if (me() == all() - 1) {
    flag.store(1, memory_order_relaxed);
  } else {
    while (flag.load(memory_order_relaxed) == 0) {
    }
  }
}

#define WHAT(name, what) {name, [](bool looping) { looping ? loop<what><<<1, 1>>>() : probe<what><<<2, 2>>>(); }}

int main(int argc, char** argv) {
  const struct {
    const char* name;
    void (*launch)(bool);
  } acts[] = {
      WHAT("nothing", What::Nothing),
      WHAT("printf", What::Print),
      WHAT("volatile-read", What::VolatileRead),
      WHAT("volatile-write", What::VolatileWrite),
      WHAT("volatile-shared", What::VolatileShared),
      WHAT("volatile-local", What::VolatileLocal),
      WHAT("atomic-read", What::AtomicRead),
      WHAT("atomic-write", What::AtomicWrite),
      WHAT("atomic-update", What::AtomicUpdate),
      WHAT("failed-exchange", What::FailedExchange),
      WHAT("atomic-shared", What::AtomicShared),
      WHAT("atomic-local", What::AtomicLocal),
      WHAT("reduction", What::Reduction),
      WHAT("barrier-arrive", What::Barrier),
      WHAT("warp-sync", What::WarpSync),
      WHAT("vote", What::Vote),
      WHAT("mbarrier", What::MBarrier),
      WHAT("fence", What::Fence),
      WHAT("plain-read", What::PlainRead),
      WHAT("plain-write", What::PlainWrite),
      WHAT("sleep", What::Sleep),
  };
  for (const auto& act : acts) {
    if (argc > 2 && std::strcmp(argv[2], act.name) == 0) {
      act.launch(std::strcmp(argv[1], "loop") == 0);
      return static_cast<int>(cudaDeviceSynchronize());
    }
  }
  return run_case(argc, argv, {
      {"ends", [](Setup setup) { return run_kernel(setup, long_way); }},
      {"started", [](Setup setup) { return run_kernel(setup, started); }},
      {"last-sets", [](Setup setup) { return run_kernel(setup, last_sets); }},
  });
}
