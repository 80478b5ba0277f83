// World: the machine as the host sees it: commands, their order, and ways to wait for them.
//
// Streams, events and graphs are all one thing here: a command may not begin before every command
// in its `after` list has completed ([DEP]). The runtime turns stream order, the legacy default
// stream, cudaStreamWaitEvent and graph edges into such lists. How commands and device threads get
// their turns is the Driver's business: the engine (heddle run) uses all cores, the explorer tries
// every order.
#pragma once

#include "isa/program.h"
#include "machine/device.h"
#include "machine/value_wait.h"
#include "memory/address_space.h"

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

namespace heddle {
class Hasher;
}

namespace heddle::machine {

struct Dim3 {
  std::uint32_t x = 1, y = 1, z = 1;
  std::uint64_t count() const { return std::uint64_t{x} * y * z; }
};

struct LaunchConfig {
  Dim3 grid = {};
  Dim3 block = {};
  Dim3 cluster = {};
  bool explicit_cluster = false;
  bool cooperative = false;
  bool programmatic = false; // may begin before the grid it follows has completed
  std::uint32_t dynamic_shared = 0;
  std::vector<const void*> called_from{}; // return addresses of host code, innermost first
};

enum class CommandKind : std::uint8_t {
  Kernel,
  Copy,
  Set,
  EventRecord,
  HostFunction,
  Allocate,
  Free,
  ValueWait, // for a value in memory: see Command::value
  Empty
};

class Grid; // grid.h: blocks, clusters, progress state of one kernel launch

class Monitor;   // monitor.h
class Unawaited; // unawaited.h

struct Command;

/// What of a grid has to have happened before a command that depends on it programmatically begins.
enum class Trigger : std::uint8_t {
  Dependents, // each of its blocks has executed griddepcontrol.launch_dependents or ended
  Launch      // it may begin itself, see [DEP-BEGUN]
};

/// A programmatic dependency: a driver may, and need not, let the command begin before the grid has
/// completed.
struct EarlyDependency {
  std::shared_ptr<Command> grid;
  Trigger on = Trigger::Dependents;
  bool awaited = true; // griddepcontrol.wait of the command's grid waits for it
};

/// A grid that may still run when a command begins that depends on it.
struct Overlap {
  std::shared_ptr<Command> grid;
  bool awaited = true;
};

/// What a command that records an event, or waits for one, has besides.
struct OfEvent {
  // Of a record that completed as it was submitted: how often calls had told the host by then what
  // has completed. It may still be told "not ready" until the next one.
  std::uint64_t told_before = 0;
  /// An id. Of a record: the one before it; of what makes a stream wait for one: that one.
  std::uint64_t record = 0;
};

/// One piece of work for a device. Shared between the runtime (which waits for it) and the driver.
struct Command {
  CommandKind kind = CommandKind::Empty;
  int device = 0;
  std::uint64_t id = 0; // dense, set by submit
  std::string label;    // "kernel 'add<<<4,128>>>'", "cudaMemcpyAsync", for reports
  std::string stream;   // "stream 2", for reports
  /// Of several launches of a kernel: " (launch 2)", for reports. Set by the driver that needs it.
  std::string which;
  std::vector<std::shared_ptr<Command>> after; // cleared on completion
  std::vector<std::uint64_t> behind;           // ids of all in `after`, complete or not; by submit
  /// Cleared on completion. A kernel does not complete before these grids have: what follows it
  /// follows them, too. Another command (an event's record) completes when it may begin.
  std::vector<EarlyDependency> early;
  /// The grids of `early`, and those that it has come behind by waiting for an event that does not
  /// stand for their completion; set by submit.
  std::vector<Overlap> overlaps;
  std::function<void()> work; // every kind but Kernel: what is done when it runs
  std::uint64_t content = 0;  // names what that is, in all that the label does not say
  struct Region {             // bytes, from the first to the last, as the program names them
    memory::Address begin = 0;
    std::uint64_t bytes = 0;
    bool write = false;
  };
  /// What `work` accesses, and `more` goes by; none: that is not known.
  std::optional<std::vector<Region>> touches;
  std::shared_ptr<Grid> grid;     // Kernel
  std::optional<ValueWait> value; // ValueWait: it completes while this holds
  /// Asked when all that is the command's own is done, and again when what it answered has
  /// completed: what else has to complete before the command has. It submits those; none: nothing
  /// more.
  std::function<std::vector<std::shared_ptr<Command>>()> more;
  std::uint64_t part_of = 0;  // id of the command that does not complete before this one has
  bool after_threads = false; // … and whose threads have all ended
  std::atomic<bool> done{false};
  std::uint64_t completed_at = 0; // ns on the world's clock, for cudaEventElapsedTime
  OfEvent event;
};
using CommandPtr = std::shared_ptr<Command>;

/// A place in the CUDA source, from `.loc`; line 0: not known.
struct SourcePlace {
  std::string file;
  std::uint32_t line = 0;
  std::uint32_t column = 0;
  std::string function; // which contains it, as a user writes it; empty: unknown
};

/// Who waits or spins, and where.
struct Waiting {
  SourcePlace place;    // the user's own source, if there is any
  std::string text;     // "thread (0,0,0) of block (0,0,0) and 31 more spins (setp…)"
  std::string kernel{}; // "scan<<<3,32>>>"; empty: not a device thread
  std::vector<SourcePlace> inlined_at{}; // call sites of `place`, innermost first
  SourcePlace library{};                 // what `place` calls, if that is no user's source
};

/// What a device thread did wrong, or what Heddle cannot do for it; the context is unusable
/// afterwards, as on a real device.
struct FaultReport {
  enum class Kind : std::uint8_t {
    Fault,
    Unsupported,
    Deadlock,
    Starvation,
    Livelock
  } kind = Kind::Fault;
  bool host_may_act = false; // no hang if a host thread ends it
  isa::Fault fault;          // Fault, Unsupported
  std::string kernel;        // "add<<<4,128>>>"
  Dim3 block, thread;        // coordinates
  std::uint32_t lanes = 1;   // threads of the warp that did the same wrong
  SourcePlace source;
  std::vector<SourcePlace> inlined_at;       // call sites, innermost first
  std::string instruction;                   // PTX text
  std::optional<memory::Allocation> nearest; // of an address in global memory
  std::vector<Waiting> waits;                // Deadlock, Hang: who waits for what
  /// The kernels that it is about, with LaunchConfig::called_from.
  std::vector<std::pair<std::string, std::vector<const void*>>> launches;
};

/// Decides who moves. Implemented by Engine (engine.h) and by the explorer.
class Driver {
public:
  virtual ~Driver() = default;
  virtual void submitted(const CommandPtr& command) = 0;
  /// Blocks the calling host thread until done() holds, which it does when `commands` are complete
  /// or a fault has happened. `what` names the API call for reports.
  virtual void wait(
      const std::function<bool()>& done,
      std::span<const CommandPtr> commands,
      const char* what
  ) = 0;
  /// Calls it while no cluster and no copy is under way.
  virtual void alone(const std::function<void()>& call) { call(); }
  /// The program ends: carries out what can be carried out, without a word where that has no end.
  /// Returns whether everything is complete, or a fault has happened.
  virtual bool complete_rest() { return true; }
  /// A query (cudaStreamQuery & co.) found !ready; lets others move. Returns what it may answer.
  virtual bool query(const std::function<bool()>& ready, std::span<const CommandPtr> commands) = 0;
  /// The call under way answers by what devices have done so far, other than by "not ready" (a
  /// pool's use of memory): it may be asked before and after each of their moves.
  virtual void observe(const char* /*name*/) {}
  /// Any other API call: a scheduling point of the host.
  virtual void api_call(const char* name) = 0;
  /// The call is about to return.
  virtual void api_return(const char* /*name*/) {}
  /// It has left something behind that neither memory, nor commands, nor World::hash_api_state()
  /// tell.
  virtual void api_changed() {}
  /// Names what the API keeps of the calling thread.
  virtual void api_holds(std::uint64_t /*held*/) {}
  /// The call has returned `code`, and is over.
  virtual void api_returned(std::uint64_t /*code*/) {}

