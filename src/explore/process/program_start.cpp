// Implements program_start.h.
#include "explore/process/program_start.h"

#include "hostwatch/hooks.h"

#include <elf.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <link.h>
#include <sys/mman.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <vector>

namespace heddle::explore {

namespace {

constexpr std::size_t text_bytes = 512; // so that the stack begins at one place

/// Of what the tool has open only the socket stays open.
void keep_only(int socket) {
  const auto number = static_cast<unsigned>(socket);
  ::close_range(STDERR_FILENO + 1, number - 1, CLOSE_RANGE_CLOEXEC);
  ::close_range(number + 1, UINT_MAX, CLOSE_RANGE_CLOEXEC);
}

/// Where the stack begins, and so which states there are if they hold addresses of it, depends on
/// how much the environment takes, and the path of the program, which lies there twice (as the
/// first argument, and as the name of the file). A launcher of ranks adds some thousand bytes.
/// Fills it up to a round number, and to an even number of variables: the kernel aligns the strings
/// and the pointers to them to two pointers each. So a search goes on where it stopped when the
/// same program lies elsewhere.
void round_environment(const std::string& program, Addresses addresses) {
  constexpr std::size_t round = 64 << 10;
  constexpr std::size_t distance = 0x5550; // of stacks: pages, and bits within a page
  const std::size_t more = addresses == Addresses::Elsewhere ? distance : 0;
  constexpr const char *name = "HEDDLE_ROOM", *one_more = "HEDDLE_ONE_MORE";
  ::unsetenv(name);
  ::unsetenv(one_more);
  std::size_t count = 1, bytes = std::strlen(name) + std::strlen("=") + 1 + sizeof(char*);
  bytes += 2 * (program.size() + 1);
  const auto add = [&](const char* variable) {
    ++count;
    bytes += std::strlen(variable) + 1 + sizeof variable;
  };
  for (char** variable = environ; variable != nullptr && *variable != nullptr; ++variable) {
    add(*variable);
  }
  if (count % 2 != 0) {
    ::setenv(one_more, "", 1);
    add((one_more + std::string("=")).c_str());
  }
  ::setenv(name, std::string(round - bytes % round + more, '.').c_str(), 1);
}

/// Standard input, if that is a file: from where it is now, for this program alone. Else `nothing`,
/// or an empty file whose name says that there was a pipe: what comes through one comes once.
int own_input(int nothing) {
  struct stat status{};
  if (::fstat(STDIN_FILENO, &status) != 0) {
    return nothing;
  }
  if (S_ISFIFO(status.st_mode) || S_ISSOCK(status.st_mode)) {
    const int empty = ::memfd_create(heddle_piped_input_file, MFD_CLOEXEC);
    return empty < 0 ? nothing : empty;
  }
  const off_t position = ::lseek(STDIN_FILENO, 0, SEEK_CUR);
  if (position < 0 || !S_ISREG(status.st_mode)) {
    return nothing;
  }
  const int own = ::open("/proc/self/fd/0", O_RDONLY | O_CLOEXEC);
  if (own < 0) {
    return nothing;
  }
  ::lseek(own, position, SEEK_SET);
  return own;
}

[[noreturn]] void
become_program(const CheckRequest& request, const Start& start, int said_to_tool) {
  ::setpgid(0, 0); // so that all its processes can be ended together
  // The other layout gives addresses from low ones to high ones: each order is another one.
  const bool elsewhere = start.addresses == Addresses::Elsewhere;
  ::personality(elsewhere ? ADDR_NO_RANDOMIZE | ADDR_COMPAT_LAYOUT : ADDR_NO_RANDOMIZE);
  const rlimit no_core{0, 0};
  ::setrlimit(RLIMIT_CORE, &no_core);
  const char traced = ::ptrace(PTRACE_TRACEME, 0, nullptr, nullptr) == 0 ? 1 : 0;
  (void)!::write(said_to_tool, &traced, 1);
  const int nothing = ::open("/dev/null", O_RDWR | O_CLOEXEC);
  ::dup2(own_input(nothing), STDIN_FILENO);
  ::dup2(nothing, STDOUT_FILENO);
  ::dup2(start.log, STDERR_FILENO);
  if (start.socket >= 0) {
    keep_only(start.socket);
  }
  if (!request.whole_environment.empty()) {
    ::clearenv();
  }
  for (const std::string& variable : request.whole_environment) {
    const std::size_t name = variable.find('=');
    if (name != std::string::npos) {
      ::setenv(variable.substr(0, name).c_str(), variable.c_str() + name + 1, 1);
    }
  }
  for (const auto& [name, value] : request.environment) {
    ::setenv(name.c_str(), value.c_str(), 1);
  }
  ::setenv("HEDDLE_MODE", "check", 1);
  ::setenv("HEDDLE_EXPLORE", fmt::format("{:{}}", start.text, text_bytes).c_str(), 1);
  ::setenv("LD_BIND_NOW", "1", 1); // addresses bound on first use would make states differ
  round_environment(request.program, start.addresses);
  // execv's signature predates const; it changes nothing.
  std::vector<char*> argv{const_cast<char*>(request.program.c_str())};
  for (const std::string& argument : request.arguments) {
    argv.push_back(const_cast<char*>(argument.c_str())); // as above
  }
  argv.push_back(nullptr);
  ::execv(request.program.c_str(), argv.data());
  ::dprintf(STDERR_FILENO, "%s: %s\n", request.program.c_str(), std::strerror(errno));
  ::_exit(cannot_start);
}

/// A program finds 16 random bytes on its stack; the C library makes of them what protects return
/// addresses, and those lie on the stack, too. Gives a program that has just been started the same
/// ones each time, so that states can be compared from run to run. Where tracing is forbidden they
/// stay random; then reports of large searches may show another witness in each run.
void fix_random_bytes(pid_t process) {
  siginfo_t info{};
  if (::waitid(P_PID, static_cast<id_t>(process), &info, WSTOPPED | WEXITED | WNOWAIT) != 0 ||
      info.si_code == CLD_EXITED || info.si_code == CLD_KILLED) {
    return; // it could not be executed: whoever waits for it finds out
  }
  int status = 0;
  ::waitpid(process, &status, 0);
  std::ifstream vector(fmt::format("/proc/{}/auxv", process), std::ios::binary);
  ElfW(auxv_t) entry{};
  while (vector.read(reinterpret_cast<char*>(&entry), sizeof entry)) {
    if (entry.a_type == AT_RANDOM) {
      constexpr std::uint64_t word = 0x6c64'6465'6800'6865; // a zero byte in it ends strings
      for (const std::uint64_t at : {entry.a_un.a_val, entry.a_un.a_val + sizeof word}) {
        ::ptrace(PTRACE_POKEDATA, process, at, word);
      }
    }
  }
  ::ptrace(PTRACE_DETACH, process, nullptr, nullptr);
}

} // namespace

Result<pid_t> start_program(const CheckRequest& request, const Start& start) {
  const pid_t tool = ::getpid();
  int said[2];
  if (::pipe2(said, O_CLOEXEC) != 0) {
    return input_error(fmt::format("cannot start a process: {}", std::strerror(errno)));
  }
  const pid_t child = ::fork();
  if (child < 0) {
    ::close(said[0]);
    ::close(said[1]);
    return input_error(fmt::format("cannot start a process: {}", std::strerror(errno)));
  }
  if (child == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != tool) { // it was killed before that took effect
      ::_exit(cannot_start);
    }
    become_program(request, start, said[1]);
  }
  ::setpgid(child, child); // as it does itself: whoever comes first, all of it can be ended now
  ::close(said[1]);
  char traced = 0;
  (void)!::read(said[0], &traced, 1);
  ::close(said[0]);
  if (traced != 0 && !start.traced) {
    fix_random_bytes(child);
  }
  return child;
}

} // namespace heddle::explore
