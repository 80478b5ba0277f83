// The driver API: launches, what can be asked about kernels, occupancy.
#include "runtime/registration/launch.h"

#include "runtime/driver/driver.h"

#include <algorithm>
#include <vector>

using namespace heddle::runtime;

static_assert(
    sizeof(CUlaunchAttribute) == sizeof(cudaLaunchAttribute),
    "attributes of launches are the runtime's"
);

namespace {

/// How a driver's launch gives its arguments.
struct Arguments {
  void** one_by_one;
  void** extra;
};

cudaError_t
start(LaunchRequest request, const Arguments& arguments, CUstream stream, const char* what) {
  return api(what, [&](Runtime& rt, ThreadState&) {
    request.arguments = arguments.one_by_one;
    if (arguments.extra != nullptr) {
      if (arguments.one_by_one != nullptr) {
        return cudaErrorInvalidValue;
      }
      const auto packed = packed_arguments(arguments.extra);
      if (!packed) {
        return packed.error();
      }
      request.packed = *packed;
    }
    return launch(rt, request, stream, what);
  });
}

cudaError_t start(
    CUfunction function,
    dim3 grid,
    dim3 block,
    unsigned shared,
    CUstream stream,
    const Arguments& arguments,
    bool cooperative,
    const char* what
) {
  LaunchRequest request;
  request.function = function;
  request.grid = grid;
  request.block = block;
  request.shared = shared;
  request.cooperative = cooperative;
  return start(request, arguments, stream, what);
}

cudaError_t start(
    const CUlaunchConfig* config,
    CUfunction function,
    CUstream stream,
    const Arguments& arguments
) {
  if (config == nullptr || (config->numAttrs != 0 && config->attrs == nullptr)) {
    return cudaErrorInvalidValue;
  }
  LaunchRequest request;
  request.function = function;
  request.grid = dim3(config->gridDimX, config->gridDimY, config->gridDimZ);
  request.block = dim3(config->blockDimX, config->blockDimY, config->blockDimZ);
  request.shared = config->sharedMemBytes;
  request.attributes = {
      reinterpret_cast<const cudaLaunchAttribute*>(config->attrs),
      config->numAttrs
  };
  return start(request, arguments, stream, "cuLaunchKernelEx");
}

CUstream stream_of(const CUlaunchConfig* config) {
  return config == nullptr ? nullptr : config->hStream;
}

/// The runtime's form of a configuration, for questions about it.
cudaLaunchConfig_t configuration(const CUlaunchConfig& config) {
  cudaLaunchConfig_t result{};
  result.gridDim = dim3(config.gridDimX, config.gridDimY, config.gridDimZ);
  result.blockDim = dim3(config.blockDimX, config.blockDimY, config.blockDimZ);
  result.dynamicSmemBytes = config.sharedMemBytes;
  result.stream = config.hStream;
  result.attrs = reinterpret_cast<cudaLaunchAttribute*>(config.attrs);
  result.numAttrs = config.numAttrs;
  return result;
}

cudaError_t attribute_of(int* value, CUfunction_attribute attribute, const void* function) {
  if (value == nullptr) {
    return cudaErrorInvalidValue;
  }
  cudaFuncAttributes all;
  if (const cudaError_t error = cudaFuncGetAttributes(&all, function); error != cudaSuccess) {
    return error;
  }
  switch (attribute) {
#define HEDDLE_FUNCTION_ATTRIBUTE(name, member)                                                    \
  case CU_FUNC_ATTRIBUTE_##name:                                                                   \
    *value = static_cast<int>(all.member);                                                         \
    return cudaSuccess;
    HEDDLE_FUNCTION_ATTRIBUTE(MAX_THREADS_PER_BLOCK, maxThreadsPerBlock)
    HEDDLE_FUNCTION_ATTRIBUTE(SHARED_SIZE_BYTES, sharedSizeBytes)
    HEDDLE_FUNCTION_ATTRIBUTE(CONST_SIZE_BYTES, constSizeBytes)
    HEDDLE_FUNCTION_ATTRIBUTE(LOCAL_SIZE_BYTES, localSizeBytes)
    HEDDLE_FUNCTION_ATTRIBUTE(NUM_REGS, numRegs)
    HEDDLE_FUNCTION_ATTRIBUTE(PTX_VERSION, ptxVersion)
    HEDDLE_FUNCTION_ATTRIBUTE(BINARY_VERSION, binaryVersion)
    HEDDLE_FUNCTION_ATTRIBUTE(CACHE_MODE_CA, cacheModeCA)
    HEDDLE_FUNCTION_ATTRIBUTE(MAX_DYNAMIC_SHARED_SIZE_BYTES, maxDynamicSharedSizeBytes)
    HEDDLE_FUNCTION_ATTRIBUTE(PREFERRED_SHARED_MEMORY_CARVEOUT, preferredShmemCarveout)
    HEDDLE_FUNCTION_ATTRIBUTE(CLUSTER_SIZE_MUST_BE_SET, clusterDimMustBeSet)
    HEDDLE_FUNCTION_ATTRIBUTE(REQUIRED_CLUSTER_WIDTH, requiredClusterWidth)
    HEDDLE_FUNCTION_ATTRIBUTE(REQUIRED_CLUSTER_HEIGHT, requiredClusterHeight)
    HEDDLE_FUNCTION_ATTRIBUTE(REQUIRED_CLUSTER_DEPTH, requiredClusterDepth)
    HEDDLE_FUNCTION_ATTRIBUTE(NON_PORTABLE_CLUSTER_SIZE_ALLOWED, nonPortableClusterSizeAllowed)
    HEDDLE_FUNCTION_ATTRIBUTE(
        CLUSTER_SCHEDULING_POLICY_PREFERENCE,
        clusterSchedulingPolicyPreference
    )
#undef HEDDLE_FUNCTION_ATTRIBUTE
  default:
    return cudaErrorInvalidValue;
  }
}

// The numbers of attributes are the runtime's.
cudaError_t set_attribute(const void* function, CUfunction_attribute attribute, int value) {
  return cudaFuncSetAttribute(function, static_cast<cudaFuncAttribute>(attribute), value);
}

/// The block size with which most threads are resident at once, the larger one of equals.
cudaError_t potential_block_size(
    int* min_grid,
    int* best,
    CUfunction function,
    CUoccupancyB2DSize dynamic_of,
    std::size_t dynamic,
    int limit
) {
  if (min_grid == nullptr || best == nullptr) {
    return cudaErrorInvalidValue;
  }
  // One call: what has been done between two is nothing that a search would see.
  cudaFuncAttributes all;
  if (const cudaError_t error = cudaFuncGetAttributes(&all, function); error != cudaSuccess) {
    return error;
  }
  int most = all.maxThreadsPerBlock;
  const auto& model = Runtime::get().model();
  if (limit > 0) {
    most = std::min(most, limit);
  }
  constexpr int warp = 32;
  int best_threads = 0;
  *min_grid = 0;
  *best = 0;
  for (int size = (most + warp - 1) / warp * warp; size > 0; size -= warp) {
    const int threads = std::min(size, most);
    const std::size_t shared = dynamic_of != nullptr ? dynamic_of(threads) : dynamic;
    const auto blocks = static_cast<int>(heddle::machine::resident_blocks(
        model,
        static_cast<std::uint32_t>(threads),
        all.sharedSizeBytes + shared
    ));
    if (blocks * threads > best_threads) {
      best_threads = blocks * threads;
      *best = threads;
      *min_grid = blocks * static_cast<int>(model.multiprocessors);
    }
  }
  return cudaSuccess;
}

} // namespace

