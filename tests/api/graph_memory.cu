// Memory of graphs between their launches: freed outside, launched again. Codes are those of an H200 (CUDA 13).
//@ exercises: cudaGraphAddMemAllocNode, cudaFree and cudaFreeAsync of a graph's memory, cudaGraphInstantiateFlagAutoFreeOnLaunch, graphs that are destroyed before their memory
#include "../run/support.h"

__global__ void write(int* p, int value) { p[threadIdx.x] += value; }

int main() {
  for (const unsigned flags : {0U, static_cast<unsigned>(cudaGraphInstantiateFlagAutoFreeOnLaunch)}) {
    for (const bool in_stream : {false, true}) {
      cudaGraph_t graph;
      CUDA_OK(cudaGraphCreate(&graph, 0));
      cudaMemAllocNodeParams allocation{};
      allocation.poolProps.allocType = cudaMemAllocationTypePinned;
      allocation.poolProps.location = {cudaMemLocationTypeDevice, 0};
      allocation.bytesize = 1 << 20;
      cudaGraphNode_t allocate, set, kernel;
      CUDA_OK(cudaGraphAddMemAllocNode(&allocate, graph, nullptr, 0, &allocation));
      int* p = static_cast<int*>(allocation.dptr);
      cudaMemsetParams zero{};
      zero.dst = p;
      zero.elementSize = 4;
      zero.width = 32;
      zero.height = 1;
      CUDA_OK(cudaGraphAddMemsetNode(&set, graph, &allocate, 1, &zero));
      int value = 3;
      void* arguments[] = {&p, &value};
      cudaKernelNodeParams k{};
      k.func = reinterpret_cast<void*>(write);
      k.gridDim = dim3(1);
      k.blockDim = dim3(32);
      k.kernelParams = arguments;
      CUDA_OK(cudaGraphAddKernelNode(&kernel, graph, &set, 1, &k));
      cudaGraphExec_t exec;
      CUDA_OK(cudaGraphInstantiateWithFlags(&exec, graph, flags));
      const auto free = [&] { return in_stream ? cudaFreeAsync(p, nullptr) : cudaFree(p); };
      const auto show = [&](const char* what, cudaError_t code) {
        int seen = -1;
        const cudaError_t copied = cudaMemcpy(&seen, p + 31, sizeof seen, cudaMemcpyDeviceToHost);
        std::printf("%s: %s, %s, %d\n", what, cudaGetErrorName(code), cudaGetErrorName(copied), copied == cudaSuccess ? seen : -1);
        cudaGetLastError();
      };
      show("launch", cudaGraphLaunch(exec, nullptr));
      show("again", cudaGraphLaunch(exec, nullptr));
      CUDA_OK(free());
      CUDA_OK(cudaGraphLaunch(exec, nullptr));
      CUDA_OK(free());
      show("freed, launched", cudaGraphLaunch(exec, nullptr));
      CUDA_OK(cudaGraphExecDestroy(exec));
      CUDA_OK(cudaGraphDestroy(graph));
      show("destroyed", cudaSuccess);
      CUDA_OK(free());
      CUDA_OK(cudaDeviceSynchronize());
    }
  }
}
