// Launches and what can be asked about kernels.
//
// Not knowable from PTX and therefore answered with a plausible constant: registers per thread,
// bytes of constant bank and of local memory.
#include "runtime/registration/launch.h"

#include <algorithm>

using namespace heddle::runtime;

namespace {

constexpr int assumed_registers = 32;

cudaError_t launch_plain(
    const void* function,
    dim3 grid,
    dim3 block,
    void** arguments,
    std::size_t shared,
    cudaStream_t stream,
    bool cooperative,
    const char* what
) {
  return api(what, [&](Runtime& rt, ThreadState&) {
    LaunchRequest request;
    request.function = function;
    request.grid = grid;
    request.block = block;
    request.shared = shared;
    request.arguments = arguments;
    request.cooperative = cooperative;
    return launch(rt, request, stream, what);
  });
}

cudaError_t set_attribute(
    Runtime& rt,
    Function& function,
    const heddle::isa::Kernel& kernel,
    cudaFuncAttribute attribute,
    int value
) {
  switch (attribute) {
  case cudaFuncAttributeMaxDynamicSharedMemorySize:
    if (value < 0 ||
        value > static_cast<int>(rt.model().shared_per_block_optin - kernel.static_shared_bytes)) {
      return cudaErrorInvalidValue;
    }
    function.max_dynamic_shared = value;
    return cudaSuccess;
  case cudaFuncAttributePreferredSharedMemoryCarveout:
    if (value < -1 || value > 100) {
      return cudaErrorInvalidValue;
    }
    function.carveout = value;
    return cudaSuccess;
  case cudaFuncAttributeRequiredClusterWidth:
  case cudaFuncAttributeRequiredClusterHeight:
  case cudaFuncAttributeRequiredClusterDepth:
    if (value < 0 || kernel.function->req_cluster[0] != 0) {
      return cudaErrorInvalidValue;
    }
    function.required_cluster[attribute - cudaFuncAttributeRequiredClusterWidth] = value;
    return cudaSuccess;
  case cudaFuncAttributeNonPortableClusterSizeAllowed:
    function.non_portable_cluster = value != 0;
    return cudaSuccess;
  case cudaFuncAttributeClusterSchedulingPolicyPreference:
    if (value < cudaClusterSchedulingPolicyDefault ||
        value > cudaClusterSchedulingPolicyLoadBalancing) {
      return cudaErrorInvalidValue;
    }
    function.cluster_scheduling = value;
    return cudaSuccess;
  default:
    return cudaErrorInvalidValue;
  }
}

/// Entry points about one kernel: finds and loads it.
template <class Body> cudaError_t about_kernel(const char* what, const void* handle, Body&& body) {
  return api(what, [&](Runtime& rt, ThreadState& thread) {
    const auto function = find_function(rt, handle);
    if (!function) {
      return function.error();
    }
    const auto loaded = rt.modules().kernel(**function, thread.device);
    if (!loaded) {
      return loaded.error();
    }
    return body(rt, **function, *loaded->kernel);
  });
}

} // namespace

