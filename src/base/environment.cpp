// Implements environment.h.
#include "base/environment.h"

#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace heddle {

void no_memory(std::string_view what, std::uint64_t bytes) {
  const int why = errno;
  std::fflush(stdout);
  fmt::print(
      stderr,
      "heddle: error: no room for {} ({} bytes): {}\n",
      what,
      bytes,
      std::strerror(why)
  );
  rlimit limit{};
  if (::getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY) {
    fmt::print(
        stderr,
        "heddle: this process may use {} KiB of addresses (ulimit -v); Heddle reserves more than 2 "
        "TiB of them, though hardly any memory: 'ulimit -v unlimited' lifts the limit, and 'ulimit "
        "-m' or a control group limits memory instead\n",
        limit.rlim_cur / 1024
    );
  }
  // Not by _exit(): in a program that is explored that is ours, and would be the program's own end.
  ::syscall(SYS_exit_group, 2);
  std::abort();
}

} // namespace heddle
