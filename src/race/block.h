// BlockRaces: the clocks of one block's threads, its shared memory's shadow, and what each
// instruction and each barrier does to them.
//
// A thread's knowledge is kept in parts, so that the usual cases cost no more than a number: its
// own tick; `block_known`: what every thread of its block did up to that tick has happened before;
// `warp_known`: the same of its warp; everything else is in `others`. A barrier of the whole block
// gives all threads the same tick.
#pragma once

#include "memory/access_value.h"
#include "race/monitor.h"

#include <array>
#include <optional>

namespace heddle::race {

class BlockRaces final : public machine::BlockMonitor {
public:
  BlockRaces(Races& races, machine::Block& block);

  /// The handler of every site: the original one, and what it means.
  static const isa::Op* execute(isa::Exec& exec, const isa::Op& op);

  // --- machine::BlockMonitor ---------------------------------------------------------------------
  const isa::RegionWatch* region_watch() const override;
  void started() override;
  void arrived(std::size_t id, std::size_t w, isa::LaneMask lanes) override;
  void opened(std::size_t id, std::span<const isa::LaneMask> waiting, bool counted) override;
  void cluster_arrived(std::size_t w, isa::LaneMask lanes, bool release) override;
  void cluster_opened() override;
  void cluster_passed(std::size_t w, isa::LaneMask lanes) override;
  void warp_synced(std::size_t w, isa::LaneMask lanes) override;
  void dependency_waited() override { waited_ = true; }
  void launched(std::size_t thread, const machine::Command& command) override;

private:
  /// What a thread knew at some moment; cheap to take.
  struct Snapshot {
    Clock others;
    std::uint32_t tick = 0; // 0: none
    std::uint32_t block_known = 0;
    std::uint32_t warp_known = 0;
    std::uint32_t site = 0;
    bool in_order = false;
  };
  struct Thread;
  /// What few threads need.
  struct Extra {
    Snapshot fence[4];                                   // of the last fence of at least that scope
    Snapshot shared_fence;                               // … for objects in shared memory only
    std::vector<Message> observed;                       // by relaxed reads: a fence acquires them
    std::vector<std::uint32_t> bulk_group;               // bulk copies not yet committed
    std::deque<std::vector<std::uint32_t>> bulk_groups;  // committed, not yet waited for
    std::deque<std::vector<std::uint32_t>> bulk_reading; // the same, of their reads
    std::vector<std::uint32_t> bulk_reads;
  };
  /// Of a thread. They lie side by side (now_): each access looks at those of its whole warp.
  struct Now {
    std::uint32_t tick = 1;
    std::uint32_t block_known = 0;
    bool operator==(const Now&) const = default;
  };
  struct Thread {
    std::uint32_t warp_known = 0;
    Clock others;
    std::unique_ptr<Extra> extra;
    Extra& more() {
      if (extra == nullptr) {
        extra = std::make_unique<Extra>();
      }
      return *extra;
    }
  };
  /// Where an access goes.
  struct Place {
    Shadow* shadow = nullptr;    // nullptr: local memory or parameters, not looked at
    std::uint64_t address = 0;   // shared memory: in the block
    BlockRaces* owner = nullptr; // shared memory: of which block
  };
  struct WarpCopies { // cp.async of one warp
    std::uint32_t agent = 0;
    std::array<std::uint32_t, isa::warp_size> tick{};              // of the group that is open
    std::array<std::vector<std::uint32_t>, isa::warp_size> groups; // committed: their ticks
    /// By lane and tick of a group: the thread's own tick when it had waited for it; 0: not yet.
    std::array<std::vector<std::uint32_t>, isa::warp_size> waited_at;
    bool arrives = false; // some arrived at an mbarrier, which tells others
  };
  struct WarpProducts {      // wgmma of one warp
    std::uint32_t agent = 0; // of its warpgroup
    std::uint64_t issued = 0;
    std::uint32_t tick = 1;           // of the group that is open
    std::deque<std::uint32_t> groups; // committed, not yet waited for
  };
  struct Mbarrier {
    Clock arriving, complete;
    std::uint32_t phase = 0;
  };

