// The definitions of all flags, parsing, and the reference page made from them.
#include "cli/options.h"

#include "cli/file.h"
#include "cli/option_values.h"
#include "cli/options_groups.h"
#include "cli/options_replay.h"
#include "cli/options_switches.h"
#include "cli/page.h"
#include "cli/program_arguments.h"
#include "report/diagnostic.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <algorithm>

namespace heddle::cli {
namespace {

/// -h, -V are flags of the program itself; everything else belongs to a subcommand.
void define_program_options(CLI::App& command, ProgramOptions& options) {
  command.prefix_command();
  command
      .add_option(
          "--device",
          options.device.device,
          "The GPU to stand in for: decides what device properties, limits and -arch say"
      )
      ->check(
          CLI::IsMember(std::vector<std::string>(std::begin(device_names), std::end(device_names)))
      )
      ->type_name("NAME")
      ->capture_default_str();
  command.add_option("--devices", options.device.devices, "How many of them the program sees")
      ->check(CLI::Range(1, most_devices))
      ->type_name("N")
      ->capture_default_str();
  command
      .add_option(
          "--nvcc",
          options.nvcc,
          "Flags for nvcc when a .cu file is compiled, in one string or several: --nvcc \"-O2 -I "
          "include\""
      )
      ->type_name("FLAGS")
      ->join(' ');
  command
      .add_option(
          "--error-exitcode",
          options.device.error_exit_code,
          "The exit code if a defect was found (default: 1)"
      )
      ->check(CLI::Range(0U, 255U))
      ->type_name("N");
  command.add_flag(
      "--warnings-as-errors",
      options.device.warnings_as_errors,
      "A warning is a defect, too"
  );
  define_config_options(command, options.config);
  define_style(command);
}

/// What is a race, and a barrier: of `run` and of `check`.
void define_rules(CLI::App& command, DeviceOptions& device) {
  command.add_flag(
      "--library-races",
      device.library_races,
      "With --races: also those inside NVIDIA's own kernels (CUB, Thrust) and cooperative groups"
  );
  command
      .add_option(
          "--same-value",
          device.same_value,
          "With --races and --memory=ptx: what plain writes of one and the same value by several "
          "threads are: a "
          "note "
          "that counts them, or an error each, like other races"
      )
      ->check(CLI::IsMember({"note", "error"}))
      ->type_name("GRADE")
      ->capture_default_str();
  command
      .add_option(
          "--barriers",
          device.barriers,
          "Whether a barrier of all threads waits for those that have ended: not by PTX (ptx: a "
          "warning), but by the CUDA guide (guide: a finding)"
      )
      ->check(CLI::IsMember({"ptx", "guide"}))
      ->type_name("RULE")
      ->capture_default_str();
}

void define_output(CLI::App& command, OutputOptions& output, const std::string& output_help) {
  command.add_option("--format", output.format, "How to print the result")
      ->check(CLI::IsMember({"text", "json", "sarif", "junit"}))
      ->type_name("FORMAT")
      ->capture_default_str();
  command.add_option("-o,--output", output.file, output_help)
      ->check(file_to_write())
      ->type_name("FILE");
}

std::string usage(std::string_view command) {
  if (command == "replay") {
    return "heddle replay [OPTIONS] SCHEDULE [-- ARGUMENTS…]";
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
  std::string make_usage(const CLI::App* app, std::string name) const override {
    if (app->get_parent() == nullptr) {
      return CLI::Formatter::make_usage(app, std::move(name));
    }
    return fmt::format("Usage:\n  {}\n", usage(app->get_name()));
  }
};

void define_run(CLI::App& app, Options& options) {
  CLI::App* run = app.add_subcommand("run", "Run a CUDA program on the CPU");
  define_program_options(*run, options.run);
  define_output(
      *run,
      options.run.output,
      "Write a report to a file (-: standard output, which is the program's). Without it, findings "
      "go to standard error: as text at once, or as --format says when the program has ended"
  );
  define_html(*run, options.run.html);
  run->add_option(
         "--max-time",
         options.run.device.max_seconds,
         "End the program after that many seconds and say which threads spin or wait where (exit "
         "code 4 if "
         "no defect was found)"
  )
      ->check(seconds())
      ->type_name("SECONDS");
  run->add_flag(
      "--leaks",
      options.run.device.leaks,
      "Report memory that the program has not freed when it ends"
  );
  run->add_option(
         "--seed",
         options.run.device.seed,
         "One reproducible, single-threaded schedule, chosen by N (default: all cores)"
  )
      ->type_name("N");
  run->add_option(
         "--jit",
         options.run.device.jit,
         "Which kernels become machine code, in a process of their own while they are interpreted: "
         "never, hot (those that run long), or always, before they start"
  )
      ->check(CLI::IsMember({"never", "hot", "always"}))
      ->envname("HEDDLE_JIT")
      ->type_name("KERNELS")
      ->capture_default_str();
  run->add_flag(
      "--races",
      options.run.device.races,
      "Look for data races in one schedule (with --seed=N: in the one that N chooses); several "
      "times slower, one core"
  );
  run->add_flag(
      "--uninitialised,--uninitialized",
      options.run.device.uninitialised,
      "Look for uses of memory that nobody has written, in one schedule; several times "
      "slower, one core"
  );
  run->add_flag(
      "--source",
      options.run.source,
      "With --races, of a .cu file: compile it a second time without optimisation of device code "
      "(nvcc -G), run it once more, and report what races there only: accesses that the compiler "
      "has "
      "removed"
  );
  define_rules(*run, options.run.device);
  run->add_option(
         "--warps",
         options.run.device.warps,
         "How the threads of a warp go on: each on its own, or in lockstep as before sm_70"
  )
      ->check(CLI::IsMember({"independent", "lockstep"}))
      ->type_name("MODEL")
      ->capture_default_str();
  run->add_option(
         "--warp-trace",
         options.run.device.warp_trace,
         "With --warps=lockstep: print the first N steps of a warp, rule by rule, to stderr"
  )
      ->type_name("N");
  run->add_option(
         "--reconvergence",
         options.run.device.reconvergence,
         "With --warps=lockstep: where lanes that have parted meet. early-ends: at the immediate "
         "post-dominator, for which lanes that end early do not count; common-exit: there, as if "
         "all "
         "ends were one place"
  )
      ->check(CLI::IsMember({"early-ends", "common-exit"}))
      ->type_name("MODEL")
      ->capture_default_str();
  run->add_flag(
      "--stale-reads",
      options.run.device.stale_reads,
      "With --warps=lockstep: plain reads of global memory come from a cache that only a fence "
      "or the end of the block brings up to date"
  );
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
      "Device threads of other processes may run for ever, and API calls wait for them"
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
  check.add_option("--seed", search.seed, "Which ones: the same for the same number")
      ->type_name("N")
      ->capture_default_str();
  // In the reference, but not in --help.
  check
      .add_option(
          "--straight-after",
          search.straight_after,
          "So many states (a move that cannot be taken back counts as 20), none of which comes "
          "back, "
          "are searched before blocks start at once, see --no-straight"
      )
      ->type_name("N")
      ->capture_default_str()
      ->group("");
  check
      .add_option(
          "--one-order-after",
          search.one_order_after,
          "So many states of a search of every order are seen before one order is searched of "
          "accesses on whose order only data depends, see --no-data-order"
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
          "by searches with one order changed each; how many states these have had is told"
      )
      ->type_name("LINE|all")
      ->check(is_line);
}

void define_search_size(CLI::App& check, CheckOptions& options) {
  define_kernel(check, options.device);
  define_limits(check, options.search, options.workers);
}

void define_check(CLI::App& app, Options& options) {
  CLI::App* check = app.add_subcommand("check", "Search all schedules of a CUDA program for hangs");
  define_program_options(*check, options.check);
  check
      ->add_option(
          "--warps",
          options.check.device.warps,
          "How the threads of a warp go on: each on its own, in lockstep as before sm_70, or first "
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
          "Look for data races in N single schedules before the search (default: in 3 after a "
          "search "
          "that finds nothing, where the verdict rests on it; 0: do not look)"
      )
      ->check(CLI::Range(0U, 1000U))
      ->type_name("N");
  check->add_flag(
      "--uninitialised,--uninitialized",
      options.check.uninitialised,
      "Look for uses of memory that nobody has written in one schedule before the search"
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
  CLI::Option* checkpoint = check
                                ->add_option(
                                    "--checkpoint",
                                    options.check.checkpoint,
                                    "Keep in FILE how far the search is, so that it can go on "
                                    "after a stop or a crash; with "
                                    "--suite: what has been found, after each program"
                                )
                                ->check(file_to_replace())
                                ->type_name("FILE");
  check
      ->add_flag(
          "--resume",
          options.check.resume,
          "With --checkpoint: go on where the file ends; with --suite, programs that are in the "
          "file, "
          "and have not changed, are not checked again"
      )
      ->needs(checkpoint);
  check
      ->add_option(
          "--checkpoint-every",
          options.check.checkpoint_every,
          "With --checkpoint: seconds between two times that it is written; a search that stops at "
          "a "
          "limit, or is interrupted, is written as well"
      )
      ->check(CLI::PositiveNumber)
      ->needs(checkpoint)
      ->capture_default_str()
      ->type_name("SECONDS");
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
          "is). "
          "The first rank of a machine searches with the processors of all ranks there"
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
    return failure(name, fmt::format("{}: unknown option {}", name, remaining.front()));
  }
  Split split = split_arguments(arguments, remaining);
  if (split.program.ends_with(".cu")) {
    const auto unknown = parse_around_source(app, name, split.ours, target);
    if (!unknown.empty()) {
      return failure(
          name,
          fmt::format(
              "{0}: {1} after '{2}' is not an option of heddle; arguments of the program follow "
              "'--'",
              name,
              unknown.front(),
              split.program
          )
      );
    }
  }
  target.program = std::move(split.program);
  target.arguments = std::move(split.arguments);
  return {command, 0, ""};
}

void define_config(CLI::App& app, ShowConfigOptions& options) {
  CLI::App* config = app.add_subcommand("config", "Show the project's settings (.heddle.yaml)");
  config->add_flag("--explain", options.explain, "Say what each setting means, too");
  config->add_option("--config", options.config.file, "This file and not the nearest .heddle.yaml")
      ->type_name("FILE");
}

std::unique_ptr<CLI::App> make_app(Options& options, bool& reference) {
  auto app = std::make_unique<CLI::App>(
      "Runs and checks CUDA C++ programs on the CPU, without a GPU",
      "heddle"
  );
  app->set_version_flag("-V,--version", "heddle " HEDDLE_VERSION, "Print the version");
  app->set_help_flag("-h,--help", "Print this help");
  app->formatter(std::make_shared<Formatter>());
  app->add_flag("--reference", reference, "Print the reference page of all flags, in Markdown");
  app->require_subcommand(0, 1);
  define_run(*app, options);
  define_check(*app, options);
  define_replay(*app, options.replay);
  define_lint_options(
      *app->add_subcommand("lint", "Check CUDA sources against rules, without running them"),
      options.lint
  );
  define_config(*app, options.show_config);
  app->add_subcommand("doctor", "Say what this machine lacks of what Heddle needs");
  group_options(*app);
  for (const char* name : {"run", "check"}) { // HEDDLE_FLAGS come first, and the command line wins
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
  const auto app = make_app(options, reference);
  std::string command;
  for (const CLI::App* known : app->get_subcommands([](CLI::App*) { return true; })) {
    if (!arguments.empty() && arguments.front() == known->get_name()) {
      command = known->get_name();
    }
  }
  try {
    if (command.empty() && !arguments.empty() && !arguments.front().starts_with('-')) {
      return failure(
          "",
          fmt::format(
              "there is no command '{}' (run, check, replay, lint, config, doctor)",
              arguments.front()
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
    if (command == "run") {
      return parse_program(
          arguments,
          command,
          options.run,
          Command::Run,
          app->get_subcommand(command)->remaining(),
          *app
      );
    }
    if (command == "check" && !options.check.suite.empty()) {
      const auto remaining = app->get_subcommand(command)->remaining();
      if (!remaining.empty()) {
        return failure(
            command,
            fmt::format("'{}': with --suite the file says which programs", remaining.front())
        );
      }
      return {Command::Check, 0, ""};
    }
    if (command == "check") {
      return parse_program(
          arguments,
          command,
          options.check,
          Command::Check,
          app->get_subcommand(command)->remaining(),
          *app
      );
    }
    if (command == "replay") {
      return {Command::Replay, 0, ""};
    }
    if (command == "config") {
      return {Command::Config, 0, ""};
    }
    if (command == "doctor") {
      return {Command::Doctor, 0, ""};
    }
    return {Command::None, report::exit_code::usage, app->help()};
  } catch (const CLI::CallForHelp&) {
    return {Command::None, 0, command.empty() ? app->help() : app->get_subcommand(command)->help()};
  } catch (const CLI::CallForAllHelp&) {
    CLI::App& shown = command.empty() ? *app : *app->get_subcommand(command);
    show_hidden_options(shown);
    return {Command::None, 0, shown.help()};
  } catch (const CLI::CallForVersion& version) {
    return {Command::Version, 0, std::string(version.what()) + "\n"};
  } catch (const CLI::Error& error) {
    return failure(command, error.what());
  }
}

Result<std::vector<std::string>>
with_flags(const std::vector<std::string>& arguments, const std::string& flags) {
  if (arguments.empty() || (arguments.front() != "run" && arguments.front() != "check")) {
    return arguments;
  }
  TRY(const std::vector<std::string> words, split_words(flags));
  Options unused;
  bool reference = false;
  const auto app = make_app(unused, reference);
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
    } else if (!known_to("run") && !known_to("check")) {
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
  const auto app = make_app(options, reference);
  std::string page = "# Commands and flags\n\n"
                     "Generated by `heddle --reference` from the definitions in "
                     "`src/cli/options.cpp`; a test compares.\n";
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
