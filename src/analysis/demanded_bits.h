// Demanded bits: those bits of each register on which something may still depend.
//
//   const DemandedBits demanded(function, cfg);
//   value & demanded.before(instruction)[r]      // is all that matters of register r there
//
// A thread that has arrived at a barrier made of an atomic counter keeps the number that it drew,
// and looks at one bit of it from then on: in which phase that was. Together with Liveness, which
// knows of branches that make no difference. May be too large, never too small; of functions with
// very many registers and blocks all bits count.
#pragma once

#include "analysis/cfg.h"
#include "ptx/module.h"

#include <cstdint>
#include <vector>

namespace heddle::analysis {

class DemandedBits {
public:
  DemandedBits(const ptx::Function& function, const Cfg& cfg);

  /// By index in Function::registers; bits beyond 64 count as demanded.
  using Bits = std::vector<std::uint64_t>;
  /// Right before an instruction; walks the block from its end.
  Bits before(std::uint32_t instruction) const;

private:
  Bits at_end(const BasicBlock& block) const;
  static void step_back(Bits& bits, const ptx::Instruction& instruction);

  const ptx::Function& function_;
  const Cfg& cfg_;
  bool too_large_ = false;
  std::vector<Bits> entry_; // of blocks
};

} // namespace heddle::analysis
