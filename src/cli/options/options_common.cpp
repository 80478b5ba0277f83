// Implements options_common.h.
#include "cli/options/options_common.h"

#include "cli/file.h"
#include "cli/options/option_values.h"
#include "cli/output/page.h"

#include <CLI/CLI.hpp>

namespace heddle::cli {

/// -h, -V are flags of the program itself; everything else belongs to a subcommand.
void define_program_options(CLI::App& command, ProgramOptions& options) {
  command.prefix_command();
  command
      .add_option(
          "--device",
          options.device.device,
          "GPU to emulate: sets device properties, limits and -arch"
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

void define_rules(CLI::App& command, DeviceOptions& device) {
  command.add_flag(
      "--library-races",
      device.library_races,
      "With --races: also those inside NVIDIA's own kernels (CUB, Thrust), cooperative groups and "
      "Triton's reductions"
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

void define_after_defect(CLI::App& command, double& seconds_after) {
  command
      .add_option(
          "--after-defect",
          seconds_after,
          "Stop the search that many seconds after a defect is certain: a fault that it has met, "
          "or "
          "what other looks have found (as much as --max-time: search on)"
      )
      ->check(seconds())
      ->type_name("SECONDS")
      ->capture_default_str();
}

void define_run_options(CLI::App& run, RunOptions& options) {
  define_program_options(run, options);
  define_output(
      run,
      options.output,
      "Write a report to a file (-: standard output, which is the program's). Without it, findings "
      "go to standard error: as text at once, or as --format says when the program has ended"
  );
  define_html(run, options.html);
  run.add_option(
         "--max-time",
         options.device.max_seconds,
         "End the program after that many seconds and say which threads spin or wait where (exit "
         "code 4 if "
         "no defect was found)"
  )
      ->check(seconds())
      ->type_name("SECONDS");
  run.add_flag(
      "--leaks",
      options.device.leaks,
      "Report memory that the program has not freed when it ends"
  );
  run.add_option(
         "--seed",
         options.device.seed,
         "One reproducible, single-threaded schedule, chosen by N (default: all cores)"
  )
      ->type_name("N");
  run.add_option(
         "--jit",
         options.device.jit,
         "Which kernels become machine code, in a process of their own while they are interpreted: "
         "never, hot (those that run long), or always, before they start"
  )
      ->check(CLI::IsMember({"never", "hot", "always"}))
      ->envname("HEDDLE_JIT")
      ->type_name("KERNELS")
      ->capture_default_str();
  run.add_flag(
      "--races",
      options.device.races,
      "Look for data races in one schedule (with --seed=N: in the one that N chooses); several "
      "times slower, one core"
  );
  run.add_flag(
      "--uninitialised,--uninitialized",
      options.device.uninitialised,
      "Look for uses of uninitialised memory in one schedule; several times slower, one "
      "core"
  );
  run.add_flag(
      "--source",
      options.source,
      "With --races, of a .cu file: compile it a second time without optimisation of device code "
      "(nvcc -G), run it once more, and report what races there only: accesses that the compiler "
      "has "
      "removed"
  );
  define_rules(run, options.device);
  run.add_option(
         "--warps",
         options.device.warps,
         "How the threads of a warp advance: each on its own, or in lockstep as before sm_70"
  )
      ->check(CLI::IsMember({"independent", "lockstep"}))
      ->type_name("MODEL")
      ->capture_default_str();
  run.add_option(
         "--warp-trace",
         options.device.warp_trace,
         "With --warps=lockstep: print the first N steps of a warp, rule by rule, to stderr"
  )
      ->type_name("N");
  run.add_option(
         "--reconvergence",
         options.device.reconvergence,
         "With --warps=lockstep: where lanes that have parted meet. early-ends: at the immediate "
         "post-dominator, for which lanes that end early do not count; common-exit: there, as if "
         "all "
         "ends were one place"
  )
      ->check(CLI::IsMember({"early-ends", "common-exit"}))
      ->type_name("MODEL")
      ->capture_default_str();
  run.add_flag(
      "--stale-reads",
      options.device.stale_reads,
      "With --warps=lockstep: plain reads of global memory come from a cache that only a fence "
      "or the end of the block brings up to date"
  );
}

} // namespace heddle::cli
