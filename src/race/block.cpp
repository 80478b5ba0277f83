// Implements block.h: clocks, and what barriers do to them (PTX ISA 9.0, 9.7.13.1 to 9.7.13.3).
//
// Approximations, all in the direction of missing races: a thread that has ended counts as having
// arrived at every barrier; griddepcontrol.wait of one thread counts for its whole block.
#include "race/block.h"

#include <algorithm>

namespace heddle::race {

using isa::LaneMask;

namespace {

/// Calls f(lane) for each lane of the mask.
template <class F> void each(LaneMask lanes, F&& f) {
  for (; lanes != 0; lanes &= lanes - 1) {
    f(std::countr_zero(lanes));
  }
}

} // namespace

BlockRaces::BlockRaces(Races& races, machine::Block& block)
    : races_(races),
      block_(block),
      shared_(races.shadow_bytes_left()) {}

void BlockRaces::started() {
  if (command_ == nullptr) {
    command_ = races_.command_of(block_.grid());
  }
  turns_given_.clear();
  const machine::Dim3 index = block_.index();
  Agent agent;
  agent.device = static_cast<std::uint8_t>(block_.grid().device());
  agent.index_x = index.x;
  agent.index_y = index.y;
  agent.index_z = index.z;
  agent.command = command_;
  // Blocks of a cluster begin one after the other: rank 0 gives the cluster its number.
  agent.cluster = block_.rank() == 0 ? 0 : races_in(block_.cluster().block(0)).cluster_;
  number_ = races_.new_agent(agent);
  if (agent.cluster == 0) {
    races_.set_cluster(number_, number_);
  }
  cluster_ = races_.agent(number_).cluster;
  before_ = races_.first_not_before(*command_);
  const std::size_t warps = block_.warps().size();
  threads_.clear();
  threads_.resize(warps * isa::warp_size);
  now_.assign(warps * isa::warp_size, Now{});
  knowledge_.assign(warps, {});
  ++changes_;
  const Learnt::Knowledge& learnt = races_.learnt().by(*command_);
  Clock known = races_.host_clock();
  known.learn(command_->launcher);
  known.learn(learnt.clock);
  for (Thread& thread : threads_) {
    thread.others = known;
  }
  shared_.restart();
  waited_ = false;
  last_known_command_ = 0;
  extra_commands_ = learnt.commands;
  host_knew_ = nullptr;
  std::ranges::for_each(arrived_, &Clock::clear);
  cluster_arriving_.clear();
  cluster_complete_.clear();
  known_of_shared_.clear();
  copies_.clear();
  copies_.resize(warps);
  products_.clear();
  products_.resize(warps);
  mbarriers_.clear();
  warp_fences_.assign(warps, {});
  warp_fenced_.assign(warps, {});
  block_fenced_.clear();
  fences_ = false;
  block_observed_.clear();
  notes_.clear();
  next_note_ = 0;
}

LaneMask BlockRaces::created(std::size_t w) const {
  const std::uint64_t left = command_->block.count() - w * isa::warp_size;
  return left >= isa::warp_size ? isa::all_lanes : (LaneMask{1} << left) - 1;
}

// --- What a thread knows -----------------------------------------------------------------------

bool BlockRaces::command_ordered(const CommandInfo& other) const {
  if (other.id == command_->id) {
    return false;
  }
  if (other.id == last_known_command_) {
    return true;
  }
  if (command_->follows(other, *command_->before) ||
      (waited_ && command_->follows(other, *command_->late)) ||
      command_->follows(other, extra_commands_)) {
    last_known_command_ = other.id;
    return true;
  }
  return false;
}

/// Does thread `index` know what `thread` of this block did up to that tick?
bool BlockRaces::knows_own_block(std::size_t thread, std::uint32_t tick, std::size_t index) const {
  const Thread& one = threads_[index];
  return thread == index || tick <= now_[index].block_known ||
         (thread / isa::warp_size == index / isa::warp_size && tick <= one.warp_known) ||
         one.others.knows(name(thread), tick);
}

bool BlockRaces::ordered(const Access& before, std::size_t index) const {
  if (before.block == number_) {
    return knows_own_block(before.thread, before.tick, index);
  }
  if (command_ordered(*races_.agent(before.block).command)) {
    return true;
  }
  if (!threads_[index].others.knows(before.by(), before.tick)) {
    return false;
  }
  // Lanes of a warp that wait for their copies at once are told of each other's, too, as that costs
  // one clock instead of 32. A copy of another lane is there once its own wait is known.
  const std::size_t warp = index / isa::warp_size;
  const WarpCopies* copies = copies_[warp].get();
  if (copies == nullptr || copies->agent != before.block || copies->arrives ||
      before.thread == index % isa::warp_size) {
    return true;
  }
  const std::vector<std::uint32_t>& waited = copies->waited_at[before.thread];
  return before.tick < waited.size() && waited[before.tick] != 0 &&
         knows_own_block(warp * isa::warp_size + before.thread, waited[before.tick], index);
}

BlockRaces::Snapshot BlockRaces::snapshot(std::size_t index, std::uint32_t site) const {
  const Thread& thread = threads_[index];
  return {thread.others, now_[index].tick, now_[index].block_known, thread.warp_known, site};
}

void BlockRaces::hand_over(const Snapshot& from, std::size_t index, Clock& into) const {
  into.learn(from.others);
  into.learn_block(number_, from.block_known);
  into.learn_warp(number_, static_cast<std::uint32_t>(index / isa::warp_size), from.warp_known);
  into.learn(name(index), from.tick);
}

void BlockRaces::hand_over(std::size_t index, Clock& into) const {
  hand_over(snapshot(index, 0), index, into);
}

void BlockRaces::hand_over_warp(std::size_t w, LaneMask lanes, Clock& into) {
  // All get one tick, so that one number says what they did; it goes up where it was lower.
  std::uint32_t tick = 0;
  std::uint32_t block_known = 0;
  std::uint32_t warp_known = 0;
  const Clock* last = nullptr;
  each(lanes, [&](int lane) {
    const Thread& one = thread(w, lane);
    tick = std::max(tick, now(w, lane).tick);
    block_known = std::max(block_known, now(w, lane).block_known);
    warp_known = std::max(warp_known, one.warp_known);
    if (last == nullptr || !last->same(one.others)) {
      into.learn(one.others);
      last = &one.others;
    }
  });
  into.learn_block(number_, block_known);
  const auto warp = static_cast<std::uint32_t>(w);
  if (lanes == live(w)) {
    into.learn_warp(number_, warp, tick);
  } else {
    into.learn_warp(number_, warp, warp_known);
    each(lanes, [&](int lane) {
      into.learn(name(w * isa::warp_size + static_cast<std::size_t>(lane)), tick);
    });
  }
  each(lanes, [&](int lane) { now(w, lane).tick = tick + 1; });
}

void BlockRaces::launched(std::size_t index, const machine::Command& command) {
  ++changes_;
  Clock known;
  hand_over(index, known);
  ++now_[index].tick;
  races_.launched(command, std::move(known), extra_commands_);
}

// --- Warps -------------------------------------------------------------------------------------

// bar.warp.sync orders accesses among the lanes that take part; shfl, vote, match and redux do not.
void BlockRaces::warp_synced(std::size_t w, LaneMask lanes) {
  ++changes_;
  if ((lanes & (lanes - 1)) == 0) {
    return;
  }
  const bool whole = lanes == live(w);
  if (whole && fences_) {
    meet_fences(w, /*block=*/false);
  }
  std::uint32_t tick = 0;
  std::uint32_t block_known = 0;
  std::uint32_t warp_known = 0;
  const Thread& first = thread(w, std::countr_zero(lanes));
  bool same = true;
  each(whole ? isa::all_lanes : lanes, [&](int lane) { tick = std::max(tick, now(w, lane).tick); });
  each(lanes, [&](int lane) {
    const Thread& one = thread(w, lane);
    block_known = std::max(block_known, now(w, lane).block_known);
    warp_known = std::max(warp_known, one.warp_known);
    same = same && one.others.same(first.others);
  });
  Clock joined = first.others;
  if (!same) {
    each(lanes, [&](int lane) { joined.learn(thread(w, lane).others); });
  }
  if (whole) {
    warp_known = tick;
  } else {
    each(lanes, [&](int lane) {
      joined.learn(name(w * isa::warp_size + static_cast<std::size_t>(lane)), tick);
    });
  }
  each(lanes, [&](int lane) {
    Thread& one = thread(w, lane);
    now(w, lane) = {tick + 1, block_known};
    one.warp_known = warp_known;
    if (!same || !whole) {
      one.others = joined;
    }
  });
}

// --- Blocks ------------------------------------------------------------------------------------

void BlockRaces::arrived(std::size_t id, std::size_t w, LaneMask lanes) {
  ++changes_;
  hand_over_warp(w, lanes, arrived_[id]);
}

void BlockRaces::opened(std::size_t id, std::span<const LaneMask> waiting, bool counted) {
  ++changes_;
  // [BAR-2] [BAR-3]: everybody but those that have ended, whom a barrier with a count leaves out.
  bool everybody = true;
  for (std::size_t w = 0; w < waiting.size(); ++w) {
    const LaneMask wanted = counted ? created(w) : live(w);
    everybody = everybody && (wanted & ~waiting[w]) == 0;
  }
  Clock joined = std::move(arrived_[id]);
  arrived_[id].clear();
  if (!everybody) {
    for (std::size_t w = 0; w < waiting.size(); ++w) {
      if (waiting[w] != 0) {
        hand_over_warp(w, waiting[w], joined);
      }
    }
    for (std::size_t w = 0; w < waiting.size(); ++w) {
      each(waiting[w], [&](int lane) { thread(w, lane).others.learn(joined); });
    }
    return;
  }
  if (fences_) {
    for (std::size_t w = 0; w < waiting.size(); ++w) {
      meet_fences(w, /*block=*/true);
    }
  }
  std::uint32_t tick = 0;
  const Clock* last = nullptr;
  for (const Now& one : now_) {
    tick = std::max(tick, one.tick);
  }
  for (const Thread& one : threads_) {
    if (last == nullptr || !last->same(one.others)) {
      joined.learn(one.others);
      last = &one.others;
    }
  }
  now_.assign(now_.size(), {tick + 1, tick});
  for (Thread& one : threads_) {
    one.warp_known = tick;
    if (!one.others.same(joined)) {
      one.others = joined;
    }
  }
}

// --- Clusters ----------------------------------------------------------------------------------

BlockRaces& BlockRaces::first_of_cluster() const {
  return races_in(block_.cluster().block(0));
}

void BlockRaces::cluster_arrived(std::size_t w, LaneMask lanes, bool release) {
  ++changes_;
  BlockRaces& first = first_of_cluster();
  if (release) {
    hand_over_warp(w, lanes, first.cluster_arriving_);
    return;
  }
  // .relaxed orders nothing, but for what a fence before it has released.
  each(lanes, [&](int lane) {
    const std::size_t index = w * isa::warp_size + static_cast<std::size_t>(lane);
    if (const Extra* extra = threads_[index].extra.get()) {
      const Snapshot& fence = extra->fence[static_cast<int>(Scope::Cluster)];
      if (fence.tick != 0) {
        hand_over(fence, index, first.cluster_arriving_);
      }
      if (extra->shared_fence.tick != 0) {
        hand_over(extra->shared_fence, index, first.known_of_shared_);
      }
    }
  });
}

void BlockRaces::cluster_opened() {
  // A thread that has ended has arrived at every barrier: all that it did is known.
  for (std::size_t rank = 0; rank < block_.cluster().size(); ++rank) {
    machine::Block& block = block_.cluster().block(rank);
    auto& races = races_in(block);
    for (std::size_t index = 0; index < races.threads_.size(); ++index) {
      const auto lane = static_cast<int>(index % isa::warp_size);
      if ((races.live(index / isa::warp_size) >> lane & 1) == 0) {
        races.hand_over(index, cluster_arriving_);
      }
    }
  }
  cluster_complete_ = std::move(cluster_arriving_);
  cluster_arriving_.clear();
}

void BlockRaces::cluster_passed(std::size_t w, LaneMask lanes) {
  ++changes_;
  const BlockRaces& first = first_of_cluster();
  each(lanes, [&](int lane) { thread(w, lane).others.learn(first.cluster_complete_); });
}

} // namespace heddle::race
