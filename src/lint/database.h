// database.h: compile_commands.json, and what clang makes of nvcc's command lines.
#pragma once

#include "base/result.h"

#include <string>
#include <vector>

namespace heddle::lint {

struct CompileCommand {
  std::string file;   // absolute
  std::string folder; // where the command runs
  std::vector<std::string> words;
};
Result<std::vector<CompileCommand>> read_database(const std::string& folder);

struct Translated {
  std::vector<std::string> flags; // for clang
  std::string architecture;       // "sm_90"; empty: none was named
};
/// Drops what only nvcc, the linker or code generation needs; opens options files. Flags that clang
/// knows under the same name pass.
Translated translate_flags(const std::vector<std::string>& words, const std::string& folder);

std::vector<std::string> split_command(const std::string& line);

} // namespace heddle::lint
