// Nodes of graphs: what they are made of, their attributes, and switching them off.
#include "runtime/streams/graph_node.h"

#include <cstring>

using namespace heddle::runtime;

namespace {

/// Calls f(runtime, node) for a node, of this type if one is given.
template <class F>
cudaError_t
look(const char* what, const NodeToChange& wanted, std::optional<cudaGraphNodeType> type, F&& f) {
  return api(what, [&](Runtime& rt, ThreadState&) -> cudaError_t {
    const auto held = rt.graphs().lock();
    const NodePtr node = find_node(rt, wanted);
    if (node == nullptr || (type && node->type != *type)) {
      return cudaErrorInvalidValue;
    }
    return f(rt, *node);
  });
}

/// Gives out what `pick` makes of a node's work.
template <class W, class Result, class Pick>
cudaError_t tell(
    const char* what,
    cudaGraphNode_t handle,
    cudaGraphNodeType type,
    Result* result,
    Pick&& pick
) {
  return look(what, {handle, {}}, type, [&](Runtime&, GraphNode& node) {
    if (result == nullptr) {
      return cudaErrorInvalidValue;
    }
    *result = pick(std::get<W>(node.operation.work));
    return cudaSuccess;
  });
}

cudaPitchedPtr
pitched(heddle::memory::Address at, std::uint64_t pitch, std::uint64_t slice, std::uint64_t width) {
  return cudaPitchedPtr{
      reinterpret_cast<void*>(at),
      pitch == 0 ? width : pitch,
      width,
      pitch == 0 ? 1 : slice / pitch
  };
}

} // namespace

