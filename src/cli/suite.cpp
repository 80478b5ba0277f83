// Implements suite.h. Each program is checked in a process of its own, forked from this one: one
// that crashes, or takes too much memory, does not take the others with it.
#include "cli/suite.h"

#include "base/check.h"
#include "cli/check.h"
#include "cli/commands.h"
#include "cli/suite_file.h"
#include "explore/explored_process.h"
#include "explore/interruption.h"
#include "report/render.h"
#include "report/suite.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <map>

namespace heddle::cli {
namespace {

std::string contents_of(int fd) {
  std::string text(static_cast<std::size_t>(std::max<off_t>(::lseek(fd, 0, SEEK_END), 0)), '\0');
  std::size_t at = 0;
  while (at < text.size()) {
    const ssize_t bytes = ::pread(fd, text.data() + at, text.size() - at, static_cast<off_t>(at));
    if (bytes <= 0) {
      break;
    }
    at += static_cast<std::size_t>(bytes);
  }
  text.resize(at);
  return text;
}

void write_all(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t bytes = ::write(fd, text.data(), text.size());
    if (bytes < 0 && errno == EINTR) {
      continue;
    }
    if (bytes <= 0) {
      return; // what is cut off is no result, and the reader says so
    }
    text.remove_prefix(static_cast<std::size_t>(bytes));
  }
}

/// The options of one program, as if they stood on a command line of their own.
Result<CheckOptions> options_of(const SuiteEntry& entry) {
  std::vector<std::string> words{"check"};
  words.insert(words.end(), entry.options.begin(), entry.options.end());
  words.push_back(entry.program);
  if (entry.program.ends_with(".cu")) {
    words.emplace_back("--");
  }
  words.insert(words.end(), entry.arguments.begin(), entry.arguments.end());
  Options options;
  const Parsed parsed = parse_command_line(words, options);
  if (parsed.command != Command::Check) {
    std::string text = parsed.text.substr(0, parsed.text.find('\n'));
    constexpr std::string_view prefix = "heddle: error: ";
    if (text.starts_with(prefix)) {
      text.erase(0, prefix.size());
    }
    return input_error(fmt::format("{}: {}", entry.written, text));
  }
  return options.check;
}

report::SuiteResult empty_result(const SuiteEntry& entry) {
  report::SuiteResult result;
  result.name = entry.name;
  result.expected = entry.expected;
  return result;
}

/// In the process of that program.
report::SuiteResult check_entry(const SuiteEntry& entry, const CheckOptions& options) {
  report::SuiteResult result = empty_result(entry);
  auto report = check_program(options);
  if (!report) {
    result.error = report.error().message;
    result.exit_code = report_error(report.error());
    return result;
  }
  result.verdict = report::name(report->verdict());
  result.exit_code = exit_code_of(options, *report);
  result.as_expected = report::is_as_expected(*report, entry.expected);
  result.seconds = report->seconds;
  const auto in = [&](const char* format) {
    return render(*report, {.format = format, .file = "a file"}, entry.program);
  };
  result.text = in("text");
  result.json = in("json");
  if (result.as_expected) {
    report::mark_expected(*report, entry.written);
  }
  result.sarif = in("sarif");
  return result;
}

/// The programs that are being checked, each by a process.
class Running {
public:
  std::size_t count() const { return running_.size(); }

  void start(std::size_t number, const SuiteEntry& entry, const CheckOptions& options) {
    const One one{
        .number = number,
        .result = ::memfd_create("heddle-result", MFD_CLOEXEC),
        .messages = ::memfd_create("heddle-messages", MFD_CLOEXEC)
    };
    const pid_t parent = ::getpid();
    const pid_t child = ::fork();
    HEDDLE_CHECK(child >= 0, "cannot fork: {}", std::strerror(errno));
    if (child == 0) {
      ::prctl(PR_SET_PDEATHSIG, SIGKILL); // and with it all that it has started
      if (::getppid() != parent) {
        ::_exit(report::exit_code::internal);
      }
      ::setpgid(0, 0); // Ctrl-C is for the suite, which passes it on
      ::dup2(one.messages, STDOUT_FILENO);
      ::dup2(one.messages, STDERR_FILENO);
      const report::SuiteResult result = check_entry(entry, options);
      std::fflush(nullptr);
      write_all(one.result, report::encode(result));
      ::_exit(0);
    }
    running_.emplace(child, one);
  }

