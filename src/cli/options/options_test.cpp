// Implements options_test.h.
#include "cli/options/options_test.h"

#include "cli/options/option_values.h"
#include "cli/options/options.h"
#include "cli/options/options_common.h"

#include <CLI/CLI.hpp>
#include <unistd.h>

#include <algorithm>

namespace heddle::cli {

void define_test_options(CLI::App& command, CheckOptions& options) {
  command
      .add_option(
          "--max-time",
          options.search.max_seconds,
          "Time limit for all looks together, without compilation"
      )
      ->check(seconds())
      ->type_name("SECONDS")
      ->capture_default_str();
  options.after_defect = 5;
  define_after_defect(command, options.after_defect);
  command
      .add_option(
          "-j,--jobs",
          options.workers.jobs,
          "Search with N processes at the same time (default: one for each core)"
      )
      ->check(CLI::Range(1U, 1024U))
      ->type_name("N");
}

std::vector<std::string>
with_command(std::vector<std::string> arguments, const std::vector<std::string>& commands) {
  if (arguments.empty()) {
    return arguments;
  }
  const std::string& first = arguments.front();
  if (std::ranges::count(commands, first) != 0) {
    return arguments;
  }
  const std::vector<std::string> own =
      {"-h", "--help", "--help-all", "-V", "--version", "--reference", "--completion"};
  const bool is_program = first.ends_with(".cu") || first.ends_with(".py") || first == "-m" ||
                          first.find('/') != std::string::npos ||
                          ::access(first.c_str(), R_OK) == 0;
  const bool is_option = first.starts_with('-') && std::ranges::count(own, first) == 0 &&
                         !first.starts_with("--completion=");
  if (is_program || is_option) {
    arguments.insert(arguments.begin(), "test");
  }
  return arguments;
}

} // namespace heddle::cli
