// Stream capture. What a capture does is capture.h's.
#include "runtime/streams/capture.h"

using namespace heddle::runtime;

namespace {

bool known(cudaStreamCaptureMode mode) {
  return mode == cudaStreamCaptureModeGlobal || mode == cudaStreamCaptureModeThreadLocal ||
         mode == cudaStreamCaptureModeRelaxed;
}

/// `graph` null: a new one.
cudaError_t begin(
    Runtime& rt,
    cudaStream_t handle,
    GraphPtr graph,
    std::vector<std::uint64_t> after,
    cudaStreamCaptureMode mode
) {
  const auto stream = rt.stream(handle);
  if (!stream) {
    return stream.error();
  }
  if (!known(mode)) {
    return cudaErrorInvalidValue;
  }
  if ((*stream)->legacy) {
    return cudaErrorStreamCaptureUnsupported;
  }
  if ((*stream)->capture != nullptr) {
    return cudaErrorIllegalState;
  }
  if (graph == nullptr) {
    graph = rt.graphs().create();
  }
  const std::uint64_t id = rt.graphs().next_capture();
  const auto capture = std::make_shared<Capture>(rt, std::move(graph), mode, id);
  capture->start(*stream, std::move(after));
  rt.graphs().begin(capture);
  return cudaSuccess;
}

/// For questions: the stream, unless it is the legacy one while that may not be used.
tl::expected<StreamPtr, cudaError_t> stream_to_ask(Runtime& rt, cudaStream_t handle) {
  auto stream = rt.stream(handle);
  if (stream && (*stream)->legacy && rt.graphs().blocking_capture((*stream)->device)) {
    return tl::unexpected(cudaErrorStreamCaptureImplicit);
  }
  return stream;
}

cudaStreamCaptureStatus status_of(const CapturePtr& capture) {
  return capture == nullptr   ? cudaStreamCaptureStatusNone
         : capture->invalid() ? cudaStreamCaptureStatusInvalidated
                              : cudaStreamCaptureStatusActive;
}

} // namespace

#pragma GCC visibility push(default)
extern "C" {

cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode mode) {
  return api("cudaStreamBeginCapture", [&](Runtime& rt, ThreadState&) {
    const auto held = rt.graphs().lock();
    return begin(rt, stream, nullptr, {}, mode);
  });
}
cudaError_t cudaStreamBeginCapture_ptsz(cudaStream_t stream, cudaStreamCaptureMode mode) {
  return cudaStreamBeginCapture(per_thread(stream), mode);
}

cudaError_t cudaStreamBeginCaptureToGraph(
    cudaStream_t stream,
    cudaGraph_t graph_handle,
    const cudaGraphNode_t* dependencies,
    const cudaGraphEdgeData* /*data*/,
    std::size_t n,
    cudaStreamCaptureMode mode
) {
  return api("cudaStreamBeginCaptureToGraph", [&](Runtime& rt, ThreadState&) {
    const auto held = rt.graphs().lock();
    GraphPtr graph = rt.graphs().find(graph_handle);
    if (graph == nullptr || (n != 0 && dependencies == nullptr)) {
      return cudaErrorInvalidValue;
    }
    std::vector<std::uint64_t> after;
    for (std::size_t i = 0; i < n; ++i) {
      const NodePtr node = rt.graphs().find(dependencies[i]);
      if (node == nullptr || node->graph != graph.get()) {
        return cudaErrorInvalidValue;
      }
      after.push_back(node->id);
    }
    const cudaError_t error = begin(rt, stream, std::move(graph), std::move(after), mode);
    if (error == cudaSuccess) {
      capture_of(**rt.stream(stream))->into_given_graph();
    }
    return error;
  });
}
cudaError_t cudaStreamBeginCaptureToGraph_ptsz(
    cudaStream_t stream,
    cudaGraph_t graph,
    const cudaGraphNode_t* dependencies,
    const cudaGraphEdgeData* data,
    std::size_t n,
    cudaStreamCaptureMode mode
) {
  return cudaStreamBeginCaptureToGraph(per_thread(stream), graph, dependencies, data, n, mode);
}

cudaError_t cudaStreamEndCapture(cudaStream_t handle, cudaGraph_t* graph) {
  return api("cudaStreamEndCapture", [&](Runtime& rt, ThreadState&) {
    const auto held = rt.graphs().lock();
    const auto stream = rt.stream(handle);
    if (!stream) {
      return stream.error();
    }
    const CapturePtr capture = capture_of(**stream);
    // Of a graph that was given the program has the handle already.
    const bool given = capture != nullptr && capture->given_graph();
    if (graph == nullptr && !given) {
      return cudaErrorInvalidValue;
    }
    if (graph != nullptr) {
      *graph = nullptr;
    }
    if (capture == nullptr) {
      return cudaErrorIllegalState;
    }
    if (!capture->origin(**stream)) {
      capture->invalidate();
      return cudaErrorStreamCaptureUnmatched;
    }
    if (capture->mode() != cudaStreamCaptureModeRelaxed && !capture->by_this_thread()) {
      return cudaErrorStreamCaptureWrongThread;
    }
    if (const cudaError_t error = capture->finish(); error != cudaSuccess) {
      if (!given) {
        rt.graphs().destroy(capture->graph());
      }
      return error;
    }
    if (graph != nullptr) {
      *graph = capture->graph()->handle();
    }
    return cudaSuccess;
  });
}
cudaError_t cudaStreamEndCapture_ptsz(cudaStream_t stream, cudaGraph_t* graph) {
  return cudaStreamEndCapture(per_thread(stream), graph);
}

