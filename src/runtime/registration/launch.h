// Launches: what must hold of a launch on the virtual device, and the kernel's parameter block.
//
// The error for each kind of bad launch is as measured on an H200 with CUDA 13.0, where (other than
// before) a grid or block that is empty or too large is cudaErrorInvalidValue.
#pragma once

#include "runtime/runtime.h"

#include <optional>
#include <span>

namespace heddle::runtime {

struct LaunchRequest {
  const void* function = nullptr; // host stub, cudaKernel_t or cudaFunction_t
  dim3 grid, block;
  std::size_t shared = 0;
  void** arguments = nullptr;
  std::optional<std::span<const std::byte>> packed; // in place of arguments: laid out already
  std::span<const cudaLaunchAttribute> attributes;
  bool cooperative = false;
  bool of_graph = false; // a node, which may be launched later, or never
};

/// What the list CU_LAUNCH_PARAM_… (`extra` of a driver's launch) describes.
tl::expected<std::span<const std::byte>, cudaError_t> packed_arguments(void** extra);

/// Checks a request and lays out its parameters.
tl::expected<KernelLaunch, cudaError_t>
prepare_launch(Runtime& rt, const LaunchRequest& request, int device);

/// prepare_launch, enqueue, and what attributes ask for around it.
cudaError_t
launch(Runtime& rt, const LaunchRequest& request, cudaStream_t stream, const char* what);

/// A kernel by host stub or handle: 98 for null, 400 for something that is neither.
tl::expected<Function*, cudaError_t> find_function(Runtime& rt, const void* function);

/// The largest dynamic shared memory that a launch of it may ask for now.
int max_dynamic_shared(const Runtime& rt, const Function& function, const isa::Kernel& kernel);
/// Largest number of threads its compilation allows (__launch_bounds__).
std::uint32_t max_threads(const Runtime& rt, const isa::Kernel& kernel);

} // namespace heddle::runtime
