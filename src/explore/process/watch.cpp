// Implements watch.h. Memory is what the kernel counts in /proc/<pid>/smaps_rollup; of many
// forked processes only the first ones are asked (they hold the most), so a limit may be passed a
// little late.
#include "explore/process/watch.h"

#include "explore/process/interruption.h"
#include "explore/process/pause.h"
#include "report/render.h"
#include "report/seconds.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <fstream>
#include <string_view>
#include <vector>

namespace heddle::explore {

namespace {

constexpr std::uint64_t kibibyte = 1024;
constexpr std::uint64_t mebibyte = 1024 * kibibyte;
constexpr int tick_milliseconds = 100, short_tick_milliseconds = 5;
constexpr double seconds_between_looks = 0.5;
constexpr double seconds_before_first_line = 0.5;
constexpr double seconds_between_lines = 0.2;
constexpr double seconds_between_records = 1; // of a file
constexpr std::size_t most_processes_asked = 64;

/// The number behind `key` in a file of lines "Key:  123 kB", in bytes.
std::uint64_t kibibytes_in(const std::string& path, std::string_view key) {
  std::ifstream in(path);
  std::uint64_t sum = 0;
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with(key)) {
      sum += std::strtoull(line.c_str() + key.size(), nullptr, 10) * kibibyte;
    }
  }
  return sum;
}

/// What the first word of a file says, if that is a number.
std::optional<std::uint64_t> number_in(const std::string& path) {
  std::ifstream in(path);
  std::uint64_t number = 0;
  return in >> number ? std::optional(number) : std::nullopt;
}

/// Four fifths of what is free, so that the search gives up before the system does. A container may
/// have less than its machine.
std::uint64_t usual_limit() {
  std::uint64_t free = kibibytes_in("/proc/meminfo", "MemAvailable:");
  const auto most = number_in("/sys/fs/cgroup/memory.max"); // "max": no number
  const auto used = number_in("/sys/fs/cgroup/memory.current");
  if (most && used && *most > *used) {
    free = std::min(free, *most - *used);
  }
  return free / 5 * 4;
}

std::uint64_t memory_of_file(int fd) {
  struct stat status{};
  return ::fstat(fd, &status) == 0 ? static_cast<std::uint64_t>(status.st_blocks) * 512 : 0;
}

/// Of a process and those that it has started, and so on, but for the last ones of many.
template <class F> std::uint64_t sum_of_all(pid_t first, F&& bytes_of) {
  std::uint64_t sum = 0;
  std::vector<pid_t> processes{first};
  for (std::size_t asked = 0; asked < std::min(processes.size(), most_processes_asked); ++asked) {
    const pid_t process = processes[asked];
    sum += bytes_of(process);
    std::ifstream children(fmt::format("/proc/{0}/task/{0}/children", process));
    for (pid_t child = 0; children >> child;) {
      processes.push_back(child);
    }
  }
  return sum;
}

/// As private_memory(), but pages that several processes share count for each of them.
std::uint64_t private_memory_at_most(pid_t process) {
  return sum_of_all(process, [](pid_t p) {
    std::ifstream in(fmt::format("/proc/{}/statm", p));
    std::uint64_t size = 0, resident = 0, shared = 0; // pages; shared with files
    in >> size >> resident >> shared;
    return (resident - std::min(shared, resident)) *
           static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  });
}

} // namespace

std::uint64_t private_memory(pid_t process) {
  // Pages that several processes share count in parts, which add up to one.
  return sum_of_all(process, [](pid_t p) {
    return kibibytes_in(fmt::format("/proc/{}/smaps_rollup", p), "Pss_Anon:");
  });
}

bool keep_still(pid_t leader, const StateTable& table, const std::function<void()>& keep) {
  // A process is about half of its time at a place where it must not be stopped.
  constexpr int most_tries = 100;
  for (int tries = 0; tries < most_tries; ++tries) {
    const Pause pause(leader);
    if (!pause.all_stopped()) {
      return false;
    }
    if (table.course().is_still()) {
      keep();
      return true;
    }
  }
  return false;
}

Watch::Watch(const StateTable& table, const Options& options, const Of& of)
    : table_(table),
      options_(options),
      of_(of),
      most_bytes_(options.max_mebibytes * mebibyte),
      next_look_(seconds_between_looks),
      next_line_(seconds_before_first_line),
      next_record_(seconds_between_records),
      next_keep_(of.keeping.seconds_between) {}

