// Blocking facilities of libcu++ between device threads: wait and notify, barriers, latches, semaphores, call ordering.
//@ exercises: cuda::atomic wait/notify_one/notify_all, cuda::barrier with completion, cuda::latch, counting and binary semaphores, in block and device scope, between lanes, warps and blocks of a cooperative grid
#include "../support.h"

#include <cuda/atomic>
#include <cuda/barrier>
#include <cuda/latch>
#include <cuda/semaphore>

__global__ void wait_and_notify(cuda::atomic<int, cuda::thread_scope_device>* stage, int* order) {
  // Threads pass a baton by wait/notify; lanes of a warp block each other's neighbours.
  int me = threadIdx.x, now = stage->load();
  while (now != me) {
    stage->wait(now);
    now = stage->load();
  }
  order[me] = me * 2;
  stage->store(me + 1);
  stage->notify_all();
}

__global__ void with_barrier(int* out) {
  __shared__ cuda::barrier<cuda::thread_scope_block> barrier;
  __shared__ int data[64];
  if (threadIdx.x == 0) {
    init(&barrier, blockDim.x);
  }
  __syncthreads();
  int sum = 0;
  for (int round = 0; round < 5; ++round) {
    data[threadIdx.x] = threadIdx.x * (round + 1);
    auto token = barrier.arrive();
    sum += round;
    barrier.wait(std::move(token));
    sum += data[(threadIdx.x + round) % blockDim.x];
    barrier.arrive_and_wait();
  }
  // The last half drops out; the others go on with fewer.
  if (threadIdx.x >= 32) {
    barrier.arrive_and_drop();
  } else {
    barrier.arrive_and_wait();
    barrier.arrive_and_wait();
    sum += 1000;
  }
  out[threadIdx.x] = sum;
}

struct CountUp {
  int* counter;
  __device__ void operator()() const noexcept { *counter += 1; }
};

__global__ void with_completion(int* out) {
  using Barrier = cuda::barrier<cuda::thread_scope_block, CountUp>;
  __shared__ alignas(Barrier) unsigned char storage[sizeof(Barrier)];
  __shared__ int phases;
  auto barrier = reinterpret_cast<Barrier*>(storage);
  if (threadIdx.x == 0) {
    phases = 0;
    new (barrier) Barrier(blockDim.x, CountUp{&phases});
  }
  __syncthreads();
  for (int i = 0; i < 4; ++i) {
    barrier->arrive_and_wait();
    // The completion function ran before anybody was released.
    if (*static_cast<volatile int*>(&phases) < i + 1) {
      out[threadIdx.x] = -1;
    }
    __syncthreads();
  }
  out[threadIdx.x] += phases;
}

__global__ void with_latch(cuda::latch<cuda::thread_scope_device>* latch, int* data, int* out) {
  int i = blockIdx.x * blockDim.x + threadIdx.x, n = gridDim.x * blockDim.x;
  data[i] = i * 3;
  latch->arrive_and_wait();
  out[i] = data[n - 1 - i];
}

__global__ void with_semaphores(cuda::counting_semaphore<cuda::thread_scope_device, 3>* tickets,
                                cuda::binary_semaphore<cuda::thread_scope_device>* mutex, int* inside, int* most, int* counter) {
  tickets->acquire();
  int now = atomicAdd(inside, 1) + 1;
  atomicMax(most, now);
  mutex->acquire();
  *counter += 1;
  mutex->release();
  atomicSub(inside, 1);
  tickets->release();
}

__global__ void timed(cuda::binary_semaphore<cuda::thread_scope_device>* semaphore, int* out) {
  out[0] = semaphore->try_acquire();
  out[1] = semaphore->try_acquire();
  out[2] = semaphore->try_acquire_for(cuda::std::chrono::microseconds(50));
  semaphore->release();
  out[3] = semaphore->try_acquire_for(cuda::std::chrono::seconds(1));
}

template <class T, class... Args> __global__ void construct(T* object, Args... arguments) { new (object) T(arguments...); }

int main() {
  Buffer<int> out(128), data(128);
  Buffer<cuda::atomic<int, cuda::thread_scope_device>> stage(1);
  wait_and_notify<<<1, 40>>>(stage, out);
  SYNC_OK();
  std::printf("notify %d %d\n", out.get()[5], out.get()[39]);
  out.clear();
  with_barrier<<<1, 64>>>(out);
  SYNC_OK();
  std::printf("barrier %d %d %d\n", out.get()[0], out.get()[31], out.get()[63]);
  out.clear();
  with_completion<<<1, 64>>>(out);
  SYNC_OK();
  std::printf("completion %d %d\n", out.get()[0], out.get()[63]);

  cuda::latch<cuda::thread_scope_device>* latch;
  CUDA_OK(cudaMalloc(&latch, sizeof *latch));
  construct<<<1, 1>>>(latch, 128);
  int *pd = data, *po = out;
  void* arguments[] = {&latch, &pd, &po};
  CUDA_OK(cudaLaunchCooperativeKernel(reinterpret_cast<void*>(with_latch), dim3(4), dim3(32), arguments, 0, nullptr));
  SYNC_OK();
  std::printf("latch %d %d\n", out.get()[0], out.get()[127]);

  cuda::counting_semaphore<cuda::thread_scope_device, 3>* tickets;
  cuda::binary_semaphore<cuda::thread_scope_device>* mutex;
  CUDA_OK(cudaMalloc(&tickets, sizeof *tickets));
  CUDA_OK(cudaMalloc(&mutex, sizeof *mutex));
  construct<<<1, 1>>>(tickets, 3);
  construct<<<1, 1>>>(mutex, 1);
  Buffer<int> inside(1), most(1), counter(1);
  with_semaphores<<<2, 48>>>(tickets, mutex, inside, most, counter);
  SYNC_OK();
  std::printf("semaphores %d, at most three %d\n", counter.get()[0], most.get()[0] >= 1 && most.get()[0] <= 3);
  timed<<<1, 1>>>(mutex, out);
  SYNC_OK();
  std::printf("timed %d %d %d %d\n", out.get()[0], out.get()[1], out.get()[2], out.get()[3]);
}
