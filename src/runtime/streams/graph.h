// Graphs: work kept as nodes with dependencies, and launched as often as wanted ("CUDA Graphs" in
// the CUDA Programming Guide).
//
// A launch makes commands of the nodes: nodes without dependencies follow what the stream has,
// the stream's later work follows all of them, and launches of one executable graph follow each
// other. Edges of programmatic dependent launch let a kernel begin early ([DEP-EARLY]).
//
// Memory of allocation nodes has its address from the node's creation to the end of the last graph
// that contains it. A free node ends its life, the next launch begins another. So does the program
// (cudaFree, cudaFreeAsync), and what it has to free outlives the graph: as measured on an H200. Of
// a use before the first launch nothing is noticed.
#pragma once

#include "runtime/runtime.h"

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <thread>
#include <unordered_map>
#include <vector>

namespace heddle::runtime {

class Capture; // capture.h
struct Graph;

struct GraphEdge {
  std::uint64_t from = 0; // id of a node
  cudaGraphEdgeData data{};
};

/// A value that device code sets (cudaGraphSetConditional) and conditional nodes look at. Its
/// handle is the address of the value.
struct ConditionalValue {
  memory::Address at = 0;
  std::shared_ptr<void> memory; // frees it
  std::uint32_t initial = 0;
  bool reset_at_launch = false;
  bool taken = false; // by a node; a second one is refused
};

/// What a conditional node chooses from.
struct Conditional {
  memory::Address value = 0;
  cudaGraphConditionalNodeType type = cudaGraphCondTypeIf;
  std::vector<std::shared_ptr<Graph>> bodies;
  std::vector<cudaGraph_t> handles; // of the bodies, for the program

  /// The body for a value; nullptr: none.
  const Graph* choose(std::uint32_t value) const;
};

struct GraphNode {
  std::uint64_t id = 0;
  std::uint64_t original = 0; // the node it was cloned from
  Graph* graph = nullptr;     // lives at least as long
  cudaGraphNodeType type = cudaGraphNodeTypeEmpty;
  Operation operation;
  std::shared_ptr<Graph> child;
  std::optional<Conditional> conditional;
  std::vector<GraphEdge> after;
  bool enabled = true;
  std::vector<void*> arguments; // what cudaGraphKernelNodeGetParams gave out

  cudaGraphNode_t handle() const;
};
using NodePtr = std::shared_ptr<GraphNode>;

/// Bytes that allocation nodes hold, and the most they ever held (cudaDeviceGetGraphMemAttribute).
struct GraphMemoryUse {
  std::atomic<std::uint64_t> now{0};
  std::atomic<std::uint64_t> most{0};
  std::mutex mutex;                    // of the following
  std::set<memory::Address> unfreed;   // a launch has allocated it, and no free has been submitted
  std::set<memory::Address> freed;     // by the program since it was launched last
  std::set<memory::Address> ended;     // by free nodes of the graph: their commands are submitted
  std::multiset<memory::Address> kept; // allocated again before the command that frees it has run

  /// The program frees `address`, outside of the graph that has allocated it if any has.
  void free(memory::Address address);
  /// Has it been allocated again meanwhile, so that the free is not to be carried out? Caller holds
  /// `mutex`.
  bool take_kept(memory::Address address);
};

/// Memory of an allocation node.
struct GraphMemory {
  MemoryTable& table;
  GraphMemoryUse& use;
  memory::Address address;
  std::optional<Owned> owned; // as it was allocated
  std::uint64_t bytes;
  GraphMemory(MemoryTable& table, GraphMemoryUse& use, memory::Address address);
  GraphMemory(const GraphMemory&) = delete;
  GraphMemory& operator=(const GraphMemory&) = delete;
  ~GraphMemory();
};

/// An object of the program that graphs share: destroyed with the last reference to it.
struct UserObject {
  cudaHostFn_t destroy;
  void* data;
  UserObject(cudaHostFn_t d, void* p) : destroy(d), data(p) {}
  UserObject(const UserObject&) = delete;
  UserObject& operator=(const UserObject&) = delete;
  ~UserObject() { destroy(data); }
};
using UserObjectPtr = std::shared_ptr<UserObject>;

struct Graph {
  std::uint64_t id = 0;
  std::map<std::uint64_t, NodePtr> nodes; // in order of creation
  std::vector<std::shared_ptr<GraphMemory>> memory;
  std::vector<UserObjectPtr> user_objects; // one for each reference
  std::vector<ConditionalValue> conditionals;
  bool is_child = false; // belongs to a node

