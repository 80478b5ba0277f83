// Live registers: which registers may still be read before they are written again.
//
//   Liveness live(function, cfg);
//   live.at_entry(block).test(r);  live.before(instruction).count();
//
// May be too large, never too small: a guarded write does not end a life, a call may read what its
// operands name, an accumulator of wgmma is read and written.
//
// With Of::Effects a register whose value goes only into registers of which the same is true, or
// says how long to sleep, or says which way to go where both ways do nothing else and meet again,
// is not live ([RED-FAINT]): the delay of a lock that backs off, a count of attempts that nobody
// asks for. (Known as faint variables.)
//
// With Of::Decisions neither is one whose value goes only there, into what certain stores write, or
// into addresses of plain accesses that have no other effect ([RED-CONE]). Guards of stores are
// live: whether something is written may decide.
#pragma once

#include "analysis/bit_vector.h"
#include "analysis/cfg.h"
#include "ptx/module.h"

#include <cstdint>
#include <functional>
#include <map>
#include <vector>

namespace heddle::analysis {

struct RegisterUse {
  std::uint32_t index = 0; // in Function::registers
  bool write = false;
};

/// Calls f for each register an instruction names, the guard included; reads come before writes.
void each_register(const ptx::Instruction& instruction, const std::function<void(RegisterUse)>& f);

class Liveness {
public:
  enum class Of : std::uint8_t {
    Reads,
    Effects,
    Decisions
  };
  Liveness(const ptx::Function& function, const Cfg& cfg, Of of = Of::Reads);
  /// Of::Decisions: what the stores write, and where, decides nothing. By instruction.
  Liveness(const ptx::Function& function, const Cfg& cfg, BitVector data_stores);

  const BitVector& at_entry(std::uint32_t block) const { return entry_[block]; }
  const BitVector& at_end(std::uint32_t block) const { return end_[block]; }
  /// Registers live right before an instruction; walks the block from its end.
  BitVector before(std::uint32_t instruction) const;
  /// The sets of all instructions in text order, in one walk.
  std::vector<BitVector> before_each() const;
  /// Instructions without any effect, in the sense of Of.
  BitVector idle() const;
  /// Instructions that make no register that is live behind them.
  BitVector unused() const;

private:
  Liveness(const ptx::Function& function, const Cfg& cfg, Of of, BitVector data_stores);
  void find_reads();
  void find_effects();
  void find_detours();
  BitVector returned() const;
  bool has_effect(std::uint32_t instruction, const BitVector& live) const;
  void step_back(BitVector& live, std::uint32_t instruction) const;

  const ptx::Function& function_;
  const Cfg& cfg_;
  Of of_;
  BitVector data_stores_; // Of::Decisions only
  // Branches, by instruction, between whose ways there is nothing but computation.
  struct Detour {
    std::uint32_t meet = 0; // block
    BitVector written;
  };
  std::map<std::uint32_t, Detour> detours_;
  std::vector<BitVector> entry_;
  std::vector<BitVector> end_;
};

} // namespace heddle::analysis
