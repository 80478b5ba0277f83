// Host threads that work for others: pools with a queue, semaphores that limit what is under way, asynchronous calls,
// threads that are asked to stop. Each thread launches a kernel and waits for it. One right and one wrong version of
// each: a wake-up that is lost, a slot that is never given back, a thread that nobody asks to stop or waits for.
//@ nvcc: -std=c++20
#include "cases.h"

#include <barrier>
#include <condition_variable>
#include <future>
#include <latch>
#include <mutex>
#include <semaphore>
#include <stop_token>
#include <thread>

#include <semaphore.h>

__global__ void put(int* to, int value) { *to = value; }

// A place for each task, and a stream.
struct Task {
  int* at = nullptr;
  cudaStream_t stream{};
};
static Task make_task() {
  Task task;
  cudaMallocManaged(&task.at, sizeof(int));
  cudaStreamCreateWithFlags(&task.stream, cudaStreamNonBlocking);
  *task.at = 0;
  return task;
}
static void perform(const Task& task, int value) {
  put<<<1, 1, 0, task.stream>>>(task.at, value);
  cudaStreamSynchronize(task.stream);
}

// --- A pool of two over two tasks -----------------------------------------------------------------

enum class Pool { Right, ToldWithoutLock, OneIsTold, TestedOnce };

struct Queue {
  std::mutex mutex;
  std::condition_variable changed;
  int tasks[2]{}, first = 0, last = 0;
  bool closed = false;
};

template <Pool pool> static void work(Queue& queue, const Task* tasks) {
  for (;;) {
    int task = 0;
    {
      std::unique_lock lock(queue.mutex);
      const auto some = [&] { return queue.closed || queue.first != queue.last; };
      if (pool != Pool::TestedOnce) {
        queue.changed.wait(lock, some);
      } else if (!some()) {
        queue.changed.wait(lock);
      }
      if (queue.first == queue.last) {
        return;
      }
      task = queue.tasks[queue.first++];
    }
    perform(tasks[task], task + 1);
  }
}

//@ case: pool
//@ verdict: terminates
// The pool is closed between a worker's test and its wait, since no lock keeps the two together.
//@ case: pool-closed-without-lock
//@ verdict: may-hang
//@ finding: deadlock HANG-DEADLOCK
//@ case: pool-one-is-told
//@ verdict: may-hang
//@ finding: deadlock HANG-DEADLOCK
// A wait that returns without a reason ends the worker; the task that comes later is never performed.
//@ case: pool-tested-once
//@ verdict: defect
//@ finding: exit-status HOST-WAKE
template <Pool pool> static int pool_of_two(Setup) {
  const Task tasks[2] = {make_task(), make_task()};
  Queue queue;
  std::thread first(work<pool>, std::ref(queue), tasks);
  std::thread second(work<pool>, std::ref(queue), tasks);
  for (int task = 0; task < 2; ++task) {
    {
      const std::lock_guard lock(queue.mutex);
      queue.tasks[queue.last++] = task;
    }
    queue.changed.notify_one();
  }
  if (pool == Pool::ToldWithoutLock) {
    queue.closed = true;
  } else {
    const std::lock_guard lock(queue.mutex);
    queue.closed = true;
  }
  pool == Pool::OneIsTold ? queue.changed.notify_one() : queue.changed.notify_all();
  first.join();
  second.join();
  return *tasks[0].at == 1 && *tasks[1].at == 2 ? 0 : 1;
}

// --- Semaphores that limit what is under way -----------------------------------------------------

//@ case: slots
//@ verdict: terminates
//@ case: slots-kept
//@ verdict: may-hang
//@ finding: deadlock
template <bool Gives> static int slots_of_one(Setup) {
  static std::counting_semaphore<1> slots(1);
  const Task tasks[2] = {make_task(), make_task()};
  const auto user = [](const Task& task) {
    slots.acquire();
    perform(task, 1);
    if (Gives) {
      slots.release();
    }
  };
  std::thread first(user, std::cref(tasks[0])), second(user, std::cref(tasks[1]));
  first.join();
  second.join();
  return *tasks[0].at + *tasks[1].at - 2;
}

//@ case: posix-slots
//@ verdict: terminates
//@ case: posix-slots-kept
//@ verdict: may-hang
//@ finding: deadlock
template <bool Gives> static int posix_slots(Setup) {
  static sem_t slots;
  sem_init(&slots, 0, 1);
  const Task tasks[2] = {make_task(), make_task()};
  const auto user = [](const Task& task) {
    sem_wait(&slots);
    perform(task, 1);
    if (Gives) {
      sem_post(&slots);
    }
  };
  std::thread first(user, std::cref(tasks[0])), second(user, std::cref(tasks[1]));
  first.join();
  second.join();
  return *tasks[0].at + *tasks[1].at - 2;
}

// --- Two asynchronous calls ---------------------------------------------------------------------

