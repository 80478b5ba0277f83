// The end of the process is a move among those of others: host threads, host functions and kernels that
// could still do something do it before, or not at all.
//@ nvcc: -std=c++20
#include "cases.h"

#include <cuda_runtime.h>

#include <atomic>
#include <mutex>
#include <thread>

#include <linux/futex.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

__global__ void work() {}
__global__ void put(int* to) { *to = 1; }
__global__ void put_when_told(int* told, int* to) {
  if (atomicAdd_system(told, 0) == 1) {
    *to = 1;
  }
}

static std::atomic<int> flag, answer;
static bool tells_at_exit = false;
static struct Teller {
  ~Teller() {
    if (tells_at_exit) {
      flag = 1;
    }
  }
} teller;

static void launch_work() {
  work<<<1, 1>>>();
  cudaDeviceSynchronize();
}
template <class Body> static void detached(Body body) { std::thread(body).detach(); }
static void wait_for_flag() {
  while (flag == 0) {
  }
}

// --- A thread ends the process while main would do more ---------------------------------------------
enum class End { None, AtOnce, Exit, Quick, Call, Handler };
static void end(End how) {
  switch (how) {
  case End::None:
    return;
  case End::AtOnce:
    _exit(0);
  case End::Exit:
    exit(0);
  case End::Quick:
    quick_exit(0);
  case End::Call:
    syscall(SYS_exit_group, 0);
    return;
  case End::Handler:
    signal(SIGABRT, [](int) { _exit(0); });
    std::abort();
  }
}

//@ case: fault-beside-end-at-once
//@ verdict: defect
//@ finding: null
//@ case: fault-beside-exit
//@ verdict: defect
//@ finding: null
//@ case: fault-beside-quick-exit
//@ verdict: defect
//@ finding: null
//@ case: fault-beside-exit-group
//@ verdict: defect
//@ finding: null
//@ case: fault-beside-handler-that-ends
//@ verdict: defect
//@ finding: null
//@ case: right-beside-end-at-once
//@ verdict: terminates
template <End How, bool Right> static int works_beside_end(Setup) {
  launch_work();
  detached([] { end(How); });
  int* to = nullptr;
  if (Right) {
    cudaMalloc(&to, sizeof *to);
  }
  put<<<1, 1>>>(to);
  return cudaDeviceSynchronize() != cudaSuccess;
}

// --- Main ends while a thread would do more ---------------------------------------------------------
//@ case: answered-by-other-status
//@ verdict: defect
//@ finding: exit-status
//@ case: answered-by-same-status
//@ verdict: terminates
template <int Status> static int answered(Setup) {
  launch_work();
  detached([] {
    wait_for_flag();
    _exit(Status);
  });
  flag = 1;
  return 0;
}

//@ case: answered-by-crash
//@ verdict: defect
//@ finding: host-crash
//@ incomplete: the execution ended early
//@ case: joined-before-end
//@ verdict: terminates
template <bool Crashes> static int answered_by_thread(Setup) {
  launch_work();
  std::thread other([] {
    wait_for_flag();
    if (Crashes) {
      std::abort();
    }
  });
  flag = 1;
  if (Crashes) {
    other.detach();
  } else {
    other.join();
  }
  return 0;
}

//@ case: answered-by-host-function
//@ verdict: defect
//@ finding: host-crash
//@ incomplete: the execution ended early
//@ case: host-function-does-no-harm
//@ verdict: terminates
template <bool Crashes> static int answered_by_function(Setup) {
  launch_work();
  cudaStream_t stream = nullptr;
  cudaStreamCreate(&stream);
  cudaLaunchHostFunc(
      stream,
      [](void*) {
        wait_for_flag();
        if (Crashes) {
          std::abort();
        }
      },
      nullptr
  );
  flag = 1;
  return 0;
}

//@ case: told-by-destructor
//@ verdict: defect
//@ finding: exit-status
//@ case: not-told-by-destructor
//@ verdict: terminates
template <bool Tells> static int told_by_destructor(Setup) {
  launch_work();
  tells_at_exit = Tells;
  detached([] {
    wait_for_flag();
    _exit(1);
  });
  return 0;
}

