// Programmatic dependent launch ([DEP-EARLY], [DEP-WAIT]), launch-completion events ([DEP-BEGUN]), and host functions
// that wait for each other ([HOST-CALL]): in pairs, one that a dependency saves and one that it does not.
//@ nvcc: -arch=sm_90
#include "cases.h"

#include <initializer_list>

struct Data {
  int a, b;
  SystemAtomic<int> flag, other;
};

static Data* make_data() {
  void* memory = nullptr;
  cudaMallocManaged(&memory, sizeof(Data));
  return new (memory) Data{};
}
static int finish() { return static_cast<int>(cudaDeviceSynchronize()); }

__device__ static void await(volatile int* word, int value) {
  while (*word != value) {
  }
}
__device__ static void for_ever(volatile int* word) {
  for (;;) {
    (void)*word;
  }
}
__device__ static void trigger() { asm volatile("griddepcontrol.launch_dependents;" ::: "memory"); }
__device__ static void wait_for_grids() { asm volatile("griddepcontrol.wait;" ::: "memory"); }

enum class Late { Programmatic, Ordinary };

/// Launches with one attribute more or none.
template <class... P, class... A>
static void launch_with(
    std::initializer_list<cudaLaunchAttribute> attributes,
    unsigned blocks,
    cudaStream_t stream,
    void (*kernel)(P...),
    A... arguments
) {
  cudaLaunchAttribute list[2];
  cudaLaunchConfig_t config{};
  for (const cudaLaunchAttribute& attribute : attributes) {
    list[config.numAttrs++] = attribute;
  }
  config.gridDim = blocks;
  config.blockDim = 1;
  config.stream = stream;
  config.attrs = list;
  cudaLaunchKernelEx(&config, kernel, static_cast<P>(arguments)...);
}

static cudaLaunchAttribute serialization() {
  cudaLaunchAttribute attribute{};
  attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  attribute.val.programmaticStreamSerializationAllowed = 1;
  return attribute;
}

// --- In one stream -----------------------------------------------------------------------------------

template <bool first> __global__ void triggers(Data* data) {
  volatile int* a = &data->a;
  if (first) {
    trigger();
  }
  *a = 1;
  if (!first) {
    trigger();
  }
}
template <bool waits_first> __global__ void looks(Data* data) {
  volatile int* a = &data->a;
  if (waits_first) {
    wait_for_grids();
  }
  if (*a == 0) {
    for_ever(a);
  }
  wait_for_grids();
}

// It looks before it waits.
//@ case: looks-before-wait
//@ verdict: may-hang
//@ finding: livelock
//@ case: looks-after-wait
//@ verdict: terminates
//@ rests-on: API
//@ case: looks-after-wait
//@ flags: --warps=lockstep
//@ verdict: terminates
//@ case: some-threads-wait
//@ flags: --warps=lockstep
//@ verdict: terminates
// The first kernel lets it begin only after what it looks for.
//@ case: triggered-after-write
//@ verdict: terminates
// It is not launched programmatically, so the trigger means nothing.
//@ case: not-programmatic
//@ verdict: terminates
template <bool first, bool waits_first, Late late> static int in_stream(Setup) {
  Data* data = make_data();
  launch_with({}, 1, nullptr, triggers<first>, data);
  if (late == Late::Programmatic) {
    launch_with({serialization()}, 1, nullptr, looks<waits_first>, data);
  } else {
    launch_with({}, 1, nullptr, looks<waits_first>, data);
  }
  return finish();
}

// Without a trigger the dependent begins when the first one has ended.
__global__ void only_writes(Data* data) {
  volatile int* a = &data->a;
  *a = 1;
}
//@ case: without-trigger
//@ verdict: terminates
static int without_trigger(Setup) {
  Data* data = make_data();
  launch_with({}, 1, nullptr, only_writes, data);
  launch_with({serialization()}, 1, nullptr, looks<false>, data);
  return finish();
}

// All blocks have to trigger: block 1 does so behind its write, so that the dependent sees it.
__global__ void triggers_by_block(Data* data, int behind) {
  volatile int* a = &data->a;
  if (blockIdx.x != behind) {
    trigger();
    return;
  }
  *a = 1;
  trigger();
}
//@ case: all-blocks-trigger
//@ verdict: terminates
static int all_blocks_trigger(Setup) {
  Data* data = make_data();
  launch_with({}, 2, nullptr, triggers_by_block, data, 1);
  launch_with({serialization()}, 1, nullptr, looks<false>, data);
  return finish();
}

__global__ void writes_late(Data* data) {
  volatile int* a = &data->a;
  trigger();
  *a = 1;
}

