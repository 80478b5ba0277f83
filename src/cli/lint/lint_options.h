// The command line of `heddle lint`, shared by `heddle` (which knows the flags and starts
// heddle-lint) and heddle-lint (which links LLVM; so `heddle run` need not load it).
#pragma once

#include "cli/config/config_file.h"

#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace heddle::cli {

struct LintOptions {
  std::vector<std::string> files;
  std::string database;
  std::string format = "text";
  std::string output;
  std::string toolkit;
  ConfigOptions config;
  std::string architecture = "sm_90";
  std::string explain;
  std::vector<std::string> settings;
  std::vector<std::string> include_folders, macros; // -I, -D
  std::vector<std::string> flags;                   // after "--", for the compiler
  bool list_rules = false;
  bool timing = false;
  bool fix = false;
  bool no_cache = false;
  bool server = false;
  unsigned jobs = 0; // one for each processor
};

void define_lint_options(CLI::App& command, LintOptions& options);

} // namespace heddle::cli
