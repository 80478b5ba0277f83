// Host and device, each kind of mistake with its good twin: OpenMP and --default-stream=per-thread. See pairs.cu.
#include "../race/cases.h"
#include <omp.h>
#include <thread>

constexpr int count = 32, bytes = count * sizeof(int);
__global__ void fill(int* to, int value) { to[threadIdx.x] = value; }
__global__ void copy(int* to, const int* from) { to[threadIdx.x] = from[threadIdx.x]; }
static int* managed() {
  int* p = nullptr;
  must(cudaMallocManaged(&p, bytes));
  return p;
}
static void use(long value) {
  static volatile long sink;
  sink = value;
}

// Each thread has its stream; a barrier between the wait and what the neighbour reads.
//@ ? | data-race | x
CASE(stream_per_thread, "") {
  int* data[2] = {managed(), managed()};
#pragma omp parallel num_threads(2)
  {
    const int i = omp_get_thread_num();
    cudaStream_t s;
    must(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
    fill<<<1, count, 0, s>>>(data[i], i);
    if (right) must(cudaStreamSynchronize(s));
#pragma omp barrier
    use(data[1 - i][2]);
    must(cudaStreamSynchronize(s));
  }
}

// The join of the region comes behind the waits of its threads, or the waits are missing.
//@ data-race | data-race | x
CASE(region, "") {
  int* data[2] = {managed(), managed()};
#pragma omp parallel for num_threads(2)
  for (int i = 0; i < 2; ++i) {
    fill<<<1, count>>>(data[i], i); // into the thread's own default stream
    if (right) must(cudaStreamSynchronize(0));
  }
  use(data[0][1] + data[1][1]);
  must(cudaDeviceSynchronize());
}

//@ ? | data-race | x
CASE(critical, "") {
  int* data[2] = {managed(), managed()};
  long total = 0;
#pragma omp parallel num_threads(2)
  {
    const int i = omp_get_thread_num();
    fill<<<1, count>>>(data[i], i);
    if (right) must(cudaStreamSynchronize(0));
#pragma omp critical
    total += data[i][3];
    must(cudaStreamSynchronize(0));
  }
  use(total);
}

// The default stream of one thread says nothing of another one's.
//@ data-race | data-race | x
CASE(own_default_stream, "") {
  int* data = managed();
  std::thread([&] { fill<<<1, count>>>(data, 1); }).join();
  must(right ? cudaDeviceSynchronize() : cudaStreamSynchronize(0));
  use(data[1]);
}

//@ data-race | data-race | x
CASE(two_default_streams, "") {
  int *data = managed(), *to = managed();
  cudaEvent_t made;
  must(cudaEventCreateWithFlags(&made, cudaEventDisableTiming));
  std::thread([&] {
    fill<<<1, count>>>(data, 1);
    must(cudaEventRecord(made));
  }).join();
  if (right) must(cudaStreamWaitEvent(0, made));
  copy<<<1, count>>>(to, data);
  must(cudaDeviceSynchronize());
}

// cudaMemcpy waits for the thread's own stream only.
//@ data-race | data-race | x
CASE(copy_of_another_threads_work, "") {
  int *data = device_memory<int>(count), local[count];
  must(cudaDeviceSynchronize());
  std::thread([&] {
    fill<<<1, count>>>(data, 1);
    if (right) must(cudaStreamSynchronize(0));
  }).join();
  must(cudaMemcpy(local, data, bytes, cudaMemcpyDeviceToHost));
  use(local[3]);
}
