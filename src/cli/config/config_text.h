// The settings of .heddle.yaml and what each means: the reader (config_file.cpp) and `heddle config
// --explain` have them from here.
#pragma once

#include "report/suppression.h"

#include <string>
#include <string_view>

namespace heddle::cli {

/// A key of an entry of `suppress`.
struct EntryKey {
  std::string_view name;
  std::string report::Suppression::* member;
  std::string_view meaning;
};

inline constexpr EntryKey entry_keys[] = {
    {"code",
     &report::Suppression::code,
     "the kind of finding, or the rule on which it rests: data-race, RACE-BARRIER"},
    {"file",
     &report::Suppression::file,
     "the file of the finding's first line; * and ? within a folder, ** across folders"},
    {"function",
     &report::Suppression::function,
     "a kernel or device function that takes part, without its parameters: count, my::count, "
     "count*"},
    {"library",
     &report::Suppression::library,
     "a library with a place in it: the name of a folder, or the outer name space: cub, "
     "thrust, "
     "cooperative_groups, libcu++"},
    {"text", &report::Suppression::text, "the source line, without the blanks around it"},
    {"program",
     &report::Suppression::program,
     "only for programs with this path (run and check): build/old_test"},
    {"reason", &report::Suppression::reason, "why it is all right; each entry must have one"},
};

inline constexpr std::string_view explanation_head =
    R"(.heddle.yaml holds what a project has decided once for heddle run, check and lint. The nearest one
is used: in the current folder or above, else in the folder of the program or source or above.

    suppress:
      - code: data-race
        file: src/histogram.cu
        reason: the counts are approximate, see issue 12
      - library: cub
        code: starvation
        reason: blocks start in order on the GPUs that we ship for
    baseline: heddle-baseline.yaml
    accept:
      - coverage: one-order
        reason: tickets only order the output

suppress    findings that do not count: they are not printed and do not change the exit code. The
            result says how many there are. An entry names a finding if everything in it fits.
lint        options of heddle lint: docs/lint/options.md.
baseline    a file with findings that were known before. Its path is relative to .heddle.yaml. The
            option --write-baseline makes it and adds to it.
accept      how much of a program heddle check need not look at to pass (exit code 0 instead of 4): a
            coverage (one-order, bounded or cut), a reason, and a program if it is for that one
            only. The report still lists what was not looked at.

An entry that nothing needs is reported, unless it is about findings that were not looked for. A
suppressed fault still ends the kernel, and a suppressed hang still ends the run.

An entry of suppress:
)";

inline constexpr std::string_view baseline_head =
    "# Findings that were known before: heddle --write-baseline adds to this file, and 'baseline:' "
    "in\n"
    "# .heddle.yaml, or --baseline, makes them not count. Delete an entry when it is repaired.\n";

} // namespace heddle::cli
