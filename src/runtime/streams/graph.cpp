// Implements graph.h, but for what concerns captures (capture.cpp).
#include "runtime/streams/graph.h"

#include "machine/monitor.h"
#include "runtime/diagnostics/announce.h"
#include "runtime/diagnostics/host_accesses.h"
#include "runtime/diagnostics/outcome.h"
#include "runtime/handle.h"

#include <cuda.h>

#include <algorithm>
#include <set>
#include <utility>

namespace heddle::runtime {
namespace {

constexpr std::uint64_t graph_tag = 0x4752'0000'0000'0000ULL;
constexpr std::uint64_t node_tag = 0x4e4f'0000'0000'0000ULL;
constexpr std::uint64_t exec_tag = 0x4558'0000'0000'0000ULL;

NodePtr find_clone(const Graph& graph, std::uint64_t original) {
  for (const auto& [id, node] : graph.nodes) {
    if (node->original == original) {
      return node;
    }
    if (node->child != nullptr) {
      if (NodePtr found = find_clone(*node->child, original)) {
        return found;
      }
    }
    if (node->conditional) {
      for (const GraphPtr& body : node->conditional->bodies) {
        if (NodePtr found = find_clone(*body, original)) {
          return found;
        }
      }
    }
  }
  return nullptr;
}

/// The commands of one launch, in topological order.
struct Expansion {
  Runtime& rt;
  int device;
  std::string stream; // its name
  std::vector<machine::CommandPtr> commands;
  std::vector<std::pair<EventPtr, machine::CommandPtr>> records;
  bool frees_first = false; // what the launch before has left allocated

  machine::CommandPtr put(const Operation& operation, std::vector<machine::CommandPtr> after) {
    auto command = make_command(rt, operation);
    if (!command) {
      error = command.error();
      return nullptr;
    }
    after.insert(after.end(), (*command)->after.begin(), (*command)->after.end());
    (*command)->after = std::move(after);
    commands.push_back(*command);
    return *command;
  }
  machine::CommandPtr put_nothing(std::vector<machine::CommandPtr> after) {
    return put(Operation{Nothing{}, "cudaGraphLaunch", device}, std::move(after));
  }

  machine::CommandPtr put(const Graph& graph, machine::CommandPtr entry);
  machine::CommandPtr put(const Conditional& node, std::vector<machine::CommandPtr> after);
  machine::CommandPtr
  put(const Graph& graph, GraphNode& node, std::vector<machine::CommandPtr> after);

  bool allocate_again(const Graph& graph, const Allocate& allocate);
  bool begin_again(memory::Address address);

