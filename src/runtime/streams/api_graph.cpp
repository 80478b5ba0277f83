// Graphs as a whole: creation, structure, instantiation, update, launch. Nodes are made in
// api_graph_nodes.cpp.
#include "runtime/diagnostics/outcome.h"
#include "runtime/streams/capture.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>

using namespace heddle::runtime;

namespace {

/// An entry point about something with a handle, under the lock. A handle that is none is
/// cudaErrorInvalidValue.
template <class Handle, class Body>
cudaError_t about(const char* what, Handle handle, Body&& body) {
  return api(what, [&](Runtime& rt, ThreadState&) -> cudaError_t {
    const auto held = rt.graphs().lock();
    const auto found = rt.graphs().find(handle);
    return found == nullptr ? cudaErrorInvalidValue : body(rt, found);
  });
}

/// Answers with a list: its length where there is no room for it, else as many as fit.
template <class T> cudaError_t answer(const std::vector<T>& list, T* out, std::size_t* n) {
  if (n == nullptr) {
    return cudaErrorInvalidValue;
  }
  if (out == nullptr) {
    *n = list.size();
    return cudaSuccess;
  }
  const std::size_t fits = std::min(*n, list.size());
  std::copy_n(list.begin(), fits, out);
  std::fill(out + fits, out + *n, T{});
  *n = fits;
  return cudaSuccess;
}

struct Edges {
  std::vector<cudaGraphNode_t> from, to;
  std::vector<cudaGraphEdgeData> data;

  void add(const GraphNode& before, const GraphNode& after, const cudaGraphEdgeData& edge) {
    from.push_back(before.handle());
    to.push_back(after.handle());
    data.push_back(edge);
  }
  /// Each list where it is wanted. Data that nobody asked for must be the default.
  cudaError_t answer(
      cudaGraphNode_t* out_from,
      cudaGraphNode_t* out_to,
      cudaGraphEdgeData* out_data,
      std::size_t* n
  ) {
    if (n == nullptr) {
      return cudaErrorInvalidValue;
    }
    const bool asked = out_from != nullptr || out_to != nullptr;
    const bool plain = std::all_of(data.begin(), data.end(), [](const cudaGraphEdgeData& edge) {
      return edge.from_port == 0 && edge.to_port == 0 && edge.type == 0;
    });
    if (asked && out_data == nullptr && !plain) {
      return cudaErrorLossyQuery;
    }
    if (!asked) {
      *n = from.size();
      return cudaSuccess;
    }
    const std::size_t room = *n;
    const auto put = [&](const auto& list, auto* out) {
      *n = room;
      if (out != nullptr) {
        static_cast<void>(::answer(list, out, n));
      }
    };
    put(from, out_from);
    put(to, out_to);
    put(data, out_data);
    *n = std::min(room, from.size());
    return cudaSuccess;
  }
};

cudaError_t instantiate(
    Runtime& rt,
    cudaGraphExec_t* exec,
    const GraphPtr& graph,
    unsigned long long flags,
    cudaGraphInstantiateResult* result
) {
  constexpr unsigned long long known =
      cudaGraphInstantiateFlagAutoFreeOnLaunch | cudaGraphInstantiateFlagUpload |
      cudaGraphInstantiateFlagDeviceLaunch | cudaGraphInstantiateFlagUseNodePriority;
  *result = cudaGraphInstantiateError;
  if (exec == nullptr || (flags & ~known) != 0) {
    return cudaErrorInvalidValue;
  }
  if ((flags & cudaGraphInstantiateFlagDeviceLaunch) != 0) {
    complain_unsupported("cudaGraphInstantiateFlagDeviceLaunch");
    return cudaErrorNotSupported;
  }
  if (!graph->order()) {
    *result = cudaGraphInstantiateInvalidStructure;
    return cudaErrorInvalidValue;
  }
  *exec = rt.graphs().instantiate(*graph, flags)->handle();
  *result = cudaGraphInstantiateSuccess;
  return cudaSuccess;
}

/// Gives `mine` (of an executable graph) the work of `other`, node by node in order of creation.
cudaError_t
update(Graph& mine, const Graph& other, cudaGraphExecUpdateResultInfo& info, bool apply) {
  info.result = cudaGraphExecUpdateErrorTopologyChanged;
  if (mine.nodes.size() != other.nodes.size()) {
    return cudaErrorGraphExecUpdateFailure;
  }
  std::map<std::uint64_t, std::uint64_t> twin; // of other's nodes
  auto theirs_next = other.nodes.begin();
  for (const auto& [id, node] : mine.nodes) {
    twin[(theirs_next++)->first] = id;
  }
  for (const auto& [id, theirs] : other.nodes) {
    GraphNode& node = *mine.nodes.at(twin.at(id));
    info.errorNode = theirs->handle();
    if (node.type != theirs->type) {
      info.result = cudaGraphExecUpdateErrorNodeTypeChanged;
      return cudaErrorGraphExecUpdateFailure;
    }
    std::vector<std::uint64_t> was, is;
    for (const GraphEdge& edge : node.after) {
      was.push_back(edge.from);
    }
    for (const GraphEdge& edge : theirs->after) {
      is.push_back(twin.at(edge.from));
    }
    std::sort(was.begin(), was.end());
    std::sort(is.begin(), is.end());
    if (was != is) {
      info.result = cudaGraphExecUpdateErrorTopologyChanged;
      return cudaErrorGraphExecUpdateFailure;
    }
    if (node.child != nullptr) {
      if (const cudaError_t error = update(*node.child, *theirs->child, info, apply);
          error != cudaSuccess) {
        return error;
      }
    } else if (node.type == cudaGraphNodeTypeMemAlloc || node.type == cudaGraphNodeTypeMemFree) {
      info.result = cudaGraphExecUpdateErrorNotSupported;
      return cudaErrorGraphExecUpdateFailure;
    } else if (apply) {
      node.operation = theirs->operation;
    }
  }
  info = {};
  info.result = cudaGraphExecUpdateSuccess;
  return cudaSuccess;
}

cudaError_t change_edges(
    const char* what,
    cudaGraph_t graph_handle,
    const cudaGraphNode_t* from,
    const cudaGraphNode_t* to,
    const cudaGraphEdgeData* data,
    std::size_t n,
    bool add
) {
  return about(what, graph_handle, [&](Runtime& rt, const GraphPtr& graph) {
    if (n != 0 && (from == nullptr || to == nullptr)) {
      return cudaErrorInvalidValue;
    }
    for (std::size_t i = 0; i < n; ++i) {
      const NodePtr before = rt.graphs().find(from[i]);
      const NodePtr after = rt.graphs().find(to[i]);
      if (before == nullptr || after == nullptr || before->graph != graph.get() ||
          after->graph != graph.get()) {
        return cudaErrorInvalidValue;
      }
      if (add) {
        const cudaGraphEdgeData edge = data != nullptr ? data[i] : cudaGraphEdgeData{};
        if (const cudaError_t error = Graphs::connect(*graph, before->id, *after, edge);
            error != cudaSuccess) {
          return error;
        }
      } else if (std::erase_if(after->after, [&](const GraphEdge& edge) {
                   return edge.from == before->id;
                 }) == 0) {
        return cudaErrorInvalidValue;
      }
    }
    return cudaSuccess;
  });
}

} // namespace

