// LiveState: the part of a thread's state that can still matter at an instruction: the registers
// that may be read, what the thread may still learn about its identity, and whether it may still
// meet other threads of its block.
//
//   const LiveState::At& at = live.at(code, op);
//   for (const auto& r : at.registers) …            // gather or scatter these registers
//   if ((at.identity & LiveState::Block) == 0) …    // here, threads of different blocks are alike
//
// Two threads with equal live state behave alike from there on. Hence two states that differ only
// in a permutation of such threads are equal ([RED-SYMMETRY]). Conservative: it may report too much
// as live.
#pragma once

#include "analysis/cfg.h"
#include "analysis/clock_flow.h"
#include "analysis/demanded_bits.h"
#include "analysis/liveness.h"
#include "analysis/shared_life.h"
#include "isa/op.h"
#include "isa/program.h"

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

namespace heddle::machine {

class LiveState {
public:
  /// A question about an instruction of a function; empty: the answer is no.
  using Asks = std::function<bool(const ptx::Function&, std::uint32_t)>;
  struct Options {
    Asks owns = {}; // what Identity::Owns is about
    /// Finds out what nothing is decided by; else everything counts as decisive.
    bool by_decisions = false;
    Asks decisive_store = {}; // with it: a plain store of which that is known
    // For tests of tests.
    bool forgets_low_bit = false, forgets_first_register = false;
    analysis::ClockCondition clocks_without = analysis::ClockCondition::None;
    bool holds_all_times = false; // a thread whose code reads clocks always remembers a time
  };
  explicit LiveState(analysis::Liveness::Of of = analysis::Liveness::Of::Reads) : of_(of) {}
  LiveState(analysis::Liveness::Of of, Options options) : of_(of), options_(std::move(options)) {}

  /// What a thread may still learn about itself, or do with threads of its block, as bits.
  enum Identity : std::uint8_t {
    Nothing = 0,
    Thread = 1,   // %tid
    Place = 2,    // %laneid, %warpid, and every operation of a whole warp
    Block = 4,    // %ctaid, %clusterid, %smid …
    Together = 8, // barriers, collectives, shared memory
    Generic = 16, // a generic address, which may point to shared memory if there is any
    Owns = 32,    // an access that may be owned (owned.h), or a call of malloc or free
    Everything = 63
  };
  struct Register {
    std::uint32_t offset = 0;                // in Frame::registers, of lane 0
    std::uint8_t bytes = 0;                  // per lane; 0: a predicate
    isa::LaneMask lanes = ~isa::LaneMask{0}; // in which it is live
    std::uint64_t bits = 0;                  // the bits that matter; bits above 64 always do
    bool data = false;                       // nothing is decided by it ([RED-CONE])
  };
  struct At {
    const isa::Code* code = nullptr;
    const isa::Op* op = nullptr;
    std::uint64_t name = 0; // of the place; the same in every process
    std::vector<Register> registers;
    std::uint8_t identity = Nothing;
    std::uint8_t asked = Nothing; // of `identity`, what something may be decided by
    // A plain load or store whose value, and address, nothing is decided by.
    bool only_data = false;
    // Shared variables of the kernel, by bits: what it may read, and certainly writes, before its
    // block meets at a barrier (analysis/shared_life.h).
    std::uint64_t reads_shared = ~std::uint64_t{0}, writes_shared = 0;
    // Of a shfl: the lanes whose value another lane may read.
    isa::LaneMask handed_over = ~isa::LaneMask{0};
    // A read that decides whether the thread ever ends, or a store to a place that such a read may
    // read (analysis/dead_ends.h).
    bool before_dead_end = false;
    bool repeats = true; // the thread may come to it again before its function ends
    // What it is to clocks ([CLOCK]).
    analysis::ClockFlow::Reading clock = analysis::ClockFlow::Reading::None;
    std::uint32_t data_reading =
        0;                       // number of a reading for data, from the last one of the function
    bool absolute_times = false; // times are compared with what no clock has shown
    bool holds_time = false;     // what is read from a clock may be compared with what was
    // Of a reading that decides: two answers stand for all (ClockFlow::follows()).
    bool follows_time = true;
    struct Time {
      Register in;
      std::optional<std::uint64_t> soon; // as ClockFlow::Time
      std::uint64_t late = 0;
    };
    bool times_known = false; // `time` is all that the thread remembers
    std::optional<Time> time;
    std::vector<std::uint32_t> writes_time; // stores that write what comes from it, if it decides
  };
  /// Tells which shared variables a kernel has; before the first at() of its code.
  void know(const isa::Kernel& kernel);
  /// The live state right before `op` of `code`.
  const At& at(const isa::Code& code, const isa::Op& op);
  /// May somebody read what `op`, an atomic operation, returns? Of red nobody, and of atom if its
  /// register is live behind it.
  bool is_result_used(const isa::Code& code, const isa::Op& op);
  /// The place of that name; at() must have returned it before.
  const At& named(std::uint64_t name) const { return *by_name_.at(name); }

private:
  struct Function {
    std::vector<analysis::BitVector> live;
    std::optional<analysis::Cfg> cfg;
    std::optional<analysis::DemandedBits> demanded; // none: all bits
    std::vector<std::uint8_t> identity;             // by instruction
    // If something is found out to be data only: the same of what is decided.
    std::optional<std::vector<analysis::BitVector>> decisive;
    std::vector<std::uint8_t> asked;
    analysis::BitVector only_data;
    std::optional<analysis::SharedLife> shared; // of a kernel
    std::vector<std::uint32_t> before_dead_ends;
    // By mode of shfl, the lanes whose value is read. Shuffles of the same mode may meet.
    std::map<ptx::Mod, isa::LaneMask> handed_over;
    std::optional<analysis::ClockFlow> clocks; // none: it reads none
    bool calls = false;                        // functions of the program
  };
  const Function& function(const ptx::Function& f);
  void find_decisions(const ptx::Function& f, const analysis::Cfg& cfg, Function& facts) const;
  std::vector<std::uint8_t> identities(
      const ptx::Function& f,
      const analysis::Cfg& cfg,
      const analysis::BitVector* idle
  ) const;
  void find_clocks(const Function& facts, At& at);
  static void add_scratch(At& at);

  analysis::Liveness::Of of_;
  Options options_;
  std::unordered_map<const isa::Op*, At> at_; // node-based: elements keep their address
  std::unordered_map<std::uint64_t, const At*> by_name_;
  std::unordered_map<const ptx::Function*, Function> functions_;
  std::unordered_map<const ptx::Function*, std::vector<analysis::SharedName>> shared_;
  std::unordered_map<const ptx::Module*, bool> calls_clocks_; // functions that are called read some
};

} // namespace heddle::machine
