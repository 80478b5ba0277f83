// Nodes of graphs: the entry points that add them.
#include "runtime/diagnostics/outcome.h"
#include "runtime/memory/copy.h"
#include "runtime/streams/graph_node.h"

using namespace heddle::runtime;

namespace {

/// The older structures say the same without what the newer ones added.
cudaKernelNodeParams older(const cudaKernelNodeParamsV2& p) {
  cudaKernelNodeParams result{};
  result.func = p.func;
  result.gridDim = p.gridDim;
  result.blockDim = p.blockDim;
  result.sharedMemBytes = p.sharedMemBytes;
  result.kernelParams = p.kernelParams;
  result.extra = p.extra;
  return result;
}
cudaMemsetParams older(const cudaMemsetParamsV2& p) {
  return cudaMemsetParams{p.dst, p.pitch, p.value, p.elementSize, p.width, p.height};
}

/// The work of a node that is described by the structure for all types. Child graphs, allocations
/// and frees are not among it.
Made any_work(Runtime& rt, const cudaGraphNodeParams& p, int device) {
  switch (p.type) {
  case cudaGraphNodeTypeKernel: {
    const cudaKernelNodeParams kernel = older(p.kernel);
    return kernel_work(rt, &kernel, device);
  }
  case cudaGraphNodeTypeMemcpy:
    return copy_work(rt, &p.memcpy.copyParams, device);
  case cudaGraphNodeTypeMemset: {
    const cudaMemsetParams set = older(p.memset);
    return set_work(rt, &set, device);
  }
  case cudaGraphNodeTypeHost: {
    const cudaHostNodeParams host{p.host.fn, p.host.userData};
    return host_work(&host);
  }
  case cudaGraphNodeTypeEmpty:
    return Operation{Nothing{}, "a graph's empty node", 0};
  case cudaGraphNodeTypeWaitEvent:
    return event_work(rt, p.eventWait.event, /*record=*/false);
  case cudaGraphNodeTypeEventRecord:
    return event_work(rt, p.eventRecord.event, /*record=*/true);
  default:
    complain_unsupported("a graph's external semaphore node, or new work for a conditional one");
    return tl::unexpected(cudaErrorNotSupported);
  }
}

cudaError_t change_any(const char* what, const NodeToChange& node, const cudaGraphNodeParams* p) {
  if (p == nullptr) {
    return api(what, [](Runtime&, ThreadState&) { return cudaErrorInvalidValue; });
  }
  return change_node(what, node, p->type, [&](Runtime& rt, int device) {
    return any_work(rt, *p, device);
  });
}

Made copy_to_symbol(
    Runtime& rt,
    int device,
    const void* symbol,
    const void* from,
    std::size_t bytes,
    std::size_t offset,
    cudaMemcpyKind kind
) {
  const auto made = copy_to_variable(rt, device, symbol, from, bytes, offset, kind);
  return made ? copy_work(rt, *made, kind, device) : tl::unexpected(made.error());
}
Made copy_from_symbol(
    Runtime& rt,
    int device,
    void* to,
    const void* symbol,
    std::size_t bytes,
    std::size_t offset,
    cudaMemcpyKind kind
) {
  const auto made = copy_from_variable(rt, device, to, symbol, bytes, offset, kind);
  return made ? copy_work(rt, *made, kind, device) : tl::unexpected(made.error());
}

} // namespace

