// Does an instruction fit the operand rules of a form?
//
// Checks number, kind and register width (PTX ISA 9.0 section 9.4). Not signedness or float-ness:
// nvcc itself keeps f32 values in .b32 registers.
#pragma once

#include "ptx/form.h"

#include <cstdint>
#include <string>

namespace heddle::ptx {

struct OperandFailure {
  bool failed = false;
  std::size_t operand = 0; // index of the operand that does not fit, or operands.size()
  std::string message;
};

OperandFailure
check_operands(const Form& form, const Instruction& instruction, const Function& function);

/// Operand::part of a selector: .b0 … .b3 are 1 … 4, .h0 and .h1 are 5 and 6; selectors of several
/// digits are 0x8000 | half << 14 | (digits - 1) << 12 | three bits per digit, the first highest.
std::uint16_t encode_selector(bool half, std::string_view digits);
/// ".b3210" and so on; "" for 0.
std::string selector_text(std::uint16_t part);

} // namespace heddle::ptx