#pragma GCC visibility push(default)
extern "C" {

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

cudaError_t cudaGraphKernelNodeGetParams(cudaGraphNode_t handle, cudaKernelNodeParams* p) {
  return look(
      "cudaGraphKernelNodeGetParams",
      {handle, {}},
      cudaGraphNodeTypeKernel,
      [&](Runtime& rt, GraphNode& node) {
        if (p == nullptr) {
          return cudaErrorInvalidValue;
        }
        auto& launch = std::get<KernelLaunch>(node.operation.work);
        const auto loaded = rt.modules().kernel(*launch.function, node.operation.device);
        if (!loaded) {
          return loaded.error();
        }
        node.arguments.clear();
        for (const auto& parameter : loaded->kernel->parameters) {
          node.arguments.push_back(launch.parameters.data() + parameter.offset);
        }
        const auto dimensions = [](const heddle::machine::Dim3& d) { return dim3(d.x, d.y, d.z); };
        p->func = launch.function->host != nullptr ? const_cast<void*>(launch.function->host)
                                                   : launch.function;
        p->gridDim = dimensions(launch.config.grid);
        p->blockDim = dimensions(launch.config.block);
        p->sharedMemBytes = launch.config.dynamic_shared;
        p->kernelParams = node.arguments.data();
        p->extra = nullptr;
        return cudaSuccess;
      }
  );
}

/// Arrays are given back as the memory that their texels lie in.
cudaError_t cudaGraphMemcpyNodeGetParams(cudaGraphNode_t node, cudaMemcpy3DParms* p) {
  return tell<Copy>(
      "cudaGraphMemcpyNodeGetParams",
      node,
      cudaGraphNodeTypeMemcpy,
      p,
      [](const Copy& copy) {
        cudaMemcpy3DParms result{};
        result.srcPtr = pitched(copy.from, copy.from_pitch, copy.from_slice, copy.width);
        result.dstPtr = pitched(copy.to, copy.to_pitch, copy.to_slice, copy.width);
        result.extent = cudaExtent{copy.width, copy.height, copy.depth};
        result.kind = cudaMemcpyDefault;
        return result;
      }
  );
}

cudaError_t cudaGraphMemsetNodeGetParams(cudaGraphNode_t node, cudaMemsetParams* p) {
  return tell<Set>(
      "cudaGraphMemsetNodeGetParams",
      node,
      cudaGraphNodeTypeMemset,
      p,
      [](const Set& set) {
        return cudaMemsetParams{
            reinterpret_cast<void*>(set.to),
            set.pitch,
            set.value,
            set.element_bytes,
            set.width / set.element_bytes,
            set.height
        };
      }
  );
}

cudaError_t cudaGraphHostNodeGetParams(cudaGraphNode_t node, cudaHostNodeParams* p) {
  return tell<HostCall>(
      "cudaGraphHostNodeGetParams",
      node,
      cudaGraphNodeTypeHost,
      p,
      [](const HostCall& host) { return cudaHostNodeParams{host.function, host.data}; }
  );
}

cudaError_t cudaGraphEventRecordNodeGetEvent(cudaGraphNode_t node, cudaEvent_t* event) {
  return tell<EventRecord>(
      "cudaGraphEventRecordNodeGetEvent",
      node,
      cudaGraphNodeTypeEventRecord,
      event,
      [](const EventRecord& record) { return record.event->handle; }
  );
}

cudaError_t cudaGraphEventWaitNodeGetEvent(cudaGraphNode_t node, cudaEvent_t* event) {
  return tell<EventWait>(
      "cudaGraphEventWaitNodeGetEvent",
      node,
      cudaGraphNodeTypeWaitEvent,
      event,
      [](const EventWait& wait) { return wait.event->handle; }
  );
}

cudaError_t cudaGraphMemAllocNodeGetParams(cudaGraphNode_t node, cudaMemAllocNodeParams* p) {
  return tell<Allocate>(
      "cudaGraphMemAllocNodeGetParams",
      node,
      cudaGraphNodeTypeMemAlloc,
      p,
      [](const Allocate& allocate) {
        cudaMemAllocNodeParams result{};
        result.poolProps = allocate.pool;
        result.bytesize = allocate.bytes;
        result.dptr = reinterpret_cast<void*>(allocate.address);
        return result;
      }
  );
}

cudaError_t cudaGraphMemFreeNodeGetParams(cudaGraphNode_t node, void* p) {
  return tell<Free>(
      "cudaGraphMemFreeNodeGetParams",
      node,
      cudaGraphNodeTypeMemFree,
      static_cast<void**>(p),
      [](const Free& free) { return reinterpret_cast<void*>(free.address); }
  );
}

cudaError_t cudaGraphExecChildGraphNodeSetParams(
    cudaGraphExec_t exec,
    cudaGraphNode_t handle,
    cudaGraph_t child_handle
) {
  return look(
      "cudaGraphExecChildGraphNodeSetParams",
      {handle, exec},
      cudaGraphNodeTypeGraph,
      [&](Runtime& rt, GraphNode& node) {
        const GraphPtr child = rt.graphs().find(child_handle);
        if (child == nullptr || child->nodes.size() != node.child->nodes.size()) {
          return cudaErrorInvalidValue;
        }
        node.child = rt.graphs().clone(*child);
        node.child->is_child = true;
        return cudaSuccess;
      }
  );
}

// Attributes: those that a launch has (launch.cpp) are kept, the others only tune and are not.
cudaError_t cudaGraphKernelNodeSetAttribute(
    cudaGraphNode_t handle,
    cudaLaunchAttributeID attribute,
    const cudaLaunchAttributeValue* value
) {
  return look(
      "cudaGraphKernelNodeSetAttribute",
      {handle, {}},
      cudaGraphNodeTypeKernel,
      [&](Runtime&, GraphNode& node) {
        if (value == nullptr) {
          return cudaErrorInvalidValue;
        }
        auto& launch = std::get<KernelLaunch>(node.operation.work);
        switch (attribute) {
        case cudaLaunchAttributeCooperative:
          launch.config.cooperative = value->cooperative != 0;
          return cudaSuccess;
        case cudaLaunchAttributePriority:
          launch.priority = value->priority;
          return cudaSuccess;
        case cudaLaunchAttributeClusterDimension:
          launch.config.cluster = {value->clusterDim.x, value->clusterDim.y, value->clusterDim.z};
          launch.config.explicit_cluster = true;
          return cudaSuccess;
        default:
          return cudaSuccess;
        }
      }
  );
}

cudaError_t cudaGraphKernelNodeGetAttribute(
    cudaGraphNode_t handle,
    cudaLaunchAttributeID attribute,
    cudaLaunchAttributeValue* value
) {
  return look(
      "cudaGraphKernelNodeGetAttribute",
      {handle, {}},
      cudaGraphNodeTypeKernel,
      [&](Runtime&, GraphNode& node) {
        if (value == nullptr) {
          return cudaErrorInvalidValue;
        }
        std::memset(static_cast<void*>(value), 0, sizeof *value);
        const auto& launch = std::get<KernelLaunch>(node.operation.work);
        switch (attribute) {
        case cudaLaunchAttributeCooperative:
          value->cooperative = launch.config.cooperative ? 1 : 0;
          break;
        case cudaLaunchAttributePriority:
          value->priority = launch.priority;
          break;
        case cudaLaunchAttributeClusterDimension:
          if (launch.config.explicit_cluster) {
            const auto& cluster = launch.config.cluster;
            value->clusterDim.x = cluster.x;
            value->clusterDim.y = cluster.y;
            value->clusterDim.z = cluster.z;
          }
          break;
        default:
          break;
        }
        return cudaSuccess;
      }
  );
}

cudaError_t cudaGraphKernelNodeCopyAttributes(cudaGraphNode_t to, cudaGraphNode_t from) {
  return look(
      "cudaGraphKernelNodeCopyAttributes",
      {to, {}},
      cudaGraphNodeTypeKernel,
      [&](Runtime& rt, GraphNode& node) {
        const NodePtr source = rt.graphs().find(from);
        if (source == nullptr || source->type != cudaGraphNodeTypeKernel) {
          return cudaErrorInvalidValue;
        }
        auto& into = std::get<KernelLaunch>(node.operation.work);
        const auto& out_of = std::get<KernelLaunch>(source->operation.work);
        into.priority = out_of.priority;
        into.config.cooperative = out_of.config.cooperative;
        into.config.programmatic = out_of.config.programmatic;
        into.config.cluster = out_of.config.cluster;
        into.config.explicit_cluster = out_of.config.explicit_cluster;
        return cudaSuccess;
      }
  );
}

cudaError_t
cudaGraphNodeSetEnabled(cudaGraphExec_t exec, cudaGraphNode_t handle, unsigned int enabled) {
  return look("cudaGraphNodeSetEnabled", {handle, exec}, {}, [&](Runtime&, GraphNode& node) {
    // As documented: only these can be switched off.
    if (node.type != cudaGraphNodeTypeKernel && node.type != cudaGraphNodeTypeMemcpy &&
        node.type != cudaGraphNodeTypeMemset) {
      return cudaErrorInvalidValue;
    }
    node.enabled = enabled != 0;
    return cudaSuccess;
  });
}

cudaError_t
cudaGraphNodeGetEnabled(cudaGraphExec_t exec, cudaGraphNode_t handle, unsigned int* enabled) {
  return look("cudaGraphNodeGetEnabled", {handle, exec}, {}, [&](Runtime&, GraphNode& node) {
    if (enabled == nullptr) {
      return cudaErrorInvalidValue;
    }
    *enabled = node.enabled ? 1 : 0;
    return cudaSuccess;
  });
}

} // extern "C"
#pragma GCC visibility pop
