// Implements lockstep.h: turns, choices, the trace, and what reports say about lanes that wait.
#include "simt/lockstep.h"

#include "machine/grid.h"

#include <fmt/format.h>

#include <bit>
#include <numeric>

namespace heddle::simt {
namespace {

// Rules applied for each unit of a round's fuel, which counts backward branches.
constexpr std::int64_t steps_per_fuel = 4;

/// "app.cu:14 (@%p1 bra $L__BB0_2)".
std::string place(Activation activation, Pc pc) {
  const isa::Frame* frame = PtxCore::frame_of(activation);
  machine::FaultReport at;
  machine::describe_instruction(*frame->code, *PtxCore::op_of(pc), at);
  if (at.source.line == 0) {
    return at.instruction;
  }
  return fmt::format("{}:{} ({})", at.source.file, at.source.line, at.instruction);
}

/// The same with the file's name alone, instruction first.
std::string line_of_trace(Activation activation, Pc pc) {
  const isa::Frame* frame = PtxCore::frame_of(activation);
  machine::FaultReport at;
  machine::describe_instruction(*frame->code, *PtxCore::op_of(pc), at);
  const std::string file = at.source.file.substr(at.source.file.rfind('/') + 1);
  return fmt::format("{:<44} {}:{}", at.instruction, file, at.source.line);
}

} // namespace

struct Lockstep::WarpOfBlock {
  WarpOfBlock(isa::Warp& lanes, CodeTable& table, Cache* cache) : core(lanes, table, cache) {}
  Warp warp;
  PtxCore core;
};

class Lockstep::RandomChoices final : public Choices {
public:
  explicit RandomChoices(std::uint64_t seed) : state_(seed) {}

  int side(int n) override { return static_cast<int>(below(static_cast<std::uint64_t>(n))); }

  LaneOrder order(LaneMask lanes) override {
    LaneOrder order;
    for (; lanes != 0; lanes &= lanes - 1) {
      order.lanes[static_cast<std::size_t>(order.count++)] =
          static_cast<std::uint8_t>(std::countr_zero(lanes));
    }
    for (auto n = static_cast<std::size_t>(order.count); n > 1; --n) {
      std::swap(order.lanes[n - 1], order.lanes[below(n)]);
    }
    return order;
  }

private:
  std::uint64_t below(std::uint64_t n) { // splitmix64
    state_ += 0x9e3779b97f4a7c15ULL;
    std::uint64_t z = state_;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
    return (z ^ (z >> 31)) % n;
  }
  std::uint64_t state_;
};

/// One line for each step: the rule, the instruction, who executed it, and the stack afterwards.
class Lockstep::Trace final : public Observer {
public:
  Trace(std::uint64_t steps, std::function<void(const std::string&)> sink)
      : left_(steps),
        sink_(std::move(sink)) {}

