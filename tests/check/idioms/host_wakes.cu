// Waits on condition variables that return although nobody has notified ([HOST-WAKE]).
//
// A loop that tests what it waits for goes on waiting: all of that is searched, and changes nothing. Nobody is owed
// such a return, so where nothing else can happen the program is blocked.
#include "cases.h"

#include <pthread.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <ctime>
#include <mutex>
#include <thread>

struct Shared {
  std::mutex mutex;
  std::condition_variable changed;
  bool ready = false;
  int items = 0, taken = 0;
};

/// Waits in a loop, or once.
template <bool Loop, class Test> static void await(Shared& shared, std::unique_lock<std::mutex>& lock, Test test) {
  if (Loop) {
    shared.changed.wait(lock, test);
  } else if (!test()) {
    shared.changed.wait(lock);
  }
}

// One puts something there, the other one takes it.
//@ case: producer-and-consumer
//@ verdict: terminates
//@ case: consumer-without-loop
//@ verdict: defect
//@ finding: exit-status HOST-WAKE
//@ names: });
//@ names: shared.changed.wait(lock);
template <bool Loop> static int consume(Setup) {
  static Shared shared;
  std::thread producer([] {
    const std::lock_guard lock(shared.mutex);
    ++shared.items;
    shared.changed.notify_one();
  });
  int left = 0;
  {
    std::unique_lock lock(shared.mutex);
    await<Loop>(shared, lock, [] { return shared.items > 0; });
    left = --shared.items;
  }
  producer.join();
  return left == 0 ? 0 : 3;
}

// Who goes on too early takes back what is not there yet, and the other one waits for that forever.
//@ case: hand-over
//@ verdict: terminates
//@ case: hand-over-without-loop
//@ verdict: may-hang
//@ finding: deadlock HOST-WAKE
template <bool Loop> static int hand_over(Setup) {
  static Shared shared;
  std::thread taker([] {
    std::unique_lock lock(shared.mutex);
    await<Loop>(shared, lock, [] { return shared.ready; });
    shared.ready = false;
    shared.changed.notify_all();
  });
  {
    std::unique_lock lock(shared.mutex);
    shared.ready = true;
    shared.changed.notify_all();
    shared.changed.wait(lock, [] { return !shared.ready; });
  }
  taker.join();
  return 0;
}

// Goes by a pointer that is not set.
//@ case: pointer
//@ verdict: terminates
//@ case: pointer-without-loop
//@ verdict: defect
//@ finding: host-crash HOST-WAKE
//@ incomplete: a crash ends the search
template <bool Loop> static int pointer(Setup) {
  static Shared shared;
  static int* volatile where = nullptr;
  std::thread other([] {
    static int value = 5;
    const std::lock_guard lock(shared.mutex);
    where = &value;
    shared.changed.notify_one();
  });
  int seen = 0;
  {
    std::unique_lock lock(shared.mutex);
    await<Loop>(shared, lock, [] { return where != nullptr; });
    seen = *where;
  }
  other.join();
  return seen - 5;
}

// The flag is set between the test and the wait, since no lock keeps the two together.
//@ case: set-with-lock
//@ verdict: terminates
//@ case: set-without-lock
//@ verdict: may-hang
//@ finding: deadlock HANG-DEADLOCK
//@ names: shared.changed.wait(lock, test)
template <bool Locks> static int set(Setup) {
  static Shared shared;
  static std::atomic<bool> there{false};
  std::thread other([] {
    std::unique_lock lock(shared.mutex, std::defer_lock);
    if (Locks) {
      lock.lock();
    }
    there.store(true);
    shared.changed.notify_one();
  });
  {
    std::unique_lock lock(shared.mutex);
    await<true>(shared, lock, [] { return there.load(); });
  }
  other.join();
  return 0;
}

