// Implements options_groups.h. A flag that the table does not name stands under "Options".
#include "cli/options/options_groups.h"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <string>
#include <vector>

namespace heddle::cli {
namespace {

struct Heading {
  const char* text;
  std::vector<std::string> flags; // names of which at least one is the flag's
};

const std::vector<Heading>& headings() {
  static const std::vector<Heading> table = {
      {"What to look for",
       {"--races",
        "--uninitialised",
        "--leaks",
        "--source",
        "--library-races",
        "--same-value",
        "--barriers",
        "--expect-exit"}},
      {"What is assumed",
       {"--memory",
        "--warps",
        "--reconvergence",
        "--stale-reads",
        "--progress",
        "--host-progress",
        "--api",
        "--other-processes",
        "--spurious-failures"}},
      {"The program and its device",
       {"--device", "--devices", "--nvcc", "--jit", "--program", "schedule"}},
      {"Limits and effort",
       {"--max-states",
        "--max-time",
        "--after-defect",
        "--max-memory",
        "--schedules",
        "--jobs",
        "--kernel",
        "--reference",
        "--suite",
        "--checkpoint",
        "--checkpoint-every",
        "--stop-after",
        "--resume",
        "--states-alone",
        "--ranks-per-machine",
        "--seed",
        "--cone"}},
      {"Output",
       {"--format",
        "--output",
        "--html",
        "--progress-file",
        "--perfetto",
        "--trace",
        "--warp-trace",
        "--color",
        "--verbose",
        "--explain",
        "--explain-order"}},
      {"What counts",
       {"--error-exitcode",
        "--warnings-as-errors",
        "--config",
        "--no-config",
        "--suppressions",
        "--baseline",
        "--write-baseline"}},
  };
  return table;
}

bool has_name(const CLI::Option& option, const std::string& name) {
  return option.check_name(name);
}

} // namespace

void group_options(CLI::App& app) {
  app.set_help_all_flag(
      "--help-all",
      "Print this help; of a command, with the flags that only test Heddle itself"
  );
  for (CLI::App* command : app.get_subcommands([](CLI::App*) { return true; })) {
    for (const Heading& heading : headings()) {
      for (CLI::Option* option : command->get_options()) {
        const bool named = std::ranges::any_of(heading.flags, [&](const std::string& name) {
          return has_name(*option, name);
        });
        if (named && !option->get_group().empty()) {
          option->group(heading.text);
        }
      }
    }
    command->set_help_all_flag(
        "--help-all",
        "Print this help, and the flags that only test Heddle itself"
    );
  }
}

void show_hidden_options(CLI::App& command) {
  for (CLI::Option* option : command.get_options()) {
    if (option->get_group().empty()) {
      option->group("To test Heddle itself: the verdict does not change");
    }
  }
}

} // namespace heddle::cli
