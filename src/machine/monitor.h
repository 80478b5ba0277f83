// Monitor: whoever watches what orders memory accesses in a machine, in order to find data races.
//
// The machine itself tells a monitor about barriers, warps that meet, commands and host threads
// that wait; what single instructions do to memory a monitor sees by putting handlers of its own in
// the place of those that access memory (loaded()). So without a monitor nothing is slower but
// barriers, by one test. A monitor needs an engine that lets one cluster run at a time
// (EngineOptions::one_at_a_time), and need not lock anything between these calls and its handlers,
// but for submitted() and host_waited(), which host threads call.
#pragma once

#include "isa/exec.h"
#include "machine/world.h"

#include <pthread.h>

#include <memory>
#include <span>
#include <vector>

namespace heddle::machine {

class Block;

/// One per Block object; started() begins a new life.
class BlockMonitor {
public:
  virtual ~BlockMonitor() = default;
  /// What a monitor watches. Two may share a block (monitor_pair.h).
  enum class Subject {
    Order, // of accesses: races
    Values // which have been written
  };
  virtual BlockMonitor& of(Subject /*subject*/) { return *this; }
  /// The block is at its first instruction: coordinates and rank are known.
  virtual void started() = 0;
  struct Arrival {
    bool counted = false; // with a number of threads
    bool waits = false;   // it is not bar.arrive
    bool aligned = false; // of all lanes that do not wait elsewhere
  };
  /// Lanes of warp `w` are about to arrive at barrier `id`.
  virtual void arriving(std::size_t /*id*/, std::size_t /*w*/, isa::LaneMask, const Arrival&) {}
  /// Lanes of warp `w` have executed bar.arrive on barrier `id`.
  virtual void arrived(std::size_t id, std::size_t w, isa::LaneMask lanes) = 0;
  /// Barrier `id` has opened; waiting[w]: the lanes that waited at it; counted: it had a thread
  /// count.
  virtual void opened(std::size_t id, std::span<const isa::LaneMask> waiting, bool counted) = 0;
  /// Lanes have executed barrier.cluster.arrive.
  virtual void cluster_arrived(std::size_t w, isa::LaneMask lanes, bool release) = 0;
  /// The phase is complete: told to rank 0.
  virtual void cluster_opened() = 0;
  /// A thread of the block accesses the shared memory of another block of its cluster.
  virtual void neighbour_accessed(std::uint32_t /*rank*/) {}
  /// Lanes go on behind barrier.cluster.wait (told before the next phase can complete).
  virtual void cluster_passed(std::size_t w, isa::LaneMask lanes) = 0;
  /// Lanes have met in bar.warp.sync.
  virtual void warp_synced(std::size_t w, isa::LaneMask lanes) = 0;
  /// Some lanes have executed griddepcontrol.wait.
  virtual void dependency_waited() = 0;
  /// What compiled code tells it; nullptr: the program is interpreted.
  virtual const isa::RegionWatch* region_watch() const { return nullptr; }
  /// A thread of the block has submitted a command: all that it knows comes before that.
  virtual void launched(std::size_t /*thread*/, const Command& /*command*/) {}
};

/// What orders host threads, as far as instrumented code tells: of the calling thread. Thread safe.
class HostOrder {
public:
  virtual ~HostOrder() = default;
  /// From now on host threads are told apart; until then all count as one.
  virtual void tell_apart() = 0;
  /// It is about to hand on, by an object such as a mutex, all that it has done …
  virtual void released(const void* object) = 0;
  /// … or has taken what others have handed on.
  virtual void acquired(const void* object) = 0;
  /// It has performed an atomic operation. `order`: __ATOMIC_RELAXED and so on.
  virtual void atomic(const void* object, int order, bool loads, bool stores) = 0;
  virtual void fence(int order) = 0;
  /// It is about to make a volatile read: what that sees counts when it does anything else.
  virtual void about_to_read(const void* object) = 0;
  /// It makes another thread. `same`: which counts as the calling one. Returns what that one says …
  virtual void* creates(bool same) = 0;
  /// … when it begins.
  virtual void begins(void* thread, pthread_t self) = 0;
  virtual void joined(pthread_t thread) = 0;
};

/// What a call of the host has waited for.
struct HostWait {
  std::span<const CommandPtr> commands;
  int device = 0;         // and all that it was given …
  std::uint64_t last = 0; // … up to the command with this id
  /// The name of a call that could have returned without that ([API-WAIT]); nullptr: it could not.
  const char* unpromised = nullptr;
  bool for_events = false; // these are records of events that it has waited for
};

class Monitor {
public:
  virtual ~Monitor() = default;
  virtual std::unique_ptr<BlockMonitor> watch(Block& block) = 0;
  /// A kernel of `program` is about to be launched; the same one may come again.
  virtual void loaded(const std::shared_ptr<isa::Program>& program, const isa::Kernel& kernel) = 0;
  /// The command's id and complete `after` list are known. Called by any host thread.
  virtual void submitted(const Command& command) = 0;
  /// The calling host thread has waited.
  virtual void host_waited(const HostWait& wait) = 0;
  enum class Moment : std::uint8_t {
    Begins,
    Ends
  };
  /// The calling thread runs a function of the host that a stream has called. The end is told while
  /// nothing else runs (Driver::alone).
  virtual void runs_function(const Command& /*command*/, Moment /*moment*/) {}
  virtual HostOrder* host_order() { return nullptr; }
  /// A stream that waited for a value has seen it.
  virtual void value_seen(const Command& command) = 0;
  /// A copy or a set reaches `bytes` at `address`, in global memory or the host's.
  virtual void host_side_access(
      const Command& command,
      memory::Address address,
      std::uint64_t bytes,
      bool store
  ) = 0;
  /// Host code that returns to `pc` is about to access `bytes` at `address`, which devices reach,
  /// too. Told while nothing else runs (Driver::alone).
  virtual void host_access(
      memory::Address /*address*/,
      std::uint64_t /*bytes*/,
      bool /*store*/,
      const void* /*pc*/
  ) {}
  /// Memory may be used from now on, and until now: a stream has carried out its allocation, or its
  /// free. Told as the command is carried out.
  virtual void life_begins(
      const Command& /*command*/,
      memory::Address /*address*/,
      std::uint64_t /*bytes*/
  ) {}
  virtual void life_ends(
      const Command& /*command*/,
      memory::Address /*address*/,
      std::uint64_t /*bytes*/
  ) {}
  /// Memory holds what it held at other addresses, or in another process: it has been mapped here.
  /// Told while nothing else runs (Driver::alone).
  virtual void mapped(memory::Address /*address*/, std::uint64_t /*bytes*/) {}
};

} // namespace heddle::machine
