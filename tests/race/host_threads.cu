// Threads of the host: what one of them has waited for or done, another one knows only if something orders the
// two ([RACE-HOST]). A relaxed atomic decides who comes first in time, and orders nothing.
//@ nvcc: -std=c++20 -Xcompiler=-fopenmp
#include "cases.h"

#include <atomic>
#include <barrier>
#include <condition_variable>
#include <functional>
#include <future>
#include <latch>
#include <mutex>
#include <pthread.h>
#include <queue>
#include <semaphore.h>
#include <semaphore>
#include <shared_mutex>
#include <thread>
#include <unistd.h>

__global__ void fill(int* data, int value) { data[threadIdx.x] = value; }
__global__ void add(const int* in, int* out) { out[threadIdx.x] = in[threadIdx.x] + 1; }

constexpr int count = 32;
template <class T = int> T* managed() {
  T* p = nullptr;
  must(cudaMallocManaged(&p, count * sizeof(T)));
  return p;
}
cudaStream_t stream() {
  cudaStream_t s = nullptr;
  must(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
  return s;
}
void use(int value) { static volatile int sink; sink = value; }

struct Turn { // in time only
  std::atomic<int> now{0};
  void come() { now.store(1, std::memory_order_relaxed); }
  void wait() {
    while (now.load(std::memory_order_relaxed) == 0) {
      std::this_thread::yield();
    }
  }
};

/// A kernel fills memory. A thread waits for it and calls tell(); this one calls hear() later, and reads.
void hand_over(const std::function<void()>& tell, const std::function<void()>& hear) {
  int* data = managed();
  cudaStream_t s = stream();
  Turn turn;
  fill<<<1, count, 0, s>>>(data, 1);
  std::thread waits([&] {
    must(cudaStreamSynchronize(s));
    tell();
    turn.come();
  });
  turn.wait();
  hear();
  use(data[1]);
  waits.join();
}
void nothing() {}

CASE(joined, "RACE-HOST") {
  int* data = managed();
  cudaStream_t s = stream();
  fill<<<1, count, 0, s>>>(data, 1);
  std::thread waits([&] { must(cudaStreamSynchronize(s)); });
  if (right) {
    waits.join();
  }
  use(data[1]);
  if (!right) {
    waits.join();
  }
}

// The same between two kernels.
CASE(joined_before_the_launch, "two kernels|stream") {
  int* data = device_memory<int>(count);
  must(cudaDeviceSynchronize());
  cudaStream_t s = stream(), t = stream();
  fill<<<1, count, 0, s>>>(data, 1);
  std::thread waits([&] { must(cudaStreamSynchronize(s)); });
  if (right) {
    waits.join();
  }
  fill<<<1, count, 0, t>>>(data, 2);
  if (!right) {
    waits.join();
  }
}

CASE(started_after_the_wait, "RACE-HOST") {
  int* data = managed();
  Turn waited;
  fill<<<1, count>>>(data, 1);
  if (right) {
    must(cudaDeviceSynchronize());
  }
  std::thread reads([&] {
    waited.wait();
    use(data[1]);
  });
  if (!right) {
    must(cudaDeviceSynchronize());
  }
  waited.come();
  reads.join();
}

CASE(mutex, "RACE-HOST") {
  std::mutex one, other;
  hand_over([&] { std::lock_guard lock(one); }, [&] { std::lock_guard lock(right ? one : other); });
}

CASE(shared_mutex, "RACE-HOST") {
  std::shared_mutex one, other;
  hand_over([&] { std::lock_guard lock(one); }, [&] { std::shared_lock lock(right ? one : other); });
}

CASE(try_lock, "RACE-HOST") {
  std::timed_mutex one, other;
  hand_over([&] { std::lock_guard lock(one); }, [&] {
    auto& mutex = right ? one : other;
    while (!mutex.try_lock_for(std::chrono::seconds(1))) {
    }
    mutex.unlock();
  });
}

CASE(spin_lock, "RACE-HOST") {
  pthread_spinlock_t one, other;
  pthread_spin_init(&one, 0);
  pthread_spin_init(&other, 0);
  const auto pass = [](pthread_spinlock_t& lock) {
    pthread_spin_lock(&lock);
    pthread_spin_unlock(&lock);
  };
  hand_over([&] { pass(one); }, [&] { pass(right ? one : other); });
}

CASE(atomic_release, "RACE-HOST") {
  std::atomic<int> flag{0};
  hand_over([&] { flag.store(1, right ? std::memory_order_release : std::memory_order_relaxed); },
            [&] { use(flag.load(std::memory_order_acquire)); });
}

CASE(atomic_acquire, "RACE-HOST") {
  std::atomic<int> flag{0};
  hand_over([&] { flag.store(1, std::memory_order_release); },
            [&] { use(flag.load(right ? std::memory_order_acquire : std::memory_order_relaxed)); });
}

CASE(atomic_update, "RACE-HOST") {
  std::atomic<long> one{0}, other{0};
  hand_over([&] { one.fetch_add(1); }, [&] {
    long expected = 1;
    (right ? one : other).compare_exchange_strong(expected, 2);
  });
}

CASE(fences, "RACE-HOST") {
  std::atomic<int> flag{0};
  hand_over(
      [&] {
        std::atomic_thread_fence(std::memory_order_release);
        flag.store(1, std::memory_order_relaxed);
      },
      [&] {
        use(flag.load(std::memory_order_relaxed));
        if (right) {
          std::atomic_thread_fence(std::memory_order_acquire);
        }
      }
  );
}

CASE(volatile_flag, "RACE-HOST") {
  static volatile int flag, other;
  flag = other = 0;
  hand_over([] { flag = 1; }, [] {
    while (right && flag == 0) {
    }
    use(other);
  });
}

CASE(condition_variable, "RACE-HOST") {
  std::mutex mutex;
  std::condition_variable changed;
  bool ready = false;
  hand_over(
      [&] {
        std::lock_guard lock(mutex);
        ready = true;
        changed.notify_all();
      },
      [&] {
        if (right) {
          std::unique_lock lock(mutex);
          changed.wait(lock, [&] { return ready; });
        }
      }
  );
}

CASE(future, "RACE-HOST") {
  std::promise<int> one, other;
  other.set_value(1);
  hand_over([&] { one.set_value(1); }, [&] { use((right ? one : other).get_future().get()); });
}

CASE(async, "RACE-HOST") {
  int* data = managed();
  fill<<<1, count>>>(data, 1);
  auto waits = std::async(std::launch::async, [] { must(cudaDeviceSynchronize()); });
  if (right) {
    waits.get();
  }
  use(data[1]);
}

CASE(latch, "RACE-HOST") {
  std::latch one(1), other(0);
  hand_over([&] { one.count_down(); }, [&] { (right ? one : other).wait(); });
}

CASE(barrier, "RACE-HOST") {
  std::barrier<> one(1), both(1);
  hand_over([&] { one.arrive_and_wait(); }, [&] {
    if (right) {
      one.arrive_and_wait();
    } else {
      both.arrive_and_wait();
    }
  });
}

CASE(posix_barrier, "RACE-HOST") {
  int* data = managed();
  pthread_barrier_t meet;
  pthread_barrier_init(&meet, nullptr, 2);
  fill<<<1, count>>>(data, 1);
  std::thread waits([&] {
    if (!right) {
      pthread_barrier_wait(&meet);
    }
    must(cudaDeviceSynchronize());
    if (right) {
      pthread_barrier_wait(&meet);
    }
  });
  pthread_barrier_wait(&meet);
  use(data[1]);
  waits.join();
}

CASE(semaphores, "RACE-HOST") {
  std::counting_semaphore<8> one(0), other(1);
  hand_over([&] { one.release(); }, [&] { (right ? one : other).acquire(); });
}

CASE(posix_semaphores, "RACE-HOST") {
  sem_t one, other;
  sem_init(&one, 0, 0);
  sem_init(&other, 0, 1);
  hand_over([&] { sem_post(&one); }, [&] { sem_wait(right ? &one : &other); });
}

CASE(waits_for_an_atomic, "RACE-HOST") {
  std::atomic<int> one{0}, other{1};
  hand_over(
      [&] {
        one = 1;
        one.notify_all();
      },
      [&] { (right ? one : other).wait(0); }
  );
}

CASE(called_once, "RACE-HOST") {
  static int* data;
  data = managed();
  std::once_flag once, other;
  cudaStream_t s = stream();
  Turn turn;
  fill<<<1, count, 0, s>>>(data, 1);
  std::thread first([&] {
    std::call_once(once, [&] { must(cudaStreamSynchronize(s)); });
    turn.come();
  });
  turn.wait();
  std::call_once(right ? once : other, nothing);
  use(data[1]);
  first.join();
}

cudaStream_t stream_of_static;
int wait_for_static() {
  must(cudaStreamSynchronize(stream_of_static));
  return 1;
}
int static_value() {
  static int value = wait_for_static();
  return value;
}
CASE(static_variable, "RACE-HOST") {
  int* data = managed();
  stream_of_static = stream();
  Turn turn;
  fill<<<1, count, 0, stream_of_static>>>(data, 1);
  std::thread first([&] {
    use(static_value());
    turn.come();
  });
  turn.wait();
  if (right) {
    use(static_value());
  }
  use(data[1]);
  first.join();
}

CASE(through_a_pipe, "RACE-HOST") {
  int ends[2];
  must(pipe(ends) == 0 ? cudaSuccess : cudaErrorUnknown);
  hand_over([&] { use(int(write(ends[1], "x", 1))); }, [&] {
    char byte;
    if (right) {
      use(int(read(ends[0], &byte, 1)));
    }
  });
}

// Jobs in a queue: what the one who brings them has done comes before what the worker does, and the end of all
// jobs before what follows it.
struct Pool {
  std::mutex mutex;
  std::condition_variable changed;
  std::queue<std::function<void()>> jobs;
  int open = 0;
  bool over = false;
  std::thread worker{[this] {
    for (;;) {
      std::unique_lock lock(mutex);
      changed.wait(lock, [this] { return over || !jobs.empty(); });
      if (jobs.empty()) {
        return;
      }
      auto job = std::move(jobs.front());
      jobs.pop();
      lock.unlock();
      job();
      lock.lock();
      --open;
      changed.notify_all();
    }
  }};
  void bring(std::function<void()> job) {
    std::lock_guard lock(mutex);
    ++open;
    jobs.push(std::move(job));
    changed.notify_all();
  }
  void wait() {
    std::unique_lock lock(mutex);
    changed.wait(lock, [this] { return open == 0; });
  }
  ~Pool() {
    {
      std::lock_guard lock(mutex);
      over = true;
    }
    changed.notify_all();
    worker.join();
  }
};
CASE(pool, "RACE-HOST") {
  int* data = managed();
  Pool pool;
  for (int round = 0; round < 3; ++round) {
    data[1] = round;
    pool.bring([=] {
      fill<<<1, count>>>(data, round);
      if (right) {
        must(cudaStreamSynchronize(0));
      }
    });
    pool.wait();
    use(data[1]);
  }
}

CASE(launched_by_another_thread, "RACE-HOST") {
  int* data = managed();
  int* out = device_memory<int>(count);
  must(cudaDeviceSynchronize());
  Turn turn;
  std::atomic<bool> written{false};
  std::thread launches([&] {
    turn.wait();
    while (right && !written) {
    }
    add<<<1, count>>>(data, out);
    must(cudaDeviceSynchronize());
  });
  data[1] = 1;
  written = true;
  turn.come();
  launches.join();
}

// A thread for each stream, as many programs have them.
CASE(a_thread_for_each_stream, "RACE-HOST") {
  std::thread threads[4];
  int* data = managed();
  for (int i = 0; i < 4; ++i) {
    threads[i] = std::thread([=] {
      cudaStream_t s = stream();
      int* mine = managed();
      for (int round = 0; round < 3; ++round) {
        mine[2] = round;
        fill<<<1, count, 0, s>>>(mine, round);
        fill<<<1, 1, 0, s>>>(data + i, round);
        must(cudaStreamSynchronize(s));
        use(mine[2]);
        use(data[right ? i : (i + 1) % 4]);
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  use(data[3]);
}

CASE(team_of_openmp, "RACE-HOST") {
  int* data = managed();
  fill<<<1, count>>>(data, 1);
  if (right) {
    must(cudaDeviceSynchronize());
  }
#pragma omp parallel for num_threads(2)
  for (int i = 0; i < count; ++i) {
    data[i] += i;
  }
  fill<<<1, count>>>(data, 2);
  must(cudaDeviceSynchronize());
#pragma omp parallel for num_threads(2)
  for (int i = 0; i < count; ++i) {
    data[i] += i;
  }
}

// --- Host functions ------------------------------------------------------------------------------------------------

CASE(what_a_host_function_writes, "RACE-HOST") {
  static int* data;
  data = managed();
  must(cudaLaunchHostFunc(0, [](void*) { data[1] = 7; }, nullptr));
  if (right) {
    must(cudaStreamSynchronize(0));
  }
  use(data[1]);
}

CASE(host_function_and_another_stream, "RACE-HOST") {
  static int* data;
  data = managed();
  int* out = device_memory<int>(count);
  must(cudaDeviceSynchronize());
  cudaStream_t a = stream(), b = stream();
  must(cudaLaunchHostFunc(a, [](void*) { data[1] = 7; }, nullptr));
  add<<<1, count, 0, right ? a : b>>>(data, out);
}

CASE(host_function_tells_a_thread, "RACE-HOST") {
  static int* data;
  static std::promise<void> told;
  data = managed();
  cudaStream_t s = stream();
  if (!right) {
    must(cudaLaunchHostFunc(s, [](void*) { told.set_value(); }, nullptr));
  }
  fill<<<1, count, 0, s>>>(data, 1);
  if (right) {
    must(cudaLaunchHostFunc(s, [](void*) { told.set_value(); }, nullptr));
  }
  told.get_future().wait();
  use(data[1]);
}

// What the function has been told comes before the commands behind it, though these were submitted before.
CASE(host_function_waits_for_a_thread, "RACE-HOST") {
  static int* data;
  static std::promise<void> written;
  data = managed();
  int* out = device_memory<int>(count);
  must(cudaDeviceSynchronize());
  cudaStream_t s = stream();
  must(cudaLaunchHostFunc(s, [](void*) { written.get_future().wait(); }, nullptr));
  add<<<1, count, 0, s>>>(data, out);
  if (right) {
    data[1] = 7;
  }
  written.set_value();
  if (!right) {
    data[1] = 7;
  }
}
