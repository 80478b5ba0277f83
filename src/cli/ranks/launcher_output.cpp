// Implements launcher_output.h.
#include "cli/ranks/launcher_output.h"

#include "base/process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <fstream>
#include <string>
#include <string_view>

namespace heddle::cli {
namespace {

// Which print what ranks do. Their daemons (orted, hydra_pmi_proxy) speak with them by their
// output.
constexpr std::array<std::string_view, 5>
    names_of_launchers{"mpirun", "mpiexec", "orterun", "prterun", "prun"};

pid_t parent_of(pid_t process) {
  std::ifstream in(fmt::format("/proc/{}/stat", process));
  std::string text;
  std::getline(in, text);
  int parent = 0;
  const std::size_t name_end = text.rfind(')');
  return name_end != std::string::npos &&
                 std::sscanf(text.c_str() + name_end, ") %*c %d", &parent) == 1
             ? parent
             : 0;
}

/// Above this process; 0: not on this machine.
pid_t launcher_above() {
  constexpr int most_between = 4; // daemons and scripts
  pid_t process = ::getppid();
  for (int n = 0; process > 1 && n < most_between; ++n, process = parent_of(process)) {
    const std::string name = name_of_program(process);
    if (std::ranges::any_of(names_of_launchers, [&](std::string_view launcher) {
          return name.starts_with(launcher);
        })) {
      return process;
    }
  }
  return 0;
}

} // namespace

LauncherOutput::LauncherOutput() {
  if (const pid_t launcher = launcher_above(); launcher != 0) {
    constexpr int flags = O_WRONLY | O_APPEND | O_CLOEXEC | O_NOCTTY | O_NONBLOCK;
    output_ = ::open(fmt::format("/proc/{}/fd/1", launcher).c_str(), flags);
    errors_ = ::open(fmt::format("/proc/{}/fd/2", launcher).c_str(), flags);
  }
}

LauncherOutput::~LauncherOutput() {
  ::close(output_);
  ::close(errors_);
}

void LauncherOutput::use() const {
  for (const auto& [from, to] : {std::pair(output_, STDOUT_FILENO), {errors_, STDERR_FILENO}}) {
    if (from >= 0) {
      ::fcntl(from, F_SETFL, O_APPEND); // waits for readers from now on
      ::dup2(from, to);
    }
  }
}

} // namespace heddle::cli
