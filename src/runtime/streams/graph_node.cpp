// Implements graph_node.h.
//
// Parameters are read when they are given (kernel arguments are copied); host memory that a copy
// node names is read when the node runs.
#include "runtime/streams/graph_node.h"

#include "runtime/arrays/array.h"
#include "runtime/memory/copy.h"
#include "runtime/registration/launch.h"

#include <algorithm>
#include <utility>

namespace heddle::runtime {

Made kernel_work(Runtime& rt, const cudaKernelNodeParams* p, int device) {
  if (p == nullptr) {
    return tl::unexpected(cudaErrorInvalidValue);
  }
  LaunchRequest request;
  request.of_graph = true;
  if (p->extra != nullptr) {
    const auto packed = packed_arguments(p->extra);
    if (!packed) {
      return tl::unexpected(packed.error());
    }
    request.packed = *packed;
  }
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

Made copy_work(Runtime& rt, const Copy& what, cudaMemcpyKind kind, int device) {
  if (const cudaError_t error = check_copy(rt, what, kind); error != cudaSuccess) {
    return tl::unexpected(error);
  }
  return Operation{what, "a graph's copy node", device};
}

Made copy_work(Runtime& rt, const cudaMemcpy3DParms* p, int device) {
  if (p == nullptr) {
    return tl::unexpected(cudaErrorInvalidValue);
  }
  const auto result = copy_of(rt, *p);
  if (!result) {
    return tl::unexpected(result.error());
  }
  return copy_work(rt, *result, p->kind, device);
}

Made set_work(Runtime& rt, const cudaMemsetParams* p, int device) {
  if (p == nullptr || (p->elementSize != 1 && p->elementSize != 2 && p->elementSize != 4) ||
      (p->height > 1 && p->pitch < p->width * p->elementSize)) {
    return tl::unexpected(cudaErrorInvalidValue);
  }
  Set result;
  result.to = reinterpret_cast<memory::Address>(p->dst);
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

Made host_work(const cudaHostNodeParams* p) {
  if (p == nullptr || p->fn == nullptr) {
    return tl::unexpected(cudaErrorInvalidValue);
  }
  return Operation{
      HostCall{[function = p->fn, data = p->userData] { function(data); }, p->fn, p->userData},
      "a graph's host node",
      0
  };
}

Made event_work(Runtime& rt, cudaEvent_t handle, bool record) {
  const auto event = rt.event(handle);
  if (!event) {
    return tl::unexpected(event.error());
  }
  return record ? Operation{EventRecord{*event}, "a graph's event record node", 0}
                : Operation{EventWait{*event}, "a graph's event wait node", 0};
}

cudaError_t
add_node(const char* what, const NewNode& wanted, const MakeWork& make, const AfterAdding& then) {
  return api(what, [&](Runtime& rt, ThreadState& thread) -> cudaError_t {
    const auto held = rt.graphs().lock();
    const GraphPtr graph = rt.graphs().find(wanted.graph);
    if (wanted.result == nullptr || graph == nullptr ||
        (wanted.count != 0 && wanted.after == nullptr)) {
      return cudaErrorInvalidValue;
    }
    std::vector<std::uint64_t> before;
    for (std::size_t i = 0; i < wanted.count; ++i) {
      const NodePtr node = rt.graphs().find(wanted.after[i]);
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
    for (std::size_t i = 0; i < before.size() && error == cudaSuccess; ++i) {
      const cudaGraphEdgeData edge =
          wanted.edges != nullptr ? wanted.edges[i] : cudaGraphEdgeData{};
      error = Graphs::connect(*graph, before[i], *node, edge);
    }
    if (error == cudaSuccess && then) {
      error = then(rt, *graph, *node);
    }
    if (error != cudaSuccess) {
      rt.graphs().remove(*node);
      return error;
    }
    *wanted.result = node->handle();
    return cudaSuccess;
  });
}

cudaError_t add_child_graph(const char* what, const NewNode& wanted, cudaGraph_t child_handle) {
  return add_node(
      what,
      wanted,
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

cudaError_t add_conditional(const char* what, const NewNode& wanted, cudaConditionalNodeParams* p) {
  return add_node(
      what,
      wanted,
      [](Runtime&, int) -> Made { return Operation{Nothing{}, "a graph's conditional node", 0}; },
      [&](Runtime& rt, Graph& graph, GraphNode& made) {
        const bool is_if = p->type == cudaGraphCondTypeIf && (p->size == 1 || p->size == 2);
        const bool is_while = p->type == cudaGraphCondTypeWhile && p->size == 1;
        const bool is_switch = p->type == cudaGraphCondTypeSwitch && p->size > 0;
        if ((!is_if && !is_while && !is_switch) ||
            rt.space().host_pointer(p->handle, sizeof(std::uint32_t)) == nullptr) {
          return cudaErrorInvalidValue;
        }
        const auto value = std::ranges::find(graph.conditionals, p->handle, &ConditionalValue::at);
        if (value != graph.conditionals.end() && std::exchange(value->taken, true)) {
          return cudaErrorInvalidValue;
        }
        made.type = cudaGraphNodeTypeConditional;
        Conditional& conditional = made.conditional.emplace();
        conditional.value = p->handle;
        conditional.type = p->type;
        for (unsigned i = 0; i < p->size; ++i) {
          conditional.bodies.push_back(rt.graphs().clone(Graph{})); // an empty one
          conditional.bodies.back()->is_child = true;
          conditional.handles.push_back(conditional.bodies.back()->handle());
        }
        p->phGraph_out = conditional.handles.data();
        return cudaSuccess;
      }
  );
}

cudaError_t add_allocation(
    const char* what,
    const NewNode& wanted,
    const cudaMemPoolProps& pool,
    std::size_t bytes,
    void** p
) {
  return add_node(
      what,
      wanted,
      [&](Runtime& rt, int) -> Made {
        if (bytes == 0 || pool.allocType != cudaMemAllocationTypePinned ||
            pool.location.type != cudaMemLocationTypeDevice || !rt.valid_device(pool.location.id)) {
          return tl::unexpected(cudaErrorInvalidValue);
        }
        const auto at =
            rt.memory().allocate_device(bytes, pool.location.id, rt.model().global_bytes);
        if (!at) {
          return tl::unexpected(at.error());
        }
        return Operation{Allocate{*at, bytes, pool}, "a graph's allocation node", 0};
      },
      [&](Runtime& rt, Graph& owner, GraphNode& made) {
        const auto at = std::get<Allocate>(made.operation.work).address;
        owner.memory.push_back(
            std::make_shared<GraphMemory>(rt.memory(), rt.graphs().memory_use(), at)
        );
        *p = reinterpret_cast<void*>(at);
        return cudaSuccess;
      }
  );
}

cudaError_t add_free(const char* what, const NewNode& wanted, void* p) {
  return add_node(what, wanted, [&](Runtime& rt, int) -> Made {
    const auto at = reinterpret_cast<memory::Address>(p);
    if (!rt.memory().find(at)) {
      return tl::unexpected(cudaErrorInvalidValue);
    }
    return Operation{Free{at}, "a graph's free node", 0};
  });
}

NodePtr find_node(Runtime& rt, const NodeToChange& wanted) {
  const NodePtr node = rt.graphs().find(wanted.node);
  if (node == nullptr || !wanted.exec) {
    return node;
  }
  const ExecPtr exec = rt.graphs().find(*wanted.exec);
  return exec == nullptr ? nullptr : exec->find(*node);
}

cudaError_t change_node(
    const char* what,
    const NodeToChange& wanted,
    cudaGraphNodeType type,
    const MakeWork& make
) {
  return api(what, [&](Runtime& rt, ThreadState&) -> cudaError_t {
    const auto held = rt.graphs().lock();
    const NodePtr node = find_node(rt, wanted);
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

} // namespace heddle::runtime
