// Barriers of the block in divergent code: [BAR-6], and collectives of a warp: [WARP-MASK]. A
// barrier of all threads (number 0, without a count: what __syncthreads() and thread_block::sync()
// are) belongs to one place in the program; all threads of the block come to it, or have ended.
// Hardware counts arrivals and lets more than that pass; two things are found here when they
// happen:
//
// - threads wait at one place and another one arrives at another place;
// - threads have ended although their way to the end leads through code behind the barrier, so that
//   they have not left early but gone around it. The same of threads that the mask of a warp
//   collective names.
//
// A third thing is none by PTX, but by the guide: threads have ended early, and the others pass
// without them ([BAR-GUIDE]); a remark, or a fault if the guide is to hold. So is a shuffle that
// gives the value of such a lane to one that uses it (shuffle_lanes.h), a remark.
//
// Of a barrier in a called function it is the kernel's call that threads go around.
//
// May be wrong in this direction: misses threads that come to one place in different rounds of a
// loop, and threads that go around a barrier where nothing follows but the end. A compiler that
// merges the ends of an early exit and of the rest of a kernel makes the second thing of it; nvcc
// has not been seen to.
#include "analysis/cfg.h"
#include "machine/block.h"
#include "machine/fault_finding.h"
#include "machine/shuffle_lanes.h"
#include "machine/source_place.h"
#include "ptx/effect.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

namespace heddle::machine {

using isa::Frame;
using isa::LaneMask;
using isa::Op;

namespace {

/// "… (40 of 64 arrive)"
std::string skipped_by_ended(const std::vector<Block::WarpState>& warps, std::uint64_t threads) {
  std::uint64_t alive = 0;
  for (const Block::WarpState& warp : warps) {
    alive += static_cast<unsigned>(std::popcount(warp.warp.live));
  }
  return fmt::format(
      "a barrier of the block is skipped by threads that have already ended ({} of {} arrive)",
      alive,
      threads
  );
}

/// Does it do something that others may see?
bool acts(const ptx::Instruction& i) {
  const ptx::Effect& effect = ptx::effect_of(i);
  const bool own = effect.is_access() &&
                   (i.has(ptx::Mod::Param) || i.has(ptx::Mod::ParamEntry) ||
                    i.has(ptx::Mod::ParamFunc) || i.has(ptx::Mod::Const) || i.has(ptx::Mod::Local));
  return ((effect.reads() || effect.writes()) && !own) ||
         effect.meets != ptx::Effect::Meets::Nobody || effect.is(ptx::Effect::Kind::Call);
}

/// Do all ways to the end that avoid the barrier lead through code that does something and that
/// everybody comes to who has been at the barrier?
bool is_gone_around(const ptx::Function& function, std::uint32_t barrier) {
  if (function.body[barrier].guard) {
    return false;
  }
  const analysis::Cfg cfg(function);
  const std::uint32_t at = cfg.block_of(barrier);
  const auto behind = [&](std::uint32_t block) {
    if (!cfg.post_dominates(block, at)) {
      return false;
    }
    const analysis::BasicBlock& code = cfg.blocks()[block];
    return std::any_of(function.body.begin() + code.first, function.body.begin() + code.last, acts);
  };
  std::vector<bool> seen(cfg.blocks().size() + 1);
  std::vector<std::uint32_t> open{0};
  while (!open.empty()) {
    const std::uint32_t block = open.back();
    open.pop_back();
    if (seen[block]) {
      continue;
    }
    seen[block] = true;
    if (block == cfg.exit()) {
      return false;
    }
    if (block != at && !behind(block)) {
      const auto& next = cfg.blocks()[block].successors;
      open.insert(open.end(), next.begin(), next.end());
    }
  }
  return true;
}

/// The branches behind which one way leads to the barrier, and another one to the end without it.
std::vector<std::uint32_t> ways_past(const ptx::Function& function, std::uint32_t barrier) {
  const analysis::Cfg cfg(function);
  std::vector<bool> comes(cfg.blocks().size() + 1);
  std::vector<std::uint32_t> open{cfg.block_of(barrier)};
  while (!open.empty()) {
    const std::uint32_t block = open.back();
    open.pop_back();
    if (!comes[block]) {
      comes[block] = true;
      const auto& before = cfg.blocks()[block].predecessors;
      open.insert(open.end(), before.begin(), before.end());
    }
  }
  std::vector<std::uint32_t> branches;
  for (std::uint32_t block = 0; block < cfg.blocks().size(); ++block) {
    const analysis::BasicBlock& code = cfg.blocks()[block];
    const auto leaves = [&](std::uint32_t next) { return !comes[next]; };
    if (comes[block] && block != cfg.block_of(barrier) && code.successors.size() > 1 &&
        std::ranges::any_of(code.successors, leaves)) {
      branches.push_back(code.last - 1);
    }
  }
  return branches;
}

/// Registers that may differ between threads of a block, by data: what is made of a thread's index,
/// of what it has read, or of what others have handed to it. Misses values that differ because of
/// where a thread has been.
class Differing {
public:
  explicit Differing(const ptx::Function& function) : of_(function.registers.size()) {
    for (bool is_new = true; is_new;) {
      is_new = false;
      for (const ptx::Instruction& i : function.body) {
        is_new = (takes_differing(i) && mark(i.operands.front())) || is_new;
      }
    }
  }
  bool operator()(const ptx::Instruction& branch) const {
    return !branch.guard || of_[branch.guard->register_index];
  }

private:
  using Kind = ptx::Effect::Kind;

