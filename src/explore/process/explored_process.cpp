// Implements explored_process.h.
#include "explore/process/explored_process.h"

#include "base/processors.h"
#include "explore/process/phase_time.h"
#include "explore/process/watch.h"
#include "explore/ranks/divided_search.h"
#include "explore/search/explorer.h"
#include "explore/verdict/early_crash.h"

#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstring>
#include <optional>
#include <stop_token>
#include <thread>
#include <utility>

namespace heddle::explore {

std::string read_log(int fd) {
  std::string text(4000, '\0');
  struct stat file = {};
  ::fstat(fd, &file);
  const off_t begin = std::max<off_t>(0, file.st_size - static_cast<off_t>(text.size()));
  const ssize_t bytes = ::pread(fd, text.data(), text.size(), begin);
  text.resize(bytes > 0 ? static_cast<std::size_t>(bytes) : 0);
  while (!text.empty() && text.back() == '\n') {
    text.pop_back();
  }
  return text;
}

namespace {

constexpr auto between_looks_at_pages = std::chrono::milliseconds(1);

/// What a message of a process of ours begins with that the tool's own does, too.
constexpr std::string_view error_prefix = "heddle: error: ";

/// What it said of an error of its own, beside what the program says; empty: nothing.
std::string own_error(const std::string& said) {
  const std::size_t at = said.rfind(error_prefix);
  const bool begins_line = at == 0 || (at != std::string::npos && said[at - 1] == '\n');
  return begins_line ? said.substr(at + error_prefix.size()) : "";
}

/// Processes are going to write to them soon.
std::jthread pages_made_ready(const StateTable& table) {
  return std::jthread([&table](const std::stop_token& over) {
    for (StateTable::Ready ready; !over.stop_requested();
         std::this_thread::sleep_for(between_looks_at_pages)) {
      table.make_ready(ready);
    }
  });
}

} // namespace

bool ended_well(const std::optional<int>& status) {
  return status && WIFEXITED(*status) && WEXITSTATUS(*status) == finished_exit_code;
}

void note_end(
    StateTable& table,
    const std::optional<int>& status,
    const std::string& limit,
    const std::string& said
) {
  const auto [from, site] = table.position(/*process=*/0);
  if (!limit.empty()) {
    table.add_event(EventKind::Incomplete, 0, 0, limit);
  }
  if (status && WIFSIGNALED(*status)) {
    table.add_event(
        EventKind::Crash,
        from,
        site,
        fmt::format("the host program was ended by {}", ::strsignal(WTERMSIG(*status)))
    );
  }
  if (status && WIFEXITED(*status) && !ended_well(status) && limit.empty()) {
    // Nobody took it for an end.
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
}

namespace {

/// The program ended before there was anything to search.
std::string nothing_to_check(const CheckRequest& request, int status, const std::string& said) {
  const std::string& kernel = request.schedule.kernel;
  return fmt::format(
      "{} ended ({}) before any {}, so there is nothing to check; heddle run shows what it "
      "does{}{}",
      request.program,
      WIFEXITED(status) ? fmt::format("exit code {}", WEXITSTATUS(status))
                        : fmt::format("signal {}", WTERMSIG(status)),
      kernel.empty() ? "CUDA call" : fmt::format("launch of a kernel '{}'", kernel),
      said.empty() ? "" : ". It said:\n",
      said
  );
}

} // namespace

std::uint32_t jobs_of(const Workers& workers) {
  return workers.jobs != 0 ? workers.jobs : usable_processors();
}

Result<SearchResult>
search(const CheckRequest& request, ForkServer& server, Handover handover, const SearchPart& part) {
  const Options& options = handover.options;
  const bool everything = handover.replay < 0 && part.sheet == nullptr && part.keep_to.empty();
  const bool divides = everything && request.peers != nullptr && request.peers->all_there();
  const StateTable::Limits limits{
      .max_states = options.max_states,
      .processes = everything ? jobs_of(request.workers) : 1,
      .alone = request.workers.states_alone,
      .divided = divides
  };
  TRY(StateTable table,
      part.checkpoint != nullptr ? part.checkpoint->table(options, limits)
                                 : StateTable::create(limits));
  const bool is_kept = part.checkpoint != nullptr && part.checkpoint->is_wanted();
  table.keep_to(part.keep_to);
  handover.table = table.fd();
  std::atomic<bool> is_given_up = false; // a rank is lost, and its share with it
  std::optional<DividedSearch> divided;
  if (divides) {
    divided.emplace(
        request,
        options,
        DividedSearch::Of{
            .table = table,
            .end_all =
                [&] {
                  is_given_up = true;
                  server.end_all();
                },
            .checkpoint = is_kept ? part.checkpoint : nullptr
        }
    );
  }
  const auto keep = [&] {
    if (divided) {
      divided->keep();
    } else {
      part.checkpoint->save(options, table);
    }
  };
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
      .gone = part.begun
                  ? std::chrono::duration<double>(std::chrono::steady_clock::now() - *part.begun)
                        .count()
                  : 0,
      .sheet = part.sheet,
      .begun = request.begun,
      .file = handover.replay < 0 ? request.progress_file.get() : nullptr, // not of a repetition
      .keeping = is_kept ? Keeping{keep, part.checkpoint->seconds_between()} : Keeping(),
      .add_others = divided ? [&](Progress& progress) { divided->add_others(progress); }
                            : std::function<void(Progress&)>(),
      .after_defect = part.after_defect
  };
  std::jthread pages;
  if (limits.processes > 1) {
    pages = pages_made_ready(table);
  }
  bool kept_at_end = false;
  const auto wait = [&](const Watch::Of& of) {
    return Watch(table, options, of)
        .wait_for(
            {server.leader(),
             server.ended(),
             [&] { return server.status(); },
             [&] {
               kept_at_end = is_kept && !divided && keep_still(server.leader(), table, keep);
               server.end_all();
             }}
        );
  };
  auto [status, limit] = wait(of);
  if (divided) {
    if (divided->goes_on(status, limit)) {
      if (server.fork(handover, log)) {
        auto [again, limit_again] = wait(divided->rest(of, options));
        status = again;
        limit = limit_again;
      } else {
        limit = "the program could not be started again for work of other ranks";
      }
    }
    pages = {}; // nobody writes to the table any more, but what follows
    table.users_have_died();
    if (const auto together = divided->put_together(limit); !together) {
      limit = together.error().message;
    }
  }
  if (is_given_up) {
    status = std::nullopt; // it is no crash of the program's
  }
  pages = {}; // nobody writes to the table any more
  table.users_have_died();
  searching.end();
  if (is_kept && !kept_at_end && !(divided && divided->was_divided()) &&
      (!limit.empty() || table.saw(Fact::OutOfStates))) {
    part.checkpoint->save(options, table);
  }
  const std::string said = read_log(log);
  ::close(log);
  const bool sampled = part.sheet != nullptr && part.sheet->done > 0;
  if (!sampled && status && limit.empty() && add_early_crash(table, *status, said)) {
    return SearchResult{std::move(table), /*finished=*/false, /*limit=*/""};
  }
  if (table.state_count() == 0 && !sampled && !ended_well(status) && status) {
    const std::string error = own_error(said);
    return input_error(error.empty() ? nothing_to_check(request, *status, said) : error);
  }
  note_end(table, status, limit, said);
  if (everything) {
    const PhaseTime time("gaps");
    Team team(jobs_of(request.workers));
    table.close_gaps(team);
  }
  return SearchResult{std::move(table), ended_well(status), limit};
}

} // namespace heddle::explore
