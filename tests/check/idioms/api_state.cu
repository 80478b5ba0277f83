// What the API keeps is a part of a state: two ways that leave other things behind in it are not
// taken for one. In each program the host reads a flag that a kernel sets, and gives to a call what
// depends on it; nothing else remembers what it has read. Later it goes round for ever if it was 0,
// or if it was 1. Both happen.
#include "cases.h"
#include <cuda/std/atomic>

#include <new>
#include <thread>

namespace {

__global__ void set(volatile int* flag) {
  *flag = 1;
}
__global__ void spin(int if_one, volatile int* word) {
  while (if_one == 1 && *word == 0) {
  }
}
__global__ void spin_if_zero(volatile int* word) {
  while (*word == 0) {
  }
}

volatile int nothing;
void for_ever() {
  for (;;) {
    (void)nothing;
  }
}

struct Program {
  int* flag = nullptr;
  int* word = nullptr;
  cudaStream_t sets{}, other{};
  int read() const { return cuda::std::atomic_ref<int>(*flag).load(); }
};

/// As if nothing had been read.
__attribute__((noinline)) void forget() {
  volatile long stack[64];
  for (int i = 0; i < 64; ++i) {
    stack[i] = 0;
  }
}

Program start() {
  Program p;
  cudaStreamCreateWithFlags(&p.sets, cudaStreamNonBlocking);
  cudaStreamCreateWithFlags(&p.other, cudaStreamNonBlocking);
  cudaMallocHost(&p.flag, sizeof(int));
  cudaMalloc(&p.word, sizeof(int));
  *p.flag = 0;
  cudaMemset(p.word, 2, sizeof(int));
  cudaDeviceSynchronize();
  set<<<1, 1, 0, p.sets>>>(p.flag);
  return p;
}

// --- What a thread holds
// --------------------------------------------------------------------------

//@ case: last-error-0
//@ nvcc: -O2
//@ verdict: may-hang
//@ finding: livelock
//@ case: last-error-1
//@ nvcc: -O2
//@ verdict: may-hang
//@ finding: livelock
//@ case: last-error-2
//@ nvcc: -O2
//@ verdict: terminates
__attribute__((noinline)) void fail_if(const Program& p, int value) {
  if (p.read() == value) {
    void* memory = nullptr;
    cudaMalloc(&memory, std::size_t{1} << 60);
  }
}
int last_error(int value) {
  const Program p = start();
  fail_if(p, value);
  forget();
  cudaStreamSynchronize(p.sets);
  if (cudaGetLastError() != cudaSuccess) {
    for_ever();
  }
  return 0;
}

// --- Events
// -----------------------------------------------------------------------------------------

//@ case: event-recorded-0
//@ nvcc: -O2
//@ verdict: may-hang
//@ finding: livelock
//@ case: event-recorded-1
//@ nvcc: -O2
//@ verdict: may-hang
//@ finding: livelock
__attribute__((noinline)) void record(const Program& p, const cudaEvent_t* events) {
  cudaEventRecord(events[p.read()], p.sets);
}
int event_recorded(int value) {
  cudaEvent_t events[2];
  cudaEventCreate(&events[0]);
  cudaEventCreate(&events[1]);
  const Program p = start();
  record(p, events);
  forget();
  cudaStreamSynchronize(p.sets);
  float time = 0;
  if (cudaEventElapsedTime(&time, events[value], events[value]) == cudaSuccess) {
    for_ever();
  }
  return 0;
}

// --- Graphs
// -----------------------------------------------------------------------------------------

//@ case: graph-parameters-0
//@ nvcc: -O2
//@ verdict: may-hang
//@ finding: livelock
//@ case: graph-parameters-1
//@ nvcc: -O2
//@ verdict: may-hang
//@ finding: livelock
cudaKernelNodeParams launch_of(void** arguments) {
  cudaKernelNodeParams node{};
  node.func = reinterpret_cast<void*>(spin);
  node.gridDim = node.blockDim = dim3(1);
  node.kernelParams = arguments;
  return node;
}
__attribute__((noinline)) void
change(const Program& p, int value, cudaGraphExec_t graph, cudaGraphNode_t at) {
  int if_one = p.read() == value ? 1 : 0;
  int* word = p.word;
  void* arguments[] = {&if_one, &word};
  const cudaKernelNodeParams node = launch_of(arguments);
  cudaGraphExecKernelNodeSetParams(graph, at, &node);
}
int graph_parameters(int value) {
  const Program p = start();
  cudaMemsetAsync(p.word, 0, sizeof(int), p.other);
  int if_one = 0;
  int* word = p.word;
  void* arguments[] = {&if_one, &word};
  const cudaKernelNodeParams node = launch_of(arguments);
  cudaGraph_t graph{};
  cudaGraphNode_t at{};
  cudaGraphExec_t executable{};
  cudaGraphCreate(&graph, 0);
  cudaGraphAddKernelNode(&at, graph, nullptr, 0, &node);
  cudaGraphInstantiate(&executable, graph, 0);
  change(p, value, executable, at);
  forget();
  cudaStreamSynchronize(p.sets);
  cudaGraphLaunch(executable, p.other);
  return static_cast<int>(cudaDeviceSynchronize());
}

// --- What a command will do
// -------------------------------------------------------------------------

//@ case: value-set-0
//@ nvcc: -O2
//@ verdict: may-hang
//@ finding: livelock
//@ case: value-set-1
//@ nvcc: -O2
//@ verdict: may-hang
//@ finding: livelock
__attribute__((noinline)) void put(const Program& p, int value) {
  cudaMemsetAsync(p.word, p.read() == value ? 0 : 1, sizeof(int), p.other);
}
int value_set(int value) {
  const Program p = start();
  put(p, value);
  forget();
  cudaStreamSynchronize(p.sets);
  spin_if_zero<<<1, 1, 0, p.other>>>(p.word);
  return static_cast<int>(cudaDeviceSynchronize());
}

//@ case: function-called-0
//@ nvcc: -O2
//@ verdict: may-hang
//@ finding: livelock
//@ case: function-called-1
//@ nvcc: -O2
//@ verdict: may-hang
//@ finding: livelock
int given[2];
__attribute__((noinline)) void call(const Program& p, int value) {
  cudaLaunchHostFunc(
      p.other,
      [](void* data) {
        if (data == &given[1]) {
          for_ever();
        }
      },
      &given[p.read() == value ? 1 : 0]
  );
}
int function_called(int value) {
  const Program p = start();
  call(p, value);
  forget();
  cudaStreamSynchronize(p.sets);
  return static_cast<int>(cudaDeviceSynchronize());
}

// --- What a call waits for
// ----------------------------------------------------------------------------------------

// Another thread launches a second kernel into the stream while the first one is under way. A call
// that waits for the stream waits for it too, or not, by when it began.
struct Shared {
  cuda::std::atomic<int> launched{0}, go{0}, done{0};
};
__global__ void first(Shared* shared) {
  while (shared->launched.load() == 0) {
  }
}
__global__ void second(Shared* shared, bool waits) {
  while (waits && shared->go.load() == 0) {
  }
  shared->done.store(1);
}

//@ case: waits-for-later
//@ flags: --api=prompt
//@ verdict: may-hang
//@ finding: livelock
//@ case: waits-not-for-later
//@ flags: --api=prompt
//@ verdict: may-hang
//@ finding: livelock
//@ case: waits-for-both
//@ flags: --api=prompt
//@ verdict: terminates
int waits(bool for_second, bool after_launch) {
  void* memory = nullptr;
  cudaMallocHost(&memory, sizeof(Shared));
  auto* const shared = new (memory) Shared();
  cudaStream_t stream{};
  cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
  first<<<1, 1, 0, stream>>>(shared);
  std::thread other([=] {
    second<<<1, 1, 0, stream>>>(shared, for_second);
    shared->launched.store(1);
  });
  while (after_launch && shared->launched.load() == 0) {
  }
  cudaStreamSynchronize(stream);
  if (!for_second && shared->done.load() == 0) {
    for_ever();
  }
  shared->go.store(1);
  other.join();
  return static_cast<int>(cudaDeviceSynchronize());
}

} // namespace

int main(int argc, char** argv) {
  return run_case(
      argc,
      argv,
      {
          {"last-error-0", [](Setup) { return last_error(0); }},
          {"last-error-1", [](Setup) { return last_error(1); }},
          {"last-error-2", [](Setup) { return last_error(2); }}, // the flag never is
          {"event-recorded-0", [](Setup) { return event_recorded(0); }},
          {"event-recorded-1", [](Setup) { return event_recorded(1); }},
          {"graph-parameters-0", [](Setup) { return graph_parameters(0); }},
          {"graph-parameters-1", [](Setup) { return graph_parameters(1); }},
          {"value-set-0", [](Setup) { return value_set(0); }},
          {"value-set-1", [](Setup) { return value_set(1); }},
          {"function-called-0", [](Setup) { return function_called(0); }},
          {"function-called-1", [](Setup) { return function_called(1); }},
          {"waits-for-later", [](Setup) { return waits(true, false); }},
          {"waits-not-for-later", [](Setup) { return waits(false, false); }},
          {"waits-for-both", [](Setup) { return waits(false, true); }},
      }
  );
}
