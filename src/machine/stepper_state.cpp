// What can be told of a stepper's state: names and places for reports, and its fingerprint.
#include "machine/stepper_work.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>

namespace heddle::machine {

using isa::LaneMask;
using isa::Op;
using ptx::Mod;

namespace {

LaneMask bit(int lane) {
  return LaneMask{1} << lane;
}

} // namespace

// --- Reports -------------------------------------------------------------------------------------

Stepper::Description Stepper::describe(const Move& move) const {
  if (!move.thread) {
    return {StepKind::None, "is ready to be carried out", nullptr, nullptr};
  }
  const Lane at{works_[move.work].get(), move.cluster, move.block, move.warp, move.lane};
  const isa::Warp& warp = warp_state(at).warp;
  const auto index = static_cast<std::size_t>(move.lane);
  Description
      result{StepKind::None, "a loop without a step", warp.pc[index], warp.frame[index]->code};
  if (move.endless) {
    const auto& loops = at.work->progress[move.cluster].loops[move.block][move.warp];
    if ((loops.stepping & bit(move.lane)) != 0) {
      result.step = StepKind::Sync;
      result.what = "a loop that waits for nobody";
    } else if ((loops.local & bit(move.lane)) != 0) {
      result.what = "a loop that accesses only local variables";
    } else if ((loops.sleeping & bit(move.lane)) != 0) {
      result.what = "a loop that only sleeps";
    }
  } else {
    const Operation operation = classify(at);
    result.step = operation.step;
    result.what = operation.what;
  }
  return result;
}

std::string Stepper::kernel_name(const Move& move) const {
  const Work& work = *works_[move.work];
  if (!work.kernel()) {
    return work.command->label;
  }
  // Launches of the same kernel that are under way together are told apart by their order.
  const std::string name = work.command->grid->describe();
  std::size_t before = 0;
  for (std::size_t n = 0; n < move.work; ++n) {
    before += works_[n]->kernel() && works_[n]->command->grid->describe() == name ? 1 : 0;
  }
  return before == 0 ? fmt::format("kernel '{}'", name)
                     : fmt::format("kernel '{}' (launch {})", name, before + 1);
}

std::string Stepper::cluster_name(const Move& move) const {
  const Work& work = *works_[move.work];
  return !move.thread || work.cooperative()
             ? kernel_name(move)
             : fmt::format("cluster {} of {}", move.cluster, kernel_name(move));
}

std::string Stepper::thread_name(const Move& move) const {
  Block& block = works_[move.work]->clusters[move.cluster]->block(move.block);
  const Dim3 t = block.thread_index(move.warp, move.lane);
  const Dim3 b = block.index();
  return fmt::format("thread ({},{},{}) of block ({},{},{})", t.x, t.y, t.z, b.x, b.y, b.z);
}

std::vector<Stepper::Wait> Stepper::waits() const {
  std::vector<Wait> result;
  for (std::size_t n = 0; n < works_.size(); ++n) {
    for (std::size_t c = 0; c < works_[n]->clusters.size(); ++c) {
      Cluster& cluster = *works_[n]->clusters[c];
      for (std::size_t b = 0; b < cluster.size(); ++b) {
        for (std::size_t w = 0; w < cluster.block(b).warps().size(); ++w) {
          const Block::WarpState& state = cluster.block(b).warps()[w];
          for (LaneMask m = state.warp.live & state.warp.blocked; m != 0; m &= m - 1) {
            Move move{.work = n, .thread = true, .cluster = c, .block = b, .warp = w};
            move.lane = std::countr_zero(m);
            add_wait(state, move, result);
          }
        }
      }
    }
  }
  return result;
}

void Stepper::add_wait(
    const Block::WarpState& state,
    const Move& move,
    std::vector<Wait>& result
) const {
  const auto lane = static_cast<std::size_t>(move.lane);
  const Op* op = state.warp.pc[lane] - 1; // it goes on behind what it waits at
  for (Wait& known : result) {
    if (known.op == op && known.first.work == move.work) {
      ++known.threads;
      return;
    }
  }
  const WaitKind kind = Block::wait_of(state, move.lane);
  result.push_back({
      .first = move,
      .threads = 1,
      .op = op,
      .code = state.warp.frame[lane]->code,
      .what = kind == WaitKind::Collective       ? "waits for other lanes of its warp"
              : kind == WaitKind::ClusterBarrier ? "waits at the barrier of the cluster"
                                                 : "waits at a barrier of the block",
  });
}

// --- State ---------------------------------------------------------------------------------------

/// Registers whose value still matters: the others do not tell states apart.
const ptx::BitVector&
Stepper::live_before(const ptx::Function& function, std::uint32_t instruction) const {
  std::vector<ptx::BitVector>& live = live_[&function];
  if (live.empty()) {
    live = ptx::Liveness(function, ptx::Cfg(function)).before_each();
  }
  return live[instruction];
}

void Stepper::hash_lane(const isa::Warp& warp, int lane, Hasher& hasher) const {
  const auto index = static_cast<std::size_t>(lane);
  hasher.value(warp.pc[index]);
  std::uint64_t local_bytes = 0;
  const isa::Frame* inner = nullptr; // the frame that was called from `frame`
  for (const isa::Frame* frame = warp.frame[index]; frame != nullptr; frame = frame->caller) {
    local_bytes = std::max(local_bytes, std::uint64_t{frame->local_end()});
    hasher.value(frame->code);
    hasher.value(frame->return_op);
    const auto& registers = frame->code->function->registers;
    const Op& next = frame == warp.frame[index] ? *warp.pc[index] : *inner->return_op;
    const ptx::BitVector& live = live_before(*frame->code->function, next.instruction);
    inner = frame;
    for (std::size_t r = 0; r < registers.size(); ++r) {
      if (!live.test(r)) {
        continue;
      }
      const std::byte* values = frame->registers.data() + frame->code->registers[r].offset();
      if (registers[r].type == Mod::Pred) {
        LaneMask mask = 0;
        std::memcpy(&mask, values, sizeof mask);
        hasher.value(static_cast<std::uint8_t>(mask >> lane & 1));
      } else {
        const auto width =
            static_cast<std::size_t>(std::max(ptx::type_bits(registers[r].type), 16)) / 8;
        hasher.bytes(values + width * index, width);
      }
    }
  }
  hasher.bytes(warp.local + index * warp.local_stride, local_bytes);
}

void Stepper::hash_block(const Block& block, Hasher& hasher) const {
  hasher.bytes(block.shared_.data(), block.shared_.size());
  for (const Block::Barrier& barrier : block.barriers_) {
    hasher.value(barrier.in_use);
    if (barrier.in_use) {
      hasher.value(barrier.expected);
      hasher.value(barrier.arrivals);
      hasher.value(barrier.popc);
      hasher.value(barrier.all);
      hasher.value(barrier.any);
      hasher.bytes(barrier.waiting.data(), barrier.waiting.size() * sizeof(LaneMask));
    }
  }
  for (const Block::WarpState& state : block.warps_) {
    hasher.value(state.warp.live);
    hasher.value(state.warp.blocked);
    hasher.value(state.arrived);
    hasher.value(state.cluster_arrived);
    hasher.value(state.cluster_waiting);
    hasher.value(state.cluster_passed);
    for (LaneMask m = state.warp.live; m != 0; m &= m - 1) {
      hash_lane(state.warp, std::countr_zero(m), hasher);
    }
  }
}

void Stepper::hash(Hasher& hasher) const {
  for (const auto& work : works_) {
    const Command& command = *work->command;
    hasher.text(command.label);
    hasher.text(command.stream);
    for (const CommandPtr& before : command.after) {
      const auto place = std::find_if(works_.begin(), works_.end(), [&](const auto& other) {
        return other->command == before;
      });
      hasher.value(place - works_.begin());
    }
    if (!work->kernel()) {
      continue;
    }
    hasher.value(&command.grid->kernel());
    hasher.bytes(command.grid->parameters(), command.grid->parameter_bytes());
    for (std::size_t c = 0; c < work->clusters.size(); ++c) {
      hasher.value(work->progress[c].made);
      hasher.value(work->progress[c].joins_are_moves);
      for (std::size_t b = 0; b < work->clusters[c]->size(); ++b) {
        const Block& block = work->clusters[c]->block(b);
        hasher.value(block.ended());
        if (!block.ended()) {
          hash_block(block, hasher);
          for (const Work::Progress::Loops& loops : work->progress[c].loops[b]) {
            hasher.value(loops.plain);
          }
        }
      }
    }
  }
  world_.space().each_live([&](const memory::Allocation& allocation) {
    if (allocation.kind != memory::AllocationKind::Constant) {
      hasher.value(allocation.base);
      hasher.bytes(
          reinterpret_cast<const std::byte*>(
              allocation.base + static_cast<std::uint64_t>(allocation.delta)
          ),
          allocation.size
      );
    }
  });
}

} // namespace heddle::machine
