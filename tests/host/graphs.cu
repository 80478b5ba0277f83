// Functions of the host as nodes of graphs: added (cudaGraphAddHostNode) and captured (cudaLaunchHostFunc). Each mistake
// and its good twin: see pairs.cu. Nodes are ordered by edges alone, and launches of one graph by each other. A plain
// run does not look at what functions and work of devices do to each other, nor at memory of the host alone.
#include "pair.h"

#include <atomic>
#include <vector>

__global__ void fill(int* to, int value) { to[threadIdx.x] = value; }
__global__ void copy(int* to, const int* from) { to[threadIdx.x] = from[threadIdx.x]; }

using Nodes = std::vector<cudaGraphNode_t>;

static cudaGraph_t new_graph() {
  cudaGraph_t graph = nullptr;
  must(cudaGraphCreate(&graph, 0));
  return graph;
}
static cudaGraphExec_t instance(cudaGraph_t graph) {
  cudaGraphExec_t run = nullptr;
  must(cudaGraphInstantiate(&run, graph, 0));
  return run;
}
static cudaGraphNode_t add_fill(cudaGraph_t graph, const Nodes& after, int* to, int value) {
  void* arguments[] = {&to, &value};
  cudaKernelNodeParams params{};
  params.func = reinterpret_cast<void*>(fill);
  params.gridDim = 1;
  params.blockDim = count;
  params.kernelParams = arguments;
  cudaGraphNode_t node = nullptr;
  must(cudaGraphAddKernelNode(&node, graph, after.data(), after.size(), &params));
  return node;
}
static cudaGraphNode_t add_copy(cudaGraph_t graph, const Nodes& after, int* to, const int* from, cudaMemcpyKind kind) {
  cudaGraphNode_t node = nullptr;
  must(cudaGraphAddMemcpyNode1D(&node, graph, after.data(), after.size(), to, from, bytes, kind));
  return node;
}
static cudaGraphNode_t add_host(cudaGraph_t graph, const Nodes& after, cudaHostFn_t function, void* data) {
  cudaHostNodeParams params{};
  params.fn = function;
  params.userData = data;
  cudaGraphNode_t node = nullptr;
  must(cudaGraphAddHostNode(&node, graph, after.data(), after.size(), &params));
  return node;
}
static void run_once(cudaGraph_t graph) {
  must(cudaGraphLaunch(instance(graph), nullptr));
  must(cudaDeviceSynchronize());
}

static void read_all(void* p) {
  long sum = 0;
  for (int i = 0; i < count; ++i) sum += static_cast<int*>(p)[i];
  use(sum);
}
static void write_all(void* p) {
  for (int i = 0; i < count; ++i) static_cast<int*>(p)[i] = i;
}
static void count_up(void* p) { ++*static_cast<long*>(p); }

// --- Nodes and edges -------------------------------------------------------------------------------

// The function reads what a kernel writes.
//@ - | data-race | data-race
CASE(function_reads_result_of_kernel, "") {
  int* data = pinned();
  cudaGraph_t graph = new_graph();
  const cudaGraphNode_t writes = add_fill(graph, {}, data, 1);
  add_host(graph, right ? Nodes{writes} : Nodes{}, read_all, data);
  run_once(graph);
}

// The same in managed memory, with a node between.
//@ - | data-race | data-race
CASE(function_behind_another_node, "") {
  int *data = managed(), *other = zeros();
  cudaGraph_t graph = new_graph();
  const cudaGraphNode_t writes = add_fill(graph, {}, data, 1);
  const cudaGraphNode_t between = add_fill(graph, right ? Nodes{writes} : Nodes{}, other, 1);
  add_host(graph, {between}, read_all, data);
  run_once(graph);
}

// The function fills what a node copies to the device.
//@ - | data-race | data-race
CASE(function_writes_source_of_copy, "") {
  int *staging = pinned(), *data = zeros();
  cudaGraph_t graph = new_graph();
  const cudaGraphNode_t writes = add_host(graph, {}, write_all, staging);
  add_copy(graph, right ? Nodes{writes} : Nodes{}, data, staging, cudaMemcpyHostToDevice);
  run_once(graph);
}

// The function waits for the kernel, and not for the copy that brings the result.
//@ - | data-race | data-race
CASE(function_reads_target_of_copy, "") {
  int *data = zeros(), *result = pinned();
  cudaGraph_t graph = new_graph();
  const cudaGraphNode_t computes = add_fill(graph, {}, data, 1);
  const cudaGraphNode_t brings = add_copy(graph, {computes}, result, data, cudaMemcpyDeviceToHost);
  add_host(graph, {right ? brings : computes}, read_all, result);
  run_once(graph);
}

// Two functions count in one place, in memory of the host alone.
//@ - | data-race | data-race
CASE(two_functions_count, "") {
  static long number;
  cudaGraph_t graph = new_graph();
  const cudaGraphNode_t first = add_host(graph, {}, count_up, &number);
  add_host(graph, right ? Nodes{first} : Nodes{}, count_up, &number);
  run_once(graph);
}

// The function is in a graph within the graph.
//@ - | data-race | data-race
CASE(function_in_child_graph, "") {
  int* data = pinned();
  cudaGraph_t graph = new_graph(), child = new_graph();
  add_host(child, {}, read_all, data);
  const cudaGraphNode_t writes = add_fill(graph, {}, data, 1);
  cudaGraphNode_t node = nullptr;
  const Nodes after = right ? Nodes{writes} : Nodes{};
  must(cudaGraphAddChildGraphNode(&node, graph, after.data(), after.size(), child));
  run_once(graph);
}

