// [BAR-REUSE]: an mbarrier that is invalidated, or initialised again, while threads wait on it.
//
// A thread waits, first, if it stands at a question about the object (mbarrier.test_wait,
// .try_wait), or right behind one that was answered "not yet". Nothing that it has done since can
// have told anybody that it is through, so nothing orders its question, or the next one, before the
// object's end.
//
// Second, in a run, a thread that has passed might as well wait still, if it has told nobody since:
// the same happens in another schedule. So a run finds the defect whatever its schedule is. Between
// the question and where the thread stands, or its end, there is no way over an operation that can
// tell somebody something; a barrier at which it stands has not completed, and tells nothing.
//
// May be wrong in this direction: misses threads that have arrived and stand anywhere else, on the
// way to their question. (The explorer lets threads run up to it.) Of those that have passed it
// misses those whose question was asked in another function, and those that have told somebody
// else.
#include "analysis/cfg.h"
#include "analysis/forgotten_answer.h"
#include "isa/ops_address.h"
#include "machine/block.h"
#include "machine/source_place.h"
#include "ptx/effect.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <map>
#include <optional>
#include <tuple>
#include <vector>

namespace heddle::machine {

using isa::LaneMask;
using isa::Op;
using ptx::Mod;

namespace {

LaneMask bit(int lane) {
  return LaneMask{1} << lane;
}

bool asks(const isa::Code& code, const Op& op) {
  if ((op.flags & isa::Guarded) != 0 || op.instruction >= code.function->body.size()) {
    return false;
  }
  return analysis::asks_for_phase(code.function->body[op.instruction]);
}

/// Can it tell another thread that its own has come so far?
bool tells(const ptx::Instruction& i) {
  const ptx::Effect& effect = ptx::effect_of(i);
  if (effect.is(ptx::Effect::Kind::Mbarrier)) {
    return i.has(Mod::Arrive) || i.has(Mod::ArriveDrop) || i.has(Mod::ExpectTx) ||
           i.has(Mod::CompleteTx);
  }
  return effect.meets != ptx::Effect::Meets::Nobody || effect.is(ptx::Effect::Kind::Call) ||
         effect.is(ptx::Effect::Kind::Fence) || effect.is(ptx::Effect::Kind::Other) ||
         effect.is_async() || (effect.is_strong() && effect.writes());
}

/// The instructions on the ways from one of a function to another one that come to no question
/// between them; without `to`, to the end.
class Between {
public:
  Between(const ptx::Function& function, std::uint32_t from, std::optional<std::uint32_t> to)
      : function_(function),
        cfg_(function),
        to_(to) {
    const std::vector<bool> behind = spread(from, /*forward=*/true);
    const std::vector<bool> before =
        to ? spread(*to, /*forward=*/false) : std::vector<bool>(function.body.size(), true);
    reaches_ = !to || behind[*to];
    for (std::uint32_t i = 0; i < function.body.size(); ++i) {
      silent_ = silent_ && !(behind[i] && before[i] && i != to && tells(function.body[i]));
    }
  }
  /// There is a way, and nothing on any of them tells anybody anything.
  bool silent() const { return reaches_ && silent_; }

private:
  /// Those that come behind (before) `start`, which is one of them only on a way around.
  std::vector<bool> spread(std::uint32_t start, bool forward) const {
    std::vector<bool> seen(function_.body.size());
    std::vector<std::uint32_t> open;
    const auto go = [&](std::uint32_t i) {
      const analysis::BasicBlock& block = cfg_.blocks()[cfg_.block_of(i)];
      const auto add = [&](std::uint32_t next) {
        if (!seen[next]) {
          seen[next] = true;
          open.push_back(next);
        }
      };
      if (i + 1 < block.last && forward) {
        add(i + 1);
      } else if (i > block.first && !forward) {
        add(i - 1);
      } else {
        for (const std::uint32_t other : forward ? block.successors : block.predecessors) {
          if (other != cfg_.exit()) {
            const analysis::BasicBlock& there = cfg_.blocks()[other];
            add(forward ? there.first : there.last - 1);
          }
        }
      }
    };
    go(start);
    while (!open.empty()) {
      const std::uint32_t i = open.back();
      open.pop_back();
      if (!analysis::asks_for_phase(function_.body[i]) && i != to_) {
        go(i);
      }
    }
    return seen;
  }

