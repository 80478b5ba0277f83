// Implements region.h: entering compiled code from the interpreter's loop.
#include "isa/region.h"

#include "isa/exec.h"
#include "isa/region_fault.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace heddle::isa {
namespace {

void set_lanes(std::array<const Op*, warp_size>& places, LaneMask lanes, const Op* op) {
  if (lanes == all_lanes) {
    places.fill(op);
    return;
  }
  for (; lanes != 0; lanes &= lanes - 1) {
    places[static_cast<std::size_t>(std::countr_zero(lanes))] = op;
  }
}

std::uint64_t write_and_interpret(
    RegionContext& context,
    const Op& op,
    LaneMask lanes,
    const RegionTable& operands,
    const std::byte* values
) {
  const RegionGroup& group = *context.group;
  write_registers(operands, group.registers, values, group.first, lanes);
  return context.interpret(context, op, lanes) == &op + 1 ? 1 : 0;
}

} // namespace

void install_region(const Code& code, Region region, std::span<const std::uint32_t> entries) {
  __atomic_store_n(&code.region, region, __ATOMIC_RELEASE);
  for (const std::uint32_t entry : entries) {
    // The ops are constant for everybody else; this one bit is read atomically (Exec::run).
    auto& flags = const_cast<std::uint8_t&>(code.ops[entry].flags);
    __atomic_fetch_or(&flags, Compiled, __ATOMIC_RELEASE);
  }
}

const Op* Exec::interpret_for_region(RegionContext& context, const Op& op, LaneMask lanes) {
  Exec& exec = *context.exec;
  const RegionGroup& group = *context.group;
  if (context.first_group != nullptr) {
    exec.select(*group.warp, *group.frame, group.mask << group.first);
  }
  exec.op_ = &op;
  exec.mask_ = lanes << group.first;
  const RegionWatch* watch = exec.block_.watch;
  if (watch != nullptr && !watch->may_call(exec, op)) {
    exec.mask_ = exec.group_;
    context.refused = 1;
    return nullptr;
  }
  // Turns are the region's business: it has counted the poll.
  const std::int64_t fuel = std::exchange(exec.fuel_, std::numeric_limits<std::int64_t>::max());
  const Op* next = op.execute(exec, op);
  exec.fuel_ = fuel;
  if (next == nullptr) {
    context.fault_lanes = lanes << group.first;
  }
  exec.mask_ = exec.group_;
  return next;
}

void RegionFault::add(Exec& exec, const RegionContext& context) {
  if (lanes == 0) {
    op = exec.op_;
    why = exec.why_;
    fault = exec.fault_;
  }
  if (exec.op_ == op && exec.why_ == why && exec.fault_.kind == fault.kind) {
    lanes |= context.fault_lanes;
  }
}

void RegionFault::put(Exec& exec) const {
  exec.op_ = op;
  exec.why_ = why;
  exec.fault_ = fault;
  exec.mask_ = lanes;
}

void Exec::enter_code(RegionContext& context, const Code& code) {
  forget_freed();
  context.ops = code.ops.data();
  context.constants = code.constants.data();
  context.ranges = cache_.data() + site(code.ops.data());
  context.shared = shared_;
  context.shared_bytes = shared_bytes_;
  context.param = param_;
  context.param_bytes = param_bytes_;
  context.interpret = interpret_for_region;
  context.interpret_seldom = write_and_interpret;
  context.write = write_registers;
  context.read = read_registers;
  context.call = call_function;
  context.exec = this;
  context.watch = block_.watch != nullptr ? block_.watch->access : nullptr;
  context.alone = alone_ ? 1 : 0;
}

/// To enter a region and to leave it costs as much as to interpret some ops. Where it is left too
/// soon, because lanes mostly part there, it is not entered at that op any more.
void Exec::note_entry(const Op& op, std::uint64_t ops) {
  constexpr std::uint32_t enough_times = 64;
  const std::uint32_t enough_ops = block_.watch->enough_ops;
  Entered& entered = entered_[site(&op)];
  ++entered.times;
  constexpr std::uint64_t many_ops = 1000;
  entered.ops += static_cast<std::uint32_t>(std::min(ops, many_ops));
  if (entered.times == enough_times) {
    if (entered.ops < enough_times * enough_ops) {
      auto& flags = const_cast<std::uint8_t&>(op.flags); // as install_region()
      __atomic_fetch_and(&flags, static_cast<std::uint8_t>(~Compiled), __ATOMIC_RELAXED);
    }
    entered = {};
  }
}

