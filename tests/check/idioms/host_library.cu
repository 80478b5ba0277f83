// What the C++ library, POSIX and C11 give host threads to wait for each other: semaphores, latches,
// barriers, stop tokens, asynchronous calls, shared locks, C11's threads. One right and one wrong use of
// each; kernels are launched where that is what such code does.
//@ nvcc: -std=c++20
#include "cases.h"

#include <barrier>
#include <chrono>
#include <future>
#include <latch>
#include <mutex>
#include <semaphore>
#include <shared_mutex>
#include <stop_token>
#include <thread>

#include <linux/futex.h>
#include <pthread.h>
#include <semaphore.h>
#include <sys/syscall.h>
#include <threads.h>
#include <unistd.h>

__global__ void work(int* at) { atomicAdd(at, 1); }

static int* counter() {
  int* at = nullptr;
  cudaMallocManaged(&at, sizeof *at);
  return at;
}

// --- std::counting_semaphore ------------------------------------------------------------------------

//@ case: semaphore
//@ verdict: terminates
//@ case: semaphore-once-too-often
//@ verdict: may-hang
//@ finding: deadlock
template <int Taken> static int semaphore(Setup) {
  static std::counting_semaphore<4> slots(1);
  std::thread other([] { slots.release(); });
  for (int i = 0; i < Taken; ++i) {
    slots.acquire();
  }
  other.join();
  return 0;
}

// --- std::latch, std::barrier -----------------------------------------------------------------------

//@ case: latch
//@ verdict: terminates
//@ case: latch-too-large
//@ verdict: may-hang
//@ finding: deadlock
template <int Count> static int latch(Setup) {
  static std::latch ready(Count);
  std::thread other([] { ready.count_down(); });
  ready.arrive_and_wait();
  other.join();
  return 0;
}

//@ case: barrier
//@ verdict: terminates
//@ case: barrier-one-stays-away
//@ verdict: may-hang
//@ finding: deadlock
template <bool All> static int barrier(Setup) {
  static std::barrier<> phase(2);
  std::thread other([] {
    if (All) {
      (void)phase.arrive();
    }
  });
  phase.arrive_and_wait();
  other.join();
  return 0;
}

// libstdc++ tells by the hash of a thread's number where it arrives: the same in each execution, so what
// is found can be repeated.
//@ case: barrier-of-three-one-stays-away
//@ verdict: may-hang
//@ finding: deadlock
static int barrier_of_three(Setup) {
  static std::barrier<> phase(3);
  std::thread other([] { (void)phase.arrive(); });
  phase.arrive_and_wait();
  other.join();
  return 0;
}

// Asks 16 times before it waits: with three threads that made 2,000 states of what has 200.
//@ case: wait-of-two
//@ verdict: terminates
//@ flags: --max-time=20
//@ case: wait-of-two-told-before
//@ verdict: may-hang
//@ finding: deadlock
template <bool Sets> static int wait_of_two(Setup) {
  static std::atomic<int> set{0};
  const auto waits = [] { set.wait(0); };
  std::thread first(waits), second(waits);
  if (Sets) {
    set.store(1);
  }
  set.notify_all();
  first.join();
  second.join();
  return 0;
}

// How often it has read decides: which of these reads sees the change is left out, though it sleeps then.
//@ case: counts-its-reads
//@ verdict: unknown
//@ coverage: bounded
static int counts_its_reads(Setup) {
  static std::atomic<int> set{0};
  std::thread other([] {
    set.store(1);
    set.notify_one();
  });
  int reads = 0;
  while (reads < 8 && set.load() == 0) {
    ++reads;
  }
  set.wait(0);
  other.join();
  return reads == 5 ? 3 : 0;
}

// --- std::jthread and its stop token ----------------------------------------------------------------

//@ case: stop-token
//@ verdict: terminates
//@ case: stop-token-not-asked
//@ verdict: may-hang
//@ finding: livelock
template <bool Asks> static int stop_token(Setup) {
  static std::atomic<int> rest{1};
  std::jthread other([](std::stop_token stop) {
    while (Asks ? !stop.stop_requested() : rest.load() != 0) {
    }
  });
  return 0; // the destructor asks it to stop, and joins
}

