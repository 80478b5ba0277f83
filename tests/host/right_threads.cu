// More programs with streams that are right (see right.cu): hosts with several threads, objects that own what they use,
// two devices. right_threads.cu CASE, with --devices=2.
#include "right.h"

#include <omp.h>

#include <condition_variable>
#include <functional>
#include <future>
#include <latch>
#include <memory>
#include <mutex>
#include <queue>
#include <utility>
#include <vector>

__global__ void one_more(int* to) { ++to[threadIdx.x]; }

void put(int* p, int value) { std::fill(p, p + count, value); }

// --- Objects that own what they use ------------------------------------------------------------------

struct Release {
  void operator()(int* p) const { must(cudaFree(p)); }
};
using Memory = std::unique_ptr<int[], Release>;

class Stream {
public:
  Stream() : stream_(stream()) {}
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
  ~Stream() {
    must(cudaStreamSynchronize(stream_));
    must(cudaStreamDestroy(stream_));
  }
  operator cudaStream_t() const { return stream_; }

private:
  cudaStream_t stream_;
};

class Event {
public:
  Event() : event_(event()) {}
  Event(Event&& other) noexcept : event_(std::exchange(other.event_, nullptr)) {}
  Event& operator=(Event&&) = delete;
  ~Event() {
    if (event_ != nullptr) {
      must(cudaEventDestroy(event_));
    }
  }
  void record(cudaStream_t s) const { must(cudaEventRecord(event_, s)); }
  void before(cudaStream_t s) const { must(cudaStreamWaitEvent(s, event_)); }
  void wait() const { must(cudaEventSynchronize(event_)); }

private:
  cudaEvent_t event_;
};

// The stream's destructor waits before the memory goes.
bool destructors_wait() {
  int seen = 0;
  {
    const Memory data(managed());
    {
      const Stream s;
      fill<<<1, count, 0, s>>>(data.get(), 3);
    }
    seen = data[4];
  }
  return seen == 3;
}

// Work is handed on with the event that stands for it.
struct Result {
  int* data;
  Event done;
};
Result produce(cudaStream_t s, int value) {
  Result result{managed(), Event()};
  fill<<<1, count, 0, s>>>(result.data, value);
  result.done.record(s);
  return result;
}
bool results_with_events() {
  const Stream s, t, last;
  const Result a = produce(s, 1), b = produce(t, 2);
  a.done.before(last);
  b.done.before(last);
  add<<<1, count, 0, last>>>(a.data, b.data);
  must(cudaStreamSynchronize(last));
  return all(a.data, 3) && all(b.data, 2);
}

// A cache of buffers: one that comes back is used again behind the event of its last use.
class Buffers {
public:
  int* take(cudaStream_t s) {
    if (free_.empty()) {
      return device();
    }
    auto [memory, used] = std::move(free_.front());
    free_.pop();
    used.before(s);
    return memory;
  }
  void give(int* memory, cudaStream_t s) {
    free_.emplace(memory, Event());
    free_.back().second.record(s);
  }

private:
  std::queue<std::pair<int*, Event>> free_;
};
bool cache_of_buffers() {
  const Stream s, t;
  Buffers buffers;
  int *first = buffers.take(s), *out = pinned();
  fill<<<1, count, 0, s>>>(first, 1);
  buffers.give(first, s);
  int* second = buffers.take(t);
  fill<<<1, count, 0, t>>>(second, 2);
  must(cudaMemcpyAsync(out, second, bytes, cudaMemcpyDeviceToHost, t));
  buffers.give(second, t);
  must(cudaStreamSynchronize(t));
  return first == second && all(out, 2);
}

// A function of the host frees what the stream has used.
bool owner_freed_by_host_function() {
  const Stream s;
  auto* values = new std::vector<int>(count, 5);
  int *from = pinned(), *data = managed();
  must(cudaLaunchHostFunc(s, [](void* p) { ++(*static_cast<std::vector<int>*>(p))[0]; }, values));
  struct Both {
    std::vector<int>* values;
    int* to;
  };
  auto* both = new Both{values, from};
  must(cudaLaunchHostFunc(s, [](void* p) {
    const std::unique_ptr<Both> both(static_cast<Both*>(p));
    const std::unique_ptr<std::vector<int>> values(both->values);
    std::copy(values->begin(), values->end(), both->to);
  }, both));
  must(cudaMemcpyAsync(data, from, bytes, cudaMemcpyHostToDevice, s));
  must(cudaStreamSynchronize(s));
  return data[0] == 6 && data[1] == 5;
}

// --- Threads of C++ ------------------------------------------------------------------------------------

bool futures_that_wait_themselves() {
  const auto work = [](int value) {
    const Stream s;
    int* data = managed();
    fill<<<1, count, 0, s>>>(data, value);
    must(cudaStreamSynchronize(s));
    return data;
  };
  auto first = std::async(std::launch::async, work, 1), second = std::async(std::launch::async, work, 2);
  return all(first.get(), 1) && all(second.get(), 2);
}

