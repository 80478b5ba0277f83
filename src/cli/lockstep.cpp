// Implements lockstep.h.
#include "cli/lockstep.h"

#include "cli/process.h"

#include <fmt/format.h>

namespace heddle::cli {
namespace {

constexpr std::string_view note_begins = "  = ";

/// [SIMT-LIVENESS], in the words of the paper's argument.
constexpr const char* argument =
    "a lockstep warp runs one side of a branch alone until it reaches the reconvergence point; a "
    "lane that waits there, or on the other side, has no turn before that, so nobody who waits for "
    "it can go on (Habermaier 2011: safe, but not live)";

} // namespace

std::optional<report::Diagnostic> hang_in(std::string_view text) {
  std::optional<report::Diagnostic> hang;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (!hang) {
      const bool deadlock = line.find("error[deadlock]") != std::string_view::npos;
      if (deadlock || line.find("error[livelock]") != std::string_view::npos) {
        hang.emplace(
            deadlock ? report::Finding::Deadlock : report::Finding::Livelock,
            std::string(line.substr(line.find("]: ") + 3))
        );
      }
    } else if (!line.starts_with(note_begins)) {
      break;
    } else if (!line.substr(note_begins.size()).starts_with("rule: ")) {
      hang->notes.emplace_back(line.substr(note_begins.size()));
    }
  }
  return hang;
}

Result<LockstepTrial> try_lockstep(
    const std::string& heddle,
    const Target& target,
    const DeviceOptions& device,
    const LockstepLimits& limits
) {
  LockstepTrial trial;
  for (; trial.orders < limits.orders && !trial.hang; ++trial.orders) {
    // The program's own output goes nowhere; the report, on stderr, is read.
    std::vector<std::string> command{
        "timeout",
        "-k",
        "1",
        std::to_string(limits.seconds),
        "sh",
        "-c",
        "exec \"$@\" 2>&1 >/dev/null",
        "sh",
        heddle,
        "run",
        "--warps=lockstep",
        "--device=" + device.device,
        "--devices=" + std::to_string(device.devices)
    };
    if (trial.orders > 0) {
      command.push_back("--seed=" + std::to_string(trial.orders));
    }
    command.push_back(target.path);
    command.insert(command.end(), target.arguments.begin(), target.arguments.end());
    TRY(const Output output, run_and_read(command));
    constexpr int timed_out = 124;
    trial.hang = hang_in(output.text);
    trial.ended += !trial.hang && output.status != timed_out ? 1 : 0;
  }
  return trial;
}

void add_lockstep(report::Report& report, LockstepTrial trial) {
  if (!trial.hang) {
    report.bounds += fmt::format(
        "{}lockstep warps: {} of {} orders tried have ended",
        report.bounds.empty() ? "" : "; ",
        trial.ended,
        trial.orders
    );
    return;
  }
  const report::Verdict independent = report.verdict();
  report::Diagnostic& hang = *trial.hang;
  hang.rule = "SIMT-LIVENESS";
  if (independent == report::Verdict::MayHang) {
    hang.message = "hang: with independent threads and in lockstep";
  } else {
    hang.message = fmt::format(
        "hang: lockstep only: with independent threads {}; if the threads of a warp go in "
        "lockstep, "
        "as before sm_70, it hangs",
        report.complete ? "the program ends under every schedule" : "no hang was found"
    );
  }
  hang.notes.emplace_back(argument);
  hang.help.emplace_back(
      "do not let a thread wait for another one of its warp, or release what it waits for inside "
      "the loop that waits"
  );
  report.findings.push_back(std::move(hang));
}

} // namespace heddle::cli
