// Implements explored_process.h.
#include "explore/explored_process.h"

#include "explore/explorer.h"
#include "explore/phase_time.h"
#include "explore/watch.h"

#include <fmt/format.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstring>
#include <stop_token>
#include <thread>
#include <utility>

namespace heddle::explore {

namespace {

std::string read_log(int fd) {
  std::string text(4000, '\0');
  const ssize_t bytes = ::pread(fd, text.data(), text.size(), 0);
  text.resize(bytes > 0 ? static_cast<std::size_t>(bytes) : 0);
  while (!text.empty() && text.back() == '\n') {
    text.pop_back();
  }
  return text;
}

constexpr auto between_looks_at_pages = std::chrono::milliseconds(1);

/// What a message of a process of ours begins with that the tool's own does, too.
constexpr std::string_view error_prefix = "heddle: error: ";

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

Result<Search>
search(const CheckRequest& request, ForkServer& server, Handover handover, const SearchPart& part) {
  const Options& options = handover.options;
  const bool everything = handover.replay < 0 && part.sheet == nullptr && part.keep_to.empty();
  const StateTable::Limits limits{
      .max_states = options.max_states,
      .processes = everything ? jobs_of(request.workers) : 1,
      .alone = request.workers.states_alone
  };
  TRY(StateTable table,
      part.checkpoint != nullptr ? part.checkpoint->table(options, limits)
                                 : StateTable::create(limits));
  const auto keep = [&] { part.checkpoint->save(options, table); };
  const bool is_kept = part.checkpoint != nullptr && part.checkpoint->is_wanted();
  table.keep_to(part.keep_to);
  handover.table = table.fd();
  const int log = ::memfd_create("heddle-log", 0);
  PhaseTime start("start of a search (and of the program)");
  if (auto forked = server.fork(handover, log); !forked) {
    ::close(log);
    return unexpected(forked.error());
  }
  start.end();
  PhaseTime searching("search");
  const Watch::Of of{
      .show = request.show_progress,
      .log = log,
      .share = part.share,
      .sheet = part.sheet,
      .begun = request.begun,
      .file = request.progress_file,
      .keep = is_kept ? keep : std::function<void()>(),
      .seconds_between_keeps = is_kept ? part.checkpoint->seconds_between() : 0
  };
  std::jthread pages;
  if (limits.processes > 1) {
    pages = std::jthread([&](const std::stop_token& over) {
      for (StateTable::Ready ready; !over.stop_requested();
           std::this_thread::sleep_for(between_looks_at_pages)) {
        table.make_ready(ready);
      }
    });
  }
  const auto [status, limit] =
      Watch(table, options, of).wait_for({server.leader(), server.ended(), [&] {
                                            return server.status();
                                          }});
  pages = {}; // nobody writes to the table any more
  table.users_have_died();
  searching.end();
  if (is_kept && (!limit.empty() || table.saw(Fact::OutOfStates))) {
    keep();
  }
  const std::string said = read_log(log);
  ::close(log);
  const bool orderly = status && WIFEXITED(*status) && WEXITSTATUS(*status) == finished_exit_code;
  const bool sampled = part.sheet != nullptr && part.sheet->done > 0;
  if (table.state_count() == 0 && !sampled && !orderly && status) {
    return input_error(
        said.empty()
            ? fmt::format(
                  "{} ended ({}) before any CUDA call, so there is nothing to check; heddle run "
                  "shows what it does",
                  request.program,
                  WIFEXITED(*status) ? fmt::format("exit code {}", WEXITSTATUS(*status))
                                     : fmt::format("signal {}", WTERMSIG(*status))
              )
            : said.substr(said.starts_with(error_prefix) ? error_prefix.size() : 0)
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
  if (everything) {
    const PhaseTime time("gaps");
    Team team(jobs_of(request.workers));
    table.close_gaps(team);
  }
  return Search{std::move(table), orderly, limit};
}

} // namespace heddle::explore