// The producer's promise comes behind its wait.
bool promise_after_the_wait() {
  std::promise<int*> promise;
  std::thread producer([&] {
    const Stream s;
    int* data = managed();
    fill<<<1, count, 0, s>>>(data, 8);
    must(cudaStreamSynchronize(s));
    promise.set_value(data);
  });
  const bool right = all(promise.get_future().get(), 8);
  producer.join();
  return right;
}

// Or before it, with an event that the consumer waits for.
bool promise_of_an_event() {
  std::promise<std::pair<int*, cudaEvent_t>> promise;
  std::thread producer([&] {
    const Stream s;
    int* data = managed();
    fill<<<1, count, 0, s>>>(data, 8);
    cudaEvent_t e = event();
    must(cudaEventRecord(e, s));
    promise.set_value({data, e});
  });
  const auto [data, e] = promise.get_future().get();
  must(cudaEventSynchronize(e));
  const bool right = all(data, 8);
  producer.join();
  return right;
}

// A queue of work for a thread that submits all of it.
bool one_thread_submits() {
  std::mutex mutex;
  std::condition_variable changed;
  std::queue<std::function<void(cudaStream_t)>> work;
  bool closed = false;
  int* data = managed();
  std::thread worker([&] {
    const Stream s;
    for (;;) {
      std::unique_lock lock(mutex);
      changed.wait(lock, [&] { return closed || !work.empty(); });
      if (work.empty()) {
        break;
      }
      const auto next = std::move(work.front());
      work.pop();
      lock.unlock();
      next(s);
    }
  });
  put(data, 1);
  for (int i = 0; i < 2; ++i) {
    const std::lock_guard lock(mutex);
    work.emplace([data](cudaStream_t s) { one_more<<<1, count, 0, s>>>(data); });
    changed.notify_one();
  }
  {
    const std::lock_guard lock(mutex);
    closed = true;
    changed.notify_one();
  }
  worker.join(); // its stream waits
  return all(data, 3);
}

// Reader and writer take turns at one pinned buffer.
bool turns_by_a_condition_variable() {
  std::mutex mutex;
  std::condition_variable changed;
  bool full = false;
  int *buffer = pinned(), *sum = device(), *in = device(), *out = pinned();
  const Stream s;
  must(cudaMemsetAsync(sum, 0, bytes, s));
  std::thread reader([&] {
    for (int i = 1; i < 3; ++i) {
      std::unique_lock lock(mutex);
      changed.wait(lock, [&] { return !full; });
      put(buffer, i);
      full = true;
      changed.notify_one();
    }
  });
  for (int i = 1; i < 3; ++i) {
    std::unique_lock lock(mutex);
    changed.wait(lock, [&] { return full; });
    must(cudaMemcpyAsync(in, buffer, bytes, cudaMemcpyHostToDevice, s));
    must(cudaStreamSynchronize(s));
    full = false;
    changed.notify_one();
    add<<<1, count, 0, s>>>(sum, in);
  }
  reader.join();
  must(cudaMemcpyAsync(out, sum, bytes, cudaMemcpyDeviceToHost, s));
  must(cudaStreamSynchronize(s));
  return all(out, 3);
}

// Both threads submit to one stream, one after the other, and the second one waits for all of it.
bool two_threads_and_one_stream() {
  const Stream s;
  int* data = managed();
  std::latch submitted(1);
  std::thread first([&] {
    fill<<<1, count, 0, s>>>(data, 1);
    submitted.count_down();
  });
  submitted.wait();
  one_more<<<1, count, 0, s>>>(data);
  must(cudaStreamSynchronize(s));
  const bool right = all(data, 2);
  first.join();
  return right;
}

// The flag is set behind the wait, and polled.
bool atomic_flag_of_a_thread() {
  std::atomic<bool> done{false};
  int* data = managed();
  std::thread waits([&] {
    const Stream s;
    fill<<<1, count, 0, s>>>(data, 5);
    must(cudaStreamSynchronize(s));
    done.store(true, std::memory_order_release);
  });
  while (!done.load(std::memory_order_acquire)) {
    std::this_thread::yield();
  }
  const bool right = all(data, 5);
  waits.join();
  return right;
}

// A host function tells another thread, which waits on a condition variable.
bool host_function_notifies() {
  struct Told {
    std::mutex mutex;
    std::condition_variable changed;
    bool done = false;
  } told;
  const Stream s;
  int* data = managed();
  fill<<<1, count, 0, s>>>(data, 7);
  must(cudaLaunchHostFunc(s, [](void* p) {
    auto* told = static_cast<Told*>(p);
    const std::lock_guard lock(told->mutex);
    told->done = true;
    told->changed.notify_one();
  }, &told));
  std::thread pushes([&] { must(cudaStreamSynchronize(s)); }); // else nothing obliges a device to begin
  bool right = false;
  {
    std::unique_lock lock(told.mutex);
    told.changed.wait(lock, [&] { return told.done; });
    right = all(data, 7);
  }
  pushes.join();
  return right;
}

