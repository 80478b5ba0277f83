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

/// NaN, infinity or zero in the form's result type: compared with the hardware bit by bit.
bool is_special_result(const Form& form, std::uint64_t result);

} // namespace heddle::golden
