// Host and device, each kind of mistake with its good twin: flags of system scope, threads of C++20. See pairs.cu.
#include "pair.h"

#include <atomic>
#include <barrier>
#include <cstdlib>
#include <cuda/atomic>
#include <functional>
#include <future>
#include <latch>
#include <memory>
#include <new>
#include <numeric>
#include <queue>
#include <semaphore>
#include <shared_mutex>
#include <thread>
#include <chrono>
#include <vector>
#include <condition_variable>

using SystemFlag = cuda::atomic_ref<int, cuda::thread_scope_system>;
using DeviceFlag = cuda::atomic_ref<int, cuda::thread_scope_device>;

__global__ void fill(int* to, int value) { to[threadIdx.x] = value; }
__global__ void copy(int* to, const int* from) { to[threadIdx.x] = from[threadIdx.x]; }
template <bool release> __global__ void publish(int* data, int* flag) {
  *data = 5;
  SystemFlag(*flag).store(1, release ? cuda::memory_order_release : cuda::memory_order_relaxed);
}
template <bool system> __global__ void publish_in(int* data, int* flag) {
  *data = 5;
  if (system) {
    SystemFlag(*flag).store(1, cuda::memory_order_release);
  } else {
    DeviceFlag(*flag).store(1, cuda::memory_order_release);
  }
}
template <bool fence> __global__ void publish_by_volatile(volatile int* data, volatile int* flag) {
  *const_cast<int*>(data) = 5;
  if (fence) {
    __threadfence_system();
  }
  *flag = 1;
}
template <bool acquire> __global__ void take(const int* flag, int* data, int* to) {
  SystemFlag f(*const_cast<int*>(flag));
  while (f.load(acquire ? cuda::memory_order_acquire : cuda::memory_order_relaxed) == 0) {
  }
  *to = *data;
}
__global__ void echo(int* request, int* answer, int* data) { // a mailbox
  for (int round = 1; round <= 2; ++round) {
    while (SystemFlag(*request).load(cuda::memory_order_acquire) != round) {
    }
    *data += 1;
    SystemFlag(*answer).store(round, cuda::memory_order_release);
  }
}

/// A call now and then: else nothing obliges a device to begin. It says nothing of the kernel's stream.
static void let_devices_move() {
  static cudaStream_t other = stream();
  static_cast<void>(cudaStreamQuery(other));
}
static void until_set(int* flag) {
  while (std::atomic_ref<int>(*flag).load(std::memory_order_acquire) == 0) {
    let_devices_move();
  }
}

// --- Flags in mapped memory -----------------------------------------------------------------------------

//@ - | data-race | x
CASE(published_relaxed, "") {
  int *data = pinned(), *flag = pinned();
  *flag = 0;
  publish<right><<<1, 1>>>(data, flag);
  until_set(flag);
  use(*data);
}

//@ - | data-race | x
CASE(published_for_the_device, "") {
  int *data = pinned(), *flag = pinned();
  *flag = 0;
  publish_in<right><<<1, 1>>>(data, flag);
  until_set(flag);
  use(*data);
}

//@ - | data-race | x
CASE(published_by_volatile, "") {
  int *data = pinned(), *flag = pinned();
  *flag = 0;
  publish_by_volatile<right><<<1, 1>>>(data, flag);
  while (*const_cast<volatile int*>(flag) == 0) {
    let_devices_move();
  }
  use(*data);
}

//@ - | data-race | x
CASE(host_publishes, "") {
  int *data = pinned(), *flag = pinned(), *to = zeros();
  *flag = 0;
  take<true><<<1, 1>>>(flag, data, to);
  if (right) *data = 3;
  SystemFlag(*flag).store(1, cuda::memory_order_release);
  if (!right) *data = 3;
}

// Not found: a relaxed read of a kernel counts as an acquire.
//@ - | - | x
CASE(device_takes_relaxed, "") {
  int *data = pinned(), *flag = pinned(), *to = zeros();
  *flag = 0;
  take<right><<<1, 1>>>(flag, data, to);
  *data = 3;
  SystemFlag(*flag).store(1, cuda::memory_order_release);
}

