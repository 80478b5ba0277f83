// Several host threads: locks, condition variables, futures, barriers among them, and kernels that they
// launch, feed and wait for.
//
// A host thread that is not blocked always goes on ([HOST]), so what hangs is what blocks: a lock that
// its owner never gives back, a notification that came too early or never, and locks held across a call
// that has to wait for a kernel ([API]).
//@ nvcc: -std=c++20
#include "cases.h"

#include <cuda_runtime.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <future>
#include <mutex>
#include <shared_mutex>
#include <thread>

struct Mail {
  SystemAtomic<int> request, answer, stop;
};

static Mail* make_mail() {
  void* memory = nullptr;
  cudaMallocHost(&memory, sizeof(Mail));
  return new (memory) Mail{};
}

__global__ void add(Mail* mail) { mail->answer.fetch_add(1, memory_order_acq_rel); }
__global__ void set_answer(Mail* mail) { mail->answer.store(1, memory_order_release); }
__global__ void spin(Mail* mail) {
  while (mail->stop.load(memory_order_acquire) == 0) {
  }
}

// --- Locks ------------------------------------------------------------------------------------------

// Each thread launches on a stream of its own, one at a time.
//@ case: lock-two-streams
//@ verdict: terminates
//@ rests-on: API
static int lock_two_streams(Setup) {
  Mail* mail = make_mail();
  std::mutex mutex;
  int launches = 0;
  const auto work = [&] {
    cudaStream_t stream;
    cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
    {
      const std::lock_guard lock(mutex);
      add<<<1, 1, 0, stream>>>(mail);
      ++launches;
    }
    cudaStreamSynchronize(stream);
  };
  std::thread other(work);
  work();
  other.join();
  return mail->answer.load() == 2 && launches == 2 ? 0 : 1;
}

// Two locks, taken in opposite orders; in the same order; and both together, which libstdc++ does by
// trying, giving back and trying again: nothing keeps two threads from doing that in step.
//@ case: lock-opposite-order
//@ verdict: may-hang
//@ finding: deadlock HANG-DEADLOCK
//@ names: const std::lock_guard second
//@ names: const std::lock_guard second
//@ case: lock-same-order
//@ verdict: terminates
//@ case: lock-together
//@ verdict: may-hang
//@ finding: livelock HANG-LIVELOCK
enum class Taken { Opposite, Same, Together };

template <Taken taken> static int two_locks(Setup) {
  std::mutex a, b;
  const auto work = [](std::mutex& x, std::mutex& y) {
    if (taken == Taken::Together) {
      const std::scoped_lock both(x, y);
    } else {
      const std::lock_guard first(x);
      const std::lock_guard second(y);
    }
  };
  const bool same = taken == Taken::Same;
  std::thread other(work, std::ref(same ? a : b), std::ref(same ? b : a));
  work(a, b);
  other.join();
  return 0;
}

// A call that waits for a kernel, made with the lock that the kernel's release needs.
//@ case: lock-across-wait
//@ verdict: may-hang
//@ finding: livelock HANG-LIVELOCK
//@ case: lock-before-wait
//@ verdict: terminates
template <bool across> static int lock_and_wait(Setup) {
  Mail* mail = make_mail();
  std::mutex mutex;
  std::thread releaser([&] {
    const std::lock_guard lock(mutex);
    mail->stop.store(1, memory_order_release);
  });
  int result = 0;
  {
    std::unique_lock lock(mutex);
    if (!across) {
      lock.unlock();
    }
    spin<<<1, 1>>>(mail);
    result = static_cast<int>(cudaDeviceSynchronize());
  }
  releaser.join();
  return result;
}

// Readers and a writer; no lock is left behind.
//@ case: lock-shared
//@ verdict: terminates
static int lock_shared(Setup) {
  std::shared_mutex mutex;
  int value = 0, seen = 0;
  std::thread reader([&] {
    const std::shared_lock lock(mutex);
    seen = value;
  });
  {
    const std::unique_lock lock(mutex);
    value = 1;
  }
  reader.join();
  return seen > 1 ? 1 : 0;
}

