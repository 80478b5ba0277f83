// The driver API: graphs. Handles are the runtime's; parameters of nodes are translated.
#include "runtime/driver/driver.h"
#include "runtime/driver/region.h"
#include "runtime/registration/launch.h"

#include <cstring>

using namespace heddle::runtime;

static_assert(sizeof(CUDA_HOST_NODE_PARAMS) == sizeof(cudaHostNodeParams));
static_assert(sizeof(CUDA_MEMSET_NODE_PARAMS) == sizeof(cudaMemsetParams));
static_assert(sizeof(CUDA_MEM_ALLOC_NODE_PARAMS) == sizeof(cudaMemAllocNodeParams));
static_assert(sizeof(CUDA_GRAPH_INSTANTIATE_PARAMS) == sizeof(cudaGraphInstantiateParams));
static_assert(sizeof(CUgraphExecUpdateResultInfo) == sizeof(cudaGraphExecUpdateResultInfo));
static_assert(sizeof(CUgraphNodeParams) == sizeof(cudaGraphNodeParams));

namespace {

template <class To, class From> To* as(From* p) {
  return reinterpret_cast<To*>(p);
}

/// CUDA_KERNEL_NODE_PARAMS of any version; only the first lacks `kern`.
template <class Parameters> cudaKernelNodeParams kernel_of(const Parameters& p) {
  cudaKernelNodeParams result{};
  result.func = p.func;
  if constexpr (requires { p.kern; }) {
    result.func = p.func != nullptr ? static_cast<void*>(p.func) : p.kern;
  }
  result.gridDim = dim3(p.gridDimX, p.gridDimY, p.gridDimZ);
  result.blockDim = dim3(p.blockDimX, p.blockDimY, p.blockDimZ);
  result.sharedMemBytes = p.sharedMemBytes;
  result.kernelParams = p.kernelParams;
  result.extra = p.extra;
  return result;
}

/// Hands a translated structure to `body`; null stays null.
template <class Parameters, class Body> cudaError_t with_kernel(const Parameters* p, Body&& body) {
  if (p == nullptr) {
    return body(static_cast<const cudaKernelNodeParams*>(nullptr));
  }
  const cudaKernelNodeParams same = kernel_of(*p);
  return body(&same);
}

template <class Body> cudaError_t with_region(const CUDA_MEMCPY3D* p, Body&& body) {
  const auto region = region_of(Runtime::get(), p);
  return region ? body(&*region) : region.error();
}

template <class Parameters> cudaError_t get_kernel(CUgraphNode node, Parameters* p) {
  cudaKernelNodeParams same{};
  const cudaError_t error = cudaGraphKernelNodeGetParams(node, p == nullptr ? nullptr : &same);
  if (error != cudaSuccess) {
    return error;
  }
  // The driver's own name for it, not that of host code.
  const auto function = find_function(Runtime::get(), same.func);
  if (!function) {
    return function.error();
  }
  *p = {};
  p->func = reinterpret_cast<CUfunction>(*function);
  p->gridDimX = same.gridDim.x;
  p->gridDimY = same.gridDim.y;
  p->gridDimZ = same.gridDim.z;
  p->blockDimX = same.blockDim.x;
  p->blockDimY = same.blockDim.y;
  p->blockDimZ = same.blockDim.z;
  p->sharedMemBytes = same.sharedMemBytes;
  p->kernelParams = same.kernelParams;
  return cudaSuccess;
}

/// As the runtime: arrays are given back as the memory their texels lie in.
cudaError_t get_copy(CUgraphNode node, CUDA_MEMCPY3D* p) {
  cudaMemcpy3DParms same{};
  const cudaError_t error = cudaGraphMemcpyNodeGetParams(node, p == nullptr ? nullptr : &same);
  if (error != cudaSuccess) {
    return error;
  }
  *p = {};
  p->srcMemoryType = CU_MEMORYTYPE_UNIFIED;
  p->srcDevice = reinterpret_cast<CUdeviceptr>(same.srcPtr.ptr);
  p->srcPitch = same.srcPtr.pitch;
  p->srcHeight = same.srcPtr.ysize;
  p->dstMemoryType = CU_MEMORYTYPE_UNIFIED;
  p->dstDevice = reinterpret_cast<CUdeviceptr>(same.dstPtr.ptr);
  p->dstPitch = same.dstPtr.pitch;
  p->dstHeight = same.dstPtr.ysize;
  p->WidthInBytes = same.extent.width;
  p->Height = same.extent.height;
  p->Depth = same.extent.depth;
  return cudaSuccess;
}

/// Translates the structure for all types, lets `body` use it, and gives back what it filled in.
template <class Body> cudaError_t with_node(CUgraphNodeParams* p, Body&& body) {
  if (p == nullptr) {
    return body(static_cast<cudaGraphNodeParams*>(nullptr));
  }
  cudaGraphNodeParams same{};
  same.type = static_cast<cudaGraphNodeType>(p->type);
  switch (p->type) {
  case CU_GRAPH_NODE_TYPE_KERNEL: {
    const cudaKernelNodeParams kernel = kernel_of(p->kernel);
    same.kernel.func = kernel.func;
    same.kernel.gridDim = kernel.gridDim;
    same.kernel.blockDim = kernel.blockDim;
    same.kernel.sharedMemBytes = kernel.sharedMemBytes;
    same.kernel.kernelParams = kernel.kernelParams;
    same.kernel.extra = kernel.extra;
    return body(&same);
  }
  case CU_GRAPH_NODE_TYPE_MEMCPY: {
    const auto region = region_of(Runtime::get(), &p->memcpy.copyParams);
    if (!region) {
      return region.error();
    }
    same.memcpy.copyParams = *region;
    return body(&same);
  }
  case CU_GRAPH_NODE_TYPE_MEMSET:
    same.memset.dst = pointer(p->memset.dst);
    same.memset.pitch = p->memset.pitch;
    same.memset.value = p->memset.value;
    same.memset.elementSize = p->memset.elementSize;
    same.memset.width = p->memset.width;
    same.memset.height = p->memset.height;
    return body(&same);
  default: {
    // The members are the same, one by one.
    std::memcpy(static_cast<void*>(&same), p, sizeof same);
    const cudaError_t error = body(&same);
    if (p->type == CU_GRAPH_NODE_TYPE_MEM_ALLOC) {
      p->alloc.dptr = reinterpret_cast<CUdeviceptr>(same.alloc.dptr);
    } else if (p->type == CU_GRAPH_NODE_TYPE_CONDITIONAL) {
      p->conditional.phGraph_out = same.conditional.phGraph_out;
    }
    return error;
  }
  }
}

cudaError_t
update(CUgraphExec exec, CUgraph graph, CUgraphNode* node, CUgraphExecUpdateResult* result) {
  cudaGraphExecUpdateResultInfo info{};
  const cudaError_t error = cudaGraphExecUpdate(exec, graph, &info);
  if (node != nullptr) {
    *node = info.errorNode;
  }
  if (result != nullptr) {
    *result = static_cast<CUgraphExecUpdateResult>(info.result);
  }
  return error;
}

cudaError_t instantiate(CUgraphExec* exec, CUgraph graph, char* log, std::size_t bytes) {
  if (log != nullptr && bytes != 0) {
    *log = '\0';
  }
  return cudaGraphInstantiateWithFlags(exec, graph, 0);
}

} // namespace

