// "Did you mean": the known word that is closest to one that is not known.
//
//   suggestion("chexk", {"run", "check"})     // "; did you mean 'check'?"
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace heddle::cli {

/// Empty: none is close.
std::string suggestion(std::string_view word, const std::vector<std::string>& known);

/// What other tools call what one of our options does: "--gpus" is "--devices", and a flag of nvcc
/// is a sentence that says where those go. Empty: not known.
std::string option_meant_by(std::string_view word);

} // namespace heddle::cli
