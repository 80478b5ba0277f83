// Nodes of graphs: how they are made, and their parameters, in a graph and in an executable one.
//
// Parameters are read when they are given (kernel arguments are copied); host memory that a copy
// node names is read when the node runs.
#include "runtime/array.h"
#include "runtime/copy.h"
#include "runtime/graph.h"
#include "runtime/launch.h"
#include "runtime/outcome.h"

using namespace heddle::runtime;

namespace {

using Made = tl::expected<Operation, cudaError_t>;

Made kernel(Runtime& rt, const cudaKernelNodeParams* p, int device) {
  if (p == nullptr) {
    return tl::unexpected(cudaErrorInvalidValue);
  }
  if (p->extra != nullptr) {
    complain_unsupported("cudaKernelNodeParams::extra");
    return tl::unexpected(cudaErrorNotSupported);
  }
  LaunchRequest request;
  request.function = p->func;
  request.grid = p->gridDim;
  request.block = p->blockDim;
  request.shared = p->sharedMemBytes;
  request.arguments = p->kernelParams;
  auto launch = prepare_launch(rt, request, device);
  if (!launch) {
    return tl::unexpected(launch.error());
  }
  return Operation{std::move(*launch), "a graph's kernel node", device};
}

Made copy(Runtime& rt, const Copy& what, cudaMemcpyKind kind, int device) {
  if (const cudaError_t error = check_copy(rt, what, kind); error != cudaSuccess) {
    return tl::unexpected(error);
  }
  return Operation{what, "a graph's copy node", device};
}

Made copy(Runtime& rt, const cudaMemcpy3DParms* p, int device) {
  if (p == nullptr) {
    return tl::unexpected(cudaErrorInvalidValue);
  }
  const auto result = copy_of(rt, *p);
  if (!result) {
    return tl::unexpected(result.error());
  }
  return copy(rt, *result, p->kind, device);
}

Made set(Runtime& rt, const cudaMemsetParams* p, int device) {
  if (p == nullptr || (p->elementSize != 1 && p->elementSize != 2 && p->elementSize != 4) ||
      (p->height > 1 && p->pitch < p->width * p->elementSize)) {
    return tl::unexpected(cudaErrorInvalidValue);
  }
  Set result;
  result.to = reinterpret_cast<heddle::memory::Address>(p->dst);
  result.value = p->value;
  result.element_bytes = p->elementSize;
  result.width = p->width * p->elementSize;
  result.height = p->height;
  result.pitch = p->pitch;
  if (!rt.space().find(result.to)) {
    return tl::unexpected(cudaErrorInvalidValue);
  }
  return Operation{result, "a graph's set node", device};
}

Made host(const cudaHostNodeParams* p) {
  if (p == nullptr || p->fn == nullptr) {
    return tl::unexpected(cudaErrorInvalidValue);
  }
  return Operation{
      HostCall{[function = p->fn, data = p->userData] { function(data); }},
      "a graph's host node",
      0
  };
}

/// Adds the node that `make` describes.
template <class Make>
cudaError_t
add(const char* what,
    cudaGraphNode_t* result,
    cudaGraph_t graph_handle,
    const cudaGraphNode_t* dependencies,
    std::size_t n,
    Make&& make,
    const std::function<cudaError_t(Runtime&, Graph&, GraphNode&)>& then = nullptr) {
  return api(what, [&](Runtime& rt, ThreadState& thread) -> cudaError_t {
    const auto held = rt.graphs().lock();
    const GraphPtr graph = rt.graphs().find(graph_handle);
    if (result == nullptr || graph == nullptr || (n != 0 && dependencies == nullptr)) {
      return cudaErrorInvalidValue;
    }
    std::vector<std::uint64_t> before;
    for (std::size_t i = 0; i < n; ++i) {
      const NodePtr node = rt.graphs().find(dependencies[i]);
      if (node == nullptr || node->graph != graph.get()) {
        return cudaErrorInvalidValue;
      }
      before.push_back(node->id);
    }
    Made operation = make(rt, thread.device);
    if (!operation) {
      return operation.error();
    }
    operation->device = thread.device;
    const cudaGraphNodeType type = type_of(operation->work);
    const NodePtr node = rt.graphs().add(*graph, type, std::move(*operation));
    cudaError_t error = cudaSuccess;
    for (const std::uint64_t id : before) {
      if (error == cudaSuccess) {
        error = Graphs::connect(*graph, id, *node, {});
      }
    }
    if (error == cudaSuccess && then) {
      error = then(rt, *graph, *node);
    }
    if (error != cudaSuccess) {
      rt.graphs().remove(*node);
      return error;
    }
    *result = node->handle();
    return cudaSuccess;
  });
}

/// Gives a node (of `exec`, if it is one) other work of the same type.
template <class Make>
cudaError_t change(
    const char* what,
    const cudaGraphExec_t* exec_handle,
    cudaGraphNode_t handle,
    cudaGraphNodeType type,
    Make&& make
) {
  return api(what, [&](Runtime& rt, ThreadState&) -> cudaError_t {
    const auto held = rt.graphs().lock();
    NodePtr node = rt.graphs().find(handle);
    if (node != nullptr && exec_handle != nullptr) {
      const ExecPtr exec = rt.graphs().find(*exec_handle);
      node = exec == nullptr ? nullptr : exec->find(*node);
    }
    if (node == nullptr || node->type != type) {
      return cudaErrorInvalidValue;
    }
    const int device = node->operation.device;
    Made operation = make(rt, device);
    if (!operation) {
      return operation.error();
    }
    operation->device = device;
    if (auto* now = std::get_if<KernelLaunch>(&operation->work)) {
      // What attributes asked for belongs to the node, not to its parameters.
      const auto& before = std::get<KernelLaunch>(node->operation.work);
      now->config.cooperative = before.config.cooperative;
      now->config.programmatic = before.config.programmatic;
      now->priority = before.priority;
      if (before.config.explicit_cluster) {
        now->config.cluster = before.config.cluster;
        now->config.explicit_cluster = true;
      }
    }
    node->operation = std::move(*operation);
    return cudaSuccess;
  });
}

Made event_work(Runtime& rt, cudaEvent_t handle, bool record) {
  const auto event = rt.event(handle);
  if (!event) {
    return tl::unexpected(event.error());
  }
  return record ? Operation{EventRecord{*event}, "a graph's event record node", 0}
                : Operation{EventWait{*event}, "a graph's event wait node", 0};
}

} // namespace