// The overlap is promised to nobody: the first kernel may wait for ever for the second one.
__global__ void awaits_dependent(Data* data) {
  trigger();
  await(&data->b, 1);
}
__global__ void answers(Data* data) {
  volatile int* b = &data->b;
  *b = 1;
}
//@ case: awaits-dependent
//@ verdict: may-hang
//@ finding: starvation API
//@ case: awaits-dependent
//@ flags: --api=prompt
//@ verdict: may-hang
//@ finding: starvation API
static int awaits_dependent_case(Setup) {
  Data* data = make_data();
  launch_with({}, 1, nullptr, awaits_dependent, data);
  launch_with({serialization()}, 1, nullptr, answers, data);
  return finish();
}

// Nor is the first kernel obliged to go on because it has triggered: that is no step.
__global__ void triggers_then_answers(Data* data, int steps_first) {
  if (steps_first != 0) {
    data->other.load(memory_order_relaxed);
  }
  trigger();
  data->flag.store(1, memory_order_release);
}
__global__ void awaits_first(Data* data) {
  while (data->flag.load(memory_order_acquire) == 0) {
  }
}
//@ case: awaits-triggered
//@ verdict: may-hang
//@ finding: starvation
//@ case: awaits-stepped
//@ verdict: terminates
//@ rests-on: DEV
template <int steps_first> static int awaits_first_case(Setup) {
  Data* data = make_data();
  launch_with({}, 1, nullptr, triggers_then_answers, data, steps_first);
  launch_with({serialization()}, 1, nullptr, awaits_first, data);
  return finish();
}

// It takes data by sums and plain writes, which nobody sees until the wait: one order is as good as another.
__global__ void sums_up(Data* data) {
  trigger();
  atomicAdd(&data->a, 1);
}
template <bool waits> __global__ void looks_at_sum(Data* data) {
  if (waits) {
    wait_for_grids();
  }
  volatile int* a = &data->a;
  if (*a == 1) {
    for_ever(a);
  }
}
//@ case: sum-half-done
//@ verdict: may-hang
//@ finding: livelock
//@ case: sum-after-wait
//@ verdict: terminates
template <bool waits> static int sum(Setup) {
  Data* data = make_data();
  launch_with({}, 4, nullptr, sums_up, data);
  launch_with({serialization()}, 1, nullptr, looks_at_sum<waits>, data);
  return finish();
}

// Threads of one block wait, others go on; a barrier behind it meets all of them.
__global__ void some_wait(Data* data) {
  volatile int* a = &data->a;
  if (threadIdx.x == 0) {
    wait_for_grids();
  }
  __syncthreads();
  if (*a == 0) {
    for_ever(a);
  }
}
//@ case: some-threads-wait
//@ verdict: terminates
static int some_threads_wait(Setup) {
  Data* data = make_data();
  launch_with({}, 2, nullptr, writes_late, data);
  cudaLaunchConfig_t config{};
  cudaLaunchAttribute attribute = serialization();
  config.gridDim = 1;
  config.blockDim = 4;
  config.attrs = &attribute;
  config.numAttrs = 1;
  cudaLaunchKernelEx(&config, some_wait, data);
  return finish();
}

// The wait is for the grid right before: the one before that may still run, if the one between has not waited.
template <bool waits> __global__ void between(Data*) {
  if (waits) {
    wait_for_grids();
  }
  trigger();
}
//@ case: chain-not-waiting
//@ verdict: may-hang
//@ finding: livelock
//@ case: chain-waiting
//@ verdict: terminates
// A kernel that is not launched programmatically follows all of them.
//@ case: chain-then-ordinary
//@ verdict: terminates
template <bool waits, Late last> static int chain(Setup) {
  Data* data = make_data();
  launch_with({}, 1, nullptr, writes_late, data);
  launch_with({serialization()}, 1, nullptr, between<waits>, data);
  if (last == Late::Programmatic) {
    launch_with({serialization()}, 1, nullptr, looks<true>, data);
  } else {
    launch_with({}, 1, nullptr, looks<false>, data);
  }
  return finish();
}

// A stream is done when both are, although the second one has not waited.
__global__ void does_nothing(Data*) {}
//@ case: synchronised
//@ verdict: terminates
static int synchronised(Setup) {
  Data* data = make_data();
  launch_with({}, 1, nullptr, writes_late, data);
  launch_with({serialization()}, 1, nullptr, does_nothing, data);
  cudaStreamSynchronize(nullptr);
  while (*static_cast<volatile int*>(&data->a) == 0) {
  }
  return finish();
}

// A copy between them: then nothing overlaps.
//@ case: copy-between
//@ verdict: terminates
static int copy_between(Setup) {
  Data* data = make_data();
  launch_with({}, 1, nullptr, triggers<true>, data);
  cudaMemsetAsync(&data->b, 1, sizeof(int), nullptr);
  launch_with({serialization()}, 1, nullptr, looks<false>, data);
  return finish();
}

