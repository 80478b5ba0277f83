// heddle: dispatches to a subcommand. Everything else is in the library heddle_cli.
#include "base/check.h"
#include "cli/commands.h"
#include "cli/output/explain.h"
#include "report/diagnostic.h"

#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <system_error>

namespace {

int run_main(int count, char** values) {
  using namespace heddle::cli;
  try {
    Options options;
    const char* flags = std::getenv("HEDDLE_FLAGS");
    const auto words =
        with_flags(with_command({values + 1, values + count}), flags != nullptr ? flags : "");
    if (!words) {
      return report_error(words.error());
    }
    const Parsed parsed = parse_command_line(*words, options);
    fmt::print(parsed.exit_code == 0 ? stdout : stderr, "{}", parsed.text);
    switch (parsed.command) {
    case Command::Test:
      return test_command(options.test);
    case Command::Run:
      return run_command(options.run);
    case Command::Check:
      return check_command(options.check);
    case Command::Replay:
      return replay_command(options.replay);
    case Command::Lint:
      return lint_command({words->begin() + 1, words->end()});
    case Command::Config:
      return config_command(options.show_config);
    case Command::Doctor:
      return doctor_command();
    case Command::Explain:
      return explain_command(options.explain);
    case Command::Reference:
      fmt::print("{}", flags_reference());
      return 0;
    case Command::None:
    case Command::Version:
      break;
    }
    return parsed.exit_code;
  } catch (const std::system_error& problem) { // of fmt::print
    std::fputs(fmt::format("heddle: error: {}\n", problem.what()).c_str(), stderr);
    return heddle::report::exit_code::usage;
  } catch (const std::exception& problem) {
    heddle::internal_error("no exception reaches main", problem.what());
  }
}

} // namespace

int main(int count, char** values) {
  const int code = run_main(count, values);
  if (std::fflush(stdout) != 0 && code == 0) {
    std::fputs("heddle: error: cannot write to standard output\n", stderr);
    return heddle::report::exit_code::usage;
  }
  return code;
}