#pragma GCC visibility push(default)
extern "C" {

cudaError_t cudaGraphAddKernelNode(
    cudaGraphNode_t* node,
    cudaGraph_t graph,
    const cudaGraphNode_t* after,
    std::size_t n,
    const cudaKernelNodeParams* p
) {
  return add("cudaGraphAddKernelNode", node, graph, after, n, [&](Runtime& rt, int device) {
    return kernel(rt, p, device);
  });
}

cudaError_t cudaGraphAddMemcpyNode(
    cudaGraphNode_t* node,
    cudaGraph_t graph,
    const cudaGraphNode_t* after,
    std::size_t n,
    const cudaMemcpy3DParms* p
) {
  return add("cudaGraphAddMemcpyNode", node, graph, after, n, [&](Runtime& rt, int device) {
    return copy(rt, p, device);
  });
}

cudaError_t cudaGraphAddMemcpyNode1D(
    cudaGraphNode_t* node,
    cudaGraph_t graph,
    const cudaGraphNode_t* after,
    std::size_t n,
    void* to,
    const void* from,
    std::size_t bytes,
    cudaMemcpyKind kind
) {
  return add("cudaGraphAddMemcpyNode1D", node, graph, after, n, [&](Runtime& rt, int device) {
    return copy(rt, linear_copy(to, from, bytes), kind, device);
  });
}

cudaError_t cudaGraphAddMemsetNode(
    cudaGraphNode_t* node,
    cudaGraph_t graph,
    const cudaGraphNode_t* after,
    std::size_t n,
    const cudaMemsetParams* p
) {
  return add("cudaGraphAddMemsetNode", node, graph, after, n, [&](Runtime& rt, int device) {
    return set(rt, p, device);
  });
}

cudaError_t cudaGraphAddHostNode(
    cudaGraphNode_t* node,
    cudaGraph_t graph,
    const cudaGraphNode_t* after,
    std::size_t n,
    const cudaHostNodeParams* p
) {
  return add("cudaGraphAddHostNode", node, graph, after, n, [&](Runtime&, int) { return host(p); });
}

cudaError_t cudaGraphAddEmptyNode(
    cudaGraphNode_t* node,
    cudaGraph_t graph,
    const cudaGraphNode_t* after,
    std::size_t n
) {
  return add("cudaGraphAddEmptyNode", node, graph, after, n, [](Runtime&, int) -> Made {
    return Operation{Nothing{}, "a graph's empty node", 0};
  });
}

cudaError_t cudaGraphAddEventRecordNode(
    cudaGraphNode_t* node,
    cudaGraph_t graph,
    const cudaGraphNode_t* after,
    std::size_t n,
    cudaEvent_t event
) {
  return add("cudaGraphAddEventRecordNode", node, graph, after, n, [&](Runtime& rt, int) {
    return event_work(rt, event, true);
  });
}

cudaError_t cudaGraphAddEventWaitNode(
    cudaGraphNode_t* node,
    cudaGraph_t graph,
    const cudaGraphNode_t* after,
    std::size_t n,
    cudaEvent_t event
) {
  return add("cudaGraphAddEventWaitNode", node, graph, after, n, [&](Runtime& rt, int) {
    return event_work(rt, event, false);
  });
}

cudaError_t cudaGraphAddChildGraphNode(
    cudaGraphNode_t* node,
    cudaGraph_t graph,
    const cudaGraphNode_t* after,
    std::size_t n,
    cudaGraph_t child_handle
) {
  return add(
      "cudaGraphAddChildGraphNode",
      node,
      graph,
      after,
      n,
      [](Runtime&, int) -> Made { return Operation{Nothing{}, "a child graph", 0}; },
      [&](Runtime& rt, Graph& parent, GraphNode& made) {
        const GraphPtr child = rt.graphs().find(child_handle);
        if (child == nullptr || child.get() == &parent) {
          return cudaErrorInvalidValue;
        }
        made.type = cudaGraphNodeTypeGraph;
        made.child = rt.graphs().clone(*child);
        made.child->is_child = true;
        return cudaSuccess;
      }
  );
}

cudaError_t cudaGraphChildGraphNodeGetGraph(cudaGraphNode_t handle, cudaGraph_t* graph) {
  return api("cudaGraphChildGraphNodeGetGraph", [&](Runtime& rt, ThreadState&) {
    const auto held = rt.graphs().lock();
    const NodePtr node = rt.graphs().find(handle);
    if (graph == nullptr || node == nullptr || node->child == nullptr) {
      return cudaErrorInvalidValue;
    }
    *graph = node->child->handle();
    return cudaSuccess;
  });
}

cudaError_t cudaGraphAddMemAllocNode(
    cudaGraphNode_t* node,
    cudaGraph_t graph,
    const cudaGraphNode_t* after,
    std::size_t n,
    cudaMemAllocNodeParams* p
) {
  return add(
      "cudaGraphAddMemAllocNode",
      node,
      graph,
      after,
      n,
      [&](Runtime& rt, int) -> Made {
        if (p == nullptr || p->bytesize == 0 ||
            p->poolProps.allocType != cudaMemAllocationTypePinned ||
            p->poolProps.location.type != cudaMemLocationTypeDevice ||
            !rt.valid_device(p->poolProps.location.id)) {
          return tl::unexpected(cudaErrorInvalidValue);
        }
        const auto at = rt.memory().allocate_device(
            p->bytesize,
            p->poolProps.location.id,
            rt.model().global_bytes
        );
        if (!at) {
          return tl::unexpected(at.error());
        }
        return Operation{Allocate{*at}, "a graph's allocation node", 0};
      },
      [&](Runtime& rt, Graph& owner, GraphNode& made) {
        const auto at = std::get<Allocate>(made.operation.work).address;
        owner.memory.push_back(std::make_shared<GraphMemory>(rt.memory(), at));
        p->dptr = reinterpret_cast<void*>(at);
        return cudaSuccess;
      }
  );
}

cudaError_t cudaGraphAddMemFreeNode(
    cudaGraphNode_t* node,
    cudaGraph_t graph,
    const cudaGraphNode_t* after,
    std::size_t n,
    void* p
) {
  return add("cudaGraphAddMemFreeNode", node, graph, after, n, [&](Runtime& rt, int) -> Made {
    const auto at = reinterpret_cast<heddle::memory::Address>(p);
    if (!rt.memory().find(at)) {
      return tl::unexpected(cudaErrorInvalidValue);
    }
    return Operation{Free{at}, "a graph's free node", 0};
  });
}

cudaError_t cudaGraphKernelNodeGetParams(cudaGraphNode_t handle, cudaKernelNodeParams* p) {
  return api("cudaGraphKernelNodeGetParams", [&](Runtime& rt, ThreadState&) {
    const auto held = rt.graphs().lock();
    const NodePtr node = rt.graphs().find(handle);
    if (p == nullptr || node == nullptr || node->type != cudaGraphNodeTypeKernel) {
      return cudaErrorInvalidValue;
    }
    auto& launch = std::get<KernelLaunch>(node->operation.work);
    const auto loaded = rt.modules().kernel(*launch.function, node->operation.device);
    if (!loaded) {
      return loaded.error();
    }
    node->arguments.clear();
    for (const auto& parameter : loaded->kernel->parameters) {
      node->arguments.push_back(launch.parameters.data() + parameter.offset);
    }
    const auto dimensions = [](const heddle::machine::Dim3& d) { return dim3(d.x, d.y, d.z); };
    p->func = launch.function;
    p->gridDim = dimensions(launch.config.grid);
    p->blockDim = dimensions(launch.config.block);
    p->sharedMemBytes = launch.config.dynamic_shared;
    p->kernelParams = node->arguments.data();
    p->extra = nullptr;
    return cudaSuccess;
  });
}

cudaError_t cudaGraphKernelNodeSetParams(cudaGraphNode_t node, const cudaKernelNodeParams* p) {
  return change(
      "cudaGraphKernelNodeSetParams",
      nullptr,
      node,
      cudaGraphNodeTypeKernel,
      [&](Runtime& rt, int device) { return kernel(rt, p, device); }
  );
}

cudaError_t cudaGraphExecKernelNodeSetParams(
    cudaGraphExec_t exec,
    cudaGraphNode_t node,
    const cudaKernelNodeParams* p
) {
  return change(
      "cudaGraphExecKernelNodeSetParams",
      &exec,
      node,
      cudaGraphNodeTypeKernel,
      [&](Runtime& rt, int device) { return kernel(rt, p, device); }
  );
}

cudaError_t cudaGraphMemcpyNodeSetParams(cudaGraphNode_t node, const cudaMemcpy3DParms* p) {
  return change(
      "cudaGraphMemcpyNodeSetParams",
      nullptr,
      node,
      cudaGraphNodeTypeMemcpy,
      [&](Runtime& rt, int device) { return copy(rt, p, device); }
  );
}

cudaError_t cudaGraphExecMemcpyNodeSetParams(
    cudaGraphExec_t exec,
    cudaGraphNode_t node,
    const cudaMemcpy3DParms* p
) {
  return change(
      "cudaGraphExecMemcpyNodeSetParams",
      &exec,
      node,
      cudaGraphNodeTypeMemcpy,
      [&](Runtime& rt, int device) { return copy(rt, p, device); }
  );
}

cudaError_t cudaGraphMemcpyNodeSetParams1D(
    cudaGraphNode_t node,
    void* to,
    const void* from,
    std::size_t bytes,
    cudaMemcpyKind kind
) {
  return change(
      "cudaGraphMemcpyNodeSetParams1D",
      nullptr,
      node,
      cudaGraphNodeTypeMemcpy,
      [&](Runtime& rt, int device) { return copy(rt, linear_copy(to, from, bytes), kind, device); }
  );
}

cudaError_t cudaGraphExecMemcpyNodeSetParams1D(
    cudaGraphExec_t exec,
    cudaGraphNode_t node,
    void* to,
    const void* from,
    std::size_t bytes,
    cudaMemcpyKind kind
) {
  return change(
      "cudaGraphExecMemcpyNodeSetParams1D",
      &exec,
      node,
      cudaGraphNodeTypeMemcpy,
      [&](Runtime& rt, int device) { return copy(rt, linear_copy(to, from, bytes), kind, device); }
  );
}

cudaError_t cudaGraphMemsetNodeSetParams(cudaGraphNode_t node, const cudaMemsetParams* p) {
  return change(
      "cudaGraphMemsetNodeSetParams",
      nullptr,
      node,
      cudaGraphNodeTypeMemset,
      [&](Runtime& rt, int device) { return set(rt, p, device); }
  );
}

cudaError_t cudaGraphExecMemsetNodeSetParams(
    cudaGraphExec_t exec,
    cudaGraphNode_t node,
    const cudaMemsetParams* p
) {
  return change(
      "cudaGraphExecMemsetNodeSetParams",
      &exec,
      node,
      cudaGraphNodeTypeMemset,
      [&](Runtime& rt, int device) { return set(rt, p, device); }
  );
}

cudaError_t cudaGraphHostNodeSetParams(cudaGraphNode_t node, const cudaHostNodeParams* p) {
  return change(
      "cudaGraphHostNodeSetParams",
      nullptr,
      node,
      cudaGraphNodeTypeHost,
      [&](Runtime&, int) { return host(p); }
  );
}

cudaError_t cudaGraphExecHostNodeSetParams(
    cudaGraphExec_t exec,
    cudaGraphNode_t node,
    const cudaHostNodeParams* p
) {
  return change(
      "cudaGraphExecHostNodeSetParams",
      &exec,
      node,
      cudaGraphNodeTypeHost,
      [&](Runtime&, int) { return host(p); }
  );
}

cudaError_t
cudaGraphNodeSetEnabled(cudaGraphExec_t exec_handle, cudaGraphNode_t handle, unsigned int enabled) {
  return api("cudaGraphNodeSetEnabled", [&](Runtime& rt, ThreadState&) {
    const auto held = rt.graphs().lock();
    const ExecPtr exec = rt.graphs().find(exec_handle);
    const NodePtr original = rt.graphs().find(handle);
    const NodePtr node = exec && original ? exec->find(*original) : nullptr;
    // As documented: only these can be switched off.
    if (node == nullptr ||
        (node->type != cudaGraphNodeTypeKernel && node->type != cudaGraphNodeTypeMemcpy &&
         node->type != cudaGraphNodeTypeMemset)) {
      return cudaErrorInvalidValue;
    }
    node->enabled = enabled != 0;
    return cudaSuccess;
  });
}

cudaError_t cudaGraphNodeGetEnabled(
    cudaGraphExec_t exec_handle,
    cudaGraphNode_t handle,
    unsigned int* enabled
) {
  return api("cudaGraphNodeGetEnabled", [&](Runtime& rt, ThreadState&) {
    const auto held = rt.graphs().lock();
    const ExecPtr exec = rt.graphs().find(exec_handle);
    const NodePtr original = rt.graphs().find(handle);
    const NodePtr node = exec && original ? exec->find(*original) : nullptr;
    if (enabled == nullptr || node == nullptr) {
      return cudaErrorInvalidValue;
    }
    *enabled = node->enabled ? 1 : 0;
    return cudaSuccess;
  });
}

} // extern "C"
#pragma GCC visibility pop
