// Errors of the command itself: one line on stderr and an exit code.
#include "cli/commands.h"
#include "report/diagnostic.h"

#include <fmt/format.h>

namespace heddle::cli {

int report_error(const Error& error) {
  std::fflush(stdout);
  fmt::print(
      stderr,
      "heddle: {}{}\n",
      error.kind == ErrorKind::Unsupported ? "unsupported: " : "error: ",
      error.message
  );
  switch (error.kind) {
  case ErrorKind::Unsupported:
    return report::exit_code::unsupported;
  case ErrorKind::Internal:
    return report::exit_code::internal;
  case ErrorKind::Input:
    break;
  }
  return report::exit_code::usage;
}

} // namespace heddle::cli
