// LiveState: what of a thread still matters at an instruction: registers that may be read, whether
// it may still find out which thread it is, and whether it may still meet others of its block.
//
//   const LiveState::At& at = live.at(code, op);
//   for (const auto& r : at.registers) …            // gather or scatter these
//   if ((at.identity & LiveState::Block) == 0) …    // threads of different blocks are alike here
//
// Two threads whose live state is equal behave alike from there on: that is what makes states equal
// whose threads have only changed places. Errs to the safe side: too much may be called live.
#pragma once

#include "isa/op.h"
#include "ptx/cfg.h"
#include "ptx/clock_flow.h"
#include "ptx/demanded_bits.h"
#include "ptx/liveness.h"

#include <cstdint>
#include <map>
#include <optional>
#include <unordered_map>
#include <vector>

namespace heddle::machine {

class LiveState {
public:
  explicit LiveState(ptx::Liveness::Of of = ptx::Liveness::Of::Reads) : of_(of) {}

  /// What a thread may still learn about itself, or do with those of its block, as bits.
  enum Identity : std::uint8_t {
    Nothing = 0,
    Thread = 1,   // %tid
    Place = 2,    // %laneid, %warpid, and everything that a warp does together
    Block = 4,    // %ctaid, %clusterid, %smid …
    Together = 8, // barriers, collectives, shared memory
    Generic = 16, // an address that may be one of shared memory, if there is some
    Everything = 31
  };
  struct Register {
    std::uint32_t offset = 0;                // in Frame::registers, of lane 0
    std::uint8_t bytes = 0;                  // of one lane; 0: a predicate
    isa::LaneMask lanes = ~isa::LaneMask{0}; // in which it is live
    std::uint64_t bits = 0;                  // that matter; those beyond 64 do
  };
  struct At {
    const isa::Code* code = nullptr;
    const isa::Op* op = nullptr;
    std::uint64_t name = 0; // of the place: the same in every process, wherever code lies in memory
    std::vector<Register> registers;
    std::uint8_t identity = Nothing;
    // A shfl: lanes whose value some lane reads, who hands over something and who only receives.
    isa::LaneMask handed_over = ~isa::LaneMask{0};
    // A read that decides if the thread ever ends, or a store to what it may read
    // (ptx/dead_ends.h).
    bool before_dead_end = false;
    // What it is to clocks ([CLOCK]).
    ptx::ClockFlow::Reading clock = ptx::ClockFlow::Reading::None;
    std::uint32_t data_reading =
        0;                       // number of a reading for data, from the last one of the function
    bool absolute_times = false; // times are compared with what no clock has shown
    bool holds_time = false;     // what is read from a clock may be compared with what was
    struct Time {
      Register in;
      ptx::ClockFlow::Clock of{};
    };
    std::optional<std::vector<Time>> times; // of a reading: all that there are, if that is known
  };
  /// Right before `op` of `code`.
  const At& at(const isa::Code& code, const isa::Op& op);
  /// The place of that name, which at() has been asked for before.
  const At& named(std::uint64_t name) const { return *by_name_.at(name); }

private:
  struct Function {
    std::vector<ptx::BitVector> live;
    std::optional<ptx::Cfg> cfg;
    std::optional<ptx::DemandedBits> demanded; // none: all bits
    std::vector<std::uint8_t> identity;        // by instruction
    std::vector<std::uint32_t> before_dead_ends;
    // By the word for what a shfl does, lanes that are read by one. Those that do the same may
    // meet.
    std::map<ptx::Mod, isa::LaneMask> handed_over;
    std::optional<ptx::ClockFlow> clocks; // none: it reads none
  };
  const Function& function(const ptx::Function& f);
  void find_clocks(const Function& facts, At& at);

  ptx::Liveness::Of of_;
  std::unordered_map<const isa::Op*, At> at_; // whose elements stay where they are
  std::unordered_map<std::uint64_t, const At*> by_name_;
  std::unordered_map<const ptx::Function*, Function> functions_;
  std::unordered_map<const ptx::Module*, bool> calls_clocks_; // functions that are called read some
};

} // namespace heddle::machine
