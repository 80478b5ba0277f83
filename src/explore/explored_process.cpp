// Implements explored_process.h.
#include "explore/explored_process.h"

#include "explore/explorer.h"
#include "explore/watch.h"

#include <elf.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <link.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <utility>
#include <vector>

namespace heddle::explore {

namespace {

constexpr int cannot_start = 126;
constexpr std::size_t handover_bytes = 512; // of its text, so that the stack begins at one place

[[noreturn]] void become_program(
    const CheckRequest& request,
    const Handover& handover,
    Addresses addresses,
    int log,
    Tracing tracing,
    int said_to_tool
) {
  ::setpgid(0, 0); // so that all its processes can be ended together
  ::personality(addresses == Addresses::Fixed ? ADDR_NO_RANDOMIZE : 0);
  const rlimit no_core{0, 0};
  ::setrlimit(RLIMIT_CORE, &no_core);
  if (tracing == Tracing::On || addresses == Addresses::Fixed) {
    const char traced = ::ptrace(PTRACE_TRACEME, 0, nullptr, nullptr) == 0 ? 1 : 0;
    (void)!::write(said_to_tool, &traced, 1);
  }
  const int nothing = ::open("/dev/null", O_RDWR | O_CLOEXEC);
  ::dup2(nothing, STDIN_FILENO);
  ::dup2(nothing, STDOUT_FILENO);
  ::dup2(log, STDERR_FILENO);
  for (const auto& [name, value] : request.environment) {
    ::setenv(name.c_str(), value.c_str(), 1);
  }
  ::setenv("HEDDLE_MODE", "check", 1);
  ::setenv("HEDDLE_EXPLORE", fmt::format("{:{}}", to_text(handover), handover_bytes).c_str(), 1);
  ::setenv("LD_BIND_NOW", "1", 1); // addresses bound on first use would make states differ
  std::vector<char*> argv{const_cast<char*>(request.program.c_str())};
  for (const std::string& argument : request.arguments) {
    argv.push_back(const_cast<char*>(argument.c_str()));
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

std::string read_log(int fd) {
  std::string text(4000, '\0');
  const ssize_t bytes = ::pread(fd, text.data(), text.size(), 0);
  text.resize(bytes > 0 ? static_cast<std::size_t>(bytes) : 0);
  while (!text.empty() && text.back() == '\n') {
    text.pop_back();
  }
  return text;
}

} // namespace

std::uint32_t jobs_of(const Workers& workers) {
  if (workers.jobs != 0) {
    return workers.jobs;
  }
  cpu_set_t cores; // that we may use
  CPU_ZERO(&cores);
  return ::sched_getaffinity(0, sizeof cores, &cores) == 0
             ? static_cast<std::uint32_t>(CPU_COUNT(&cores))
             : 1;
}

Result<pid_t> start_program(
    const CheckRequest& request,
    const Handover& handover,
    Addresses addresses,
    int log,
    Tracing tracing
) {
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
    become_program(request, handover, addresses, log, tracing, said[1]);
  }
  ::close(said[1]);
  char traced = 0;
  (void)!::read(said[0], &traced, 1);
  ::close(said[0]);
  if (traced != 0 && tracing == Tracing::Off) {
    fix_random_bytes(child);
  }
  return child;
}

Result<Search> search(
    const CheckRequest& request,
    Handover handover,
    Addresses addresses,
    const SearchPart& part
) {
  const Options& options = handover.options;
  const bool everything = handover.replay < 0 && part.sheet == nullptr && part.keep_to.empty();
  TRY(StateTable table,
      StateTable::create(
          {.max_states = options.max_states,
           .processes = everything ? jobs_of(request.workers) : 1,
           .alone = request.workers.states_alone}
      ));
  table.keep_to(part.keep_to);
  handover.table = table.fd();
  const int log = ::memfd_create("heddle-log", 0);
  auto started = start_program(request, handover, addresses, log);
  if (!started) {
    ::close(log);
    return unexpected(started.error());
  }
  const pid_t child = *started;
  const Watch::Of of{
      .show = request.show_progress,
      .log = log,
      .share = part.share,
      .sheet = part.sheet,
      .begun = request.begun
  };
  const auto [status, limit] = Watch(table, options, of).wait_for(child);
  table.users_have_died();
  const std::string said = read_log(log);
  ::close(log);
  const bool orderly = status && WIFEXITED(*status) && WEXITSTATUS(*status) == finished_exit_code;
  const bool sampled = part.sheet != nullptr && part.sheet->done > 0;
  if (table.state_count() == 0 && !sampled && !orderly && status) {
    return input_error(
        said.empty()
            ? fmt::format("{}: ended without a call that Heddle could see", request.program)
            : said
    );
  }
  if (!limit.empty()) {
    table.add_event(EventKind::Incomplete, 0, 0, limit);
  }
  if (status && WIFSIGNALED(*status)) {
    const auto [from, site] = table.position(/*process=*/0);
    table.add_event(
        EventKind::Crash,
        from,
        site,
        fmt::format("the host program was ended by {}", ::strsignal(WTERMSIG(*status)))
    );
  }
  if (status && WIFEXITED(*status) && !orderly && limit.empty()) { // nobody took it for an end
    const auto [from, site] = table.position(/*process=*/0);
    table.add_event(
        EventKind::Incomplete,
        from,
        site,
        fmt::format(
            "the explored process ended by itself with code {}{}{}",
            WEXITSTATUS(*status),
            said.empty() ? "" : ": ",
            said
        )
    );
  }
  return Search{std::move(table), orderly, limit};
}

} // namespace heddle::explore
