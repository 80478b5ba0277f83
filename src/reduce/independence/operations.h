// Operations: what the operation at which a thread stands is to the search: whether others can tell
// when it happens, and who waits for what. (Whether it is a choice depends on the state of its
// cluster, too: LaneChoices::is_choice.)
//
//   operations.classify(lane).kind == OperationKind::Silent
//
// It owns those that know one kind of operation each: accesses, mbarriers, barriers of libraries,
// clocks, and loops that poll.
#pragma once

#include "model/weak_order.h"
#include "ptx/effect.h"
#include "reduce/independence/access_kinds.h"
#include "reduce/independence/library_barriers.h"
#include "reduce/independence/mbarriers.h"
#include "reduce/independence/polls.h"
#include "reduce/independence/trial.h"
#include "reduce/options.h"
#include "reduce/persistent_sets/clocks.h"

#include <cstdint>
#include <functional>
#include <utility>

namespace heddle::reduce {

/// What has happened at least once since the search began.
struct SeenOperations {
  bool plain_access = false;
  bool vectors_at_once = false; // elements of a vector were accessed by one move
  bool bytes_at_once = false;   // an asynchronous copy has told an mbarrier at once
  bool sums_at_once = false;    // an asynchronous reduction has changed memory at once
};

class Operations final : public TrialRules {
public:
  /// `library_call`: called for each call of a function of which nobody knows what it reads.
  Operations(
      isa::Exec& exec,
      MemoryJournal& journal,
      LiveState& live,
      const memory::AddressSpace& space,
      const StepperOptions& options,
      std::function<void()> library_call
  );
  Operations(const Operations&) = delete;
  Operations& operator=(const Operations&) = delete;

  Operation classify(const Lane& at) override;
  void show_time(const Lane& at) override { clocks_.show(at); }
  bool concerns_others(const Lane& at) override {
    return library_barriers_.polls(at) || classify(at).kind != OperationKind::Silent;
  }

  /// malloc and free of threads are known (device_heap.h).
  void know_heap() { own_heap_ = true; }
  /// Has a call been met since the last time? What it does depends on more than memory.
  bool take_call() { return std::exchange(met_call_, false); }
  const SeenOperations& seen() const { return seen_; }
  /// Instructions that were only tried out.
  std::uint64_t tried_out() const { return trials_.instructions; }

  AccessKinds& kinds() { return kinds_; }
  Clocks& clocks() { return clocks_; }
  const Clocks& clocks() const { return clocks_; }
  Mbarriers& mbarriers() { return mbarriers_; }
  const Mbarriers& mbarriers() const { return mbarriers_; }
  LibraryBarriers& library_barriers() { return library_barriers_; }
  const LibraryBarriers& library_barriers() const { return library_barriers_; }
  Polls& polls() { return polls_; }

private:
  Operation classify_access(
      const Lane& at,
      const isa::Op& op,
      const ptx::Instruction& i,
      const ptx::Effect& effect
  );
  Operation classify_call(const ptx::Instruction& call);
  Operation
  located(const Lane& at, Operation as, const ptx::Instruction& i, std::uint64_t address) const;
  Operation strong_access(const Lane& at, Operation as, memory::Address address);
  bool is_free(const isa::Code& code, const isa::Op& op, memory::Address address);
  bool contended(const isa::Code& code, const isa::Op& op, memory::Address address);
  static bool is_neighbours(const Lane& at, const ptx::Instruction& i, std::uint64_t address);
  bool is(Mutant mutant) const { return options_.mutant == mutant; }

  isa::Exec& exec_;
  MemoryJournal& journal_;
  LiveState& live_;
  const StepperOptions& options_;
  std::function<void()> library_call_;
  AccessKinds kinds_;
  Trials trials_;
  Clocks clocks_;
  Mbarriers mbarriers_;
  LibraryBarriers library_barriers_;
  Polls polls_;
  SeenOperations seen_;
  bool met_call_ = false;
  bool own_heap_ = false;
};

} // namespace heddle::reduce