  void stepped(Rule rule, const Token& token, LaneMask acted, const Warp& after) override {
    if (left_ == 0) {
      return;
    }
    --left_;
    std::string stack;
    for (std::size_t i = after.stack.size(); i-- > 0;) {
      const Token& t = after.stack[i];
      const isa::Frame* frame = PtxCore::frame_of(t.activation);
      const auto index = [frame](Pc pc) { return PtxCore::op_of(pc) - frame->code->ops.data(); };
      stack += fmt::format(
          " ({:08x}, {}, {})",
          t.mask,
          index(t.pc),
          t.reconvergence == no_pc ? "-" : std::to_string(index(t.reconvergence))
      );
    }
    const bool executes = rule != Rule::Reconverge && rule != Rule::Release;
    // After the last return or exit the frame is gone; nothing is said about its instruction then.
    const bool known = !after.stack.empty() && rule != Rule::Return;
    sink_(
        fmt::format(
            "{:<17} {:08x}  {}\n    stack:{}",
            id(rule),
            executes ? acted : token.mask,
            executes && known ? line_of_trace(token.activation, token.pc) : "",
            stack.empty() ? " empty" : stack
        )
    );
  }
  bool wanted() const { return left_ > 0; }

private:
  std::uint64_t left_;
  std::function<void(const std::string&)> sink_;
};

Lockstep::Lockstep(machine::Block& block, std::shared_ptr<Common> common)
    : block_(block),
      common_(std::move(common)) {
  if (common_->options.stale_reads) {
    cache_ = std::make_unique<Cache>();
  }
  for (auto& state : block.warps()) {
    warps_.emplace_back(state.warp, common_->codes, cache_.get());
  }
}

Lockstep::~Lockstep() = default;

void Lockstep::start() {
  const machine::Dim3 index = block_.index();
  if (common_->options.seed) {
    const std::uint64_t number = index.x + (std::uint64_t{index.y} << 24) +
                                 (std::uint64_t{index.z} << 44) + (block_.grid().id() << 52);
    choices_ = std::make_unique<RandomChoices>(*common_->options.seed ^ number);
  } else {
    choices_ = std::make_unique<Choices>();
  }
  if (cache_ != nullptr) {
    cache_->forget();
  }
  for (std::size_t w = 0; w < warps_.size(); ++w) {
    const isa::Warp& lanes = block_.warps()[w].warp;
    if (lanes.live != 0) {
      const auto first = static_cast<std::size_t>(std::countr_zero(lanes.live));
      simt::start(
          warps_[w].warp,
          lanes.live,
          PtxCore::activation_of(lanes.frame[first]),
          PtxCore::pc_of(lanes.pc[first])
      );
    }
    round_fuel_ = block_.warps()[w].fuel;
  }
  trace_.reset();
  if (common_->options.trace_steps != 0 && !common_->traced.exchange(true)) {
    trace_ = std::make_unique<Trace>(common_->options.trace_steps, common_->options.trace);
  }
}

const Warp& Lockstep::warp(std::size_t w) const {
  return warps_[w].warp;
}

bool Lockstep::waits(std::size_t w) const {
  const Warp& warp = warps_[w].warp;
  return warp.waits && (warps_[w].core.waiting() & warp.stack.back().mask) != 0;
}

Stepped Lockstep::step(isa::Exec& exec, std::size_t w, Choices& choices, Observer* observer) {
  warps_[w].core.use(&exec);
  return simt::step(warps_[w].warp, warps_[w].core, choices, observer);
}

Stepped
Lockstep::move(isa::Exec& exec, std::size_t w, Choices& choices, std::uint64_t limit, bool* spins) {
  Stepped stepped = step(exec, w, choices);
  for (; stepped == Stepped::Moved && limit > 0; --limit) {
    const Token at = next(w);
    if (at.mask == 0 || waits(w) || (PtxCore::op_of(at.pc)->flags & isa::Visible) != 0) {
      return stepped;
    }
    stepped = step(exec, w, choices);
  }
  if (spins != nullptr) {
    *spins = stepped == Stepped::Moved;
  }
  return stepped;
}

isa::Stop Lockstep::turn(isa::Exec& exec, std::size_t w) {
  WarpOfBlock& own = warps_[w];
  own.core.use(&exec);
  Observer* observer = trace_ != nullptr && w == 0 && trace_->wanted() ? trace_.get() : nullptr;
  std::int64_t steps = block_.warps()[w].fuel * steps_per_fuel;
  block_.warps()[w].fuel = round_fuel_;
  for (; steps > 0; --steps) {
    switch (simt::step(own.warp, own.core, *choices_, observer)) {
    case Stepped::Moved:
      if (own.core.stop() == isa::Stop::Yield) { // somebody else should run
        steps = std::min(steps, std::int64_t{1});
      }
      break;
    case Stepped::Waits:
      return isa::Stop::Blocked;
    case Stepped::Ended:
      return isa::Stop::Exited;
    case Stepped::Failed:
      return own.core.stop();
    }
  }
  return isa::Stop::Fuel;
}

void Lockstep::hash(std::size_t w, Hasher& hasher) const {
  const Warp& warp = warps_[w].warp;
  hasher.value(warp.stack.size());
  hasher.value(std::uint32_t{warp.waits});
  for (const Token& token : warp.stack) {
    hasher.value(token.mask);
    hasher.value(PtxCore::frame_of(token.activation)->depth);
    hasher.value(token.pc);
    hasher.value(token.reconvergence);
  }
}

// [SIMT-LIVENESS]: the paper's argument, for one lane.
std::string Lockstep::describe(std::size_t w, int lane) const {
  const Warp& warp = warps_[w].warp;
  if ((warp.live >> lane & 1) == 0) {
    return "";
  }
  const Token executing = next_to_execute(warp);
  if ((executing.mask >> lane & 1) != 0) {
    return "";
  }
  const std::size_t own = token_of(warp, lane);
  LaneMask others = 0; // lanes that are to come to where this lane is
  Pc branch = no_pc;
  Activation activation = 0;
  for (std::size_t i = warp.stack.size(); i-- > own + 1;) {
    if ((warp.stack[i].mask & warp.stack[own].mask) != 0) {
      others |= warp.stack[i].mask;
      branch = warp.stack[i].branch;
      activation = warp.stack[own].activation;
    }
  }
  if (others != 0) {
    return fmt::format(
        "waits at the reconvergence point of the branch at {} for lanes {:#010x} of its warp: a "
        "lockstep warp runs only those until they get here [SIMT-LIVENESS]",
        place(activation, branch),
        others
    );
  }
  branch = warp.stack[own].branch;
  return fmt::format(
      "has had no turn since the branch at {}: lanes {:#010x} of its warp go first, until they "
      "reach the reconvergence point [SIMT-LIVENESS]",
      branch != no_pc ? place(warp.stack[own].activation, branch) : "the start",
      executing.mask
  );
}

machine::MakeWarpRules lockstep(LockstepOptions options) {
  auto common = std::make_shared<Lockstep::Common>();
  common->options = std::move(options);
  return [common](machine::Block& block) -> std::unique_ptr<machine::WarpRules> {
    return std::make_unique<Lockstep>(block, common);
  };
}

} // namespace heddle::simt