  bool takes_differing(const ptx::Instruction& i) const {
    const ptx::Effect& effect = ptx::effect_of(i);
    if (i.operands.empty() || effect.is(Kind::Store) || effect.is(Kind::Branch)) {
      return false;
    }
    const bool parameter =
        effect.is(Kind::Load) && (i.has(ptx::Mod::Param) || i.has(ptx::Mod::ParamEntry));
    return (!effect.is(Kind::Compute) && !parameter) || (i.guard && of_[i.guard->register_index]) ||
           std::any_of(i.operands.begin() + 1, i.operands.end(), [this](const ptx::Operand& one) {
             return differs(one);
           });
  }
  bool differs(const ptx::Operand& operand) const {
    const std::string& name = operand.name;
    return (operand.kind == ptx::OperandKind::Register && of_[operand.index]) ||
           (operand.kind == ptx::OperandKind::Special && !name.starts_with("%ntid") &&
            !name.starts_with("%ctaid") && !name.starts_with("%nctaid")) ||
           std::ranges::any_of(operand.elements, [this](const ptx::Operand& element) {
             return differs(element);
           });
  }
  /// Returns whether that is new.
  bool mark(const ptx::Operand& destination) {
    bool is_new = false;
    if (destination.kind == ptx::OperandKind::Register) {
      is_new = !of_[destination.index];
      of_[destination.index] = true;
    }
    for (const ptx::Operand& element : destination.elements) {
      is_new = mark(element) || is_new;
    }
    return is_new;
  }

