// libcudart.so.12: what differs from the interface of CUDA 13, on which everything else is built.
//
// CMake renames the entry points of the 13 library whose signature is new (rename.txt) to the names
// that CUDA 12 has for the new signature; this file adds the old signatures under the old names.
// The names go through assembler labels, because NVIDIA's header declares them with the new
// signature.
#include "runtime/called_as.h"
#include "runtime/diagnostics/outcome.h"
#include "runtime/runtime.h"
#include "runtime/version.h"

#include <cstring>

#define HEDDLE_NAMED(name) __asm__(name) __attribute__((visibility("default")))

namespace {

// glibc gives a constructor what main gets.
__attribute__((constructor)) void loaded(int, char** argv, char**) {
  heddle::runtime::set_called_as(argv);
  heddle::runtime::install_exit_handler();
}

/// cudaDeviceProp as CUDA 12 declares it.
struct DeviceProp12 {
#define HEDDLE_MEMBER(type, name, count) type name[count];
#define HEDDLE_MEMBER_OLD(type, name, attribute) type name[1];
#define HEDDLE_MEMBER_UNSET(type, name, count) type name[count];
#include "runtime/cudart12/device_prop.def"
#undef HEDDLE_MEMBER
#undef HEDDLE_MEMBER_OLD
#undef HEDDLE_MEMBER_UNSET
};
static_assert(sizeof(DeviceProp12) == 1032);

cudaMemLocation location_of(int device) {
  cudaMemLocation location{};
  location.type = device == cudaCpuDeviceId ? cudaMemLocationTypeHost : cudaMemLocationTypeDevice;
  location.id = device == cudaCpuDeviceId ? 0 : device;
  return location;
}

} // namespace

namespace heddle::runtime {

int cudart_version() {
  return 12090;
}

} // namespace heddle::runtime

