// The definitions of all flags, parsing, and the reference page made from them.
#include "cli/options/options.h"

#include "cli/file.h"
#include "cli/options/completion.h"
#include "cli/options/option_values.h"
#include "cli/options/options_common.h"
#include "cli/options/options_groups.h"
#include "cli/options/options_replay.h"
#include "cli/options/options_switches.h"
#include "cli/options/options_test.h"
#include "cli/options/program_arguments.h"
#include "cli/options/suggestion.h"
#include "cli/output/page.h"
#include "report/diagnostic.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>

namespace heddle::cli {
namespace {

std::string usage(std::string_view command) {
  if (command == "replay") {
    return "heddle replay [OPTIONS] SCHEDULE [-- ARGUMENTS…]";
  }
  if (command == "explain") {
    return "heddle explain [CODE]";
  }
  if (command == "config" || command == "doctor") {
    return fmt::format("heddle {} [OPTIONS]", command);
  }
  if (command == "lint") {
    return "heddle lint [OPTIONS] FILE… [-- COMPILER FLAGS]\n  heddle lint [OPTIONS] -p FOLDER "
           "[FILE…]";
  }
  return fmt::format(
      "heddle {0} [OPTIONS] PROGRAM|SCRIPT.py|-m MODULE [ARGUMENTS…]\n"
      "  heddle {0} [OPTIONS] FILE.cu [SOURCES…] [OPTIONS] [-- ARGUMENTS…]{1}",
      command,
      command == "check" ? "\n  heddle check [OPTIONS] --suite FILE.yaml" : ""
  );
}

/// CLI11 knows nothing of programs that take the rest of the line.
class Formatter : public CLI::Formatter {
public:
  std::string make_usage(const CLI::App* app, std::string /*name*/) const override {
    if (app->get_parent() == nullptr) {
      return "Usage:\n"
             "  heddle FILE.cu|PROGRAM|SCRIPT.py [ARGUMENTS…]   looks at everything\n"
             "  heddle COMMAND …                                (heddle COMMAND --help)\n";
    }
    return fmt::format("Usage:\n  {}\n", usage(app->get_name()));
  }
};

void define_test(CLI::App& app, Options& options) {
  CLI::App* test = app.add_subcommand(
      "test",
      "Look at everything, as far as the time goes: what `heddle PROGRAM` does"
  );
  define_program_options(*test, options.test);
  define_test_options(*test, options.test);
  define_rules(*test, options.test.device);
  define_output(
      *test,
      options.test.output,
      "Write a report to a file as well (-: standard output, which is the program's)"
  );
  define_html(*test, options.test.html);
}

/// Who is owed what: the assumptions of a verdict.
void define_assumptions(CLI::App& check, explore::Options& search) {
  check
      .add_option_function<std::string>(
          "--progress",
          [&search](const std::string& name) {
            search.progress = explore::find_progress_model(name).value();
          },
          "What device threads are promised: what CUDA promises; or fair (every thread that may "
          "start), obe (clusters that have taken a step), hsa (the first cluster that has not "
          "ended), lobe (obe, and the clusters before those: what today's hardware happens to do)"
      )
      ->check(CLI::IsMember({"cuda", "fair", "obe", "hsa", "lobe"}))
      ->type_name("MODEL")
      ->default_str("cuda");
  check
      .add_option_function<std::string>(
          "--host-progress",
          [&search](const std::string& word) { search.host_progress = word == "concurrent"; },
          "What host threads are promised; with none, device threads are promised nothing either"
      )
      ->check(CLI::IsMember({"concurrent", "none"}))
      ->type_name("WORD")
      ->default_str("concurrent");
  check
      .add_option_function<std::string>(
          "--api",
          [&search](const std::string& word) { search.prompt_api = word == "prompt"; },
          "When API calls return: any of them may wait for as long as some device thread makes "
          "progress (documented), or only those that synchronise (prompt)"
      )
      ->check(CLI::IsMember({"documented", "prompt"}))
      ->type_name("WORD")
      ->default_str("documented");
  check.add_flag(
      "--other-processes",
      search.other_processes,
      "Device threads of other processes may run forever, and API calls wait for them"
  );
  check.add_flag(
      "--spurious-failures",
      search.spurious_failures,
      "compare_exchange_weak of host code may fail although the values are equal"
  );
}

void define_kernel(CLI::App& check, DeviceOptions& device) {
  constexpr const char* help =
      "The search begins where a kernel of this name is launched; what comes before is executed "
      "once";
  check.add_option("--kernel", device.kernel, help)->type_name("NAME");
}

void define_reference(CLI::App& check, bool& reference) {
  check.add_flag(
      "--reference",
      reference,
      "For whoever doubts a verdict: searches the kernels between two calls that wait, every "
      "instruction of every thread a move of its own and nothing left out, up to --max-states; "
      "what the host does meanwhile is not looked at"
  );
}

void define_limits(CLI::App& check, explore::Options& search, explore::Workers& workers) {
  check
      .add_option(
          "--max-states",
          search.max_states,
          "The exhaustive search gives up after N states (exit code 4 if no defect is found)"
      )
      ->check(CLI::Range(1U, 100'000'000U))
      ->type_name("N")
      ->capture_default_str();
  check
      .add_option(
          "--max-time",
          search.max_seconds,
          "Give up after that many seconds; the exhaustive search after two thirds of them (exit "
          "code 4 if no defect is found)"
      )
      ->check(seconds())
      ->type_name("SECONDS")
      ->capture_default_str();
  check
      .add_option(
          "--max-memory",
          search.max_mebibytes,
          "The exhaustive search gives up when it needs more than that many MiB (default: four "
          "fifths of what is free; exit code 4 if no defect is found)"
      )
      ->check(CLI::Range(1U, 1U << 30))
      ->type_name("MIB");
  check
      .add_option(
          "--schedules",
          search.schedules,
          "After a limit, sample up to N single schedules for the rest of the time: random ones, "
          "and ones that starve chosen threads; 0: stop there"
      )
      ->check(CLI::Range(0U, 100'000'000U))
      ->type_name("N")
      ->capture_default_str();
  check
      .add_option(
          "-j,--jobs",
          workers.jobs,
          "Search with N processes at the same time (default: one for each core). The report is "
          "the "
          "same"
      )
      ->check(CLI::Range(1U, 1024U))
      ->type_name("N");
  check
      .add_option(
          "--states-alone",
          workers.states_alone,
          "One process sees so many states before others join it (a move that cannot be taken back "
          "counts as 20)"
      )
      ->type_name("N")
      ->capture_default_str();
  check.add_option("--seed", search.seed, "Seed for the sampled schedules")
      ->type_name("N")
      ->capture_default_str();
  // In the reference, but not in --help.
  check
      .add_option(
          "--straight-after",
          search.straight_after,
          "If the first N states (a move that cannot be undone counts as 20) contain no cycle, "
          "retry with every block already started, see --no-straight"
      )
      ->type_name("N")
      ->capture_default_str()
      ->group("");
  check
      .add_option(
          "--one-order-after",
          search.one_order_after,
          "After N states of a search of every order, assume one order for accesses whose order "
          "affects only data, see --no-data-order"
      )
      ->type_name("N")
      ->capture_default_str()
      ->group("");
  check
      .add_option_function<std::string>(
          "--memory",
          [&search](const std::string& model) {
            if (model == "ptx") {
              search = explore::with_ptx_memory(search);
            }
          },
          "sc: memory is sequentially consistent. ptx: every behaviour that PTX's memory "
          "consistency model allows, but load buffering; many more states"
      )
      ->type_name("MODEL")
      ->check(CLI::IsMember({"sc", "ptx"}))
      ->default_str("sc");
  define_switches(check, search);
}

/// A line, or all of them.
void define_explain_order(CLI::App& check, std::optional<unsigned>& line) {
  const CLI::Validator is_line(
      [](const std::string& where) -> std::string {
        constexpr std::size_t digits = 7;
        const bool number = where.size() <= digits && where[0] != '0' &&
                            where.find_first_not_of("0123456789") == std::string::npos;
        return where == "all" || (!where.empty() && number) ? "" : "needs a line, or 'all'";
      },
      ""
  );
  check
      .add_option_function<std::string>(
          "--explain-order",
          [&line](const std::string& where) {
            line = where == "all" ? 0 : static_cast<unsigned>(std::stoul(where));
          },
          "With --memory=ptx, where the verdict is 'terminates': find for each atomic of the "
          "program, or for those in a line, the weakest memory order with which the verdict stays, "
          "by searches with one order changed each; their states are reported"
      )
      ->type_name("LINE|all")
      ->check(is_line);
}

void define_checkpoint(CLI::App& check, CheckOptions& options) {
  CLI::Option* checkpoint = check
                                .add_option(
                                    "--checkpoint",
                                    options.checkpoint,
                                    "Save in FILE how far the search is, to continue it after a "
                                    "stop or a crash; with --suite: what has been found, after "
                                    "each program"
                                )
                                ->check(file_to_replace())
                                ->type_name("FILE");
  check
      .add_flag(
          "--resume",
          options.resume,
          "With --checkpoint: continue where the file ends; with --suite, programs that are in "
          "the file and have not changed are not checked again"
      )
      ->needs(checkpoint);
  check
      .add_option(
          "--checkpoint-every",
          options.checkpoint_every,
          "With --checkpoint: save every that many seconds, and when a search stops at a limit or "
          "is interrupted"
      )
      ->check(CLI::PositiveNumber)
      ->needs(checkpoint)
      ->capture_default_str()
      ->type_name("SECONDS");
  check
      .add_option(
          "--stop-after",
          options.stop_after,
          "With --checkpoint: stop when a search has seen N states more, as if it were "
          "interrupted; "
          "with -j1 at the same place each time"
      )
      ->check(CLI::PositiveNumber)
      ->needs(checkpoint)
      ->type_name("N");
}

void define_search_size(CLI::App& check, CheckOptions& options) {
  define_reference(check, options.reference);
  define_kernel(check, options.device);
  define_after_defect(check, options.after_defect);
  define_limits(check, options.search, options.workers);
}

void define_check(CLI::App& app, Options& options) {
  CLI::App* check = app.add_subcommand("check", "Search all schedules of a CUDA program for hangs");
  define_program_options(*check, options.check);
  check
      ->add_option(
          "--warps",
          options.check.device.warps,
          "How the threads of a warp advance: each on its own, in lockstep as before sm_70, or "
          "first "
          "the one and then the other, and what hangs in lockstep only"
      )
      ->check(CLI::IsMember({"independent", "lockstep", "both"}))
      ->type_name("MODEL")
      ->capture_default_str();
  check
      ->add_option(
          "--reconvergence",
          options.check.device.reconvergence,
          "With lockstep warps: where lanes that have parted meet. early-ends: at the immediate "
          "post-dominator, for which lanes that end early do not count; common-exit: there, as if "
          "all ends were one place; both: one search of each"
      )
      ->check(CLI::IsMember({"early-ends", "common-exit", "both"}))
      ->type_name("MODEL")
      ->capture_default_str();
  check->add_flag(
      "--stale-reads",
      options.check.device.stale_reads,
      "With lockstep warps: plain reads of global memory come from a cache that only a fence or "
      "the "
      "end of the block brings up to date"
  );
  check
      ->add_option(
          "--races",
          options.check.races,
          "Look for data races in N single schedules before the search (default: for races and "
          "uses "
          "of uninitialised memory after a search that finds nothing: in 3 schedules where the "
          "verdict rests on the absence of races, else in one; 0: do not look)"
      )
      ->check(CLI::Range(0U, 1000U))
      ->type_name("N");
  check->add_flag(
      "--uninitialised,--uninitialized",
      options.check.uninitialised,
      "Look for uses of uninitialised memory in one schedule before the search"
  );
  check
      ->add_option(
          "--suite",
          options.check.suite,
          "Check the programs that FILE lists, with what is expected of each (docs/checking.md), "
          "and make one report of all; -j N: N of them at the same time"
      )
      ->check(file_to_read())
      ->type_name("FILE");
  define_checkpoint(*check, options.check);
  define_rules(*check, options.check.device);
  define_output(
      *check,
      options.check.output,
      "Write the result to a file instead of standard output (-: standard output)"
  );
  define_html(*check, options.check.html);
  define_explain_order(*check, options.check.explain_order);
  check
      ->add_option(
          "--expect-exit",
          options.check.search.expect_exit,
          "The exit status with which the program must end under every schedule"
      )
      ->check(CLI::Range(0U, 255U))
      ->type_name("N")
      ->capture_default_str();
  define_assumptions(*check, options.check.search);
  define_search_size(*check, options.check);
  check
      ->add_option(
          "--ranks-per-machine",
          options.check.ranks_per_machine,
          "Under an MPI launcher: as if each N ranks had a machine to themselves (default: as it "
          "is). The first rank of a machine searches with the processors of all ranks there"
      )
      ->check(CLI::Range(1, 1 << 20))
      ->type_name("N");
  check
      ->add_option(
          "--progress-file",
          options.check.progress_file,
          "Write a line of JSON to FILE each second of a search: how far it is"
      )
      ->check(file_to_write())
      ->type_name("FILE");
}

std::vector<std::string> names_of_commands(CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* known : app.get_subcommands([](CLI::App*) { return true; })) {
    names.push_back(known->get_name());
  }
  return names;
}

Parsed failure(std::string_view command, std::string_view message) {
  return {
      Command::None,
      report::exit_code::usage,
      fmt::format(
          "heddle: error: {}\n'heddle {}--help' lists what there is\n",
          message,
          command.empty() ? "" : std::string(command) + " "
      )
  };
}

bool has_option(const CLI::App& command, const std::string& word) {
  return command.get_option_no_throw(word.substr(0, word.find('='))) != nullptr;
}

/// "; did you mean '--races'?"
std::string close_option(const CLI::App& app, const std::string& name, const std::string& word) {
  const CLI::App& command = *app.get_subcommand(name);
  const std::string option = word.substr(0, word.find('='));
  if (const std::string ours = option_meant_by(word);
      !ours.empty() && (ours.front() != '-' || has_option(command, ours))) {
    return ours.front() == '-' ? fmt::format("; did you mean '{}'?", ours) : "; " + ours;
  }
  for (const char* other : {"run", "check", "lint", "replay"}) {
    if (other != name && option.starts_with('-') &&
        has_option(*app.get_subcommand(other), option)) {
      return fmt::format("; did you mean 'heddle {} {}'?", other, option);
    }
  }
  if (!word.starts_with("--")) {
    return {};
  }
  std::vector<std::string> known;
  for (const CLI::Option* option : command.get_options()) {
    for (const std::string& name : option->get_lnames()) {
      known.push_back("--" + name);
    }
  }
  return suggestion(word.substr(0, word.find('=')), known);
}

Parsed parse_program(
    const std::vector<std::string>& arguments,
    const std::string& name,
    ProgramOptions& target,
    Command command,
    const std::vector<std::string>& remaining,
    CLI::App& app
) {
  if (remaining.empty()) {
    return failure(name, fmt::format("{}: which program? usage:\n  {}", name, usage(name)));
  }
  if (remaining.front() == "-m" && remaining.size() > 1) { // as in "python3 -m module"
    target.program = "python3";
    target.arguments = remaining;
    return {command, 0, ""};
  }
  if (remaining.front().starts_with('-')) {
    return failure(
        name,
        fmt::format(
            "{}: unknown option {}{}",
            name,
            remaining.front(),
            close_option(app, name, remaining.front())
        )
    );
  }
  Split split = split_arguments(arguments, remaining);
  if (split.program.ends_with(".cu")) {
    const auto unknown = parse_around_source(app, name, split.ours, target);
    if (!unknown.empty()) {
      return failure(
          name,
          fmt::format(
              "{0}: {1} after '{2}' is not an option of heddle; arguments of the program follow "
              "'--'{3}",
              name,
              unknown.front(),
              split.program,
              close_option(app, name, unknown.front())
          )
      );
    }
  }
  target.program = std::move(split.program);
  target.arguments = std::move(split.arguments);
  return {command, 0, ""};
}

/// What a command line without mistakes asks for.
Parsed parsed_as(
    const std::string& command,
    const std::vector<std::string>& arguments,
    CLI::App& app,
    Options& options
) {
  const auto program = [&](ProgramOptions& target, Command which) {
    const auto remaining = app.get_subcommand(command)->remaining();
    return parse_program(arguments, command, target, which, remaining, app);
  };
  if (command == "test") {
    return program(options.test, Command::Test);
  }
  if (command == "run") {
    return program(options.run, Command::Run);
  }
  if (command == "check" && options.check.suite.empty()) {
    return program(options.check, Command::Check);
  }
  if (command == "check") {
    const auto remaining = app.get_subcommand(command)->remaining();
    if (!remaining.empty()) {
      return failure(
          command,
          fmt::format("'{}': with --suite the file says which programs", remaining.front())
      );
    }
    return {Command::Check, 0, ""};
  }
  const std::map<std::string, Command> others = {
      {"replay", Command::Replay},
      {"config", Command::Config},
      {"doctor", Command::Doctor},
      {"explain", Command::Explain}
  };
  const auto other = others.find(command);
  return other != others.end() ? Parsed{other->second, 0, ""}
                               : Parsed{Command::None, report::exit_code::usage, app.help()};
}

void define_config(CLI::App& app, ShowConfigOptions& options) {
  CLI::App* config = app.add_subcommand("config", "Show the project's settings (.heddle.yaml)");
  config->add_flag("--explain", options.explain, "Say what each setting means, too");
  config->add_option("--config", options.config.file, "This file and not the nearest .heddle.yaml")
      ->type_name("FILE");
}

std::unique_ptr<CLI::App> make_app(Options& options, bool& reference, std::string& shell) {
  auto app = std::make_unique<CLI::App>(
      "Runs and checks CUDA C++ programs on the CPU, without a GPU",
      "heddle"
  );
  app->set_version_flag("-V,--version", "heddle " HEDDLE_VERSION, "Print the version");
  app->set_help_flag("-h,--help", "Print this help");
  app->formatter(std::make_shared<Formatter>());
  app->add_flag("--reference", reference, "Print the reference page of all flags, in Markdown");
  app->add_option("--completion", shell, "Print a completion script for bash, zsh or fish")
      ->check(CLI::IsMember({"bash", "zsh", "fish"}))
      ->type_name("SHELL");
  app->require_subcommand(0, 1);
  define_test(*app, options);
  define_run_options(*app->add_subcommand("run", "Run a CUDA program on the CPU"), options.run);
  define_check(*app, options);
  define_replay(*app, options.replay);
  define_lint_options(
      *app->add_subcommand("lint", "Check CUDA sources against rules, without running them"),
      options.lint
  );
  define_config(*app, options.show_config);
  app->add_subcommand("explain", "Explain a finding: what it means, a program, the mend")
      ->add_option(
          "code",
          options.explain,
          "The code in error[…], or a rule of lint; none: lists them"
      )
      ->type_name("CODE");
  app->add_subcommand("doctor", "Check prerequisites");
  group_options(*app);
  for (const char* name :
       {"test", "run", "check"}) { // HEDDLE_FLAGS come first, and the command line wins
    for (CLI::Option* option : app->get_subcommand(name)->get_options()) {
      if (option->get_multi_option_policy() == CLI::MultiOptionPolicy::Throw &&
          option->get_items_expected_max() == 1) {
        option->take_last();
      }
    }
  }
  return app;
}

} // namespace

