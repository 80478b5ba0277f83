// heddle check: one program or a suite, on one rank or on all ranks of an MPI job.
#include "cli/check_ahead.h"
#include "cli/commands.h"
#include "cli/parent_watch.h"
#include "cli/suite.h"
#include "explore/interruption.h"

#include <optional>

namespace heddle::cli {

int check_on(Ranks* ranks, const CheckOptions& options, const Result<Prepared>* prepared) {
  if (!options.suite.empty()) {
    return suite_command(options, ranks);
  }
  const explore::Interruption interruption; // until the report is written
  const auto report =
      check_program(options, prepared != nullptr ? *prepared : prepare_program(options), ranks);
  if (ranks != nullptr && ranks->rank() != 0) {
    return report ? report::exit_code::clean : report::exit_code::usage; // rank 0 says it
  }
  return report_check(options, report);
}

int join_and_check(const CheckOptions& options, const Result<Prepared>* prepared) {
  std::optional<ParentWatch> launcher;
  if (Ranks::are_expected()) {
    launcher.emplace();
  }
  const auto ranks = Ranks::join();
  if (!ranks) {
    return report_error(ranks.error());
  }
  const int code = check_on(ranks->get(), options, prepared);
  if (*ranks) {
    (*ranks)->ends_with(code);
  }
  return code;
}

int check_command(const CheckOptions& options) {
  if (const auto told = Ranks::told_on_one_machine(); told && may_go_ahead(options, *told)) {
    return check_ahead(options, *told);
  }
  return join_and_check(options);
}

} // namespace heddle::cli
