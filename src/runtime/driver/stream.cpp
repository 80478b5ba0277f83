// The driver API: streams, events, capture.
#include "runtime/driver/driver.h"

using namespace heddle::runtime;

static_assert(sizeof(CUgraphEdgeData) == sizeof(cudaGraphEdgeData), "edges are the runtime's");
static_assert(sizeof(CUlaunchAttributeValue) == sizeof(cudaLaunchAttributeValue), "attributes too");

namespace {

template <class To, class From> To* as(From* p) {
  return reinterpret_cast<To*>(p);
}

cudaError_t context_of(CUstream stream, CUcontext* result, CUgreenCtx* green = nullptr) {
  int device = 0;
  if (green != nullptr) {
    *green = nullptr; // there are none
  }
  if (result == nullptr) {
    return cudaErrorInvalidValue;
  }
  if (const cudaError_t error = cudaStreamGetDevice(stream, &device); error != cudaSuccess) {
    return error;
  }
  // Streams know their device only; a thread that made one asks with its own context, as a rule.
  Contexts& contexts = Runtime::get().contexts();
  const Context* mine = contexts.current(thread_state());
  *result = handle_of(mine->device == device ? mine : &contexts.primary(device));
  return cudaSuccess;
}

/// Without data on edges the parameter is null.
cudaError_t capture_info(
    CUstream stream,
    CUstreamCaptureStatus* status,
    cuuint64_t* id,
    CUgraph* graph,
    const CUgraphNode** after,
    const CUgraphEdgeData** edges,
    std::size_t* count
) {
  return cudaStreamGetCaptureInfo(
      stream,
      as<cudaStreamCaptureStatus>(status),
      as<unsigned long long>(id),
      graph,
      after,
      as<const cudaGraphEdgeData*>(edges),
      count
  );
}

} // namespace

