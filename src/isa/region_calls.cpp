// RegionContext::call: compiled code calls compiled code.
//
// The frames of the called functions are the interpreter's, and are pushed and popped as it does
// that: so local memory, the depth at which a stack overflows and what a report says of calls are
// the same. Only program counters are not kept. Where a region is left in the middle of a called
// function, those of its lanes are set here, and RegionCall::Left tells the regions of all callers
// to write their registers to their frames.
//
// The host's stack is bounded: beyond `most_stack` a call is the interpreter's, and then all
// regions on the way are left. The next one that is entered begins with an empty stack again.
//
// What the interpreter reports (a stack overflow, a function that is none) is refused here and
// found there.
#include "isa/call_arguments.h"
#include "isa/region.h"

#include <bit>

namespace heddle::isa {
namespace {

constexpr std::uintptr_t most_stack = 512 * 1024;

bool is_deep(const RegionContext& context) {
  const std::byte here{};
  return context.stack - reinterpret_cast<std::uintptr_t>(&here) > most_stack;
}

void place(Warp& warp, LaneMask lanes, Frame& frame, const Op* op) {
  for (; lanes != 0; lanes &= lanes - 1) {
    const auto lane = static_cast<std::size_t>(std::countr_zero(lanes));
    warp.frame[lane] = &frame;
    warp.pc[lane] = op;
  }
}

/// The group in the frame `frame` has left the region with `goes_on`.
void place_group(RegionContext& context, const RegionGroup& group, const Op* goes_on) {
  Warp& warp = *group.warp;
  LaneMask here = group.mask;
  for (std::uint64_t n = 0; n < context.rests; ++n) {
    const RegionContext::Rest& rest = context.rest[n];
    place(warp, rest.lanes << group.first, *group.frame, context.ops + rest.op);
    here &= ~rest.lanes;
  }
  context.rests = 0;
  if (context.left == 0) { // else they have their places
    if (goes_on == nullptr) {
      context.failed = 1;
      goes_on = context.exec->current();
    }
    place(warp, here << group.first, *group.frame, goes_on);
  }
  context.left = 1;
}

RegionCall call_code(RegionContext& context, const Op& op, const Code& callee, LaneMask lanes) {
  const Region region = __atomic_load_n(&callee.region, __ATOMIC_ACQUIRE);
  if (region == nullptr) {
    return RegionCall::Refused;
  }
  RegionGroup& group = *context.group;
  Frame& caller = *group.frame;
  Warp& warp = *group.warp;
  const RegionWords words = region_words(region);
  if (!words.is_callable() || words.shape() != context.shape ||
      callee.parameter_offsets.size() < op.count ||
      !warp.has_room(caller, lanes << group.first, callee.local_bytes)) {
    return RegionCall::Refused;
  }
  Exec& exec = *context.exec;
  const LaneMask calling = lanes << group.first;
  Frame& frame = *warp.push_frame(&callee, &caller, &op + 1, calling);
  exec.select(warp, frame, calling);
  pass_arguments(exec, op, calling, caller, frame);
  RegionGroup part = group;
  part.registers = frame.registers.data();
  part.frame = &frame;
  part.mask = lanes;
  const std::uint64_t called = context.called;
  const std::uint64_t behind = context.behind;
  const std::uint64_t local_base = context.local_base;
  exec.enter_code(context, callee);
  context.local_base = frame.local_base;
  context.behind = ~0ULL; // nobody else is in this call
  context.called = 1;
  context.group = &part;
  const Op* goes_on = region(context, 0);
  note_guess(callee, context);
  const bool returned = context.returned != 0;
  context.returned = 0;
  if (returned) {
    pass_results(exec, calling, frame);
    warp.pop_lanes(&frame, calling);
    exec.select(warp, caller, group.mask << group.first);
  } else {
    place_group(context, part, goes_on);
  }
  exec.enter_code(context, *caller.code);
  context.local_base = local_base;
  context.behind = behind;
  context.called = called;
  context.group = &group;
  return returned ? RegionCall::Returned : RegionCall::Left;
}

/// Lanes that call other functions do so one after the other, the lowest lane's first.
RegionCall call_by_address(RegionContext& context, const Op& op, LaneMask lanes) {
  Exec& exec = *context.exec;
  RegionGroup& group = *context.group;
  const auto* address = exec.in<std::uint64_t>(op.a) + group.first;
  LaneMask left = lanes;
  while (left != 0) {
    const std::uint64_t first = address[std::countr_zero(left)];
    LaneMask same = 0;
    for (LaneMask m = left; m != 0; m &= m - 1) {
      const int lane = std::countr_zero(m);
      same |= static_cast<LaneMask>(address[lane] == first) << lane;
    }
    const Code* callee = exec.environment().function_at(first);
    const RegionCall answer =
        callee != nullptr ? call_code(context, op, *callee, same) : RegionCall::Refused;
    if (answer == RegionCall::Refused && left == lanes) {
      return answer;
    }
    if (answer != RegionCall::Returned) {
      Frame& frame = *group.frame;
      const LaneMask stay = answer == RegionCall::Refused ? left : left & ~same;
      place(*group.warp, (lanes & ~left) << group.first, frame, &op + 1);
      place(*group.warp, stay << group.first, frame, &op);
      context.left = 1;
      return RegionCall::Left;
    }
    left &= ~same;
  }
  return RegionCall::Returned;
}

} // namespace

RegionCall call_function(RegionContext& context, const Op& op, LaneMask lanes) {
  // The threads of a whole block have no program counters.
  if (context.first_group != nullptr || is_deep(context)) {
    return RegionCall::Refused;
  }
  return op.a.none() ? call_code(context, op, *reinterpret_cast<const Code*>(op.imm), lanes)
                     : call_by_address(context, op, lanes);
}

} // namespace heddle::isa
