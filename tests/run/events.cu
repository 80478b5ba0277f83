// Events: record, query, synchronise, elapsed time, re-recording, waiting on an event never recorded.
//@ exercises: cudaEventRecord/Query/Synchronize/ElapsedTime, flags, error codes of misuse
#include "support.h"

__global__ void spin_for(long long nanoseconds) {
  unsigned long long start, now;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(start));
  do {
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
  } while (now - start < nanoseconds);
}

__global__ void set(int* flag, int value) { *flag = value; }

int main() {
  cudaEvent_t start, stop, untimed, never;
  CUDA_OK(cudaEventCreate(&start));
  CUDA_OK(cudaEventCreateWithFlags(&stop, cudaEventBlockingSync));
  CUDA_OK(cudaEventCreateWithFlags(&untimed, cudaEventDisableTiming));
  CUDA_OK(cudaEventCreate(&never));

  CUDA_OK(cudaEventRecord(start));
  spin_for<<<1, 1>>>(2000000);
  CUDA_OK(cudaEventRecord(stop));
  CUDA_OK(cudaEventSynchronize(stop));
  float milliseconds = -1;
  CUDA_OK(cudaEventElapsedTime(&milliseconds, start, stop));
  std::printf("elapsed at least 1.5 ms: %d, less than a minute: %d\n", milliseconds > 1.5f, milliseconds < 60000);
  CUDA_OK(cudaEventElapsedTime(&milliseconds, start, start));
  std::printf("itself: %g\n", milliseconds);

  std::printf("never recorded: query %s, synchronize %s\n", cudaGetErrorName(cudaEventQuery(never)),
              cudaGetErrorName(cudaEventSynchronize(never)));
  std::printf("elapsed with it: %s\n", cudaGetErrorName(cudaEventElapsedTime(&milliseconds, start, never)));
  CUDA_OK(cudaEventRecord(untimed));
  CUDA_OK(cudaEventSynchronize(untimed));
  std::printf("elapsed without timing: %s\n", cudaGetErrorName(cudaEventElapsedTime(&milliseconds, start, untimed)));
  (void)cudaGetLastError();

  // Waiting for an event that was never recorded waits for nothing.
  cudaStream_t stream;
  CUDA_OK(cudaStreamCreate(&stream));
  Buffer<int> flag(1);
  CUDA_OK(cudaStreamWaitEvent(stream, never, 0));
  set<<<1, 1, 0, stream>>>(flag, 3);
  CUDA_OK(cudaStreamSynchronize(stream));
  std::printf("flag %d\n", flag.get()[0]);

  // A wait refers to the latest record at the time of the call, not to later ones.
  set<<<1, 1, 0, stream>>>(flag, 4);
  CUDA_OK(cudaEventRecord(never, stream));
  CUDA_OK(cudaEventSynchronize(never));
  std::printf("flag %d, query %s\n", flag.get()[0], cudaGetErrorName(cudaEventQuery(never)));
  CUDA_OK(cudaStreamDestroy(stream));
  for (cudaEvent_t event : {start, stop, untimed, never}) {
    CUDA_OK(cudaEventDestroy(event));
  }
}