// --- std::async, std::future, std::packaged_task ----------------------------------------------------

//@ case: async
//@ verdict: terminates
static int async(Setup) {
  int* at = counter();
  std::future<int> result = std::async(std::launch::async, [at] {
    work<<<2, 1>>>(at);
    cudaDeviceSynchronize();
    return *at;
  });
  return result.get() - 2;
}

// The call is not made before somebody waits for it.
//@ case: deferred
//@ verdict: may-hang
//@ finding: livelock
//@ case: deferred-and-waited-for
//@ verdict: terminates
template <bool Waits> static int deferred(Setup) {
  static std::atomic<bool> set{false};
  std::future<void> result = std::async(std::launch::deferred, [] { set.store(true); });
  if (Waits) {
    result.wait();
  }
  while (!set.load()) {
  }
  return 0;
}

//@ case: futures-crossed
//@ verdict: may-hang
//@ finding: deadlock
//@ case: futures-in-order
//@ verdict: terminates
template <bool Crossed> static int futures(Setup) {
  static std::promise<int> first, second;
  std::thread other([] {
    if (Crossed) {
      second.set_value(first.get_future().get());
    } else {
      second.set_value(1);
    }
  });
  const int got = second.get_future().get();
  first.set_value(got);
  other.join();
  return got - 1;
}

// --- std::shared_mutex, pthread_rwlock_t ------------------------------------------------------------

//@ case: shared-locks
//@ verdict: unknown
//@ coverage: bounded
//@ case: shared-locks-upgraded
//@ verdict: may-hang
//@ finding: deadlock
//@ coverage: bounded
template <bool Upgrades> static int shared_locks(Setup) {
  static std::shared_mutex mutex;
  const auto user = [] {
    mutex.lock_shared();
    if (!Upgrades) {
      mutex.unlock_shared();
    }
    mutex.lock(); // with Upgrades neither gets it while the other one reads
    mutex.unlock();
    if (Upgrades) {
      mutex.unlock_shared();
    }
  };
  std::thread other(user);
  user();
  other.join();
  return 0;
}

//@ case: rwlock
//@ verdict: terminates
//@ case: rwlock-kept
//@ verdict: may-hang
//@ finding: deadlock
template <bool Keeps> static int rwlock(Setup) {
  static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
  std::thread other([] {
    pthread_rwlock_rdlock(&lock);
    if (!Keeps) {
      pthread_rwlock_unlock(&lock);
    }
  });
  other.join();
  pthread_rwlock_wrlock(&lock);
  pthread_rwlock_unlock(&lock);
  return 0;
}

// --- futex ------------------------------------------------------------------------------------------

// Two of three are woken, then the other one.
//@ case: some-are-woken
//@ verdict: unknown
//@ coverage: bounded
static int some_are_woken(Setup) {
  static std::atomic<int> word{0};
  const auto wake = [](int count) { syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, count, nullptr, nullptr, 0); };
  const auto wait = [] {
    while (word.load() == 0) {
      syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 0, nullptr, nullptr, 0);
    }
  };
  std::thread first(wait), second(wait), third(wait);
  word.store(1);
  wake(2);
  wake(1);
  first.join();
  second.join();
  third.join();
  return 0;
}

// --- pthread_barrier_t, sem_t -----------------------------------------------------------------------

//@ case: posix-barrier
//@ verdict: terminates
//@ case: posix-barrier-of-three
//@ verdict: may-hang
//@ finding: deadlock
template <unsigned Count> static int posix_barrier(Setup) {
  static pthread_barrier_t barrier;
  pthread_barrier_init(&barrier, nullptr, Count);
  std::thread other([] { pthread_barrier_wait(&barrier); });
  pthread_barrier_wait(&barrier);
  other.join();
  return 0;
}

