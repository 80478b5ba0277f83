// Barriers, latches, semaphores, pipelines and asynchronous copies: on the host, on the device, and between the two.
//@ exercises: cuda::barrier, cuda::latch, cuda::counting_semaphore, cuda::binary_semaphore of every scope; cuda::pipeline; cuda::memcpy_async on both sides; cuda::std:: forms
#include "tally.h"

#include <cooperative_groups.h>
#include <cuda/barrier>
#include <cuda/latch>
#include <cuda/pipeline>
#include <cuda/semaphore>

#include <cstdint>
#include <thread>
#include <vector>

constexpr int side = 4; // threads of one side

/// Phases of work separated by a barrier: in each, everybody reads what the neighbour wrote.
template <class Barrier> struct Phases {
  Barrier barrier;
  int data[2][2 * side];
  unsigned wrong[2 * side];
  int count;

  explicit Phases(int count) : barrier(count), data{}, wrong{}, count(count) {}

  __host__ __device__ void work(int me) {
    for (int phase = 0; phase < 12; ++phase) {
      int now = phase % 2;
      data[now][me] = phase * 100 + me;
      if (phase % 3 == 0) {
        barrier.arrive_and_wait();
      } else {
        auto token = barrier.arrive();
        barrier.wait(static_cast<decltype(token)&&>(token));
      }
      int neighbour = (me + 1) % count;
      wrong[me] += data[now][neighbour] != phase * 100 + neighbour;
    }
    if (me % 2) {
      barrier.arrive_and_drop(); // the others go on without
    } else {
      barrier.arrive_and_wait();
      barrier.arrive_and_wait();
    }
  }
};

template <class Latch> struct Start {
  Latch ready, done;
  int data[2 * side];
  unsigned wrong[2 * side];
  int count;
  explicit Start(int count) : ready(count), done(count), data{}, wrong{}, count(count) {}
  __host__ __device__ void work(int me) {
    data[me] = me + 1;
    ready.arrive_and_wait();
    for (int i = 0; i < count; ++i) {
      wrong[me] += data[i] != i + 1;
    }
    done.count_down();
    done.wait();
    wrong[me] += !done.try_wait();
  }
};

template <class Semaphore, class Mutex> struct Tickets {
  Semaphore tickets;
  Mutex mutex;
  int counter, inside, most;
  unsigned wrong[2 * side];
  int count;
  explicit Tickets(int count) : tickets(2), mutex(1), counter(0), inside(0), most(0), wrong{}, count(count) {}
  __host__ __device__ void work(int me) {
    for (int i = 0; i < 6; ++i) {
      if (i % 2) {
        tickets.acquire();
      } else {
        while (!tickets.try_acquire()) {
        }
      }
      mutex.acquire();
      ++counter;
      most = ++inside > most ? inside : most;
      mutex.release();
      mutex.acquire();
      --inside;
      mutex.release();
      tickets.release();
    }
    mutex.acquire();
    wrong[me] += most > 2;
    mutex.release();
  }
};

template <class Work> __global__ void device_part(Work* work, int first) { work->work(first + static_cast<int>(threadIdx.x)); }

template <class Work> void on_host(Work* work, int first, std::vector<std::thread>& threads) {
  for (int i = 0; i < side; ++i) {
    threads.emplace_back([=] { work->work(first + i); });
  }
}

enum class Where { Host, Device, Both };

template <class Work> bool run(const char* name, Where where) {
  int count = where == Where::Both ? 2 * side : side;
  Shared<Work> work(count);
  std::vector<std::thread> threads;
  if (where != Where::Host) {
    device_part<<<1, side>>>(work.get(), 0);
    CUDA_OK(cudaGetLastError());
    (void)cudaStreamQuery(nullptr);
  }
  if (where != Where::Device) {
    on_host(work.get(), where == Where::Both ? side : 0, threads);
  }
  CUDA_OK(cudaDeviceSynchronize());
  for (auto& thread : threads) {
    thread.join();
  }
  Tally tally;
  for (int i = 0; i < count; ++i) {
    CHECK(work->wrong[i] == 0);
  }
  char line[80];
  std::snprintf(line, sizeof line, "%s, %s", name, where == Where::Host ? "host" : where == Where::Device ? "device" : "both");
  return print(line, tally);
}

/// In narrower scopes the two sides may not meet on one object; each runs on its own.
template <template <cuda::thread_scope> class Work> bool all_scopes(const char* name) {
  bool failed = false;
  for (Where where : {Where::Host, Where::Device, Where::Both}) {
    failed |= run<Work<cuda::thread_scope_system>>(name, where);
  }
  for (Where where : {Where::Host, Where::Device}) {
    failed |= run<Work<cuda::thread_scope_device>>(name, where);
    failed |= run<Work<cuda::thread_scope_block>>(name, where);
  }
  return failed;
}
template <cuda::thread_scope scope> using BarrierPhases = Phases<cuda::barrier<scope>>;
template <cuda::thread_scope scope> using LatchStart = Start<cuda::latch<scope>>;
template <cuda::thread_scope scope> using SemaphoreTickets = Tickets<cuda::counting_semaphore<scope, 10>, cuda::binary_semaphore<scope>>;