cudaError_t cudaStreamIsCapturing(cudaStream_t handle, cudaStreamCaptureStatus* status) {
  return api("cudaStreamIsCapturing", [&](Runtime& rt, ThreadState&) {
    const auto held = rt.graphs().lock();
    if (status == nullptr) {
      return cudaErrorInvalidValue;
    }
    const auto stream = stream_to_ask(rt, handle);
    if (!stream) {
      return stream.error();
    }
    *status = status_of(capture_of(**stream));
    return cudaSuccess;
  });
}
cudaError_t cudaStreamIsCapturing_ptsz(cudaStream_t stream, cudaStreamCaptureStatus* status) {
  return cudaStreamIsCapturing(per_thread(stream), status);
}

cudaError_t cudaStreamGetCaptureInfo(
    cudaStream_t handle,
    cudaStreamCaptureStatus* status,
    unsigned long long* id,
    cudaGraph_t* graph,
    const cudaGraphNode_t** dependencies,
    const cudaGraphEdgeData** data,
    std::size_t* n
) {
  return api("cudaStreamGetCaptureInfo", [&](Runtime& rt, ThreadState&) {
    const auto held = rt.graphs().lock();
    if (status == nullptr) {
      return cudaErrorInvalidValue;
    }
    const auto stream = stream_to_ask(rt, handle);
    if (!stream) {
      return stream.error();
    }
    const CapturePtr capture = capture_of(**stream);
    *status = status_of(capture);
    if (*status != cudaStreamCaptureStatusActive) {
      return cudaSuccess;
    }
    const std::vector<cudaGraphNode_t>& tail = capture->tail_handles(**stream);
    if (id != nullptr) {
      *id = capture->id();
    }
    if (graph != nullptr) {
      *graph = capture->graph()->handle();
    }
    if (dependencies != nullptr) {
      *dependencies = tail.data();
    }
    if (data != nullptr) {
      *data = capture->tail_edges().data();
    }
    if (n != nullptr) {
      *n = tail.size();
    }
    return cudaSuccess;
  });
}
cudaError_t cudaStreamGetCaptureInfo_ptsz(
    cudaStream_t stream,
    cudaStreamCaptureStatus* status,
    unsigned long long* id,
    cudaGraph_t* graph,
    const cudaGraphNode_t** dependencies,
    const cudaGraphEdgeData** data,
    std::size_t* n
) {
  return cudaStreamGetCaptureInfo(per_thread(stream), status, id, graph, dependencies, data, n);
}

cudaError_t cudaStreamUpdateCaptureDependencies(
    cudaStream_t handle,
    cudaGraphNode_t* dependencies,
    const cudaGraphEdgeData* /*data*/,
    std::size_t n,
    unsigned int flags
) {
  return api("cudaStreamUpdateCaptureDependencies", [&](Runtime& rt, ThreadState&) {
    const auto held = rt.graphs().lock();
    const auto stream = rt.stream(handle);
    if (!stream) {
      return stream.error();
    }
    const CapturePtr capture = capture_of(**stream);
    if (capture == nullptr) {
      return cudaErrorIllegalState;
    }
    if (capture->invalid()) {
      return cudaErrorStreamCaptureInvalidated;
    }
    if ((n != 0 && dependencies == nullptr) ||
        (flags != cudaStreamAddCaptureDependencies && flags != cudaStreamSetCaptureDependencies)) {
      return cudaErrorInvalidValue;
    }
    std::set<std::uint64_t> tail;
    for (std::size_t i = 0; i < n; ++i) {
      const NodePtr node = rt.graphs().find(dependencies[i]);
      if (node == nullptr || node->graph != capture->graph().get()) {
        return cudaErrorInvalidValue;
      }
      tail.insert(node->id);
    }
    if (flags == cudaStreamSetCaptureDependencies) {
      capture->tail(**stream).clear();
    }
    capture->tail(**stream).merge(tail);
    return cudaSuccess;
  });
}
cudaError_t cudaStreamUpdateCaptureDependencies_ptsz(
    cudaStream_t stream,
    cudaGraphNode_t* dependencies,
    const cudaGraphEdgeData* data,
    std::size_t n,
    unsigned int flags
) {
  return cudaStreamUpdateCaptureDependencies(per_thread(stream), dependencies, data, n, flags);
}

cudaError_t cudaThreadExchangeStreamCaptureMode(cudaStreamCaptureMode* mode) {
  return api("cudaThreadExchangeStreamCaptureMode", [&](Runtime&, ThreadState& thread) {
    if (mode == nullptr || !known(*mode)) {
      return cudaErrorInvalidValue;
    }
    std::swap(*mode, thread.capture_mode);
    return cudaSuccess;
  });
}

} // extern "C"
#pragma GCC visibility pop
