// What stream and event calls answer, with nothing to wait for and while a kernel spins.
//@ exercises: stream and event creation, default streams, queries, cudaErrorNotReady, callbacks
#include "codes.h"

#include <cstdint>

__global__ void spin(volatile int* flag) {
  while (*flag == 0) {
  }
}

int main() {
  cudaStream_t s, t;
  cudaEvent_t e, f;
  float ms;
  int priority;
  unsigned flags;
  CODE(cudaStreamCreate(nullptr));
  CODE(cudaStreamCreate(&s));
  CODE(cudaStreamCreateWithFlags(&t, 7));
  CODE(cudaStreamCreateWithPriority(&t, cudaStreamNonBlocking, -100));
  CODE(cudaStreamGetPriority(t, &priority));
  std::printf("%d\n", priority);
  CODE(cudaStreamGetFlags(t, &flags));
  std::printf("%u\n", flags);
  CODE(cudaStreamCreateWithPriority(&t, 0, 100));
  CODE(cudaStreamGetPriority(t, &priority));
  std::printf("%d\n", priority);
  CODE(cudaStreamGetFlags(0, &flags));
  std::printf("%u\n", flags);
  CODE(cudaStreamGetFlags(cudaStreamPerThread, &flags));
  std::printf("%u\n", flags);
  CODE(cudaStreamGetPriority(s, nullptr));
  CODE(cudaStreamDestroy(0));
  CODE(cudaStreamDestroy(cudaStreamLegacy));
  CODE(cudaStreamDestroy(cudaStreamPerThread));
  CODE(cudaStreamSynchronize(cudaStreamLegacy));
  CODE(cudaStreamQuery(cudaStreamPerThread));
  CODE(cudaStreamQuery(s));
  CODE(cudaStreamWaitEvent(s, nullptr, 0));
  CODE(cudaStreamDestroy(s));

  CODE(cudaEventCreate(nullptr));
  CODE(cudaEventCreate(&e));
  CODE(cudaEventCreateWithFlags(&f, 0xff));
  CODE(cudaEventCreateWithFlags(&f, cudaEventInterprocess));
  CODE(cudaEventCreateWithFlags(&f, cudaEventDisableTiming));
  CODE(cudaEventQuery(e));
  CODE(cudaEventSynchronize(e));
  CODE(cudaEventElapsedTime(&ms, e, e));
  CODE(cudaEventRecord(e));
  CODE(cudaEventSynchronize(e));
  CODE(cudaEventElapsedTime(&ms, e, e));
  CODE(cudaEventRecord(f));
  CODE(cudaEventElapsedTime(&ms, e, f));
  CODE(cudaEventElapsedTime(nullptr, e, e));
  CODE(cudaEventElapsedTime(&ms, nullptr, e));
  CODE(cudaEventRecord(nullptr));
  CODE(cudaEventQuery(nullptr));
  CODE(cudaEventSynchronize(nullptr));
  CODE(cudaEventDestroy(nullptr));
  CODE(cudaStreamWaitEvent(0, e, 0));
  CODE(cudaStreamWaitEvent(0, e, 99));

  CODE(cudaStreamCreate(&s));
  volatile int* flag;
  cudaMallocHost((void**)&flag, 4);
  *flag = 0;
  spin<<<1, 1, 0, s>>>(flag);
  CODE(cudaStreamQuery(s));
  CODE(cudaEventRecord(e, s));
  CODE(cudaEventQuery(e));
  CODE(cudaEventElapsedTime(&ms, e, e));
  CODE(cudaStreamQuery(0));
  CODE(cudaStreamDestroy(s));
  CODE(cudaEventQuery(e));
  cudaStream_t beside;
  cudaStreamCreateWithFlags(&beside, cudaStreamNonBlocking);
  CODE(cudaStreamQuery(beside));
  CODE(cudaStreamWaitEvent(beside, e, 0));
  CODE(cudaStreamQuery(beside));
  CODE(cudaEventDestroy(e));
  *flag = 1;
  CODE(cudaDeviceSynchronize());
  CODE(cudaStreamQuery(beside));

  CODE(cudaLaunchHostFunc(beside, nullptr, nullptr));
  CODE(cudaStreamAddCallback(beside, nullptr, nullptr, 0));
  static cudaError_t seen[7];
  const auto callback = [](cudaStream_t, cudaError_t status, void*) {
    int device;
    seen[0] = status;
    seen[1] = cudaGetDevice(&device);
    seen[2] = cudaGetLastError();
  };
  CODE(cudaStreamAddCallback(beside, callback, nullptr, 1));
  CODE(cudaStreamAddCallback(beside, callback, nullptr, 0));
  const auto function = [](void*) {
    void* p;
    cudaStream_t made;
    seen[3] = cudaMalloc(&p, 4);
    seen[4] = cudaStreamCreate(&made);
    seen[5] = cudaStreamQuery(0);
    seen[6] = cudaDeviceSynchronize();
  };
  CODE(cudaLaunchHostFunc(beside, function, nullptr));
  CODE(cudaDeviceSynchronize());
  for (const cudaError_t code : seen) {
    std::printf("%d ", code);
  }
  std::printf("\n");
}