// --- Events of launches ------------------------------------------------------------------------------

__global__ void writes_twice(Data* data) {
  volatile int* a = &data->a;
  *a = 1;
  *a = 2;
}
__global__ void triggers_between(Data* data) {
  volatile int* a = &data->a;
  *a = 1;
  trigger();
  *a = 2;
}
template <int forbidden, bool waits> __global__ void looks_for(Data* data) {
  volatile int* a = &data->a;
  if (waits) {
    wait_for_grids();
  }
  if (*a == forbidden) {
    for_ever(a);
  }
}

// The blocks have begun, no more is said, and not even that can be relied on.
//@ case: begun-half-done
//@ verdict: may-hang
//@ finding: livelock
//@ case: begun-nothing-done
//@ verdict: may-hang
//@ finding: livelock
// The wait is not for it.
//@ case: begun-wait
//@ verdict: may-hang
//@ finding: livelock
// It is for a programmatic event, also for one at the start of blocks.
//@ case: block-start-half-done
//@ verdict: may-hang
//@ finding: livelock
//@ case: block-start-wait
//@ verdict: terminates
//@ case: triggered-half-done
//@ verdict: may-hang
//@ finding: livelock
//@ case: triggered-nothing-done
//@ verdict: terminates
//@ case: triggered-wait
//@ verdict: terminates
//@ case: recorded-half-done
//@ verdict: terminates
enum class Mark { Begun, BlockStart, Triggered, Recorded };
template <Mark mark, int forbidden, bool waits> static int event_of_launch(Setup) {
  Data* data = make_data();
  cudaStream_t s0, s1;
  cudaStreamCreateWithFlags(&s0, cudaStreamNonBlocking);
  cudaStreamCreateWithFlags(&s1, cudaStreamNonBlocking);
  cudaEvent_t event;
  cudaEventCreateWithFlags(&event, cudaEventDisableTiming);
  const auto kernel = mark == Mark::Triggered ? triggers_between : writes_twice;
  cudaLaunchAttribute attribute{};
  if (mark == Mark::Begun) {
    attribute.id = cudaLaunchAttributeLaunchCompletionEvent;
    attribute.val.launchCompletionEvent.event = event;
  } else {
    attribute.id = cudaLaunchAttributeProgrammaticEvent;
    attribute.val.programmaticEvent.event = event;
    attribute.val.programmaticEvent.triggerAtBlockStart = mark == Mark::BlockStart;
  }
  if (mark == Mark::Recorded) {
    launch_with({}, 1, s0, kernel, data);
    cudaEventRecord(event, s0);
  } else {
    launch_with({attribute}, 1, s0, kernel, data);
  }
  cudaStreamWaitEvent(s1, event, 0);
  launch_with({}, 1, s1, looks_for<forbidden, waits>, data);
  return finish();
}

// --- Graphs ------------------------------------------------------------------------------------------

//@ case: graph-programmatic
//@ verdict: may-hang
//@ finding: livelock
//@ case: graph-programmatic-wait
//@ verdict: terminates
//@ case: graph-begun
//@ verdict: may-hang
//@ finding: livelock
//@ case: graph-completed
//@ verdict: terminates
template <int port, bool waits> static int graph(Setup) {
  Data* data = make_data();
  cudaGraph_t graph;
  cudaGraphCreate(&graph, 0);
  void* arguments[] = {&data};
  cudaKernelNodeParams parameters{};
  parameters.gridDim = parameters.blockDim = 1;
  parameters.kernelParams = arguments;
  cudaGraphNode_t first, second;
  parameters.func = reinterpret_cast<void*>(triggers_between);
  cudaGraphAddKernelNode(&first, graph, nullptr, 0, &parameters);
  parameters.func = reinterpret_cast<void*>(looks_for<1, waits>);
  cudaGraphAddKernelNode(&second, graph, nullptr, 0, &parameters);
  cudaGraphEdgeData edge{};
  edge.from_port = port;
  edge.type = port != cudaGraphKernelNodePortDefault ? cudaGraphDependencyTypeProgrammatic
                                                     : cudaGraphDependencyTypeDefault;
#if CUDART_VERSION >= 13000
  cudaGraphAddDependencies(graph, &first, &second, &edge, 1);
#else
  cudaGraphAddDependencies_v2(graph, &first, &second, &edge, 1);
#endif
  cudaGraphExec_t exec;
  cudaGraphInstantiate(&exec, graph, 0);
  cudaGraphLaunch(exec, nullptr);
  return finish();
}