std::vector<std::string> with_command(std::vector<std::string> arguments) {
  if (arguments.size() < 3 && !arguments.empty() && arguments.front() == "help") {
    arguments.erase(arguments.begin());
    arguments.emplace_back("--help");
    return arguments;
  }
  Options unused;
  bool reference = false;
  std::string shell;
  const auto app = make_app(unused, reference, shell);
  return with_command(std::move(arguments), names_of_commands(*app));
}

Parsed parse_command_line(const std::vector<std::string>& all, Options& options) {
  std::vector<std::string> arguments = all;
  if (!all.empty() && all.front() == "replay") { // what follows "--" is the program's
    const auto dashes = std::ranges::find(arguments, "--");
    if (dashes != arguments.end()) {
      options.replay.arguments.assign(dashes + 1, arguments.end());
      arguments.erase(dashes, arguments.end());
    }
  }
  bool reference = false;
  std::string shell;
  const auto app = make_app(options, reference, shell);
  std::string command;
  if (!arguments.empty() && std::ranges::count(names_of_commands(*app), arguments.front()) != 0) {
    command = arguments.front();
  }
  try {
    if (command.empty() && !arguments.empty() && !arguments.front().starts_with('-')) {
      return failure(
          "",
          fmt::format(
              "there is no program and no command '{}'{}",
              arguments.front(),
              suggestion(arguments.front(), names_of_commands(*app))
          )
      );
    }
    if (command == "lint") {
      return {Command::Lint, 0, ""}; // heddle-lint reads the flags
    }
    parse(*app, arguments);
    if (reference) {
      return {Command::Reference, 0, ""};
    }
    if (!shell.empty()) {
      return {Command::None, 0, completion_script(*app, shell)};
    }
    return parsed_as(command, arguments, *app, options);
  } catch (const CLI::CallForHelp&) {
    return {Command::None, 0, command.empty() ? app->help() : app->get_subcommand(command)->help()};
  } catch (const CLI::CallForAllHelp&) {
    CLI::App& shown = command.empty() ? *app : *app->get_subcommand(command);
    show_hidden_options(shown);
    return {Command::None, 0, shown.help()};
  } catch (const CLI::CallForVersion& version) {
    return {Command::Version, 0, std::string(version.what()) + "\n"};
  } catch (const CLI::ValidationError& error) {
    // `check --races app.cu` means some schedules, as the flag does in `run`.
    const auto races = std::ranges::find(arguments, "--races");
    if (command == "check" && races != arguments.end() &&
        std::string_view(error.what()).starts_with("--races")) {
      *races = "--races=3";
      return parse_command_line(arguments, options);
    }
    return failure(command, error.what());
  } catch (const CLI::Error& error) {
    return failure(command, error.what());
  }
}

