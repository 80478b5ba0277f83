// A core language for the lockstep rules: small enough to try everything, large enough to go wrong.
//
// A program is a list of functions, a function a list of instructions; each lane has a few integer
// registers, all lanes of a block share memory cells. A function's reconvergence points come from
// the same graph algorithm as those of PTX (analysis/cfg.h). LanguageCore runs one warp of it; a
// copy of one is a snapshot, so an explorer can go back.
//
//   Program program;  program.functions = {…};  program.finish();
//   LanguageCore core(program, lanes);
//   Warp warp = core.start();
//   while (step(warp, core, choices) == Stepped::Moved) {}
#pragma once

#include "analysis/cfg.h"
#include "simt/rules.h"

#include <string>
#include <vector>

namespace heddle::simt {

enum class Operation : std::uint8_t {
  Assign,    // r[a] := value
  Add,       // r[a] := r[a] + r[b] + value
  LaneId,    // r[a] := lane
  Mix,       // r[a] := a scramble of r[a] and value: tells executions apart
  BranchIf,  // to target if r[a] == value
  Script,    // to target if the next bit of the lane's script is set
  Switch,    // to targets[r[a]]; the last one if there is no such
  Jump,      // to target
  Call,      // of function `target`
  CallTable, // of function targets[r[a]]; the last one if there is no such
  Return,    // in the kernel: exit
  Exit,
  Barrier,    // of the block, which is one warp
  Ballot,     // r[a] := lanes that execute it together and have r[b] != 0
  Load,       // r[a] := cell[value]; perhaps out of date
  LoadStrong, // r[a] := cell[value]
  Store,      // cell[value] := r[a]
  Exchange,   // r[a], cell[value] := cell[value], r[a]
  Fence
};

struct Instruction {
  Operation operation{};
  int a = 0;
  int b = 0;
  int value = 0;
  std::uint32_t target = 0;
  std::vector<std::uint32_t> targets;
  int guard = -1; // a register that must not be 0; -1: none
};

struct Function {
  std::vector<Instruction> body;    // behind its end: a return
  std::vector<Pc> join;             // of each branch; no_pc: none
  std::vector<std::uint32_t> block; // of each instruction
  std::vector<analysis::Cfg> cfg;   // one
};

struct Program {
  std::vector<Function> functions; // 0: the kernel
  int cells = 0;
  analysis::Ends ends = analysis::Ends::Leave;
  void finish(); // computes the joins
};

/// One call of a function by a lane.
struct Call {
  Activation activation;
  std::uint32_t function;
  std::uint32_t pc;
  bool operator==(const Call&) const = default;
};

struct LaneState {
  static constexpr int registers = 4;
  std::array<int, registers> r{};
  std::uint64_t script = 0; // bits, used round and round
  std::uint32_t script_bits = 1;
  std::uint32_t decisions = 0;
  bool waiting = false;
  std::vector<Call> calls; // the lane's own record; the last is where it is; empty: ended
  std::vector<std::uint16_t> history; // function × 256 + pc of all it has executed, if wanted
};

struct LanguageBlock {
  std::vector<int> cell;
  std::vector<int> cache; // one value per cell: valid where `cached` has its bit
  std::uint64_t cached = 0;
  bool stale_reads = false;
};

class LanguageCore final : public Core {
public:
  LanguageCore(const Program& program, int lanes);
  Warp start();
  /// As new, with the scripts and registers kept as they are given now.
  void restart();

  std::vector<LaneState> lanes;
  LanguageBlock block;
  bool keep_history = false;

  /// Independent threads: one lane executes its next instruction, by the same definition of every
  /// instruction and without any warp. False: it has ended or waits.
  bool step_alone(int lane);

  Kind kind(Activation activation, Pc pc) override;
  Pc next(Activation activation, Pc pc) override;
  Pc reconvergence(Activation activation, Pc branch) override;
  bool ends_early(Activation activation, Pc branch, Pc pc) override;
  LaneMask call_together(Activation activation, Pc pc, LaneMask lanes) override;
  bool execute(Activation activation, Pc pc, LaneMask lanes, Executed& result) override;
  LaneMask waiting() const override;
  LaneMask stand_at(LaneMask lanes, Activation activation, Pc pc) const override;
  LaneMask live() const override { return live_; }

private:
  const Instruction* instruction(Activation activation, Pc pc) const;
  void execute_lane(int lane, const Instruction* i, Activation callee, LaneMask together);
  void open_barrier();

  const Program* program_;
  std::vector<std::uint32_t> functions_; // of activations, by number
  LaneMask live_ = 0;
};

} // namespace heddle::simt