#pragma GCC visibility push(default)
extern "C" {

// clang-format off
HEDDLE_DRIVER_STREAM(cuLaunchKernel,
    start(function, dim3(gx, gy, gz), dim3(bx, by, bz), shared, stream, {arguments, extra}, false, "cuLaunchKernel"),
    CUfunction function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
    unsigned shared, CUstream stream, void** arguments, void** extra)
HEDDLE_DRIVER_STREAM(cuLaunchCooperativeKernel,
    start(function, dim3(gx, gy, gz), dim3(bx, by, bz), shared, stream, {arguments, nullptr}, true,
        "cuLaunchCooperativeKernel"),
    CUfunction function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
    unsigned shared, CUstream stream, void** arguments)
HEDDLE_DRIVER(cuLaunchKernelEx, start(config, function, stream_of(config), {arguments, extra}),
    const CUlaunchConfig* config, CUfunction function, void** arguments, void** extra)
HEDDLE_DRIVER(cuLaunchKernelEx_ptsz, start(config, function, per_thread(stream_of(config)), {arguments, extra}),
    const CUlaunchConfig* config, CUfunction function, void** arguments, void** extra)
HEDDLE_DRIVER_STREAM(cuLaunchHostFunc, cudaLaunchHostFunc(stream, call, data),
    CUstream stream, CUhostFn call, void* data)

HEDDLE_DRIVER(cuFuncGetAttribute, attribute_of(value, attribute, function),
    int* value, CUfunction_attribute attribute, CUfunction function)
HEDDLE_DRIVER(cuFuncSetAttribute, set_attribute(function, attribute, value),
    CUfunction function, CUfunction_attribute attribute, int value)
HEDDLE_DRIVER(cuFuncSetCacheConfig, cudaFuncSetCacheConfig(function, static_cast<cudaFuncCache>(config)),
    CUfunction function, CUfunc_cache config)
HEDDLE_DRIVER(cuFuncSetSharedMemConfig,
    cudaFuncSetSharedMemConfig(function, static_cast<cudaSharedMemConfig>(config)),
    CUfunction function, CUsharedconfig config)
HEDDLE_DRIVER(cuFuncGetName, cudaFuncGetName(name, function), const char** name, CUfunction function)
HEDDLE_DRIVER(cuFuncGetParamInfo, cudaFuncGetParamInfo(function, index, offset, bytes),
    CUfunction function, std::size_t index, std::size_t* offset, std::size_t* bytes)
HEDDLE_DRIVER(cuKernelGetAttribute,
    on_device(device, [&] { return attribute_of(value, attribute, kernel); }),
    int* value, CUfunction_attribute attribute, CUkernel kernel, CUdevice device)
HEDDLE_DRIVER(cuKernelSetAttribute,
    on_device(device, [&] { return set_attribute(kernel, attribute, value); }),
    CUfunction_attribute attribute, int value, CUkernel kernel, CUdevice device)
HEDDLE_DRIVER(cuKernelSetCacheConfig,
    on_device(device, [&] { return cudaFuncSetCacheConfig(kernel, static_cast<cudaFuncCache>(config)); }),
    CUkernel kernel, CUfunc_cache config, CUdevice device)
HEDDLE_DRIVER(cuKernelGetName, cudaFuncGetName(name, kernel), const char** name, CUkernel kernel)
HEDDLE_DRIVER(cuKernelGetParamInfo, cudaFuncGetParamInfo(kernel, index, offset, bytes),
    CUkernel kernel, std::size_t index, std::size_t* offset, std::size_t* bytes)

HEDDLE_DRIVER(cuOccupancyMaxActiveBlocksPerMultiprocessor,
    cudaOccupancyMaxActiveBlocksPerMultiprocessor(blocks, function, block_size, dynamic),
    int* blocks, CUfunction function, int block_size, std::size_t dynamic)
HEDDLE_DRIVER(cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags,
    cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, function, block_size, dynamic, flags),
    int* blocks, CUfunction function, int block_size, std::size_t dynamic, unsigned flags)
