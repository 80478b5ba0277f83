// Many host threads: OpenMP with a stream each, std::thread with devices, callbacks that hand work on, producer and consumer through events.
//@ exercises: concurrent calls of the API, per-thread default streams by flag, events between streams of different threads, cudaLaunchHostFunc, cudaStreamAddCallback, cudaStreamQuery
//@ flags: -Xcompiler -fopenmp
#include "support.h"

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <omp.h>
#include <thread>

__global__ void add(int* data, int n, int value) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) data[i] += value;
}

struct Job {
  int id;
  int* host;
  std::atomic<int>* done;
};
void CUDART_CB finished(cudaStream_t, cudaError_t status, void* data) {
  auto* job = static_cast<Job*>(data);
  EXPECT(status == cudaSuccess && job->host[0] == job->id + 10);
  ++*job->done;
}
void CUDART_CB note(void* data) { ++*static_cast<std::atomic<int>*>(data); }

int main() {
  const int n = 4096;
  std::vector<int> sums(8);
#pragma omp parallel num_threads(8)
  {
    int id = omp_get_thread_num();
    cudaStream_t stream;
    CUDA_OK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    int *device, *host;
    CUDA_OK(cudaMallocAsync(&device, n * sizeof(int), stream));
    CUDA_OK(cudaMallocHost(&host, n * sizeof(int)));
    CUDA_OK(cudaMemsetAsync(device, 0, n * sizeof(int), stream));
    for (int k = 0; k < 5; ++k) add<<<4, 128, 0, stream>>>(device, n, id + k);
    CUDA_OK(cudaMemcpyAsync(host, device, n * sizeof(int), cudaMemcpyDeviceToHost, stream));
    CUDA_OK(cudaFreeAsync(device, stream));
    CUDA_OK(cudaStreamSynchronize(stream));
    int wrong = 0;
    for (int i = 0; i < n; ++i) wrong += host[i] != 5 * id + 10;
    sums[id] = wrong;
    CUDA_OK(cudaFreeHost(host));
    CUDA_OK(cudaStreamDestroy(stream));
  }
  int wrong = 0;
  for (int s : sums) wrong += s;
  std::printf("openmp: %d wrong\n", wrong);

  // Callbacks.
  std::atomic<int> done{0}, notes{0};
  std::vector<Job> jobs(6);
  std::vector<cudaStream_t> streams(6);
  std::vector<int*> device(6);
  for (int i = 0; i < 6; ++i) {
    CUDA_OK(cudaStreamCreate(&streams[i]));
    CUDA_OK(cudaMalloc(&device[i], n * sizeof(int)));
    CUDA_OK(cudaHostAlloc(&jobs[i].host, n * sizeof(int), cudaHostAllocDefault));
    jobs[i].id = i, jobs[i].done = &done;
    for (int k = 0; k < n; ++k) jobs[i].host[k] = i;
    CUDA_OK(cudaMemcpyAsync(device[i], jobs[i].host, n * sizeof(int), cudaMemcpyHostToDevice, streams[i]));
    add<<<8, 64, 0, streams[i]>>>(device[i], n, 10);
    CUDA_OK(cudaMemcpyAsync(jobs[i].host, device[i], n * sizeof(int), cudaMemcpyDeviceToHost, streams[i]));
    CUDA_OK(cudaStreamAddCallback(streams[i], finished, &jobs[i], 0));
    CUDA_OK(cudaLaunchHostFunc(streams[i], note, &notes));
  }
  for (int i = 0; i < 6; ++i)
    while (cudaStreamQuery(streams[i]) == cudaErrorNotReady) std::this_thread::yield();
  CUDA_OK(cudaDeviceSynchronize());
  std::printf("callbacks %d, notes %d\n", done.load(), notes.load());
  for (int i = 0; i < 6; ++i) {
    CUDA_OK(cudaStreamDestroy(streams[i]));
    CUDA_OK(cudaFree(device[i]));
    CUDA_OK(cudaFreeHost(jobs[i].host));
  }

  // A pipeline of three threads, each with its stream, linked by events.
  int* data;
  CUDA_OK(cudaMalloc(&data, n * sizeof(int)));
  CUDA_OK(cudaMemset(data, 0, n * sizeof(int)));
  cudaEvent_t events[3];
  for (auto& e : events) CUDA_OK(cudaEventCreateWithFlags(&e, cudaEventDisableTiming));
  std::mutex mutex;
  std::condition_variable changed;
  int recorded = -1;
  std::vector<std::thread> threads;
  for (int stage = 0; stage < 3; ++stage)
    threads.emplace_back([&, stage] {
      cudaStream_t stream;
      CUDA_OK(cudaStreamCreate(&stream));
      {
        std::unique_lock<std::mutex> lock(mutex);
        changed.wait(lock, [&] { return recorded == stage - 1; });
      }
      if (stage > 0) CUDA_OK(cudaStreamWaitEvent(stream, events[stage - 1], 0));
      for (int k = 0; k <= stage; ++k) add<<<2, 128, 0, stream>>>(data, n, 1 << 4 * stage);
      CUDA_OK(cudaEventRecord(events[stage], stream));
      {
        std::lock_guard<std::mutex> lock(mutex);
        recorded = stage;
      }
      changed.notify_all();
      CUDA_OK(cudaStreamSynchronize(stream));
      CUDA_OK(cudaStreamDestroy(stream));
    });
  for (auto& t : threads) t.join();
  int first;
  CUDA_OK(cudaMemcpy(&first, data, 4, cudaMemcpyDeviceToHost));
  std::printf("pipeline %x\n", first);
  CUDA_OK(cudaFree(data));
}
