// Implements program_arguments.h.
#include "cli/options/program_arguments.h"

#include "cli/compile/compile.h"
#include "cli/file.h"

#include <algorithm>

namespace heddle::cli {

void parse(CLI::App& app, std::vector<std::string> arguments) {
  std::ranges::reverse(arguments);
  app.parse(std::move(arguments));
}

Split split_arguments(
    const std::vector<std::string>& all,
    const std::vector<std::string>& remaining
) {
  Split split;
  split.program = remaining.front();
  const auto rest = remaining.begin() + 1;
  const bool source = split.program.ends_with(".cu");
  const auto dashes = source ? std::find(rest, remaining.end(), "--") : rest;
  split.ours.assign(all.begin(), all.end() - static_cast<std::ptrdiff_t>(remaining.size()));
  split.ours.insert(split.ours.end(), rest, dashes);
  split.arguments.assign(dashes, remaining.end());
  if (!split.arguments.empty() && split.arguments.front() == "--") {
    split.arguments.erase(split.arguments.begin());
  }
  return split;
}

std::vector<std::string> parse_around_source(
    CLI::App& app,
    const std::string& name,
    std::vector<std::string> ours,
    ProgramOptions& target
) {
  std::string sources;
  for (;;) {
    parse(app, ours);
    const auto unknown = app.get_subcommand(name)->remaining();
    if (unknown.empty() || !is_for_nvcc(unknown.front())) {
      target.nvcc += target.nvcc.empty() && !sources.empty() ? sources.substr(1) : sources;
      return unknown;
    }
    sources += ' ' + as_word(unknown.front());
    ours.erase(ours.end() - static_cast<std::ptrdiff_t>(unknown.size()));
  }
}

} // namespace heddle::cli