#pragma GCC visibility push(default)
extern "C" {

// clang-format off
HEDDLE_DRIVER(cuStreamCreate, cudaStreamCreateWithFlags(stream, flags), CUstream* stream, unsigned flags)
HEDDLE_DRIVER(cuStreamCreateWithPriority, cudaStreamCreateWithPriority(stream, flags, priority),
    CUstream* stream, unsigned flags, int priority)
HEDDLE_DRIVER(cuStreamDestroy_v2, cudaStreamDestroy(stream), CUstream stream)
HEDDLE_DRIVER_STREAM(cuStreamGetPriority, cudaStreamGetPriority(stream, priority), CUstream stream, int* priority)
HEDDLE_DRIVER_STREAM(cuStreamGetFlags, cudaStreamGetFlags(stream, flags), CUstream stream, unsigned* flags)
HEDDLE_DRIVER_STREAM(cuStreamGetId, cudaStreamGetId(stream, id), CUstream stream, unsigned long long* id)
HEDDLE_DRIVER_STREAM(cuStreamGetDevice, cudaStreamGetDevice(stream, device), CUstream stream, CUdevice* device)
HEDDLE_DRIVER_STREAM(cuStreamGetCtx, context_of(stream, context), CUstream stream, CUcontext* context)
HEDDLE_DRIVER_STREAM(cuStreamGetCtx_v2, context_of(stream, context, green),
    CUstream stream, CUcontext* context, CUgreenCtx* green)
HEDDLE_DRIVER_STREAM(cuStreamWaitEvent, cudaStreamWaitEvent(stream, event, flags),
    CUstream stream, CUevent event, unsigned flags)
HEDDLE_DRIVER_STREAM(cuStreamAddCallback,
    cudaStreamAddCallback(stream, reinterpret_cast<cudaStreamCallback_t>(call), data, flags),
    CUstream stream, CUstreamCallback call, void* data, unsigned flags)
HEDDLE_DRIVER_STREAM(cuStreamAttachMemAsync, cudaStreamAttachMemAsync(stream, pointer(p), bytes, flags),
    CUstream stream, CUdeviceptr p, std::size_t bytes, unsigned flags)
HEDDLE_DRIVER_STREAM(cuStreamQuery, cudaStreamQuery(stream), CUstream stream)
HEDDLE_DRIVER_STREAM(cuStreamSynchronize, cudaStreamSynchronize(stream), CUstream stream)
HEDDLE_DRIVER_STREAM(cuStreamSetAttribute,
    cudaStreamSetAttribute(stream, static_cast<cudaStreamAttrID>(attribute), as<const cudaStreamAttrValue>(value)),
    CUstream stream, CUstreamAttrID attribute, const CUstreamAttrValue* value)
HEDDLE_DRIVER_STREAM(cuStreamGetAttribute,
    cudaStreamGetAttribute(stream, static_cast<cudaStreamAttrID>(attribute), as<cudaStreamAttrValue>(value)),
    CUstream stream, CUstreamAttrID attribute, CUstreamAttrValue* value)
HEDDLE_DRIVER_STREAM(cuStreamCopyAttributes, cudaStreamCopyAttributes(stream, from), CUstream stream, CUstream from)

HEDDLE_DRIVER(cuEventCreate, cudaEventCreateWithFlags(event, flags), CUevent* event, unsigned flags)
HEDDLE_DRIVER(cuEventDestroy_v2, cudaEventDestroy(event), CUevent event)
HEDDLE_DRIVER_STREAM(cuEventRecord, cudaEventRecord(event, stream), CUevent event, CUstream stream)
HEDDLE_DRIVER_STREAM(cuEventRecordWithFlags, cudaEventRecordWithFlags(event, stream, flags),
    CUevent event, CUstream stream, unsigned flags)
HEDDLE_DRIVER(cuEventQuery, cudaEventQuery(event), CUevent event)
HEDDLE_DRIVER(cuEventSynchronize, cudaEventSynchronize(event), CUevent event)
HEDDLE_DRIVER(cuEventElapsedTime_v2, cudaEventElapsedTime(milliseconds, start, end),
    float* milliseconds, CUevent start, CUevent end)
#undef cuEventElapsedTime
HEDDLE_DRIVER(cuEventElapsedTime, cudaEventElapsedTime(milliseconds, start, end),
    float* milliseconds, CUevent start, CUevent end)

HEDDLE_DRIVER_STREAM(cuStreamBeginCapture_v2,
    cudaStreamBeginCapture(stream, static_cast<cudaStreamCaptureMode>(mode)), CUstream stream, CUstreamCaptureMode mode)
HEDDLE_DRIVER_STREAM(cuStreamBeginCaptureToGraph,
    cudaStreamBeginCaptureToGraph(stream, graph, after, as<const cudaGraphEdgeData>(edges), count,
        static_cast<cudaStreamCaptureMode>(mode)),
    CUstream stream, CUgraph graph, const CUgraphNode* after, const CUgraphEdgeData* edges, std::size_t count,
    CUstreamCaptureMode mode)
HEDDLE_DRIVER_STREAM(cuStreamEndCapture, cudaStreamEndCapture(stream, graph), CUstream stream, CUgraph* graph)
HEDDLE_DRIVER_STREAM(cuStreamIsCapturing, cudaStreamIsCapturing(stream, as<cudaStreamCaptureStatus>(status)),
    CUstream stream, CUstreamCaptureStatus* status)
HEDDLE_DRIVER_STREAM(cuStreamGetCaptureInfo_v2, capture_info(stream, status, id, graph, after, nullptr, count),
    CUstream stream, CUstreamCaptureStatus* status, cuuint64_t* id, CUgraph* graph, const CUgraphNode** after,
    std::size_t* count)
HEDDLE_DRIVER_STREAM(cuStreamGetCaptureInfo_v3, capture_info(stream, status, id, graph, after, edges, count),
    CUstream stream, CUstreamCaptureStatus* status, cuuint64_t* id, CUgraph* graph, const CUgraphNode** after,
    const CUgraphEdgeData** edges, std::size_t* count)
HEDDLE_DRIVER_STREAM(cuStreamUpdateCaptureDependencies_v2,
    cudaStreamUpdateCaptureDependencies(stream, after, as<const cudaGraphEdgeData>(edges), count, flags),
    CUstream stream, CUgraphNode* after, const CUgraphEdgeData* edges, std::size_t count, unsigned flags)
// The forms of CUDA 12.
#undef cuStreamGetCaptureInfo
HEDDLE_DRIVER_STREAM(cuStreamGetCaptureInfo, capture_info(stream, status, id, nullptr, nullptr, nullptr, nullptr),
    CUstream stream, CUstreamCaptureStatus* status, cuuint64_t* id)
#undef cuStreamUpdateCaptureDependencies
HEDDLE_DRIVER_STREAM(cuStreamUpdateCaptureDependencies,
    cudaStreamUpdateCaptureDependencies(stream, after, nullptr, count, flags),
    CUstream stream, CUgraphNode* after, std::size_t count, unsigned flags)
HEDDLE_DRIVER(cuThreadExchangeStreamCaptureMode,
    cudaThreadExchangeStreamCaptureMode(as<cudaStreamCaptureMode>(mode)), CUstreamCaptureMode* mode)
// clang-format on

} // extern "C"
#pragma GCC visibility pop