  cudaError_t error = cudaSuccess;
};

constexpr const char* others_have_it =
    "another launch of a graph whose memory's addresses others have by now";

/// What the program has freed since the last launch. If that free is still under way it does
/// nothing.
bool Expansion::allocate_again(const Graph& graph, const Allocate& allocate) {
  if (rt.memory().find(allocate.address)) {
    rt.graphs().memory_use().kept.insert(allocate.address);
    return true;
  }
  const auto memory =
      std::ranges::find(graph.memory, allocate.address, [](const auto& m) { return m->address; });
  return memory != graph.memory.end() && (*memory)->owned && rt.memory().revive(*(*memory)->owned);
}

/// What a free node has ended, or will have.
bool Expansion::begin_again(memory::Address address) {
  if (rt.space().find(address)) {
    rt.graphs().memory_use().kept.insert(address);
    return true;
  }
  return rt.space().revive(address).has_value();
}

machine::CommandPtr
Expansion::put(const Graph& graph, GraphNode& node, std::vector<machine::CommandPtr> after) {
  if (node.child != nullptr) {
    const auto entry = put_nothing(std::move(after));
    return entry == nullptr ? nullptr : put(*node.child, entry);
  }
  if (node.conditional) {
    return put(*node.conditional, std::move(after));
  }
  const Work& work = node.operation.work;
  if (const auto* allocate = std::get_if<Allocate>(&work)) {
    GraphMemoryUse& use = rt.graphs().memory_use();
    const std::lock_guard lock(use.mutex);
    if (graph.frees(allocate->address)) {
      if (use.ended.erase(allocate->address) != 0 && !begin_again(allocate->address)) {
        complain_unsupported(others_have_it);
        error = cudaErrorNotSupported;
        return nullptr;
      }
      return put(node.operation, std::move(after));
    }
    if (!use.unfreed.insert(allocate->address).second && !frees_first) {
      error = cudaErrorInvalidValue;
      return nullptr;
    }
    if (use.freed.erase(allocate->address) != 0 && !allocate_again(graph, *allocate)) {
      complain_unsupported(others_have_it);
      error = cudaErrorNotSupported;
      return nullptr;
    }
    return put(node.operation, std::move(after));
  }
  const auto* free = std::get_if<Free>(&work);
  if (!node.enabled) {
    return put_nothing(std::move(after));
  }
  if (free != nullptr && graph.owns(free->address)) {
    Operation ends = node.operation;
    std::get<Free>(ends.work).of_graph = true;
    GraphMemoryUse& use = rt.graphs().memory_use();
    const std::lock_guard lock(use.mutex);
    use.ended.insert(free->address);
    return put(ends, std::move(after));
  }
  if (free != nullptr) {
    rt.graphs().memory_use().free(free->address);
  }
  if (const auto* call = std::get_if<HostCall>(&work)) {
    note_argument_of_function(call->data);
  }
  const auto command = put(node.operation, std::move(after));
  if (const auto* record = std::get_if<EventRecord>(&work); record != nullptr && command) {
    records.emplace_back(record->event, command);
  }
  return command;
}

bool is_kernel(const GraphNode& node) {
  return node.enabled && node.child == nullptr && !node.conditional &&
         std::holds_alternative<KernelLaunch>(node.operation.work);
}

/// Returns the command that all others come before.
machine::CommandPtr Expansion::put(const Graph& graph, machine::CommandPtr entry) {
  const auto order = graph.order();
  if (!order) {
    error = cudaErrorInvalidValue;
    return nullptr;
  }
  for (const ConditionalValue& value : graph.conditionals) {
    if (value.reset_at_launch) {
      Set set;
      set.to = value.at;
      set.value = value.initial;
      set.element_bytes = sizeof value.initial;
      set.width = sizeof value.initial;
      entry = put(Operation{set, "cudaGraphLaunch", device}, {entry});
      if (entry == nullptr) {
        return nullptr;
      }
    }
  }
  std::unordered_map<std::uint64_t, machine::CommandPtr> made;
  std::set<std::uint64_t> sinks;
  for (const NodePtr& node : *order) {
    std::vector<machine::CommandPtr> after;
    std::vector<machine::EarlyDependency> early;
    for (const GraphEdge& edge : node->after) {
      const machine::CommandPtr& before = made.at(edge.from);
      if (edge.data.from_port == cudaGraphKernelNodePortDefault ||
          before->kind != machine::CommandKind::Kernel) {
        after.push_back(before);
        sinks.erase(edge.from);
      } else {
        early.push_back(
            {before,
             edge.data.from_port == cudaGraphKernelNodePortProgrammatic
                 ? machine::Trigger::Dependents
                 : machine::Trigger::Launch,
             edge.data.type == cudaGraphDependencyTypeProgrammatic}
        );
      }
    }
    if (!early.empty() && !is_kernel(*node)) { // nothing that could overlap with the kernel itself
      after.push_back(put_nothing({}));
      if (after.back() == nullptr) {
        return nullptr;
      }
      after.back()->early = std::exchange(early, {});
    }
    if (after.empty()) {
      after.push_back(entry);
    }
    const auto command = put(graph, *node, std::move(after));
    if (command == nullptr) {
      return nullptr;
    }
    command->early = std::move(early);
    made.emplace(node->id, command);
    sinks.insert(node->id);
  }
  std::vector<machine::CommandPtr> ends;
  for (const std::uint64_t id : sinks) {
    ends.push_back(made.at(id));
  }
  if (ends.empty()) {
    ends.push_back(entry);
  }
  return put_nothing(std::move(ends));
}

/// A conditional node under way: a command that looks at the value when its turn comes, submits
/// the body that is chosen, and looks again when a loop's body has completed.
struct ConditionalRun {
  Runtime& rt;
  int device;
  std::string stream;
  Conditional node;
  const machine::Command* look = nullptr; // outlives this
  machine::CommandPtr last;               // of the body under way

