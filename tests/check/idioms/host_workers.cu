// Host threads that work for others: semaphores that limit what is under way, threads that are asked to stop. Each
// launches a kernel and waits for it. One right and one wrong version of each: a slot that is never given back, a thread
// that nobody asks to stop or waits for.
//@ nvcc: -std=c++20
#include "cases.h"

#include <chrono>
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

// --- A semaphore that limits what is under way -----------------------------------------------------

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

// --- A thread that is asked to stop --------------------------------------------------------------

//@ case: asked-to-stop
//@ verdict: terminates
//@ case: nobody-asks
//@ verdict: may-hang
//@ finding: livelock
//@ case: asked-to-stop-yields
//@ verdict: unknown
//@ coverage: bounded
template <bool Asks, bool Sleeps> static int asked_to_stop(Setup) {
  const Task task = make_task();
  std::jthread other([](std::stop_token stop) {
    while (!stop.stop_requested()) {
      if (Sleeps) {
        cudaStreamQuery(cudaStreamPerThread);
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
      } else {
        std::this_thread::yield();
      }
    }
  });
  perform(task, 1);
  if (!Asks) {
    other.join();
  }
  return *task.at - 1; // the destructor asks it to stop, and joins
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
      {"posix-slots", posix_slots<true>},
      {"posix-slots-kept", posix_slots<false>},
      {"asked-to-stop", asked_to_stop<true, true>},
      {"nobody-asks", asked_to_stop<false, true>},
      {"asked-to-stop-yields", asked_to_stop<true, false>},
      {"joined", joined<true>},
      {"detached", joined<false>},
  });
  return result;
}