  /// wait(), for a call that could return without that ([API-WAIT]).
  void wait_unpromised(
      const std::function<bool()>& done,
      std::span<const CommandPtr> commands,
      const char* what
  ) {
    promised_ = false;
    wait(done, commands, what);
  }

protected:
  /// Asked once, as wait() begins.
  bool is_promised() { return promised_.exchange(true); }

private:
  std::atomic<bool> promised_{true};
};

/// What device code asks of the world around its grid.
class Services {
public:
  virtual ~Services() = default;
  virtual memory::AddressSpace& space() = 0;
  virtual const DeviceModel& model() const = 0;
  virtual std::uint64_t now() const = 0;    // ns since start
  virtual void print(std::string text) = 0; // printf of a device thread
  virtual memory::Address heap_allocate(int device, std::uint64_t bytes) = 0; // 0: no room
  virtual bool heap_free(memory::Address p) = 0; // false: no live heap pointer
  virtual Monitor* monitor() { return nullptr; } // nullptr: nobody watches
  /// [BAR-GUIDE]: do threads that have ended hold up a barrier of all threads?
  virtual bool ended_hold_up_barriers() const { return false; }
  /// What is no defect by the rules that hold, and one by others that people go by.
  virtual void remark(const FaultReport& /*what*/) {}
};

class World final : public Services {
public:
  World(memory::AddressSpace& space, const DeviceModel& model, int devices);
  ~World() override;

  memory::AddressSpace& space() override { return space_; }
  const DeviceModel& model() const override { return model_; }
  int devices() const { return devices_; }
  void set_driver(std::unique_ptr<Driver> driver);
  Driver& driver() { return *driver_; }
  /// Before the first launch.
  void set_monitor(std::unique_ptr<Monitor> monitor);
  Monitor* monitor() override { return monitor_.get(); }
  /// Before the first launch: from now on unawaited() knows of each command.
  void follow_unawaited();
  /// nullptr: nobody has asked for it.
  Unawaited* unawaited() { return unawaited_.get(); }
  /// Before the first launch.
  void let_ended_hold_up_barriers() { ended_hold_up_ = true; }
  bool ended_hold_up_barriers() const override { return ended_hold_up_; }
  void on_remark(std::function<void(const FaultReport&)> listener);
  void remark(const FaultReport& what) override;