  // --- Clocks (block.cpp) ------------------------------------------------------------------------
  Now& now(std::size_t w, int lane) {
    return now_[w * isa::warp_size + static_cast<std::size_t>(lane)];
  }
  Thread& thread(std::size_t w, int lane) {
    return threads_[w * isa::warp_size + static_cast<std::size_t>(lane)];
  }
  ThreadName name(std::size_t index) const { return {number_, static_cast<std::uint16_t>(index)}; }
  Snapshot snapshot(std::size_t index, std::uint32_t site) const;
  void hand_over(const Snapshot& from, std::size_t index, Clock& into) const;
  void hand_over(std::size_t index, Clock& into) const;
  /// Lanes of one warp, all that they know.
  void hand_over_warp(std::size_t w, isa::LaneMask lanes, Clock& into);
  bool ordered(const Access& before, std::size_t index) const;
  BlockRaces& first_of_cluster() const;
  bool ordered_in_shared(const Access& before) const {
    return first_of_cluster().known_of_shared_.knows(before.by(), before.tick);
  }
  bool knows_own_block(std::size_t thread, std::uint32_t tick, std::size_t index) const;
  bool command_ordered(const CommandInfo& other) const;
  isa::LaneMask created(std::size_t w) const;
  isa::LaneMask live(std::size_t w) const { return block_.warps()[w].warp.live; }

  // --- Accesses (access.cpp) ---------------------------------------------------------------------
  const isa::Op* run(isa::Exec& exec, const isa::Op& op, const Site& site);
  Place place(std::uint64_t address, bool shared);
  void
  addresses(isa::Exec& exec, const isa::Op& op, const Site& site, std::uint64_t (&to)[32]) const;
  const isa::Op*
  let_others_go(isa::Exec& exec, const isa::Op& op, const Site& site, const isa::Op* next);
  bool turn_for_others(std::uint32_t site, std::size_t most);
  std::size_t turns_given(std::uint32_t site) const {
    return site < turns_given_.size() ? turns_given_[site] : 0;
  }
  bool may_yield_behind(const Site& site) const;
  std::size_t most_turns_behind() const;
  bool yields(const isa::Op& op, const Site& site) const;
  static std::uint64_t accessed_in_region(
      isa::RegionContext& context,
      const isa::Op& op,
      isa::LaneMask lanes,
      const std::uint64_t* each,
      std::uint64_t base,
      std::int64_t stride
  );
  static bool may_call_in_region(isa::Exec& exec, const isa::Op& op);
  isa::LaneMask read_words(
      const Site& site,
      Access by,
      std::size_t w,
      isa::LaneMask lanes,
      const std::uint64_t (&address)[isa::warp_size]
  );
  Shadow* shadow_of_words(const Site& site, std::uint64_t address);
  isa::LaneMask look_at_rows(
      const Site& site,
      Access by,
      std::size_t w,
      const std::uint64_t (&address)[isa::warp_size]
  );
  bool read_together(
      const Site& site,
      Access by,
      std::size_t w,
      std::uint64_t words,
      const std::uint64_t (&address)[isa::warp_size]
  );
  const isa::Op* run_access(isa::Exec& exec, const isa::Op& op, const Site& site, std::size_t w);
  using OfLanes = std::array<memory::AccessValue, isa::warp_size>;
  /// `expected`: by a comparison.
  void look_at_access(
      isa::Exec& exec,
      const isa::Op& op,
      const Site& site,
      std::size_t w,
      isa::LaneMask lanes,
      const std::uint64_t (&address)[isa::warp_size],
      const std::optional<OfLanes>& expected
  );
  void run_fence(const Site& site, std::uint32_t number, std::size_t w, isa::LaneMask lanes);
  Access access_of(const Site& site, std::uint32_t number, std::size_t index) const;
  NearOrder near_order() const;
  void set_thread(NearOrder& order, std::size_t index) const;
  void touch(const Place& place, std::uint64_t bytes, const Access& by, std::size_t index);
  void strong_access(const Place& place, const Access& by, const Site& site, std::size_t index);
  bool race(
      const Access& before,
      const Access& by,
      const Place& place,
      std::uint64_t address,
      std::uint32_t bytes
  );
  Why reason(const Access& before, const Access& by, Races::Found& found) const;
  void look_at_value(
      const Access& before,
      const Access& by,
      bool shared,
      std::uint64_t address,
      std::uint32_t bytes
  );
  bool same_value(
      const Access& before,
      const Access& by,
      const Place& place,
      std::uint64_t address,
      std::uint32_t bytes
  ) const;

  // --- Synchronisation (sync.cpp) ----------------------------------------------------------------
  /// Reads what was released here; true: `by` continues the last write's release sequence.
  bool
  observe(Cell& cell, const Place& place, const Access& by, const Site& site, std::size_t index);
  void publish(Cell& cell, const Site& site, std::size_t index, bool continues);
  bool acquire(const Message& message, Scope scope, std::size_t index, bool only_shared = false);
  void note(BrokenLink link, std::size_t reader);
  /// At a barrier: fences and reads of flags that come before it do so for all its threads.
  void meet_fences(std::size_t w, bool block);
  void learn_from_host(const Place& place, const Cell& cell, const Site& site);