const Op* Exec::enter_region(const Op& op) {
  const Code& code = *frame_->code;
  const Region region = __atomic_load_n(&code.region, __ATOMIC_ACQUIRE);
  const RegionWords words = region_words(region);
  const std::uint32_t lanes = words.lanes();
  if (words.watched() != (block_.watch != nullptr) ||
      (words.watched() && !block_.watch->may_enter(*this))) {
    return &op;
  }
  // Turns have to end where the interpreter ends them. Where others of the warp are elsewhere, that
  // is at each op at which they may meet; only watched code looks at all of these.
  const bool whole = lanes == warp_size && (words.watched() || group_ == warp_->live);
  if (keep_turns_ && (!words.keeps_turns() || !whole)) {
    return &op;
  }
  const auto special = [&](std::uint32_t which) {
    std::uint32_t value = 0;
    std::memcpy(&value, bases_[2] + SpecialLayout::offset(which), sizeof value);
    return value;
  };
  using S = SpecialLayout;
  if (!words.fits(region_row(special(S::NtidX), special(S::NtidY), special(S::NtidZ)))) {
    return &op; // made for launches of another shape
  }
  RegionContext context;
  enter_code(context, code);
  context.local_stride = warp_->local_stride;
  context.local_bytes = warp_->local_bytes;
  context.local_base = frame_->local_base;
  context.poll_doublings = tires_ ? poll_doublings : 0;
  context.behind = (watch_ & Join) != 0 ? static_cast<std::uint64_t>(behind_ - context.ops) : ~0ULL;
  RegionGroup part;
  part.registers = bases_[0];
  part.special = bases_[2];
  part.uniform = bases_[2];
  part.local = warp_->local;
  part.warp = warp_;
  part.frame = frame_;
  part.live = warp_->live;
  part.created = warp_->created;
  context.group = &part;
  const auto at = static_cast<std::uint32_t>(&op - context.ops);
  const LaneMask ones = lanes == warp_size ? all_lanes : (LaneMask{1} << lanes) - 1;
  struct Part {
    LaneMask lanes;
    const Op* at;
  };
  std::array<Part, warp_size / fewest_region_lanes * (1 + RegionContext::most_rests)> parts;
  std::size_t count = 0;
  RegionFault fault;
  Frame* const frame = frame_;
  Frame* failed_in = frame_;
  const LaneMask group = group_;
  LaneMask called = 0; // lanes that are in functions which compiled code has called
  context.shape = words.shape();
  context.stack = reinterpret_cast<std::uintptr_t>(&context);
  std::int64_t fuel = fuel_;
  for (std::uint32_t first = 0; first < warp_size; first += lanes) {
    part.first = first;
    part.mask = group >> first & ones;
    if (part.mask == 0) {
      continue;
    }
    context.fuel = fuel_; // each its own: none of them makes the others wait
    const Op* goes_on = region(context, at);
    note_guess(code, context);
    fuel = std::min(fuel, context.fuel);
    const bool left = std::exchange(context.left, 0) != 0;
    const bool failed = left ? std::exchange(context.failed, 0) != 0 : goes_on == nullptr;
    if (failed) {
      // The rest of the group may fail at the same op: the report says how many lanes do.
      failed_in = fault.lanes == 0 ? frame_ : failed_in;
      fault.add(*this, context);
    }
    LaneMask here = part.mask;
    for (std::uint64_t n = 0; n < context.rests; ++n) {
      const RegionContext::Rest& rest = context.rest[n];
      parts[count++] = {rest.lanes << first, context.ops + rest.op};
      here &= ~rest.lanes;
    }
    context.rests = 0;
    if (left) {
      called |= here << first;
    } else {
      parts[count++] = {here << first, failed ? op_ : goes_on};
    }
    if (frame_ != frame || group_ != group) { // calls
      select(*warp_, *frame, group);
    }
  }
  fuel_ = fuel;
  executed_ += context.executed;
  if (words.watched()) {
    note_entry(op, context.executed / lanes_);
  }
  if (fault.lanes != 0 && called == 0) {
    fault.put(*this);
    set_lanes(warp_->pc, group_, op_);
    return nullptr;
  }
  const auto elsewhere = [&](const Part& other) { return other.at != parts[0].at; };
  if (called == 0 &&
      std::none_of(parts.begin(), parts.begin() + static_cast<std::ptrdiff_t>(count), elsewhere)) {
    return parts[0].at;
  }
  for (std::size_t n = 0; n < count; ++n) {
    set_lanes(warp_->pc, parts[n].lanes, parts[n].at);
  }
  why_ = Stop::Diverged;
  if (fault.lanes != 0) {
    enter_frame(*failed_in);
    fault.put(*this);
  }
  return nullptr;
}

} // namespace heddle::isa
