// heddle explain CODE: the page of a finding (docs/findings/), or of a rule of lint.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace heddle::cli {

/// The page; empty: there is none.
std::string_view page_of_finding(std::string_view code);
/// Codes that have a page.
std::vector<std::string> codes_with_pages();

/// Prints it; a code that is none of ours is given to heddle-lint. The exit code.
int explain_command(const std::string& code);

} // namespace heddle::cli