// Peterson's algorithm with sequentially consistent atomics, and without the turn.
//@ case: peterson
//@ verdict: terminates
//@ case: peterson-without-turn
//@ verdict: may-hang
//@ finding: livelock HANG-LIVELOCK
template <bool with_turn> static int peterson(Setup) {
  std::atomic<int> flag[2] = {}, turn{0}, inside{0};
  bool together = false;
  const auto work = [&](int me) {
    flag[me].store(1);
    turn.store(1 - me);
    while (flag[1 - me].load() != 0 && (!with_turn || turn.load() == 1 - me)) {
    }
    together = together || inside.fetch_add(1) != 0;
    inside.fetch_sub(1);
    flag[me].store(0);
  };
  std::thread other(work, 1);
  work(0);
  other.join();
  return together ? 1 : 0;
}

// --- Condition variables ----------------------------------------------------------------------------

// A host thread tells another one that a kernel has ended. Without the lock the notification can come
// between the test and the waiting.
//@ case: notified
//@ verdict: terminates
//@ case: lost-wake-up
//@ verdict: may-hang
//@ finding: deadlock HANG-DEADLOCK
//@ names: changed.wait(lock)
template <bool locked> static int notify(Setup) {
  Mail* mail = make_mail();
  std::mutex mutex;
  std::condition_variable changed;
  std::atomic<bool> ready{false};
  std::thread other([&] {
    set_answer<<<1, 1>>>(mail);
    cudaDeviceSynchronize();
    {
      std::unique_lock<std::mutex> lock(mutex, std::defer_lock);
      if (locked) {
        lock.lock();
      }
      ready.store(true);
    }
    changed.notify_one();
  });
  {
    std::unique_lock lock(mutex);
    while (!ready.load()) {
      changed.wait(lock);
    }
  }
  other.join();
  return mail->answer.load() - 1;
}

// Waiting with a time limit ends without a notification.
//@ case: time-limit
//@ verdict: unknown
//@ coverage: bounded
static int time_limit(Setup) {
  std::mutex mutex;
  std::condition_variable changed;
  bool ready = false;
  std::thread forgetful([&] {
    const std::lock_guard lock(mutex);
    ready = true;
  });
  {
    std::unique_lock lock(mutex);
    changed.wait_for(lock, std::chrono::milliseconds(5), [&] { return ready; });
  }
  forgetful.join();
  return 0;
}

// The limit may pass while whoever notifies holds the lock: then the waiter is told that it is late, and finds
// that what it has waited for is there. To take "late" for "not there" is wrong.
//@ case: late-and-there
//@ verdict: unknown
//@ coverage: bounded
//@ case: late-means-not-there
//@ verdict: may-hang
//@ finding: livelock HANG-LIVELOCK
template <bool looks> int late_and_there(Setup) {
  static std::mutex lock;
  static std::condition_variable changed;
  static bool there = false;
  Mail* mail = make_mail();
  add<<<1, 1>>>(mail);
  std::thread brings([] {
    const std::lock_guard held(lock);
    there = true;
    changed.notify_one();
  });
  {
    std::unique_lock held(lock);
    bool late = false;
    while (!there && !late) {
      late = changed.wait_for(held, std::chrono::milliseconds(1)) == std::cv_status::timeout;
    }
    const bool gives_up = looks ? !there && !late : there && late;
    while (gives_up && mail->stop.load(memory_order_acquire) == 0) {
    }
  }
  brings.join();
  return static_cast<int>(cudaDeviceSynchronize());
}

// A queue of one place between two threads. With one condition variable for both sides and three
// threads, notify_one may wake the wrong one.
//@ case: queue
//@ verdict: terminates
//@ case: queue-wrong-one-woken
//@ verdict: may-hang
//@ finding: deadlock HANG-DEADLOCK
template <bool wake_all> static int queue(Setup) {
  std::mutex mutex;
  std::condition_variable changed;
  bool full = false;
  const auto put = [&] {
    std::unique_lock lock(mutex);
    changed.wait(lock, [&] { return !full; });
    full = true;
    wake_all ? changed.notify_all() : changed.notify_one();
  };
  const auto take = [&] {
    std::unique_lock lock(mutex);
    changed.wait(lock, [&] { return full; });
    full = false;
    wake_all ? changed.notify_all() : changed.notify_one();
  };
  std::thread first(take), second(take);
  put();
  put();
  first.join();
  second.join();
  return 0;
}

