// What happens when an invariant of Heddle itself does not hold: one message, exit code 70.
#include "base/check.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

namespace heddle {

void internal_error(const char* condition, const std::string& message, std::source_location where) {
  std::fflush(stdout);
  const std::string text = fmt::format(
      "heddle: internal error: {} ({} does not hold at {}:{})\n"
      "heddle: this is a defect in Heddle, not in your program; please report it\n",
      message,
      condition,
      where.file_name(),
      where.line()
  );
  std::fputs(text.c_str(), stderr); // fmt::print throws where it cannot write
  // Not by _exit(): in a program that is explored that is ours, and would be the program's own end.
  ::syscall(SYS_exit_group, 70);
  std::abort();
}

} // namespace heddle