// A wait that has no test returns without a notification, too, and need not: who relies on that waits forever.
//@ case: nobody-notifies
//@ verdict: may-hang
//@ finding: deadlock HANG-DEADLOCK
//@ case: nobody-notifies-without-loop
//@ verdict: may-hang
//@ finding: deadlock HANG-DEADLOCK
template <bool Loop> static int nobody(Setup) {
  static Shared shared;
  std::thread other([] {
    const std::lock_guard lock(shared.mutex);
    shared.ready = true;
  });
  {
    std::unique_lock lock(shared.mutex);
    await<Loop>(shared, lock, [] { return shared.ready; });
  }
  other.join();
  return 0;
}

// Two wait for the same: to notify one of them is too little.
//@ case: all-are-notified
//@ verdict: terminates
//@ case: one-is-notified
//@ verdict: may-hang
//@ finding: deadlock HANG-DEADLOCK
template <bool All> static int two_wait(Setup) {
  static Shared shared;
  const auto waits = [] {
    std::unique_lock lock(shared.mutex);
    await<true>(shared, lock, [] { return shared.ready; });
  };
  std::thread other(waits);
  std::thread third([] {
    const std::lock_guard lock(shared.mutex);
    shared.ready = true;
    All ? shared.changed.notify_all() : shared.changed.notify_one();
  });
  waits();
  other.join();
  third.join();
  return 0;
}

// Two wait for different things with one condition variable: the one that is notified may be the wrong one.
//@ case: two-kinds-of-waiters
//@ verdict: terminates
//@ case: wrong-kind-is-notified
//@ verdict: may-hang
//@ finding: deadlock HANG-DEADLOCK
template <bool All> static int two_kinds(Setup) {
  static Shared shared;
  const auto tell = [] { All ? shared.changed.notify_all() : shared.changed.notify_one(); };
  std::thread takes([] {
    std::unique_lock lock(shared.mutex);
    await<true>(shared, lock, [] { return shared.items > 0; });
  });
  std::thread waits_for_end([] {
    std::unique_lock lock(shared.mutex);
    await<true>(shared, lock, [] { return shared.taken > 0; });
  });
  {
    const std::lock_guard lock(shared.mutex);
    ++shared.items;
    tell();
  }
  takes.join();
  {
    const std::lock_guard lock(shared.mutex);
    ++shared.taken;
    tell();
  }
  waits_for_end.join();
  return 0;
}

// A kernel goes on while the host waits.
__global__ void answer(SystemAtomic<int>* flag) { flag->store(1, memory_order_release); }
//@ case: beside-a-kernel
//@ verdict: terminates
//@ case: beside-a-kernel-without-loop
//@ verdict: defect
//@ finding: exit-status HOST-WAKE
template <bool Loop> static int beside_a_kernel(Setup) {
  static Shared shared;
  static SystemAtomic<int>* flag = nullptr;
  cudaMallocHost(&flag, sizeof *flag);
  flag->store(0);
  std::thread other([] {
    answer<<<1, 1>>>(flag);
    cudaDeviceSynchronize();
    const std::lock_guard lock(shared.mutex);
    shared.ready = true;
    shared.changed.notify_one();
  });
  int seen = 0;
  {
    std::unique_lock lock(shared.mutex);
    await<Loop>(shared, lock, [] { return shared.ready; });
    seen = flag->load(memory_order_acquire);
  }
  other.join();
  return seen == 1 ? 0 : 3;
}

// A wait with a time limit may also be late, and it may return early though nobody has notified: that it is not late
// says nothing of what it has waited for.
//@ case: with-a-limit
//@ verdict: terminates
//@ case: not-late-means-there
//@ verdict: defect
//@ finding: exit-status HOST-WAKE
//@ names: });
//@ names: if (shared.items > 0 || shared.changed.wait_for(lock, hour) == std::cv_status::no_timeout) {
template <bool Looks> static int with_a_limit(Setup) {
  static Shared shared;
  std::thread producer([] {
    const std::lock_guard lock(shared.mutex);
    ++shared.items;
    shared.changed.notify_one();
  });
  int left = 0;
  {
    constexpr std::chrono::hours hour(1);
    std::unique_lock lock(shared.mutex);
    if (shared.items > 0 || shared.changed.wait_for(lock, hour) == std::cv_status::no_timeout) {
      left = Looks && shared.items == 0 ? 0 : --shared.items;
    }
  }
  producer.join();
  return left == 0 ? 0 : 3;
}

