// Graphs whose nodes decide while they run: while, if with and without an else, switch, one inside the other.
//@ exercises: cudaGraphConditionalHandleCreate, cudaGraphAddNode with cudaGraphNodeTypeConditional, cudaGraphSetConditional, cudaStreamBeginCaptureToGraph
//@ also-flags: -rdc=true
//@ seeds: 1
#include <cstdio>

#include <cuda_runtime.h>

#define CHECK(call)                                                                                \
  do {                                                                                             \
    const cudaError_t result = (call);                                                             \
    if (result != cudaSuccess) {                                                                   \
      std::printf("line %d: %s: %s\n", __LINE__, #call, cudaGetErrorString(result));               \
      return 1;                                                                                    \
    }                                                                                              \
  } while (false)

// Halves what is even, or triples and adds one, and goes on until it is 1.
__global__ void even_or_odd(const unsigned* x, cudaGraphConditionalHandle odd) {
  cudaGraphSetConditional(odd, *x % 2);
}
__global__ void halve(unsigned* x) {
  *x /= 2;
}
__global__ void triple(unsigned* x) {
  *x = 3 * *x + 1;
}
__global__ void count(const unsigned* x, unsigned* steps, cudaGraphConditionalHandle again) {
  ++*steps;
  cudaGraphSetConditional(again, *x != 1);
}

__global__ void choose(unsigned which, cudaGraphConditionalHandle handle) {
  cudaGraphSetConditional(handle, which);
}
__global__ void note(unsigned* places, unsigned at) {
  if (threadIdx.x == 0)
    ++places[at];
}

static cudaGraphNodeParams kernel(void* function, void** arguments) {
  cudaGraphNodeParams p{};
  p.type = cudaGraphNodeTypeKernel;
  p.kernel.func = function;
  p.kernel.gridDim = p.kernel.blockDim = dim3(1);
  p.kernel.kernelParams = arguments;
  return p;
}

static cudaGraphNodeParams condition(cudaGraphConditionalHandle handle, cudaGraphConditionalNodeType type, unsigned size) {
  cudaGraphNodeParams p{};
  p.type = cudaGraphNodeTypeConditional;
  p.conditional.handle = handle;
  p.conditional.type = type;
  p.conditional.size = size;
  return p;
}

int main() {
  unsigned *x, *steps;
  CHECK(cudaMallocManaged(&x, sizeof *x));
  CHECK(cudaMallocManaged(&steps, 8 * sizeof *steps));
  cudaStream_t stream;
  CHECK(cudaStreamCreate(&stream));

  // while (*x != 1) { if (odd) triple; else halve; count; }
  cudaGraph_t graph;
  CHECK(cudaGraphCreate(&graph, 0));
  cudaGraphConditionalHandle again, odd;
  CHECK(cudaGraphConditionalHandleCreate(&again, graph, 1, cudaGraphCondAssignDefault));
  cudaGraphNodeParams loop = condition(again, cudaGraphCondTypeWhile, 1);
  cudaGraphNode_t loop_node;
  CHECK(cudaGraphAddNode(&loop_node, graph, nullptr, nullptr, 0, &loop));
  const cudaGraph_t body = loop.conditional.phGraph_out[0];
  CHECK(cudaGraphConditionalHandleCreate(&odd, body, 0, 0));
  void* even_or_odd_arguments[] = {&x, &odd};
  void* x_arguments[] = {&x};
  void* count_arguments[] = {&x, &steps, &again};
  cudaGraphNode_t test_node, branch_node, count_node, node;
  cudaGraphNodeParams p = kernel(reinterpret_cast<void*>(even_or_odd), even_or_odd_arguments);
  CHECK(cudaGraphAddNode(&test_node, body, nullptr, nullptr, 0, &p));
  cudaGraphNodeParams branch = condition(odd, cudaGraphCondTypeIf, 2);
  CHECK(cudaGraphAddNode(&branch_node, body, &test_node, nullptr, 1, &branch));
  p = kernel(reinterpret_cast<void*>(triple), x_arguments);
  CHECK(cudaGraphAddNode(&node, branch.conditional.phGraph_out[0], nullptr, nullptr, 0, &p));
  p = kernel(reinterpret_cast<void*>(halve), x_arguments);
  CHECK(cudaGraphAddNode(&node, branch.conditional.phGraph_out[1], nullptr, nullptr, 0, &p));
  p = kernel(reinterpret_cast<void*>(count), count_arguments);
  CHECK(cudaGraphAddNode(&count_node, body, &branch_node, nullptr, 1, &p));
  cudaGraphNodeType type;
  CHECK(cudaGraphNodeGetType(loop_node, &type));
  std::printf("a conditional node: %d\n", type == cudaGraphNodeTypeConditional);
  cudaGraphExec_t exec;
  CHECK(cudaGraphInstantiate(&exec, graph, 0));
  for (const unsigned start : {6u, 27u}) {
    *x = start;
    *steps = 0;
    CHECK(cudaGraphLaunch(exec, stream));
    CHECK(cudaStreamSynchronize(stream));
    std::printf("%u comes to %u after %u steps\n", start, *x, *steps);
  }
  CHECK(cudaGraphExecDestroy(exec));
  CHECK(cudaGraphDestroy(graph));

  // switch, with captured bodies; then an if without an else, and what comes behind them.
  for (unsigned which = 0; which < 4; ++which) {
    for (int i = 0; i < 8; ++i)
      steps[i] = 0;
    CHECK(cudaGraphCreate(&graph, 0));
    cudaGraphConditionalHandle handle, truth;
    CHECK(cudaGraphConditionalHandleCreate(&handle, graph, 0, 0));
    CHECK(cudaGraphConditionalHandleCreate(&truth, graph, which, cudaGraphCondAssignDefault));
    void* choose_arguments[] = {&which, &handle};
    p = kernel(reinterpret_cast<void*>(choose), choose_arguments);
    cudaGraphNode_t choose_node, switch_node, if_node;
    CHECK(cudaGraphAddNode(&choose_node, graph, nullptr, nullptr, 0, &p));
    cudaGraphNodeParams cases = condition(handle, cudaGraphCondTypeSwitch, 3);
    CHECK(cudaGraphAddNode(&switch_node, graph, &choose_node, nullptr, 1, &cases));
    for (unsigned i = 0; i < 3; ++i) {
      CHECK(cudaStreamBeginCaptureToGraph(stream, cases.conditional.phGraph_out[i], nullptr, nullptr, 0, cudaStreamCaptureModeGlobal));
      note<<<1, 32, 0, stream>>>(steps, i);
      note<<<1, 32, 0, stream>>>(steps, i);
      CHECK(cudaStreamEndCapture(stream, nullptr));
    }
    cudaGraphNodeParams again = condition(handle, cudaGraphCondTypeIf, 1);
    if (which == 0)
      std::printf("a second node with it: %s\n", cudaGetErrorName(cudaGraphAddNode(&if_node, graph, &switch_node, nullptr, 1, &again)));
    cudaGraphNodeParams single = condition(truth, cudaGraphCondTypeIf, 1);
    CHECK(cudaGraphAddNode(&if_node, graph, &switch_node, nullptr, 1, &single));
    unsigned four = 4, five = 5;
    void* if_arguments[] = {&steps, &four};
    p = kernel(reinterpret_cast<void*>(note), if_arguments);
    CHECK(cudaGraphAddNode(&node, single.conditional.phGraph_out[0], nullptr, nullptr, 0, &p));
    void* end_arguments[] = {&steps, &five};
    p = kernel(reinterpret_cast<void*>(note), end_arguments);
    CHECK(cudaGraphAddNode(&node, graph, &if_node, nullptr, 1, &p));
    CHECK(cudaGraphInstantiate(&exec, graph, 0));
    CHECK(cudaGraphLaunch(exec, stream));
    CHECK(cudaGraphLaunch(exec, stream));
    CHECK(cudaStreamSynchronize(stream));
    std::printf("%u: %u %u %u, if %u, end %u\n", which, steps[0], steps[1], steps[2], steps[4], steps[5]);
    CHECK(cudaGraphExecDestroy(exec));
    CHECK(cudaGraphDestroy(graph));
  }
  return 0;
}
