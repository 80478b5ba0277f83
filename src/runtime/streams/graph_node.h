// What the entry points about nodes of graphs share: the work that parameters describe, adding a
// node, giving a node other work.
#pragma once

#include "runtime/streams/graph.h"

#include <functional>

namespace heddle::runtime {

using Made = tl::expected<Operation, cudaError_t>;
Made kernel_work(Runtime& rt, const cudaKernelNodeParams* p, int device);
Made copy_work(Runtime& rt, const Copy& what, cudaMemcpyKind kind, int device);
Made copy_work(Runtime& rt, const cudaMemcpy3DParms* p, int device);
Made set_work(Runtime& rt, const cudaMemsetParams* p, int device);
Made host_work(const cudaHostNodeParams* p);
Made event_work(Runtime& rt, cudaEvent_t handle, bool record);

using MakeWork = std::function<Made(Runtime&, int device)>;
using AfterAdding = std::function<cudaError_t(Runtime&, Graph&, GraphNode&)>;

struct NewNode {
  cudaGraphNode_t* result = nullptr;
  cudaGraph_t graph = nullptr;
  const cudaGraphNode_t* after = nullptr;
  std::size_t count = 0;                    // of after
  const cudaGraphEdgeData* edges = nullptr; // as many, or nullptr
};
/// The entry point `what`: adds a node with the work that `make` answers; `then` may complete it.
cudaError_t add_node(
    const char* what,
    const NewNode& wanted,
    const MakeWork& make,
    const AfterAdding& then = nullptr
);
cudaError_t add_child_graph(const char* what, const NewNode& wanted, cudaGraph_t child);
/// Fills in the handles of the bodies.
cudaError_t add_conditional(const char* what, const NewNode& wanted, cudaConditionalNodeParams* p);
/// Sets *p to the address of the memory.
cudaError_t add_allocation(
    const char* what,
    const NewNode& wanted,
    const cudaMemPoolProps& pool,
    std::size_t bytes,
    void** p
);
cudaError_t add_free(const char* what, const NewNode& wanted, void* p);

/// A node of a graph, or of an executable graph the node that stands for it.
struct NodeToChange {
  cudaGraphNode_t node = nullptr;
  std::optional<cudaGraphExec_t> exec;
};
NodePtr find_node(Runtime& rt, const NodeToChange& wanted);
/// The entry point `what`: gives a node of this type other work.
cudaError_t change_node(
    const char* what,
    const NodeToChange& wanted,
    cudaGraphNodeType type,
    const MakeWork& make
);

} // namespace heddle::runtime