// The older forms of calls that have newer ones are defined too.
#undef cuGraphAddKernelNode
#undef cuGraphKernelNodeGetParams
#undef cuGraphKernelNodeSetParams
#undef cuGraphExecKernelNodeSetParams
#undef cuGraphGetEdges
#undef cuGraphNodeGetDependencies
#undef cuGraphNodeGetDependentNodes
#undef cuGraphAddDependencies
#undef cuGraphRemoveDependencies
#undef cuGraphAddNode
#undef cuGraphExecUpdate
#undef cuGraphInstantiate

#define HEDDLE_NEW_NODE                                                                            \
  CUgraphNode *node, CUgraph graph, const CUgraphNode *after, std::size_t count

#pragma GCC visibility push(default)
extern "C" {

// clang-format off
HEDDLE_DRIVER(cuGraphCreate, cudaGraphCreate(graph, flags), CUgraph* graph, unsigned flags)
HEDDLE_DRIVER(cuGraphDestroy, cudaGraphDestroy(graph), CUgraph graph)
HEDDLE_DRIVER(cuGraphClone, cudaGraphClone(copy, graph), CUgraph* copy, CUgraph graph)
HEDDLE_DRIVER(cuGraphNodeFindInClone, cudaGraphNodeFindInClone(node, original, clone),
    CUgraphNode* node, CUgraphNode original, CUgraph clone)
HEDDLE_DRIVER(cuGraphDestroyNode, cudaGraphDestroyNode(node), CUgraphNode node)
HEDDLE_DRIVER(cuGraphNodeGetType, cudaGraphNodeGetType(node, as<cudaGraphNodeType>(type)),
    CUgraphNode node, CUgraphNodeType* type)
HEDDLE_DRIVER(cuGraphGetNodes, cudaGraphGetNodes(graph, nodes, count),
    CUgraph graph, CUgraphNode* nodes, std::size_t* count)
HEDDLE_DRIVER(cuGraphGetRootNodes, cudaGraphGetRootNodes(graph, nodes, count),
    CUgraph graph, CUgraphNode* nodes, std::size_t* count)
HEDDLE_DRIVER(cuGraphGetEdges_v2, cudaGraphGetEdges(graph, from, to, as<cudaGraphEdgeData>(edges), count),
    CUgraph graph, CUgraphNode* from, CUgraphNode* to, CUgraphEdgeData* edges, std::size_t* count)
HEDDLE_DRIVER(cuGraphGetEdges, cudaGraphGetEdges(graph, from, to, nullptr, count),
    CUgraph graph, CUgraphNode* from, CUgraphNode* to, std::size_t* count)
HEDDLE_DRIVER(cuGraphNodeGetDependencies_v2,
    cudaGraphNodeGetDependencies(node, nodes, as<cudaGraphEdgeData>(edges), count),
    CUgraphNode node, CUgraphNode* nodes, CUgraphEdgeData* edges, std::size_t* count)
HEDDLE_DRIVER(cuGraphNodeGetDependencies, cudaGraphNodeGetDependencies(node, nodes, nullptr, count),
    CUgraphNode node, CUgraphNode* nodes, std::size_t* count)
HEDDLE_DRIVER(cuGraphNodeGetDependentNodes_v2,
    cudaGraphNodeGetDependentNodes(node, nodes, as<cudaGraphEdgeData>(edges), count),
    CUgraphNode node, CUgraphNode* nodes, CUgraphEdgeData* edges, std::size_t* count)
HEDDLE_DRIVER(cuGraphNodeGetDependentNodes, cudaGraphNodeGetDependentNodes(node, nodes, nullptr, count),
    CUgraphNode node, CUgraphNode* nodes, std::size_t* count)
HEDDLE_DRIVER(cuGraphAddDependencies_v2,
    cudaGraphAddDependencies(graph, from, to, as<const cudaGraphEdgeData>(edges), count),
    CUgraph graph, const CUgraphNode* from, const CUgraphNode* to, const CUgraphEdgeData* edges, std::size_t count)
HEDDLE_DRIVER(cuGraphAddDependencies, cudaGraphAddDependencies(graph, from, to, nullptr, count),
    CUgraph graph, const CUgraphNode* from, const CUgraphNode* to, std::size_t count)
HEDDLE_DRIVER(cuGraphRemoveDependencies_v2,
    cudaGraphRemoveDependencies(graph, from, to, as<const cudaGraphEdgeData>(edges), count),
    CUgraph graph, const CUgraphNode* from, const CUgraphNode* to, const CUgraphEdgeData* edges, std::size_t count)
HEDDLE_DRIVER(cuGraphRemoveDependencies, cudaGraphRemoveDependencies(graph, from, to, nullptr, count),
    CUgraph graph, const CUgraphNode* from, const CUgraphNode* to, std::size_t count)

HEDDLE_DRIVER(cuGraphAddKernelNode_v2,
    with_kernel(p, [&](const auto* same) { return cudaGraphAddKernelNode(node, graph, after, count, same); }),
    HEDDLE_NEW_NODE, const CUDA_KERNEL_NODE_PARAMS* p)
HEDDLE_DRIVER(cuGraphAddKernelNode,
    with_kernel(p, [&](const auto* same) { return cudaGraphAddKernelNode(node, graph, after, count, same); }),
    HEDDLE_NEW_NODE, const CUDA_KERNEL_NODE_PARAMS_v1* p)
HEDDLE_DRIVER(cuGraphAddMemcpyNode,
    with_region(p, [&](const auto* same) { return cudaGraphAddMemcpyNode(node, graph, after, count, same); }),
    HEDDLE_NEW_NODE, const CUDA_MEMCPY3D* p, CUcontext /*context*/)
HEDDLE_DRIVER(cuGraphAddMemsetNode, cudaGraphAddMemsetNode(node, graph, after, count, as<const cudaMemsetParams>(p)),
    HEDDLE_NEW_NODE, const CUDA_MEMSET_NODE_PARAMS* p, CUcontext /*context*/)
HEDDLE_DRIVER(cuGraphAddHostNode, cudaGraphAddHostNode(node, graph, after, count, as<const cudaHostNodeParams>(p)),
    HEDDLE_NEW_NODE, const CUDA_HOST_NODE_PARAMS* p)
HEDDLE_DRIVER(cuGraphAddChildGraphNode, cudaGraphAddChildGraphNode(node, graph, after, count, child),
    HEDDLE_NEW_NODE, CUgraph child)
HEDDLE_DRIVER(cuGraphAddEmptyNode, cudaGraphAddEmptyNode(node, graph, after, count), HEDDLE_NEW_NODE)
HEDDLE_DRIVER(cuGraphAddEventRecordNode, cudaGraphAddEventRecordNode(node, graph, after, count, event),
    HEDDLE_NEW_NODE, CUevent event)
HEDDLE_DRIVER(cuGraphAddEventWaitNode, cudaGraphAddEventWaitNode(node, graph, after, count, event),
    HEDDLE_NEW_NODE, CUevent event)
HEDDLE_DRIVER(cuGraphAddMemAllocNode,
    cudaGraphAddMemAllocNode(node, graph, after, count, as<cudaMemAllocNodeParams>(p)),
    HEDDLE_NEW_NODE, CUDA_MEM_ALLOC_NODE_PARAMS* p)
HEDDLE_DRIVER(cuGraphAddMemFreeNode, cudaGraphAddMemFreeNode(node, graph, after, count, pointer(p)),
    HEDDLE_NEW_NODE, CUdeviceptr p)
HEDDLE_DRIVER(cuGraphAddNode_v2,
    with_node(p, [&](auto* same) {
      return cudaGraphAddNode(node, graph, after, as<const cudaGraphEdgeData>(edges), count, same); }),
    CUgraphNode* node, CUgraph graph, const CUgraphNode* after, const CUgraphEdgeData* edges, std::size_t count,
    CUgraphNodeParams* p)
HEDDLE_DRIVER(cuGraphAddNode,
    with_node(p, [&](auto* same) { return cudaGraphAddNode(node, graph, after, nullptr, count, same); }),
    HEDDLE_NEW_NODE, CUgraphNodeParams* p)

HEDDLE_DRIVER(cuGraphConditionalHandleCreate,
    cudaGraphConditionalHandleCreate(as<cudaGraphConditionalHandle>(handle), graph, initial, flags),
    CUgraphConditionalHandle* handle, CUgraph graph, CUcontext /*context*/, unsigned initial, unsigned flags)
HEDDLE_DRIVER(cuGraphKernelNodeGetParams_v2, get_kernel(node, p), CUgraphNode node, CUDA_KERNEL_NODE_PARAMS* p)
HEDDLE_DRIVER(cuGraphKernelNodeGetParams, get_kernel(node, p), CUgraphNode node, CUDA_KERNEL_NODE_PARAMS_v1* p)
HEDDLE_DRIVER(cuGraphMemcpyNodeGetParams, get_copy(node, p), CUgraphNode node, CUDA_MEMCPY3D* p)
HEDDLE_DRIVER(cuGraphMemsetNodeGetParams, cudaGraphMemsetNodeGetParams(node, as<cudaMemsetParams>(p)),
    CUgraphNode node, CUDA_MEMSET_NODE_PARAMS* p)
HEDDLE_DRIVER(cuGraphHostNodeGetParams, cudaGraphHostNodeGetParams(node, as<cudaHostNodeParams>(p)),
    CUgraphNode node, CUDA_HOST_NODE_PARAMS* p)
HEDDLE_DRIVER(cuGraphChildGraphNodeGetGraph, cudaGraphChildGraphNodeGetGraph(node, graph),
    CUgraphNode node, CUgraph* graph)
HEDDLE_DRIVER(cuGraphEventRecordNodeGetEvent, cudaGraphEventRecordNodeGetEvent(node, event),
    CUgraphNode node, CUevent* event)
HEDDLE_DRIVER(cuGraphEventWaitNodeGetEvent, cudaGraphEventWaitNodeGetEvent(node, event),
    CUgraphNode node, CUevent* event)
HEDDLE_DRIVER(cuGraphMemAllocNodeGetParams, cudaGraphMemAllocNodeGetParams(node, as<cudaMemAllocNodeParams>(p)),
    CUgraphNode node, CUDA_MEM_ALLOC_NODE_PARAMS* p)
HEDDLE_DRIVER(cuGraphMemFreeNodeGetParams, cudaGraphMemFreeNodeGetParams(node, p), CUgraphNode node, CUdeviceptr* p)

HEDDLE_DRIVER(cuGraphKernelNodeSetParams_v2,
    with_kernel(p, [&](const auto* same) { return cudaGraphKernelNodeSetParams(node, same); }),
    CUgraphNode node, const CUDA_KERNEL_NODE_PARAMS* p)
HEDDLE_DRIVER(cuGraphKernelNodeSetParams,
    with_kernel(p, [&](const auto* same) { return cudaGraphKernelNodeSetParams(node, same); }),
    CUgraphNode node, const CUDA_KERNEL_NODE_PARAMS_v1* p)
HEDDLE_DRIVER(cuGraphMemcpyNodeSetParams,
    with_region(p, [&](const auto* same) { return cudaGraphMemcpyNodeSetParams(node, same); }),
    CUgraphNode node, const CUDA_MEMCPY3D* p)
HEDDLE_DRIVER(cuGraphMemsetNodeSetParams, cudaGraphMemsetNodeSetParams(node, as<const cudaMemsetParams>(p)),
    CUgraphNode node, const CUDA_MEMSET_NODE_PARAMS* p)
HEDDLE_DRIVER(cuGraphHostNodeSetParams, cudaGraphHostNodeSetParams(node, as<const cudaHostNodeParams>(p)),
    CUgraphNode node, const CUDA_HOST_NODE_PARAMS* p)
HEDDLE_DRIVER(cuGraphEventRecordNodeSetEvent, cudaGraphEventRecordNodeSetEvent(node, event),
    CUgraphNode node, CUevent event)
HEDDLE_DRIVER(cuGraphEventWaitNodeSetEvent, cudaGraphEventWaitNodeSetEvent(node, event),
    CUgraphNode node, CUevent event)
HEDDLE_DRIVER(cuGraphNodeSetParams, with_node(p, [&](auto* same) { return cudaGraphNodeSetParams(node, same); }),
    CUgraphNode node, CUgraphNodeParams* p)

HEDDLE_DRIVER(cuGraphExecKernelNodeSetParams_v2,
    with_kernel(p, [&](const auto* same) { return cudaGraphExecKernelNodeSetParams(exec, node, same); }),
    CUgraphExec exec, CUgraphNode node, const CUDA_KERNEL_NODE_PARAMS* p)
HEDDLE_DRIVER(cuGraphExecKernelNodeSetParams,
    with_kernel(p, [&](const auto* same) { return cudaGraphExecKernelNodeSetParams(exec, node, same); }),
    CUgraphExec exec, CUgraphNode node, const CUDA_KERNEL_NODE_PARAMS_v1* p)
HEDDLE_DRIVER(cuGraphExecMemcpyNodeSetParams,
    with_region(p, [&](const auto* same) { return cudaGraphExecMemcpyNodeSetParams(exec, node, same); }),
    CUgraphExec exec, CUgraphNode node, const CUDA_MEMCPY3D* p, CUcontext /*context*/)
HEDDLE_DRIVER(cuGraphExecMemsetNodeSetParams,
    cudaGraphExecMemsetNodeSetParams(exec, node, as<const cudaMemsetParams>(p)),
    CUgraphExec exec, CUgraphNode node, const CUDA_MEMSET_NODE_PARAMS* p, CUcontext /*context*/)
HEDDLE_DRIVER(cuGraphExecHostNodeSetParams,
    cudaGraphExecHostNodeSetParams(exec, node, as<const cudaHostNodeParams>(p)),
    CUgraphExec exec, CUgraphNode node, const CUDA_HOST_NODE_PARAMS* p)
HEDDLE_DRIVER(cuGraphExecChildGraphNodeSetParams, cudaGraphExecChildGraphNodeSetParams(exec, node, child),
    CUgraphExec exec, CUgraphNode node, CUgraph child)
HEDDLE_DRIVER(cuGraphExecEventRecordNodeSetEvent, cudaGraphExecEventRecordNodeSetEvent(exec, node, event),
    CUgraphExec exec, CUgraphNode node, CUevent event)
HEDDLE_DRIVER(cuGraphExecEventWaitNodeSetEvent, cudaGraphExecEventWaitNodeSetEvent(exec, node, event),
    CUgraphExec exec, CUgraphNode node, CUevent event)
HEDDLE_DRIVER(cuGraphExecNodeSetParams,
    with_node(p, [&](auto* same) { return cudaGraphExecNodeSetParams(exec, node, same); }),
    CUgraphExec exec, CUgraphNode node, CUgraphNodeParams* p)
HEDDLE_DRIVER(cuGraphNodeSetEnabled, cudaGraphNodeSetEnabled(exec, node, enabled),
    CUgraphExec exec, CUgraphNode node, unsigned enabled)
HEDDLE_DRIVER(cuGraphNodeGetEnabled, cudaGraphNodeGetEnabled(exec, node, enabled),
    CUgraphExec exec, CUgraphNode node, unsigned* enabled)

HEDDLE_DRIVER(cuGraphInstantiateWithFlags, cudaGraphInstantiateWithFlags(exec, graph, flags),
    CUgraphExec* exec, CUgraph graph, unsigned long long flags)
HEDDLE_DRIVER(cuGraphInstantiate, instantiate(exec, graph, log, bytes),
    CUgraphExec* exec, CUgraph graph, CUgraphNode* /*node*/, char* log, std::size_t bytes)
HEDDLE_DRIVER(cuGraphInstantiate_v2, instantiate(exec, graph, log, bytes),
    CUgraphExec* exec, CUgraph graph, CUgraphNode* /*node*/, char* log, std::size_t bytes)
HEDDLE_DRIVER(cuGraphInstantiateWithParams,
    cudaGraphInstantiateWithParams(exec, graph, as<cudaGraphInstantiateParams>(p)),
    CUgraphExec* exec, CUgraph graph, CUDA_GRAPH_INSTANTIATE_PARAMS* p)
HEDDLE_DRIVER(cuGraphInstantiateWithParams_ptsz,
    cudaGraphInstantiateWithParams(exec, graph, as<cudaGraphInstantiateParams>(p)),
    CUgraphExec* exec, CUgraph graph, CUDA_GRAPH_INSTANTIATE_PARAMS* p)
HEDDLE_DRIVER(cuGraphExecGetFlags, cudaGraphExecGetFlags(exec, as<unsigned long long>(flags)),
    CUgraphExec exec, cuuint64_t* flags)
HEDDLE_DRIVER(cuGraphExecDestroy, cudaGraphExecDestroy(exec), CUgraphExec exec)
HEDDLE_DRIVER(cuGraphExecUpdate_v2, cudaGraphExecUpdate(exec, graph, as<cudaGraphExecUpdateResultInfo>(info)),
    CUgraphExec exec, CUgraph graph, CUgraphExecUpdateResultInfo* info)
HEDDLE_DRIVER(cuGraphExecUpdate, update(exec, graph, node, result),
    CUgraphExec exec, CUgraph graph, CUgraphNode* node, CUgraphExecUpdateResult* result)
HEDDLE_DRIVER_STREAM(cuGraphUpload, cudaGraphUpload(exec, stream), CUgraphExec exec, CUstream stream)
HEDDLE_DRIVER_STREAM(cuGraphLaunch, cudaGraphLaunch(exec, stream), CUgraphExec exec, CUstream stream)
HEDDLE_DRIVER(cuGraphDebugDotPrint, cudaGraphDebugDotPrint(graph, path, flags),
    CUgraph graph, const char* path, unsigned flags)
HEDDLE_DRIVER(cuGraphKernelNodeCopyAttributes, cudaGraphKernelNodeCopyAttributes(to, from),
    CUgraphNode to, CUgraphNode from)
HEDDLE_DRIVER(cuGraphKernelNodeGetAttribute,
    cudaGraphKernelNodeGetAttribute(node, static_cast<cudaLaunchAttributeID>(attribute), as<cudaLaunchAttributeValue>(value)),
    CUgraphNode node, CUkernelNodeAttrID attribute, CUkernelNodeAttrValue* value)
HEDDLE_DRIVER(cuGraphKernelNodeSetAttribute,
    cudaGraphKernelNodeSetAttribute(node, static_cast<cudaLaunchAttributeID>(attribute), as<const cudaLaunchAttributeValue>(value)),
    CUgraphNode node, CUkernelNodeAttrID attribute, const CUkernelNodeAttrValue* value)
// clang-format on

} // extern "C"
#pragma GCC visibility pop
