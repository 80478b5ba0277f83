// Clauses of the execution model about host threads: each of them is guaranteed from its creation, and the
// six things that count as its steps ([HOST], [HSTEP.1] to [HSTEP.6]).
//
// A host thread waits in a loop that contains one of them. If another host thread sets the flag, the wait
// ends, whatever the loop contains. If a kernel sets it that was only launched, it may never end: none of
// the six obliges a device thread to start.
#include "../idioms/cases.h"

#include <atomic>
#include <cstdlib>
#include <exception>
#include <thread>

#include <unistd.h>

struct Flags {
  SystemAtomic<int> atomic_flag{0};
  volatile int volatile_flag = 0;
};

__global__ void set_flags(Flags* flags) {
  flags->atomic_flag.store(1, memory_order_relaxed);
  flags->volatile_flag = 1;
}

enum class Step { Yield, Io, Volatile, Atomic };

template <Step step> static void await(Flags* flags) {
  if constexpr (step == Step::Volatile) {
    while (flags->volatile_flag == 0) {
    }
  } else {
    while (flags->atomic_flag.load(memory_order_relaxed) == 0) {
      if constexpr (step == Step::Yield) {
        std::this_thread::yield();
      } else if constexpr (step == Step::Io) {
        std::putchar('.');
        std::fflush(stdout);
      }
    }
  }
}

static Flags* make_flags() {
  void* memory = nullptr;
  cudaMallocHost(&memory, sizeof(Flags));
  return new (memory) Flags;
}

// --- [HSTEP.2] to [HSTEP.5] -------------------------------------------------------------------------

//@ case: yield-thread
//@ verdict: terminates
//@ clause: host.threads.2
//@ case: io-thread
//@ verdict: terminates
//@ clause: host.threads.3
//@ case: volatile-thread
//@ verdict: terminates
//@ clause: host.threads.4
//@ case: atomic-thread
//@ verdict: terminates
//@ clause: host.threads.5 host-threads
//@ case: atomic-thread
//@ flags: --host-progress=none
//@ verdict: may-hang
//@ finding: starvation HOST
//@ clause: host.threads.5 host-threads
template <Step step> static int thread_sets(Setup) {
  Flags* flags = make_flags();
  std::thread setter([=] {
    flags->atomic_flag.store(1, memory_order_relaxed);
    flags->volatile_flag = 1;
  });
  await<step>(flags);
  setter.join();
  return 0;
}

//@ case: yield-kernel
//@ verdict: may-hang
//@ finding: starvation LAUNCH
//@ clause: host.threads.2
//@ case: io-kernel
//@ verdict: may-hang
//@ finding: starvation LAUNCH
//@ clause: host.threads.3
//@ case: volatile-kernel
//@ verdict: may-hang
//@ finding: starvation LAUNCH
//@ clause: host.threads.4
//@ case: atomic-kernel
//@ verdict: may-hang
//@ finding: starvation LAUNCH
//@ clause: host.threads.5
template <Step step> static int kernel_sets(Setup) {
  Flags* flags = make_flags();
  set_flags<<<1, 1>>>(flags);
  await<step>(flags);
  return static_cast<int>(cudaDeviceSynchronize());
}

// A second host thread that waits in a call obliges a device thread to start.
//@ case: synchronised-thread
//@ verdict: terminates
//@ clause: host-threads api
static int synchronised_thread(Setup) {
  Flags* flags = make_flags();
  set_flags<<<1, 1>>>(flags);
  std::thread waiter([] { cudaDeviceSynchronize(); });
  await<Step::Atomic>(flags);
  waiter.join();
  return 0;
}

// --- [HSTEP.1] ----------------------------------------------------------------------------------------

//@ case: ends
//@ verdict: terminates
//@ clause: host.threads.1
//@ case: ends
//@ flags: --host-progress=none
//@ verdict: may-hang
//@ finding: starvation HOST
//@ clause: host.threads.1
static int ends(Setup) {
  std::thread short_one([] {});
  short_one.join();
  return 0;
}

// --- [HSTEP.6] ----------------------------------------------------------------------------------------

// A thread in a trivial infinite loop does not keep the others from moving.
//@ case: endless-detached
//@ verdict: terminates
//@ clause: host.threads.6
static int endless_detached(Setup) {
  std::thread([] {
    while (true) {
    }
  }).detach();
  return 0;
}

// Of many instructions, at each of which it may be interrupted.
//@ case: endless-long-detached
//@ verdict: terminates
//@ clause: host.threads.6
static int endless_long_detached(Setup) {
  std::thread([] {
    while (true) {
      asm volatile("pause\n\tpause\n\tpause\n\tpause\n\tpause\n\tpause\n\tpause\n\tpause");
    }
  }).detach();
  return 0;
}

