// Host and device, each kind of mistake with its good twin: two devices, values that streams wait for, graphs. See pairs.cu.
#include "pair.h"
#include <cuda.h>
#include <cstdlib>
#include <numeric>
#include <thread>
#include <vector>

__global__ void fill(int* to, int value) { to[threadIdx.x] = value; }
__global__ void copy(int* to, const int* from) { to[threadIdx.x] = from[threadIdx.x]; }

//@ data-race | data-race | x
CASE(peer_copy, "") {
  int* a = zeros();
  cudaStream_t s = stream();
  cudaEvent_t e = event();
  must(cudaSetDevice(1));
  int *b = zeros(), *to = zeros();
  cudaStream_t t = stream();
  must(cudaSetDevice(0));
  must(cudaMemcpyPeerAsync(b, 1, a, 0, bytes, s));
  must(cudaEventRecord(e, s));
  must(cudaSetDevice(1));
  if (right) must(cudaStreamWaitEvent(t, e));
  copy<<<1, count, 0, t>>>(to, b);
  must(cudaDeviceSynchronize());
  must(cudaSetDevice(0));
}

// A wait for the wrong device.
//@ data-race | data-race | x
CASE(wrong_device, "") {
  int* data = managed();
  must(cudaSetDevice(1));
  fill<<<1, count>>>(data, 1);
  if (!right) must(cudaSetDevice(0));
  must(cudaDeviceSynchronize());
  use(data[3]);
  must(cudaSetDevice(1));
  must(cudaDeviceSynchronize());
  must(cudaSetDevice(0));
}

//@ data-race | data-race | x
CASE(peer_kernel, "") {
  int *a = zeros(), *to = zeros();
  cudaStream_t s = stream();
  cudaEvent_t e = event();
  fill<<<1, count, 0, s>>>(a, 4);
  must(cudaEventRecord(e, s));
  must(cudaSetDevice(1));
  must(cudaDeviceEnablePeerAccess(0, 0));
  cudaStream_t t = stream();
  if (right) must(cudaStreamWaitEvent(t, e));
  copy<<<1, count, 0, t>>>(to, a);
  must(cudaDeviceSynchronize());
  must(cudaSetDevice(0));
}

// A stream waits for a value that another one writes.
//@ - | data-race | x
CASE(value_of_a_stream, "") {
  int *data = zeros(), *to = zeros(), *word = zeros();
  cudaStream_t s = stream(), t = stream();
  const auto at = reinterpret_cast<CUdeviceptr>(word);
  if (!right) cuStreamWriteValue32(s, at, 1, 0);
  fill<<<1, count, 0, s>>>(data, 1);
  if (right) cuStreamWriteValue32(s, at, 1, 0);
  cuStreamWaitValue32(t, at, 1, CU_STREAM_WAIT_VALUE_GEQ);
  copy<<<1, count, 0, t>>>(to, data);
}

// The host releases a stream by a value in pinned memory.
//@ - | data-race | x
CASE(value_of_the_host, "") {
  int *from = pinned(), *to = zeros();
  volatile int* word = pinned();
  *word = 0;
  cudaStream_t s = stream();
  cuStreamWaitValue32(s, reinterpret_cast<CUdeviceptr>(word), 1, CU_STREAM_WAIT_VALUE_GEQ);
  must(cudaMemcpyAsync(to, from, bytes, cudaMemcpyHostToDevice, s));
  if (right) from[3] = 7;
  *word = 1;
  if (!right) from[3] = 7;
}

//@ data-race | data-race | x
CASE(image, "") { // 3D: slices and rows with room between them
  char* to = reinterpret_cast<char*>(pinned(1024));
  std::memset(to, 0, 4096);
  cudaPitchedPtr from;
  must(cudaMalloc3D(&from, cudaExtent{16, 4, 4}));
  must(cudaMemset3D(from, 0, cudaExtent{16, 4, 4}));
  must(cudaDeviceSynchronize());
  cudaMemcpy3DParms p{};
  p.srcPtr = from;
  p.dstPtr = make_cudaPitchedPtr(to, 32, 16, 8); // slices of 8 rows of 32 bytes, 4 of them in use
  p.extent = cudaExtent{16, 4, 4};
  p.kind = cudaMemcpyDeviceToHost;
  cudaStream_t s = stream();
  must(cudaMemcpy3DAsync(&p, s));
  to[right ? 256 + 20 : 256 + 40] = 1; // between two rows; within one
  to[right ? 256 + 5 * 32 : 256 + 3 * 32] = 1;
}