HEDDLE_DRIVER(cuOccupancyMaxPotentialBlockSize,
    potential_block_size(min_grid, size, function, dynamic_of, dynamic, limit),
    int* min_grid, int* size, CUfunction function, CUoccupancyB2DSize dynamic_of, std::size_t dynamic, int limit)
HEDDLE_DRIVER(cuOccupancyMaxPotentialBlockSizeWithFlags,
    potential_block_size(min_grid, size, function, dynamic_of, dynamic, limit),
    int* min_grid, int* size, CUfunction function, CUoccupancyB2DSize dynamic_of, std::size_t dynamic, int limit,
    unsigned /*flags*/)
HEDDLE_DRIVER(cuOccupancyAvailableDynamicSMemPerBlock,
    cudaOccupancyAvailableDynamicSMemPerBlock(bytes, function, blocks, block_size),
    std::size_t* bytes, CUfunction function, int blocks, int block_size)
// clang-format on

CUresult
cuOccupancyMaxPotentialClusterSize(int* size, CUfunction function, const CUlaunchConfig* config) {
  return in_context([&] {
    if (config == nullptr) {
      return cudaErrorInvalidValue;
    }
    const cudaLaunchConfig_t same = configuration(*config);
    return cudaOccupancyMaxPotentialClusterSize(size, function, &same);
  });
}

CUresult
cuOccupancyMaxActiveClusters(int* clusters, CUfunction function, const CUlaunchConfig* config) {
  return in_context([&] {
    if (config == nullptr) {
      return cudaErrorInvalidValue;
    }
    const cudaLaunchConfig_t same = configuration(*config);
    return cudaOccupancyMaxActiveClusters(clusters, function, &same);
  });
}

// A kernel is read when it is used for the first time, or here.
CUresult cuFuncLoad(CUfunction function) {
  return in_context([&] {
    cudaFuncAttributes all;
    return cudaFuncGetAttributes(&all, function);
  });
}
CUresult cuFuncIsLoaded(CUfunctionLoadingState* state, CUfunction function) {
  return in_context([&] {
    if (state == nullptr) {
      return cudaErrorInvalidValue;
    }
    cudaFuncAttributes all;
    *state = CU_FUNCTION_LOADING_STATE_LOADED;
    return cudaFuncGetAttributes(&all, function);
  });
}

} // extern "C"
#pragma GCC visibility pop
