#include "cli/lint/lint_options.h"

#include "cli/options/option_values.h"
#include "cli/output/output.h"

#include <CLI/CLI.hpp>

namespace heddle::cli {

void define_lint_options(CLI::App& command, LintOptions& options) {
  command
      .add_option(
          "files",
          options.files,
          "CUDA sources and headers; what follows \"--\" goes to the compiler"
      )
      ->type_name("FILE");
  command
      .add_option(
          "-p",
          options.database,
          "Folder of compile_commands.json: how the files are compiled; without FILE, all of its "
          "CUDA files"
      )
      ->type_name("FOLDER");
  command.add_option("-I", options.include_folders, "A folder with headers, as for the compiler")
      ->type_name("FOLDER")
      ->allow_extra_args(false);
  command.add_option("-D", options.macros, "A macro, NAME or NAME=VALUE, as for the compiler")
      ->type_name("MACRO")
      ->allow_extra_args(false);
  command.add_option("--format", options.format, "How to print the result")
      ->check(CLI::IsMember({"text", "json", "sarif"}))
      ->type_name("FORMAT")
      ->capture_default_str();
  command
      .add_option(
          "-o,--output",
          options.output,
          "Write the result to a file instead of standard output"
      )
      ->check(file_to_write())
      ->type_name("FILE");
  define_config_options(command, options.config);
  define_style(command);
  command
      .add_option(
          "--cuda-path",
          options.toolkit,
          "The CUDA toolkit whose headers are read (default: that of the nvcc on PATH; 'none': "
          "Heddle's own declarations)"
      )
      ->type_name("FOLDER");
  command.add_option("--arch", options.architecture, "The architecture to parse for")
      ->type_name("NAME")
      ->capture_default_str();
  command
      .add_option(
          "--set",
          options.settings,
          "An option of .heddle-lint, as NAME=VALUE or RULE.NAME=VALUE; may be repeated"
      )
      ->type_name("SETTING")
      ->allow_extra_args(false);
  command
      .add_option("-j", options.jobs, "Read N files at a time (default: one for each processor)")
      ->check(CLI::Range(1U, 256U))
      ->type_name("N");
  command.add_flag(
      "--no-cache",
      options.no_cache,
      "Judge files again that have not changed since an earlier run"
  );
  command.add_flag(
      "--lsp",
      options.server,
      "Serve an editor over standard input and output (Language Server Protocol)"
  );
  command.add_flag("--fix", options.fix, "Apply the fixes that are mechanical");
  command.add_flag("--timing", options.timing, "Print the time that each file took");
  command.add_flag("--list-rules", options.list_rules, "Print every message key with its rule");
  command.add_option("--explain", options.explain, "Print the page of a rule or of a message key")
      ->type_name("RULE");
}

} // namespace heddle::cli