Result<std::vector<std::string>>
with_flags(const std::vector<std::string>& arguments, const std::string& flags) {
  constexpr auto commands = std::to_array<std::string_view>({"test", "run", "check"});
  if (arguments.empty() || std::ranges::count(commands, arguments.front()) == 0) {
    return arguments;
  }
  TRY(const std::vector<std::string> words, split_words(flags));
  Options unused;
  bool reference = false;
  std::string shell;
  const auto app = make_app(unused, reference, shell);
  std::vector<std::string> result{arguments.front()};
  for (const std::string& word : words) {
    const bool is_long = word.starts_with("--");
    const std::string name = is_long ? word.substr(0, word.find('=')) : word.substr(0, 2);
    const auto known_to = [&](const std::string& command) {
      return name.starts_with('-') &&
             app->get_subcommand(command)->get_option_no_throw(name) != nullptr;
    };
    if (known_to(arguments.front())) {
      const CLI::Option* option = app->get_subcommand(arguments.front())->get_option_no_throw(name);
      if (option->get_items_expected_min() > 0 && word == name) {
        return input_error(
            fmt::format(
                "HEDDLE_FLAGS: '{}' of heddle {} needs its value in the same word: {}{}",
                word,
                arguments.front(),
                is_long ? word + "=" : word,
                option->get_type_name().substr(0, option->get_type_name().find(':'))
            )
        );
      }
      result.push_back(word);
    } else if (!known_to("run") && !known_to("check") && !known_to("test")) {
      return input_error(
          fmt::format("HEDDLE_FLAGS: '{}' is not an option of run or check (--name=value)", word)
      );
    }
  }
  result.insert(result.end(), arguments.begin() + 1, arguments.end());
  return result;
}