  std::vector<bool> of_; // by register
};

/// Has been called from the same places.
bool same_activation(const Frame* a, const Frame* b) {
  while (a != nullptr && b != nullptr && a != b) {
    if (a->code != b->code || a->return_op != b->return_op) {
      return false;
    }
    a = a->caller;
    b = b->caller;
  }
  return a == b;
}

/// `text` at the user's place of the instruction.
Waiting label(const isa::Code& code, const Op& op, std::string text) {
  FaultReport where;
  describe_instruction(code, op, where);
  Waiting result = as_user_sees(where);
  result.text = std::move(text);
  return result;
}

/// Where the ways part of threads that come to the barrier `op` and those that do not: in the
/// kernel.
std::vector<Waiting> partings(const Op& op, const Frame* frame, const std::string& text) {
  const Op* at = &op;
  for (; frame->caller != nullptr; frame = frame->caller) {
    at = frame->return_op - 1;
  }
  const ptx::Function& function = *frame->code->function;
  std::vector<std::uint32_t> branches = ways_past(function, at->instruction);
  // A loop over something that is the same for all is left by all, if there is another way.
  const auto parts = [&function, differs = Differing(function)](std::uint32_t branch) {
    return differs(function.body[branch]);
  };
  if (std::ranges::any_of(branches, parts)) {
    std::erase_if(branches, [&](std::uint32_t branch) { return !parts(branch); });
  }
  std::vector<Waiting> found;
  for (const std::uint32_t branch : branches) {
    const auto there = std::ranges::find(frame->code->ops, branch, &Op::instruction);
    if (there != frame->code->ops.end()) {
      Waiting way = label(*frame->code, *there, text);
      const bool known = std::ranges::any_of(found, [&](const Waiting& other) {
        return other.place.line != 0 && other.place.line == way.place.line &&
               other.place.file == way.place.file &&
               other.inlined_at.size() == way.inlined_at.size();
      });
      if (!known) { // a condition may be several branches
        found.push_back(std::move(way));
      }
    }
  }
  return found;
}

} // namespace

/// By a lane of warp `w`, of the instruction.
FaultReport Block::misuse(
    isa::FaultKind kind,
    const isa::Code& code,
    const Op& op,
    std::size_t w,
    int lane
) const {
  FaultReport report;
  report.fault.kind = kind;
  report.fault.lane = lane;
  report.kernel = grid_.describe();
  report.launches = {{report.kernel, grid_.config().called_from}};
  report.block = index_;
  report.thread = thread_index(w, lane);
  describe_instruction(code, op, report);
  return report;
}

void Block::diverged(
    const isa::Code& code,
    const Op& op,
    std::size_t w,
    int lane,
    std::string how
) {
  FaultReport report = misuse(isa::FaultKind::BarrierMisuse, code, op, w, lane);
  report.fault.text = fmt::format(
      "{}: {}",
      is_warp_collective(report.instruction) ? "collective in divergent code" : divergent_barrier,
      how
  );
  divergence_ = std::move(report);
}

/// `lanes` of warp `w` arrive at the barrier of all threads.
void Block::look_where_others_wait(
    const Barrier& barrier,
    const isa::Code& code,
    const Op& op,
    std::size_t w,
    LaneMask lanes
) {
  std::uint32_t elsewhere = 0;
  std::string where;
  const Op* their_op = nullptr;
  const isa::Code* their_code = nullptr;
  Dim3 they;
  const Frame* frame = warps_[w].warp.frame[static_cast<std::size_t>(std::countr_zero(lanes))];
  const auto same_place = [&](std::size_t other, std::size_t lane) {
    const isa::Warp& warp = warps_[other].warp;
    return &warp.pc[lane][-1] == &op && same_activation(warp.frame[lane], frame);
  };
  // Whoever waits stands at one place, or it would have been found before: one of them is enough.
  const auto first = std::ranges::find_if(barrier.waiting, [](LaneMask m) { return m != 0; });
  if (first == barrier.waiting.end() ||
      same_place(
          static_cast<std::size_t>(first - barrier.waiting.begin()),
          static_cast<std::size_t>(std::countr_zero(*first))
      )) {
    return;
  }
  for (std::size_t other = 0; other < warps_.size(); ++other) {
    const isa::Warp& warp = warps_[other].warp;
    for (LaneMask m = barrier.waiting[other]; m != 0; m &= m - 1) {
      const auto lane = static_cast<std::size_t>(std::countr_zero(m));
      const Op& theirs = warp.pc[lane][-1];
      if (same_place(other, lane)) {
        continue;
      }
      if (elsewhere++ == 0) {
        where = describe_place(*warp.frame[lane]->code, theirs);
        their_op = &theirs;
        their_code = warp.frame[lane]->code;
        they = thread_index(other, static_cast<int>(lane));
      }
    }
  }
  if (elsewhere != 0) {
    diverged(
        code,
        op,
        w,
        std::countr_zero(lanes),
        fmt::format(
            "{} thread{} of the block wait{} for this one at {}",
            elsewhere,
            elsewhere == 1 ? "" : "s",
            elsewhere == 1 ? "s" : "",
            where
        )
    );
    divergence_->waits.push_back(label(
        *their_code,
        *their_op,
        fmt::format(
            "thread ({},{},{}){} wait{} at this one",
            they.x,
            they.y,
            they.z,
            elsewhere == 1 ? "" : fmt::format(" and {} more", elsewhere - 1),
            elsewhere == 1 ? "s" : ""
        )
    ));
  }
}

/// `op`, at which the lane waits, or the call in the kernel in which it does: who goes around that
/// comes to code behind it.
bool Block::is_gone_around(const Op& op, std::size_t w, int lane) {
  const Op* at = &op;
  const Frame* frame = warps_[w].warp.frame[static_cast<std::size_t>(lane)];
  for (; frame->caller != nullptr; frame = frame->caller) {
    at = frame->return_op - 1;
  }
  const auto [known, is_new] = gone_around_.try_emplace(at);
  if (is_new) {
    known->second = machine::is_gone_around(*frame->code->function, at->instruction);
  }
  return known->second;
}

/// The collective at which `lane` waits is complete, but for threads that its mask names and that
/// have ended.
void Block::look_who_left_collective(std::size_t w, int lane) {
  const WarpState& state = warps_[w];
  const auto index = static_cast<std::size_t>(lane);
  const LaneMask left = state.membermask[index] & created(w) & ~state.warp.live;
  const Op& op = *state.collective_op[index];
  if (left == 0) {
    return;
  }
  const isa::Code& code = *state.warp.frame[index]->code;
  if (!is_gone_around(op, w, lane)) {
    const LaneMask lanes = state.membermask[index] & state.warp.live;
    const auto from = read_from_ended(*code.function, op.instruction, lanes, left);
    if (from && without_ended_.insert(&op).second) {
      FaultReport report = misuse(isa::FaultKind::BarrierMisuse, code, op, w, lane);
      report.fault.text = fmt::format(
          "a shuffle gives the value of lane {}, which has ended, and the value is used: PTX "
          "leaves it undefined",
          *from
      );
      report.waits =
          partings(op, state.warp.frame[index], "the lanes that have ended skip it here");
      grid_.services().remark(report);
    }
    return;
  }
  diverged(
      code,
      op,
      w,
      lane,
      fmt::format(
          "its mask names lane {} too, which has skipped it and ended",
          std::countr_zero(left)
      )
  );
}

/// The barrier of all threads opens for those who wait at `op`, and others have ended.
void Block::look_who_went_around(const isa::Code& code, const Op& op, std::size_t w, int lane) {
  if (live_ == threads_) {
    return;
  }
  if (!is_gone_around(op, w, lane)) {
    look_who_ended(code, op, w, lane);
    return;
  }
  for (std::size_t other = 0; other < warps_.size(); ++other) {
    const LaneMask ended = created(other) & ~warps_[other].warp.live;
    if (ended != 0) {
      const Dim3 t = thread_index(other, std::countr_zero(ended));
      diverged(
          code,
          op,
          w,
          lane,
          fmt::format(
              "thread ({},{},{}) has skipped the barrier at which this one waits, and has ended",
              t.x,
              t.y,
              t.z
          )
      );
      divergence_->waits = partings(
          op,
          warps_[w].warp.frame[static_cast<std::size_t>(lane)],
          "threads that skip it leave here"
      );
      return;
    }
  }
}

// [BAR-GUIDE]: the same, and the others have ended early, which [BAR-3] allows.
void Block::look_who_ended(const isa::Code& code, const Op& op, std::size_t w, int lane) {
  const bool wrong = grid_.services().ended_hold_up_barriers();
  if (!wrong && !without_ended_.insert(&op).second) {
    return; // it has been said
  }
  FaultReport report = misuse(isa::FaultKind::BarrierEnded, code, op, w, lane);
  report.fault.text = skipped_by_ended(warps_, threads_);
  report.waits = partings(
      op,
      warps_[w].warp.frame[static_cast<std::size_t>(lane)],
      "the other threads skip the barrier here"
  );
  if (wrong) {
    divergence_ = std::move(report);
  } else {
    grid_.services().remark(report);
  }
}

} // namespace heddle::machine