  const ptx::Function& function_;
  analysis::Cfg cfg_;
  std::optional<std::uint32_t> to_;
  bool reaches_ = false, silent_ = true;
};

/// Rank in the cluster from 1, and the offset there; `own`: of who uses an address without a rank.
memory::Address in_cluster(memory::Address address, std::uint32_t own) {
  const std::uint64_t offset = address & 0xffff'ffffU;
  return offset >> memory::shared_rank_shift != 0
             ? offset
             : offset | (std::uint64_t{own} + 1) << memory::shared_rank_shift;
}

} // namespace

/// The object on which the lane waits, as in_cluster() has it.
std::optional<memory::Address> Block::awaited_mbarrier(std::size_t w, int lane) {
  isa::Warp& warp = warps_[w].warp;
  const auto at = static_cast<std::size_t>(lane);
  isa::Frame& frame = *warp.frame[at];
  const Op* op = warp.pc[at];
  const bool asked = !asks(*frame.code, *op);
  if (asked) {
    // A place to which others jump says nothing of what was executed last.
    if (op == frame.code->ops.data() || (op->flags & isa::Join) != 0 || !asks(*frame.code, *--op)) {
      return std::nullopt;
    }
  }
  results_.enter_block(exec_block());
  results_.select(warp, frame, bit(lane));
  if (asked && (results_.predicate(op->d) & bit(lane)) != 0) {
    return std::nullopt; // it has passed
  }
  std::uint64_t address[isa::warp_size];
  isa::addresses<isa::Space::Generic>(results_, *op, address);
  return in_cluster(address[lane], rank_);
}

void Block::passes_mbarrier(
    isa::Exec& exec,
    const Op& op,
    LaneMask lanes,
    const memory::Address* address
) {
  if (exec.is_watched()) {
    return;
  }
  WarpState& state = warps_[index_of(exec.warp())];
  state.passed.resize(isa::warp_size);
  for (LaneMask m = lanes; m != 0; m &= m - 1) {
    const auto lane = static_cast<std::size_t>(std::countr_zero(m));
    state.passed[lane] = {in_cluster(address[lane], rank_), &exec.code(), op.instruction};
  }
}

/// Lanes of the warp that have passed the object, and have told nobody since.
LaneMask Block::might_still_ask(std::size_t w, memory::Address object, LaneMask lanes) const {
  const WarpState& state = warps_[w];
  if (state.passed.empty()) {
    return 0;
  }
  LaneMask result = 0;
  std::map<std::tuple<const isa::Code*, std::uint32_t, const Op*>, bool> known;
  for (LaneMask m = lanes; m != 0; m &= m - 1) {
    const auto lane = static_cast<std::size_t>(std::countr_zero(m));
    const WarpState::Passed& passed = state.passed[lane];
    const bool live = (state.warp.live >> lane & 1) != 0;
    if (passed.object != object || (live && state.warp.frame[lane]->code != passed.code)) {
      continue;
    }
    const bool stands = (state.warp.blocked >> lane & 1) != 0; // at a barrier, not behind it
    const Op* at = !live ? nullptr : stands ? state.warp.pc[lane] - 1 : state.warp.pc[lane];
    const auto [it, is_new] = known.try_emplace({passed.code, passed.instruction, at});
    if (is_new) {
      std::optional<std::uint32_t> to;
      if (at != nullptr) {
        to = at->instruction;
      }
      it->second = (at == nullptr || *to < passed.code->function->body.size()) &&
                   Between(*passed.code->function, passed.instruction, to).silent();
    }
    result |= it->second ? bit(static_cast<int>(lane)) : 0;
  }
  return result;
}

void Block::gives_up_mbarrier(
    isa::Exec& exec,
    const Op& op,
    int lane,
    memory::Address address,
    bool again
) {
  if (divergence_) {
    return;
  }
  const memory::Address object = in_cluster(address, rank_);
  Waits waits;
  std::uint64_t threads = 0;
  bool passed = false; // all of them
  const auto note =
      [&](Block& block, std::size_t w, int lane, const FaultReport& where, const char* what) {
        Waiting seen = as_user_sees(where);
        const SourcePlace& own = seen.place;
        const std::string text = fmt::format("{} ({})", what, where.instruction);
        Waiters& waiters = waits[fmt::format("{}:{}: {}", own.file, own.line, text)];
        if (waiters.threads++ == 0) {
          waiters.what = std::move(seen);
          waiters.what.text = text;
          waiters.what.kernel = grid_.describe();
        }
        if (waiters.named.size() < Waiters::most_named) {
          waiters.named.emplace_back(block.index(), block.thread_index(w, lane));
        }
        ++threads;
      };
  for (std::size_t rank = 0; rank < cluster_.size(); ++rank) {
    Block& block = cluster_.block(rank);
    for (std::size_t w = 0; w < block.warps_.size(); ++w) {
      const isa::Warp& warp = block.warps_[w].warp;
      // Where the lanes are that execute this is not written down while they do so.
      const LaneMask others = &warp == &exec.warp() ? ~exec.group() : isa::all_lanes;
      for (LaneMask m = warp.live & ~warp.blocked & others; m != 0; m &= m - 1) {
        const int other = std::countr_zero(m);
        if (block.awaited_mbarrier(w, other) != object) {
          continue;
        }
        const auto at = static_cast<std::size_t>(other);
        const isa::Code& code = *warp.frame[at]->code;
        const Op& question = asks(code, *warp.pc[at]) ? *warp.pc[at] : warp.pc[at][-1];
        FaultReport where;
        describe_instruction(code, question, where);
        note(block, w, other, std::move(where), "waits for a phase of it");
      }
    }
  }
  for (std::size_t rank = 0; rank < cluster_.size() && (threads == 0 || passed); ++rank) {
    Block& block = cluster_.block(rank);
    for (std::size_t w = 0; w < block.warps_.size(); ++w) {
      // Where the lanes are that execute this is not written down while they do so.
      const LaneMask own = &block.warps_[w].warp == &exec.warp() ? exec.group() : 0;
      const LaneMask lanes = block.might_still_ask(w, object, block.created(w) & ~own);
      for (LaneMask m = lanes; m != 0; m &= m - 1) {
        const int other = std::countr_zero(m);
        const auto& question = block.warps_[w].passed[static_cast<std::size_t>(other)];
        const auto op =
            std::ranges::find(question.code->ops, question.instruction, &Op::instruction);
        FaultReport where;
        describe_instruction(*question.code, *op, where);
        note(block, w, other, std::move(where), "has passed it, and nothing says so to thread (1)");
        passed = true;
      }
    }
  }
  if (threads == 0) {
    return;
  }
  FaultReport report =
      misuse(isa::FaultKind::BarrierReused, exec.code(), op, index_of(exec.warp()), lane);
  report.fault.text = fmt::format(
      "an mbarrier is {} while {} thread{} {} on it",
      again ? "initialised again" : "invalidated",
      threads,
      threads == 1 ? "" : "s",
      passed         ? "might still wait"
      : threads == 1 ? "still waits"
                     : "still wait"
  );
  report.waits = describe(waits);
  divergence_ = std::move(report);
}

} // namespace heddle::machine
