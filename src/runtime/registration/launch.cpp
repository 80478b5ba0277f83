// Implements launch.h.
#include "runtime/registration/launch.h"

#include "machine/grid.h"
#include "runtime/diagnostics/announce.h"
#include "runtime/diagnostics/host_place.h"
#include "runtime/diagnostics/outcome.h"
#include "runtime/search_start.h"
#include "runtime/version.h"

#include <cuda.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <set>
#include <vector>

namespace heddle::runtime {
namespace {

machine::Dim3 dimensions(const dim3& d) {
  return machine::Dim3{d.x, d.y, d.z};
}

bool fits(const dim3& d, const std::uint32_t (&limit)[3]) {
  return d.x != 0 && d.y != 0 && d.z != 0 && d.x <= limit[0] && d.y <= limit[1] && d.z <= limit[2];
}

std::string triple(const dim3& d) {
  return fmt::format("({},{},{})", d.x, d.y, d.z);
}

std::string triple(const std::uint32_t (&limit)[3]) {
  return fmt::format("({},{},{})", limit[0], limit[1], limit[2]);
}

/// Why a launch does not take place: its error code, and what to tell those who do not look at it.
struct Refusal {
  cudaError_t error;
  std::string why;
};

tl::unexpected<Refusal> refused(cudaError_t error, std::string why) {
  return tl::unexpected(Refusal{error, std::move(why)});
}

/// What the attributes of a launch ask for. Attributes that only tune (cache policy, memory
/// domains, carve-out, scheduling preferences) are accepted and mean nothing here.
struct Wishes {
  std::optional<machine::Dim3> cluster;
  bool cooperative = false;
  bool programmatic = false;
  int priority = 0;
  cudaEvent_t event = nullptr; // recorded before the kernel has completed: `until`, `awaited`
  machine::Trigger until = machine::Trigger::Dependents;
  bool awaited = true;
};

tl::expected<Wishes, cudaError_t> read_attributes(std::span<const cudaLaunchAttribute> attributes) {
  Wishes wishes;
  for (const cudaLaunchAttribute& attribute : attributes) {
    switch (attribute.id) {
    case cudaLaunchAttributeClusterDimension: {
      const auto& c = attribute.val.clusterDim;
      if (c.x != 0 || c.y != 0 || c.z != 0) { // measured: all zero means none
        wishes.cluster = machine::Dim3{c.x, c.y, c.z};
      }
      break;
    }
    case cudaLaunchAttributeCooperative:
      wishes.cooperative = attribute.val.cooperative != 0;
      break;
    case cudaLaunchAttributeProgrammaticStreamSerialization:
      wishes.programmatic = attribute.val.programmaticStreamSerializationAllowed != 0;
      break;
    case cudaLaunchAttributePriority:
      wishes.priority = attribute.val.priority;
      break;
    case cudaLaunchAttributeProgrammaticEvent:
      wishes.event = attribute.val.programmaticEvent.event;
      wishes.until = attribute.val.programmaticEvent.triggerAtBlockStart != 0
                         ? machine::Trigger::Launch
                         : machine::Trigger::Dependents;
      break;
    case cudaLaunchAttributeLaunchCompletionEvent:
      wishes.event = attribute.val.launchCompletionEvent.event;
      wishes.until = machine::Trigger::Launch;
      wishes.awaited = false;
      break;
    case cudaLaunchAttributeIgnore:
    case cudaLaunchAttributeAccessPolicyWindow:
    case cudaLaunchAttributeSynchronizationPolicy:
    case cudaLaunchAttributeClusterSchedulingPolicyPreference:
    case cudaLaunchAttributeMemSyncDomainMap:
    case cudaLaunchAttributeMemSyncDomain:
    case cudaLaunchAttributePreferredClusterDimension:
    case cudaLaunchAttributePreferredSharedMemoryCarveout:
      break;
    case cudaLaunchAttributeDeviceUpdatableKernelNode:
      complain_unsupported("cudaLaunchAttributeDeviceUpdatableKernelNode");
      return tl::unexpected(cudaErrorNotSupported);
    default:
      return tl::unexpected(cudaErrorInvalidValue);
    }
  }
  return wishes;
}

/// The edge of a graph that waiting for the event becomes.
cudaGraphEdgeData edge_of(const Wishes& wishes) {
  cudaGraphEdgeData edge{};
  edge.from_port = wishes.until == machine::Trigger::Launch
                       ? cudaGraphKernelNodePortLaunchCompletion
                       : cudaGraphKernelNodePortProgrammatic;
  edge.type = wishes.awaited ? cudaGraphDependencyTypeProgrammatic : cudaGraphDependencyTypeDefault;
  return edge;
}

/// The cluster a launch has: asked for, or compiled in, or set for the function.
tl::expected<std::optional<machine::Dim3>, cudaError_t> cluster_of(
    const Function& function,
    const isa::Kernel& kernel,
    const std::optional<machine::Dim3>& wanted
) {
  const std::uint32_t* compiled = kernel.function->req_cluster;
  std::optional<machine::Dim3> required;
  if (compiled[0] != 0) {
    required = machine::Dim3{compiled[0], std::max(1U, compiled[1]), std::max(1U, compiled[2])};
  } else if (function.required_cluster[0] != 0) {
    const auto side = [&](int i) {
      return static_cast<std::uint32_t>(std::max(1, function.required_cluster[i].load()));
    };
    required = machine::Dim3{side(0), side(1), side(2)};
  }
  if (!wanted) {
    return required;
  }
  if (required &&
      (required->x != wanted->x || required->y != wanted->y || required->z != wanted->z)) {
    return tl::unexpected(cudaErrorInvalidClusterSize);
  }
  return wanted;
}

bool cluster_fits(
    const Runtime& rt,
    const Function& function,
    const dim3& grid,
    const machine::Dim3& cluster
) {
  const std::uint32_t limit = max_cluster(rt.model(), !function.non_portable_cluster);
  return cluster.count() != 0 && cluster.count() <= limit && grid.x % cluster.x == 0 &&
         grid.y % cluster.y == 0 && grid.z % cluster.z == 0;
}

/// The shape of grid and block, whatever the kernel.
std::optional<Refusal> check_shape(const Runtime& rt, const LaunchRequest& request) {
  const cudaError_t error =
      cudart_version() >= 13000 ? cudaErrorInvalidValue : cudaErrorInvalidConfiguration;
  const auto side = [&](const char* what, const dim3& d, const std::uint32_t (&limit)[3]) {
    return Refusal{
        error,
        d.x == 0 || d.y == 0 || d.z == 0
            ? fmt::format("the {} {} is empty", what, triple(d))
            : fmt::format("the {} is {}, the device allows {}", what, triple(d), triple(limit))
    };
  };
  if (!fits(request.grid, max_grid)) {
    return side("grid", request.grid, max_grid);
  }
  if (!fits(request.block, max_block)) {
    return side("block", request.block, max_block);
  }
  const std::uint64_t threads = dimensions(request.block).count();
  if (threads > rt.model().max_threads_per_block) {
    return Refusal{
        error,
        fmt::format(
            "a block has {} threads, the device allows {}",
            threads,
            rt.model().max_threads_per_block
        )
    };
  }
  return std::nullopt;
}

/// What the kernel as it was compiled, and as its attributes are set, allows.
std::optional<Refusal> check_limits(
    const Runtime& rt,
    const Function& function,
    const isa::Kernel& kernel,
    const LaunchRequest& request
) {
  const std::uint64_t threads = dimensions(request.block).count();
  if (const std::uint32_t limit = max_threads(rt, kernel); threads > limit) {
    return Refusal{
        cudaErrorInvalidValue,
        fmt::format("a block has {} threads, its __launch_bounds__ allow {}", threads, limit)
    };
  }
  const int limit = max_dynamic_shared(rt, function, kernel);
  if (request.shared > static_cast<std::size_t>(limit)) {
    std::string why = fmt::format(
        "it asks for {} bytes of dynamic shared memory beside {} static ones, {} are allowed",
        request.shared,
        kernel.static_shared_bytes,
        limit
    );
    const std::uint64_t most = rt.model().shared_per_block_optin;
    if (function.max_dynamic_shared < 0 && kernel.static_shared_bytes + request.shared <= most) {
      why +=
          "; cudaFuncSetAttribute(…, cudaFuncAttributeMaxDynamicSharedMemorySize, …) allows more";
    }
    return Refusal{cudaErrorInvalidValue, std::move(why)};
  }
  return std::nullopt;
}

tl::expected<std::vector<std::byte>, cudaError_t>
lay_out(const isa::Kernel& kernel, const LaunchRequest& request) {
  std::vector<std::byte> block(kernel.parameter_bytes);
  void** const arguments = request.arguments;
  if (request.packed) {
    const std::span<const std::byte> given = *request.packed;
    const std::size_t needed = kernel.parameters.empty() ? 0
                                                         : kernel.parameters.back().offset +
                                                               kernel.parameters.back().bytes;
    if (given.size() < needed) {
      return tl::unexpected(cudaErrorInvalidValue);
    }
    std::copy_n(given.begin(), std::min(given.size(), block.size()), block.begin());
    return block;
  }
  if (!kernel.parameters.empty() && arguments == nullptr) {
    return tl::unexpected(cudaErrorInvalidValue);
  }
  for (std::size_t i = 0; i < kernel.parameters.size(); ++i) {
    if (arguments[i] == nullptr) {
      return tl::unexpected(cudaErrorInvalidValue);
    }
    std::memcpy(
        block.data() + kernel.parameters[i].offset,
        arguments[i],
        kernel.parameters[i].bytes
    );
  }
  return block;
}

} // namespace

tl::expected<std::span<const std::byte>, cudaError_t> packed_arguments(void** extra) {
  const std::byte* begin = nullptr;
  std::size_t bytes = 0;
  for (; *extra != CU_LAUNCH_PARAM_END; extra += 2) {
    if (*extra == CU_LAUNCH_PARAM_BUFFER_POINTER) {
      begin = static_cast<const std::byte*>(extra[1]);
    } else if (*extra == CU_LAUNCH_PARAM_BUFFER_SIZE) {
      bytes = *static_cast<const std::size_t*>(extra[1]);
    } else {
      return tl::unexpected(cudaErrorInvalidValue);
    }
  }
  if (begin == nullptr && bytes != 0) {
    return tl::unexpected(cudaErrorInvalidValue);
  }
  return std::span(begin, bytes);
}

tl::expected<Function*, cudaError_t> find_function(Runtime& rt, const void* function) {
  if (function == nullptr) {
    return tl::unexpected(cudaErrorInvalidDeviceFunction);
  }
  Function* found = rt.modules().function(function);
  if (found == nullptr) {
    return tl::unexpected(cudaErrorInvalidResourceHandle);
  }
  return found;
}

int max_dynamic_shared(const Runtime& rt, const Function& function, const isa::Kernel& kernel) {
  const int set = function.max_dynamic_shared;
  return set >= 0 ? set
                  : std::max(
                        0,
                        static_cast<int>(rt.model().shared_per_block) -
                            static_cast<int>(kernel.static_shared_bytes)
                    );
}

std::uint32_t max_threads(const Runtime& rt, const isa::Kernel& kernel) {
  const std::uint32_t limit = rt.model().max_threads_per_block;
  for (const auto* bound : {&kernel.function->req_ntid, &kernel.function->max_ntid}) {
    if ((*bound)[0] != 0) {
      return std::min(limit, (*bound)[0] * std::max(1U, (*bound)[1]) * std::max(1U, (*bound)[2]));
    }
  }
  return limit;
}

namespace {

constexpr unsigned limit_bit(cudaLimit limit) {
  return 1U << static_cast<unsigned>(limit);
}

/// Which limits a kernel depends on by what it may call: printf, and malloc or free. Calls of
/// functions in other modules are not followed (misses).
unsigned limits_of(const isa::Kernel& kernel) {
  unsigned limits = 0;
  const ptx::Module& module = *kernel.code->module;
  std::set<const ptx::Function*> seen;
  std::vector<const ptx::Function*> open{kernel.function};
  while (!open.empty()) {
    const ptx::Function& function = *open.back();
    open.pop_back();
    if (!seen.insert(&function).second) {
      continue;
    }
    for (const ptx::Instruction& i : function.body) {
      for (const ptx::Operand& operand : i.operands) {
        if (operand.kind != ptx::OperandKind::Symbol || operand.name.empty()) {
          continue;
        }
        if (operand.name == "vprintf") {
          limits |= limit_bit(cudaLimitPrintfFifoSize);
        } else if (operand.name == "malloc" || operand.name == "free") {
          limits |= limit_bit(cudaLimitMallocHeapSize);
        }
        if (const ptx::Function* called = module.find_function(operand.name)) {
          open.push_back(called);
        }
      }
    }
  }
  return limits;
}

/// cudaDeviceSetLimit: "must not be performed after launching any kernel that uses" them.
void fix_limits(Runtime& rt, const isa::Kernel& kernel, Function& function, int device) {
  int limits = function.limits.load();
  if (limits < 0) {
    limits = kernel.calls ? static_cast<int>(limits_of(kernel)) : 0;
    function.limits = limits;
  }
  rt.device(device).fixed_limits |= static_cast<unsigned>(limits);
}

tl::expected<KernelLaunch, Refusal>
try_to_prepare(Runtime& rt, Function& function, const LaunchRequest& request, int device) {
  const auto wishes = read_attributes(request.attributes);
  if (!wishes) {
    return refused(wishes.error(), "");
  }
  // Into a stream of another device than the current one, too: the programming guide says that
  // such a launch fails, but measured on two H200 (driver 580.159) it succeeds and runs there.
  if (auto refusal = check_shape(rt, request)) {
    return tl::unexpected(std::move(*refusal));
  }
  const auto loaded = rt.modules().kernel(function, device);
  if (!loaded) {
    return refused(loaded.error(), "");
  }
  const isa::Kernel& kernel = *loaded->kernel;
  if (auto refusal = check_limits(rt, function, kernel, request)) {
    return tl::unexpected(std::move(*refusal));
  }
  const auto cluster = cluster_of(function, kernel, wishes->cluster);
  if (!cluster) {
    return refused(cluster.error(), "its cluster is not the one that it was compiled for");
  }
  KernelLaunch launch;
  launch.function = &function;
  launch.config.grid = dimensions(request.grid);
  launch.config.block = dimensions(request.block);
  launch.config.dynamic_shared = static_cast<std::uint32_t>(request.shared);
  launch.config.cooperative = request.cooperative || wishes->cooperative;
  launch.config.programmatic = wishes->programmatic;
  launch.priority = wishes->priority;
  if (*cluster) {
    const machine::Dim3& c = **cluster;
    if (!cluster_fits(rt, function, request.grid, c)) {
      return refused(
          cudaErrorInvalidClusterSize,
          fmt::format(
              "clusters of {} do not divide the grid {}, or have more than {} blocks",
              triple(dim3(c.x, c.y, c.z)),
              triple(request.grid),
              max_cluster(rt.model(), !function.non_portable_cluster)
          )
      );
    }
    launch.config.cluster = c;
    launch.config.explicit_cluster = true;
  }
  if (launch.config.cooperative) {
    const std::uint64_t shared = kernel.static_shared_bytes + request.shared;
    const std::uint64_t resident = machine::resident_blocks(
                                       rt.model(),
                                       static_cast<std::uint32_t>(launch.config.block.count()),
                                       shared
                                   ) *
                                   rt.model().multiprocessors;
    if (launch.config.grid.count() > resident) {
      return refused(
          cudaErrorCooperativeLaunchTooLarge,
          fmt::format(
              "{} blocks are launched together, at most {} are on the device at a time",
              launch.config.grid.count(),
              resident
          )
      );
    }
  }
  auto parameters = lay_out(kernel, request);
  if (!parameters) {
    return refused(parameters.error(), "an argument is missing");
  }
  launch.parameters = std::move(*parameters);
  if (!request.of_graph) { // a node may never be launched
    fix_limits(rt, kernel, function, device);
  }
  return launch;
}

} // namespace

tl::expected<KernelLaunch, cudaError_t>
prepare_launch(Runtime& rt, const LaunchRequest& request, int device) {
  const auto function = find_function(rt, request.function);
  if (!function) {
    return tl::unexpected(function.error());
  }
  auto launch = try_to_prepare(rt, **function, request, device);
  if (!launch) {
    const Refusal& refusal = launch.error();
    // Once for each kernel: a program may look for what the device takes.
    if (!refusal.why.empty() && !(*function)->refusal_told.exchange(true)) {
      warn_of_refused_launch(
          machine::demangle((*function)->name),
          refusal.why,
          error_name(refusal.error)
      );
    }
    return tl::unexpected(refusal.error);
  }
  return std::move(*launch);
}

cudaError_t
launch(Runtime& rt, const LaunchRequest& request, cudaStream_t handle, const char* what) {
  const auto stream = rt.stream(handle);
  if (!stream) {
    return stream.error();
  }
  auto prepared = prepare_launch(rt, request, (*stream)->device);
  if (!prepared) {
    if ((*stream)->capture != nullptr) {
      (*stream)->capture->invalidate();
    }
    return prepared.error();
  }
  if (rt.config().mode == Mode::Run) { // the explorer keeps books of its own
    prepared->config.called_from = callers_of_api();
  }
  const auto wishes = read_attributes(request.attributes);
  begin_search_at(rt, prepared->function->name);
  const auto command =
      rt.enqueue(**stream, Operation{std::move(*prepared), what, (*stream)->device});
  if (!command) {
    return command.error();
  }
  if (wishes->event != nullptr) {
    const auto event = rt.event(wishes->event);
    if (!event) {
      return event.error();
    }
    const cudaError_t error =
        (*stream)->capture != nullptr
            ? (*stream)->capture->record_early(**stream, *event, edge_of(*wishes))
            : rt.record_early(**stream, *event, {*command, wishes->until, wishes->awaited});
    if (error != cudaSuccess) {
      return error;
    }
  }
  if (rt.config().launch_blocking && *command != nullptr) {
    return rt.wait({*command}, (*stream)->device, what);
  }
  return cudaSuccess;
}

} // namespace heddle::runtime
