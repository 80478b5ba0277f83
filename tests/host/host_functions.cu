// Functions that a stream calls, and memory of the host alone that they share with the threads of the program: on the
// stack and on the heap. Each mistake and its good twin: see pairs.cu. A plain run sees no such memory.
#include "pair.h"

#include <atomic>
#include <future>
#include <latch>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

__global__ void fill(int* to, int value) { to[threadIdx.x] = value; }

struct Message {
  int number = 0;
  long result = 0;
};
static void read(void* p) { use(static_cast<Message*>(p)->number); }
static void write(void* p) { static_cast<Message*>(p)->result = 5; }

// The argument is changed for the next one before the function has read it.
//@ - | data-race | data-race
CASE(argument_changed_too_early, "") {
  cudaStream_t s = stream();
  Message message;
  for (int i = 0; i < 2; ++i) {
    message.number = i;
    must(cudaLaunchHostFunc(s, read, &message));
    if (right) must(cudaStreamSynchronize(s));
  }
  must(cudaStreamSynchronize(s));
}

// Each function is given the loop's variable, or an element of its own.
//@ - | data-race | data-race
CASE(address_of_the_loop_variable, "") {
  cudaStream_t s = stream();
  int own[3] = {};
  for (int i = 0; i < 3; ++i) {
    own[i] = i;
    must(cudaLaunchHostFunc(s, [](void* p) { use(*static_cast<int*>(p)); }, right ? &own[i] : &i));
  }
  must(cudaStreamSynchronize(s));
}

//@ - | data-race | data-race
CASE(result_read_too_early, "") {
  cudaStream_t s = stream();
  Message message;
  must(cudaLaunchHostFunc(s, write, &message));
  if (right) must(cudaStreamSynchronize(s));
  use(message.result);
  must(cudaStreamSynchronize(s));
}

// A wait for another stream says nothing. Missed: any wait ends the look at such memory.
//@ - | - | ?
CASE(result_read_after_another_wait, "") {
  cudaStream_t s = stream(), t = stream();
  auto message = std::make_unique<Message>();
  must(cudaLaunchHostFunc(s, write, message.get()));
  must(cudaStreamSynchronize(right ? s : t));
  use(message->result);
  must(cudaDeviceSynchronize());
}

// A callback writes a local variable of one thread, and another one reads it.
//@ - | data-race | data-race
CASE(stack_of_another_thread, "") {
  Message message;
  std::latch submitted(1);
  cudaStream_t s = stream();
  std::thread reader([&] {
    submitted.wait();
    if (right) must(cudaStreamSynchronize(s));
    use(message.result);
  });
  must(cudaStreamAddCallback(s, [](cudaStream_t, cudaError_t, void* p) { write(p); }, &message, 0));
  submitted.count_down();
  reader.join();
  must(cudaStreamSynchronize(s));
}

// Functions of two streams count in one place.
//@ - | data-race | data-race
CASE(counted_by_two_streams, "") {
  cudaStream_t s = stream(), t = stream();
  cudaEvent_t counted = event();
  int number = 0;
  const auto count_up = [](void* p) { ++*static_cast<int*>(p); };
  must(cudaLaunchHostFunc(s, count_up, &number));
  must(cudaEventRecord(counted, s));
  if (right) must(cudaStreamWaitEvent(t, counted));
  must(cudaLaunchHostFunc(t, count_up, &number));
  must(cudaDeviceSynchronize());
}

// The function tells by a flag that it is done; the flag must be an atomic variable.
//@ - | data-race | ?
CASE(plain_flag, "") {
  struct Told {
    int done = 0;
    std::atomic<int> surely{0};
  };
  static Told told;
  told.done = 0;
  told.surely = 0;
  cudaStream_t s = stream();
  must(cudaLaunchHostFunc(s, [](void* p) {
    auto* told = static_cast<Told*>(p);
    right ? told->surely.store(1, std::memory_order_release) : void(told->done = 1);
  }, &told));
  while (right && told.surely.load(std::memory_order_acquire) == 0) {
    cudaStreamQuery(s);
  }
  if (!right) use(told.done);
  must(cudaStreamSynchronize(s));
}

// The next message lies where the first one has been, on the heap and on the stack; the function deletes what it was
// given. A mutex guards what both change.
//@ - | data-race | ?
CASE(messages_that_come_and_go, "") {
  struct Shared {
    std::mutex mutex;
    int sum = 0;
  } shared;
  struct Part {
    Shared* shared;
    int number;
  };
  cudaStream_t s = stream();
  Part last{&shared, 100};
  must(cudaLaunchHostFunc(s, [](void* p) { use(static_cast<Part*>(p)->number); }, &last));
  for (int i = 0; i < 4; ++i) {
    auto* part = new Part{&shared, i};
    must(cudaLaunchHostFunc(s, [](void* p) {
      const std::unique_ptr<Part> part(static_cast<Part*>(p));
      const std::lock_guard lock(part->shared->mutex);
      part->shared->sum += part->number;
    }, part));
    const std::lock_guard lock(shared.mutex);
    ++shared.sum;
  }
  if (right) must(cudaStreamSynchronize(s));
  last.number = shared.sum;
  must(cudaStreamSynchronize(s));
}

// Threads that come and go use the same stack, one after the other.
//@ - | data-race | ?
CASE(threads_that_come_and_go, "") {
  static std::atomic<int> ended{0};
  ended = 0;
  for (int i = 0; i < 3; ++i) {
    std::thread([i] {
      cudaStream_t s = stream();
      Message message;
      message.number = i;
      must(cudaLaunchHostFunc(s, [](void* p) { read(p); write(p); }, &message));
      if (right) must(cudaStreamSynchronize(s));
      use(message.result);
      must(cudaStreamSynchronize(s));
      ended.fetch_add(1, std::memory_order_relaxed);
    }).detach();
    while (ended.load(std::memory_order_relaxed) == i) {
      std::this_thread::yield();
    }
  }
}
