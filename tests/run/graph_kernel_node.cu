// The kernel that a captured node names is the one that the program knows: its host function.
//@ exercises: cudaGraphKernelNodeGetParams, cudaGetFuncBySymbol
#include "support.h"

__global__ void first(int* out) { out[0] = 1; }
template <class T> __global__ void second(T* out) { out[1] = 2; }

int main() {
  int* out = nullptr;
  CUDA_OK(cudaMalloc(&out, 2 * sizeof *out));
  cudaStream_t stream;
  CUDA_OK(cudaStreamCreate(&stream));
  cudaGraph_t graph;
  CUDA_OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  first<<<1, 1, 0, stream>>>(out);
  second<<<1, 1, 0, stream>>>(out);
  CUDA_OK(cudaStreamEndCapture(stream, &graph));
  cudaGraphNode_t nodes[2];
  size_t count = 2;
  CUDA_OK(cudaGraphGetNodes(graph, nodes, &count));
  for (size_t i = 0; i < count; ++i) {
    cudaKernelNodeParams p{};
    CUDA_OK(cudaGraphKernelNodeGetParams(nodes[i], &p));
    std::printf("%d %d", p.func == reinterpret_cast<void*>(first), p.func == reinterpret_cast<void*>(second<int>));
    cudaFunction_t function = nullptr;
    CUDA_OK(cudaGetFuncBySymbol(&function, p.func));
    std::printf(" %d\n", p.func == reinterpret_cast<void*>(function));
    // What was read can be set.
    CUDA_OK(cudaGraphKernelNodeSetParams(nodes[i], &p));
  }
  cudaGraphExec_t exec;
  CUDA_OK(cudaGraphInstantiate(&exec, graph));
  CUDA_OK(cudaGraphLaunch(exec, stream));
  CUDA_OK(cudaStreamSynchronize(stream));
  int host[2];
  CUDA_OK(cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost));
  std::printf("%d %d\n", host[0], host[1]);
}
