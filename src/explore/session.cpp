// Implements session.h.
#include "explore/session.h"

#include "explore/explorer.h"
#include "explore/source_places.h"
#include "explore/state_table.h"
#include "explore/verdict.h"
#include "explore/watch.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>

namespace heddle::explore {

namespace {

constexpr int cannot_start = 126;

[[noreturn]] void become_program(const CheckRequest& request, const std::string& options, int log) {
  ::setpgid(0, 0); // so that all its processes can be ended together
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  ::personality(ADDR_NO_RANDOMIZE);
  const rlimit no_core{0, 0};
  ::setrlimit(RLIMIT_CORE, &no_core);
  const int nothing = ::open("/dev/null", O_RDWR | O_CLOEXEC);
  ::dup2(nothing, STDIN_FILENO);
  ::dup2(nothing, STDOUT_FILENO);
  ::dup2(log, STDERR_FILENO);
  for (const auto& [name, value] : request.environment) {
    ::setenv(name.c_str(), value.c_str(), 1);
  }
  ::setenv("HEDDLE_MODE", "check", 1);
  ::setenv("HEDDLE_EXPLORE", options.c_str(), 1);
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

std::string read_log(int fd) {
  std::string text(4000, '\0');
  const ssize_t bytes = ::pread(fd, text.data(), text.size(), 0);
  text.resize(bytes > 0 ? static_cast<std::size_t>(bytes) : 0);
  while (!text.empty() && text.back() == '\n') {
    text.pop_back();
  }
  return text;
}

struct Search {
  StateTable table;
  bool finished = false;
};

/// One exploration, in a process of its own.
Result<Search> search(const CheckRequest& request, const Options& options) {
  TRY(StateTable table, StateTable::create({.max_states = options.max_states}));
  const int log = ::memfd_create("heddle-log", 0);
  const pid_t child = ::fork();
  if (child < 0) {
    return input_error(fmt::format("cannot start a process: {}", std::strerror(errno)));
  }
  if (child == 0) {
    become_program(request, to_text(Handover{.table = table.fd(), .options = options}), log);
  }
  const auto [status, limit] = Watch(table, options, request.show_progress).wait_for(child);
  const std::string said = read_log(log);
  ::close(log);
  const bool orderly = status && WIFEXITED(*status) && WEXITSTATUS(*status) == finished_exit_code;
  if (table.state_count() == 0 && !orderly && (status || said.empty())) {
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
    const auto [from, site] = table.position();
    table.add_event(
        EventKind::Crash,
        from,
        site,
        fmt::format("the host program was ended by {}", ::strsignal(WTERMSIG(*status)))
    );
  }
  return Search{std::move(table), orderly};
}

} // namespace

std::vector<std::string> instrumentation_flags(const std::string& library_folder) {
  return {
      "-Xcompiler",
      "-fsanitize=thread,-g,--param=tsan-distinguish-volatile=1",
      // GCC's libtsan knows no volatile accesses; ours does, and is found first.
      "-L" + library_folder
  };
}

Result<report::Report> check(const CheckRequest& request) {
  TRY_VOID(check_implemented(request.options));
  const auto start = std::chrono::steady_clock::now();
  TRY(const Search all, search(request, request.options));
  HostSources sources(request.program);
  JudgeOptions options;
  options.finished = all.finished;
  options.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  report::Report report =
      judge(all.table, [&](const Site& site) { return sources.resolve(site); }, options);
  if (const std::string assumed = assumptions(request.options); !assumed.empty()) {
    report.bounds += ", assuming " + assumed;
  }
  if (report.verdict() == report::Verdict::Terminates && all.table.saw(Fact::Dependency)) {
    // Does it end because grids wait for each other? Only a search without that can tell.
    Options without = request.options;
    without.ignore_grid_order = true;
    const auto unordered = search(request, without);
    if (unordered && !find_endless(unordered->table.load()).endless.empty()) {
      report.rests_on.emplace_back(rule_id(Rule::Dependency));
    }
  }
  return report;
}

} // namespace heddle::explore
