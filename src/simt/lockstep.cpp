// Implements lockstep.h: turns, choices, the trace, and single steps for an explorer.
#include "simt/lockstep.h"

#include "base/random.h"
#include "machine/grid.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>

namespace heddle::simt {
namespace {

// Rules applied for each unit of a round's fuel, which counts backward branches.
constexpr std::int64_t steps_per_fuel = 4;

/// "@%p1 bra $L__BB0_2   app.cu:14".
std::string line_of_trace(Activation activation, Pc pc) {
  const isa::Frame* frame = PtxCore::frame_of(activation);
  machine::FaultReport at;
  machine::describe_instruction(*frame->code, *PtxCore::op_of(pc), at);
  const std::string file = at.source.file.substr(at.source.file.rfind('/') + 1);
  return fmt::format("{:<44} {}:{}", at.instruction, file, at.source.line);
}

/// The code of that activation, or of the one that called it, that `op` belongs to.
const isa::Code* code_with(const isa::Frame* frame, const isa::Op* op) {
  while (frame->caller != nullptr && (op < frame->code->ops.data() ||
                                      op >= frame->code->ops.data() + frame->code->ops.size())) {
    frame = frame->caller;
  }
  return frame->code;
}

} // namespace

struct Lockstep::WarpOfBlock {
  WarpOfBlock(isa::Warp& lanes, CodeTable& table, Cache* cache) : core(lanes, table, cache) {}
  Warp warp;
  PtxCore core;
};

class Lockstep::RandomChoices final : public Choices {
public:
  explicit RandomChoices(std::uint64_t seed) : random_(seed) {}

  int side(int n) override {
    return static_cast<int>(random_.below(static_cast<std::uint64_t>(n)));
  }

  LaneOrder order(LaneMask lanes) override {
    LaneOrder order;
    for (; lanes != 0; lanes &= lanes - 1) {
      order.lanes[static_cast<std::size_t>(order.count++)] =
          static_cast<std::uint8_t>(std::countr_zero(lanes));
    }
    for (auto n = static_cast<std::size_t>(order.count); n > 1; --n) {
      std::swap(order.lanes[n - 1], order.lanes[random_.below(n)]);
    }
    return order;
  }

private:
  Random random_;
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

// [SIMT-LIVENESS]
std::vector<machine::WarpRules::Behind> Lockstep::behind(std::size_t w) const {
  const Warp& warp = warps_[w].warp;
  std::vector<Behind> result;
  const Token executing = next_to_execute(warp);
  LaneMask left = warp.live & ~executing.mask;
  for (std::size_t own = warp.stack.size(); left != 0 && own-- > 0;) {
    const LaneMask here = warp.stack[own].mask & left;
    left &= ~here;
    if (here == 0) {
      continue;
    }
    Behind behind;
    behind.lanes = here;
    const isa::Frame* frame = PtxCore::frame_of(warp.stack[own].activation);
    behind.op = PtxCore::op_of(warp.stack[own].pc);
    behind.code = frame->code;
    const Token* parted = &warp.stack[own]; // the token with which these lanes parted last
    for (std::size_t i = warp.stack.size(); i-- > own + 1;) {
      if ((warp.stack[i].mask & warp.stack[own].mask) != 0) { // they are to come to where it is
        behind.others |= warp.stack[i].mask;
        behind.meets = true;
        parted = &warp.stack[i];
      }
    }
    for (std::size_t i = own + 1; !behind.meets && i < warp.stack.size(); ++i) {
      behind.others |= warp.stack[i].mask;
    }
    if (parted->branch != no_pc) {
      behind.branch = PtxCore::op_of(parted->branch);
      behind.branch_code = code_with(PtxCore::frame_of(parted->activation), behind.branch);
    }
    result.push_back(behind);
  }
  return result;
}

// --- One step at a time --------------------------------------------------------------------------

/// The choices of one step, made beforehand.
class Lockstep::Picked final : public Choices {
public:
  explicit Picked(const Pick& pick) : pick_(pick) {}

