// LaneValue: a value of each of the lanes that a region executes at once, and how the instructions
// of a LaneFunction are executed for all of them.
//
// A value is *regular* if lane n has base + n × stride with a stride that is known: one scalar
// stands for all lanes. Stride 0 is a uniform value, of any type; others are integers. Everything
// else is a vector. shape() says what becomes of an instruction before any code exists; apply()
// makes the code, and its results are as regular as shape() said, or more.
//
// Widening an integer (zext, sext) with a stride is right only if no lane wraps around; apply()
// hands that condition to whoever can leave the region. So it does with a *guess*: the row and the
// column of a thread are i / width and i % width, and mostly a warp lies in one row. What is then
// likely to be regular is taken to be (likely_shape()), for what is not costs many times as much:
// an access by irregular addresses is one by as many lanes.
#pragma once

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Instructions.h>

#include <bit>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>

namespace heddle::jit {

struct Shape {
  enum class Kind : std::uint8_t {
    None,    // nothing is known to be written yet
    Regular, // base + lane × stride
    Sloped,  // a vector that grows by about as much from lane to lane: bits of a double
    Vector
  };
  Kind kind = Kind::None;
  std::int64_t stride = 0;

  static Shape uniform() { return {Kind::Regular, 0}; }
  static Shape regular(std::int64_t stride) { return {Kind::Regular, stride}; }
  static Shape vector() { return {Kind::Vector, 0}; }
  static Shape sloped(double slope) { return {Kind::Sloped, std::bit_cast<std::int64_t>(slope)}; }
  /// By how much it grows from lane to lane, if that is known.
  std::optional<double> slope() const {
    return kind == Kind::Regular  ? std::optional(static_cast<double>(stride))
           : kind == Kind::Sloped ? std::optional(std::bit_cast<double>(stride))
                                  : std::nullopt;
  }
  bool is_uniform() const { return kind == Kind::Regular && stride == 0; }
  bool is_regular() const { return kind == Kind::Regular; }
  bool operator==(const Shape&) const = default;
  /// What holds a value of either shape.
  Shape join(Shape other) const {
    return kind == Kind::None         ? other
           : other.kind == Kind::None ? *this
           : *this == other           ? *this
                                      : vector();
  }
};

struct LaneValue {
  Shape shape;
  llvm::Value* value = nullptr; // the base of a regular one
};

/// The result's shape; `constants[n]`: the n-th operand, if it is a constant, else nullptr.
Shape shape(
    const llvm::Instruction& i,
    std::span<const Shape> operands,
    std::span<llvm::Constant* const> constants
);

/// What is a vector by shape(), but likely to be more regular; so it is taken to be in a region
/// that guesses. Such code must leave the region where the guess is wrong: LaneBuilder::apply().
Shape likely_shape(
    const llvm::Instruction& i,
    std::span<const Shape> operands,
    std::span<llvm::Constant* const> constants,
    unsigned lanes
);

/// The result for constant operands; nullptr: nobody knows it before the code is executed.
llvm::Constant* fold(
    const llvm::Instruction& i,
    std::span<llvm::Constant* const> operands,
    const llvm::DataLayout& layout
);

class LaneBuilder {
public:
  /// `leave_unless(condition)` goes on behind only if the condition holds.
  LaneBuilder(
      llvm::IRBuilder<>& builder,
      unsigned lanes,
      bool guesses,
      std::function<void(llvm::Value*)> leave_unless
  )
      : b_(builder),
        lanes_(lanes),
        guesses_(guesses),
        leave_unless_(std::move(leave_unless)) {}

  unsigned lanes() const { return lanes_; }
  llvm::Type* widened(llvm::Type* type) const;
  /// All lanes' values in a vector.
  llvm::Value* vector(const LaneValue& value);
  LaneValue as(const LaneValue& value, Shape shape);
  /// An instruction without memory. `checked`: a widening that might wrap around leaves the region;
  /// else whoever uses the result finds that out.
  LaneValue
  apply(const llvm::Instruction& i, std::span<const LaneValue> operands, bool checked = true);

private:
  llvm::Value* scalar(const llvm::Instruction& i, std::span<const LaneValue> operands);
  llvm::Value* wide(const llvm::Instruction& i, std::span<const LaneValue> operands);
  LaneValue guess(const llvm::Instruction& i, std::span<const LaneValue> operands, Shape likely);
  LaneValue checked(llvm::Value* all, Shape likely);
  void check_widening(const llvm::Instruction& i, const LaneValue& operand);

  llvm::IRBuilder<>& b_;
  unsigned lanes_;
  bool guesses_;
  std::function<void(llvm::Value*)> leave_unless_;
};

} // namespace heddle::jit
