// What PTX promises about approximate functions, as a test of one result.
#pragma once

#include "form_file.h"

#include <cstdint>
#include <span>
#include <string>

namespace heddle::golden {

/// True if `result` is what the documentation of form.compare allows for the inputs (operand k at
/// [k]).
bool within_documented_error(
    const Form& form,
    std::span<const std::uint64_t> inputs,
    std::uint64_t result
);

/// NaN, infinity, or the zero that a zero or infinite operand gives: compared with the hardware bit
/// by bit. (Other zeros are underflow of one approximation or another, inside the error bound.)
bool is_special_result(
    const Form& form,
    std::span<const std::uint64_t> inputs,
    std::uint64_t result
);

} // namespace heddle::golden