// --- The thread that launches ------------------------------------------------------------------------

//@ - | data-race | data-race
CASE(result_of_function_read_too_early, "") {
  static long result;
  cudaGraph_t graph = new_graph();
  add_host(graph, {}, count_up, &result);
  cudaStream_t s = stream();
  must(cudaGraphLaunch(instance(graph), s));
  if (right) must(cudaStreamSynchronize(s));
  use(result);
  must(cudaStreamSynchronize(s));
}

// An event of the graph, recorded behind the function or beside it.
//@ - | data-race | data-race
CASE(event_of_graph_recorded_too_early, "") {
  int* result = pinned();
  cudaGraph_t graph = new_graph();
  cudaEvent_t done = event();
  const cudaGraphNode_t writes = add_host(graph, {}, write_all, result);
  const Nodes after = right ? Nodes{writes} : Nodes{};
  cudaGraphNode_t node = nullptr;
  must(cudaGraphAddEventRecordNode(&node, graph, after.data(), after.size(), done));
  must(cudaGraphLaunch(instance(graph), nullptr));
  must(cudaEventSynchronize(done));
  use(result[1]);
  must(cudaDeviceSynchronize());
}

// What the function reads is changed for the next launch.
//@ - | data-race | data-race
CASE(argument_changed_between_launches, "") {
  static long argument;
  cudaGraph_t graph = new_graph();
  add_host(graph, {}, [](void* p) { use(*static_cast<long*>(p)); }, &argument);
  cudaStream_t s = stream();
  cudaGraphExec_t run = instance(graph);
  for (int i = 0; i < 2; ++i) {
    argument = i;
    must(cudaGraphLaunch(run, s));
    if (right) must(cudaStreamSynchronize(s));
  }
  must(cudaStreamSynchronize(s));
}

// The function has another argument from the second launch on; the first one may still be in use.
//@ - | data-race | data-race
CASE(function_replaced, "") {
  static long one, two;
  cudaGraph_t graph = new_graph();
  const cudaGraphNode_t node = add_host(graph, {}, count_up, &one);
  cudaStream_t s = stream();
  cudaGraphExec_t run = instance(graph);
  must(cudaGraphLaunch(run, s));
  cudaHostNodeParams params{};
  params.fn = count_up;
  params.userData = &two;
  must(cudaGraphExecHostNodeSetParams(run, node, &params));
  must(cudaGraphLaunch(run, s));
  if (right) must(cudaStreamSynchronize(s));
  use(one + two);
  must(cudaStreamSynchronize(s));
}

// --- Captured ------------------------------------------------------------------------------------------

// The function is captured in one stream, the kernel in another one, which is joined behind the function.
//@ - | data-race | data-race
CASE(function_captured_before_the_join, "") {
  int* data = pinned();
  cudaStream_t s = stream(), t = stream();
  cudaEvent_t fork = event(), join = event();
  cudaGraph_t graph = nullptr;
  must(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal));
  must(cudaEventRecord(fork, s));
  must(cudaStreamWaitEvent(t, fork));
  fill<<<1, count, 0, t>>>(data, 1);
  must(cudaEventRecord(join, t));
  if (right) must(cudaStreamWaitEvent(s, join));
  must(cudaLaunchHostFunc(s, read_all, data));
  if (!right) must(cudaStreamWaitEvent(s, join));
  must(cudaStreamEndCapture(s, &graph));
  run_once(graph);
}

// The function captured in another stream fills the buffer that the copy of this one reads.
//@ - | data-race | data-race
CASE(copy_captured_beside_function, "") {
  int *staging = pinned(), *data = zeros();
  cudaStream_t s = stream(), t = stream();
  cudaEvent_t fork = event(), filled = event();
  cudaGraph_t graph = nullptr;
  must(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal));
  must(cudaEventRecord(fork, s));
  must(cudaStreamWaitEvent(t, fork));
  must(cudaLaunchHostFunc(t, write_all, staging));
  must(cudaEventRecord(filled, t));
  if (right) must(cudaStreamWaitEvent(s, filled));
  must(cudaMemcpyAsync(data, staging, bytes, cudaMemcpyHostToDevice, s));
  if (!right) must(cudaStreamWaitEvent(s, filled));
  must(cudaStreamEndCapture(s, &graph));
  run_once(graph);
}

// A launch of the graph in another stream: launches of one instance are in order, and nothing else is.
//@ - | data-race | data-race
CASE(launched_beside_a_kernel, "") {
  int* data = pinned();
  cudaStream_t s = stream(), t = stream();
  cudaEvent_t filled = event();
  cudaGraph_t graph = nullptr;
  must(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal));
  must(cudaLaunchHostFunc(s, read_all, data));
  must(cudaStreamEndCapture(s, &graph));
  cudaGraphExec_t run = instance(graph);
  must(cudaGraphLaunch(run, s));
  must(cudaGraphLaunch(run, t));
  if (right) must(cudaDeviceSynchronize());
  fill<<<1, count, 0, t>>>(data, 1);
  must(cudaEventRecord(filled, t));
  if (right) must(cudaStreamWaitEvent(s, filled));
  must(cudaGraphLaunch(run, s));
  must(cudaDeviceSynchronize());
}
