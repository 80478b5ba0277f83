// World: the machine as the host sees it: commands, their order, and ways to wait for them.
//
// Streams, events and graphs are all one thing here: a command may not begin before every command
// in its `after` list has completed ([DEP]). The runtime turns stream order, the legacy default
// stream, cudaStreamWaitEvent and graph edges into such lists. How commands and device threads get
// their turns is the Driver's business: the engine (heddle run) uses all cores, the explorer tries
// every order.
#pragma once

#include "isa/program.h"
#include "memory/address_space.h"

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace heddle::machine {

struct Dim3 {
  std::uint32_t x = 1, y = 1, z = 1;
  std::uint64_t count() const { return std::uint64_t{x} * y * z; }
};

struct LaunchConfig {
  Dim3 grid, block, cluster;
  bool explicit_cluster = false;
  bool cooperative = false;
  bool programmatic = false; // may begin before the grid it follows has completed
  std::uint32_t dynamic_shared = 0;
};

enum class CommandKind : std::uint8_t {
  Kernel,
  Copy,
  Set,
  EventRecord,
  HostFunction,
  Allocate,
  Free,
  Empty
};

class Grid; // grid.h: blocks, clusters, progress state of one kernel launch

/// One piece of work for a device. Shared between the runtime (which waits for it) and the driver.
struct Command {
  CommandKind kind = CommandKind::Empty;
  int device = 0;
  std::uint64_t id = 0; // dense, set by submit
  std::string label;    // "kernel 'add<<<4,128>>>'", "cudaMemcpyAsync", for reports
  std::string stream;   // "stream 2", for reports
  std::vector<std::shared_ptr<Command>> after; // cleared on completion
  std::function<void()> work;                  // every kind but Kernel: what is done when it runs
  std::shared_ptr<Grid> grid;                  // Kernel
  std::atomic<bool> done{false};
  std::uint64_t completed_at = 0; // ns on the world's clock, for cudaEventElapsedTime
};
using CommandPtr = std::shared_ptr<Command>;

/// A fault that a device thread caused; the context is unusable afterwards, as on a real device.
struct FaultReport {
  isa::Fault fault;
  std::string kernel; // demangled, with launch configuration
  Dim3 block, thread; // coordinates
  std::string source; // "file.cu:12:3" of the CUDA source if known
  std::string text;   // the whole report as printed
  bool unsupported = false;
};

/// Decides who moves. Implemented by Engine (engine.h) and by the explorer.
class Driver {
public:
  virtual ~Driver() = default;
  virtual void submitted(const CommandPtr& command) = 0;
  /// Blocks the calling host thread until done() holds. `what` names the API call for reports.
  virtual void wait(const std::function<bool()>& done, const char* what) = 0;
  /// A query (cudaStreamQuery & co.) found !ready; lets others move. Returns what it may answer.
  virtual bool query(const std::function<bool()>& ready) = 0;
  /// Any other API call: a scheduling point of the host.
  virtual void api_call(const char* name) = 0;
};

class World {
public:
  World(memory::AddressSpace& space, int devices);
  ~World();

  memory::AddressSpace& space() { return space_; }
  void set_driver(std::unique_ptr<Driver> driver);
  Driver& driver() { return *driver_; }

  /// Makes the command known; it may begin from now on. Sets id. Commands that are complete in
  /// `after` are dropped.
  void submit(const CommandPtr& command);

  /// Builds the grid for a launch. `arguments` are copied. Errors: Input with the reason in words
  /// (block too large, too much shared memory, cooperative grid too large, …).
  Result<std::shared_ptr<Grid>> make_grid(
      std::shared_ptr<isa::Program> program,
      const isa::Kernel& kernel,
      const LaunchConfig& config,
      std::span<const std::byte> parameter_block,
      int device
  );

  /// First fault of a device since the last reset (cudaDeviceReset), if any.
  std::optional<FaultReport> fault() const;
  void report_fault(FaultReport report);

  /// Nanoseconds since start.
  std::uint64_t now() const;

private:
  struct Impl;
  memory::AddressSpace& space_;
  std::unique_ptr<Driver> driver_;
  std::unique_ptr<Impl> impl_;
};

} // namespace heddle::machine
