// Commands: streams, events, copies, programmatic launches (spec/races.md: [RACE-COMMAND]).
#include "cases.h"

__global__ void fill(int* data, int value) { data[blockIdx.x * blockDim.x + threadIdx.x] = value; }
__global__ void add(const int* in, int* out) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = in[i] + 1;
}

cudaStream_t stream() {
  cudaStream_t s = nullptr;
  must(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
  return s;
}
int* fresh() {
  int* data = device_memory<int>(2048);
  must(cudaDeviceSynchronize());
  return data;
}

CASE(two_streams, "RACE-COMMAND") {
  int* data = fresh();
  cudaStream_t a = stream(), b = right ? a : stream();
  fill<<<4, 64, 0, a>>>(data, 1);
  add<<<4, 64, 0, b>>>(data, data + 1024);
}

CASE(event, "RACE-COMMAND") {
  int* data = fresh();
  cudaStream_t a = stream(), b = stream();
  cudaEvent_t done;
  must(cudaEventCreate(&done));
  fill<<<4, 64, 0, a>>>(data, 1);
  if (right) {
    must(cudaEventRecord(done, a));
  }
  must(cudaStreamWaitEvent(b, done));
  add<<<4, 64, 0, b>>>(data, data + 1024);
}

CASE(event_before_the_work, "RACE-COMMAND") {
  int* data = fresh();
  cudaStream_t a = stream(), b = stream();
  cudaEvent_t done;
  must(cudaEventCreate(&done));
  if (!right) {
    must(cudaEventRecord(done, a));
  }
  fill<<<4, 64, 0, a>>>(data, 1);
  if (right) {
    must(cudaEventRecord(done, a));
  }
  must(cudaEventSynchronize(done));
  add<<<4, 64, 0, b>>>(data, data + 1024);
}

CASE(stream_synchronize, "RACE-COMMAND") {
  int* data = fresh();
  cudaStream_t a = stream(), b = stream();
  fill<<<4, 64, 0, a>>>(data, 1);
  must(cudaStreamSynchronize(right ? a : b));
  add<<<4, 64, 0, b>>>(data, data + 1024);
}

CASE(copy_while_kernel_runs, "cudaMemcpyAsync") {
  int* data = fresh();
  int* host = nullptr;
  must(cudaMallocHost(&host, 1024));
  cudaStream_t a = stream(), b = right ? a : stream();
  fill<<<4, 64, 0, a>>>(data, 1);
  must(cudaMemcpyAsync(host, data, 1024, cudaMemcpyDeviceToHost, b));
}

CASE(set_while_kernel_runs, "cudaMemsetAsync") {
  int* data = fresh();
  cudaStream_t a = stream(), b = right ? a : stream();
  must(cudaMemsetAsync(data, 0, 8192, a));
  fill<<<4, 64, 0, b>>>(data, 1);
}

CASE(legacy_stream, "RACE-COMMAND") {
  int* data = fresh();
  cudaStream_t a = nullptr;
  must(cudaStreamCreateWithFlags(&a, right ? cudaStreamDefault : cudaStreamNonBlocking));
  fill<<<4, 64, 0, a>>>(data, 1);
  add<<<4, 64>>>(data, data + 1024);
}

template <bool right> __global__ void second(const int* in, int* out) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (right) {
    cudaGridDependencySynchronize();
  }
  out[i] = in[i] + 1;
}
CASE(programmatic_launch, "RACE-COMMAND") {
  int* data = fresh();
  cudaStream_t a = stream();
  fill<<<4, 64, 0, a>>>(data, 1);
  cudaLaunchConfig_t config{};
  config.gridDim = 4;
  config.blockDim = 64;
  config.stream = a;
  cudaLaunchAttribute attribute{};
  attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  attribute.val.programmaticStreamSerializationAllowed = 1;
  config.attrs = &attribute;
  config.numAttrs = 1;
  must(cudaLaunchKernelEx(&config, second<right>, (const int*)data, data + 1024));
}

