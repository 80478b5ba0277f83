// Implements capture.h, and of graph.h what concerns captures.
#include "runtime/streams/capture.h"

namespace heddle::runtime {

Capture::Capture(Runtime& rt, GraphPtr graph, cudaStreamCaptureMode mode, std::uint64_t id)
    : rt_(rt),
      graph_(std::move(graph)),
      mode_(mode),
      id_(id) {}

void Capture::start(const StreamPtr& stream, std::vector<std::uint64_t> after) {
  origin_ = stream.get();
  tails_[stream.get()].insert(after.begin(), after.end());
  stream->capture = shared_from_this();
}

cudaError_t Capture::fail(cudaError_t error) {
  invalid_ = true;
  return error;
}

NodePtr Capture::append(Stream& stream, cudaGraphNodeType type, Operation operation) {
  const NodePtr node = rt_.graphs().add(*graph_, type, std::move(operation));
  std::set<std::uint64_t>& tail = tails_[&stream];
  for (const std::uint64_t before : tail) {
    if (graph_->nodes.contains(before)) {
      node->after.push_back({before, edge(stream, *node, before)});
    }
  }
  tail = {node->id};
  early_.erase(&stream);
  last_[&stream] = node->id;
  captured_.insert(node->id);
  return node;
}

/// [DEP-EARLY]: a programmatic launch may overlap with the kernel right before it in its stream;
/// and what waits for an event of a launch has its edge. Edges of that kind are between kernels
/// only.
cudaGraphEdgeData
Capture::edge(const Stream& stream, const GraphNode& node, std::uint64_t before) const {
  const auto* kernel = std::get_if<KernelLaunch>(&node.operation.work);
  const auto last = last_.find(&stream);
  if (kernel != nullptr && kernel->config.programmatic && last != last_.end() &&
      last->second == before && graph_->nodes.at(before)->type == cudaGraphNodeTypeKernel) {
    cudaGraphEdgeData result{};
    result.from_port = cudaGraphKernelNodePortProgrammatic;
    result.type = cudaGraphDependencyTypeProgrammatic;
    return result;
  }
  if (const auto edges = early_.find(&stream); edges != early_.end()) {
    const auto found = edges->second.find(before);
    if (found != edges->second.end() &&
        (kernel != nullptr || found->second.type == cudaGraphDependencyTypeDefault)) {
      return found->second;
    }
  }
  return {};
}

cudaError_t Capture::add(Stream& stream, const Operation& operation) {
  const auto lock = rt_.graphs().lock();
  if (invalid_) {
    return cudaErrorStreamCaptureInvalidated;
  }
  append(stream, type_of(operation.work), operation);
  if (const auto* allocate = std::get_if<Allocate>(&operation.work)) {
    graph_->memory.push_back(
        std::make_shared<GraphMemory>(rt_.memory(), rt_.graphs().memory_use(), allocate->address)
    );
  }
  return cudaSuccess;
}

cudaError_t Capture::add_child(Stream& stream, const Graph& graph) {
  if (invalid_) {
    return cudaErrorStreamCaptureInvalidated;
  }
  if (!graph.memory.empty()) { // measured
    return fail(cudaErrorStreamCaptureUnsupported);
  }
  const NodePtr node = append(stream, cudaGraphNodeTypeGraph, Operation{});
  node->child = rt_.graphs().clone(graph);
  node->child->is_child = true;
  return cudaSuccess;
}

cudaError_t Capture::record(Stream& stream, const EventPtr& event) {
  const auto lock = rt_.graphs().lock();
  if (invalid_) {
    return cudaErrorStreamCaptureInvalidated;
  }
  const std::set<std::uint64_t>& tail = tails_[&stream];
  event->captured = true;
  event->captured_by = weak_from_this();
  event->captured_nodes.assign(tail.begin(), tail.end());
  event->captured_edge = {};
  return cudaSuccess;
}

cudaError_t
Capture::record_early(Stream& stream, const EventPtr& event, const cudaGraphEdgeData& edge) {
  const cudaError_t error = record(stream, event);
  event->captured_edge = edge;
  return error;
}

cudaError_t Capture::wait(Stream& stream, const EventPtr& event) {
  const auto lock = rt_.graphs().lock();
  if (invalid_) {
    return cudaErrorStreamCaptureInvalidated;
  }
  if (!event->captured && event->command == nullptr) {
    return cudaSuccess; // measured: never recorded
  }
  if (event->captured_by.lock().get() != this) {
    return fail(cudaErrorStreamCaptureIsolation);
  }
  if (stream.capture == nullptr) {
    if (stream.legacy) {
      return fail(cudaErrorStreamCaptureImplicit);
    }
    stream.capture = shared_from_this();
  } else if (stream.capture.get() != this) {
    stream.capture->invalidate();
    return fail(cudaErrorStreamCaptureMerge);
  }
  std::set<std::uint64_t>& tail = tails_[&stream]; // it takes part, even if it waits for nothing
  for (const std::uint64_t node : event->captured_nodes) {
    const bool is_new = tail.insert(node).second;
    if (event->captured_edge.from_port == cudaGraphKernelNodePortDefault) {
      early_[&stream].erase(node);
    } else if (is_new) {
      early_[&stream][node] = event->captured_edge;
    }
  }
  return cudaSuccess;
}

void Capture::leave(Stream& stream) {
  const auto lock = rt_.graphs().lock();
  if (&stream == origin_) {
    invalid_ = true;
    static_cast<void>(finish());
    return;
  }
  tails_.erase(&stream); // what it did must have been joined, like everything captured
  stream.capture.reset();
}

cudaError_t Capture::finish() {
  const std::shared_ptr<Capture> self = shared_from_this();
  std::set<std::uint64_t> open = captured_;
  for (const auto& [id, node] : graph_->nodes) {
    for (const GraphEdge& edge : node->after) {
      open.erase(edge.from);
    }
  }
  for (auto& [stream, tail] : tails_) {
    if (stream == origin_) {
      for (const std::uint64_t joined : tail) {
        open.erase(joined);
      }
    }
    stream->capture.reset();
  }
  tails_.clear();
  rt_.graphs().end(*this);
  if (invalid_) {
    return cudaErrorStreamCaptureInvalidated;
  }
  return open.empty() ? cudaSuccess : cudaErrorStreamCaptureUnjoined;
}

bool Capture::has_blocking_stream(int device) const {
  for (const auto& [stream, tail] : tails_) {
    if (stream->blocking() && stream->device == device) {
      return true;
    }
  }
  return false;
}

const std::vector<cudaGraphNode_t>& Capture::tail_handles(Stream& stream) {
  handles_.clear();
  edges_.clear();
  for (const std::uint64_t id : tails_[&stream]) {
    const auto it = graph_->nodes.find(id);
    if (it != graph_->nodes.end()) {
      handles_.push_back(it->second->handle());
      const std::map<std::uint64_t, cudaGraphEdgeData>& early = early_[&stream];
      const auto edge = early.find(id);
      edges_.push_back(edge != early.end() ? edge->second : cudaGraphEdgeData{});
    }
  }
  return handles_;
}

void Graphs::begin(const std::shared_ptr<Capture>& capture) {
  captures_.push_back(capture);
  ++active_;
}

void Graphs::end(const Capture& capture) {
  active_ -= static_cast<int>(std::erase_if(captures_, [&](const auto& c) {
    return c.get() == &capture;
  }));
}

cudaError_t Graphs::refuse_unsafe(const ThreadState& thread) {
  if (active_.load() == 0 || thread.capture_mode == cudaStreamCaptureModeRelaxed) {
    return cudaSuccess;
  }
  const auto held = lock();
  bool refused = false;
  for (const CapturePtr& capture : captures_) {
    // A capture in global mode is disturbed by every thread that did not change its own mode.
    const bool other_threads = capture->mode() == cudaStreamCaptureModeGlobal &&
                               thread.capture_mode == cudaStreamCaptureModeGlobal;
    if (capture->mode() != cudaStreamCaptureModeRelaxed &&
        (capture->by_this_thread() || other_threads)) {
      capture->invalidate();
      refused = true;
    }
  }
  return refused ? cudaErrorStreamCaptureUnsupported : cudaSuccess;
}

bool Graphs::blocking_capture(int device) {
  if (active_.load() == 0) {
    return false;
  }
  const auto held = lock();
  for (const CapturePtr& capture : captures_) {
    if (capture->has_blocking_stream(device)) {
      return true;
    }
  }
  return false;
}

cudaError_t Graphs::refuse_implicit(int device) {
  if (!blocking_capture(device)) {
    return cudaSuccess;
  }
  const auto held = lock();
  for (const CapturePtr& capture : captures_) {
    if (capture->has_blocking_stream(device)) {
      capture->invalidate();
    }
  }
  return cudaErrorStreamCaptureImplicit;
}

} // namespace heddle::runtime