// What a stream captures has such edges, too.
//@ case: captured-programmatic
//@ verdict: may-hang
//@ finding: livelock
//@ case: captured-programmatic-wait
//@ verdict: terminates
template <bool waits> static int captured(Setup) {
  Data* data = make_data();
  cudaStream_t stream;
  cudaStreamCreate(&stream);
  cudaGraph_t graph;
  cudaGraphExec_t exec;
  cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);
  launch_with({}, 1, stream, triggers_between, data);
  launch_with({serialization()}, 1, stream, looks_for<1, waits>, data);
  cudaStreamEndCapture(stream, &graph);
  cudaGraphInstantiate(&exec, graph, 0);
  cudaGraphLaunch(exec, stream);
  return finish();
}

// --- Host functions that wait for each other ---------------------------------------------------------

static void CUDART_CB await_flag(void* data) {
  while (static_cast<Data*>(data)->flag.load(memory_order_acquire) == 0) {
  }
}
static void CUDART_CB set_flag(void* data) {
  static_cast<Data*>(data)->flag.store(1, memory_order_release);
}

// One thread may serve all streams.
//@ case: host-functions
//@ verdict: may-hang
//@ finding: starvation HOST-CALL
//@ case: host-functions-by-event
//@ verdict: terminates
//@ case: host-function-by-kernel
//@ verdict: terminates
__global__ void sets_flag(Data* data) { data->flag.store(1, memory_order_release); }
enum class By { Function, FunctionBefore, Kernel };
template <By by> static int host_functions(Setup) {
  Data* data = make_data();
  cudaStream_t s0, s1;
  cudaStreamCreateWithFlags(&s0, cudaStreamNonBlocking);
  cudaStreamCreateWithFlags(&s1, cudaStreamNonBlocking);
  if (by == By::Kernel) {
    sets_flag<<<1, 1, 0, s1>>>(data);
  } else {
    cudaLaunchHostFunc(s1, set_flag, data);
  }
  if (by == By::FunctionBefore) {
    cudaEvent_t event;
    cudaEventCreate(&event);
    cudaEventRecord(event, s1);
    cudaStreamWaitEvent(s0, event, 0);
  }
  cudaLaunchHostFunc(s0, await_flag, data);
  return finish();
}

int main(int argc, char** argv) {
  return run_case(argc, argv, {
      {"looks-before-wait", in_stream<true, false, Late::Programmatic>},
      {"looks-after-wait", in_stream<true, true, Late::Programmatic>},
      {"triggered-after-write", in_stream<false, false, Late::Programmatic>},
      {"not-programmatic", in_stream<true, false, Late::Ordinary>},
      {"without-trigger", without_trigger},
      {"all-blocks-trigger", all_blocks_trigger},
      {"awaits-dependent", awaits_dependent_case},
      {"awaits-triggered", awaits_first_case<0>},
      {"awaits-stepped", awaits_first_case<1>},
      {"sum-half-done", sum<false>},
      {"sum-after-wait", sum<true>},
      {"some-threads-wait", some_threads_wait},
      {"chain-not-waiting", chain<false, Late::Programmatic>},
      {"chain-waiting", chain<true, Late::Programmatic>},
      {"chain-then-ordinary", chain<false, Late::Ordinary>},
      {"synchronised", synchronised},
      {"copy-between", copy_between},
      {"begun-half-done", event_of_launch<Mark::Begun, 1, false>},
      {"begun-nothing-done", event_of_launch<Mark::Begun, 0, false>},
      {"begun-wait", event_of_launch<Mark::Begun, 1, true>},
      {"block-start-half-done", event_of_launch<Mark::BlockStart, 1, false>},
      {"block-start-wait", event_of_launch<Mark::BlockStart, 1, true>},
      {"triggered-half-done", event_of_launch<Mark::Triggered, 1, false>},
      {"triggered-nothing-done", event_of_launch<Mark::Triggered, 0, false>},
      {"triggered-wait", event_of_launch<Mark::Triggered, 1, true>},
      {"recorded-half-done", event_of_launch<Mark::Recorded, 1, false>},
      {"graph-programmatic", graph<cudaGraphKernelNodePortProgrammatic, false>},
      {"graph-programmatic-wait", graph<cudaGraphKernelNodePortProgrammatic, true>},
      {"graph-begun", graph<cudaGraphKernelNodePortLaunchCompletion, false>},
      {"graph-completed", graph<cudaGraphKernelNodePortDefault, false>},
      {"captured-programmatic", captured<false>},
      {"captured-programmatic-wait", captured<true>},
      {"host-functions", host_functions<By::Function>},
      {"host-functions-by-event", host_functions<By::FunctionBefore>},
      {"host-function-by-kernel", host_functions<By::Kernel>},
  });
}
