// Implements region.h: entering compiled code from the interpreter's loop.
#include "isa/region.h"

#include "isa/exec.h"

#include <algorithm>

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
  exec.op_ = &op;
  exec.mask_ = lanes << context.first;
  const Op* next = op.execute(exec, op);
  exec.mask_ = exec.group_;
  return next;
}

const Op* Exec::enter_region(const Op& op) {
  const Code& code = *frame_->code;
  const Region region = __atomic_load_n(&code.region, __ATOMIC_ACQUIRE);
  const auto [lanes, rows] = region_lanes(region);
  std::uint32_t block_x = 0;
  std::memcpy(&block_x, bases_[2] + SpecialLayout::offset(SpecialLayout::NtidX), sizeof block_x);
  if (rows && block_x % lanes != 0) {
    return &op; // made for launches of another shape
  }
  RegionContext context;
  context.ops = code.ops.data();
  context.registers = bases_[0];
  context.constants = bases_[1];
  context.special = bases_[2];
  context.ranges = cache_.data();
  context.shared = shared_;
  context.shared_bytes = shared_bytes_;
  context.param = param_;
  context.param_bytes = param_bytes_;
  context.local = warp_->local;
  context.local_stride = warp_->local_stride;
  context.local_base = frame_->local_base;
  context.behind = (watch_ & Join) != 0 ? static_cast<std::uint64_t>(behind_ - context.ops) : ~0ULL;
  context.interpret = interpret_for_region;
  context.exec = this;
  const auto at = static_cast<std::uint32_t>(&op - context.ops);
  const LaneMask ones = lanes == warp_size ? all_lanes : (LaneMask{1} << lanes) - 1;
  struct Part {
    LaneMask lanes = 0;
    const Op* at = nullptr;
  };
  std::array<Part, warp_size / fewest_region_lanes * (1 + RegionContext::most_rests)> parts;
  std::size_t count = 0;
  std::int64_t fuel = fuel_;
  for (std::uint32_t first = 0; first < warp_size; first += lanes) {
    context.first = first;
    context.mask = group_ >> first & ones;
    if (context.mask == 0) {
      continue;
    }
    context.fuel = fuel_; // each its own: none of them makes the others wait
    const Op* goes_on = region(context, at);
    fuel = std::min(fuel, context.fuel);
    if (goes_on == nullptr) {
      executed_ += context.executed;
      return nullptr;
    }
    for (std::uint64_t n = 0; n < context.rests; ++n) {
      const RegionContext::Rest& rest = context.rest[n];
      parts[count++] = {rest.lanes << first, context.ops + rest.op};
      context.mask &= ~rest.lanes;
    }
    context.rests = 0;
    parts[count++] = {context.mask << first, goes_on};
  }
  fuel_ = fuel;
  executed_ += context.executed;
  const auto elsewhere = [&](const Part& part) { return part.at != parts[0].at; };
  if (std::none_of(parts.begin(), parts.begin() + static_cast<std::ptrdiff_t>(count), elsewhere)) {
    return parts[0].at;
  }
  for (std::size_t n = 0; n < count; ++n) {
    set_lanes(warp_->pc, parts[n].lanes, parts[n].at);
  }
  why_ = Stop::Diverged;
  return nullptr;
}

} // namespace heddle::isa