// Late, notified, or neither: what is waited for is looked at, or not being late is taken for it.
//@ case: gives-up
//@ verdict: terminates
//@ case: gives-up-and-forgets
//@ verdict: defect
//@ finding: exit-status HOST-WAKE
//@ names: pthread_mutex_unlock(&mutex);
//@ names: what = pthread_cond_timedwait(&changed, &mutex, &limit);
template <bool Looks> static int gives_up(Setup) {
  static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
  static SystemAtomic<int>* flag = nullptr;
  static bool ready = false;
  cudaMallocHost(&flag, sizeof *flag);
  flag->store(0);
  timespec limit{};
  clock_gettime(CLOCK_REALTIME, &limit);
  limit.tv_sec += 1;
  pthread_mutex_lock(&mutex);
  std::thread other([] {
    answer<<<1, 1>>>(flag);
    cudaDeviceSynchronize();
    pthread_mutex_lock(&mutex);
    ready = true;
    pthread_cond_signal(&changed);
    pthread_mutex_unlock(&mutex);
  });
  int what = 0;
  while (!ready && what == 0) {
    what = pthread_cond_timedwait(&changed, &mutex, &limit);
    if (!Looks) {
      break;
    }
  }
  const bool late = what == ETIMEDOUT;
  pthread_mutex_unlock(&mutex);
  const int seen = flag->load(memory_order_acquire);
  other.join();
  return seen == 1 || late ? 0 : 3;
}

// The way to a deadlock is shorter with a wait that returns early. The report is about the other one: no such wait is
// needed.
//@ case: first-wait-is-notified
//@ verdict: terminates
//@ case: second-wait-is-not
//@ verdict: may-hang
//@ finding: deadlock HANG-DEADLOCK
template <bool Right> static int two_waits(Setup) {
  static Shared shared;
  static std::mutex mine;
  std::unique_lock lock(shared.mutex);
  std::thread other([] {
    bool returned = false;
    {
      const std::lock_guard held(shared.mutex);
      returned = shared.ready;
    }
    for (int n = 0; n < 3 && !returned; ++n) {
      const std::lock_guard held(mine);
    }
    const std::lock_guard held(shared.mutex);
    shared.changed.notify_one();
  });
  shared.changed.wait(lock);
  shared.ready = true;
  lock.unlock();
  { const std::lock_guard held(mine); }
  other.join();
  lock.lock();
  if (!Right) {
    shared.changed.wait(lock);
  }
  return 0;
}

int main(int argc, char** argv) {
  return run_case(argc, argv, {
      {"producer-and-consumer", consume<true>},
      {"consumer-without-loop", consume<false>},
      {"hand-over", hand_over<true>},
      {"hand-over-without-loop", hand_over<false>},
      {"pointer", pointer<true>},
      {"pointer-without-loop", pointer<false>},
      {"set-with-lock", set<true>},
      {"set-without-lock", set<false>},
      {"nobody-notifies", nobody<true>},
      {"nobody-notifies-without-loop", nobody<false>},
      {"all-are-notified", two_wait<true>},
      {"one-is-notified", two_wait<false>},
      {"two-kinds-of-waiters", two_kinds<true>},
      {"wrong-kind-is-notified", two_kinds<false>},
      {"beside-a-kernel", beside_a_kernel<true>},
      {"beside-a-kernel-without-loop", beside_a_kernel<false>},
      {"with-a-limit", with_a_limit<true>},
      {"not-late-means-there", with_a_limit<false>},
      {"gives-up", gives_up<true>},
      {"gives-up-and-forgets", gives_up<false>},
      {"first-wait-is-notified", two_waits<true>},
      {"second-wait-is-not", two_waits<false>},
  });
}
