// Host threads that wait with time limits, again and again.
//
// A limit may pass at any moment, so each of these loops can go round any number of times. How late it is then decides
// nothing: a round leads back to the state in which it began, and the search ends. What hangs does so rarely, where
// `begun` is read early: a schedule that hangs by waiting takes time.
#include "cases.h"

#include <pthread.h>
#include <semaphore.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <ctime>
#include <future>
#include <mutex>
#include <thread>

using Clock = std::chrono::steady_clock;
constexpr std::chrono::milliseconds shortly(1);

struct Shared {
  std::mutex mutex;
  std::condition_variable changed;
  bool ready = false;
};

static void set(Shared& shared) {
  const std::lock_guard lock(shared.mutex);
  shared.ready = true;
  shared.changed.notify_one();
}

static timespec soon(clockid_t clock) {
  timespec time{};
  clock_gettime(clock, &time);
  time.tv_nsec += 1'000'000;
  if (time.tv_nsec >= 1'000'000'000) {
    time.tv_nsec -= 1'000'000'000;
    ++time.tv_sec;
  }
  return time;
}

// --- Condition variables -------------------------------------------------------------------------

// Somebody sets what it waits for, or takes it back before anybody has seen it.
//@ case: condition-polled
//@ verdict: terminates
//@ case: condition-polled-taken-back
//@ verdict: may-hang
//@ finding: livelock HANG-LIVELOCK
template <bool Right> static int condition(Setup) {
  static Shared shared;
  static std::atomic<bool> begun{false};
  std::thread other([] {
    set(shared);
    if (!Right && !begun.load()) {
      const std::lock_guard lock(shared.mutex);
      shared.ready = false;
    }
  });
  begun.store(true);
  {
    std::unique_lock lock(shared.mutex);
    while (!shared.ready) {
      shared.changed.wait_for(lock, shortly);
    }
  }
  other.join();
  return 0;
}

// The limit is a moment, set anew in each round; the test is the wait's.
//@ case: predicate-polled
//@ verdict: terminates
//@ case: predicate-polled-taken-back
//@ verdict: may-hang
//@ finding: livelock HANG-LIVELOCK
template <bool Right> static int predicate(Setup) {
  static Shared shared;
  static std::atomic<bool> begun{false};
  std::thread other([] {
    set(shared);
    if (!Right && !begun.load()) {
      const std::lock_guard lock(shared.mutex);
      shared.ready = false;
    }
  });
  begun.store(true);
  {
    std::unique_lock lock(shared.mutex);
    while (!shared.changed.wait_until(lock, Clock::now() + shortly, [] { return shared.ready; })) {
    }
  }
  other.join();
  return 0;
}

//@ case: posix-polled
//@ verdict: terminates
//@ case: posix-polled-in-vain
//@ verdict: may-hang
//@ finding: livelock HANG-LIVELOCK
template <bool Right> static int posix(Setup) {
  static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
  static bool ready = false, wanted = false;
  std::thread other([] {
    pthread_mutex_lock(&mutex);
    if (Right || wanted) {
      ready = true;
      pthread_cond_signal(&changed);
    }
    pthread_mutex_unlock(&mutex);
  });
  pthread_mutex_lock(&mutex);
  wanted = true;
  while (!ready) {
    const timespec limit = soon(CLOCK_REALTIME);
    pthread_cond_timedwait(&changed, &mutex, &limit);
  }
  pthread_mutex_unlock(&mutex);
  other.join();
  return 0;
}

// One waits for the other, and it for the first: each looks from time to time.
//@ case: both-polled
//@ verdict: terminates
//@ case: both-polled-in-a-circle
//@ verdict: may-hang
//@ finding: livelock HANG-LIVELOCK
//@ flags: --max-time=180
//@ timeout: 240
template <bool Right> static int both(Setup) {
  static Shared there, back;
  static std::atomic<bool> begun{false};
  std::thread other([] {
    const bool first = !Right && !begun.load();
    if (first) {
      std::unique_lock lock(back.mutex);
      while (!back.ready) {
        back.changed.wait_for(lock, shortly);
      }
    }
    set(there);
    if (!first) {
      std::unique_lock lock(back.mutex);
      while (!back.ready) {
        back.changed.wait_for(lock, shortly);
      }
    }
  });
  begun.store(true);
  {
    std::unique_lock lock(there.mutex);
    while (!there.ready) {
      there.changed.wait_for(lock, shortly);
    }
  }
  set(back);
  other.join();
  return 0;
}

// --- Futures, semaphores, locks ------------------------------------------------------------------

//@ case: future-polled
//@ verdict: terminates
//@ case: future-polled-forgotten
//@ verdict: may-hang
//@ finding: livelock HANG-LIVELOCK
template <bool Right> static int future(Setup) {
  static std::promise<int> promise;
  static std::atomic<bool> begun{false};
  std::future<int> result = promise.get_future();
  std::thread other([] {
    if (Right || begun.load()) {
      promise.set_value(3);
    }
  });
  begun.store(true);
  while (result.wait_for(shortly) != std::future_status::ready) {
  }
  other.join();
  return result.get() - 3;
}