//@ case: either-status
//@ verdict: defect
//@ finding: exit-status
static int either_status(Setup) {
  launch_work();
  detached([] {
    flag = 1;
    _exit(1);
  });
  wait_for_flag();
  return 0;
}

// The number that a thread ends with is part of where it stands.
//@ case: status-by-what-was-read
//@ verdict: defect
//@ finding: exit-status
static int status_read(Setup) {
  launch_work();
  detached([] { _exit(flag.load()); });
  flag = 1;
  return 0;
}

//@ case: unlocked-before-end
//@ verdict: defect
//@ finding: exit-status
static int unlocked(Setup) {
  static std::mutex mutex;
  launch_work();
  mutex.lock();
  detached([] {
    mutex.lock();
    _exit(1);
  });
  mutex.unlock();
  return 0;
}

// --- A kernel would do more --------------------------------------------------------------------------
//@ case: kernel-told-before-end
//@ verdict: defect
//@ finding: null
//@ case: kernel-waited-for-before
//@ verdict: terminates
template <bool Waits> static int kernel_told(Setup) {
  int* told = nullptr;
  cudaMallocManaged(&told, sizeof *told);
  put_when_told<<<1, 1>>>(told, nullptr);
  if (Waits) {
    cudaDeviceSynchronize();
  }
  __atomic_store_n(told, 1, __ATOMIC_RELEASE);
  return 0;
}

// --- Reads before a futex -----------------------------------------------------------------------------
// Code of the program may count how often it reads before it sleeps.
//@ case: counts-reads-before-sleeping
//@ verdict: unknown
//@ coverage: bounded
//@ case: counts-two-reads
//@ verdict: defect
//@ finding: exit-status
//@ coverage: bounded
//@ case: library-sleeps
//@ verdict: terminates
template <int Bad> static int counts_reads(Setup) {
  launch_work();
  std::thread other([] {
    flag = 1;
    syscall(SYS_futex, &flag, FUTEX_WAKE, 100, nullptr, nullptr, 0);
  });
  constexpr int most = 8;
  int reads = 0;
  if (Bad == 0) {
    flag.wait(0);
  }
  while (Bad != 0 && reads < most && flag.load() == 0) {
    ++reads;
  }
  if (reads == most) {
    syscall(SYS_futex, &flag, FUTEX_WAIT, 0, nullptr, nullptr, 0);
  }
  other.join();
  return Bad != 0 && reads == Bad ? 1 : 0;
}

int main(int argc, char** argv) {
  return run_case(argc, argv, {
      {"fault-beside-end-at-once", works_beside_end<End::AtOnce, false>},
      {"fault-beside-exit", works_beside_end<End::Exit, false>},
      {"fault-beside-quick-exit", works_beside_end<End::Quick, false>},
      {"fault-beside-exit-group", works_beside_end<End::Call, false>},
      {"fault-beside-handler-that-ends", works_beside_end<End::Handler, false>},
      {"right-beside-end-at-once", works_beside_end<End::AtOnce, true>},
      {"answered-by-other-status", answered<1>},
      {"answered-by-same-status", answered<0>},
      {"answered-by-crash", answered_by_thread<true>},
      {"joined-before-end", answered_by_thread<false>},
      {"answered-by-host-function", answered_by_function<true>},
      {"host-function-does-no-harm", answered_by_function<false>},
      {"told-by-destructor", told_by_destructor<true>},
      {"not-told-by-destructor", told_by_destructor<false>},
      {"either-status", either_status},
      {"status-by-what-was-read", status_read},
      {"unlocked-before-end", unlocked},
      {"kernel-told-before-end", kernel_told<false>},
      {"kernel-waited-for-before", kernel_told<true>},
      {"counts-reads-before-sleeping", counts_reads<3>},
      {"counts-two-reads", counts_reads<1>},
      {"library-sleeps", counts_reads<0>},
  });
}
