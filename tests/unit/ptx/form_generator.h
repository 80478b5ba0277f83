// Instructions made from the rows of opcode.def: what each row says it accepts.
#pragma once

#include "ptx/form.h"

#include <string>
#include <vector>

namespace heddle::ptx {

/// Registers, variables and labels that generated instructions use; goes in front of them.
std::string generated_declarations();
/// Labels that generated instructions use; goes behind them.
std::string generated_labels();

/// For a row: with and without its optional parts, and once with every alternative of every slot.
std::vector<std::string> generate(const Form& form);

} // namespace heddle::ptx