  /// For a monitor: who sets the value has to come before the node, by an edge.
  void look_at_value() const {
    if (machine::Monitor* monitor = rt.world().monitor(); monitor != nullptr && last == nullptr) {
      rt.world().driver().alone([&] {
        monitor->host_side_access(*look, node.value, sizeof(std::uint32_t), /*store=*/false);
      });
    }
  }

  std::vector<machine::CommandPtr> next() {
    look_at_value();
    const auto held = rt.graphs().lock();
    const auto* value = static_cast<const std::uint32_t*>(
        rt.space().host_pointer(node.value, sizeof(std::uint32_t))
    );
    const bool over = last != nullptr && node.type != cudaGraphCondTypeWhile;
    const Graph* body = value != nullptr && !over ? node.choose(*value) : nullptr;
    if (body == nullptr) {
      return {};
    }
    Expansion expansion{rt, device, stream, {}, {}};
    const auto entry = expansion.put_nothing({});
    if (entry != nullptr && last != nullptr) {
      entry->after.push_back(last); // complete: it tells a monitor of the order
    }
    last = expansion.put(*body, entry);
    if (last == nullptr) {
      complain_once("error: the body of a graph's conditional node cannot be launched");
      return {};
    }
    for (const machine::CommandPtr& command : expansion.commands) {
      command->stream = stream;
      command->part_of = look->id;
      rt.world().submit(command);
    }
    return {last};
  }
};

machine::CommandPtr
Expansion::put(const Conditional& node, std::vector<machine::CommandPtr> after) {
  auto command = put(Operation{Nothing{}, "a graph's conditional node", device}, std::move(after));
  if (command != nullptr) {
    const auto run = std::make_shared<ConditionalRun>(
        ConditionalRun{rt, device, stream, node, command.get(), nullptr}
    );
    command->more = [run] { return run->next(); };
    command->touches = {{.begin = node.value, .bytes = sizeof(std::uint32_t)}};
  }
  return command;
}

} // namespace

const Graph* Conditional::choose(std::uint32_t chosen) const {
  switch (type) {
  case cudaGraphCondTypeIf:
    if (chosen != 0) {
      return bodies.front().get();
    }
    return bodies.size() > 1 ? bodies[1].get() : nullptr;
  case cudaGraphCondTypeWhile:
    return chosen != 0 ? bodies.front().get() : nullptr;
  case cudaGraphCondTypeSwitch:
    return chosen < bodies.size() ? bodies[chosen].get() : nullptr;
  }
  return nullptr;
}

cudaGraphNodeType type_of(const Work& work) {
  struct Visitor {
    cudaGraphNodeType operator()(const Nothing&) const { return cudaGraphNodeTypeEmpty; }
    cudaGraphNodeType operator()(const KernelLaunch&) const { return cudaGraphNodeTypeKernel; }
    cudaGraphNodeType operator()(const LibraryWork&) const { return cudaGraphNodeTypeKernel; }
    cudaGraphNodeType operator()(const Copy&) const { return cudaGraphNodeTypeMemcpy; }
    cudaGraphNodeType operator()(const Set&) const { return cudaGraphNodeTypeMemset; }
    cudaGraphNodeType operator()(const WaitForValue&) const {
      return static_cast<cudaGraphNodeType>(CU_GRAPH_NODE_TYPE_BATCH_MEM_OP);
    }
    cudaGraphNodeType operator()(const HostCall&) const { return cudaGraphNodeTypeHost; }
    cudaGraphNodeType operator()(const EventRecord&) const { return cudaGraphNodeTypeEventRecord; }
    cudaGraphNodeType operator()(const EventWait&) const { return cudaGraphNodeTypeWaitEvent; }
    cudaGraphNodeType operator()(const Allocate&) const { return cudaGraphNodeTypeMemAlloc; }
    cudaGraphNodeType operator()(const Free&) const { return cudaGraphNodeTypeMemFree; }
  };
  return std::visit(Visitor{}, work);
}

cudaGraphNode_t GraphNode::handle() const {
  return to_handle<cudaGraphNode_t>(node_tag, id);
}

GraphMemory::GraphMemory(MemoryTable& t, GraphMemoryUse& u, memory::Address a)
    : table(t),
      use(u),
      address(a) {
  owned = table.find(a);
  bytes = owned ? owned->bytes : 0;
  const std::uint64_t now = use.now += bytes;
  std::uint64_t most = use.most;
  while (most < now && !use.most.compare_exchange_weak(most, now)) {
  }
}

void GraphMemoryUse::free(memory::Address address) {
  const std::lock_guard lock(mutex);
  if (unfreed.erase(address) != 0) {
    freed.insert(address);
  }
}

bool GraphMemoryUse::take_kept(memory::Address address) {
  const auto at = kept.find(address);
  if (at == kept.end()) {
    return false;
  }
  kept.erase(at);
  return true;
}

GraphMemory::~GraphMemory() {
  const std::lock_guard lock(use.mutex);
  if (!use.unfreed.contains(address) && use.freed.erase(address) == 0) {
    table.release(address);
  }
  use.now -= bytes;
}

cudaGraph_t Graph::handle() const {
  return to_handle<cudaGraph_t>(graph_tag, id);
}

cudaGraphExec_t GraphExec::handle() const {
  return to_handle<cudaGraphExec_t>(exec_tag, id);
}

NodePtr GraphExec::find(const GraphNode& original) const {
  return find_clone(*graph, original.id);
}

bool Graph::frees(memory::Address address) const {
  return std::ranges::any_of(nodes, [&](const auto& entry) {
    const auto* free = std::get_if<Free>(&entry.second->operation.work);
    return free != nullptr && free->address == address;
  });
}

bool Graph::owns(memory::Address address) const {
  return std::any_of(memory.begin(), memory.end(), [&](const auto& m) {
    return m->address == address;
  });
}

std::optional<std::vector<NodePtr>> Graph::order() const {
  std::map<std::uint64_t, std::size_t> waits;
  std::map<std::uint64_t, std::vector<std::uint64_t>> next;
  std::set<std::uint64_t> ready; // the oldest first: the order of creation where it is possible
  for (const auto& [id, node] : nodes) {
    waits[id] = node->after.size();
    for (const GraphEdge& edge : node->after) {
      next[edge.from].push_back(id);
    }
    if (node->after.empty()) {
      ready.insert(id);
    }
  }
  std::vector<NodePtr> result;
  while (!ready.empty()) {
    const std::uint64_t id = *ready.begin();
    ready.erase(ready.begin());
    result.push_back(nodes.at(id));
    for (const std::uint64_t later : next[id]) {
      if (--waits[later] == 0) {
        ready.insert(later);
      }
    }
  }
  return result.size() == nodes.size() ? std::optional(std::move(result)) : std::nullopt;
}

GraphPtr Graphs::make() {
  auto graph = std::make_shared<Graph>();
  graph->id = next_id_++;
  graphs_[graph->id] = graph;
  return graph;
}

GraphPtr Graphs::create() {
  GraphPtr graph = make();
  publish(graph);
  return graph;
}

NodePtr Graphs::add(Graph& graph, cudaGraphNodeType type, Operation operation) {
  auto node = std::make_shared<GraphNode>();
  node->id = next_id_++;
  node->graph = &graph;
  node->type = type;
  node->operation = std::move(operation);
  graph.nodes[node->id] = node;
  nodes_[node->id] = node;
  return node;
}

void Graphs::remove(GraphNode& node) {
  Graph& graph = *node.graph;
  const std::uint64_t id = node.id;
  for (const auto& [other, later] : graph.nodes) {
    std::erase_if(later->after, [&](const GraphEdge& edge) { return edge.from == id; });
  }
  nodes_.erase(id);
  graph.nodes.erase(id);
}

cudaError_t
Graphs::connect(Graph& graph, std::uint64_t from, GraphNode& to, cudaGraphEdgeData data) {
  if (to.graph != &graph || !graph.nodes.contains(from) || from == to.id) {
    return cudaErrorInvalidValue;
  }
  for (const GraphEdge& edge : to.after) {
    if (edge.from == from) {
      return cudaErrorInvalidValue;
    }
  }
  to.after.push_back({from, data});
  return cudaSuccess;
}

GraphPtr Graphs::clone(const Graph& graph) {
  GraphPtr copy = make();
  copy->memory = graph.memory;
  copy->user_objects = graph.user_objects;
  copy->conditionals = graph.conditionals;
  std::unordered_map<std::uint64_t, std::uint64_t> copies;
  for (const auto& [id, node] : graph.nodes) {
    const NodePtr twin = add(*copy, node->type, node->operation);
    twin->original = id;
    twin->enabled = node->enabled;
    if (node->child != nullptr) {
      twin->child = clone(*node->child);
      twin->child->is_child = true;
    }
    if (node->conditional) {
      twin->conditional = node->conditional;
      for (std::size_t i = 0; i < twin->conditional->bodies.size(); ++i) {
        GraphPtr& body = twin->conditional->bodies[i];
        body = clone(*body);
        body->is_child = true;
        twin->conditional->handles[i] = body->handle();
      }
    }
    copies[id] = twin->id;
  }
  for (const auto& [id, node] : graph.nodes) {
    GraphNode& twin = *copy->nodes.at(copies.at(id));
    for (const GraphEdge& edge : node->after) {
      twin.after.push_back({copies.at(edge.from), edge.data});
    }
  }
  return copy;
}

ExecPtr Graphs::instantiate(const Graph& graph, unsigned long long flags) {
  auto exec = std::make_shared<GraphExec>();
  exec->id = next_id_++;
  exec->flags = flags;
  exec->graph = clone(graph);
  execs_[exec->id] = exec;
  return exec;
}

GraphPtr Graphs::find(cudaGraph_t handle) const {
  const std::uint64_t id = to_id(graph_tag, handle);
  const auto it = graphs_.find(id);
  GraphPtr found = it == graphs_.end() ? nullptr : it->second.lock();
  if (found == nullptr && id != 0 && id < next_id_) {
    announce_stale_handle("a graph");
  }
  return found;
}

NodePtr Graphs::find(cudaGraphNode_t handle) const {
  const auto it = nodes_.find(to_id(node_tag, handle));
  return it == nodes_.end() ? nullptr : it->second.lock();
}

ExecPtr Graphs::find(cudaGraphExec_t handle) const {
  const std::uint64_t id = to_id(exec_tag, handle);
  const auto it = execs_.find(id);
  if (it == execs_.end() && id != 0 && id < next_id_) {
    announce_stale_handle("an executable graph");
  }
  return it == execs_.end() ? nullptr : it->second;
}

cudaError_t Graphs::launch(Runtime& rt, const ExecPtr& exec, Stream& stream) {
  Expansion expansion{rt, stream.device, stream.name, {}, {}};
  expansion.frees_first = (exec->flags & cudaGraphInstantiateFlagAutoFreeOnLaunch) != 0;
  const auto gate = expansion.put_nothing({}); // waits for the stream
  const auto entry = expansion.put_nothing({gate, exec->last});
  const auto last = expansion.put(*exec->graph, entry);
  if (last == nullptr) {
    return expansion.error;
  }
  // Work under way keeps the graph's memory and objects, and no longer.
  last->work = [memory = exec->graph->memory, objects = exec->graph->user_objects]() mutable {
    memory.clear();
    objects.clear();
  };
  rt.streams().submit_group(stream, expansion.commands, last);
  for (const auto& [event, command] : expansion.records) {
    rt.streams().mark(event, command);
  }
  exec->last = last;
  return cudaSuccess;
}

} // namespace heddle::runtime
