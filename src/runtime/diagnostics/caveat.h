// Caveats: what a user must know before relying on a result, and what is no defect.
#pragma once

#include <string>

namespace heddle::runtime {

/// Printed once, or, while every schedule is explored, a line in the file that HEDDLE_REMARKS_TO
/// names: the report has it as a warning.
void announce_caveat(const std::string& text);

} // namespace heddle::runtime
