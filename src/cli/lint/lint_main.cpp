// heddle-lint: what `heddle lint` starts. A program of its own because it links LLVM and Clang.
#include "base/check.h"
#include "base/processors.h"
#include "cli/config/config_file.h"
#include "cli/lint/lint_cache.h"
#include "cli/lint/lint_options.h"
#include "cli/lint/lint_settings.h"
#include "cli/output/output.h"
#include "lint/lint.h"
#include "report/diagnostic.h"
#include "report/editor_server.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <iostream>
#include <optional>

namespace {

using namespace heddle;

int usage_error(const std::string& message) {
  fmt::print(stderr, "heddle: error: {}\n", message);
  return report::exit_code::usage;
}

void list_rules() {
  std::size_t keys = 0;
  std::size_t rules = 0;
  for (const report::StaticRule& rule : lint::all_rules()) {
    keys = std::max(keys, rule.key.size());
    rules = std::max(rules, rule.rule.size());
  }
  for (const report::StaticRule& rule : lint::all_rules()) {
    fmt::print("{:<{}}  {:<{}}  {}\n", rule.key, keys, rule.rule, rules, rule.description);
  }
}

void print_summary(const report::StaticReport& result, bool timing) {
  for (const std::string& note : result.notes) {
    fmt::print(stderr, "heddle: note: {}\n", note);
  }
  for (const report::FileTime& file : result.files) {
    if (file.errors != 0) {
      fmt::print(
          stderr,
          "{}: error: {} parse error{}, the first: {}\n",
          file.file,
          file.errors,
          file.errors == 1 ? "" : "s",
          file.first_error
      );
    }
    if (timing) {
      fmt::print(
          stderr,
          "{}: {} lines, {} barriers, parsed in {:.3f} s, checked in {:.3f} s\n",
          file.file,
          file.lines,
          file.barriers,
          file.parse_seconds,
          file.check_seconds
      );
    }
  }
  const std::size_t open = result.open_findings();
  const auto is_suppressed = [](const report::StaticFinding& one) {
    return !one.suppressed.empty();
  };
  const auto suppressed =
      static_cast<std::size_t>(std::ranges::count_if(result.findings, is_suppressed));
  const std::size_t remarks = result.findings.size() - open - suppressed;
  std::uint32_t barriers = 0;
  for (const report::FileTime& file : result.files) {
    barriers += file.barriers;
  }
  fmt::print(
      stderr,
      "{} finding{}{}{} in {} file{} with {} barrier{}\n",
      open,
      open == 1 ? "" : "s",
      remarks == 0 ? "" : fmt::format(", {} remark{}", remarks, remarks == 1 ? "" : "s"),
      suppressed == 0 ? "" : fmt::format(" ({} suppressed)", suppressed),
      result.files.size(),
      result.files.size() == 1 ? "" : "s",
      barriers,
      barriers == 1 ? "" : "s"
  );
}

/// What to do about files that do not parse: findings may be missing there.
void print_parse_help(const report::StaticReport& result, const cli::LintOptions& options) {
  const auto first = std::ranges::find_if(result.files, [](const report::FileTime& file) {
    return file.errors != 0;
  });
  if (options.database.empty()) {
    fmt::print(
        stderr,
        "  = help: pass what the compiler is given: heddle lint {0} -- -Iinclude -DNAME=1\n"
        "  = help: or the folder of compile_commands.json: heddle lint -p build {0}\n",
        first->file
    );
  } else {
    fmt::print(
        stderr,
        "  = help: the flags in compile_commands.json do not suffice; more of them follow '--': "
        "heddle lint -p {} {} -- -Iinclude\n",
        options.database,
        first->file
    );
  }
}

std::string render(const report::StaticReport& result, const std::string& format, bool colour) {
  if (format == "json") {
    return report::render_json(result);
  }
  if (format == "sarif") {
    return report::render_sarif(result);
  }
  report::SourceCache sources;
  return report::render_text(result, sources, {.colour = colour});
}

/// An entry of .heddle.yaml whose code is neither a finding's nor one of our keys and rules.
std::string unknown_code(const report::Suppressions& suppressions) {
  for (const report::Suppression& one : suppressions.all()) {
    const bool ours = std::ranges::any_of(lint::all_rules(), [&](const report::StaticRule& rule) {
      return rule.key == one.code || rule.rule == one.code;
    });
    if (!one.code.empty() && !ours && !report::find_finding(one.code) &&
        report::rule_text(one.code).empty()) {
      return fmt::format(
          "{}: there is no finding or rule '{}' (heddle config --explain, heddle lint "
          "--list-rules)",
          one.written,
          one.code
      );
    }
  }
  return "";
}

Result<lint::LintRequest> request_of(const cli::LintOptions& options) {
  lint::LintRequest request;
  request.files = options.files;
  for (const std::string& folder : options.include_folders) {
    request.flags.push_back("-I" + folder);
  }
  for (const std::string& macro : options.macros) {
    request.flags.push_back("-D" + macro);
  }
  request.flags.insert(request.flags.end(), options.flags.begin(), options.flags.end());
  request.database = options.database;
  request.toolkit = options.toolkit;
  request.architecture = options.architecture;
  request.version = HEDDLE_VERSION;
  request.jobs = options.jobs == 0 ? usable_processors() : options.jobs;
  TRY(request.settings, cli::parse_lint_settings(options.settings));
  request.file_settings = cli::read_lint_settings;
  return request;
}

/// What a project has decided about findings: .heddle.yaml nearest to the file.
Result<cli::ProjectConfig> config_for(const cli::LintOptions& options, const std::string& file) {
  TRY(cli::ProjectConfig config, cli::read_config(options.config, file));
  if (const std::string problem = unknown_code(config.suppressions); !problem.empty()) {
    return input_error(problem);
  }
  return config;
}

/// The folder of the nearest compile_commands.json at or above the file, or in `build` there.
std::string nearest_database(const std::string& file) {
  namespace fs = std::filesystem;
  std::error_code failure;
  for (fs::path at = fs::path(file).parent_path(); !at.empty(); at = at.parent_path()) {
    for (const fs::path& folder : {at, at / "build"}) {
      if (fs::exists(folder / "compile_commands.json", failure)) {
        return folder.string();
      }
    }
    if (at == at.parent_path()) {
      break;
    }
  }
  return "";
}

int serve(const cli::LintOptions& options, const lint::LintRequest& plain) {
  const auto judge = [&](const std::string& file) -> Result<report::StaticReport> {
    lint::LintRequest request = plain;
    request.files = {file};
    if (request.database.empty()) {
      request.database = nearest_database(file);
    }
    TRY(cli::ProjectConfig config, config_for(options, file));
    TRY(report::StaticReport report, lint::lint(request));
    TRY_VOID(cli::suppress(report, config, options.config));
    return report;
  };
  return report::serve_editor(judge, plain.version, std::cin, std::cout);
}

int finish(const cli::LintOptions& options, const report::StaticReport& result, unsigned fixed) {
  const std::string text =
      render(result, options.format, options.output.empty() && report::use_colour(STDOUT_FILENO));
  if (const auto written = cli::write_result(text, options.output); !written) {
    return usage_error("lint: " + written.error().message);
  }
  std::fflush(stdout);
  print_summary(result, options.timing);
  if (options.fix) {
    fmt::print(stderr, "{} finding{} fixed\n", fixed, fixed == 1 ? "" : "s");
  }
  if (!result.parsed()) {
    print_parse_help(result, options);
    return report::exit_code::usage;
  }
  return result.open_findings() == 0 ? report::exit_code::clean : report::exit_code::defect;
}

int run(const cli::LintOptions& options) {
  if (options.list_rules) {
    list_rules();
    return 0;
  }
  if (!options.explain.empty()) {
    const std::string page = lint::explain_rule(options.explain);
    if (page.empty()) {
      return usage_error(
          fmt::format(
              "there is no finding and no rule '{}': 'heddle explain' lists the findings, 'heddle "
              "lint --list-rules' the rules",
              options.explain
          )
      );
    }
    fmt::print("{}", page);
    return 0;
  }
  if (options.files.empty() && options.database.empty() && !options.server) {
    return usage_error("lint: which files? usage: heddle lint [OPTIONS] FILE… [-- COMPILER FLAGS]");
  }
  auto request = request_of(options);
  if (!request) {
    return usage_error(request.error().message);
  }
  std::optional<cli::LintCache> cache;
  if (!options.no_cache && cache.emplace().is_usable()) {
    request->kept = &*cache;
  }
  if (options.server) {
    return serve(options, *request);
  }
  auto config = config_for(options, options.files.empty() ? "" : options.files[0]);
  if (!config) {
    return usage_error(config.error().message);
  }
  auto result = lint::lint(*request);
  unsigned fixed = 0;
  if (result && options.fix) {
    const auto applied = lint::apply_fixes(*result);
    if (!applied) {
      return usage_error(applied.error().message);
    }
    fixed = *applied;
  }
  if (!result) {
    fmt::print(stderr, "heddle: error: {}\n", result.error().message);
    return result.error().kind == ErrorKind::Unsupported ? report::exit_code::unsupported
                                                         : report::exit_code::usage;
  }
  if (const auto done = cli::suppress(*result, *config, options.config); !done) {
    return usage_error(done.error().message);
  }
  return finish(options, *result, fixed);
}

} // namespace

int main(int count, char** values) {
  try {
    std::vector<std::string> arguments(values + 1, values + count);
    heddle::cli::LintOptions options;
    const auto dashes = std::ranges::find(arguments, "--");
    if (dashes != arguments.end()) {
      options.flags.assign(dashes + 1, arguments.end());
      arguments.erase(dashes, arguments.end());
    }
    CLI::App app("Checks CUDA sources without running them", "heddle lint");
    app.set_help_flag("-h,--help", "Print this help");
    heddle::cli::define_lint_options(app, options);
    std::ranges::reverse(arguments); // CLI11 takes the last first
    try {
      app.parse(std::move(arguments));
    } catch (const CLI::CallForHelp&) {
      fmt::print("{}", app.help());
      return 0;
    } catch (const CLI::Error& error) {
      return usage_error(fmt::format("lint: {}", error.what()));
    }
    return run(options);
  } catch (const std::exception& problem) {
    heddle::internal_error("no exception reaches main", problem.what());
  }
}