Ending Watch::wait_for(const Processes& processes) {
  using Clock = std::chrono::steady_clock;
  const auto start = Clock::now();
  pollfd ended{processes.ended, POLLIN, 0};
  Ending ending;
  for (;;) {
    const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
    ending.limit = limit_reached(processes.leader, seconds);
    if (!ending.limit.empty()) {
      processes.end_all();
      break;
    }
    show_progress(seconds);
    keep(processes.leader, seconds);
    forget_log();
    const auto left =
        static_cast<int>((options_.max_seconds * of_.share - of_.gone - seconds) * 1000) + 1;
    const int tick = table_.course().may_stop() ? short_tick_milliseconds : tick_milliseconds;
    if (::poll(&ended, 1, std::min(tick, left)) > 0) {
      break;
    }
  }
  clear_line();
  record_progress(
      std::chrono::duration<double>(Clock::now() - start).count(),
      /*is_last=*/true
  );
  const int status = processes.status();
  if (ending.limit.empty()) {
    ending.status = status;
  }
  return ending;
}

std::string Watch::limit_reached(pid_t leader, double seconds) {
  if (std::string text = Interruption::text(); !text.empty()) {
    return text;
  }
  if (table_.course().has_stopped()) {
    return "the search was stopped (--stop-after)";
  }
  if (of_.after_defect != nullptr && of_.after_defect->is_over(table_)) {
    return of_.after_defect->text();
  }
  if (seconds + of_.gone >= options_.max_seconds * of_.share) {
    return fmt::format(
        "the limit of {} s was reached (--max-time){}",
        report::rounded_seconds(options_.max_seconds),
        of_.share < 1 ? fmt::format(
                            "; {} s of them are the search's",
                            report::rounded_seconds(options_.max_seconds * of_.share)
                        )
                      : ""
    );
  }
  if (seconds >= next_look_) {
    next_look_ = seconds + seconds_between_looks;
    if (most_bytes_ == 0) {
      most_bytes_ = usual_limit();
    }
    const std::uint64_t table = memory_of_file(table_.fd());
    // The kernel walks all pages to say what is private: asked only where it may matter.
    memory_ = table + private_memory_at_most(leader);
    if (memory_ > most_bytes_ && table + private_memory(leader) > most_bytes_) {
      return fmt::format(
          "the limit of {} MiB was reached (--max-memory)",
          report::with_thousands(most_bytes_ / mebibyte)
      );
    }
  }
  return {};
}

Progress Watch::progress(double seconds) {
  Progress progress = progress_of(table_);
  if (of_.add_others) {
    of_.add_others(progress);
  }
  progress.search_seconds = seconds;
  progress.seconds = seconds_in_all();
  progress.states_per_second = seconds > 0 ? static_cast<double>(progress.states) / seconds : 0;
  progress.memory = memory_ != 0 ? memory_ : memory_of_file(table_.fd()); // too early for a look
  return progress;
}

double Watch::seconds_in_all() const {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - of_.begun).count();
}

void Watch::show_progress(double seconds) {
  if (of_.show && seconds >= next_line_) {
    next_line_ = seconds + seconds_between_lines;
    line_shown_ = true;
    fmt::print(
        stderr,
        "\r{}\033[K",
        of_.sheet != nullptr ? progress_text(*of_.sheet, seconds_in_all())
                             : progress_text(progress(seconds))
    );
    std::fflush(stderr);
  }
  if (seconds >= next_record_) {
    next_record_ = seconds + seconds_between_records;
    record_progress(seconds, /*is_last=*/false);
  }
}

/// A line of the file, if there is one.
void Watch::record_progress(double seconds, bool is_last) {
  if (of_.file != nullptr) {
    of_.file->add(
        of_.sheet != nullptr ? progress_json(*of_.sheet, seconds_in_all(), is_last)
                             : progress_json(progress(seconds), is_last)
    );
  }
}

/// Processes stand still for a tenth of the time at most.
void Watch::keep(pid_t leader, double seconds) {
  constexpr double share = 10;
  if (!of_.keeping.keep || seconds < next_keep_) {
    return;
  }
  const auto begun = std::chrono::steady_clock::now();
  keep_still(leader, table_, of_.keeping.keep);
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begun;
  next_keep_ = seconds + took.count() + std::max(of_.keeping.seconds_between, share * took.count());
}

void Watch::forget_log() const {
  constexpr off_t kept = 64 * kibibyte;
  struct stat status{};
  if (of_.log >= 0 && ::fstat(of_.log, &status) == 0 && status.st_size > kept) {
    ::fallocate(of_.log, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, kept, status.st_size - kept);
  }
}

void Watch::clear_line() const {
  if (line_shown_) {
    fmt::print(stderr, "\r\033[K");
    std::fflush(stderr);
  }
}

} // namespace heddle::explore
