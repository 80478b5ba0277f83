// Implements settling.h.
#include "reduce/free_moves/settling.h"

#include "reduce/states/stepper_work.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <utility>

namespace heddle::reduce {

using isa::LaneMask;
using isa::Stop;

namespace {

// After so many instructions or loops without a choice the threads of a warp are asked that for the
// first time, then after twice as many … Soon: most loops that never end have a round of a few
// instructions, and there is one in each search of a program that may hang.
constexpr int first_patience = 1 << 8;
// … and after so many they may be meeting each other forever.
constexpr int last_patience = 1 << 20;
// How often lanes may read what others may write: no limit.
constexpr std::uint64_t any_number = ~std::uint64_t{0};
// Of a loop that does nothing but such operations each one is looked at.
constexpr std::uint64_t most_silent = 64;

} // namespace

bool Settling::open_aligned(const Lane& at) {
  const LaneMask group = choices_.together(at);
  if (group == 0) {
    return true;
  }
  const Stop stop = runner_.run(at, plain_fuel, group);
  if (stop == Stop::Fault || stop == Stop::Unsupported) {
    runner_.fail(at);
    return false;
  }
  return true;
}

bool Settling::settle_lane(const Lane& at) {
  const isa::Warp& warp = warp_state(at).warp;
  Work::Progress& progress = at.work->progress[at.cluster];
  int rounds = 0;
  while ((warp.live & ~warp.blocked & ~progress.loops[at.block][at.warp].endless & bit(at.lane)) !=
         0) {
    if (choices_.is_choice(at)) {
      return true;
    }
    if (++rounds > 64) {
      return loops_for_ever(at, loop_rounds);
    }
    const Stop stop = runner_.run(at, plain_fuel);
    if (stop == Stop::Fault || stop == Stop::Unsupported) {
      runner_.fail(at);
      return false;
    }
  }
  return true;
}

/// Lets the threads of a warp run, those together that stand at the same place, until each stands
/// at something that is somebody's choice, or waits, or `rounds` are over; false if one failed.
/// Lanes that have read `asks` times what others may write wait at the next such read.
bool Settling::settle_lanes(const Lane& any, int& rounds, std::uint64_t asks) {
  isa::Warp& warp = warp_state(any).warp;
  Work::Progress& progress = any.work->progress[any.cluster];
  constexpr std::uint64_t instructions = 16; // of a lane, as good as one that others can see
  LaneMask chosen = 0;                       // these stand at a choice
  while (rounds > 0) {
    const LaneMask can_run =
        warp.live & ~warp.blocked & ~progress.loops[any.block][any.warp].endless & ~chosen;
    if (can_run == 0) {
      return true;
    }
    // Those that are behind go first, so that lanes meet again.
    Lane at = any;
    at.lane = std::countr_zero(can_run);
    for (LaneMask m = can_run; m != 0; m &= m - 1) {
      const int lane = std::countr_zero(m);
      const auto pc = [&](int l) { return warp.pc[static_cast<std::size_t>(l)]; };
      at.lane = std::less<>()(pc(lane), pc(at.lane)) ? lane : at.lane;
    }
    const auto index = static_cast<std::size_t>(at.lane);
    LaneMask group = 0;
    for (LaneMask m = can_run; m != 0; m &= m - 1) {
      const auto i = static_cast<std::size_t>(std::countr_zero(m));
      group |= warp.pc[i] == warp.pc[index] && warp.frame[i] == warp.frame[index]
                   ? bit(static_cast<int>(i))
                   : 0;
    }
    const LaneMask now = choices_.of(at, group);
    chosen |= now;
    group &= ~now;
    if (group == 0) {
      continue;
    }
    at.lane = std::countr_zero(group);
    if (asks != any_number && stands_at_visible(at)) {
      const Operation operation = parts_.independence.operations().classify(at);
      if (operation.kind == OperationKind::Orderly && operation.plain_read && asks-- == 0) {
        progress.loops[at.block][at.warp].plain |= group;
        asks = 0;
        continue;
      }
    }
    if (const bool own = parts_.independence.heap() != nullptr || parts_.under_way.early ||
                         parts_.independence.operations().clocks().reading(at) != nullptr;
        own && stands_at_visible(at)) {
      const OperationKind kind = parts_.independence.operations().classify(at).kind;
      if (kind == OperationKind::Allocation || kind == OperationKind::Clock ||
          kind == OperationKind::Access) {
        group = bit(at.lane); // each call, time, and access that comes early, is somebody's
      }
    }
    // Without what is only tried out: that is remembered, so it depends on other states.
    const std::uint64_t executed =
        parts_.machine.exec.executed() - parts_.independence.operations().tried_out();
    const Stop stop = runner_.run(at, plain_fuel, group, /*reconverge=*/chosen == 0);
    const auto lanes = static_cast<std::uint64_t>(std::popcount(group));
    rounds -= 1 + static_cast<int>(
                      (parts_.machine.exec.executed() -
                       parts_.independence.operations().tried_out() - executed) /
                      lanes / instructions
                  );
    if (stop == Stop::Fault || stop == Stop::Unsupported) {
      runner_.fail(at);
      return false;
    }
  }
  return true;
}

bool Settling::settle_lanes(const Lane& any) {
  const isa::Warp& warp = warp_state(any).warp;
  Work::Progress& progress = any.work->progress[any.cluster];
  // Lanes that meet in each round of a loop do not loop by themselves (loops_for_ever), but
  // together.
  std::uint64_t asks = any_number;
  for (int patience = first_patience;; patience = std::min(2 * patience, last_patience)) {
    int rounds = patience;
    if (!settle_lanes(any, rounds, std::exchange(asks, most_asked))) {
      return false;
    }
    if (rounds > 0) {
      return true;
    }
    const bool last = patience == last_patience;
    // Enough to see that a loop only asks, though it backs off for a different time each time.
    const std::uint64_t loops = std::max(static_cast<std::uint64_t>(patience) / 64, 2 * most_asked);
    progress.joins_are_moves = progress.joins_are_moves || last;
    for (LaneMask m = warp.live; m != 0; m &= m - 1) {
      Lane at = any;
      at.lane = std::countr_zero(m);
      const LaneMask can_run =
          warp.live & ~warp.blocked & ~progress.loops[any.block][any.warp].endless;
      if ((can_run & bit(at.lane)) != 0 && !choices_.is_choice(at) &&
          !loops_for_ever(at, last ? loop_rounds : loops)) {
        return false;
      }
    }
  }
}

void Settling::settle(Work& work, std::size_t cluster) {
  parts_.under_way.early =
      parts_.weak && parts_.options.independence.early_writes && !parts_.under_way.tried;
  settle_all(work, cluster);
  parts_.under_way.early = false;
}

void Settling::settle_all(Work& work, std::size_t cluster) {
  // A barrier that opens lets lanes go that were looked at before: repeat until nothing changes.
  constexpr int many_passes = 4096;
  std::uint64_t executed = 0;
  bool moved = false; // a warp
  int passes = 0;
  do {
    if (++passes > many_passes) {
      work.progress[cluster].joins_are_moves = true;
    }
    executed = parts_.by_warps()
                   ? 0
                   : parts_.machine.exec.executed() - parts_.independence.operations().tried_out();
    moved = false;
    Cluster& c = *work.clusters[cluster];
    for (std::size_t b = 0; b < c.size(); ++b) {
      for (std::size_t w = 0; w < c.block(b).warps().size(); ++w) {
        const isa::Warp& warp = c.block(b).warps()[w].warp;
        if (parts_.by_warps()) {
          if (!warps_.settle_warp({&work, cluster, b, w, 0}, &moved)) {
            return;
          }
          continue;
        }
        if (!settle_lanes({&work, cluster, b, w, 0})) {
          return;
        }
        const Work::Progress& progress = work.progress[cluster];
        const LaneMask can_run = warp.live & ~warp.blocked;
        if (can_run != 0 && progress.made && !progress.joins_are_moves &&
            parts_.options.independence.eager && parts_.options.independence.turns &&
            !open_aligned({&work, cluster, b, w, std::countr_zero(can_run)})) {
          return;
        }
      }
    }
    if (!parts_.by_warps() &&
        parts_.machine.exec.executed() - parts_.independence.operations().tried_out() == executed &&
        waits_for_ever(work, cluster)) {
      work.progress[cluster].polls = true;
      moved = true;
    }
  } while (moved || (!parts_.by_warps() && parts_.machine.exec.executed() -
                                                   parts_.independence.operations().tried_out() !=
                                               executed));
}

/// Called for a thread that has run for long without a choice: either its state comes again, then
/// it will loop forever, or it gets somewhere, or `rounds` of its loops are over. False if it
/// failed.
bool Settling::loops_for_ever(const Lane& at, std::uint64_t rounds) {
  const isa::Warp& warp = warp_state(at).warp;
  Work::Progress& progress = at.work->progress[at.cluster];
  parts_.under_way.early = false; // what is written again and again is seen again and again
  Recurrence circle(lane_state(parts_.machine.live, at));
  std::uint64_t asked = 0, silent_in_row = 0;
  for (std::uint64_t round = 0; round < rounds; ++round) {
    const Stop stop = runner_.run(at, /*fuel=*/1);
    if (stop == Stop::Fault || stop == Stop::Unsupported) {
      runner_.fail(at);
      return false;
    }
    if ((warp.live & ~warp.blocked & bit(at.lane)) == 0) {
      return true;
    }
    if (choices_.is_choice(at)) {
      return true;
    }
    bool silent = false;
    if (stands_at_visible(at)) {
      const Operation operation = parts_.independence.operations().classify(at);
      note_acts(operation, circle);
      silent = operation.kind == OperationKind::Silent;
      if (operation.kind == OperationKind::Orderly && operation.plain_read &&
          ++asked > most_asked) {
        // It counts how often it asks, or backs off: who would answer must have a turn.
        progress.loops[at.block][at.warp].plain |= bit(at.lane);
        return settle_lane(at);
      }
    }
    if (stop == Stop::Yield) {
      circle.did(Recurrence::Sleeps);
    }
    // Whether it comes by a fence or a look at a clock may depend on registers that decide nothing
    // else, and that no state is known by. So it is left at something that each round comes by.
    silent_in_row = silent ? silent_in_row + 1 : 0;
    if (silent_in_row != 0 && silent_in_row < most_silent) {
      continue;
    }
    const Hash128 state = lane_state(parts_.machine.live, at);
    if (circle.is_back(state)) {
      auto& loops = progress.loops[at.block][at.warp];
      if (circle.does(Recurrence::ReadsPlain)) {
        loops.plain |= bit(at.lane); // others may write what it reads
        return settle_lane(at);
      }
      note_endless(at, bit(at.lane), circle);
      return true;
    }
    circle.go_on(state);
  }
  if (rounds < loop_rounds) {
    return true;
  }
  parts_.under_way.give_up(
      fmt::format(
          "a thread of {} ran through {} rounds of a loop without an operation that others can see",
          at.work->command->label,
          loop_rounds
      )
  );
  return false;
}

/// Is everybody in the cluster waiting, and somebody for a phase? Then that never completes.
bool Settling::waits_for_ever(Work& work, std::size_t c) {
  const Work::Progress& progress = work.progress[c];
  if (!parts_.options.independence.phases || !progress.made || progress.polls ||
      progress.joins_are_moves) {
    return false;
  }
  Cluster& cluster = *work.clusters[c];
  bool some = false;
  for (std::size_t b = 0; b < cluster.size(); ++b) {
    for (std::size_t w = 0; w < cluster.block(b).warps().size(); ++w) {
      const isa::Warp& warp = cluster.block(b).warps()[w].warp;
      if (cluster.block(b).warps()[w].grid_waiting != 0) {
        return false; // they go on when the grids before this one are over
      }
      for (LaneMask m = warp.live & ~warp.blocked & ~progress.loops[b][w].endless; m != 0;
           m &= m - 1) {
        const Lane at{&work, c, b, w, std::countr_zero(m)};
        if (choices_.waits_for_phase(at)) {
          const auto op = parts_.independence.operations().library_barriers().operation(at);
          if (op && op->of_grid) {
            return false; // other clusters may come
          }
          some = true;
        } else if (!choices_.waits_for_warp(at)) {
          return false;
        }
      }
    }
  }
  return some;
}

} // namespace heddle::reduce