std::string flags_reference() {
  Options options;
  bool reference = false;
  std::string shell;
  const auto app = make_app(options, reference, shell);
  std::string page = "# Commands and flags\n\n"
                     "Generated by `heddle --reference` from the definitions in "
                     "`src/cli/options/options.cpp`; a test compares.\n";
  auto table = [&page](const CLI::App& command) {
    page += "\n| flag | meaning | default |\n|---|---|---|\n";
    for (const CLI::Option* option : command.get_options()) {
      std::string type = option->get_items_expected_max() == 0 ? "" : " " + option->get_type_name();
      std::ranges::replace(type, '|', '/');
      std::string name = option->get_name(false, true);
      if (name.empty()) { // not in --help
        name = "--" + option->get_lnames().front();
      }
      page += fmt::format(
          "| `{}{}` | {} | {} |\n",
          name,
          type,
          option->get_description(),
          option->get_default_str().empty() ? "" : "`" + option->get_default_str() + "`"
      );
    }
  };
  page += "\n## heddle\n";
  table(*app);
  for (const CLI::App* command : app->get_subcommands([](CLI::App*) { return true; })) {
    page += fmt::format(
        "\n## heddle {}\n\n{}.\n\n```\n  {}\n```\n",
        command->get_name(),
        command->get_description(),
        usage(command->get_name())
    );
    table(*command);
  }
  return page;
}

} // namespace heddle::cli