#pragma GCC visibility push(default)
extern "C" {

cudaError_t cudaLaunchKernel(
    const void* function,
    dim3 grid,
    dim3 block,
    void** arguments,
    std::size_t shared,
    cudaStream_t stream
) {
  return launch_plain(function, grid, block, arguments, shared, stream, false, "cudaLaunchKernel");
}
cudaError_t cudaLaunchKernel_ptsz(
    const void* function,
    dim3 grid,
    dim3 block,
    void** arguments,
    std::size_t shared,
    cudaStream_t stream
) {
  return cudaLaunchKernel(function, grid, block, arguments, shared, per_thread(stream));
}

cudaError_t __cudaLaunchKernel(
    cudaKernel_t kernel,
    dim3 grid,
    dim3 block,
    void** arguments,
    std::size_t shared,
    cudaStream_t stream
) {
  return launch_plain(kernel, grid, block, arguments, shared, stream, false, "a kernel launch");
}
cudaError_t __cudaLaunchKernel_ptsz(
    cudaKernel_t kernel,
    dim3 grid,
    dim3 block,
    void** arguments,
    std::size_t shared,
    cudaStream_t stream
) {
  return __cudaLaunchKernel(kernel, grid, block, arguments, shared, per_thread(stream));
}

cudaError_t cudaLaunchCooperativeKernel(
    const void* function,
    dim3 grid,
    dim3 block,
    void** arguments,
    std::size_t shared,
    cudaStream_t stream
) {
  return launch_plain(
      function,
      grid,
      block,
      arguments,
      shared,
      stream,
      true,
      "cudaLaunchCooperativeKernel"
  );
}
cudaError_t cudaLaunchCooperativeKernel_ptsz(
    const void* function,
    dim3 grid,
    dim3 block,
    void** arguments,
    std::size_t shared,
    cudaStream_t stream
) {
  return cudaLaunchCooperativeKernel(function, grid, block, arguments, shared, per_thread(stream));
}

cudaError_t
cudaLaunchKernelExC(const cudaLaunchConfig_t* config, const void* function, void** arguments) {
  return api("cudaLaunchKernelExC", [&](Runtime& rt, ThreadState&) {
    if (config == nullptr || (config->numAttrs != 0 && config->attrs == nullptr)) {
      return cudaErrorInvalidValue;
    }
    LaunchRequest request;
    request.function = function;
    request.grid = config->gridDim;
    request.block = config->blockDim;
    request.shared = config->dynamicSmemBytes;
    request.arguments = arguments;
    request.attributes = {config->attrs, config->numAttrs};
    return launch(rt, request, config->stream, "cudaLaunchKernelExC");
  });
}
cudaError_t
cudaLaunchKernelExC_ptsz(const cudaLaunchConfig_t* config, const void* function, void** arguments) {
  if (config == nullptr) {
    return cudaLaunchKernelExC(config, function, arguments);
  }
  cudaLaunchConfig_t mine = *config;
  mine.stream = per_thread(mine.stream);
  return cudaLaunchKernelExC(&mine, function, arguments);
}

cudaError_t cudaGetKernel(cudaKernel_t* kernel, const void* host) {
  return api("cudaGetKernel", [&](Runtime& rt, ThreadState&) {
    Function* function = rt.modules().function_of_host(host);
    if (function == nullptr) {
      return cudaErrorInvalidDeviceFunction;
    }
    if (kernel == nullptr) {
      return cudaErrorInvalidValue;
    }
    *kernel = reinterpret_cast<cudaKernel_t>(function);
    return cudaSuccess;
  });
}

cudaError_t cudaGetFuncBySymbol(cudaFunction_t* result, const void* host) {
  return api("cudaGetFuncBySymbol", [&](Runtime& rt, ThreadState&) {
    Function* function = rt.modules().function_of_host(host);
    if (function == nullptr) {
      return cudaErrorInvalidDeviceFunction;
    }
    if (result == nullptr) {
      return cudaErrorInvalidValue;
    }
    *result = reinterpret_cast<cudaFunction_t>(function);
    return cudaSuccess;
  });
}

cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* attributes, const void* handle) {
  if (attributes == nullptr) {
    return record_error(thread_state(), cudaErrorInvalidValue);
  }
  return about_kernel(
      "cudaFuncGetAttributes",
      handle,
      [&](Runtime& rt, Function& function, const heddle::isa::Kernel& kernel) {
        *attributes = {};
        attributes->sharedSizeBytes = kernel.static_shared_bytes;
        attributes->maxThreadsPerBlock = static_cast<int>(max_threads(rt, kernel));
        attributes->numRegs =
            kernel.function->max_nreg != 0
                ? std::min(assumed_registers, static_cast<int>(kernel.function->max_nreg))
                : assumed_registers;
        attributes->ptxVersion = arch_of_target(kernel.code->module->target);
        attributes->binaryVersion = arch_of(rt.model());
        attributes->maxDynamicSharedSizeBytes = max_dynamic_shared(rt, function, kernel);
        attributes->preferredShmemCarveout = function.carveout;
        const std::uint32_t* compiled = kernel.function->req_cluster;
        const auto side = [&](int i) {
          return compiled[0] != 0 ? static_cast<int>(std::max(1U, compiled[i]))
                                  : function.required_cluster[i].load();
        };
        attributes->clusterDimMustBeSet =
            compiled[0] != 0 || kernel.function->explicit_cluster ? 1 : 0;
        attributes->requiredClusterWidth = side(0);
        attributes->requiredClusterHeight = side(1);
        attributes->requiredClusterDepth = side(2);
        attributes->clusterSchedulingPolicyPreference = function.cluster_scheduling;
        attributes->nonPortableClusterSizeAllowed = function.non_portable_cluster ? 1 : 0;
        return cudaSuccess;
      }
  );
}

cudaError_t cudaFuncSetAttribute(const void* handle, cudaFuncAttribute attribute, int value) {
  return about_kernel(
      "cudaFuncSetAttribute",
      handle,
      [&](Runtime& rt, Function& function, const heddle::isa::Kernel& kernel) {
        return set_attribute(rt, function, kernel, attribute, value);
      }
  );
}

cudaError_t cudaFuncSetCacheConfig(const void* handle, cudaFuncCache config) {
  return about_kernel(
      "cudaFuncSetCacheConfig",
      handle,
      [&](Runtime&, Function&, const heddle::isa::Kernel&) {
        return config < cudaFuncCachePreferNone || config > cudaFuncCachePreferEqual
                   ? cudaErrorInvalidValue
                   : cudaSuccess;
      }
  );
}

cudaError_t cudaFuncSetSharedMemConfig(const void* handle, cudaSharedMemConfig config) {
  return about_kernel(
      "cudaFuncSetSharedMemConfig",
      handle,
      [&](Runtime&, Function&, const heddle::isa::Kernel&) {
        return config < cudaSharedMemBankSizeDefault || config > cudaSharedMemBankSizeEightByte
                   ? cudaErrorInvalidValue
                   : cudaSuccess;
      }
  );
}

cudaError_t cudaFuncGetName(const char** name, const void* handle) {
  return about_kernel(
      "cudaFuncGetName",
      handle,
      [&](Runtime&, Function& function, const heddle::isa::Kernel&) {
        if (name == nullptr) {
          return cudaErrorInvalidValue;
        }
        *name = function.name.c_str();
        return cudaSuccess;
      }
  );
}

cudaError_t cudaFuncGetParamInfo(
    const void* handle,
    std::size_t index,
    std::size_t* offset,
    std::size_t* bytes
) {
  return about_kernel(
      "cudaFuncGetParamInfo",
      handle,
      [&](Runtime&, Function&, const heddle::isa::Kernel& kernel) {
        if (offset == nullptr || index >= kernel.parameters.size()) {
          return cudaErrorInvalidValue;
        }
        *offset = kernel.parameters[index].offset;
        if (bytes != nullptr) {
          *bytes = kernel.parameters[index].bytes;
        }
        return cudaSuccess;
      }
  );
}

} // extern "C"
#pragma GCC visibility pop
