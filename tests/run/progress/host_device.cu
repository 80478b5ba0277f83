// Host and device signal each other through registered and mapped memory while a kernel runs.
//@ exercises: [HOST], [API] and [DEV] together: host to device and device to host flags, a ring buffer in each direction, cudaStreamQuery in the host's loop
//@ seeds: 1 2
#include "../patience.h"
#include "../support.h"

#include <cuda/atomic>

using Atomic = cuda::atomic<int, cuda::thread_scope_system>;

/// The host waits for the device; the query obliges the device to move, as the execution model asks.
template <class Condition> void host_wait(Condition condition) {
  Patience patience;
  while (!condition()) {
    cudaError_t status = cudaStreamQuery(nullptr);
    if (status != cudaSuccess && status != cudaErrorNotReady) {
      std::printf("query: %s\n", cudaGetErrorName(status));
      std::exit(13);
    }
    patience.wait();
  }
}

__global__ void ping_pong(Atomic* ball, int rounds) {
  Patience patience;
  for (int i = 0; i < rounds; ++i) {
    while (ball->load(cuda::memory_order_acquire) % 2 == 0) {
      patience.wait();
    }
    ball->fetch_add(1, cuda::memory_order_release);
  }
}

struct Ring {
  static constexpr int size = 8;
  Atomic head, tail;
  int slots[size];

  __host__ __device__ bool push(int value) {
    int position = head.load(cuda::memory_order_relaxed);
    if (position - tail.load(cuda::memory_order_acquire) == size) {
      return false;
    }
    slots[position % size] = value;
    head.store(position + 1, cuda::memory_order_release);
    return true;
  }
  __host__ __device__ bool pop(int& value) {
    int position = tail.load(cuda::memory_order_relaxed);
    if (position == head.load(cuda::memory_order_acquire)) {
      return false;
    }
    value = slots[position % size];
    tail.store(position + 1, cuda::memory_order_release);
    return true;
  }
};

__global__ void serve(Ring* requests, Ring* answers) {
  // One thread serves until it is told to stop; squares what it gets.
  Patience patience;
  while (true) {
    int value;
    while (!requests->pop(value)) {
      patience.wait();
    }
    if (value < 0) {
      return;
    }
    while (!answers->push(value * value)) {
      patience.wait();
    }
  }
}

__global__ void stop_when_told(volatile int* stop, unsigned long long* spins) {
  Patience patience;
  unsigned long long count = 0;
  while (*stop == 0) {
    ++count;
    patience.wait();
  }
  atomicAdd(spins, count > 0 ? 1ull : 1ull);
}

static Atomic ball(0);
static Ring requests, answers;

int main() {
  CUDA_OK(cudaHostRegister(&ball, sizeof ball, cudaHostRegisterDefault));
  Atomic* device_ball;
  CUDA_OK(cudaHostGetDevicePointer(&device_ball, &ball, 0));
  ping_pong<<<1, 1>>>(device_ball, 20);
  CUDA_OK(cudaGetLastError());
  for (int i = 0; i < 20; ++i) {
    ball.fetch_add(1, cuda::memory_order_release);
    host_wait([] { return ball.load(cuda::memory_order_acquire) % 2 == 0; });
  }
  SYNC_OK();
  std::printf("ping-pong %d\n", ball.load());

  CUDA_OK(cudaHostRegister(&requests, sizeof requests, cudaHostRegisterDefault));
  CUDA_OK(cudaHostRegister(&answers, sizeof answers, cudaHostRegisterDefault));
  serve<<<1, 1>>>(&requests, &answers);
  CUDA_OK(cudaGetLastError());
  long long sum = 0;
  int sent = 0, received = 0;
  while (received < 50) {
    if (sent < 50 && requests.push(sent)) {
      ++sent;
    }
    int value;
    if (answers.pop(value)) {
      sum = sum * 3 % 1000003 + value;
      ++received;
    } else {
      (void)cudaStreamQuery(nullptr);
    }
  }
  host_wait([] { return requests.push(-1); });
  SYNC_OK();
  std::printf("served %d, sum %lld\n", received, sum);

  int* stop;
  CUDA_OK(cudaHostAlloc(&stop, sizeof(int), cudaHostAllocMapped));
  *stop = 0;
  Buffer<unsigned long long> spins(1);
  stop_when_told<<<2, 32>>>(stop, spins);
  CUDA_OK(cudaGetLastError());
  for (int i = 0; i < 10; ++i) {
    (void)cudaStreamQuery(nullptr);
  }
  *static_cast<volatile int*>(stop) = 1;
  SYNC_OK();
  std::printf("stopped %llu\n", spins.get()[0]);
}
