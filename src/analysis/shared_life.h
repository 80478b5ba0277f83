// What threads do with variables in shared memory before they next meet at the barrier of their
// block.
//
//   const SharedLife life(function, cfg, variables);     // the first 64 of the kernel
//   life.may_read(i)                                     // bits, by number of the variable
//   life.certainly_writes(i)
//
// Behind the barrier a variable holds what was written before it. So it does not matter now what a
// variable holds that no thread may read, and some thread certainly writes, before they meet there
// ([RED-OVERWRITTEN]).
//
// Conservative: may_read() may say too much, certainly_writes() too little. Only stores of the
// whole variable count as writing it. The barrier is `bar.sync 0` of all threads; others are not
// barriers here.
#pragma once

#include "analysis/cfg.h"
#include "ptx/module.h"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace heddle::analysis {

struct SharedName {
  std::string name;
  std::uint64_t bytes = 0;
};

class SharedLife {
public:
  SharedLife(const ptx::Function& function, const Cfg& cfg, std::span<const SharedName> variables);
  /// From right before an instruction on; everything behind the last one.
  std::uint64_t may_read(std::size_t instruction) const {
    return instruction < read_.size() ? read_[instruction] : ~std::uint64_t{0};
  }
  std::uint64_t certainly_writes(std::size_t instruction) const {
    return instruction < written_.size() ? written_[instruction] : 0;
  }

private:
  std::vector<std::uint64_t> read_, written_; // by instruction
};

} // namespace heddle::analysis