  int side(int n) override {
    asked_.push_back(n);
    return next_ < pick_.sides.size() ? pick_.sides[next_++] : 0;
  }
  LaneOrder order(LaneMask lanes) override {
    LaneOrder order;
    if (pick_.lanes.empty()) {
      return order;
    }
    const auto add = [&](int lane) {
      order.lanes[static_cast<std::size_t>(order.count++)] = static_cast<std::uint8_t>(lane);
    };
    for (const std::uint8_t lane : pick_.lanes) {
      add(lane);
      lanes &= ~(LaneMask{1} << lane);
    }
    for (; lanes != 0; lanes &= lanes - 1) { // those whose guard does not hold
      add(std::countr_zero(lanes));
    }
    return order;
  }
  /// How many sides were left, each time it was asked.
  const std::vector<int>& asked() const { return asked_; }

private:
  const Pick& pick_;
  std::size_t next_ = 0;
  std::vector<int> asked_;
};

/// The lanes of each function that the call on top goes to.
std::vector<LaneMask> Lockstep::sides_of_call(WarpOfBlock& own) {
  const Token& top = own.warp.stack.back();
  std::array<LaneMask, warp_size> sides;
  const int n = callees(own.core, top.activation, top.pc, top.mask, sides);
  return {sides.begin(), sides.begin() + n};
}

machine::WarpRules::Next Lockstep::next(isa::Exec& exec, std::size_t w) {
  WarpOfBlock& own = warps_[w];
  own.core.use(&exec);
  Choices none;
  while (!own.warp.stack.empty()) {
    const Token& top = own.warp.stack.back();
    if (own.warp.waits && (own.core.waiting() & top.mask) != 0) {
      return {};
    }
    if (!own.warp.waits && top.pc != top.reconvergence) {
      const Kind kind = own.core.kind(top.activation, top.pc);
      return {
          .lanes = top.mask,
          .op = PtxCore::op_of(top.pc),
          .code = PtxCore::frame_of(top.activation)->code,
          .branch = kind == Kind::Branch || (kind == Kind::Call && sides_of_call(own).size() > 1)
      };
    }
    simt::step(own.warp, own.core, none); // RELEASE or RECONVERGE
  }
  return {};
}

/// Tries the branch, sees what it pushes, and takes it back: it changes nothing but places.
std::vector<isa::LaneMask> Lockstep::sides(isa::Exec& exec, std::size_t w) {
  WarpOfBlock& own = warps_[w];
  own.core.use(&exec);
  const Token& top = own.warp.stack.back();
  if (own.core.kind(top.activation, top.pc) == Kind::Call) {
    return sides_of_call(own);
  }
  const Warp before = own.warp;
  isa::Warp& lanes = block_.warps()[w].warp;
  const auto places = lanes.pc;
  const Pick usual;
  Picked choices(usual);
  std::vector<isa::LaneMask> sides;
  if (simt::step(own.warp, own.core, choices) == Stepped::Moved && !choices.asked().empty()) {
    const LaneMask all = before.stack.back().mask;
    for (std::size_t i = before.stack.size() - 1; i < own.warp.stack.size(); ++i) {
      if (own.warp.stack[i].mask != all) { // not the token that waits for them
        sides.push_back(own.warp.stack[i].mask);
      }
    }
    // Those on top go first in any case: they only end.
    sides.resize(static_cast<std::size_t>(choices.asked().front()));
    std::ranges::reverse(sides);
  }
  own.warp = before;
  lanes.pc = places;
  return sides;
}

isa::Stop Lockstep::step(isa::Exec& exec, std::size_t w, const Pick& pick) {
  WarpOfBlock& own = warps_[w];
  own.core.use(&exec);
  Picked choices(pick);
  const Stepped stepped = simt::step(own.warp, own.core, choices);
  const isa::Stop stop = own.core.stop();
  return stepped == Stepped::Failed || stop == isa::Stop::Yield ? stop : isa::Stop::None;
}

// --- States --------------------------------------------------------------------------------------

namespace {

/// A token as it is kept: nothing in it depends on where things lie in memory.
struct SavedToken {
  LaneMask mask = 0;
  std::uint32_t depth = 0; // of its activation
  std::uint32_t pc = 0, reconvergence = 0;
};
constexpr std::uint32_t nowhere = ~0U;

std::uint32_t index_of(const isa::Code& code, Pc pc) {
  return pc == no_pc ? nowhere : static_cast<std::uint32_t>(PtxCore::op_of(pc) - code.ops.data());
}
Pc pc_at(const isa::Code& code, std::uint32_t index) {
  return index == nowhere ? no_pc : PtxCore::pc_of(code.ops.data() + index);
}

SavedToken saved(const Token& token) {
  const isa::Frame& frame = *PtxCore::frame_of(token.activation);
  return {
      token.mask,
      frame.depth,
      index_of(*frame.code, token.pc),
      index_of(*frame.code, token.reconvergence)
  };
}

template <class T> void put(std::vector<std::byte>& bytes, const T& value) {
  const auto* p = reinterpret_cast<const std::byte*>(&value);
  bytes.insert(bytes.end(), p, p + sizeof value);
}
template <class T> const std::byte* get(const std::byte* bytes, T& value) {
  std::memcpy(&value, bytes, sizeof value);
  return bytes + sizeof value;
}

} // namespace

void Lockstep::save(std::size_t w, std::vector<std::byte>& bytes) const {
  const Warp& warp = warps_[w].warp;
  put(bytes, static_cast<std::uint32_t>(warp.stack.size()));
  put(bytes, warp.waits);
  for (const Token& token : warp.stack) {
    put(bytes, saved(token));
  }
  if (cache_ != nullptr && w == 0) { // of the block
    cache_->save(bytes);
  }
}

const std::byte* Lockstep::load(std::size_t w, const std::byte* bytes) {
  Warp& warp = warps_[w].warp;
  const isa::Warp& lanes = block_.warps()[w].warp;
  std::uint32_t count = 0;
  bytes = get(bytes, count);
  bytes = get(bytes, warp.waits);
  warp.live = lanes.live;
  warp.stack.resize(count);
  for (Token& token : warp.stack) {
    SavedToken saved;
    bytes = get(bytes, saved);
    // The lanes of a token are in its activation, or in calls made from there.
    const isa::Frame* frame = lanes.frame[static_cast<std::size_t>(std::countr_zero(saved.mask))];
    while (frame->depth != saved.depth) {
      frame = frame->caller;
    }
    token.mask = saved.mask;
    token.activation = PtxCore::activation_of(frame);
    token.pc = pc_at(*frame->code, saved.pc);
    token.reconvergence = pc_at(*frame->code, saved.reconvergence);
  }
  return cache_ != nullptr && w == 0 ? cache_->load(bytes) : bytes;
}

void Lockstep::save_history(std::size_t w, std::vector<std::byte>& bytes) const {
  for (const Token& token : warps_[w].warp.stack) {
    put(bytes, token.branch);
  }
}

const std::byte* Lockstep::load_history(std::size_t w, const std::byte* bytes) {
  for (Token& token : warps_[w].warp.stack) {
    bytes = get(bytes, token.branch);
  }
  return bytes;
}

std::uint64_t Lockstep::shape(std::size_t w) const {
  const Warp& warp = warps_[w].warp;
  Hasher hasher;
  hasher.value(std::uint32_t{warp.waits});
  for (const Token& token : warp.stack) {
    SavedToken which = saved(token);
    which.mask = 0;
    hasher.value(which);
  }
  if (cache_ != nullptr && w == 0) {
    std::vector<std::byte> lines;
    cache_->save(lines);
    hasher.bytes(lines.data(), lines.size());
  }
  return hasher.finish().low;
}

std::uint64_t Lockstep::place(std::size_t w, int lane) const {
  std::uint64_t result = 0;
  const Warp& warp = warps_[w].warp;
  for (std::size_t i = 0; i < warp.stack.size(); ++i) {
    if ((warp.stack[i].mask >> lane & 1) != 0) {
      result = (result ^ (i + 1)) * 0x9e3779b97f4a7c15ULL;
    }
  }
  return result;
}

machine::MakeWarpRules lockstep(LockstepOptions options) {
  auto common = std::make_shared<Lockstep::Common>(std::move(options));
  return [common](machine::Block& block) -> std::unique_ptr<machine::WarpRules> {
    return std::make_unique<Lockstep>(block, common);
  };
}

} // namespace heddle::simt
