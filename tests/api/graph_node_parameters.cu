// Nodes of graphs: the generic calls, parameters given out and changed, copies of variables, attributes.
//@ exercises: cudaGraphAddNode, cudaGraphNodeSetParams, cudaGraphExecNodeSetParams, …GetParams, symbol copy nodes, event nodes, node attributes, graph memory attributes, stream attributes
#include "../run/support.h"

#include <cstring>

__device__ int counter[4];
__constant__ int factor;

__global__ void multiply(int* data, int by) { data[threadIdx.x] *= by * factor; }

void on_host(void* data) { ++*static_cast<int*>(data); }

int main() {
  Buffer<int> data(8), other(8);
  int* p = data;
  int by = 3;
  void* arguments[] = {&p, &by};
  int calls = 0;
  cudaGraph_t graph;
  CUDA_OK(cudaGraphCreate(&graph, 0));

  cudaGraphNodeParams set{};
  set.type = cudaGraphNodeTypeMemset;
  set.memset.dst = p;
  set.memset.value = 2;
  set.memset.elementSize = 4;
  set.memset.width = 8;
  set.memset.height = 1;
  cudaGraphNode_t set_node;
  CUDA_OK(cudaGraphAddNode(&set_node, graph, nullptr, nullptr, 0, &set));

  int five = 5;
  cudaGraphNode_t symbol_node;
  CUDA_OK(cudaGraphAddMemcpyNodeToSymbol(&symbol_node, graph, &set_node, 1, factor, &five, 4, 0, cudaMemcpyHostToDevice));

  cudaGraphNodeParams kernel{};
  kernel.type = cudaGraphNodeTypeKernel;
  kernel.kernel.func = reinterpret_cast<void*>(multiply);
  kernel.kernel.gridDim = dim3(1);
  kernel.kernel.blockDim = dim3(8);
  kernel.kernel.kernelParams = arguments;
  cudaGraphNode_t kernel_node;
  CUDA_OK(cudaGraphAddNode(&kernel_node, graph, &symbol_node, nullptr, 1, &kernel));

  cudaGraphNodeParams host{};
  host.type = cudaGraphNodeTypeHost;
  host.host.fn = on_host;
  host.host.userData = &calls;
  cudaGraphNode_t host_node;
  CUDA_OK(cudaGraphAddNode(&host_node, graph, &kernel_node, nullptr, 1, &host));

  cudaEvent_t event, second;
  CUDA_OK(cudaEventCreate(&event));
  CUDA_OK(cudaEventCreate(&second));
  cudaGraphNodeParams record{};
  record.type = cudaGraphNodeTypeEventRecord;
  record.eventRecord.event = event;
  cudaGraphNode_t record_node;
  CUDA_OK(cudaGraphAddNode(&record_node, graph, &host_node, nullptr, 1, &record));
  cudaEvent_t told;
  CUDA_OK(cudaGraphEventRecordNodeGetEvent(record_node, &told));
  EXPECT(told == event);
  CUDA_OK(cudaGraphEventRecordNodeSetEvent(record_node, second));
  CUDA_OK(cudaGraphEventRecordNodeGetEvent(record_node, &told));
  EXPECT(told == second);

  int back[8] = {};
  cudaGraphNodeParams copy{};
  copy.type = cudaGraphNodeTypeMemcpy;
  copy.memcpy.copyParams.srcPtr = make_cudaPitchedPtr(p, 32, 32, 1);
  copy.memcpy.copyParams.dstPtr = make_cudaPitchedPtr(back, 32, 32, 1);
  copy.memcpy.copyParams.extent = make_cudaExtent(32, 1, 1);
  copy.memcpy.copyParams.kind = cudaMemcpyDeviceToHost;
  cudaGraphNode_t copy_node;
  CUDA_OK(cudaGraphAddNode(&copy_node, graph, &host_node, nullptr, 1, &copy));

  cudaStream_t stream;
  CUDA_OK(cudaStreamCreate(&stream));
  cudaGraphExec_t exec;
  CUDA_OK(cudaGraphInstantiate(&exec, graph, 0));
  CUDA_OK(cudaGraphLaunch(exec, stream));
  CUDA_OK(cudaStreamSynchronize(stream));
  std::printf("%d %d, %d call\n", back[0], back[7], calls);

  // The executable graph gets another kernel argument and another value to set; the graph keeps its own.
  by = 7;
  CUDA_OK(cudaGraphExecNodeSetParams(exec, kernel_node, &kernel));
  set.memset.value = 1;
  CUDA_OK(cudaGraphExecNodeSetParams(exec, set_node, &set));
  five = 10;
  CUDA_OK(cudaGraphLaunch(exec, stream));
  CUDA_OK(cudaStreamSynchronize(stream));
  std::printf("%d %d, %d calls\n", back[0], back[7], calls);

  cudaMemsetParams set_told;
  CUDA_OK(cudaGraphMemsetNodeGetParams(set_node, &set_told));
  std::printf("set %u, %u bytes, %zu x %zu\n", set_told.value, set_told.elementSize, set_told.width, set_told.height);
  cudaHostNodeParams host_told;
  CUDA_OK(cudaGraphHostNodeGetParams(host_node, &host_told));
  EXPECT(host_told.fn == on_host && host_told.userData == &calls);
  cudaMemcpy3DParms copy_told;
  CUDA_OK(cudaGraphMemcpyNodeGetParams(copy_node, &copy_told));
  EXPECT(copy_told.dstPtr.ptr == back && copy_told.extent.width == 32);
  EXPECT(cudaGraphNodeSetParams(set_node, &kernel) == cudaErrorInvalidValue);

  cudaLaunchAttributeValue value{};
  value.priority = -2;
  CUDA_OK(cudaGraphKernelNodeSetAttribute(kernel_node, cudaLaunchAttributePriority, &value));
  value.priority = 0;
  CUDA_OK(cudaGraphKernelNodeGetAttribute(kernel_node, cudaLaunchAttributePriority, &value));
  std::printf("priority %d\n", value.priority);
  const char* file = "graph_node_parameters.dot";
  CUDA_OK(cudaGraphDebugDotPrint(graph, file, 0));
  std::FILE* dot = std::fopen(file, "r");
  EXPECT(dot != nullptr);
  char line[256];
  int arrows = 0;
  while (std::fgets(line, sizeof line, dot)) arrows += std::strstr(line, "->") != nullptr;
  std::fclose(dot);
  std::remove(file);
  std::printf("%d edges\n", arrows);
  CUDA_OK(cudaGraphExecDestroy(exec));
  CUDA_OK(cudaGraphDestroy(graph));

  // Memory that a graph allocates.
  CUDA_OK(cudaGraphCreate(&graph, 0));
  cudaGraphNodeParams allocate{};
  allocate.type = cudaGraphNodeTypeMemAlloc;
  allocate.alloc.poolProps.allocType = cudaMemAllocationTypePinned;
  allocate.alloc.poolProps.location.type = cudaMemLocationTypeDevice;
  allocate.alloc.bytesize = 4096;
  cudaGraphNode_t allocate_node, free_node;
  CUDA_OK(cudaGraphAddNode(&allocate_node, graph, nullptr, nullptr, 0, &allocate));
  cudaMemAllocNodeParams allocated;
  CUDA_OK(cudaGraphMemAllocNodeGetParams(allocate_node, &allocated));
  EXPECT(allocated.dptr == allocate.alloc.dptr && allocated.bytesize == 4096);
  CUDA_OK(cudaGraphAddMemFreeNode(&free_node, graph, &allocate_node, 1, allocate.alloc.dptr));
  void* freed;
  CUDA_OK(cudaGraphMemFreeNodeGetParams(free_node, &freed));
  EXPECT(freed == allocated.dptr);
  unsigned long long used = 0;
  CUDA_OK(cudaDeviceGetGraphMemAttribute(0, cudaGraphMemAttrUsedMemHigh, &used));
  CUDA_OK(cudaDeviceGraphMemTrim(0));
  CUDA_OK(cudaGraphDestroy(graph));

  cudaLaunchAttributeValue attribute{};
  attribute.syncPolicy = cudaSyncPolicySpin;
  CUDA_OK(cudaStreamSetAttribute(stream, cudaLaunchAttributeSynchronizationPolicy, &attribute));
  attribute.syncPolicy = cudaSyncPolicyAuto;
  CUDA_OK(cudaStreamGetAttribute(stream, cudaLaunchAttributeSynchronizationPolicy, &attribute));
  EXPECT(attribute.syncPolicy == cudaSyncPolicySpin);
  CUDA_OK(cudaCtxResetPersistingL2Cache());
  CUDA_OK(cudaEventDestroy(event));
  CUDA_OK(cudaEventDestroy(second));
  CUDA_OK(cudaStreamDestroy(stream));
  std::printf("done\n");
}