//@ - | data-race | x
CASE(mailbox, "") {
  int *request = pinned(), *answer = pinned(), *data = pinned();
  *request = *answer = *data = 0;
  echo<<<1, 1>>>(request, answer, data);
  for (int round = 1; round <= 2; ++round) {
    *data += 10;
    SystemFlag(*request).store(round, cuda::memory_order_release);
    if (right || round == 1) {
      while (SystemFlag(*answer).load(cuda::memory_order_acquire) != round) {
        let_devices_move();
      }
    }
    use(*data);
  }
}

// --- Threads --------------------------------------------------------------------------------------------

//@ ? | data-race | data-race
CASE(latch, "") {
  int* data[2] = {managed(), managed()};
  std::latch done(2);
  std::vector<std::thread> threads;
  for (int i = 0; i < 2; ++i) {
    threads.emplace_back([&, i] {
      cudaStream_t s = stream();
      fill<<<1, count, 0, s>>>(data[i], i);
      if (right) must(cudaStreamSynchronize(s));
      done.arrive_and_wait();
      use(data[1 - i][3]);
      must(cudaStreamSynchronize(s));
    });
  }
  for (std::thread& t : threads) t.join();
}

//@ ? | data-race | data-race
CASE(barrier, "") {
  int* data[2] = {managed(), managed()};
  std::barrier step(2);
  std::vector<std::thread> threads;
  for (int i = 0; i < 2; ++i) {
    threads.emplace_back([&, i] {
      cudaStream_t s = stream();
      fill<<<1, count, 0, s>>>(data[i], i);
      if (right) must(cudaStreamSynchronize(s));
      step.arrive_and_wait();
      use(data[1 - i][3]);
      must(cudaStreamSynchronize(s));
    });
  }
  for (std::thread& t : threads) t.join();
}

//@ ? | data-race | data-race
CASE(semaphore, "") {
  int* data = managed();
  std::binary_semaphore made(0);
  std::thread worker([&] {
    cudaStream_t s = stream();
    fill<<<1, count, 0, s>>>(data, 1);
    if (right) must(cudaStreamSynchronize(s));
    made.release();
    if (!right) std::this_thread::sleep_for(std::chrono::milliseconds(50));
    must(cudaStreamSynchronize(s));
  });
  made.acquire();
  use(data[1]);
  worker.join();
}

//@ ? | data-race | data-race
CASE(atomic_flag, "") {
  int* data = managed();
  std::atomic_flag made{};
  std::thread worker([&] {
    cudaStream_t s = stream();
    fill<<<1, count, 0, s>>>(data, 1);
    if (right) must(cudaStreamSynchronize(s));
    made.test_and_set();
    made.notify_one();
    if (!right) std::this_thread::sleep_for(std::chrono::milliseconds(50));
    must(cudaStreamSynchronize(s));
  });
  made.wait(false);
  use(data[1]);
  worker.join();
}

//@ data-race | data-race | data-race
CASE(readers_and_a_writer, "") { // both launch in one stream, or in two
  std::shared_mutex lock;
  int* data = zeros();
  cudaStream_t s = stream(), t = right ? s : stream();
  std::thread writer([&] {
    const std::unique_lock exclusive(lock);
    fill<<<1, count, 0, s>>>(data, 1);
  });
  int* to = zeros();
  {
    const std::shared_lock shared(lock);
    copy<<<1, count, 0, t>>>(to, data);
  }
  writer.join();
}

// A queue of jobs: the buffer goes back to the pool when its event is complete, or at once.
//@ data-race | data-race | data-race
CASE(pool_of_buffers, "") {
  struct Job {
    int* buffer;
    cudaEvent_t done;
  };
  cudaStream_t s = stream();
  std::queue<Job> free_buffers;
  free_buffers.push({pinned(), nullptr});
  int* to = zeros();
  for (int round = 0; round < 3; ++round) {
    Job job = free_buffers.front();
    free_buffers.pop();
    if (right && job.done != nullptr) must(cudaEventSynchronize(job.done));
    job.buffer[0] = round;
    must(cudaMemcpyAsync(to, job.buffer, bytes, cudaMemcpyHostToDevice, s));
    job.done = event();
    must(cudaEventRecord(job.done, s));
    free_buffers.push(job);
  }
}

