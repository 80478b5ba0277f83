// What orders commands besides streams: launches by kernels, decisions of graphs, values that streams
// wait for (spec/progress.md, [DEP]).
//@ nvcc: -rdc=true -lcudadevrt
#include "cases.h"

#include <cuda.h>

__device__ int data[64], result[64];

__global__ void write(int value) { data[threadIdx.x] = value; }
__global__ void read() { result[threadIdx.x] += data[threadIdx.x]; }

// --- Launches by kernels ----------------------------------------------------------------------------

// What the launching thread has done before is known to the child, what it does afterwards is not.
template <bool right> __global__ void before_child() {
  if (right) {
    data[threadIdx.x] = 1;
  }
  __syncthreads();
  if (threadIdx.x == 0) {
    read<<<1, 64>>>();
  }
  if (!right) {
    data[threadIdx.x] = 1;
  }
}
CASE(parent_then_child, "RACE-COMMAND") { before_child<right><<<1, 64>>>(); }

// Only what the launching thread knows.
template <bool right> __global__ void other_threads() {
  data[threadIdx.x] = 1;
  if (right) {
    __syncthreads();
  }
  if (threadIdx.x == 0) {
    read<<<1, 64>>>();
  }
}
CASE(threads_then_child, "RACE-COMMAND") { other_threads<right><<<1, 64>>>(); }

template <bool right> __global__ void siblings() {
  write<<<1, 64>>>(1);
  read<<<1, 64, 0, right ? cudaStream_t{} : cudaStreamFireAndForget>>>();
}
CASE(siblings_in_one_stream, "RACE-COMMAND") { siblings<right><<<1, 1>>>(); }

template <bool right> __global__ void with_tail() {
  write<<<1, 64, 0, right ? cudaStream_t{} : cudaStreamTailLaunch>>>(1);
  read<<<1, 64, 0, right ? cudaStreamTailLaunch : cudaStream_t{}>>>();
  if (!right) {
    data[threadIdx.x] = 2; // beside the child
  }
}
CASE(child_then_tail, "RACE-COMMAND") { with_tail<right><<<1, 1>>>(); }