// memcpy_async completes at a barrier or in a pipeline, whoever calls it.
template <class T> __host__ __device__ void copy_with_barrier(const T* in, T* out, int n, Tally& tally) {
  cuda::barrier<cuda::thread_scope_thread> barrier(1);
  for (int i = 0; i < n; ++i) {
    out[i] = T();
  }
  cuda::memcpy_async(out, in, sizeof(T) * n, barrier);
  barrier.arrive_and_wait();
  for (int i = 0; i < n; ++i) {
    CHECK(out[i] == in[i]);
  }
}

template <class T> __host__ __device__ void copy_with_pipeline(const T* in, T* out, int n, Tally& tally) {
  auto pipe = cuda::make_pipeline();
  for (int i = 0; i < n; ++i) {
    out[i] = T();
  }
  for (int i = 0; i < n; ++i) {
    pipe.producer_acquire();
    cuda::memcpy_async(out + i, in + i, sizeof(T), pipe);
    pipe.producer_commit();
  }
  for (int i = 0; i < n; ++i) {
    pipe.consumer_wait();
    CHECK(out[i] == in[i]);
    pipe.consumer_release();
  }
}

template <class T> __host__ __device__ void copies(const T* in, T* out, int n, Tally& tally) {
  for (int size : {1, 2, 3, 7, 16, n}) {
    copy_with_barrier(in, out, size, tally);
    copy_with_barrier(in + 1, out + 1, size - 1, tally);
  }
  copy_with_pipeline(in, out, n, tally);
}

template <class T> __global__ void device_copies(const T* in, T* out, int n, Tally* tallies) {
  __shared__ T staged[64];
  Tally tally;
  copies(in, out, n, tally);
  copies(in, staged, n, tally);
  tallies[0] = tally;
}

template <class T> bool check_copies(const char* name) {
  constexpr int n = 40;
  T *in, *out;
  CUDA_OK(cudaMallocManaged(&in, 64 * sizeof(T)));
  CUDA_OK(cudaMallocManaged(&out, 64 * sizeof(T)));
  for (int i = 0; i < 64; ++i) {
    in[i] = static_cast<T>(i * 3 + 1);
  }
  Tally tally;
  copies(in, out, n, tally);
  Shared<Tally> device;
  device_copies<<<1, 1>>>(in, out, n, device.get());
  CUDA_OK(cudaDeviceSynchronize());
  tally.add(*device);
  CUDA_OK(cudaFree(in));
  CUDA_OK(cudaFree(out));
  return print(name, tally);
}

// A pipeline of a block in which all threads produce and consume.
__global__ void block_pipeline(const int* in, Tally* tallies) {
  constexpr int threads = 32, parts = 9;
  __shared__ int buffer[2][threads];
  __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 2> state;
  auto block = cooperative_groups::this_thread_block();
  auto pipe = cuda::make_pipeline(block, &state);
  Tally tally;
  pipe.producer_acquire();
  cuda::memcpy_async(block, buffer[0], in, sizeof buffer[0], pipe);
  pipe.producer_commit();
  for (int part = 0; part < parts; ++part) {
    if (part + 1 < parts) {
      pipe.producer_acquire();
      cuda::memcpy_async(block, buffer[(part + 1) % 2], in + (part + 1) * threads, sizeof buffer[0], pipe);
      pipe.producer_commit();
    }
    pipe.consumer_wait();
    CHECK(buffer[part % 2][threads - 1 - threadIdx.x] == static_cast<int>(part * threads + threads - 1 - threadIdx.x) * 7);
    pipe.consumer_release();
  }
  tallies[threadIdx.x] = tally;
}

bool check_block_pipeline() {
  constexpr int n = 9 * 32;
  int* in;
  Tally* tallies;
  CUDA_OK(cudaMallocManaged(&in, n * sizeof(int)));
  CUDA_OK(cudaMallocManaged(&tallies, 32 * sizeof(Tally)));
  for (int i = 0; i < n; ++i) {
    in[i] = i * 7;
  }
  block_pipeline<<<1, 32>>>(in, tallies);
  CUDA_OK(cudaDeviceSynchronize());
  Tally tally;
  for (int i = 0; i < 32; ++i) {
    tally.add(tallies[i]);
  }
  CUDA_OK(cudaFree(in));
  CUDA_OK(cudaFree(tallies));
  return print("pipeline of a block", tally);
}

int main() {
  bool failed = false;
  failed |= all_scopes<BarrierPhases>("barrier");
  failed |= all_scopes<LatchStart>("latch");
  failed |= all_scopes<SemaphoreTickets>("semaphores");
  failed |= run<Phases<cuda::std::barrier<>>>("cuda::std::barrier", Where::Both);
  failed |= run<Start<cuda::std::latch>>("cuda::std::latch", Where::Both);
  failed |= run<Tickets<cuda::std::counting_semaphore<10>, cuda::std::binary_semaphore>>("cuda::std semaphores", Where::Both);
  failed |= check_copies<std::int8_t>("memcpy_async, 1 byte");
  failed |= check_copies<std::int16_t>("memcpy_async, 2 bytes");
  failed |= check_copies<int>("memcpy_async, 4 bytes");
  failed |= check_copies<double>("memcpy_async, 8 bytes");
  failed |= check_block_pipeline();
  return failed;
}