//@ case: posix-semaphore
//@ verdict: terminates
//@ case: posix-semaphore-not-posted
//@ verdict: may-hang
//@ finding: deadlock
template <bool Posts> static int posix_semaphore(Setup) {
  static sem_t ready;
  sem_init(&ready, 0, 0);
  static int* at = counter();
  std::thread other([] {
    work<<<1, 1>>>(at);
    if (cudaDeviceSynchronize() == cudaSuccess && Posts) {
      sem_post(&ready);
    }
  });
  sem_wait(&ready);
  other.join();
  return 0;
}

// --- C11 --------------------------------------------------------------------------------------------

static mtx_t mutex;
static cnd_t changed;
static bool ready;

template <bool Notifies> static int set_ready(void* value) {
  mtx_lock(&mutex);
  ready = true;
  mtx_unlock(&mutex);
  if (Notifies) {
    cnd_signal(&changed);
  }
  return *static_cast<int*>(value);
}

//@ case: c11
//@ verdict: terminates
//@ case: c11-not-notified
//@ verdict: may-hang
//@ finding: deadlock HANG-DEADLOCK
template <bool Notifies> static int c11(Setup) {
  mtx_init(&mutex, mtx_plain);
  cnd_init(&changed);
  int value = 7;
  int result = 0;
  thrd_t other;
  thrd_create(&other, set_ready<Notifies>, &value);
  mtx_lock(&mutex);
  while (!ready) {
    cnd_wait(&changed, &mutex);
  }
  mtx_unlock(&mutex);
  thrd_join(other, &result);
  return result - 7;
}

static mtx_t second;
static int lock_both(void* crossed) {
  mtx_lock(crossed != nullptr ? &second : &mutex);
  mtx_lock(crossed != nullptr ? &mutex : &second);
  mtx_unlock(&mutex);
  mtx_unlock(&second);
  return 0;
}
//@ case: c11-crossed
//@ verdict: may-hang
//@ finding: deadlock
//@ case: c11-ordered
//@ verdict: terminates
template <bool Crossed> static int c11_locks(Setup) {
  mtx_init(&mutex, mtx_plain);
  mtx_init(&second, mtx_plain);
  thrd_t other;
  thrd_create(&other, lock_both, Crossed ? &other : nullptr);
  lock_both(nullptr);
  return thrd_join(other, nullptr);
}

int main(int argc, char** argv) {
  const int result = run_case(argc, argv, {
      {"semaphore", semaphore<2>},
      {"semaphore-once-too-often", semaphore<3>},
      {"latch", latch<2>},
      {"latch-too-large", latch<3>},
      {"barrier", barrier<true>},
      {"barrier-one-stays-away", barrier<false>},
      {"barrier-of-three-one-stays-away", barrier_of_three},
      {"counts-its-reads", counts_its_reads},
      {"wait-of-two", wait_of_two<true>},
      {"wait-of-two-told-before", wait_of_two<false>},
      {"stop-token", stop_token<true>},
      {"stop-token-not-asked", stop_token<false>},
      {"async", async},
      {"deferred", deferred<false>},
      {"deferred-and-waited-for", deferred<true>},
      {"futures-crossed", futures<true>},
      {"futures-in-order", futures<false>},
      {"shared-locks", shared_locks<false>},
      {"shared-locks-upgraded", shared_locks<true>},
      {"some-are-woken", some_are_woken},
      {"rwlock", rwlock<false>},
      {"rwlock-kept", rwlock<true>},
      {"posix-barrier", posix_barrier<2>},
      {"posix-barrier-of-three", posix_barrier<3>},
      {"posix-semaphore", posix_semaphore<true>},
      {"posix-semaphore-not-posted", posix_semaphore<false>},
      {"c11", c11<true>},
      {"c11-not-notified", c11<false>},
      {"c11-crossed", c11_locks<true>},
      {"c11-ordered", c11_locks<false>},
  });
  if (result != 0) {
    std::abort(); // the search would not look at the exit code
  }
}
