// Implements processes.h.
#include "explore/search/processes.h"

#include "explore/process/fresh_memory.h"
#include "explore/search/explorer.h"

#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>

namespace heddle::explore {

namespace {

// Processes that wait for a child, at most: each holds a copy of what it has touched.
constexpr int max_depth = 4000;

} // namespace

Processes::Processes(Ground& ground, News& news, Way& way)
    : ground_(ground),
      table_(ground.table),
      news_(news),
      way_(way),
      board_(table_.work_board()) {}

pid_t Processes::fork_child() {
  const pid_t parent = ::getpid();
  const pid_t child = ground_.threads.fork_process();
  if (child == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL); // nobody stays behind if the tool is killed
    if (::getppid() != parent) {
      ::_exit(finished_exit_code);
    }
    if (!ground_.files.make_own()) {
      table_.add_event(EventKind::LeftOut, 0, 0, "files that cannot be opened once more");
    }
  }
  return child;
}

int Processes::wait_for(pid_t child) {
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return status;
}

pid_t Processes::fork_searcher(Searcher& searcher, std::optional<WorkBoard::Family> family) {
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
    way_.begin_part();
    helpers_.clear();
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

bool Processes::ended_well(const Searcher& searcher) {
  const int status = wait_for(searcher.id);
  const bool well = look_at_end_of_child(status, searcher.process);
  table_.remove_process(searcher.process);
  return well;
}

bool Processes::fork_for(const Node& node) {
  Course& course = way_.course();
  if (depth_ >= max_depth) {
    table_.add_event(EventKind::Incomplete, node.state, 0, "executions are too long to explore");
    course.give_up();
    return false;
  }
  const Course::Fork fork = course.before_fork(way_.nodes().size());
  const bool helps = !course.repeats() && table_.help_wanted() && table_.take_permit();
  if (helps) {
    course.give_up();
  }
  way_.show_open(); // it may wait
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
    course.give_up();
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
  course.after_fork(fork);
  return false;
}

bool Processes::look_at_end_of_child(int status, std::uint32_t process) {
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

void Processes::finish() {
  way_.abandon_open();
  news_.note_facts();
  news_.exchange();
  news_.tell_refuted();
  leave_family();
  if (has_permit_) {
    table_.give_permit();
  }
  for (const Searcher& helper : helpers_) {
    if (!ended_well(helper)) {
      table_.give_permit();
    }
  }
  leave(ground_);
}

void Processes::unrepeatable() {
  table_.note(Fact::Unrepeatable);
  finish();
}

void Processes::note_circle() {
  table_.note(Fact::Circle);
  if (starts_at_once(ground_.options) && !ground_.purpose.one_way()) {
    finish(); // for nothing
  }
}

WorkBoard::Family Processes::found_family() {
  if (!family_) {
    family_ = table_.process();
    board_.found(*family_);
  }
  return *family_;
}

void Processes::leave_family() {
  if (family_) {
    board_.quit(table_.process());
    family_.reset();
  }
}

void Processes::lose_family() {
  family_.reset();
  has_permit_ = false;
}

} // namespace heddle::explore
