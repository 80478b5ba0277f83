// AccessMonitor: monitors the assumption that accesses are independent ([RED-INDEPENDENT],
// [RED-OWNED]). It finds out which thread made which strong access and what is assumed of it, and
// passes that on to Sums.
//
//   AccessMonitor monitor(options, journal, space, live, kinds, order_data);
//
//   monitor.begin_turn();                          // around each turn of a warp
//   monitor.end_turn(first_thread, epoch);
//
//   if (monitor.note(work, cluster, own)) …        // before the journal absorbs what it has noted
//
//   monitor.carried_out(work);                     // a copy, or any command that is not a kernel
//
//   monitor.sums().clash()
//
// May be wrong: as Sums.
#pragma once

#include "machine/live_state.h"
#include "memory/address_space.h"
#include "model/memory_journal.h"
#include "reduce/independence/access_kinds.h"
#include "reduce/independence/left_movers.h"
#include "reduce/independence/order_data.h"
#include "reduce/independence/sums.h"
#include "reduce/options.h"
#include "reduce/states/work.h"

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace heddle::reduce {

class AccessMonitor {
public:
  AccessMonitor(
      const StepperOptions& assumed,
      const MemoryJournal& journal,
      const memory::AddressSpace& space,
      LiveState& live,
      AccessKinds& kinds,
      OrderData& order_data
  )
      : assumed_(assumed),
        journal_(journal),
        space_(space),
        live_(live),
        kinds_(kinds),
        order_data_(order_data),
        sums_(assumed.mutant),
        movers_(assumed.mutant) {}

  /// Has a move made an access since then that its cluster may keep its number for ([RED-OWNED])?
  /// `settled`: the bucket of a read that it makes before what others do ([RED-SETTLED]).
  void begin_move(std::optional<unsigned> settled) {
    made_owned_ = false;
    made_.clear();
    owned_.clear();
    settled_ = settled;
  }
  bool made_owned() const { return made_owned_; }

  /// A warp is about to run. Accesses that were noted since the last turn are by nobody known.
  void begin_turn() { by_.resize(journal_.strong().size()); }
  /// It has run; `first`: the number of its first thread in the cluster.
  void end_turn(std::uint32_t first, std::uint64_t epoch);
  /// Strong accesses since the last call; `own`: memory that belongs to the cluster. True: some are
  /// no sums, so that in another order of grids they may find something else.
  bool note(Work& work, std::size_t cluster, std::span<const MemoryJournal::Bytes> own);
  void carried_out(const Work& work);
  /// A command that is not complete looks at what threads may access, nobody knows when.
  void looks(const Work& work, const Command::Region& at);
  /// The accesses of a move that may meet what is open of others.
  const std::vector<MadeAccess>& made() const { return made_; }
  /// The owned accesses of a move ([RED-OWNED]), with the numbers that threads and blocks have in
  /// the cluster.
  const std::vector<Sums::Access>& owned() const { return owned_; }
  /// The move was not executed, since another cluster, or another thread of it, has done the same
  /// before: it has made these accesses, too. `thread`: all of them are by this one of the cluster.
  void note_again(
      const Work& work,
      std::size_t cluster,
      std::span<const Sums::Access> owned,
      std::optional<std::uint32_t> thread
  );
  LeftMovers& movers() { return movers_; }
  const LeftMovers& movers() const { return movers_; }
  Sums& sums() { return sums_; }
  const Sums& sums() const { return sums_; }

private:
  void name_maker(
      Sums::Access& access,
      const Work& work,
      std::size_t cluster,
      std::uint32_t thread
  ) const;
  void
  note_owned(Work& work, std::size_t cluster, const Sums::Access& access, std::uint32_t thread);
  void note_mover(Work& work, const MadeAccess& made, bool opens, bool closes);
  void note_ended(Work& work, std::size_t cluster);

  struct By {                 // whom one of the journal's strong accesses is by
    std::uint32_t thread = 0; // in its cluster, 32 for each warp
    std::uint64_t epoch = 0;
  };

  const StepperOptions& assumed_;
  const MemoryJournal& journal_;
  const memory::AddressSpace& space_;
  LiveState& live_;
  AccessKinds& kinds_;
  OrderData& order_data_;
  Sums sums_;
  LeftMovers movers_;
  std::vector<MadeAccess> made_;
  std::vector<Sums::Access> owned_;
  std::vector<By> by_;
  std::uint64_t unknown_threads_ = 0;
  bool made_owned_ = false;
  std::optional<unsigned> settled_;
};

} // namespace heddle::reduce
