// The processes of a search: one for each way that cannot be gone back, and as many at the same
// time as have a permit of the table (explorer_work.cpp has how they share the work).
#include "explore/process/fresh_memory.h"
#include "explore/search/explorer_impl.h"

#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <span>

namespace heddle::explore {

namespace {

// Processes that wait for a child, at most: each holds a copy of what it has touched.
constexpr int max_depth = 4000;

} // namespace

/// 0 in the child, which ends with its parent; negative: no process could be made.
pid_t Explorer::fork_child() {
  const pid_t parent = ::getpid();
  const pid_t child = threads_.fork_process();
  if (child == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL); // nobody stays behind if the tool is killed
    if (::getppid() != parent) {
      ::_exit(finished_exit_code);
    }
  }
  return child;
}

/// How the child has ended, as waitpid() tells it.
int Explorer::wait_for(pid_t child) {
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return status;
}

/// As fork_child(), for a part of this search; for a member of `family`, if there is one.
pid_t Explorer::fork_searcher(Searcher& searcher, std::optional<WorkBoard::Family> family) {
  const auto process = table_.add_process();
  if (!process) {
    errno = EAGAIN;
    return -1;
  }
  searcher.process = *process;
  if (family) {
    board_.join(*family, *process);
  }
  searcher.id = fork_child();
  if (searcher.id == 0) {
    ++depth_;
    if (depth_ % forks_between_fresh_memory == 0) {
      make_memory_fresh();
    }
    queue_ = 0;
    since_open_ = 0;
    helpers_.clear();
    takes_errands_ = false;
    family_ = family;
    table_.become(searcher.process);
  } else if (searcher.id < 0) {
    if (family) {
      board_.quit(*process);
    }
    table_.remove_process(searcher.process);
  }
  return searcher.id;
}

/// Waits until it has ended. True if it has done all that was its own to do.
bool Explorer::ended_well(const Searcher& searcher) {
  const int status = wait_for(searcher.id);
  const bool well = look_at_end_of_child(status, searcher.process);
  table_.remove_process(searcher.process);
  return well;
}

/// True in the child, which has the choice to itself. The parent waits until it has ended, or goes
/// on at the same time if another process may take part.
bool Explorer::fork_for(const Node& node) {
  if (depth_ >= max_depth) {
    table_.add_event(EventKind::Incomplete, node.state, 0, "executions are too long to explore");
    course_.give_up();
    return false;
  }
  const Course::Fork course = course_.before_fork(path_.size());
  const bool helps = !course_.repeats() && table_.help_wanted() && table_.take_permit();
  if (helps) {
    course_.give_up();
  }
  show_open(); // it may wait
  Searcher child;
  const pid_t id = fork_searcher(child);
  if (id == 0) {
    return true;
  }
  if (id < 0) {
    if (helps) {
      table_.give_permit();
    }
    table_.add_event(
        EventKind::Incomplete,
        node.state,
        0,
        fmt::format("cannot fork: {}", std::strerror(errno))
    );
    course_.give_up();
    return false;
  }
  if (helps) {
    helpers_.push_back(child);
    return false;
  }
  // It goes on with this one's permit. One that crashes has not given it back.
  if (ended_well(child)) {
    table_.go_on();
  }
  course_.after_fork(course);
  return false;
}

/// False if it has left something undone; then it is noted what.
bool Explorer::look_at_end_of_child(int status, std::uint32_t process) {
  if (WIFEXITED(status) && WEXITSTATUS(status) == finished_exit_code) {
    return true;
  }
  const auto [from, site] = table_.position(process);
  if (table_.has_fault_from(from)) {
    return false; // it has said why
  }
  if (WIFSIGNALED(status)) {
    table_.add_event(
        EventKind::Crash,
        from,
        site,
        fmt::format("the host program was ended by {}", ::strsignal(WTERMSIG(status)))
    );
  } else {
    table_.add_event(
        EventKind::Incomplete,
        from,
        site,
        fmt::format("a process ended by itself with code {}", WEXITSTATUS(status))
    );
  }
  return false;
}

/// What this process has noted of accesses (reduce/sums.h) the others have to know, and the other
/// way round: an assumption may be wrong because of what two of them have seen.
void Explorer::exchange_news() {
  if (one_way()) {
    return;
  }
  for (const reduce::Sums::Note& note : stepper_.take_news()) {
    static_assert(sizeof note <= StateTable::most_told);
    const auto number = table_.tell(std::as_bytes(std::span(&note, 1)));
    if (!number) {
      table_.add_event(EventKind::Incomplete, 0, 0, "more accesses than can be kept in mind");
      leave();
    }
    heard_ += *number == heard_ ? 1 : 0; // nobody else has said anything meanwhile
  }
  for (; heard_ < table_.told(); ++heard_) {
    reduce::Sums::Note note;
    std::memcpy(&note, table_.told(heard_).data(), sizeof note);
    stepper_.learn(note);
  }
}

void Explorer::finish() {
  abandon_open();
  note_facts();
  exchange_news();
  const bool sums = stepper_.sums_clash(); // it may be what others have said last that shows it
  if ((sums || stepper_.some_last() || stepper_.refuted()) && !one_way()) {
    if (sums) {
      table_.note(Fact::SumsClash);
    }
    table_.learn(stepper_.learned());
  }
  if (options_.starts_at_once && stepper_.choice_met_command()) {
    table_.note(Fact::Circle); // the same: one has seen the command, another one the choice
  }
  leave_family();
  if (has_permit_) {
    table_.give_permit();
  }
  for (const Searcher& helper : helpers_) {
    if (!ended_well(helper)) {
      table_.give_permit();
    }
  }
  leave();
}

/// Ends this process. That is not the end of the program, though the host may be what runs.
void Explorer::leave() {
  over_ = true;
  ::_exit(finished_exit_code);
}

} // namespace heddle::explore