//@ case: two-calls
//@ verdict: terminates
// Each waits for the other one's result.
//@ case: two-calls-crossed
//@ verdict: may-hang
//@ finding: deadlock
template <bool Crossed> static int two_calls(Setup) {
  const Task tasks[2] = {make_task(), make_task()};
  std::promise<void> done[2];
  std::future<void> is_done[2] = {done[0].get_future(), done[1].get_future()};
  const auto call = [&](int n) {
    if (Crossed) {
      is_done[1 - n].wait();
    }
    perform(tasks[n], 1);
    done[n].set_value();
    return *tasks[n].at;
  };
  std::future<int> first = std::async(std::launch::async, call, 0);
  std::future<int> second = std::async(std::launch::async, call, 1);
  return first.get() + second.get() - 2;
}

// --- A thread that is asked to stop --------------------------------------------------------------

//@ case: asked-to-stop
//@ verdict: terminates
//@ case: nobody-asks
//@ verdict: may-hang
//@ finding: livelock
template <bool Asks> static int asked_to_stop(Setup) {
  const Task task = make_task();
  std::jthread other([](std::stop_token stop) {
    while (!stop.stop_requested()) {
      std::this_thread::yield();
    }
  });
  perform(task, 1);
  if (!Asks) {
    other.join();
  }
  return *task.at - 1; // the destructor asks it to stop, and joins
}

// Waits for a task, or to be asked.
//@ case: stops-waiting
//@ verdict: terminates
//@ case: goes-on-waiting
//@ verdict: may-hang
//@ finding: deadlock
template <bool Listens> static int stops_waiting(Setup) {
  const Task task = make_task();
  std::mutex mutex;
  std::condition_variable_any changed;
  bool some = false;
  {
    std::jthread other([&](std::stop_token stop) {
      while (!stop.stop_requested()) {
        std::unique_lock lock(mutex);
        const auto is_there = [&] { return some; };
        if (Listens ? !changed.wait(lock, stop, is_there) : (changed.wait(lock, is_there), false)) {
          return;
        }
        some = false;
        perform(task, 1);
      }
    });
    {
      const std::lock_guard lock(mutex);
      some = true;
    }
    changed.notify_one();
  }
  return 0;
}

// --- Phases -----------------------------------------------------------------------------------------

// Each reads what the other one's kernel has written in the phase before.
//@ case: phases
//@ verdict: terminates
//@ case: phases-one-leaves
//@ verdict: may-hang
//@ finding: deadlock
template <bool Stays> static int phases(Setup) {
  static std::barrier<> phase(2);
  const Task tasks[2] = {make_task(), make_task()};
  int got[2] = {};
  const auto user = [&](int n) {
    perform(tasks[n], n + 1);
    if (Stays || n == 0) {
      phase.arrive_and_wait();
      got[n] = *tasks[1 - n].at;
    }
  };
  std::thread other(user, 1);
  user(0);
  other.join();
  return got[0] == 2 && got[1] == 1 ? 0 : 1;
}

//@ case: counted-down
//@ verdict: terminates
//@ case: counted-too-far
//@ verdict: may-hang
//@ finding: deadlock
template <int Count> static int counted_down(Setup) {
  static std::latch done(Count);
  const Task tasks[2] = {make_task(), make_task()};
  const auto user = [](const Task& task) {
    perform(task, 1);
    done.count_down();
  };
  std::thread first(user, std::cref(tasks[0])), second(user, std::cref(tasks[1]));
  done.wait();
  const int sum = *tasks[0].at + *tasks[1].at;
  first.join();
  second.join();
  return sum - 2;
}

// Nobody waits for the thread, whose kernel may not have begun.
//@ case: joined
//@ verdict: terminates
//@ case: detached
//@ verdict: defect
//@ finding: exit-status EXIT
template <bool Joins> static int joined(Setup) {
  const Task task = make_task();
  std::thread other([task] { perform(task, 1); });
  Joins ? other.join() : other.detach();
  int got = 0;
  cudaMemcpy(&got, task.at, sizeof got, cudaMemcpyDeviceToHost);
  return got - 1;
}

int main(int argc, char** argv) {
  const int result = run_case(argc, argv, {
      {"pool", pool_of_two<Pool::Right>},
      {"pool-closed-without-lock", pool_of_two<Pool::ToldWithoutLock>},
      {"pool-one-is-told", pool_of_two<Pool::OneIsTold>},
      {"pool-tested-once", pool_of_two<Pool::TestedOnce>},
      {"slots", slots_of_one<true>},
      {"slots-kept", slots_of_one<false>},
      {"posix-slots", posix_slots<true>},
      {"posix-slots-kept", posix_slots<false>},
      {"two-calls", two_calls<false>},
      {"two-calls-crossed", two_calls<true>},
      {"asked-to-stop", asked_to_stop<true>},
      {"nobody-asks", asked_to_stop<false>},
      {"stops-waiting", stops_waiting<true>},
      {"goes-on-waiting", stops_waiting<false>},
      {"phases", phases<true>},
      {"phases-one-leaves", phases<false>},
      {"counted-down", counted_down<2>},
      {"counted-too-far", counted_down<3>},
      {"joined", joined<true>},
      {"detached", joined<false>},
  });
  return result;
}
