// Implements Cluster of block.h.
#include "base/check.h"
#include "machine/access_listener.h"
#include "machine/fault_diagnostic.h"
#include "machine/source_place.h"
#include "ptx/parse.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

namespace heddle::machine {

using isa::LaneMask;
using isa::Stop;

namespace {

/// While it lives the grid's listener is told of what `exec` accesses.
class Listening final : public isa::AccessWatch {
public:
  Listening(isa::Exec& exec, std::shared_ptr<AccessListener> listener)
      : exec_(exec),
        listener_(std::move(listener)) {
    if (listener_ != nullptr) {
      watching_.emplace(exec_, *this);
    }
  }
  Listening(const Listening&) = delete;
  Listening& operator=(const Listening&) = delete;
  bool listens() const { return listener_ != nullptr; }
  void accessed(int /*lane*/, std::byte* at, std::uint32_t bytes, bool store) override {
    listener_->accessed(exec_, at, bytes, store);
  }

private:
  isa::Exec& exec_;
  const std::shared_ptr<AccessListener> listener_;
  std::optional<isa::Watching> watching_;
};

} // namespace

Cluster::Cluster(std::shared_ptr<Grid> grid, const MakeWarpRules& make_rules)
    : grid_(std::move(grid)) {
  for (std::uint64_t i = 0; i < grid_->blocks_per_cluster(); ++i) {
    blocks_.push_back(std::make_unique<Block>(*this, *grid_, make_rules));
  }
}

void Cluster::start(std::uint64_t index, bool compiled) {
  index_ = index;
  started_ = true;
  next_block_ = next_warp_ = 0;
  const bool listens = listener_of(*grid_) != nullptr;
  for (std::size_t rank = 0; rank < blocks_.size(); ++rank) {
    blocks_[rank]->start(index, static_cast<std::uint32_t>(rank), compiled && !listens);
  }
}

Cluster::Outcome
Cluster::run(isa::Exec& exec, std::uint64_t budget, Random* random, std::uint64_t left_out) {
  // A warp that uses up its fuel (4,096) in fewer instructions asks in a loop: a poll costs as much
  // fuel as 32 backward branches.
  constexpr std::uint64_t asking = 4096;
  progressed_ = false;
  const Listening listening(exec, listener_of(*grid_));
  const bool compiles = random == nullptr && !listening.listens();
  const auto go_compiled = [&](Block& block) -> std::optional<Outcome> {
    switch (block.run_compiled(exec, fault_warp_)) {
    case Stop::Exited:
      return Outcome::Ended;
    case Stop::Fault:
      fault_block_ = 0;
      return Outcome::Fault;
    case Stop::Unsupported:
      fault_block_ = 0;
      return Outcome::Unsupported;
    default:
      return std::nullopt;
    }
  };
  if (Block& block = *blocks_.front(); block.goes_compiled()) {
    if (const auto outcome = go_compiled(block)) {
      return *outcome;
    }
  }
  // Who has had a turn in a round that the last run left unfinished may have moved in it.
  bool moved = next_block_ != 0 || next_warp_ != 0;
  while (true) {
    bool ended = true;
    bool only_asks = !moved; // every warp polls; unknown if the round was begun by an earlier call
    for (; next_block_ < blocks_.size(); ++next_block_, next_warp_ = 0) {
      Block& block = *blocks_[next_block_];
      for (; next_warp_ < block.warps().size(); ++next_warp_) {
        if (block.warps()[next_warp_].warp.live == 0) {
          continue;
        }
        if (budget == 0) {
          return Outcome::Yielded;
        }
        if (random != nullptr && random->below(4) < left_out) {
          moved = true; // it might have: only a round of all shows that nobody can
          continue;
        }
        const std::uint64_t before = exec.executed();
        block.may_compile_ = compiles; // not in turns that others give: Probe
        const Stop stop = block.turn(exec, next_warp_);
        block.may_compile_ = false;
        if (stop == Stop::Fault || stop == Stop::Unsupported) {
          fault_block_ = next_block_;
          fault_warp_ = next_warp_;
          return stop == Stop::Fault ? Outcome::Fault : Outcome::Unsupported;
        }
        if (block.goes_compiled()) { // it is the only one: all of it has come to a barrier
          if (const auto outcome = go_compiled(block)) {
            return *outcome;
          }
        }
        const std::uint64_t executed = exec.executed() - before;
        moved = moved || executed != 0;
        only_asks = only_asks && (executed == 0 || (stop == Stop::Fuel && executed < asking));
        // A monitor has let others go first: other clusters, too.
        const bool yields = block.monitor() != nullptr && exec.why() == Stop::Yield;
        budget = yields ? 0 : budget - 1;
      }
    }
    next_block_ = next_warp_ = 0;
    for (const auto& block : blocks_) {
      ended = ended && block->ended();
    }
    if (ended) {
      return Outcome::Ended;
    }
    if (!std::exchange(moved, false)) {
      return Outcome::Deadlock;
    }
    if (only_asks && random == nullptr && blocks_.front()->monitor() == nullptr) {
      return Outcome::Yielded; // those that they wait for are mostly in other clusters
    }
  }
}

// [BAR-CLUSTER]: a phase completes when every thread of the cluster that has not ended has arrived.
void Cluster::cluster_barrier_check() {
  bool any = false;
  for (const auto& block : blocks_) {
    for (const Block::WarpState& state : block->warps()) {
      if ((state.warp.live & ~state.cluster_arrived) != 0) {
        return;
      }
      any = any || state.cluster_arrived != 0;
    }
  }
  if (!any) {
    return;
  }
  if (BlockMonitor* monitor = blocks_.front()->monitor()) {
    monitor->cluster_opened();
  }
  for (const auto& block : blocks_) {
    for (Block::WarpState& state : block->warps()) {
      const LaneMask waiting = std::exchange(state.cluster_waiting, 0);
      state.cluster_passed = state.cluster_arrived & ~waiting & state.warp.live;
      state.cluster_arrived = 0;
      state.warp.blocked &= ~waiting;
      if (BlockMonitor* monitor = block->monitor(); monitor != nullptr && waiting != 0) {
        monitor->cluster_passed(block->index_of(state.warp), waiting);
      }
    }
  }
  note_progress();
}

// --- Reports -----------------------------------------------------------------------------------

namespace {

SourcePlace place_of(const ptx::Module& module, std::uint32_t location) {
  SourcePlace place;
  if (location < module.source_locations.size()) {
    const ptx::SourceLocation& source = module.source_locations[location];
    const auto file = module.files.find(source.file);
    place.file = file != module.files.end() ? file->second : "";
    place.line = source.line;
    place.column = source.column;
    place.function = source.function.empty() ? "" : function_name(source.function);
  }
  return place;
}

} // namespace

std::vector<SourcePlace> places_of(const ptx::Module& module, const ptx::Instruction& instruction) {
  std::vector<SourcePlace> result;
  std::optional<std::uint32_t> at = instruction.location;
  while (at && *at < module.source_locations.size()) {
    result.push_back(place_of(module, *at));
    at = module.source_locations[*at].inlined_at;
  }
  return result;
}

void describe_instruction(const isa::Code& code, const isa::Op& op, FaultReport& report) {
  if (op.instruction >= code.function->body.size()) {
    return;
  }
  const ptx::Instruction& instruction = code.function->body[op.instruction];
  report.instruction = ptx::print(*code.module, *code.function, instruction);
  std::vector<SourcePlace> places = places_of(*code.module, instruction);
  if (places.empty()) {
    return;
  }
  report.source = std::move(places.front());
  report.inlined_at.assign(
      std::make_move_iterator(places.begin() + 1),
      std::make_move_iterator(places.end())
  );
  SourcePlace& outermost = report.inlined_at.empty() ? report.source : report.inlined_at.back();
  outermost.function = function_name(code.function->name);
}

FaultReport Cluster::fault_report(isa::Exec& exec) {
  return report_fault(*grid_, *blocks_[fault_block_], fault_warp_, exec);
}

std::string describe_place(const isa::Code& code, const isa::Op& op) {
  FaultReport at;
  describe_instruction(code, op, at);
  return at.source.line == 0
             ? at.instruction
             : fmt::format("{}:{} ({})", at.source.file, at.source.line, at.instruction);
}

// [SIMT-LIVENESS]
std::string describe(const WarpRules::Behind& behind) {
  const std::string branch =
      behind.branch == nullptr ? "the start" : describe_place(*behind.branch_code, *behind.branch);
  return behind.meets
             ? fmt::format(
                   "waits at the reconvergence point of the branch at {} for lanes {:#010x} of its "
                   "warp: a lockstep warp runs only those until they get here [SIMT-LIVENESS]",
                   branch,
                   behind.others
               )
             : fmt::format(
                   "has had no turn since the branch at {}: lanes {:#010x} of its warp go first, "
                   "until they reach the reconvergence point [SIMT-LIVENESS]",
                   branch,
                   behind.others
               );
}

void Cluster::describe_waits(Waits& waits) {
  for (const auto& block : blocks_) {
    for (std::size_t w = 0; w < block->warps().size(); ++w) {
      Block::WarpState& state = block->warps()[w];
      const std::vector<WarpRules::Behind> left =
          block->rules() != nullptr ? block->rules()->behind(w) : std::vector<WarpRules::Behind>();
      for (LaneMask m = state.warp.live; m != 0; m &= m - 1) {
        const int lane = std::countr_zero(m);
        const auto i = static_cast<std::size_t>(lane);
        const bool blocked = (state.warp.blocked >> lane & 1) != 0;
        const isa::Op* op = state.warp.pc[i] - (blocked ? 1 : 0);
        FaultReport at;
        describe_instruction(*state.warp.frame[i]->code, *op, at);
        std::string text;
        switch (Block::wait_of(state, lane)) {
        case WaitKind::Barrier:
          text += "waits at a barrier of the block";
          break;
        case WaitKind::ClusterBarrier:
          text += "waits at the barrier of the cluster";
          break;
        case WaitKind::Collective:
          text += fmt::format("waits for the lanes {:#010x} of its warp", state.membermask[i]);
          break;
        case WaitKind::Grids:
          text += "waits for the grids before its own";
          break;
        case WaitKind::None: {
          const auto behind = std::ranges::find_if(left, [lane](const WarpRules::Behind& b) {
            return (b.lanes >> lane & 1) != 0;
          });
          text += behind == left.end() ? "spins" : describe(*behind);
          break;
        }
        }
        text += fmt::format(" ({})", at.instruction);
        Waiting seen = as_user_sees(at);
        const SourcePlace& own = seen.place;
        Waiters& waiters =
            waits[fmt::format("{}:{}: {}: {}", own.file, own.line, grid_->describe(), text)];
        if (waiters.threads++ == 0) {
          waiters.what = std::move(seen);
          waiters.what.text = text;
          waiters.what.kernel = grid_->describe();
        }
        if (waiters.named.size() < Waiters::most_named) {
          waiters.named.emplace_back(block->index(), block->thread_index(w, lane));
        }
      }
    }
  }
}

std::vector<Waiting> describe(const Waits& waits) {
  std::vector<Waiting> result;
  for (const auto& [key, waiters] : waits) {
    const bool apart = waiters.threads <= Waiters::most_named;
    for (std::size_t i = 0; i < (apart ? waiters.named.size() : 1); ++i) {
      const auto& [b, t] = waiters.named[i];
      Waiting one = waiters.what;
      one.text = fmt::format(
          "thread ({},{},{}) of block ({},{},{}) of kernel '{}'{}: {}",
          t.x,
          t.y,
          t.z,
          b.x,
          b.y,
          b.z,
          one.kernel,
          apart ? "" : fmt::format(" and {} more", waiters.threads - 1),
          one.text
      );
      result.push_back(std::move(one));
    }
  }
  return result;
}

} // namespace heddle::machine
