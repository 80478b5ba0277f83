// Implements grid.h.
#include "machine/grid.h"

#include "base/check.h"
#include "machine/device_launches.h"

#include <cxxabi.h>
#include <fmt/format.h>

#include <cstdlib>

namespace heddle::machine {
namespace {

/// Layout that cooperative_groups::grid_group expects behind %envreg1:%envreg2: its size and the
/// word on which blocks meet.
struct CooperativeWorkspace {
  std::uint32_t bytes = sizeof(CooperativeWorkspace);
  std::uint32_t barrier = 0;
};

std::atomic<std::uint64_t> next_grid_id{1}; // %gridid is unique in a process

} // namespace

std::string demangle(const std::string& name) {
  int status = 0;
  std::unique_ptr<char, void (*)(void*)> text(
      abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status),
      std::free
  );
  return status == 0 && text ? text.get() : name;
}

Grid::Grid(
    Services& services,
    std::shared_ptr<isa::Program> program,
    const isa::Kernel& kernel,
    const LaunchConfig& config,
    std::vector<std::byte> parameters,
    int device
)
    : services_(services),
      program_(std::move(program)),
      kernel_(kernel),
      config_(config),
      parameters_(std::move(parameters)),
      device_(device),
      id_(next_grid_id.fetch_add(1)),
      cluster_count_(config.grid.count() / config.cluster.count()) {
  if (config.cooperative) {
    const auto place = services.space().allocate(
        sizeof(CooperativeWorkspace),
        256,
        memory::AllocationKind::Heap,
        device,
        "grid barrier"
    );
    HEDDLE_CHECK(place.has_value(), "no memory for the barrier of a cooperative grid");
    workspace_ = *place;
    *static_cast<CooperativeWorkspace*>(
        services.space().host_pointer(workspace_, sizeof(CooperativeWorkspace))
    ) = {};
  }
}

Grid::~Grid() {
  if (workspace_ != 0) {
    (void)services_.space().release(workspace_);
  }
}

void Grid::allow_launches(World& world, Command& command) {
  launches_ = std::make_unique<DeviceLaunches>(world, *this, command.id, depth_);
  command.more = [launches = launches_.get()] { return launches->unfinished(); };
}

std::uint64_t Grid::shared_bytes() const {
  return std::uint64_t{kernel_.dynamic_shared_offset} + config_.dynamic_shared;
}

namespace {

/// Asked for each block, mostly of a grid and clusters of one dimension: divisions take longer than
/// all else that starting a block does with numbers.
std::uint32_t over(std::uint32_t a, std::uint32_t b) {
  return b == 1 ? a : a / b;
}

} // namespace

Dim3 Grid::clusters() const {
  return {
      over(config_.grid.x, config_.cluster.x),
      over(config_.grid.y, config_.cluster.y),
      over(config_.grid.z, config_.cluster.z)
  };
}

Dim3 Grid::block_index(std::uint64_t cluster, std::uint32_t rank) const {
  const Dim3 n = clusters();
  const Dim3& c = config_.cluster;
  Dim3 at{static_cast<std::uint32_t>(cluster), 0, 0};
  if (cluster >= n.x) {
    at.x = static_cast<std::uint32_t>(cluster % n.x);
    at.y = static_cast<std::uint32_t>(cluster / n.x % n.y);
    at.z = static_cast<std::uint32_t>(cluster / n.x / n.y);
  }
  if (c.count() == 1) {
    return at;
  }
  return {at.x * c.x + rank % c.x, at.y * c.y + rank / c.x % c.y, at.z * c.z + rank / c.x / c.y};
}

namespace {

/// Parameters only make the line long. They are what the last parenthesis closes: there may be
/// others before, of "(anonymous namespace)::" and lambdas.
std::string without_parameters(std::string name) {
  std::size_t at = name.rfind(')');
  for (int depth = 1; at != std::string::npos && at != 0 && depth != 0;) {
    --at;
    depth += name[at] == ')' ? 1 : name[at] == '(' ? -1 : 0;
  }
  return at == std::string::npos || at == 0 ? name : name.substr(0, at);
}

} // namespace

std::string function_name(const std::string& name) {
  constexpr std::string_view result = "void "; // told of templates, and the same for each kernel
  std::string text = without_parameters(demangle(name));
  return text.starts_with(result) ? text.substr(result.size()) : text;
}

std::string Grid::describe() const {
  const auto dim = [](const Dim3& d) {
    return d.y == 1 && d.z == 1 ? fmt::format("{}", d.x) : fmt::format("({},{},{})", d.x, d.y, d.z);
  };
  return fmt::format(
      "{}<<<{},{}>>>",
      function_name(kernel_.name),
      dim(config_.grid),
      dim(config_.block)
  );
}

} // namespace heddle::machine
