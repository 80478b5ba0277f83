// Which lanes a shfl reads from, where its operands are numbers, and what becomes of a value that
// it has read from a lane that had ended.
//
//   const Numbers numbers(function);
//   if (const auto from = numbers.source(instruction, lane)) …  // the lane that `lane` reads from
//   if (const auto from = read_from_ended(function, n, lanes, ended)) …
#pragma once

#include "isa/op.h"
#include "ptx/module.h"

#include <cstdint>
#include <map>
#include <optional>

namespace heddle::machine {

/// By register, what it always is, if one instruction sets it, to a number.
class Numbers {
public:
  explicit Numbers(const ptx::Function& function);

  std::optional<std::uint32_t> of(const ptx::Operand& operand) const;
  /// The lane whose value `lane` gets. Nothing if that depends on the execution.
  std::optional<int> source(const ptx::Instruction& shfl, int lane) const;

private:
  std::map<std::uint32_t, std::uint32_t> values_;
};

/// `lanes` execute the shfl with number `shfl`. A lane of `ended` from which one of them gets a
/// value that it uses: stores, computes an address from, or decides by. Looks at the instructions
/// up to the next branch, barrier or call. There a result counts as used if the first of the
/// lanes has it, which is the lane that the result of a reduction is taken from, or all of them.
/// May be wrong in this direction: misses values that go further, or through a condition.
std::optional<int> read_from_ended(
    const ptx::Function& function,
    std::uint32_t shfl,
    isa::LaneMask lanes,
    isa::LaneMask ended
);

} // namespace heddle::machine
