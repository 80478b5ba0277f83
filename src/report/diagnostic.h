// Diagnostic: one finding with everything a reader needs. Report: all of one check.
//
//   Diagnostic d(Finding::Starvation, "kernel 'ring<<<4,128>>>' may hang: 128 threads wait");
//   d.place = {"ring.cu", 14, 10};
//   d.rule = "CLUSTER";                                     // more particular than the table's
//   d.labels.push_back({{"ring.cu", 14, 10}, "(2) thread (0,0,0) of block (0,0,0) spins here"});
//   d.help.push_back("launch with cudaLaunchCooperativeKernel");
//   std::string text = render_text(d, {.colour = use_colour(STDERR_FILENO)});
//
// Nothing here prints; who renders a diagnostic decides where it goes.
#pragma once

#include "report/coverage.h"
#include "report/finding.h"

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace heddle::report {

enum class Severity : std::uint8_t {
  Error,
  Warning,
  Note
};

/// A place in a source file. Lines and columns count from 1; 0 means unknown.
struct Place {
  std::string file; // empty: no source is known (compiled without -lineinfo)
  std::uint32_t line = 0;
  std::uint32_t column = 0;
  std::uint32_t length = 0; // columns to underline; 0: the expression that begins at `column`

  bool known() const { return !file.empty() && line != 0; }
};

/// What somebody does at a place: "(2) thread (0,0,0) of block (0,0,0) spins here".
struct Label {
  Place place;
  std::string text;
};

struct Diagnostic {
  Finding finding{};
  Severity severity = Severity::Error;
  Place place;         // of the first line
  std::string message; // one line, no full stop
  std::vector<Label> labels;
  std::string rule;                 // empty: the rule of finding.def
  std::vector<std::string> notes;   // "  = this is a defect in the program; …"
  std::vector<std::string> help;    // "  = help: …"
  std::vector<std::string> threads; // who is involved, for JSON: "thread (0,0,0) of block (3,0,0)"
  std::string searched;             // "41 states, 3 executions"; empty: not the result of a search
  std::string replay;               // the schedule string; empty: nothing to replay
  // The kernels and device functions that it is about, as far as they are known, without the shape
  // of the launch: "scan". Suppressions go by them.
  std::vector<std::string> functions;
  std::string suppressed;    // the reason for which it does not count; empty: it counts
  std::string suppressed_by; // where that is written: ".heddle.yaml:4"

  Diagnostic(Finding f, std::string text) : finding(f), message(std::move(text)) {}
  std::string_view rule_id() const { return rule.empty() ? describe(finding).rule : rule; }
};

/// Ctrl-C and the like have ended the program: a warning.
Diagnostic interrupted();

/// The answers of `heddle check` and their names in JSON: "terminates", "may-hang", "defect",
/// "unknown"; and those of `heddle run`, about one execution: "clean", "hang", "defect", "unknown".
/// "suppressed": nothing but what a suppression names has been found.
enum class Verdict : std::uint8_t {
  Terminates,
  MayHang,
  Defect,
  Unknown,
  Clean,
  Hang,
  Suppressed
};
std::string_view name(Verdict verdict);

struct Report {
  std::vector<Diagnostic> findings;
  std::vector<Diagnostic> suppressed; // they count for nothing (suppression.h)
  Claims claims;                      // how much has been looked at, and what was left out
  std::uint64_t states = 0;
  std::uint64_t executions = 0;
  double seconds = 0;
  std::string bounds; // "1 input, grid 4, block 128"
  // The verdict holds if plain accesses do not race: `bounds` says so, and how far that was looked
  // at.
  bool assumes_no_races = false;
  // What a reader must know before relying on the verdict: "no kernel ran, …".
  std::vector<std::string> warnings;
  std::vector<std::string> notes; // about the check itself; they never change the exit code
  struct Schedules {              // tried singly after a search that is not exhaustive
    std::uint64_t tried = 0;
    std::uint64_t cut_off = 0; // did not end within their number of steps
    std::uint64_t steps = 0;
  };
  Schedules schedules;
  std::vector<std::string> rests_on; // rules without which the verdict would not be Terminates
  /// A second search, with lockstep warps; its findings are among ours.
  struct Lockstep {
    std::uint64_t states = 0, executions = 0;
    Coverage coverage = Coverage::Cut;
    Verdict verdict{};
  };
  std::optional<Lockstep> lockstep;
  // Of `heddle run`: the exit status of the one execution that this is about, 128 and the number of
  // a signal that ended it. Then nothing is said about states, bounds and completeness.
  std::optional<int> exit_status;

  /// Everything within the bounds has been looked at.
  bool is_exhaustive() const { return claims.coverage() == Coverage::Exhaustive; }
  /// From the findings: a hang, else another defect, else terminates if the claims are exhaustive.
  Verdict verdict() const;
  /// 0 clean and exhaustive (or what is left out is accepted), 1 defect, 3 unsupported, 4 no defect
  /// found but not everything looked at.
  int exit_code() const;
};

/// Process exit codes, the same for every command.
namespace exit_code {
inline constexpr int clean = 0;
inline constexpr int defect = 1;
inline constexpr int usage = 2;
inline constexpr int unsupported = 3;
inline constexpr int budget = 4;
inline constexpr int internal = 70;
inline constexpr int signal = 128; // and its number: 130 for Ctrl-C
} // namespace exit_code

} // namespace heddle::report