// Who follows the parent follows its children, and theirs.
__global__ void grandchild(int depth) {
  if (depth == 0) {
    write<<<1, 64>>>(3);
  } else {
    grandchild<<<1, 1>>>(depth - 1);
  }
}
CASE(after_the_parent, "RACE-COMMAND") {
  cudaStream_t stream;
  must(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  grandchild<<<1, 1>>>(2);
  read<<<1, 64, 0, right ? nullptr : stream>>>();
}

template <bool right> __global__ void by_event() {
  cudaStream_t stream;
  cudaEvent_t event;
  cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
  cudaEventCreateWithFlags(&event, cudaEventDisableTiming);
  write<<<1, 64>>>(1);
  cudaEventRecord(event, nullptr);
  if (right) {
    cudaStreamWaitEvent(stream, event, 0);
  }
  read<<<1, 64, 0, stream>>>();
}
CASE(event_of_the_device, "RACE-COMMAND") { by_event<right><<<1, 1>>>(); }

// --- Conditional nodes ------------------------------------------------------------------------------

__global__ void again(cudaGraphConditionalHandle handle, int* left) { cudaGraphSetConditional(handle, --*left != 0); }

template <class... P> cudaGraphNode_t node(cudaGraph_t graph, cudaGraphNode_t after, void (*kernel)(P...), P... arguments) {
  void* pointers[] = {&arguments..., nullptr};
  cudaKernelNodeParams p{};
  p.func = reinterpret_cast<void*>(kernel);
  p.gridDim = dim3(1);
  p.blockDim = dim3(sizeof...(P) == 2 ? 1 : 64);
  p.kernelParams = pointers;
  cudaGraphNode_t made;
  must(cudaGraphAddKernelNode(&made, graph, &after, after == nullptr ? 0 : 1, &p));
  return made;
}

// Rounds of a loop follow each other; what is beside the loop is beside all of them.
CASE(loop_of_a_graph, "RACE-COMMAND") {
  int* left = nullptr;
  must(cudaMallocManaged(&left, sizeof *left));
  *left = 3;
  cudaGraph_t graph;
  must(cudaGraphCreate(&graph, 0));
  cudaGraphConditionalHandle handle;
  must(cudaGraphConditionalHandleCreate(&handle, graph, 1, cudaGraphCondAssignDefault));
  cudaGraphNodeParams p{};
  p.type = cudaGraphNodeTypeConditional;
  p.conditional.handle = handle;
  p.conditional.type = cudaGraphCondTypeWhile;
  p.conditional.size = 1;
  cudaGraphNode_t loop;
  must(cudaGraphAddNode(&loop, graph, nullptr, nullptr, 0, &p));
  const cudaGraph_t body = p.conditional.phGraph_out[0];
  const cudaGraphNode_t first = node(body, nullptr, write, 1);
  const cudaGraphNode_t second = node(body, first, read);
  node(body, second, again, handle, left);
  node(graph, right ? loop : nullptr, read);
  cudaGraphExec_t executable;
  must(cudaGraphInstantiate(&executable, graph, 0));
  must(cudaGraphLaunch(executable, nullptr));
}

// --- Values -----------------------------------------------------------------------------------------

__global__ void set(unsigned* flag, bool fence) {
  data[threadIdx.x] = 5;
  __syncthreads();
  if (threadIdx.x == 0) {
    if (fence) {
      __threadfence_system();
    }
    *reinterpret_cast<volatile unsigned*>(flag) = 1;
  }
}
CASE(kernel_sets_value, "RACE-COMMAND") {
  unsigned* flag = device_memory<unsigned>(1);
  must(cudaDeviceSynchronize());
  cudaStream_t a, b;
  must(cudaStreamCreateWithFlags(&a, cudaStreamNonBlocking));
  must(cudaStreamCreateWithFlags(&b, cudaStreamNonBlocking));
  set<<<1, 64, 0, a>>>(flag, right);
  cuStreamWaitValue32(b, reinterpret_cast<CUdeviceptr>(flag), 1, CU_STREAM_WAIT_VALUE_GEQ);
  read<<<1, 64, 0, b>>>();
}

CASE(stream_writes_value, "RACE-COMMAND") {
  unsigned* flag = device_memory<unsigned>(1);
  must(cudaDeviceSynchronize());
  cudaStream_t a, b;
  must(cudaStreamCreateWithFlags(&a, cudaStreamNonBlocking));
  must(cudaStreamCreateWithFlags(&b, cudaStreamNonBlocking));
  if (right) {
    write<<<1, 64, 0, a>>>(1);
  }
  cuStreamWriteValue32(a, reinterpret_cast<CUdeviceptr>(flag), 1, 0);
  if (!right) {
    write<<<1, 64, 0, a>>>(1);
  }
  cuStreamWaitValue32(b, reinterpret_cast<CUdeviceptr>(flag), 1, CU_STREAM_WAIT_VALUE_EQ);
  read<<<1, 64, 0, b>>>();
}

// What stream b has waited for orders nothing in stream c, though that may begin later.
CASE(another_stream_waited_for_value, "RACE-COMMAND") {
  unsigned* flag = device_memory<unsigned>(1);
  must(cudaDeviceSynchronize());
  cudaStream_t a, b, c;
  must(cudaStreamCreateWithFlags(&a, cudaStreamNonBlocking));
  must(cudaStreamCreateWithFlags(&b, cudaStreamNonBlocking));
  must(cudaStreamCreateWithFlags(&c, cudaStreamNonBlocking));
  write<<<1, 64, 0, a>>>(1);
  cuStreamWriteValue32(a, reinterpret_cast<CUdeviceptr>(flag), 1, 0);
  cuStreamWaitValue32(b, reinterpret_cast<CUdeviceptr>(flag), 1, CU_STREAM_WAIT_VALUE_EQ);
  read<<<1, 64, 0, right ? b : c>>>();
}
