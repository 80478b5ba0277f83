// Implements host_activity.h. The threads are looked at one after the other, so one could wake
// another that has been looked at already, and then sleep. So all are looked at twice: none may
// have run in between.
#include "machine/host_activity.h"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <charconv>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <string>

namespace heddle::machine {
namespace {

/// "202 0x7f… 0x189 0x0 0x0 …": the number of the system call and its arguments; "running"
/// otherwise.
bool waits_without_limit(const std::filesystem::path& task) {
  std::ifstream in(task / "syscall");
  long number = -1;
  if (!(in >> number)) {
    return false;
  }
  std::uint64_t arguments[6] = {};
  for (std::uint64_t& argument : arguments) {
    std::string text;
    if (!(in >> text) || !text.starts_with("0x")) {
      return false;
    }
    std::from_chars(text.data() + 2, text.data() + text.size(), argument, 16);
  }
  switch (number) {
  case SYS_pause:
  case SYS_rt_sigsuspend:
    return true;
  case SYS_rt_sigtimedwait:
    return arguments[2] == 0;
  case SYS_futex: {
    const auto operation = static_cast<int>(arguments[1]) & FUTEX_CMD_MASK;
    return (operation == FUTEX_WAIT || operation == FUTEX_WAIT_BITSET) && arguments[3] == 0;
  }
  default:
    return false;
  }
}

/// How often the task has been put to sleep or taken off its core.
std::uint64_t switches_of(const std::filesystem::path& task) {
  std::ifstream in(task / "status");
  std::uint64_t sum = 0;
  for (std::string line; std::getline(in, line);) {
    if (const auto colon = line.find(':'); line.substr(0, colon).ends_with("ctxt_switches")) {
      sum += std::strtoull(line.c_str() + colon + 1, nullptr, 10);
    }
  }
  return sum;
}

/// How often each has run; nothing: one of them may go on by itself.
std::optional<std::map<pid_t, std::uint64_t>> look(const std::set<pid_t>& ours) {
  std::map<pid_t, std::uint64_t> result;
  std::error_code failure;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/task", failure)) {
    const auto id = static_cast<pid_t>(std::strtol(entry.path().filename().c_str(), nullptr, 10));
    if (ours.contains(id)) {
      continue;
    }
    result[id] = switches_of(entry.path());
    if (!waits_without_limit(entry.path())) {
      return std::nullopt;
    }
  }
  return failure ? std::nullopt : std::optional(result);
}

} // namespace

bool others_sleep_for_good(const std::set<pid_t>& ours) {
  const auto first = look(ours);
  return first && (first->empty() || look(ours) == first);
}

namespace {
thread_local bool of_the_machine = false;
} // namespace

pid_t become_machine_thread() {
  of_the_machine = true;
  return ::gettid();
}

bool is_machine_thread() {
  return of_the_machine;
}

} // namespace heddle::machine
