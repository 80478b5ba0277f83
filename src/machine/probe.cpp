// Implements probe.h.
#include "machine/probe.h"

#include "base/hash.h"
#include "machine/access_notes.h"
#include "machine/recurrence.h"
#include "ptx/clock_flow.h"

#include <algorithm>
#include <set>

namespace heddle::machine {
namespace {

using isa::LaneMask;

constexpr std::int64_t turn_fuel = 256; // backward branches; small, so that short loops repeat soon
constexpr int max_turns = 4096;
constexpr std::size_t max_writes = 1U << 22; // noted; a warp that writes more is not waiting

/// What the future of a warp's lanes depends on, memory that others see aside.
Hash128 state_of(const Block& block, std::size_t w, const Block::WarpState& state) {
  Hasher hasher;
  if (block.rules() != nullptr) {
    block.rules()->hash(w, hasher);
  }
  const isa::Warp& warp = state.warp;
  hasher.value(warp.live);
  hasher.value(warp.blocked);
  hasher.value(state.tired);
  hasher.value(state.ran);
  const isa::Frame* hashed = nullptr;
  for (LaneMask m = warp.live; m != 0; m &= m - 1) {
    const auto lane = static_cast<std::size_t>(std::countr_zero(m));
    hasher.value(warp.pc[lane]);
    hasher.value(warp.frame[lane]);
    if (warp.frame[lane] != hashed) { // lanes of one frame mostly lie side by side
      for (const isa::Frame* f = warp.frame[lane]; f != nullptr; f = f->caller) {
        hasher.bytes(f->registers.data(), f->registers.size());
      }
      hashed = warp.frame[lane];
    }
    hasher.bytes(warp.local + lane * warp.local_stride, warp.frame[lane]->local_end());
  }
  return hasher.finish();
}

/// Every byte has the value it had before the first of these writes.
bool undone(const std::vector<Written>& writes) {
  // The first note of a place holds its oldest value; later ones of the same place are skipped.
  std::vector<const Written*> order;
  order.reserve(writes.size());
  for (const auto& written : writes) {
    order.push_back(&written);
  }
  std::ranges::sort(order, {}, [](const Written* w) { return std::pair(w->at, w); });
  const std::byte* end = nullptr;
  for (const Written* w : order) {
    if (w->at < end) {
      if (w->at + w->bytes > end) {
        return false; // overlapping widths: do not guess
      }
      continue;
    }
    end = w->at + w->bytes;
    if (std::memcmp(w->at, w->before.data(), w->bytes) != 0) {
      return false;
    }
  }
  return true;
}

Probed probe_warp(Block& block, std::size_t w, isa::Exec& exec) {
  Block::WarpState& state = block.warps()[w];
  AccessNotes notes(exec, /*max_reads=*/0); // since the state was remembered
  const std::vector<Written>& writes = notes.writes;
  std::vector<Written> all_writes; // before that
  exec.watch(&notes);
  Probed result = Probed::Moves;
  Recurrence circle(state_of(block, w, state));
  for (int turn = 1; turn <= max_turns && all_writes.size() < max_writes; ++turn) {
    state.fuel = turn_fuel;
    const isa::Stop stop = block.turn(exec, w);
    if (stop == isa::Stop::Fault || stop == isa::Stop::Unsupported || stop == isa::Stop::Exited) {
      break;
    }
    const Hash128 now = state_of(block, w, state);
    if (circle.is_back(now) && undone(writes)) {
      all_writes.insert(all_writes.end(), writes.begin(), writes.end());
      result = undone(all_writes) ? Probed::Circles : Probed::Settled;
      break;
    }
    if (circle.go_on(now)) {
      all_writes.insert(all_writes.end(), writes.begin(), writes.end());
      notes.clear();
    }
  }
  exec.watch(nullptr);
  return result;
}

/// [CLOCK]: can what a clock shows make a difference to a lane?
bool may_wait_for_time(const isa::Warp& warp) {
  std::set<const ptx::Function*> functions;
  for (LaneMask m = warp.live; m != 0; m &= m - 1) {
    const auto lane = static_cast<std::size_t>(std::countr_zero(m));
    for (const isa::Frame* f = warp.frame[lane]; f != nullptr; f = f->caller) {
      functions.insert(f->code->function);
    }
  }
  return std::ranges::any_of(functions, [](const ptx::Function* f) {
    if (!f->entry && ptx::reads_clock(*f)) {
      return true;
    }
    const ptx::ClockFlow flow(*f, ptx::Cfg(*f));
    for (std::uint32_t n = 0; n < f->body.size(); ++n) {
      if (flow.reading(n) == ptx::ClockFlow::Reading::Decides) {
        return true;
      }
    }
    return false;
  });
}

} // namespace

Probed probe_cluster(Cluster& cluster, isa::Exec& exec) {
  Probed result = Probed::Circles;
  cluster.forget_progress();
  for (std::size_t rank = 0; rank < cluster.size(); ++rank) {
    Block& block = cluster.block(rank);
    const std::uint64_t now = block.globaltimer();
    for (std::size_t w = 0; w < block.warps().size(); ++w) {
      const isa::Warp& warp = block.warps()[w].warp;
      if ((warp.live & ~warp.blocked) == 0) {
        continue; // ended, or waits for threads of this cluster
      }
      block.stop_time_at(now);
      Probed probed = probe_warp(block, w, exec);
      if (block.time_was_read() && may_wait_for_time(warp)) {
        probed = Probed::Moves;
      }
      block.let_time_pass();
      result = std::min(result, probed);
      // A barrier that opened has freed warps that were passed over.
      if (result == Probed::Moves || cluster.progressed()) {
        return Probed::Moves;
      }
    }
  }
  return result;
}

} // namespace heddle::machine
