// Diagnostics as lines of text, to hand them from the process that found them to the one that
// reports them.
//
//   std::string text = to_lines(diagnostic);             // appended to a file, one after another
//   for (Diagnostic& d : from_lines(text)) …
#pragma once

#include "report/diagnostic.h"

#include <string>
#include <string_view>
#include <vector>

namespace heddle::report {

std::string to_lines(const Diagnostic& diagnostic);
/// Lines that are not understood are left out.
std::vector<Diagnostic> from_lines(std::string_view text);

} // namespace heddle::report