// But waiting for it never ends.
//@ case: endless-joined
//@ verdict: may-hang
//@ finding: livelock
//@ clause: host.threads.6
static int endless_joined(Setup) {
  std::thread endless([] {
    while (true) {
    }
  });
  endless.join();
  return 0;
}

// --- Assumptions about the host -----------------------------------------------------------------------

// A weak exchange may fail without a reason; x86's does not, so that is an option.
//@ case: weak-exchange-once
//@ verdict: unknown
//@ coverage: bounded
//@ case: weak-exchange-once
//@ flags: --spurious-failures
//@ verdict: may-hang
//@ finding: livelock
//@ case: weak-exchange-repeated
//@ flags: --spurious-failures
//@ verdict: terminates
static std::atomic<int> weak_word;
static int weak_exchange_once(Setup) {
  int expected = 0;
  if (!weak_word.compare_exchange_weak(expected, 1)) {
    while (weak_word.load() == 0) {
    }
  }
  return 0;
}
static int weak_exchange_repeated(Setup) {
  for (int expected = 0; !weak_word.compare_exchange_weak(expected, 1); expected = 0) {
  }
  return 0;
}

// Two threads that take turns until one of them has succeeded; each may fail, none for ever.
//@ case: weak-exchange-two
//@ flags: --spurious-failures
//@ verdict: terminates
static int weak_exchange_two(Setup) {
  const auto add = [] {
    int seen = weak_word.load();
    while (!weak_word.compare_exchange_weak(seen, seen + 1)) {
    }
  };
  std::thread other(add);
  add();
  other.join();
  return weak_word.load() == 2 ? 0 : 1;
}
// The strong form never fails without a reason.
//@ case: strong-exchange-once
//@ flags: --spurious-failures
//@ verdict: terminates
static int strong_exchange_once(Setup) {
  int expected = 0;
  if (!weak_word.compare_exchange_strong(expected, 1)) {
    while (weak_word.load() == 0) {
    }
  }
  return 0;
}

// --- How a program ends -------------------------------------------------------------------------------

// Without exit handlers, and with another thread that would never end.
//@ case: ends-at-once
//@ verdict: terminates
//@ flags: --expect-exit=3
//@ case: ends-quickly
//@ verdict: terminates
//@ flags: --expect-exit=3
template <void (*End)(int)> static int ends_with(Setup) {
  std::thread endless([] {
    while (weak_word.load() == 0) {
    }
  });
  End(3);
  return 0;
}
// Only if the thread was quicker.
//@ case: aborts
//@ verdict: defect
//@ finding: host-crash CRASH
//@ incomplete: what would have come behind it
//@ case: throws
//@ verdict: defect
//@ finding: host-crash
//@ incomplete: what would have come behind it
//@ case: terminates-itself
//@ verdict: defect
//@ finding: host-crash
//@ incomplete: what would have come behind it
template <void (*End)()> static int ends_if_late(Setup) {
  std::thread quick([] { weak_word.store(1); });
  if (weak_word.load() == 1) {
    End();
  }
  quick.join();
  return 0;
}
[[noreturn]] static void throw_something() { throw 1; }

int main(int argc, char** argv) {
  return run_case(argc, argv, {
      {"yield-thread", thread_sets<Step::Yield>},
      {"io-thread", thread_sets<Step::Io>},
      {"volatile-thread", thread_sets<Step::Volatile>},
      {"atomic-thread", thread_sets<Step::Atomic>},
      {"yield-kernel", kernel_sets<Step::Yield>},
      {"io-kernel", kernel_sets<Step::Io>},
      {"volatile-kernel", kernel_sets<Step::Volatile>},
      {"atomic-kernel", kernel_sets<Step::Atomic>},
      {"synchronised-thread", synchronised_thread},
      {"ends", ends},
      {"endless-detached", endless_detached},
      {"endless-long-detached", endless_long_detached},
      {"endless-joined", endless_joined},
      {"weak-exchange-once", weak_exchange_once},
      {"weak-exchange-repeated", weak_exchange_repeated},
      {"weak-exchange-two", weak_exchange_two},
      {"strong-exchange-once", strong_exchange_once},
      {"ends-at-once", ends_with<_exit>},
      {"ends-quickly", ends_with<std::quick_exit>},
      {"aborts", ends_if_late<std::abort>},
      {"throws", ends_if_late<throw_something>},
      {"terminates-itself", ends_if_late<std::terminate>},
  });
}
