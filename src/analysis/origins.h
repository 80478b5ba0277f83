// Origins: what the values of registers are made of, as far as the text of a function tells.
//
//   const Origins origins(function);
//   const Origin from = origins.of(address);
//   if (from.kind == Origin::Kind::Object) …   // it points into that object, or out of bounds
//
// Registers are not told apart by where they are written. Conservative: the answer may be Unknown,
// and is never wrong. What it takes for granted of the program: no pointer is made of a 32-bit
// number that comes from memory.
#pragma once

#include "ptx/module.h"

#include <cstdint>
#include <string>
#include <vector>

namespace heddle::analysis {

struct Origin {
  enum class Kind : std::uint8_t {
    None,   // not written yet
    Number, // not made of any pointer
    Object, // a pointer to the object, or a number added to one
    Unknown
  } kind = Kind::None;
  // A variable; or "parameter+offset", what a pointer parameter of a kernel points into.
  std::string object;
  bool operator==(const Origin&) const = default;
};

class Origins {
public:
  explicit Origins(const ptx::Function& function);
  /// Of what an operand stands for; of an address, where it points.
  Origin of(const ptx::Operand& operand) const;

private:
  bool is_local(const std::string& name) const;
  Origin of_numbers(const ptx::Instruction& i) const;
  Origin loaded(const ptx::Instruction& i) const;
  Origin result_of(const ptx::Instruction& i) const;

  const ptx::Function& function_;
  std::vector<Origin> of_; // by register
};

} // namespace heddle::analysis