  /// Makes the command known; it may begin from now on. Sets id, `behind` and `overlaps`. Commands
  /// that are complete are dropped in `after`, `early` and `overlaps`.
  void submit(const CommandPtr& command);

  /// Builds the grid for a launch. `parameter_block` is laid out as Kernel::parameters says.
  /// Errors: Input with the reason in words (block too large, too much shared memory, cooperative
  /// grid too large, cluster does not divide the grid, …).
  Result<std::shared_ptr<Grid>> make_grid(
      std::shared_ptr<isa::Program> program,
      const isa::Kernel& kernel,
      const LaunchConfig& config,
      std::span<const std::byte> parameter_block,
      int device
  );

  // --- Faults ----------------------------------------------------------------------------------
  /// First fault since the last clear_fault().
  std::optional<FaultReport> fault() const;
  bool has_fault() const { return has_fault_.load(std::memory_order_acquire); }
  /// Called by drivers. The first one is kept and handed to the listener (which prints it).
  void report_fault(FaultReport report);
  void on_fault(std::function<void(const FaultReport&)> listener);
  void clear_fault(); // cudaDeviceReset

  // --- Ctrl-C ------------------------------------------------------------------------------------
  /// For signal handlers: asks the driver to report what is resident and waits for what. False if
  /// nothing has been submitted yet, so that nobody would answer.
  bool interrupt() noexcept;
  bool interrupted() const { return interrupted_.load(std::memory_order_relaxed); }
  void listen_for_interrupts() { listening_.store(true, std::memory_order_relaxed); }
  void on_interrupt(std::function<void(const std::vector<std::string>&)> listener);
  void report_interrupt(const std::vector<std::string>& lines);

  // --- Services --------------------------------------------------------------------------------
  std::uint64_t now() const override;
  /// From now on time does not pass, but each look at a clock finds it 1 µs later: nothing depends
  /// on how fast we are, and whoever waits for a time gets there.
  void use_virtual_time() { virtual_now_ = 1; }
  std::uint64_t virtual_time() const { return virtual_now_.load(std::memory_order_relaxed); }
  void set_virtual_time(std::uint64_t time) { virtual_now_.store(time, std::memory_order_relaxed); }
  /// Kept until flush_output(), as a real device does.
  void print(std::string text) override;
  memory::Address heap_allocate(int device, std::uint64_t bytes) override;
  bool heap_free(memory::Address p) override;
  /// Writes what device threads have printed to stdout; at every synchronising call and at exit.
  void flush_output();
  /// What is kept now, and forgetting what was printed since: moves are taken back.
  std::size_t output_bytes() const;
  void drop_output_from(std::size_t bytes);
  void set_heap_limit(std::uint64_t bytes) { heap_limit_ = bytes; } // cudaLimitMallocHeapSize
  std::uint64_t heap_limit() const { return heap_limit_; }

  // --- Names of states ---------------------------------------------------------------------------
  /// Names a command that is not complete; 0: it is.
  using NameOfCommand = std::function<std::uint64_t(const Command&)>;
  /// What the API keeps besides memory and commands (streams, events).
  using ApiState = std::function<void(Hasher&, const NameOfCommand&)>;
  void set_api_state(ApiState state) { api_state_ = std::move(state); }
  void hash_api_state(Hasher& hasher, const NameOfCommand& name) const {
    if (api_state_) {
      api_state_(hasher, name);
    }
  }

private:
  static std::vector<Overlap> overlaps_of(const Command& command);

  memory::AddressSpace& space_;
  DeviceModel model_;
  int devices_;
  std::unique_ptr<Monitor> monitor_;
  std::unique_ptr<Unawaited> unawaited_;
  std::unique_ptr<Driver> driver_;
  std::atomic<std::uint64_t> next_id_{1};
  bool fault_claimed_ = false;
  std::atomic<bool> has_fault_{false};
  std::atomic<bool> interrupted_{false};
  std::atomic<bool> listening_{false};
  std::function<void(const std::vector<std::string>&)> interrupt_listener_;
  mutable std::atomic<std::uint64_t> virtual_now_{0}; // 0: real time
  mutable std::mutex mutex_;                          // fault, output, heap
  std::optional<FaultReport> fault_;
  std::function<void(const FaultReport&)> listener_;
  bool ended_hold_up_ = false;
  std::function<void(const FaultReport&)> remarks_; // once for each place
  std::set<std::string> remarked_;
  ApiState api_state_;
  std::string output_;
  std::uint64_t heap_used_ = 0;
  std::uint64_t heap_limit_ = 8ULL << 20;
};

} // namespace heddle::machine