// --- Futures and atomics ----------------------------------------------------------------------

//@ case: promise
//@ verdict: terminates
//@ rests-on: API
//@ case: promise-never-kept
//@ verdict: may-hang
//@ finding: deadlock HANG-DEADLOCK
template <bool kept> static int promise(Setup) {
  Mail* mail = make_mail();
  std::promise<int> promise;
  std::thread other([&] {
    set_answer<<<1, 1>>>(mail);
    cudaDeviceSynchronize();
    if (kept) {
      promise.set_value(mail->answer.load());
    }
  });
  const int answer = promise.get_future().get();
  other.join();
  return answer - 1;
}

// std::atomic::wait sleeps until it is notified; that the value has changed is not enough.
//@ case: atomic-wait
//@ verdict: terminates
//@ case: atomic-wait-not-notified
//@ verdict: may-hang
//@ finding: deadlock HANG-DEADLOCK
template <bool notified> static int atomic_wait(Setup) {
  std::atomic<int> stage{0};
  std::thread other([&] { stage.wait(0); });
  stage.store(1);
  if (notified) {
    stage.notify_one();
  }
  other.join();
  return 0;
}

// --- Host and device --------------------------------------------------------------------------------

// Answers two requests.
__global__ void serve(Mail* mail) {
  for (int round = 1; round <= 2; ++round) {
    while (mail->request.load(memory_order_acquire) < round) {
    }
    mail->answer.store(round, memory_order_release);
  }
}

// One thread launches and waits for the end, the other one feeds: it has to ask whether the kernel
// answers only if it waits for that.
//@ case: fed
//@ verdict: terminates
//@ case: fed-in-step
//@ verdict: unknown
//@ coverage: bounded
template <bool in_step> static int feed(Setup) {
  Mail* mail = make_mail();
  std::thread feeder([=] {
    for (int round = 1; round <= 2; ++round) {
      mail->request.store(round, memory_order_release);
      while (in_step && mail->answer.load(memory_order_acquire) < round) {
      }
    }
  });
  serve<<<1, 1>>>(mail);
  const int result = static_cast<int>(cudaDeviceSynchronize());
  feeder.join();
  return result;
}

// The thread that would feed is joined first, and waits for a kernel that need not start. Besides, the
// launch may stay blocked while its kernel waits for a thread that is only created afterwards.
//@ case: fed-in-step-joined-first
//@ verdict: may-hang
//@ finding: starvation LAUNCH
//@ finding: starvation API
//@ coverage: bounded
static int feed_joined_first(Setup) {
  Mail* mail = make_mail();
  serve<<<1, 1>>>(mail);
  std::thread feeder([=] {
    mail->request.store(2, memory_order_release);
    while (mail->answer.load(memory_order_acquire) < 2) {
    }
  });
  feeder.join();
  return static_cast<int>(cudaDeviceSynchronize());
}

int main(int argc, char** argv) {
  return run_case(
      argc,
      argv,
      {{"lock-two-streams", lock_two_streams},
       {"lock-opposite-order", two_locks<Taken::Opposite>},
       {"lock-same-order", two_locks<Taken::Same>},
       {"lock-together", two_locks<Taken::Together>},
       {"lock-across-wait", lock_and_wait<true>},
       {"lock-before-wait", lock_and_wait<false>},
       {"lock-shared", lock_shared},
       {"peterson", peterson<true>},
       {"peterson-without-turn", peterson<false>},
       {"notified", notify<true>},
       {"lost-wake-up", notify<false>},
       {"time-limit", time_limit},
       {"late-and-there", late_and_there<true>},
       {"late-means-not-there", late_and_there<false>},
       {"queue", queue<true>},
       {"queue-wrong-one-woken", queue<false>},
       {"promise", promise<true>},
       {"promise-never-kept", promise<false>},
       {"atomic-wait", atomic_wait<true>},
       {"atomic-wait-not-notified", atomic_wait<false>},
       {"fed", feed<false>},
       {"fed-in-step", feed<true>},
       {"fed-in-step-joined-first", feed_joined_first}}
  );
}