#pragma GCC visibility push(default)
extern "C" {

cudaError_t cudaGraphCreate(cudaGraph_t* graph, unsigned int flags) {
  return api("cudaGraphCreate", [&](Runtime& rt, ThreadState&) {
    if (graph == nullptr || flags != 0) {
      return cudaErrorInvalidValue;
    }
    const auto held = rt.graphs().lock();
    *graph = rt.graphs().create()->handle();
    return cudaSuccess;
  });
}

cudaError_t cudaGraphDestroy(cudaGraph_t handle) {
  return about("cudaGraphDestroy", handle, [](Runtime& rt, const GraphPtr& graph) {
    if (graph->is_child) {
      return cudaErrorInvalidValue;
    }
    rt.graphs().destroy(graph);
    return cudaSuccess;
  });
}

cudaError_t cudaGraphClone(cudaGraph_t* clone, cudaGraph_t handle) {
  return about("cudaGraphClone", handle, [&](Runtime& rt, const GraphPtr& graph) {
    if (clone == nullptr) {
      return cudaErrorInvalidValue;
    }
    const GraphPtr copy = rt.graphs().clone(*graph);
    rt.graphs().publish(copy);
    *clone = copy->handle();
    return cudaSuccess;
  });
}

cudaError_t
cudaGraphNodeFindInClone(cudaGraphNode_t* result, cudaGraphNode_t original, cudaGraph_t clone) {
  return about("cudaGraphNodeFindInClone", clone, [&](Runtime& rt, const GraphPtr& graph) {
    const NodePtr node = rt.graphs().find(original);
    if (result == nullptr || node == nullptr) {
      return cudaErrorInvalidValue;
    }
    for (const auto& [id, copy] : graph->nodes) {
      if (copy->original == node->id) {
        *result = copy->handle();
        return cudaSuccess;
      }
    }
    return cudaErrorInvalidValue;
  });
}

cudaError_t cudaGraphGetNodes(cudaGraph_t handle, cudaGraphNode_t* nodes, std::size_t* n) {
  return about("cudaGraphGetNodes", handle, [&](Runtime&, const GraphPtr& graph) {
    std::vector<cudaGraphNode_t> list;
    for (const auto& [id, node] : graph->nodes) {
      list.push_back(node->handle());
    }
    return answer(list, nodes, n);
  });
}

cudaError_t cudaGraphGetRootNodes(cudaGraph_t handle, cudaGraphNode_t* nodes, std::size_t* n) {
  return about("cudaGraphGetRootNodes", handle, [&](Runtime&, const GraphPtr& graph) {
    std::vector<cudaGraphNode_t> list;
    for (const auto& [id, node] : graph->nodes) {
      if (node->after.empty()) {
        list.push_back(node->handle());
      }
    }
    return answer(list, nodes, n);
  });
}

cudaError_t cudaGraphGetEdges(
    cudaGraph_t handle,
    cudaGraphNode_t* from,
    cudaGraphNode_t* to,
    cudaGraphEdgeData* data,
    std::size_t* n
) {
  return about("cudaGraphGetEdges", handle, [&](Runtime&, const GraphPtr& graph) {
    if ((from == nullptr) != (to == nullptr)) {
      return cudaErrorInvalidValue;
    }
    Edges edges;
    for (const auto& [id, node] : graph->nodes) {
      for (const GraphEdge& edge : node->after) {
        edges.add(*graph->nodes.at(edge.from), *node, edge.data);
      }
    }
    return edges.answer(from, to, data, n);
  });
}

cudaError_t cudaGraphNodeGetDependencies(
    cudaGraphNode_t handle,
    cudaGraphNode_t* nodes,
    cudaGraphEdgeData* data,
    std::size_t* n
) {
  return about("cudaGraphNodeGetDependencies", handle, [&](Runtime&, const NodePtr& node) {
    Edges edges;
    for (const GraphEdge& edge : node->after) {
      edges.add(*node->graph->nodes.at(edge.from), *node, edge.data);
    }
    return edges.answer(nodes, nullptr, data, n);
  });
}

cudaError_t cudaGraphNodeGetDependentNodes(
    cudaGraphNode_t handle,
    cudaGraphNode_t* nodes,
    cudaGraphEdgeData* data,
    std::size_t* n
) {
  return about("cudaGraphNodeGetDependentNodes", handle, [&](Runtime&, const NodePtr& node) {
    Edges edges;
    for (const auto& [id, later] : node->graph->nodes) {
      for (const GraphEdge& edge : later->after) {
        if (edge.from == node->id) {
          edges.add(*node, *later, edge.data);
        }
      }
    }
    return edges.answer(nullptr, nodes, data, n);
  });
}

cudaError_t cudaGraphAddDependencies(
    cudaGraph_t graph,
    const cudaGraphNode_t* from,
    const cudaGraphNode_t* to,
    const cudaGraphEdgeData* data,
    std::size_t n
) {
  return change_edges("cudaGraphAddDependencies", graph, from, to, data, n, true);
}

cudaError_t cudaGraphRemoveDependencies(
    cudaGraph_t graph,
    const cudaGraphNode_t* from,
    const cudaGraphNode_t* to,
    const cudaGraphEdgeData* data,
    std::size_t n
) {
  return change_edges("cudaGraphRemoveDependencies", graph, from, to, data, n, false);
}

cudaError_t cudaGraphNodeGetType(cudaGraphNode_t handle, cudaGraphNodeType* type) {
  return about("cudaGraphNodeGetType", handle, [&](Runtime&, const NodePtr& node) {
    if (type == nullptr) {
      return cudaErrorInvalidValue;
    }
    *type = node->type;
    return cudaSuccess;
  });
}

cudaError_t cudaGraphDestroyNode(cudaGraphNode_t handle) {
  return about("cudaGraphDestroyNode", handle, [](Runtime& rt, const NodePtr& node) {
    if (node->type == cudaGraphNodeTypeMemAlloc || node->type == cudaGraphNodeTypeMemFree) {
      return cudaErrorNotSupported; // as documented: such nodes stay
    }
    rt.graphs().remove(*node);
    return cudaSuccess;
  });
}

cudaError_t
cudaGraphInstantiateWithFlags(cudaGraphExec_t* exec, cudaGraph_t handle, unsigned long long flags) {
  return about("cudaGraphInstantiateWithFlags", handle, [&](Runtime& rt, const GraphPtr& graph) {
    cudaGraphInstantiateResult result{};
    return instantiate(rt, exec, graph, flags, &result);
  });
}
cudaError_t
cudaGraphInstantiate(cudaGraphExec_t* exec, cudaGraph_t graph, unsigned long long flags) {
  return cudaGraphInstantiateWithFlags(exec, graph, flags);
}

cudaError_t cudaGraphInstantiateWithParams(
    cudaGraphExec_t* exec,
    cudaGraph_t handle,
    cudaGraphInstantiateParams* parameters
) {
  return about("cudaGraphInstantiateWithParams", handle, [&](Runtime& rt, const GraphPtr& graph) {
    if (parameters == nullptr) {
      return cudaErrorInvalidValue;
    }
    parameters->errNode_out = nullptr;
    return instantiate(rt, exec, graph, parameters->flags, &parameters->result_out);
  });
}
cudaError_t cudaGraphInstantiateWithParams_ptsz(
    cudaGraphExec_t* exec,
    cudaGraph_t graph,
    cudaGraphInstantiateParams* parameters
) {
  return cudaGraphInstantiateWithParams(exec, graph, parameters); // an upload needs no stream
}

cudaError_t cudaGraphExecGetFlags(cudaGraphExec_t handle, unsigned long long* flags) {
  return about("cudaGraphExecGetFlags", handle, [&](Runtime&, const ExecPtr& exec) {
    if (flags == nullptr) {
      return cudaErrorInvalidValue;
    }
    *flags = exec->flags;
    return cudaSuccess;
  });
}

cudaError_t cudaGraphExecDestroy(cudaGraphExec_t handle) {
  return about("cudaGraphExecDestroy", handle, [](Runtime& rt, const ExecPtr& exec) {
    rt.graphs().destroy(exec); // launches under way are commands by now
    return cudaSuccess;
  });
}

cudaError_t cudaGraphUpload(cudaGraphExec_t handle, cudaStream_t stream_handle) {
  return about("cudaGraphUpload", handle, [&](Runtime& rt, const ExecPtr&) {
    const auto stream = rt.stream(stream_handle);
    return stream ? cudaSuccess : stream.error(); // nothing to prepare
  });
}
cudaError_t cudaGraphUpload_ptsz(cudaGraphExec_t exec, cudaStream_t stream) {
  return cudaGraphUpload(exec, per_thread(stream));
}

cudaError_t cudaGraphLaunch(cudaGraphExec_t handle, cudaStream_t stream_handle) {
  return about("cudaGraphLaunch", handle, [&](Runtime& rt, const ExecPtr& exec) {
    const auto stream = rt.stream(stream_handle);
    if (!stream) {
      return stream.error();
    }
    if (const CapturePtr capture = capture_of(**stream)) {
      return capture->add_child(**stream, *exec->graph);
    }
    if ((*stream)->legacy) {
      if (const cudaError_t error = rt.graphs().refuse_implicit((*stream)->device);
          error != cudaSuccess) {
        return error;
      }
    }
    return rt.graphs().launch(rt, exec, **stream);
  });
}
cudaError_t cudaGraphLaunch_ptsz(cudaGraphExec_t exec, cudaStream_t stream) {
  return cudaGraphLaunch(exec, per_thread(stream));
}

cudaError_t cudaGraphExecUpdate(
    cudaGraphExec_t handle,
    cudaGraph_t graph_handle,
    cudaGraphExecUpdateResultInfo* info
) {
  return about("cudaGraphExecUpdate", handle, [&](Runtime& rt, const ExecPtr& exec) {
    const GraphPtr graph = rt.graphs().find(graph_handle);
    if (graph == nullptr || info == nullptr) {
      return cudaErrorInvalidValue;
    }
    *info = {};
    const cudaError_t error = update(*exec->graph, *graph, *info, false);
    return error != cudaSuccess ? error : update(*exec->graph, *graph, *info, true);
  });
}

/// Writes the graph in the language of Graphviz. What `flags` ask for in addition is left out.
cudaError_t cudaGraphDebugDotPrint(cudaGraph_t handle, const char* path, unsigned int) {
  return about("cudaGraphDebugDotPrint", handle, [&](Runtime&, const GraphPtr& graph) {
    std::FILE* file = path == nullptr ? nullptr : std::fopen(path, "w");
    if (file == nullptr) {
      return path == nullptr ? cudaErrorInvalidValue : cudaErrorOperatingSystem;
    }
    fmt::print(file, "digraph graph_{} {{\n", graph->id);
    for (const auto& [id, node] : graph->nodes) {
      const auto* launch = std::get_if<KernelLaunch>(&node->operation.work);
      fmt::print(
          file,
          "  node_{} [label=\"{}\"];\n",
          id,
          launch != nullptr ? launch->function->name : node->operation.label
      );
      for (const GraphEdge& edge : node->after) {
        fmt::print(file, "  node_{} -> node_{};\n", edge.from, id);
      }
    }
    fmt::print(file, "}}\n");
    return std::fclose(file) == 0 ? cudaSuccess : cudaErrorOperatingSystem;
  });
}

} // extern "C"
#pragma GCC visibility pop
