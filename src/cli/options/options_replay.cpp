// Implements options_replay.h.
#include "cli/options/options_replay.h"

#include "cli/options/option_values.h"
#include "cli/output/page.h"

#include <CLI/CLI.hpp>

namespace heddle::cli {

void define_replay(CLI::App& app, ReplayOptions& options) {
  CLI::App* replay =
      app.add_subcommand("replay", "Repeat the execution that a finding of heddle check is about");
  replay->add_option("schedule", options.schedule, "The v1:… string after 'replay:' in a finding")
      ->type_name("SCHEDULE")
      ->required();
  replay
      ->add_option(
          "--program",
          options.program,
          "Where the program is now (default: where it was, or the same file below the current "
          "folder)"
      )
      ->type_name("FILE");
  replay
      ->add_option(
          "--nvcc",
          options.nvcc,
          "Flags for nvcc, as heddle check was given them (default: what the cache has noted; a "
          "schedule carries none). Only flags that say what is compiled: docs/security.md"
      )
      ->type_name("FLAGS")
      ->join(' ');
  replay
      ->add_option(
          "--warps",
          options.warps,
          "What the schedule must be of; it says so itself (default: any)"
      )
      ->check(CLI::IsMember({"independent", "lockstep"}))
      ->type_name("MODEL");
  replay->add_flag(
      "--trace",
      options.trace,
      "Print every step, with a column for each thread and the source line"
  );
  define_html(*replay, options.html);
  replay
      ->add_option(
          "--perfetto",
          options.perfetto,
          "Also write the steps in the trace-event format, which ui.perfetto.dev opens"
      )
      ->check(file_to_write())
      ->type_name("FILE");
  replay->add_option("--format", options.format, "How to print the result")
      ->check(CLI::IsMember({"text", "json"}))
      ->type_name("FORMAT")
      ->capture_default_str();
  replay->add_option("--max-time", options.max_seconds, "Give up after that many seconds")
      ->check(seconds())
      ->type_name("SECONDS")
      ->capture_default_str();
}

} // namespace heddle::cli
