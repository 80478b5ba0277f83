// PendingPairs: two commands that nothing orders and that access the same bytes, found by plain
// `heddle run` (RACE-COMMAND).
//
//   if (pairs.holds(command, before)) …         // it is to be kept back (machine/held_back.h)
//   if (auto work = pairs.begins(command)) …    // tell accessed() what its threads access
//   for (PairedRace& race : pairs.take_found()) …
//
// A command that is kept back has not begun, so no host thread has learnt of its end. One that is
// submitted meanwhile and does not come behind it is ordered with it by nothing but device code
// that waits for other device code; kernels that may do so are not looked at. If the bytes of two
// copies or sets overlap, that is a race. If a kernel is given memory that the other one accesses,
// it is executed an access at a time. Programs with one stream pay nothing. Thread safe.
//
// Misses: what has begun, or comes while a function of the host is pending, or after a stream has
// waited for a value; pointers that kernels find in memory; all but the first
// launches of each place; textures and surfaces; what comes after so many accesses.
#pragma once

#include "machine/access_listener.h"
#include "machine/world.h"
#include "runtime/diagnostics/pending_record.h"
#include "runtime/memory/kernel_reach.h"
#include "runtime/streams/rows.h"

#include <atomic>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace heddle::runtime {

struct PairedSide {
  machine::CommandPtr command;
  bool store = false;
  std::vector<const void*> called_from{};
  std::optional<machine::FaultReport> place; // of a kernel
};

struct PairedRace {
  PairedSide first, second; // in the order of the calls
  memory::Address at = 0;
};

struct PairedWork {
  struct Region {
    memory::Address begin = 0, end = 0;
    bool write = false;
    Rows rows{};
  };
  machine::CommandPtr command;
  std::vector<Region> regions; // of a kernel: what it may access
  std::vector<const void*> called_from{};
  std::vector<std::shared_ptr<PairedWork>> rivals{};
  PendingRecord record{}; // of a kernel that has a kernel for a rival

  bool is_kernel() const { return command->grid != nullptr; }
};
using PairedWorkPtr = std::shared_ptr<PairedWork>;

class PendingPairs {
public:
  explicit PendingPairs(memory::AddressSpace& space) : space_(space) {}

  /// The program has created a stream.
  static void has_streams();
  /// Is one kept back that another one may meet?
  static bool has_some();

  /// The command is being submitted, behind those of `before` (ids) that are kept back.
  bool holds(const machine::CommandPtr& command, const std::set<std::uint64_t>& before);
  /// It may begin. nullptr: nobody wants to know what it accesses.
  PairedWorkPtr begins(const machine::Command& command);
  /// A thread of the kernel accesses memory; `at` is the host's address.
  void accessed(
      PairedWork& work,
      const isa::Exec& exec,
      memory::Address at,
      std::uint32_t bytes,
      bool store
  );
  std::vector<PairedRace> take_found();

private:
  std::vector<PairedWork::Region> regions_of(const machine::Command& command);
  bool is_order_unseen(const machine::CommandPtr& command);
  bool is_worth(const machine::Command& command);
  void drop_what_is_over();
  void meet(const PairedWorkPtr& earlier, const PairedWorkPtr& later);
  void
  add_race(const PairedWork& other, bool other_stores, const PairedSide& here, memory::Address at);

  memory::AddressSpace& space_;
  KernelReaches reaches_;
  std::mutex mutex_;
  std::list<PairedWorkPtr> held_;
  std::list<PairedWorkPtr> told_;                   // kernels whose threads tell what they access
  std::vector<machine::CommandPtr> functions_;      // of the host, pending
  bool waits_for_value_ = false;                    // a stream has waited for one
  std::map<std::uint64_t, std::uint64_t> launches_; // by place in the program
  std::uint64_t accesses_ = 0;                      // looked at
  std::vector<PairedRace> found_;
};

} // namespace heddle::runtime
