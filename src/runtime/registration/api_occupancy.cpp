// Occupancy: how many blocks or clusters of a kernel fit on the device at once.
//
// Computed as cuda_occupancy.h documents it, without registers (PTX does not say how many a kernel
// takes), so the answers may be higher than on the real device, never lower. Clusters are taken to
// fill multiprocessors without regard to the hardware's groups of multiprocessors.
#include "runtime/registration/launch.h"

#include <algorithm>

using namespace heddle::runtime;

namespace {

template <class Body> cudaError_t about_kernel(const char* what, const void* handle, Body&& body) {
  return api(what, [&](Runtime& rt, ThreadState& thread) {
    const auto function = find_function(rt, handle);
    if (!function) {
      return function.error();
    }
    const auto loaded = rt.modules().kernel(**function, thread.device);
    return loaded ? body(rt, **function, *loaded->kernel) : loaded.error();
  });
}

/// Blocks of the cluster that a configuration asks for; 0: none.
std::uint64_t cluster_blocks(const cudaLaunchConfig_t& config) {
  for (unsigned i = 0; i < config.numAttrs; ++i) {
    if (config.attrs[i].id == cudaLaunchAttributeClusterDimension) {
      const auto& c = config.attrs[i].val.clusterDim;
      return std::uint64_t{c.x} * c.y * c.z;
    }
  }
  return 0;
}

std::uint64_t resident_of(
    const Runtime& rt,
    const heddle::isa::Kernel& kernel,
    std::uint64_t threads,
    std::size_t dynamic
) {
  if (threads > rt.model().max_threads_per_block) {
    return 0;
  }
  return heddle::machine::resident_blocks(
      rt.model(),
      static_cast<std::uint32_t>(threads),
      kernel.static_shared_bytes + dynamic
  );
}

} // namespace

extern "C" {

cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
    int* blocks,
    const void* handle,
    int block_size,
    std::size_t dynamic,
    unsigned int flags
) {
  return about_kernel(
      "cudaOccupancyMaxActiveBlocksPerMultiprocessor",
      handle,
      [&](Runtime& rt, Function&, const heddle::isa::Kernel& kernel) {
        if (blocks == nullptr || block_size <= 0 ||
            (flags & ~unsigned{cudaOccupancyDisableCachingOverride}) != 0) {
          return cudaErrorInvalidValue;
        }
        *blocks = static_cast<int>(
            resident_of(rt, kernel, static_cast<std::uint64_t>(block_size), dynamic)
        );
        return cudaSuccess;
      }
  );
}

cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(
    int* blocks,
    const void* handle,
    int block_size,
    std::size_t dynamic
) {
  return cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
      blocks,
      handle,
      block_size,
      dynamic,
      cudaOccupancyDefault
  );
}

cudaError_t cudaOccupancyAvailableDynamicSMemPerBlock(
    std::size_t* bytes,
    const void* handle,
    int blocks,
    int block_size
) {
  return about_kernel(
      "cudaOccupancyAvailableDynamicSMemPerBlock",
      handle,
      [&](Runtime& rt, Function&, const heddle::isa::Kernel& kernel) {
        if (bytes == nullptr || blocks <= 0 || block_size <= 0 ||
            static_cast<std::uint64_t>(blocks) >
                resident_of(rt, kernel, static_cast<std::uint64_t>(block_size), 0)) {
          return cudaErrorInvalidValue;
        }
        constexpr std::uint32_t unit = 128; // in which shared memory is given out
        const auto& model = rt.model();
        const std::uint32_t share =
            model.shared_per_multiprocessor / static_cast<unsigned>(blocks) / unit * unit;
        const std::uint32_t taken = model.reserved_shared_per_block + kernel.static_shared_bytes;
        *bytes = std::min(
            share - std::min(share, taken),
            model.shared_per_block_optin -
                std::min(model.shared_per_block_optin, kernel.static_shared_bytes)
        );
        return cudaSuccess;
      }
  );
}

cudaError_t cudaOccupancyMaxPotentialClusterSize(
    int* size,
    const void* handle,
    const cudaLaunchConfig_t* config
) {
  return about_kernel(
      "cudaOccupancyMaxPotentialClusterSize",
      handle,
      [&](Runtime& rt, Function& function, const heddle::isa::Kernel& kernel) {
        if (size == nullptr || config == nullptr) {
          return cudaErrorInvalidValue;
        }
        const std::uint64_t threads =
            std::uint64_t{config->blockDim.x} * config->blockDim.y * config->blockDim.z;
        const bool fits = resident_of(rt, kernel, threads, config->dynamicSmemBytes) > 0;
        *size =
            fits ? static_cast<int>(max_cluster(rt.model(), !function.non_portable_cluster)) : 0;
        return cudaSuccess;
      }
  );
}

cudaError_t cudaOccupancyMaxActiveClusters(
    int* clusters,
    const void* handle,
    const cudaLaunchConfig_t* config
) {
  return about_kernel(
      "cudaOccupancyMaxActiveClusters",
      handle,
      [&](Runtime& rt, Function& function, const heddle::isa::Kernel& kernel) {
        if (clusters == nullptr || config == nullptr ||
            (config->numAttrs != 0 && config->attrs == nullptr)) {
          return cudaErrorInvalidValue;
        }
        std::uint64_t blocks = cluster_blocks(*config);
        if (blocks == 0) {
          const std::uint32_t* compiled = kernel.function->req_cluster;
          blocks = compiled[0] == 0 ? 1
                                    : std::uint64_t{compiled[0]} * std::max(1U, compiled[1]) *
                                          std::max(1U, compiled[2]);
        }
        if (blocks > max_cluster(rt.model(), !function.non_portable_cluster)) {
          return cudaErrorInvalidClusterSize;
        }
        const std::uint64_t threads =
            std::uint64_t{config->blockDim.x} * config->blockDim.y * config->blockDim.z;
        *clusters = static_cast<int>(
            resident_of(rt, kernel, threads, config->dynamicSmemBytes) *
            rt.model().multiprocessors / blocks
        );
        return cudaSuccess;
      }
  );
}

} // extern "C"