#pragma GCC visibility push(default)
extern "C" {

cudaError_t cudaGraphAddNode(
    cudaGraphNode_t* node,
    cudaGraph_t graph,
    const cudaGraphNode_t* after,
    const cudaGraphEdgeData* edges,
    std::size_t n,
    cudaGraphNodeParams* p
) {
  constexpr const char* what = "cudaGraphAddNode";
  const NewNode wanted{node, graph, after, n, edges};
  if (p == nullptr) {
    return api(what, [](Runtime&, ThreadState&) { return cudaErrorInvalidValue; });
  }
  switch (p->type) {
  case cudaGraphNodeTypeGraph:
    return add_child_graph(what, wanted, p->graph.graph);
  case cudaGraphNodeTypeMemAlloc:
    return add_allocation(what, wanted, p->alloc.poolProps, p->alloc.bytesize, &p->alloc.dptr);
  case cudaGraphNodeTypeMemFree:
    return add_free(what, wanted, p->free.dptr);
  case cudaGraphNodeTypeConditional:
    return add_conditional(what, wanted, &p->conditional);
  default:
    return add_node(what, wanted, [&](Runtime& rt, int device) {
      return any_work(rt, *p, device);
    });
  }
}

cudaError_t cudaGraphConditionalHandleCreate(
    cudaGraphConditionalHandle* result,
    cudaGraph_t handle,
    unsigned int initial,
    unsigned int flags
) {
  return api("cudaGraphConditionalHandleCreate", [&](Runtime& rt, ThreadState& thread) {
    const auto held = rt.graphs().lock();
    const GraphPtr graph = rt.graphs().find(handle);
    if (result == nullptr || graph == nullptr ||
        (flags & ~unsigned{cudaGraphCondAssignDefault}) != 0) {
      return cudaErrorInvalidValue;
    }
    MemoryTable& table = rt.memory();
    const auto at =
        table.allocate_device(sizeof(std::uint32_t), thread.device, rt.model().global_bytes);
    if (!at) {
      return at.error();
    }
    ConditionalValue value;
    value.at = *at;
    value.memory = std::shared_ptr<void>(nullptr, [&table, at = *at](void*) { table.release(at); });
    value.initial = initial;
    value.reset_at_launch = flags == cudaGraphCondAssignDefault;
    graph->conditionals.push_back(std::move(value));
    *result = *at;
    return cudaSuccess;
  });
}

cudaError_t cudaGraphNodeSetParams(cudaGraphNode_t node, cudaGraphNodeParams* p) {
  return change_any("cudaGraphNodeSetParams", {node, {}}, p);
}
cudaError_t
cudaGraphExecNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node, cudaGraphNodeParams* p) {
  return change_any("cudaGraphExecNodeSetParams", {node, exec}, p);
}

// HEDDLE_ADD(name, parameters, work): cudaGraphAdd…Node for work that needs nothing else.
#define HEDDLE_ADD(name, work, ...)                                                                \
  cudaError_t name(                                                                                \
      cudaGraphNode_t* node,                                                                       \
      cudaGraph_t graph,                                                                           \
      const cudaGraphNode_t* after,                                                                \
      std::size_t n __VA_OPT__(, ) __VA_ARGS__                                                     \
  ) {                                                                                              \
    return add_node(                                                                               \
        #name,                                                                                     \
        {node, graph, after, n},                                                                   \
        [&]([[maybe_unused]] Runtime& rt, [[maybe_unused]] int device) -> Made { return work; }    \
    );                                                                                             \
  }

// clang-format off
HEDDLE_ADD(cudaGraphAddKernelNode, kernel_work(rt, p, device), const cudaKernelNodeParams* p)
HEDDLE_ADD(cudaGraphAddMemcpyNode, copy_work(rt, p, device), const cudaMemcpy3DParms* p)
HEDDLE_ADD(cudaGraphAddMemcpyNode1D, copy_work(rt, linear_copy(to, from, bytes), kind, device),
    void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind)
HEDDLE_ADD(cudaGraphAddMemcpyNodeToSymbol, copy_to_symbol(rt, device, symbol, from, bytes, offset, kind),
    const void* symbol, const void* from, std::size_t bytes, std::size_t offset, cudaMemcpyKind kind)
HEDDLE_ADD(cudaGraphAddMemcpyNodeFromSymbol, copy_from_symbol(rt, device, to, symbol, bytes, offset, kind),
    void* to, const void* symbol, std::size_t bytes, std::size_t offset, cudaMemcpyKind kind)
HEDDLE_ADD(cudaGraphAddMemsetNode, set_work(rt, p, device), const cudaMemsetParams* p)
HEDDLE_ADD(cudaGraphAddHostNode, host_work(p), const cudaHostNodeParams* p)
HEDDLE_ADD(cudaGraphAddEmptyNode, (Operation{Nothing{}, "a graph's empty node", 0}))
HEDDLE_ADD(cudaGraphAddEventRecordNode, event_work(rt, event, /*record=*/true), cudaEvent_t event)
HEDDLE_ADD(cudaGraphAddEventWaitNode, event_work(rt, event, /*record=*/false), cudaEvent_t event)
// clang-format on