  cudaGraph_t handle() const;
  /// Dependencies first; nothing if there is a cycle.
  std::optional<std::vector<NodePtr>> order() const;
  bool owns(memory::Address address) const;
  /// Does one of its nodes free it?
  bool frees(memory::Address address) const;
};
using GraphPtr = std::shared_ptr<Graph>;

struct GraphExec {
  std::uint64_t id = 0;
  unsigned long long flags = 0;
  GraphPtr graph; // its own; the nodes' `original` are those of the graph it was made from
  machine::CommandPtr last;

  cudaGraphExec_t handle() const;
  /// The node that stands for one of the original graph, in children too.
  NodePtr find(const GraphNode& original) const;
};
using ExecPtr = std::shared_ptr<GraphExec>;

/// All graphs of the process. Hold lock() during every use.
class Graphs {
public:
  std::unique_lock<std::recursive_mutex> lock() { return std::unique_lock(mutex_); }

  GraphPtr create();
  void destroy(const GraphPtr& graph) { owned_.erase(graph->id); }
  void destroy(const ExecPtr& exec) { execs_.erase(exec->id); }
  /// The program's from now on.
  void publish(const GraphPtr& graph) { owned_[graph->id] = graph; }
  GraphPtr clone(const Graph& graph);
  ExecPtr instantiate(const Graph& graph, unsigned long long flags);

  /// nullptr: no such thing.
  GraphPtr find(cudaGraph_t handle) const;
  NodePtr find(cudaGraphNode_t handle) const;
  ExecPtr find(cudaGraphExec_t handle) const;

  NodePtr add(Graph& graph, cudaGraphNodeType type, Operation operation);
  void remove(GraphNode& node);
  /// Error: cudaErrorInvalidValue for nodes that are not of this graph.
  static cudaError_t
  connect(Graph& graph, std::uint64_t from, GraphNode& to, cudaGraphEdgeData data);

  cudaError_t launch(Runtime& rt, const ExecPtr& exec, Stream& stream);

  /// What the program has and has not destroyed; call lock() before.
  std::size_t created_graphs() const { return owned_.size(); }
  std::size_t created_execs() const { return execs_.size(); }

  GraphMemoryUse& memory_use() { return memory_use_; }

  /// A user object and the references that the program itself has.
  struct OwnedObject {
    UserObjectPtr object;
    unsigned references = 0;
  };
  std::map<cudaUserObject_t, OwnedObject>& user_objects() { return user_objects_; }

  std::uint64_t next_capture() { return next_id_++; }
  void begin(const std::shared_ptr<Capture>& capture);
  void end(const Capture& capture);
  /// See Runtime::refuse_during_capture.
  cudaError_t refuse_unsafe(const ThreadState& thread);
  /// Work on the legacy default stream while a blocking stream of the device is captured.
  cudaError_t refuse_implicit(int device);
  bool blocking_capture(int device);

private:
  GraphPtr make();

  mutable std::recursive_mutex mutex_;
  GraphMemoryUse memory_use_; // of all devices
  std::map<cudaUserObject_t, OwnedObject> user_objects_;
  std::uint64_t next_id_ = 1;
  std::map<std::uint64_t, GraphPtr> owned_;
  std::unordered_map<std::uint64_t, std::weak_ptr<Graph>> graphs_;
  std::unordered_map<std::uint64_t, std::weak_ptr<GraphNode>> nodes_;
  std::map<std::uint64_t, ExecPtr> execs_;
  std::vector<std::shared_ptr<Capture>> captures_;
  std::atomic<int> active_{0}; // captures_.size(), for calls that must be fast
};

/// The node type that work is.
cudaGraphNodeType type_of(const Work& work);

} // namespace heddle::runtime
