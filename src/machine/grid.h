// Grid: one kernel launch: its blocks, in clusters, and how far each has come.
//
// A cluster (a block alone, where the launch names none) is the unit that starts: [CLUSTER]
// promises nothing about clusters of which no thread has taken a step, and everything about the
// others. It is also the unit that one worker runs at a time, so blocks of a cluster need no locks
// among themselves.
#pragma once

#include "machine/device.h"
#include "machine/world.h"

#include <atomic>
#include <memory>
#include <string>
#include <vector>

namespace heddle::machine {

class Block;
class DeviceLaunches; // device_launches.h

class Grid : public std::enable_shared_from_this<Grid> {
public:
  Grid(
      Services& services,
      std::shared_ptr<isa::Program> program,
      const isa::Kernel& kernel,
      const LaunchConfig& config,
      std::vector<std::byte> parameters,
      int device
  );
  ~Grid();

  Services& services() const { return services_; }
  const std::shared_ptr<isa::Program>& program() const { return program_; }
  const isa::Kernel& kernel() const { return kernel_; }
  const LaunchConfig& config() const { return config_; }
  int device() const { return device_; }
  std::uint64_t id() const { return id_; }
  std::byte* parameters() { return parameters_.data(); }
  std::uint64_t parameter_bytes() const { return parameters_.size(); }
  std::uint64_t shared_bytes() const; // static and dynamic, per block
  std::uint64_t cluster_count() const { return cluster_count_; }
  std::uint64_t blocks_per_cluster() const { return config_.cluster.count(); }
  /// Coordinates in the grid of block `rank` of cluster `index`.
  Dim3 block_index(std::uint64_t cluster, std::uint32_t rank) const;
  Dim3 clusters() const; // clusters in x, y, z
  memory::Address cooperative_workspace() const { return workspace_; }

  /// "add<<<(4,1,1),(128,1,1)>>>" with the demangled name.
  std::string describe() const;

  // --- Launches by its threads -------------------------------------------------------------------
  /// How many launches led to it: 0 for the host's.
  void set_depth(unsigned depth) { depth_ = depth; }
  unsigned depth() const { return depth_; }
  /// By drivers, before the grid, which is that of the command, begins.
  void allow_launches(World& world, Command& command);
  /// nullptr: its threads cannot launch anything.
  DeviceLaunches* launches() const { return launches_.get(); }

  // --- Progress --------------------------------------------------------------------------------
  std::uint64_t next_cluster = 0; // first not started; guarded by the driver
  std::atomic<std::uint64_t> clusters_ended{0};

private:
  Services& services_;
  std::shared_ptr<isa::Program> program_;
  const isa::Kernel& kernel_;
  LaunchConfig config_;
  std::vector<std::byte> parameters_;
  int device_;
  std::uint64_t id_;
  std::uint64_t cluster_count_;
  memory::Address workspace_ = 0;
  unsigned depth_ = 0;
  std::unique_ptr<DeviceLaunches> launches_;
};

/// A demangled C++ name; the name itself if it is not mangled.
std::string demangle(const std::string& name);
/// The same without parameters: "void scan<int>".
std::string function_name(const std::string& name);

} // namespace heddle::machine