  // --- Asynchronous copies, mbarriers (async.cpp) ------------------------------------------------
  const isa::Op* run_mbarrier(isa::Exec& exec, const isa::Op& op, const Site& site, std::size_t w);
  const isa::Op* run_copy(isa::Exec& exec, const isa::Op& op, const Site& site, std::size_t w);
  const isa::Op* run_bulk(isa::Exec& exec, const isa::Op& op, const Site& site, std::size_t w);
  const isa::Op* run_tensor(isa::Exec& exec, const isa::Op& op, const Site& site, std::size_t w);
  const isa::Op* run_product(isa::Exec& exec, const isa::Op& op, const Site& site, std::size_t w);
  const isa::Op* run_matrix(isa::Exec& exec, const isa::Op& op, const Site& site, std::size_t w);
  void wait_for_products(std::size_t w, isa::LaneMask lanes, std::size_t left);
  WarpProducts& products(std::size_t w);
  void wait_for_copies(std::size_t w, isa::LaneMask lanes, std::size_t left);
  void wait_for_bulk(std::size_t w, isa::LaneMask lanes, std::size_t left, bool reads_only);
  WarpCopies& copies(std::size_t w);
  std::uint32_t bulk_agent(std::size_t index);
  std::uint32_t lane_agent(std::size_t w, Agent::Kind kind, std::uint32_t thread);
  /// The object and the word it is, in whichever block of the cluster; nullptr: not there.
  Mbarrier* mbarrier(const Place& place);
  void look_at_phase(const Place& place);

  Races& races_;
  machine::Block& block_;
  std::uint32_t number_ = 0; // as an agent
  std::uint32_t cluster_ = 0;
  std::uint32_t before_ = 0; // NearOrder::before
  CommandInfoPtr command_;
  std::vector<Thread> threads_;
  std::vector<Now> now_; // of each
  /// Of the live lanes of a warp, when changes_ was that.
  struct Knowledge {
    std::uint64_t changes = 0;
    bool same = false;  // they know the same of their block
    bool alone = false; // they know nothing of others, but from barriers and launches
  };
  const Knowledge& knowledge_of(std::size_t w);
  std::vector<Knowledge> knowledge_;
  std::uint64_t changes_ = 1; // of what threads know, perhaps
  /// A read by a whole warp of words in shared memory for which there was nothing to do, and is
  /// nothing for other warps.
  struct Settled {
    std::uint64_t changes = ~std::uint64_t{0}; // of shared_
    Now now;
    std::array<std::uint64_t, isa::warp_size> address{};
  };
  std::vector<Settled> settled_;          // by address of the first lane
  std::vector<std::uint8_t> turns_given_; // by site: turn_for_others()
  Shadow shared_;
  /// fence.sc of at least gpu scope: of a warp since it last met, before its last meeting, and
  /// before the last barrier of the block.
  std::vector<Clock> warp_fences_, warp_fenced_;
  Clock block_fenced_;
  bool fences_ = false;                          // any of them
  std::vector<Message> block_observed_;          // by its threads before the last barrier
  bool waited_ = false;                          // some thread has executed griddepcontrol.wait
  mutable std::uint64_t last_known_command_ = 0; // command_ordered() keeps its last answer
  CommandSet extra_commands_;                    // learnt through memory
  std::shared_ptr<const CommandSet> host_knew_;
  std::array<Clock, 16> arrived_;             // bar.arrive, by barrier
  Clock cluster_arriving_, cluster_complete_; // rank 0: of the cluster
  /// Rank 0: what fences for objects in shared memory have told some thread of the cluster.
  Clock known_of_shared_;
  std::vector<std::unique_ptr<WarpCopies>> copies_;
  std::vector<std::unique_ptr<WarpProducts>> products_;
  std::unordered_map<std::uint64_t, Mbarrier> mbarriers_;                // by offset
  std::array<std::vector<std::uint32_t>, isa::warp_size> bulk_arrivals_; // agents, see run_bulk
  std::vector<BrokenLink> notes_; // why something that looks like synchronisation was none
  std::size_t next_note_ = 0;
  // The access under way, for same_value().
  isa::Exec* exec_ = nullptr;
  const isa::Op* op_ = nullptr;
  const Site* site_ = nullptr;
  isa::LaneMask lanes_ = 0;
};

/// That of a block.
inline BlockRaces& races_in(machine::Block& block) {
  return static_cast<BlockRaces&>(block.monitor()->of(machine::BlockMonitor::Subject::Order));
}

} // namespace heddle::race
