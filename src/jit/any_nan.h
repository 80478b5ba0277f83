// AnyNan: registers that hold any NaN where their value is the NaN of PTX's f32 operations.
//
// That NaN is 0x7fffffff whatever the operands, and processors make others. To put it in the place
// of the processor's takes two instructions for each one that computes, and each waits for the one
// before. But f32 arithmetic makes a NaN of every NaN, and comparisons do not tell them apart:
// which bits one has matters where they are stored or used as an integer. So a register may hold
// any NaN if all that is written to it is the result of such operations, and whoever looks at its
// bits (NanFlow::observed) gets PTX's NaN: RegionBuilder::arguments(), at exits
// isa::write_registers().
//
// May be wrong in one direction: bits are thought to be looked at that are not.
#pragma once

#include "jit/lane_function.h"
#include "jit/register_map.h"
#include "jit/uniformity.h"

#include <functional>
#include <map>
#include <vector>

namespace heddle::jit {

inline constexpr std::uint32_t nan_word = 0x7fff'ffff;

/// What a LaneFunction does with NaN.
struct NanFlow {
  struct Result {
    /// May stand for the result with another NaN; nullptr: no value may.
    const llvm::Value* any = nullptr;
    bool computed = false;        // PTX's NaN is put in the place of any other, which costs
    std::vector<unsigned> copied; // `any` is one of these arguments, or a constant
  };
  std::vector<Result> results;
  std::vector<bool> observed; // by argument: its NaN's bits matter
  /// By argument: results that have its bits, and are not in `observed` for that.
  std::vector<std::vector<unsigned>> copies;
};
NanFlow nan_flow(const LaneFunction& lane, std::size_t inputs, std::size_t outputs);

/// f64 operations hand on the bits of an operand that is NaN, which takes several times as many
/// instructions as to compute. They are for the seldom case that a result is NaN.
struct NanArm {
  const llvm::Value* number = nullptr; // a double: the select's condition holds unless it is NaN
  std::vector<const llvm::Instruction*> only_there; // what only the other arm needs, in order
};
std::map<const llvm::Instruction*, NanArm> find_nan_arms(const llvm::BasicBlock& block);

class AnyNan {
public:
  /// `constant(ref)`: as for Uniformity. `weight(op)`: how often it is executed, about.
  AnyNan(
      const RegisterMap& registers,
      const std::vector<PlannedOp>& ops,
      const std::function<llvm::Constant*(isa::Ref)>& constant,
      const std::function<double(std::uint32_t)>& weight,
      const std::function<bool(std::uint32_t)>& is_barrier
  );
  bool of(std::uint32_t index) const { return any_[index]; }
  /// Must the n-th input of op k have the bits that PTX says?
  bool observes(std::uint32_t k, std::size_t n) const;
  /// The n-th output of op k as it may be written.
  const llvm::Value* result(std::uint32_t k, std::size_t n) const { return flow(k).results[n].any; }

private:
  const NanFlow& flow(std::uint32_t k) const { return flows_.at(ops_[k].lane); }
  bool may_hold(std::uint32_t index, const std::vector<std::uint32_t>& writers) const;
  bool writes_allow(std::uint32_t k, std::uint32_t index) const;
  bool is_number(isa::Ref ref) const;

  const RegisterMap& registers_;
  const std::vector<PlannedOp>& ops_;
  std::function<llvm::Constant*(isa::Ref)> constant_;
  std::map<const LaneFunction*, NanFlow> flows_;
  std::vector<bool> any_; // by register
};

/// What a value is before bits are taken for another type.
const llvm::Value* without_casts(const llvm::Value* v);

} // namespace heddle::jit
