// Three processes share memory and events: each writes everybody's buffer in turn, in the order that the events give.
//@ exercises: cudaIpcGetMemHandle, cudaIpcOpenMemHandle, cudaIpcCloseMemHandle, cudaIpcGetEventHandle, cudaIpcOpenEventHandle
#include "support.h"

#include <atomic>

#include <sched.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

constexpr int processes = 3;
constexpr int bytes = 10000;
constexpr int small = 100; // shares a page with its neighbours

struct Shared {
  std::atomic<int> arrived[16];
  cudaIpcMemHandle_t memory[processes];
  cudaIpcMemHandle_t few[processes];
  cudaIpcEventHandle_t event[processes];
};

__global__ void fill(unsigned char* p, int first, int step, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    p[i] = static_cast<unsigned char>(first + step * p[i]);
  }
}

static void meet(Shared* shared, int place) {
  shared->arrived[place].fetch_add(1);
  while (shared->arrived[place].load() < processes) {
    sched_yield();
  }
}

static int run(Shared* shared, int me) {
  unsigned char* own = nullptr;
  unsigned char* few = nullptr;
  cudaEvent_t event;
  cudaStream_t stream;
  CUDA_OK(cudaMalloc(&own, bytes));
  CUDA_OK(cudaMalloc(&few, small));
  CUDA_OK(cudaMemset(own, 0, bytes));
  CUDA_OK(cudaMemset(few, 40 + me, small)); // before it is shared
  CUDA_OK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  CUDA_OK(cudaEventCreateWithFlags(&event, cudaEventDisableTiming | cudaEventInterprocess));
  CUDA_OK(cudaIpcGetMemHandle(&shared->memory[me], own));
  CUDA_OK(cudaIpcGetMemHandle(&shared->few[me], few));
  CUDA_OK(cudaIpcGetEventHandle(&shared->event[me], event));
  void* again = nullptr;
  EXPECT(cudaIpcOpenMemHandle(&again, shared->memory[me], cudaIpcMemLazyEnablePeerAccess) != cudaSuccess);
  cudaGetLastError();
  meet(shared, 0);

  unsigned char* buffers[processes];
  cudaEvent_t events[processes];
  for (int i = 0; i < processes; ++i) {
    buffers[i] = own;
    events[i] = event;
    if (i != me) {
      void* p = nullptr;
      CUDA_OK(cudaIpcOpenMemHandle(&p, shared->memory[i], cudaIpcMemLazyEnablePeerAccess));
      buffers[i] = static_cast<unsigned char*>(p);
      CUDA_OK(cudaIpcOpenEventHandle(&events[i], shared->event[i]));
    }
  }
  // Each buffer becomes 3 × (what it was) + the number of who writes it, once per process.
  for (int round = 0; round < processes; ++round) {
    const int at = (me + round) % processes;
    CUDA_OK(cudaStreamWaitEvent(stream, events[at], 0));
    fill<<<(bytes + 127) / 128, 128, 0, stream>>>(buffers[at], me, 3, bytes);
    CUDA_OK(cudaEventRecord(events[at], stream));
    meet(shared, 1 + round);
  }
  CUDA_OK(cudaEventSynchronize(event)); // recorded last by another process
  std::vector<unsigned char> result(bytes);
  CUDA_OK(cudaMemcpy(result.data(), own, bytes, cudaMemcpyDeviceToHost));
  int expected = 0;
  for (int round = 0; round < processes; ++round) {
    expected = 3 * expected + (me - round + processes) % processes;
  }
  bool right = true;
  for (const unsigned char value : result) {
    right = right && value == expected;
  }
  void* other = nullptr;
  CUDA_OK(cudaIpcOpenMemHandle(&other, shared->few[(me + 1) % processes], cudaIpcMemLazyEnablePeerAccess));
  unsigned char word[small];
  CUDA_OK(cudaMemcpy(word, other, small, cudaMemcpyDeviceToHost));
  right = right && word[0] == 40 + (me + 1) % processes && word[small - 1] == word[0];
  CUDA_OK(cudaStreamSynchronize(stream));
  meet(shared, 8);
  for (int i = 0; i < processes; ++i) {
    if (i != me) {
      CUDA_OK(cudaIpcCloseMemHandle(buffers[i]));
    }
  }
  CUDA_OK(cudaIpcCloseMemHandle(other));
  EXPECT(cudaIpcCloseMemHandle(other) == cudaErrorInvalidValue);
  meet(shared, 9);
  CUDA_OK(cudaFree(own));
  return right ? 0 : 12;
}

int main() {
  auto* shared = static_cast<Shared*>(
      mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  for (int i = 0; i < processes; ++i) {
    if (fork() == 0) {
      const int code = run(shared, i);
      fflush(stdout);
      _exit(code);
    }
  }
  int wrong = 0;
  for (int i = 0; i < processes; ++i) {
    int status = 0;
    wait(&status);
    wrong += status != 0;
  }
  std::printf("%d processes went wrong\n", wrong);
}
