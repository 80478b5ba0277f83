// Implements foreign_input.h. The place of a call is that of the first word on the stack that
// points into the program's own code: the return address of the call into the C library. It may be
// wrong where a library that was compiled without frames leaves an older one lying there.
#include "explore/witness/foreign_input.h"

#include "explore/process/program_start.h"
#include "explore/verdict/source_places.h"
#include "explore/witness/repetition.h"
#include "explore/witness/trace.h"

#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

namespace heddle::explore {

namespace {

/// The program's own code in its address space.
struct Code {
  std::uint64_t begin = 0, end = 0;
  std::uint64_t base = 0; // where address 0 of the file lies; 0 if it is not relocated
};

Code code_of(pid_t process, const std::string& program) {
  std::error_code failure;
  const std::string path = std::filesystem::canonical(program, failure).string();
  std::ifstream maps(fmt::format("/proc/{}/maps", process));
  Code code;
  std::uint64_t first = 0;
  for (std::string line; std::getline(maps, line);) {
    if (path.empty() || !line.ends_with(path)) {
      continue;
    }
    char* rest = nullptr;
    const std::uint64_t begin = std::strtoull(line.c_str(), &rest, 16);
    const std::uint64_t end = std::strtoull(rest + 1, &rest, 16);
    first = first == 0 ? begin : first;
    if (std::string_view(rest).substr(0, 4) == " r-x") {
      code.begin = begin;
      code.end = end;
    }
  }
  constexpr std::uint64_t where_fixed_programs_lie = 0x1000'0000;
  code.base = first < where_fixed_programs_lie ? 0 : first;
  return code;
}

std::size_t read_memory(pid_t process, std::uint64_t address, void* to, std::size_t bytes) {
  const iovec local{to, bytes};
  const iovec remote{reinterpret_cast<void*>(address), bytes};
  const ssize_t count = ::process_vm_readv(process, &local, 1, &remote, 1, 0);
  return count > 0 ? static_cast<std::size_t>(count) : 0;
}

std::string read_string(pid_t process, std::uint64_t address) {
  std::array<char, 256> text{};
  const std::size_t to_end_of_page = 4096 - address % 4096;
  const std::size_t count =
      read_memory(process, address, text.data(), std::min(text.size() - 1, to_end_of_page));
  text[count] = '\0';
  return text.data();
}

/// What the system call at which `process` stands reads from outside, in words; empty: nothing.
std::string foreign(pid_t process, const user_regs_struct& registers) {
  const auto path_of = [&](std::uint64_t address) -> std::string {
    const std::string path = read_string(process, address);
    const bool random = path == "/dev/urandom" || path == "/dev/random" || path == "/dev/hwrng";
    return random ? "reads " + path : "";
  };
  switch (registers.orig_rax) {
  case SYS_getrandom:
    // Eight bytes without waiting: the C library's own, for its heap.
    return registers.rsi == 8 && registers.rdx == GRND_NONBLOCK ? "" : "reads random numbers";
  case SYS_open:
    return path_of(registers.rdi);
  case SYS_openat:
    return path_of(registers.rsi);
  case SYS_time:
  case SYS_gettimeofday:
  case SYS_clock_gettime:
    return "reads the real time by a system call of its own";
  default:
    return "";
  }
}

/// Return addresses into the program, innermost first; none if the call is not the program's. In
/// the form of a site of host code (source_places.h).
std::string callers(pid_t process, const user_regs_struct& registers, const Code& code) {
  std::array<std::uint64_t, 513> words{registers.rip};
  const std::size_t count =
      1 + read_memory(process, registers.rsp, &words[1], sizeof words - sizeof words[0]) /
              sizeof words[0];
  constexpr std::size_t most = 8; // frames of headers lie between the call and the user's own code
  std::string text;
  std::size_t found = 0;
  for (std::size_t i = 0; i < count && found < most; ++i) {
    if (words[i] >= code.begin && words[i] < code.end) {
      text += fmt::format("{}{:x}", found++ == 0 ? "@" : ",", words[i] - code.base - 1);
    }
  }
  return text;
}

class Tracer {
public:
  Tracer(pid_t process, const CheckRequest& request)
      : process_(process),
        request_(request),
        sources_(request.program) {}

  std::vector<ForeignInput> run() {
    using Clock = std::chrono::steady_clock;
    const auto deadline =
        Clock::now() + std::chrono::duration<double>(request_.options.max_seconds);
    int status = 0;
    bool entering = true;
    while (wait(status) && WIFSTOPPED(status)) {
      int signal = WSTOPSIG(status);
      if (!running_) { // behind its exec
        ::ptrace(PTRACE_SETOPTIONS, process_, 0, PTRACE_O_TRACESYSGOOD | PTRACE_O_EXITKILL);
        code_ = code_of(process_, request_.program);
        running_ = true;
        signal = 0;
      } else if (signal == (SIGTRAP | 0x80)) {
        if (entering) {
          look();
        }
        entering = !entering;
        signal = 0;
      }
      if (Clock::now() > deadline) {
        break;
      }
      ::ptrace(PTRACE_SYSCALL, process_, 0, signal);
    }
    if (!WIFEXITED(status) && !WIFSIGNALED(status)) {
      ::kill(process_, SIGKILL);
      wait(status);
    }
    return std::move(found_);
  }

private:
  bool wait(int& status) const {
    pid_t ended = 0;
    while ((ended = ::waitpid(process_, &status, 0)) < 0 && errno == EINTR) {
    }
    return ended == process_;
  }

  void look() {
    user_regs_struct registers{};
    if (::ptrace(PTRACE_GETREGS, process_, 0, &registers) != 0) {
      return;
    }
    const std::string what = foreign(process_, registers);
    const std::string from = what.empty() ? "" : callers(process_, registers, code_);
    if (from.empty()) {
      return;
    }
    Site site = sources_.resolve({from, 0, 0, what});
    const bool known = std::any_of(found_.begin(), found_.end(), [&](const ForeignInput& input) {
      return input.site == site;
    });
    if (!known) {
      found_.push_back({std::move(site)});
    }
  }

  pid_t process_;
  const CheckRequest& request_;
  HostSources sources_;
  Code code_;
  bool running_ = false;
  std::vector<ForeignInput> found_;
};

} // namespace

std::vector<ForeignInput>
find_foreign_inputs(const CheckRequest& request, const Schedule& schedule) {
  const auto choices = write_choices(schedule.choices);
  Handover handover;
  handover.options = limits_of_repetition(schedule, request.options.max_seconds);
  auto table = StateTable::create({.max_states = handover.options.max_states});
  if (!choices || !table) {
    return {};
  }
  handover.table = table->fd();
  handover.replay = *choices;
  const int log = ::memfd_create("heddle-log", 0);
  const auto process =
      start_program(request, {.text = to_text(handover), .log = log, .traced = true});
  std::vector<ForeignInput> found;
  if (process) {
    found = Tracer(*process, request).run();
  }
  ::close(log);
  ::close(*choices);
  return found;
}

} // namespace heddle::explore