// A graph that is updated while it runs: the launch under way keeps its parameters.
//@ data-race | data-race | x
CASE(updated_graph, "") {
  int *a = managed(), *b = managed();
  cudaGraph_t graph;
  must(cudaGraphCreate(&graph, 0));
  int value = 1;
  void* arguments[] = {&a, &value};
  cudaKernelNodeParams p{};
  p.func = reinterpret_cast<void*>(fill);
  p.gridDim = 1;
  p.blockDim = count;
  p.kernelParams = arguments;
  cudaGraphNode_t node;
  must(cudaGraphAddKernelNode(&node, graph, nullptr, 0, &p));
  cudaGraphExec_t run;
  must(cudaGraphInstantiate(&run, graph, 0));
  cudaStream_t s = stream();
  must(cudaGraphLaunch(run, s));
  void* others[] = {&b, &value};
  p.kernelParams = others;
  must(cudaGraphExecKernelNodeSetParams(run, node, &p));
  use((right ? b : a)[3]);
  must(cudaStreamSynchronize(s));
}

//@ data-race | data-race | x
CASE(child_graph, "") {
  int* data = zeros();
  cudaGraph_t inner, outer;
  must(cudaGraphCreate(&inner, 0));
  must(cudaGraphCreate(&outer, 0));
  int one = 1, two = 2;
  void *first[] = {&data, &one}, *second[] = {&data, &two};
  cudaKernelNodeParams p{};
  p.func = reinterpret_cast<void*>(fill);
  p.gridDim = 1;
  p.blockDim = count;
  p.kernelParams = first;
  cudaGraphNode_t in, child, after;
  must(cudaGraphAddKernelNode(&in, inner, nullptr, 0, &p));
  must(cudaGraphAddChildGraphNode(&child, outer, nullptr, 0, inner));
  p.kernelParams = second;
  must(cudaGraphAddKernelNode(&after, outer, &child, right ? 1 : 0, &p));
  cudaGraphExec_t run;
  must(cudaGraphInstantiate(&run, outer, 0));
  must(cudaGraphLaunch(run, stream()));
}

// Host memory that was pinned for one copy only.
//@ - | warning:use-after-free | x
CASE(registered_for_a_copy, "") {
  auto* from = static_cast<int*>(std::aligned_alloc(4096, 4096));
  std::memset(from, 0, 4096);
  int* to = zeros();
  cudaStream_t s = stream();
  must(cudaHostRegister(from, 4096, 0));
  must(cudaMemcpyAsync(to, from, bytes, cudaMemcpyHostToDevice, s));
  if (right) must(cudaStreamSynchronize(s));
  must(cudaHostUnregister(from));
  std::free(from);
}

// Memory of the host's heap is freed under a copy of registered memory.
//@ - | - | x
CASE(pageable_both_ways, "") { // both are right
  std::vector<int> from(count, 3), back(count);
  int* on_device = zeros();
  cudaStream_t s = stream();
  must(cudaMemcpyAsync(on_device, from.data(), bytes, cudaMemcpyHostToDevice, s));
  from.clear();
  from.shrink_to_fit();
  must(cudaMemcpyAsync(back.data(), on_device, bytes, cudaMemcpyDeviceToHost, s));
  must(cudaStreamSynchronize(s));
  if (std::accumulate(back.begin(), back.end(), 0) != 96) std::exit(3);
}

// The copy "might be synchronous": the read is ordered by nothing that is promised.
//@ - | warning:data-race | x
CASE(pageable_result, "") {
  std::vector<int> back(count);
  int* on_device = zeros();
  cudaStream_t s = stream();
  must(cudaMemcpyAsync(back.data(), on_device, bytes, cudaMemcpyDeviceToHost, s));
  if (right) must(cudaStreamSynchronize(s));
  use(back[3]);
  must(cudaStreamSynchronize(s));
}