//@ data-race | data-race | data-race
CASE(packaged_task, "") {
  int* data = managed();
  cudaStream_t s = stream();
  std::packaged_task<int()> task([&] {
    fill<<<1, count, 0, s>>>(data, 1);
    if (right) must(cudaStreamSynchronize(s));
    return 1;
  });
  auto result = task.get_future();
  std::thread worker(std::move(task));
  worker.join();
  use(result.get() + std::reduce(data, data + count));
  must(cudaStreamSynchronize(s));
}

//@ ? | data-race | data-race
CASE(once, "") {
  static std::once_flag once;
  int* data = managed();
  cudaStream_t s = stream();
  const auto make = [&] {
    std::call_once(once, [&] {
      fill<<<1, count, 0, s>>>(data, 1);
      if (right) must(cudaStreamSynchronize(s));
    });
    use(data[2]);
  };
  std::thread other(make);
  make();
  other.join();
  must(cudaStreamSynchronize(s));
}

// Deleters: of pinned memory whose copy is under way.
//@ warning:use-after-free | warning:use-after-free | warning:use-after-free
CASE(unique_pointer, "") {
  struct Free {
    void operator()(int* p) const { must(cudaFreeHost(p)); }
  };
  int* to = zeros();
  cudaStream_t s = stream();
  {
    std::unique_ptr<int[], Free> from(pinned());
    std::memset(from.get(), 0, bytes);
    must(cudaMemcpyAsync(to, from.get(), bytes, cudaMemcpyHostToDevice, s));
    if (right) must(cudaStreamSynchronize(s));
  }
}

// An object of the host's in pinned memory, with an atomic of the standard library.
struct Box {
  std::atomic<int> flag{0};
  int data = 0;
};
__global__ void into_box(int* flag, int* data) {
  *data = 9;
  SystemFlag(*flag).store(1, cuda::memory_order_release);
}
// Not found: what a kernel has released counts as known to the host, though it reads relaxed.
//@ - | - | x
CASE(standard_atomic, "") {
  Box* box = new (pinned()) Box;
  into_box<<<1, 1>>>(reinterpret_cast<int*>(&box->flag), &box->data);
  while (box->flag.load(right ? std::memory_order_acquire : std::memory_order_relaxed) == 0) {
    let_devices_move();
  }
  use(box->data);
}

// --- Batches of copies, pools ------------------------------------------------------------------------------

//@ data-race | data-race | data-race
CASE(batch, "") {
  int *from = pinned(), *to = zeros();
  cudaStream_t s = stream();
  void *destinations[] = {to, to + 16}, *sources[] = {from, from + 16};
  std::size_t sizes[] = {64, 64}, first = 0;
  cudaMemcpyAttributes how{};
  how.srcAccessOrder = cudaMemcpySrcAccessOrderStream;
  must(cudaMemcpyBatchAsync(const_cast<const void**>(destinations), const_cast<const void**>(sources), sizes, 2, &how, &first, 1, s));
  if (right) must(cudaStreamSynchronize(s));
  from[20] = 1;
}

//@ use-before-allocation | use-before-allocation | use-before-allocation
CASE(pool_in_another_stream, "") {
  cudaStream_t s = stream(), t = stream();
  int* data = nullptr;
  must(cudaMallocAsync(&data, bytes, s));
  must(cudaMemsetAsync(data, 0, bytes, right ? s : t));
  must(cudaDeviceSynchronize());
  must(cudaFreeAsync(data, s));
}

// The free comes back as an allocation: in the other stream without an order.
//@ use-after-free | use-after-free | use-after-free
CASE(freed_then_used_elsewhere, "") {
  cudaStream_t s = stream(), t = stream();
  cudaEvent_t there = event(), used = event();
  int* data = nullptr;
  must(cudaMallocAsync(&data, bytes, s));
  must(cudaEventRecord(there, s));
  must(cudaStreamWaitEvent(t, there));
  fill<<<1, count, 0, t>>>(data, 1);
  must(cudaEventRecord(used, t));
  if (right) must(cudaStreamWaitEvent(s, used));
  must(cudaFreeAsync(data, s));
}