cudaError_t cudaGraphAddChildGraphNode(
    cudaGraphNode_t* node,
    cudaGraph_t graph,
    const cudaGraphNode_t* after,
    std::size_t n,
    cudaGraph_t child
) {
  return add_child_graph("cudaGraphAddChildGraphNode", {node, graph, after, n}, child);
}

cudaError_t cudaGraphAddMemAllocNode(
    cudaGraphNode_t* node,
    cudaGraph_t graph,
    const cudaGraphNode_t* after,
    std::size_t n,
    cudaMemAllocNodeParams* p
) {
  constexpr const char* what = "cudaGraphAddMemAllocNode";
  if (p == nullptr) {
    return api(what, [](Runtime&, ThreadState&) { return cudaErrorInvalidValue; });
  }
  return add_allocation(what, {node, graph, after, n}, p->poolProps, p->bytesize, &p->dptr);
}

cudaError_t cudaGraphAddMemFreeNode(
    cudaGraphNode_t* node,
    cudaGraph_t graph,
    const cudaGraphNode_t* after,
    std::size_t n,
    void* p
) {
  return add_free("cudaGraphAddMemFreeNode", {node, graph, after, n}, p);
}

// HEDDLE_CHANGE(name, type, work, …): cudaGraph<name> for a node and cudaGraphExec<name> for the
// node of an executable graph.
#define HEDDLE_CHANGE(name, type, work, ...)                                                       \
  cudaError_t cudaGraph##name(cudaGraphNode_t node, __VA_ARGS__) {                                 \
    return change_node(                                                                            \
        "cudaGraph" #name,                                                                         \
        {node, {}},                                                                                \
        type,                                                                                      \
        [&]([[maybe_unused]] Runtime& rt, [[maybe_unused]] int device) { return work; }            \
    );                                                                                             \
  }                                                                                                \
  cudaError_t cudaGraphExec##name(cudaGraphExec_t exec, cudaGraphNode_t node, __VA_ARGS__) {       \
    return change_node(                                                                            \
        "cudaGraphExec" #name,                                                                     \
        {node, exec},                                                                              \
        type,                                                                                      \
        [&]([[maybe_unused]] Runtime& rt, [[maybe_unused]] int device) { return work; }            \
    );                                                                                             \
  }

// clang-format off
HEDDLE_CHANGE(KernelNodeSetParams, cudaGraphNodeTypeKernel, kernel_work(rt, p, device),
    const cudaKernelNodeParams* p)
HEDDLE_CHANGE(MemcpyNodeSetParams, cudaGraphNodeTypeMemcpy, copy_work(rt, p, device),
    const cudaMemcpy3DParms* p)
HEDDLE_CHANGE(MemcpyNodeSetParams1D, cudaGraphNodeTypeMemcpy,
    copy_work(rt, linear_copy(to, from, bytes), kind, device),
    void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind)
HEDDLE_CHANGE(MemcpyNodeSetParamsToSymbol, cudaGraphNodeTypeMemcpy,
    copy_to_symbol(rt, device, symbol, from, bytes, offset, kind),
    const void* symbol, const void* from, std::size_t bytes, std::size_t offset, cudaMemcpyKind kind)
HEDDLE_CHANGE(MemcpyNodeSetParamsFromSymbol, cudaGraphNodeTypeMemcpy,
    copy_from_symbol(rt, device, to, symbol, bytes, offset, kind),
    void* to, const void* symbol, std::size_t bytes, std::size_t offset, cudaMemcpyKind kind)
HEDDLE_CHANGE(MemsetNodeSetParams, cudaGraphNodeTypeMemset, set_work(rt, p, device),
    const cudaMemsetParams* p)
HEDDLE_CHANGE(HostNodeSetParams, cudaGraphNodeTypeHost, host_work(p), const cudaHostNodeParams* p)
HEDDLE_CHANGE(EventRecordNodeSetEvent, cudaGraphNodeTypeEventRecord,
    event_work(rt, event, /*record=*/true), cudaEvent_t event)
HEDDLE_CHANGE(EventWaitNodeSetEvent, cudaGraphNodeTypeWaitEvent,
    event_work(rt, event, /*record=*/false), cudaEvent_t event)
// clang-format on

} // extern "C"
#pragma GCC visibility pop
