// Uniformity: which registers hold one value for all lanes that a region executes together, or
// values at a constant distance (lane_values.h).
//
// What is computed from uniform values is uniform, unless lanes wait meanwhile (waiting.h) that may
// read the register before they write it. Registers that a region finds when it is entered have
// been written before, perhaps by lanes that went different ways; so each entry looks whether they
// are as regular as is said here, and where they are not the interpreter goes on. Which registers
// those are is predicted where the interpreter parts lanes: what is written between a branch of its
// and the place where they meet again, and may be read from there on. A wrong prediction costs
// time.
#pragma once

#include "analysis/cfg.h"
#include "isa/op.h"
#include "jit/lane_function.h"
#include "jit/lane_values.h"
#include "jit/register_map.h"
#include "jit/waiting.h"
#include "ptx/effect.h"

#include <cstdint>
#include <functional>
#include <vector>

namespace heddle::jit {

enum class Kind : std::uint8_t {
  Leave,    // the interpreter's, and the region ends there
  Branch,   // bra; and a ret that leads to another one
  Call,     // of a function, or by address: isa/region_calls.cpp
  Return,   // the ret of a called function where all lanes meet
  Lanes,    // its LaneFunction, for all lanes
  Interpret // the interpreter executes it and the region goes on
};

struct PlannedOp {
  Kind kind = Kind::Leave;
  const LaneFunction* lane = nullptr;
  LaneOperands operands;
  std::uint32_t target = 0; // of a branch: op
  isa::Ref members;         // of a collective
  bool watched = false;     // an access that a monitor is told of: isa::RegionWatch
  bool stack = false; // a generic access whose addresses are likely those of each lane's own memory
};

/// bar.red: the result is the same for all threads of the block.
bool reduces_block(const ptx::Instruction& i);

class Uniformity {
public:
  /// `special(offset)`: of the special value there; `constant(ref)`: the word of a constant, or
  /// nullptr if it differs between processes. `guess_lanes`: of a region that guesses, else 0.
  /// `stay_together`: where lanes part, the region is left.
  Uniformity(
      const isa::Code& code,
      const RegisterMap& registers,
      const std::vector<PlannedOp>& ops,
      std::function<Shape(std::uint32_t)> special,
      std::function<llvm::Constant*(isa::Ref)> constant,
      unsigned guess_lanes,
      bool stay_together
  );
  Shape of(std::uint32_t index) const { return shapes_[index]; }
  /// What the register holds wherever it is read; nullptr: that is not known.
  llvm::Constant* constant(std::uint32_t index) const { return constants_[index]; }
  /// May the lanes of a region part at this branch?
  bool parts(std::uint32_t op) const;
  const Waiting& waiting() const { return waiting_; }
  /// May lanes that wait while `op` is executed read the register before they write it?
  bool wanted_by_waiting(std::uint32_t op, std::uint32_t index) const;

private:
  struct Known {
    Shape shape;
    llvm::Constant* constant = nullptr;
  };
  bool join(std::uint32_t index, Shape shape);
  bool step(std::uint32_t k);
  bool is_reduction(std::uint32_t k) const;
  bool follow_branch(std::uint32_t k);
  bool follow_waiting();
  Known input(isa::Ref ref) const;
  std::vector<Known> results(const PlannedOp& op) const;
  void find_written_once();

  const isa::Code& code_;
  const RegisterMap& registers_;
  const std::vector<PlannedOp>& ops_;
  std::function<Shape(std::uint32_t)> special_;
  std::function<llvm::Constant*(isa::Ref)> constant_;
  unsigned guess_lanes_;
  bool stay_together_;
  analysis::Cfg cfg_;
  std::vector<std::vector<std::uint32_t>> writes_; // registers by basic block
  std::vector<bool> followed_;
  std::vector<Shape> shapes_;
  std::vector<bool> once_; // by register: has one write, and no read before it
  std::vector<llvm::Constant*> constants_;
  Waiting waiting_;
  std::vector<std::vector<bool>> live_; // by op at which lanes may wait: registers
};

/// The offset behind the pointer that an access of a LaneFunction uses, and where that comes from:
/// a call of region_reach() or the argument with the special values.
struct Place {
  const llvm::Value* from = nullptr;
  std::int64_t offset = 0;
};
Place place_of(const llvm::Value* pointer);

} // namespace heddle::jit