  /// Waits for one of them: its number and what it has found.
  std::pair<std::size_t, report::SuiteResult> wait(const Suite& suite) {
    int status = 0;
    pid_t child = 0;
    bool told = false;
    for (;;) {
      child = ::waitpid(-1, &status, 0);
      if (child > 0 && running_.contains(child)) {
        break;
      }
      if (const int signal = explore::Interruption::received(); signal != 0 && !told) {
        told = true;
        for (const auto& [process, one] : running_) {
          ::kill(process, signal); // each says what it has seen so far
        }
      }
    }
    const One one = running_.at(child);
    running_.erase(child);
    const SuiteEntry& entry = suite.entries[one.number];
    auto result = report::decode_suite_result(contents_of(one.result));
    const std::string messages = contents_of(one.messages);
    ::close(one.result);
    ::close(one.messages);
    if (!result) {
      result = empty_result(entry);
      result->exit_code = report::exit_code::internal;
      result->error = WIFSIGNALED(status)
                          ? fmt::format("the check was ended by {}", ::strsignal(WTERMSIG(status)))
                          : fmt::format("the check ended with code {}", WEXITSTATUS(status));
    }
    if (result->verdict.empty() && !messages.empty()) { // what nvcc says is in them
      result->text = messages;
    }
    return {one.number, std::move(*result)};
  }

private:
  struct One {
    std::size_t number = 0;
    int result = -1, messages = -1;
  };
  std::map<pid_t, One> running_;
};

std::string rendered(const report::SuiteReport& suite, const std::string& format) {
  if (format == "json") {
    return report::render_json(suite);
  }
  if (format == "sarif") {
    return report::render_sarif(suite);
  }
  if (format == "junit") {
    return report::render_junit(suite);
  }
  return report::render_text(suite);
}

} // namespace

int suite_command(const CheckOptions& options) {
  const auto begun = std::chrono::steady_clock::now();
  const auto suite = read_suite(options.suite);
  if (!suite) {
    return report_error(suite.error());
  }
  const std::size_t jobs = explore::jobs_of(options.workers);
  // What the cores are not needed for otherwise, each search may use.
  const auto each = static_cast<std::uint32_t>(
      std::max<std::size_t>(jobs / std::max<std::size_t>(suite->entries.size(), 1), 1)
  );
  std::vector<CheckOptions> checks;
  for (const SuiteEntry& entry : suite->entries) { // all errors before hours have gone by
    auto own = options_of(entry);
    if (!own) {
      return report_error(own.error());
    }
    if (own->workers.jobs == 0) {
      own->workers.jobs = each;
    }
    checks.push_back(std::move(*own));
  }
  const explore::Interruption interruption;
  report::SuiteReport report;
  report.file = suite->file;
  report.results.resize(suite->entries.size());
  Running running;
  std::size_t next = 0;
  while (next < suite->entries.size() || running.count() != 0) {
    if (explore::Interruption::received() != 0) {
      for (; next < suite->entries.size(); ++next) {
        report.results[next] = empty_result(suite->entries[next]);
        report.results[next].error = explore::Interruption::text();
        report.results[next].exit_code = report::exit_code::budget;
      }
    }
    if (next < suite->entries.size() && running.count() < jobs) {
      running.start(next, suite->entries[next], checks[next]);
      ++next;
    } else if (running.count() != 0) {
      auto [number, result] = running.wait(*suite);
      report.results[number] = std::move(result);
    }
  }
  report.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count();
  if (const auto written =
          write_result(rendered(report, options.output.format), options.output.file);
      !written) {
    return report_error(written.error());
  }
  const int signal = explore::Interruption::received();
  return signal != 0 ? report::exit_code::signal + signal : report.exit_code();
}

} // namespace heddle::cli