extern "C" {

// --- What the 13 library provides, under the names it has here
cudaError_t device_properties_13(cudaDeviceProp*, int) __asm__("heddle_cudaGetDeviceProperties_13");
cudaError_t mem_advise_v2(const void*, std::size_t, cudaMemoryAdvise, cudaMemLocation) __asm__(
    "cudaMemAdvise_v2"
);
cudaError_t
mem_prefetch_v2(const void*, std::size_t, cudaMemLocation, unsigned, cudaStream_t) __asm__(
    "cudaMemPrefetchAsync_v2"
);
cudaError_t add_dependencies_v2(
    cudaGraph_t,
    const cudaGraphNode_t*,
    const cudaGraphNode_t*,
    const cudaGraphEdgeData*,
    std::size_t
) __asm__("cudaGraphAddDependencies_v2");
cudaError_t remove_dependencies_v2(
    cudaGraph_t,
    const cudaGraphNode_t*,
    const cudaGraphNode_t*,
    const cudaGraphEdgeData*,
    std::size_t
) __asm__("cudaGraphRemoveDependencies_v2");
cudaError_t add_node_v2(
    cudaGraphNode_t*,
    cudaGraph_t,
    const cudaGraphNode_t*,
    const cudaGraphEdgeData*,
    std::size_t,
    cudaGraphNodeParams*
) __asm__("cudaGraphAddNode_v2");
cudaError_t get_edges_v2(
    cudaGraph_t,
    cudaGraphNode_t*,
    cudaGraphNode_t*,
    cudaGraphEdgeData*,
    std::size_t*
) __asm__("cudaGraphGetEdges_v2");
cudaError_t
get_dependencies_v2(cudaGraphNode_t, cudaGraphNode_t*, cudaGraphEdgeData*, std::size_t*) __asm__(
    "cudaGraphNodeGetDependencies_v2"
);
cudaError_t
get_dependent_nodes_v2(cudaGraphNode_t, cudaGraphNode_t*, cudaGraphEdgeData*, std::size_t*) __asm__(
    "cudaGraphNodeGetDependentNodes_v2"
);
cudaError_t copy_attributes_13(cudaGraphNode_t, cudaGraphNode_t) __asm__(
    "heddle_cudaGraphKernelNodeCopyAttributes_13"
);
cudaError_t capture_info_v3(
    cudaStream_t,
    cudaStreamCaptureStatus*,
    unsigned long long*,
    cudaGraph_t*,
    const cudaGraphNode_t**,
    const cudaGraphEdgeData**,
    std::size_t*
) __asm__("cudaStreamGetCaptureInfo_v3");
cudaError_t update_capture_v2(
    cudaStream_t,
    cudaGraphNode_t*,
    const cudaGraphEdgeData*,
    std::size_t,
    unsigned
) __asm__("cudaStreamUpdateCaptureDependencies_v2");

// --- Device properties
cudaError_t device_properties_12(DeviceProp12*, int) HEDDLE_NAMED("cudaGetDeviceProperties_v2");
cudaError_t device_properties_12(DeviceProp12* properties, int device) {
  using heddle::runtime::device_attribute;
  cudaDeviceProp now;
  const cudaError_t error = device_properties_13(properties == nullptr ? nullptr : &now, device);
  if (error != cudaSuccess) {
    return error;
  }
  std::memset(properties, 0, sizeof *properties);
  const auto& model = heddle::runtime::Runtime::get().model();
#define HEDDLE_MEMBER(type, name, count)                                                           \
  std::memcpy(&properties->name, &now.name, sizeof properties->name);
#define HEDDLE_MEMBER_OLD(type, name, attribute)                                                   \
  properties->name[0] = device_attribute(model, cudaDevAttr##attribute, device).value_or(0);
#define HEDDLE_MEMBER_UNSET(type, name, count)
#include "runtime/cudart12/device_prop.def"
#undef HEDDLE_MEMBER
#undef HEDDLE_MEMBER_OLD
#undef HEDDLE_MEMBER_UNSET
  return cudaSuccess;
}

// --- Managed memory
cudaError_t
mem_advise_12(const void*, std::size_t, cudaMemoryAdvise, int) HEDDLE_NAMED("cudaMemAdvise");
cudaError_t mem_advise_12(const void* p, std::size_t bytes, cudaMemoryAdvise advice, int device) {
  return mem_advise_v2(p, bytes, advice, location_of(device));
}

cudaError_t
mem_prefetch_12(const void*, std::size_t, int, cudaStream_t) HEDDLE_NAMED("cudaMemPrefetchAsync");
cudaError_t mem_prefetch_12(const void* p, std::size_t bytes, int device, cudaStream_t stream) {
  return mem_prefetch_v2(p, bytes, location_of(device), 0, stream);
}

cudaError_t mem_prefetch_12_ptsz(const void*, std::size_t, int, cudaStream_t) HEDDLE_NAMED(
    "cudaMemPrefetchAsync_ptsz"
);
cudaError_t
mem_prefetch_12_ptsz(const void* p, std::size_t bytes, int device, cudaStream_t stream) {
  return mem_prefetch_12(p, bytes, device, heddle::runtime::per_thread(stream));
}

// --- Graphs: without data on edges
cudaError_t add_dependencies_12(
    cudaGraph_t,
    const cudaGraphNode_t*,
    const cudaGraphNode_t*,
    std::size_t
) HEDDLE_NAMED("cudaGraphAddDependencies");
cudaError_t add_dependencies_12(
    cudaGraph_t graph,
    const cudaGraphNode_t* from,
    const cudaGraphNode_t* to,
    std::size_t count
) {
  return add_dependencies_v2(graph, from, to, nullptr, count);
}

cudaError_t remove_dependencies_12(
    cudaGraph_t,
    const cudaGraphNode_t*,
    const cudaGraphNode_t*,
    std::size_t
) HEDDLE_NAMED("cudaGraphRemoveDependencies");
cudaError_t remove_dependencies_12(
    cudaGraph_t graph,
    const cudaGraphNode_t* from,
    const cudaGraphNode_t* to,
    std::size_t count
) {
  return remove_dependencies_v2(graph, from, to, nullptr, count);
}

cudaError_t add_node_12(
    cudaGraphNode_t*,
    cudaGraph_t,
    const cudaGraphNode_t*,
    std::size_t,
    cudaGraphNodeParams*
) HEDDLE_NAMED("cudaGraphAddNode");
cudaError_t add_node_12(
    cudaGraphNode_t* node,
    cudaGraph_t graph,
    const cudaGraphNode_t* dependencies,
    std::size_t count,
    cudaGraphNodeParams* parameters
) {
  return add_node_v2(node, graph, dependencies, nullptr, count, parameters);
}

cudaError_t
get_edges_12(cudaGraph_t, cudaGraphNode_t*, cudaGraphNode_t*, std::size_t*) HEDDLE_NAMED(
    "cudaGraphGetEdges"
);
cudaError_t
get_edges_12(cudaGraph_t graph, cudaGraphNode_t* from, cudaGraphNode_t* to, std::size_t* count) {
  return get_edges_v2(graph, from, to, nullptr, count);
}

cudaError_t get_dependencies_12(cudaGraphNode_t, cudaGraphNode_t*, std::size_t*) HEDDLE_NAMED(
    "cudaGraphNodeGetDependencies"
);
cudaError_t
get_dependencies_12(cudaGraphNode_t node, cudaGraphNode_t* dependencies, std::size_t* count) {
  return get_dependencies_v2(node, dependencies, nullptr, count);
}

cudaError_t get_dependent_nodes_12(cudaGraphNode_t, cudaGraphNode_t*, std::size_t*) HEDDLE_NAMED(
    "cudaGraphNodeGetDependentNodes"
);
cudaError_t
get_dependent_nodes_12(cudaGraphNode_t node, cudaGraphNode_t* dependents, std::size_t* count) {
  return get_dependent_nodes_v2(node, dependents, nullptr, count);
}

// CUDA 13 swapped the two.
cudaError_t copy_attributes_12(cudaGraphNode_t, cudaGraphNode_t) HEDDLE_NAMED(
    "cudaGraphKernelNodeCopyAttributes"
);
cudaError_t copy_attributes_12(cudaGraphNode_t source, cudaGraphNode_t destination) {
  return copy_attributes_13(destination, source);
}

// --- Capture
cudaError_t
capture_info_12(cudaStream_t, cudaStreamCaptureStatus*, unsigned long long*) HEDDLE_NAMED(
    "cudaStreamGetCaptureInfo"
);
cudaError_t
capture_info_12(cudaStream_t stream, cudaStreamCaptureStatus* status, unsigned long long* id) {
  return capture_info_v3(stream, status, id, nullptr, nullptr, nullptr, nullptr);
}

cudaError_t
capture_info_12_ptsz(cudaStream_t, cudaStreamCaptureStatus*, unsigned long long*) HEDDLE_NAMED(
    "cudaStreamGetCaptureInfo_ptsz"
);
cudaError_t
capture_info_12_ptsz(cudaStream_t stream, cudaStreamCaptureStatus* status, unsigned long long* id) {
  return capture_info_12(heddle::runtime::per_thread(stream), status, id);
}

cudaError_t capture_info_v2(
    cudaStream_t,
    cudaStreamCaptureStatus*,
    unsigned long long*,
    cudaGraph_t*,
    const cudaGraphNode_t**,
    std::size_t*
) HEDDLE_NAMED("cudaStreamGetCaptureInfo_v2");
cudaError_t capture_info_v2(
    cudaStream_t stream,
    cudaStreamCaptureStatus* status,
    unsigned long long* id,
    cudaGraph_t* graph,
    const cudaGraphNode_t** dependencies,
    std::size_t* count
) {
  return capture_info_v3(stream, status, id, graph, dependencies, nullptr, count);
}

cudaError_t capture_info_v2_ptsz(
    cudaStream_t,
    cudaStreamCaptureStatus*,
    unsigned long long*,
    cudaGraph_t*,
    const cudaGraphNode_t**,
    std::size_t*
) HEDDLE_NAMED("cudaStreamGetCaptureInfo_v2_ptsz");
cudaError_t capture_info_v2_ptsz(
    cudaStream_t stream,
    cudaStreamCaptureStatus* status,
    unsigned long long* id,
    cudaGraph_t* graph,
    const cudaGraphNode_t** dependencies,
    std::size_t* count
) {
  return capture_info_v2(
      heddle::runtime::per_thread(stream),
      status,
      id,
      graph,
      dependencies,
      count
  );
}

cudaError_t update_capture_12(cudaStream_t, cudaGraphNode_t*, std::size_t, unsigned) HEDDLE_NAMED(
    "cudaStreamUpdateCaptureDependencies"
);
cudaError_t update_capture_12(
    cudaStream_t stream,
    cudaGraphNode_t* dependencies,
    std::size_t count,
    unsigned flags
) {
  return update_capture_v2(stream, dependencies, nullptr, count, flags);
}

cudaError_t
update_capture_12_ptsz(cudaStream_t, cudaGraphNode_t*, std::size_t, unsigned) HEDDLE_NAMED(
    "cudaStreamUpdateCaptureDependencies_ptsz"
);
cudaError_t update_capture_12_ptsz(
    cudaStream_t stream,
    cudaGraphNode_t* dependencies,
    std::size_t count,
    unsigned flags
) {
  return update_capture_12(heddle::runtime::per_thread(stream), dependencies, count, flags);
}

// --- Batches: which element was refused is never known, which these forms may say
cudaError_t batch_13(
    void* const*,
    const void* const*,
    const std::size_t*,
    std::size_t,
    cudaMemcpyAttributes*,
    std::size_t*,
    std::size_t,
    cudaStream_t
) __asm__("heddle_cudaMemcpyBatchAsync_13");
cudaError_t
batch_3d_13(std::size_t, cudaMemcpy3DBatchOp*, unsigned long long, cudaStream_t) __asm__(
    "heddle_cudaMemcpy3DBatchAsync_13"
);

cudaError_t batch_12(
    void**,
    void**,
    std::size_t*,
    std::size_t,
    cudaMemcpyAttributes*,
    std::size_t*,
    std::size_t,
    std::size_t*,
    cudaStream_t
) HEDDLE_NAMED("cudaMemcpyBatchAsync");
cudaError_t batch_12(
    void** to,
    void** from,
    std::size_t* sizes,
    std::size_t count,
    cudaMemcpyAttributes* attributes,
    std::size_t* starts,
    std::size_t attribute_count,
    std::size_t* failed,
    cudaStream_t stream
) {
  if (failed != nullptr) {
    *failed = ~std::size_t{0};
  }
  return batch_13(to, from, sizes, count, attributes, starts, attribute_count, stream);
}

cudaError_t batch_12_ptsz(
    void**,
    void**,
    std::size_t*,
    std::size_t,
    cudaMemcpyAttributes*,
    std::size_t*,
    std::size_t,
    std::size_t*,
    cudaStream_t
) HEDDLE_NAMED("cudaMemcpyBatchAsync_ptsz");
cudaError_t batch_12_ptsz(
    void** to,
    void** from,
    std::size_t* sizes,
    std::size_t count,
    cudaMemcpyAttributes* attributes,
    std::size_t* starts,
    std::size_t attribute_count,
    std::size_t* failed,
    cudaStream_t stream
) {
  stream = heddle::runtime::per_thread(stream);
  return batch_12(to, from, sizes, count, attributes, starts, attribute_count, failed, stream);
}

cudaError_t batch_3d_12(
    std::size_t,
    cudaMemcpy3DBatchOp*,
    std::size_t*,
    unsigned long long,
    cudaStream_t
) HEDDLE_NAMED("cudaMemcpy3DBatchAsync");
cudaError_t batch_3d_12(
    std::size_t count,
    cudaMemcpy3DBatchOp* list,
    std::size_t* failed,
    unsigned long long flags,
    cudaStream_t stream
) {
  if (failed != nullptr) {
    *failed = ~std::size_t{0};
  }
  return batch_3d_13(count, list, flags, stream);
}

cudaError_t batch_3d_12_ptsz(
    std::size_t,
    cudaMemcpy3DBatchOp*,
    std::size_t*,
    unsigned long long,
    cudaStream_t
) HEDDLE_NAMED("cudaMemcpy3DBatchAsync_ptsz");
cudaError_t batch_3d_12_ptsz(
    std::size_t count,
    cudaMemcpy3DBatchOp* list,
    std::size_t* failed,
    unsigned long long flags,
    cudaStream_t stream
) {
  return batch_3d_12(count, list, failed, flags, heddle::runtime::per_thread(stream));
}

// --- Names that are gone in 13
#pragma GCC visibility push(default)

cudaError_t cudaEventElapsedTime_v2(float* milliseconds, cudaEvent_t start, cudaEvent_t end) {
  return cudaEventElapsedTime(milliseconds, start, end);
}

cudaError_t cudaThreadExit() {
  return cudaDeviceReset();
}
cudaError_t cudaThreadSynchronize() {
  return cudaDeviceSynchronize();
}
cudaError_t cudaThreadGetCacheConfig(cudaFuncCache* config) {
  return cudaDeviceGetCacheConfig(config);
}
cudaError_t cudaThreadSetCacheConfig(cudaFuncCache config) {
  return cudaDeviceSetCacheConfig(config);
}
cudaError_t cudaThreadGetLimit(std::size_t* value, cudaLimit limit) {
  return cudaDeviceGetLimit(value, limit);
}
cudaError_t cudaThreadSetLimit(cudaLimit limit, std::size_t value) {
  return cudaDeviceSetLimit(limit, value);
}
// For devices without double precision, which are long gone: nothing to convert.
cudaError_t cudaSetDoubleForDevice(double* /*d*/) {
  return cudaSuccess;
}
cudaError_t cudaSetDoubleForHost(double* /*d*/) {
  return cudaSuccess;
}

#pragma GCC visibility pop
} // extern "C"
