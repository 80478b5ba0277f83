// register_async: cp.async, cp.async.bulk and cp.reduce.async.bulk (lower_async.cpp), and what they
// share with the copies of tensors.
#pragma once

#include "isa/exec.h"
#include "isa/lowering.h"
#include "isa/ops_address.h"

#include <optional>

namespace heddle::isa {

void register_async(LowerTable&);
void register_cluster_control(LowerTable&); // clusterlaunchcontrol (lower_cluster_control.cpp)

/// An address as a register of 64 bits, since these instructions have several.
struct Place {
  Ref address;
  Space space{};
};

/// Emits what computes the address of `operand`, which lies in shared or global memory.
Result<Place> lower_place(
    Lowering& l,
    const ptx::Instruction& i,
    const ptx::Operand& operand,
    std::optional<ptx::Mod> space
);

/// The n-th state space among the modifiers: destination, then source.
std::optional<ptx::Mod> nth_space(const ptx::Instruction& i, int n);

/// As host<S>() of ops_address.h, for a space that is known at run time only; windows are closed.
std::byte*
host_at(Exec& exec, Space space, int lane, std::uint64_t address, std::uint32_t bytes, bool store);

/// The part of a shared address that says where in a block's memory it is.
inline constexpr std::uint64_t in_block_mask = (std::uint64_t{1} << memory::shared_rank_shift) - 1;

} // namespace heddle::isa
