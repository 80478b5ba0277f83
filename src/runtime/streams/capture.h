// Capture: streams whose work becomes the nodes of a graph ("Creating a Graph Using Stream Capture"
// in the CUDA Programming Guide).
//
// A stream under capture has a set of nodes that its next node depends on. Recording an event keeps
// that set; waiting for such an event adds it to the waiting stream, which joins the capture if it
// is not in one. What is not allowed invalidates the capture: it then accepts nothing and ends with
// cudaErrorStreamCaptureInvalidated.
#pragma once

#include "runtime/streams/graph.h"

#include <map>
#include <memory>
#include <set>
#include <thread>
#include <vector>

namespace heddle::runtime {

class Capture : public CaptureTarget, public std::enable_shared_from_this<Capture> {
public:
  Capture(Runtime& rt, GraphPtr graph, cudaStreamCaptureMode mode, std::uint64_t id);

  /// The first stream.
  void start(const StreamPtr& stream, std::vector<std::uint64_t> after);
  /// Leaves all streams. Error: why there is no graph.
  cudaError_t finish();

  cudaError_t add(Stream& stream, const Operation& operation) override;
  cudaError_t add_child(Stream& stream, const Graph& graph);
  cudaError_t record(Stream& stream, const EventPtr& event) override;
  cudaError_t
  record_early(Stream& stream, const EventPtr& event, const cudaGraphEdgeData& edge) override;
  cudaError_t wait(Stream& stream, const EventPtr& event) override;
  void invalidate() override { invalid_ = true; }
  void leave(Stream& stream) override;

  /// It adds to a graph that the program has already.
  void into_given_graph() { given_graph_ = true; }
  bool given_graph() const { return given_graph_; }

  bool invalid() const { return invalid_; }
  bool origin(const Stream& stream) const { return origin_ == &stream; }
  bool by_this_thread() const { return thread_ == std::this_thread::get_id(); }
  cudaStreamCaptureMode mode() const { return mode_; }
  std::uint64_t id() const { return id_; }
  const GraphPtr& graph() const { return graph_; }
  bool has_blocking_stream(int device) const;

  std::set<std::uint64_t>& tail(Stream& stream) { return tails_[&stream]; }
  /// What tail() is, valid until the next call.
  const std::vector<cudaGraphNode_t>& tail_handles(Stream& stream);
  const std::vector<cudaGraphEdgeData>& tail_edges() const { return edges_; }

private:
  NodePtr append(Stream& stream, cudaGraphNodeType type, Operation operation);
  cudaGraphEdgeData edge(const Stream& stream, const GraphNode& node, std::uint64_t before) const;
  cudaError_t fail(cudaError_t error);

  Runtime& rt_;
  GraphPtr graph_;
  const cudaStreamCaptureMode mode_;
  const std::uint64_t id_;
  const std::thread::id thread_ = std::this_thread::get_id();
  const Stream* origin_ = nullptr;
  bool given_graph_ = false;
  std::atomic<bool> invalid_{false};
  std::map<Stream*, std::set<std::uint64_t>> tails_; // streams leave before they die
  /// Of nodes of tails_, edges other than for their completion.
  std::map<const Stream*, std::map<std::uint64_t, cudaGraphEdgeData>> early_;
  std::map<const Stream*, std::uint64_t> last_; // node that the stream itself has added
  std::set<std::uint64_t> captured_;
  std::vector<cudaGraphNode_t> handles_;
  std::vector<cudaGraphEdgeData> edges_;
};
using CapturePtr = std::shared_ptr<Capture>;

/// The stream's capture; nullptr: none.
inline CapturePtr capture_of(const Stream& stream) {
  return std::static_pointer_cast<Capture>(stream.capture); // there is no other target
}

} // namespace heddle::runtime
