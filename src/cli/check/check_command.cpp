// heddle check: one program or a suite, on one rank or on all ranks of an MPI job.
#include "cli/check/reference.h"
#include "cli/commands.h"
#include "cli/ranks/job_watch.h"
#include "cli/ranks/mpi_launcher.h"
#include "cli/ranks/rank_0.h"
#include "cli/suite/suite.h"
#include "explore/process/interruption.h"
#include "explore/ranks/peers.h"

#include <unistd.h>

#include <utility>

namespace heddle::cli {
namespace {

/// Any rank but 0, which reports.
int check_as_other_rank(const CheckOptions& options) {
  constexpr auto time_to_hand_over = std::chrono::seconds(2); // what it has found, to rank 0
  const JobWatch watch(
      ::getppid(),
      {{JobWatch::launcher, /*interrupts=*/true, time_to_hand_over},
       {0, /*interrupts=*/false, explore::silence_of_the_dead}}
  );
  auto messages = start_mpi();
  if (!messages) {
    return report_error(messages.error());
  }
  Ranks::without_colour();
  Ranks ranks(std::move(*messages));
  const int code = check_on(&ranks, options);
  ranks.ends_with(code);
  return code;
}

} // namespace

int check_on(Ranks* ranks, const CheckOptions& options) {
  if (!options.suite.empty()) {
    return suite_command(options, ranks);
  }
  const explore::Interruption interruption; // until the report is written
  const auto report = check_program(options, prepare_program(options), ranks);
  if (ranks != nullptr && ranks->rank() != 0) {
    return report ? report::exit_code::clean : report::exit_code::usage; // rank 0 says it
  }
  return report_check(options, report);
}

int check_command(const CheckOptions& options) {
  if (options.reference) {
    return check_by_reference(options);
  }
  if (!started_by_launcher()) {
    return check_on(nullptr, options);
  }
  return told_rank() == 0 ? check_as_rank_0(options) : check_as_other_rank(options);
}

} // namespace heddle::cli
