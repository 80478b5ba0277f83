// Graphs: captured from streams (with a fork and join) and built node by node; launched several times, changed, cloned.
//@ exercises: cudaStreamBeginCapture/EndCapture, cudaGraphAdd*Node, dependencies, cudaGraphInstantiate/Launch, exec updates, host nodes, cudaGraphClone
#include "support.h"

__global__ void add(int* data, int amount) { data[threadIdx.x] += amount; }
__global__ void combine(const int* a, const int* b, int* out) { out[threadIdx.x] = a[threadIdx.x] * 100 + b[threadIdx.x]; }

int host_calls = 0;
void CUDART_CB count_call(void* amount) { host_calls += *static_cast<int*>(amount); }

void captured() {
  Buffer<int> a(4), b(4), out(4);
  cudaStream_t main_stream, side;
  CUDA_OK(cudaStreamCreate(&main_stream));
  CUDA_OK(cudaStreamCreate(&side));
  cudaEvent_t fork, join;
  CUDA_OK(cudaEventCreate(&fork));
  CUDA_OK(cudaEventCreate(&join));
  static int one = 1;

  CUDA_OK(cudaStreamBeginCapture(main_stream, cudaStreamCaptureModeGlobal));
  cudaStreamCaptureStatus status;
  CUDA_OK(cudaStreamIsCapturing(main_stream, &status));
  std::printf("capturing %d\n", status == cudaStreamCaptureStatusActive);
  CUDA_OK(cudaEventRecord(fork, main_stream));
  CUDA_OK(cudaStreamWaitEvent(side, fork, 0));
  add<<<1, 4, 0, main_stream>>>(a, 1);
  add<<<1, 4, 0, side>>>(b, 2);
  CUDA_OK(cudaLaunchHostFunc(side, count_call, &one));
  CUDA_OK(cudaEventRecord(join, side));
  CUDA_OK(cudaStreamWaitEvent(main_stream, join, 0));
  combine<<<1, 4, 0, main_stream>>>(a, b, out);
  cudaGraph_t graph;
  CUDA_OK(cudaStreamEndCapture(main_stream, &graph));
  EXPECT(a.get()[0] == 0); // captured, not run

  std::size_t nodes = 0, edges = 0;
  CUDA_OK(cudaGraphGetNodes(graph, nullptr, &nodes));
  CUDA_OK(cudaGraphGetEdges(graph, nullptr, nullptr, nullptr, &edges));
  std::printf("nodes %zu edges %zu\n", nodes, edges);
  cudaGraphExec_t exec;
  CUDA_OK(cudaGraphInstantiate(&exec, graph, 0));
  for (int i = 0; i < 3; ++i) {
    CUDA_OK(cudaGraphLaunch(exec, main_stream));
  }
  CUDA_OK(cudaStreamSynchronize(main_stream));
  std::printf("captured: %d %d, host calls %d\n", out.get()[0], out.get()[3], host_calls);
  CUDA_OK(cudaGraphExecDestroy(exec));
  CUDA_OK(cudaGraphDestroy(graph));
  CUDA_OK(cudaStreamDestroy(main_stream));
  CUDA_OK(cudaStreamDestroy(side));
}

