// Implements output.h.
#include "cli/output/output.h"

#include "base/new_file.h"
#include "report/render.h"
#include "report/static_report.h"

#include <CLI/CLI.hpp>
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>

namespace heddle::cli {
namespace {

bool is_standard_output(const std::string& file) {
  return file.empty() || file == "-";
}

std::string sarif(report::StaticReport form) {
  std::error_code failure;
  form.version = HEDDLE_VERSION;
  form.root = std::filesystem::current_path(failure).string();
  return report::render_sarif(form);
}

} // namespace

void define_style(CLI::App& command) {
  command
      .add_option_function<std::string>(
          "--color,--colour",
          [](const std::string& word) { ::setenv("HEDDLE_COLOR", word.c_str(), /*overwrite=*/1); },
          "Colours in text: on a terminal unless NO_COLOR is set (auto), always or never"
      )
      ->check(CLI::IsMember({"auto", "always", "never"}))
      ->type_name("WHEN")
      ->default_str("auto");
  command.add_flag_callback(
      "-v,--verbose",
      [] { ::setenv("HEDDLE_VERBOSE", "1", /*overwrite=*/1); },
      "Print full template names"
  );
}

std::string
render(const report::Report& report, const OutputOptions& options, std::string_view program) {
  if (options.format == "json") {
    return report::render_json(report);
  }
  if (options.format == "junit") {
    return report::render_junit(report, program);
  }
  if (options.format == "sarif") {
    return sarif(report::as_static(report, program));
  }
  report::SourceCache sources;
  const bool colour = is_standard_output(options.file) && report::use_colour(STDOUT_FILENO);
  return report::render_text(
      report,
      program,
      sources,
      {.colour = colour, .whole_names = report::use_whole_names()}
  );
}

std::string render(
    const report::Report& report,
    const report::StaticReport& lint,
    const OutputOptions& options,
    std::string_view program
) {
  if (options.format == "json") {
    return report::render_json(report, lint);
  }
  if (options.format == "junit") {
    return report::render_junit(report, program, lint);
  }
  return options.format == "sarif" ? sarif(report::together(report, program, lint))
                                   : render(report, options, program);
}

Result<void> write_result(std::string_view text, const std::string& file) {
  const auto print = [&] {
    std::fwrite(text.data(), 1, text.size(), stdout);
    return std::fflush(stdout) == 0 && std::ferror(stdout) == 0;
  };
  if (is_standard_output(file)) {
    if (!print()) {
      return input_error(fmt::format("cannot write to standard output: {}", std::strerror(errno)));
    }
    return {};
  }
  const int fd = open_named_file(file, O_TRUNC);
  bool good = fd >= 0 && write_to(fd, text.data(), text.size());
  const int error = errno;
  good = (fd < 0 || ::close(fd) == 0) && good;
  if (!good) {
    const std::string why = std::strerror(error);
    const bool elsewhere = print(); // what it has taken minutes to find is not lost
    return input_error(
        fmt::format(
            "cannot write '{}': {}{}",
            file,
            why,
            elsewhere ? "; the result is on standard output" : ""
        )
    );
  }
  return {};
}

} // namespace heddle::cli