bool local_of_each_thread() {
  static thread_local int* mine = nullptr;
  bool right[2] = {false, false};
  const auto work = [&](int i) {
    mine = managed();
    const Stream s;
    fill<<<1, count, 0, s>>>(mine, i);
    must(cudaStreamSynchronize(s));
    right[i] = all(mine, i);
  };
  std::thread a(work, 0), b(work, 1);
  a.join();
  b.join();
  return right[0] && right[1];
}

// --- OpenMP ----------------------------------------------------------------------------------------------

bool parallel_for_with_streams() {
  int* data[4] = {managed(), managed(), managed(), managed()};
  bool right = true;
#pragma omp parallel for num_threads(2) reduction(&& : right)
  for (int i = 0; i < 4; ++i) {
    const Stream s;
    fill<<<1, count, 0, s>>>(data[i], i);
    must(cudaStreamSynchronize(s));
    right = right && all(data[i], i);
  }
  return right && all(data[3], 3);
}

// The host fills in parallel, then one copy takes all of it.
bool filled_in_parallel() {
  const Stream s;
  int *from = pinned(), *data = device(), *out = pinned();
#pragma omp parallel for num_threads(2)
  for (int i = 0; i < count; ++i) {
    from[i] = 2;
  }
  must(cudaMemcpyAsync(data, from, bytes, cudaMemcpyHostToDevice, s));
  one_more<<<1, count, 0, s>>>(data);
  must(cudaMemcpyAsync(out, data, bytes, cudaMemcpyDeviceToHost, s));
  must(cudaStreamSynchronize(s));
  int sum = 0;
#pragma omp parallel for num_threads(2) reduction(+ : sum)
  for (int i = 0; i < count; ++i) {
    sum += out[i];
  }
  return sum == 3 * count;
}

bool single_submits_and_all_read() {
  int* data = managed();
  int sum = 0;
#pragma omp parallel num_threads(2) reduction(+ : sum)
  {
#pragma omp single
    {
      const Stream s;
      fill<<<1, count, 0, s>>>(data, 1);
    } // the stream waits, and so does the region
    sum += data[omp_get_thread_num()];
  }
  return sum == 2;
}

// --- Two devices -----------------------------------------------------------------------------------------

bool event_of_another_device() {
  must(cudaSetDevice(0));
  const Stream s;
  int *a = device(), *out = pinned();
  const Event there;
  fill<<<1, count, 0, s>>>(a, 4);
  there.record(s);
  must(cudaSetDevice(1));
  const Stream t;
  int* b = device();
  there.before(t);
  must(cudaMemcpyPeerAsync(b, 1, a, 0, bytes, t));
  one_more<<<1, count, 0, t>>>(b);
  must(cudaMemcpyAsync(out, b, bytes, cudaMemcpyDeviceToHost, t));
  must(cudaStreamSynchronize(t));
  return all(out, 5);
}

// A thread for each device, which meet when both have waited.
bool thread_for_each_device() {
  int* data[2] = {nullptr, nullptr};
  std::latch waited(2);
  bool right[2] = {false, false};
  const auto work = [&](int i) {
    must(cudaSetDevice(i));
    const Stream s;
    data[i] = managed();
    fill<<<1, count, 0, s>>>(data[i], i + 1);
    must(cudaDeviceSynchronize());
    waited.arrive_and_wait();
    right[i] = all(data[1 - i], 2 - i);
  };
  std::thread first(work, 0), second(work, 1);
  first.join();
  second.join();
  return right[0] && right[1];
}

constexpr Case cases[] = {
    {"destructors_wait", destructors_wait},
    {"results_with_events", results_with_events},
    {"cache_of_buffers", cache_of_buffers},
    {"owner_freed_by_host_function", owner_freed_by_host_function},
    {"futures_that_wait_themselves", futures_that_wait_themselves},
    {"promise_after_the_wait", promise_after_the_wait},
    {"promise_of_an_event", promise_of_an_event},
    {"one_thread_submits", one_thread_submits},
    {"turns_by_a_condition_variable", turns_by_a_condition_variable},
    {"two_threads_and_one_stream", two_threads_and_one_stream},
    {"atomic_flag_of_a_thread", atomic_flag_of_a_thread},
    {"host_function_notifies", host_function_notifies},
    {"local_of_each_thread", local_of_each_thread},
    {"parallel_for_with_streams", parallel_for_with_streams},
    {"filled_in_parallel", filled_in_parallel},
    {"single_submits_and_all_read", single_submits_and_all_read},
    {"event_of_another_device", event_of_another_device},
    {"thread_for_each_device", thread_for_each_device},
};

int main(int n, char** words) { return run_case(cases, n, words); }
