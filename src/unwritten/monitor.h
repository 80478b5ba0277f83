// Unwritten: the monitor that looks for uses of memory that nobody has written (spec/memory.md,
// [MEM-INIT]).
//
//   auto unwritten = std::make_unique<unwritten::Unwritten>(space);
//   Unwritten* u = unwritten.get();
//   world.set_monitor(std::move(unwritten));      // an engine with one_at_a_time
//   … run …
//   for (const Report& report : u->reports()) …
//
// To copy what nobody has written is no defect: padding of structures, unused elements of a tile
// and empty optionals are copied all the time. So bits are followed through registers and memory,
// and reported where they matter: where a branch or an address depends on them, an atomic operation
// updates them, or something that was computed from them is stored to global memory. Memory of
// which nobody has written a single byte is reported where it is read or copied to the host; what
// the host has copied of other memory, where host code reads it (host_copies.h). What one reading
// instruction finds is reported once.
//
// May be wrong in this direction: one schedule is looked at. Not followed are values through
// parameters and results of functions that are called, through collectives whose lanes do not come
// together, through matrices and textures (misses). What is stored to global memory although nobody
// looks at it is reported, as is what an operation ignores (x * 0).
#pragma once

#include "machine/block.h"
#include "machine/monitor.h"
#include "unwritten/host_copies.h"
#include "unwritten/memory.h"
#include "unwritten/values.h"

#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <unordered_map>
#include <unordered_set>

namespace heddle::unwritten {

/// How a value mattered that nobody has written.
enum class Matter : std::uint8_t {
  Branch,
  Guard, // says whether an instruction with an effect is executed
  Address,
  Update,  // by an atomic operation
  Result,  // stored to global memory
  Nothing, // read, and nobody has written any byte of the allocation
  Copied,  // the same, by an API call
  HostRead // read by host code that has copied it
};

struct Report {
  Matter matter{};
  std::string who;          // "thread (1,0,0) of block (0,0,0) of kernel 'k<<<1,32>>>'"
  machine::FaultReport use; // where it mattered; Copied: nowhere
  machine::FaultReport read;
  std::string memory;                           // "shared memory, byte 16", "allocation …"
  std::optional<memory::Allocation> allocation; // in which it lies, if it is global memory
  std::uint32_t bytes = 0;                      // that were read
  int ended_lane = -1;           // read by a shuffle from this lane, which has ended or never was
  std::uint64_t count = 0;       // how often values of that read mattered
  const void* host_pc = nullptr; // HostRead: behind the read

  /// What was read is global memory.
  void lies_in(const memory::AddressSpace& space, memory::Address address);
};

class Unwritten final : public machine::Monitor {
public:
  explicit Unwritten(memory::AddressSpace& space);

  // --- machine::Monitor --------------------------------------------------------------------------
  std::unique_ptr<machine::BlockMonitor> watch(machine::Block& block) override;
  void loaded(const std::shared_ptr<isa::Program>& program, const isa::Kernel& kernel) override;
  void submitted(const machine::Command& /*command*/) override {}
  void host_waited(const machine::HostWait& /*wait*/) override {}
  void value_seen(const machine::Command& /*command*/) override {}
  void host_side_access(
      const machine::Command& command,
      memory::Address address,
      std::uint64_t bytes,
      bool store
  ) override;
  /// What was written there before is not known here: all of it counts as written.
  void mapped(memory::Address address, std::uint64_t bytes) override;

  /// Ordinary memory of the host: what instrumented code reads and writes.
  HostCopies& host_copies() { return host_copies_; }
  /// Host code that returns to `pc` has read it.
  void host_read(const HostCopies::Copy& copy, std::uint64_t bytes, const void* pc);

  /// In the order in which they were found.
  const std::deque<Report>& reports() const { return reports_; }

  // --- For BlockUnwritten ------------------------------------------------------------------------
  using Table = std::vector<std::unique_ptr<Use>>; // by op; nullptr: nothing that matters
  const Table& table(const isa::Code& code) {
    const std::lock_guard lock(mutex_);
    return tables_.at(&code);
  }
  Memory& memory() { return memory_; }
  memory::AddressSpace& space() { return space_; }
  /// The number of what `use` has read; `describe` fills in who, where if it is new.
  Origin origin(const Use& use, const std::function<void(Report&)>& describe);
  void found(Matter matter, Origin origin, const Use& use);

private:
  memory::AddressSpace& space_;
  Memory memory_;
  HostCopies host_copies_;
  std::map<const void*, Report*> host_reads_; // by pc
  std::mutex mutex_; // of tables_ and programs_: host threads load programs
  std::unordered_map<const isa::Code*, Table> tables_;
  std::unordered_set<std::shared_ptr<isa::Program>> programs_; // kept: tables point into them
  std::unordered_map<const isa::Op*, Origin> origins_;
  std::deque<Report> origin_reports_; // by origin; 0 stays free
  std::vector<Report*> found_;        // the same; nullptr: not yet
  std::deque<Report> reports_;
  std::unordered_set<memory::Address> copied_; // allocations
  // A copy: what it reads comes before what it writes, row by row.
  const machine::Command* copying_ = nullptr;
  std::vector<std::pair<memory::Address, std::uint64_t>> rows_;
  std::size_t next_row_ = 0;
};

} // namespace heddle::unwritten
