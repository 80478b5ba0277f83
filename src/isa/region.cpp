// Implements region.h: entering compiled code from the interpreter's loop.
#include "isa/region.h"

#include "isa/exec.h"

namespace heddle::isa {

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
  exec.mask_ = lanes;
  const Op* next = op.execute(exec, op);
  exec.mask_ = exec.group_;
  return next;
}

const Op* Exec::enter_region(const Op& op) {
  const Code& code = *frame_->code;
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
  context.fuel = fuel_;
  context.interpret = interpret_for_region;
  context.exec = this;
  const Region region = __atomic_load_n(&code.region, __ATOMIC_ACQUIRE);
  const Op* next = region(context, static_cast<std::uint32_t>(&op - context.ops));
  fuel_ = context.fuel;
  executed_ += context.executed;
  return next;
}

} // namespace heddle::isa