// A stream that waits for an event of a launch is behind the launch's beginning ([DEP-BEGUN]) or its triggers
// ([DEP-EARLY]) and no more; right: behind what the kernel itself is behind, or its grid waits ([DEP-WAIT]).
CASE(launch_completion_event, "RACE-COMMAND") {
  int* data = fresh();
  cudaStream_t a = stream(), b = stream();
  cudaEvent_t event;
  must(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
  fill<<<4, 64, 0, a>>>(data + 512, 1);
  cudaLaunchConfig_t config{};
  config.gridDim = 4;
  config.blockDim = 64;
  config.stream = a;
  cudaLaunchAttribute attribute{};
  attribute.id = cudaLaunchAttributeLaunchCompletionEvent;
  attribute.val.launchCompletionEvent.event = event;
  config.attrs = &attribute;
  config.numAttrs = 1;
  must(cudaLaunchKernelEx(&config, fill, data, 1));
  must(cudaStreamWaitEvent(b, event, 0));
  add<<<4, 64, 0, b>>>(right ? data + 512 : data, data + 1024);
}

CASE(programmatic_event, "RACE-COMMAND") {
  int* data = fresh();
  cudaStream_t a = stream(), b = stream();
  cudaEvent_t event;
  must(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
  cudaLaunchConfig_t config{};
  config.gridDim = 4;
  config.blockDim = 64;
  config.stream = a;
  cudaLaunchAttribute attribute{};
  attribute.id = cudaLaunchAttributeProgrammaticEvent;
  attribute.val.programmaticEvent.event = event;
  config.attrs = &attribute;
  config.numAttrs = 1;
  must(cudaLaunchKernelEx(&config, fill, data, 1));
  must(cudaStreamWaitEvent(b, event, 0));
  second<right><<<4, 64, 0, b>>>(data, data + 1024);
}

// What comes behind a programmatic launch in its stream is behind the kernel before that, too.
CASE(behind_programmatic_launch, "RACE-COMMAND") {
  int* data = fresh();
  cudaStream_t a = stream(), b = stream();
  fill<<<4, 64, 0, a>>>(data, 1);
  cudaLaunchConfig_t config{};
  config.gridDim = 4;
  config.blockDim = 64;
  config.stream = a;
  cudaLaunchAttribute attribute{};
  attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  attribute.val.programmaticStreamSerializationAllowed = 1;
  config.attrs = &attribute;
  config.numAttrs = 1;
  must(cudaLaunchKernelEx(&config, fill, data + 512, 1));
  add<<<4, 64, 0, right ? a : b>>>(data, data + 1024);
}

CASE(graph_branches, "RACE-COMMAND") {
  int* data = fresh();
  cudaGraph_t graph;
  must(cudaGraphCreate(&graph, 0));
  int* out = data + 1024;
  int one = 1;
  void* fill_arguments[] = {&data, &one};
  void* add_arguments[] = {&data, &out};
  cudaKernelNodeParams params{};
  params.func = (void*)fill;
  params.gridDim = 4;
  params.blockDim = 64;
  params.kernelParams = fill_arguments;
  cudaGraphNode_t first, then;
  must(cudaGraphAddKernelNode(&first, graph, nullptr, 0, &params));
  params.func = (void*)add;
  params.kernelParams = add_arguments;
  must(cudaGraphAddKernelNode(&then, graph, &first, right ? 1 : 0, &params));
  cudaGraphExec_t executable;
  must(cudaGraphInstantiate(&executable, graph, 0));
  must(cudaGraphLaunch(executable, stream()));
}

// A kernel that polls a flag which a copy in another stream sets: meant so, but what it reads after
// that must not be what a third stream writes at the same time.
__global__ void poll(volatile int* flag, const int* in, int* out) {
  while (*flag == 0) {
  }
  __threadfence_system();
  out[threadIdx.x] = in[threadIdx.x];
}
CASE(flag_by_copy, "RACE-COMMAND") {
  int* data = fresh();
  int* flag = fresh();
  int* one = nullptr;
  must(cudaMallocHost(&one, 4));
  *one = 1;
  cudaStream_t a = stream(), b = stream(), c = right ? b : stream();
  fill<<<1, 64, 0, c>>>(data, 1);
  must(cudaMemcpyAsync(flag, one, 4, cudaMemcpyHostToDevice, b));
  poll<<<1, 64, 0, a>>>(flag, data, data + 1024);
}