//@ case: semaphore-polled
//@ verdict: terminates
//@ case: semaphore-polled-taken
//@ verdict: may-hang
//@ finding: livelock HANG-LIVELOCK
template <bool Right> static int semaphore(Setup) {
  static sem_t there;
  sem_init(&there, 0, 0);
  std::thread other([] {
    sem_post(&there);
    if (!Right) {
      sem_trywait(&there);
    }
  });
  for (;;) {
    const timespec limit = soon(CLOCK_REALTIME);
    if (sem_timedwait(&there, &limit) == 0) {
      break;
    }
  }
  other.join();
  return 0;
}

//@ case: lock-polled
//@ verdict: terminates
//@ case: lock-polled-never-unlocked
//@ verdict: may-hang
//@ finding: livelock HANG-LIVELOCK
template <bool Right> static int lock(Setup) {
  static std::timed_mutex mutex;
  std::thread other([] {
    mutex.lock();
    if (Right) {
      mutex.unlock();
    }
  });
  while (!mutex.try_lock_for(shortly)) {
  }
  mutex.unlock();
  other.join();
  return 0;
}

// --- Devices -------------------------------------------------------------------------------------

__global__ void sets(SystemAtomic<int>* flag) { flag->store(1, memory_order_release); }
__global__ void waits(SystemAtomic<int>* flag) {
  while (flag->load(memory_order_acquire) == 0) {
  }
}
static SystemAtomic<int>* make_flag() {
  SystemAtomic<int>* flag = nullptr;
  cudaMallocHost(&flag, sizeof *flag);
  flag->store(0);
  return flag;
}

// Nobody but this thread frees the kernel, and any call may wait for that.
//@ case: event-polled
//@ verdict: terminates
//@ case: event-polled-too-early
//@ verdict: may-hang
//@ finding: livelock
//@ finding: starvation
template <bool Right> static int event(Setup) {
  SystemAtomic<int>* const flag = make_flag();
  cudaEvent_t done;
  cudaEventCreateWithFlags(&done, cudaEventDisableTiming);
  if (Right) {
    flag->store(1);
  }
  waits<<<1, 1>>>(flag);
  cudaEventRecord(done);
  while (cudaEventQuery(done) == cudaErrorNotReady) {
    std::this_thread::sleep_for(shortly);
  }
  flag->store(1);
  return static_cast<int>(cudaDeviceSynchronize());
}

// Gives up at a moment, so other times lead another way: what it does then is right, or waits for good.
//@ case: query-with-deadline
//@ verdict: unknown
//@ incomplete: other times
//@ coverage: bounded
//@ case: query-with-deadline-in-vain
//@ verdict: may-hang
//@ finding: starvation QUERY
template <bool Right> static int deadline(Setup) {
  SystemAtomic<int>* const flag = make_flag();
  cudaError_t state = cudaSuccess;
  const auto end = Clock::now() + std::chrono::seconds(2);
  sets<<<1, 1>>>(flag);
  do {
    state = cudaStreamQuery(nullptr);
  } while (state == cudaErrorNotReady && Clock::now() < end);
  while (!Right && state == cudaErrorNotReady && flag->load() == 0) {
  }
  return static_cast<int>(cudaDeviceSynchronize());
}

// A deadline for each of any number of tries.
//@ case: deadlines-of-tries
//@ verdict: terminates
//@ case: deadlines-of-tries-in-vain
//@ verdict: may-hang
//@ finding: starvation LAUNCH
template <bool Right> static int tries(Setup) {
  SystemAtomic<int>* const flag = make_flag();
  sets<<<1, 1>>>(flag);
  for (bool done = false; !done;) {
    const auto end = Clock::now() + shortly;
    while (!done && Clock::now() < end) {
      done = Right ? cudaStreamQuery(nullptr) == cudaSuccess : flag->load() != 0;
    }
  }
  return static_cast<int>(cudaDeviceSynchronize());
}

// A flag of a kernel: nobody owes that it starts before somebody waits for it.
//@ case: flag-polled-and-queried
//@ verdict: terminates
//@ case: flag-polled
//@ verdict: may-hang
//@ finding: starvation LAUNCH
template <bool Right> static int flag(Setup) {
  SystemAtomic<int>* const flag = make_flag();
  sets<<<1, 1>>>(flag);
  while (flag->load(memory_order_acquire) == 0) {
    if (Right) {
      cudaStreamQuery(nullptr);
    }
    std::this_thread::sleep_until(Clock::now() + shortly);
  }
  return static_cast<int>(cudaDeviceSynchronize());
}

int main(int argc, char** argv) {
  return run_case(argc, argv, {
      {"condition-polled", condition<true>},
      {"condition-polled-taken-back", condition<false>},
      {"predicate-polled", predicate<true>},
      {"predicate-polled-taken-back", predicate<false>},
      {"posix-polled", posix<true>},
      {"posix-polled-in-vain", posix<false>},
      {"both-polled", both<true>},
      {"both-polled-in-a-circle", both<false>},
      {"future-polled", future<true>},
      {"future-polled-forgotten", future<false>},
      {"semaphore-polled", semaphore<true>},
      {"semaphore-polled-taken", semaphore<false>},
      {"lock-polled", lock<true>},
      {"lock-polled-never-unlocked", lock<false>},
      {"event-polled", event<true>},
      {"event-polled-too-early", event<false>},
      {"query-with-deadline", deadline<true>},
      {"query-with-deadline-in-vain", deadline<false>},
      {"deadlines-of-tries", tries<true>},
      {"deadlines-of-tries-in-vain", tries<false>},
      {"flag-polled-and-queried", flag<true>},
      {"flag-polled", flag<false>},
  });
}
