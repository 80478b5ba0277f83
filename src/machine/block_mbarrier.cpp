// [BAR-REUSE]: an mbarrier that is invalidated, or initialised again, while threads wait on it.
//
// A thread waits if it stands at a question about the object (mbarrier.test_wait, .try_wait), or
// right behind one that was answered "not yet". Nothing that it has done since can have told
// anybody that it is through, so nothing orders its question, or the next one, before the object's
// end.
//
// May be wrong in this direction: misses threads that have arrived and stand anywhere else, on the
// way to their question. (The explorer lets threads run up to it.)
#include "isa/ops_address.h"
#include "machine/block.h"
#include "machine/source_place.h"

#include <fmt/format.h>

#include <bit>

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
  const ptx::Instruction& i = code.function->body[op.instruction];
  return i.opcode == ptx::Opcode::Mbarrier && (i.has(Mod::TestWait) || i.has(Mod::TryWait));
}

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
        where.inlined_at.insert(where.inlined_at.begin(), where.source);
        const SourcePlace& own = users_place(where.inlined_at);
        const std::string text = fmt::format("waits for a phase of it ({})", where.instruction);
        Waiters& waiters = waits[fmt::format("{}:{}: {}", own.file, own.line, text)];
        if (waiters.threads++ == 0) {
          waiters.what = {.place = own, .text = text, .kernel = grid_.describe()};
        }
        if (waiters.named.size() < Waiters::most_named) {
          waiters.named.emplace_back(block.index(), block.thread_index(w, other));
        }
        ++threads;
      }
    }
  }
  if (threads == 0) {
    return;
  }
  FaultReport report =
      misuse(isa::FaultKind::BarrierReused, exec.code(), op, index_of(exec.warp()), lane);
  report.fault.text = fmt::format(
      "an mbarrier is {} while {} thread{} still wait{} on it",
      again ? "initialised again" : "invalidated",
      threads,
      threads == 1 ? "" : "s",
      threads == 1 ? "s" : ""
  );
  report.waits = describe(waits);
  divergence_ = std::move(report);
}

} // namespace heddle::machine