void built() {
  Buffer<int> a(4), b(4), out(4);
  std::vector<int> host(4), input = {5, 6, 7, 8};
  static int ten = 10;
  cudaGraph_t graph;
  CUDA_OK(cudaGraphCreate(&graph, 0));

  cudaGraphNode_t copy_in, clear, kernel, merge, copy_out, call, empty;
  CUDA_OK(cudaGraphAddMemcpyNode1D(&copy_in, graph, nullptr, 0, a.data(), input.data(), 4 * sizeof(int),
                                   cudaMemcpyHostToDevice));
  cudaMemsetParams set{};
  set.dst = b.data();
  set.value = 3;
  set.elementSize = 4;
  set.width = 4;
  set.height = 1;
  CUDA_OK(cudaGraphAddMemsetNode(&clear, graph, nullptr, 0, &set));
  int* target = a;
  int amount = 1;
  void* arguments[] = {&target, &amount};
  cudaKernelNodeParams launch{};
  launch.func = reinterpret_cast<void*>(add);
  launch.gridDim = 1;
  launch.blockDim = 4;
  launch.kernelParams = arguments;
  CUDA_OK(cudaGraphAddKernelNode(&kernel, graph, &copy_in, 1, &launch));
  cudaGraphNode_t both[] = {kernel, clear};
  CUDA_OK(cudaGraphAddEmptyNode(&empty, graph, both, 2));
  int *pa = a, *pb = b, *po = out;
  void* combine_arguments[] = {&pa, &pb, &po};
  cudaKernelNodeParams combine_launch = launch;
  combine_launch.func = reinterpret_cast<void*>(combine);
  combine_launch.kernelParams = combine_arguments;
  CUDA_OK(cudaGraphAddKernelNode(&merge, graph, &empty, 1, &combine_launch));
  CUDA_OK(cudaGraphAddMemcpyNode1D(&copy_out, graph, &merge, 1, host.data(), out.data(), 4 * sizeof(int),
                                   cudaMemcpyDeviceToHost));
  cudaHostNodeParams host_call{count_call, &ten};
  CUDA_OK(cudaGraphAddHostNode(&call, graph, &copy_out, 1, &host_call));

  cudaGraph_t clone;
  CUDA_OK(cudaGraphClone(&clone, graph));
  cudaGraphExec_t exec, clone_exec;
  CUDA_OK(cudaGraphInstantiate(&exec, graph, 0));
  CUDA_OK(cudaGraphInstantiate(&clone_exec, clone, 0));
  cudaStream_t stream;
  CUDA_OK(cudaStreamCreate(&stream));
  CUDA_OK(cudaGraphLaunch(exec, stream));
  CUDA_OK(cudaStreamSynchronize(stream));
  std::printf("built: %d %d %d %d, host calls %d\n", host[0], host[1], host[2], host[3], host_calls);

  // Arguments were copied when the node was added; changing them needs an update.
  amount = 50;
  CUDA_OK(cudaGraphLaunch(exec, stream));
  CUDA_OK(cudaStreamSynchronize(stream));
  std::printf("unchanged: %d\n", host[0]);
  CUDA_OK(cudaGraphExecKernelNodeSetParams(exec, kernel, &launch));
  CUDA_OK(cudaGraphLaunch(exec, stream));
  CUDA_OK(cudaStreamSynchronize(stream));
  std::printf("updated: %d\n", host[0]);
  CUDA_OK(cudaGraphLaunch(clone_exec, stream));
  CUDA_OK(cudaStreamSynchronize(stream));
  std::printf("clone: %d, host calls %d\n", host[0], host_calls);

  std::size_t count = 0;
  CUDA_OK(cudaGraphGetRootNodes(graph, nullptr, &count));
  cudaGraphNodeType type;
  CUDA_OK(cudaGraphNodeGetType(call, &type));
  std::printf("roots %zu, host node %d\n", count, type == cudaGraphNodeTypeHost);
  CUDA_OK(cudaGraphExecDestroy(exec));
  CUDA_OK(cudaGraphExecDestroy(clone_exec));
  CUDA_OK(cudaGraphDestroy(graph));
  CUDA_OK(cudaGraphDestroy(clone));
  CUDA_OK(cudaStreamDestroy(stream));
}

void child_and_update() {
  Buffer<int> a(4);
  cudaStream_t stream;
  CUDA_OK(cudaStreamCreate(&stream));
  auto capture = [&](int amount) {
    cudaGraph_t graph;
    CUDA_OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    add<<<1, 4, 0, stream>>>(a, amount);
    add<<<1, 4, 0, stream>>>(a, amount * 10);
    CUDA_OK(cudaStreamEndCapture(stream, &graph));
    return graph;
  };
  cudaGraph_t small = capture(1), parent;
  CUDA_OK(cudaGraphCreate(&parent, 0));
  cudaGraphNode_t first, second;
  CUDA_OK(cudaGraphAddChildGraphNode(&first, parent, nullptr, 0, small));
  CUDA_OK(cudaGraphAddChildGraphNode(&second, parent, &first, 1, small));
  cudaGraphExec_t exec;
  CUDA_OK(cudaGraphInstantiate(&exec, parent, 0));
  CUDA_OK(cudaGraphLaunch(exec, stream));
  CUDA_OK(cudaStreamSynchronize(stream));
  std::printf("children: %d\n", a.get()[2]);

  cudaGraphExec_t small_exec;
  CUDA_OK(cudaGraphInstantiate(&small_exec, small, 0));
  cudaGraph_t changed = capture(7);
  cudaGraphExecUpdateResultInfo info;
  CUDA_OK(cudaGraphExecUpdate(small_exec, changed, &info));
  a.clear();
  CUDA_OK(cudaGraphLaunch(small_exec, stream));
  CUDA_OK(cudaStreamSynchronize(stream));
  std::printf("whole update: %d\n", a.get()[2]);
}

int main() {
  captured();
  built();
  child_and_update();
}
