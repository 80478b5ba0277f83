// Implements ranks.h.
#include "cli/ranks.h"

#include "cli/launch.h"
#include "explore/explored_process.h"
#include "explore/interruption.h"
#include "explore/peers.h"

#include "mpi/ranks.h"
#include <dlfcn.h>
#include <fmt/format.h>
#include <poll.h>
#include <sched.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <thread>
#include <vector>

namespace heddle::cli {
namespace {

using Clock = std::chrono::steady_clock;
constexpr auto between_looks = std::chrono::milliseconds(2);
constexpr auto patience = std::chrono::seconds(300); // until all have compiled
constexpr auto between_looks_of_the_idle = std::chrono::milliseconds(20);
constexpr std::string_view over = "over?", all_sent = "all sent", bye = "bye",
                           bye_without_one = "bye, one is lost", bye_before = "bye, before ";

bool is_set(const char* name) {
  return std::getenv(name) != nullptr;
}

int number_in(const char* name) {
  const char* const value = std::getenv(name);
  return value != nullptr ? std::atoi(value) : 0;
}

/// What launchers say: all ranks, those of this machine, this one.
struct Variables {
  const char *size, *size_here, *rank;
};
constexpr std::array variables_of_launchers{
    Variables{"OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_SIZE", "OMPI_COMM_WORLD_RANK"},
    Variables{"PMI_SIZE", "MPI_LOCALNRANKS", "PMI_RANK"}, // Hydra
};

/// The library that talks to the launcher; null without a launcher.
const char* library_name() {
  if (is_set("OMPI_COMM_WORLD_SIZE")) {
    return "libheddle_mpi.so";
  }
  if (is_set("PMI_SIZE") && !is_set("PMIX_RANK")) {
    return "libheddle_mpich.so"; // Hydra, and Slurm's PMI-2
  }
  return is_set("PMIX_RANK") ? "libheddle_mpi.so" : nullptr;
}

/// Open MPI takes a third of a second to look for networks. Ranks of one machine need none.
class WithoutNetworks {
public:
  WithoutNetworks() : set_(Ranks::told_on_one_machine() && !is_set(name)) {
    if (set_) {
      ::setenv(name, "ob1", /*overwrite=*/1);
    }
  }
  ~WithoutNetworks() {
    if (set_) {
      ::unsetenv(name); // programs that are checked get this environment
    }
  }
  WithoutNetworks(const WithoutNetworks&) = delete;
  WithoutNetworks& operator=(const WithoutNetworks&) = delete;

private:
  static constexpr const char* name = "OMPI_MCA_pml";
  bool set_;
};

/// "PID NAMESPACE": which processes can see each other's numbers.
std::string name_of_process() {
  struct stat space{};
  ::stat("/proc/self/ns/pid", &space);
  return fmt::format("{} {}", ::getpid(), space.st_ino);
}

/// Its number can be used here.
bool can_be_seen(const std::string& name) {
  const std::string here = name_of_process();
  const std::size_t space = name.find(' ');
  return space != std::string::npos && name.substr(space) == here.substr(here.find(' '));
}

/// Has that process ended, now or within so many milliseconds (-1: wait until it has)? False if it
/// cannot be seen from here.
bool ends_within(const std::string& name, int timeout) {
  if (!can_be_seen(name)) {
    return false;
  }
  const int process = static_cast<int>(::syscall(SYS_pidfd_open, std::atoi(name.c_str()), 0));
  if (process < 0) {
    return errno == ESRCH;
  }
  pollfd ended{.fd = process, .events = POLLIN, .revents = 0};
  int count = 0;
  while ((count = ::poll(&ended, 1, timeout)) < 0 && errno == EINTR) {
  }
  ::close(process);
  return count > 0;
}

/// Processes and threads of `process` and below; what ends meanwhile is left out.
void for_all_threads(pid_t process, const std::function<void(pid_t)>& what) {
  std::error_code failure;
  const auto tasks = fmt::format("/proc/{}/task", process);
  for (const auto& thread : std::filesystem::directory_iterator(tasks, failure)) {
    what(std::atoi(thread.path().filename().c_str()));
    std::ifstream children(thread.path() / "children");
    for (pid_t child = 0; children >> child;) {
      for_all_threads(child, what);
    }
  }
}

std::string host_name() {
  std::array<char, 256> name{};
  ::gethostname(name.data(), name.size() - 1);
  return name.data();
}

/// Two lines that differ, and what must not.
std::string encode(const Result<std::map<std::string, std::string>>& what) {
  std::string text = host_name() + "\n" + name_of_process();
  if (!what) {
    return text + "\n!" + what.error().message;
  }
  for (const auto& [key, value] : *what) {
    text += fmt::format("\n{}={}", key, value);
  }
  return text;
}

/// Line 0, 1, … of a text, or what follows from there on.
std::string from_line(const std::string& text, int line) {
  std::size_t begin = 0;
  for (; line > 0 && begin < text.size(); --line) {
    begin = std::min(text.find('\n', begin), text.size() - 1) + 1;
  }
  return text.substr(begin);
}
std::string line_of(const std::string& text, int line) {
  const std::string rest = from_line(text, line);
  return rest.substr(0, rest.find('\n'));
}

/// Why ranks with these cannot work together; empty: they can.
std::string difference(int rank, const std::string& ours, const std::string& theirs) {
  const std::string where = fmt::format("rank {} on {}", rank, line_of(theirs, 0));
  const std::string rest = from_line(theirs, 2);
  if (rest.starts_with('!')) {
    return fmt::format("{}: {}", where, rest.substr(1));
  }
  const std::string own = from_line(ours, 2);
  for (std::size_t a = 0, b = 0; a < own.size() || b < rest.size();) {
    const std::string x = own.substr(a, own.find('\n', a) - a);
    const std::string y = rest.substr(b, rest.find('\n', b) - b);
    if (x != y) {
      return fmt::format(
          "{} has another {} than rank 0: all ranks need the same ({}, {})",
          where,
          x.substr(0, x.find('=')),
          y.substr(y.find('=') + 1),
          x.substr(x.find('=') + 1)
      );
    }
    a += x.size() + 1;
    b += y.size() + 1;
  }
  return "";
}

} // namespace

std::optional<Ranks::Told> Ranks::told_on_one_machine() {
  for (const Variables& names : variables_of_launchers) {
    const int size = number_in(names.size);
    if (size > 0 && is_set(names.rank) && number_in(names.size_here) == size) {
      return Told{.rank = number_in(names.rank), .size = size};
    }
  }
  return std::nullopt;
}

bool Ranks::are_expected() {
  return library_name() != nullptr;
}

bool Ranks::Process::has_ended() const {
  return ends_within(name, 0);
}

void Ranks::without_colour() {
  ::setenv("HEDDLE_COLOR", "never", /*overwrite=*/0);
}

std::string processor_name() {
  std::ifstream in("/proc/cpuinfo");
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with("model name")) {
      return line.substr(std::min(line.find(": ") + 2, line.size()));
    }
  }
  return "unknown";
}

Result<std::unique_ptr<Ranks>> Ranks::join() {
  const char* name = library_name();
  if (name == nullptr) {
    return nullptr;
  }
  TRY(const std::string folder, library_folder());
  const auto cannot = [&](std::string_view why) {
    return input_error(
        fmt::format("started by an MPI launcher, but its MPI cannot be used: {}", why)
    );
  };
  // Open MPI loads parts of itself, which look for its names.
  void* library = ::dlopen(fmt::format("{}/{}", folder, name).c_str(), RTLD_NOW | RTLD_GLOBAL);
  if (library == nullptr) {
    return cannot(::dlerror());
  }
  auto* open = reinterpret_cast<const HeddleRanks* (*)(int)>(::dlsym(library, "heddle_ranks_open"));
  const HeddleRanks* ranks = nullptr;
  if (open != nullptr) {
    const WithoutNetworks meanwhile;
    ranks = open(heddle_ranks_version);
  }
  if (ranks == nullptr) {
    return cannot(fmt::format("{} does not start", name));
  }
  without_colour();
  return std::unique_ptr<Ranks>(new Ranks(ranks));
}

Ranks::~Ranks() {
  std::string rank_0_goes_on;
  const explore::Interruption is_rank_0s; // all get the signal, and that one writes the report
  if (rank() != 0) {
    rank_0_goes_on = await_end();
  } else if (!said_bye_) {
    end_others(bye);
  }
  if (some_lost_) {
    std::fflush(nullptr);
    ranks_->leave(exit_code_);
  }
  if (!finished_) {
    ranks_->finish();
  }
  if (!rank_0_goes_on.empty()) {
    (void)ends_within(rank_0_goes_on, -1);
  }
}

void Ranks::end_before_rank_0() {
  end_others(fmt::format("{}{}", bye_before, name_of_process()));
  if (!some_lost_) {
    ranks_->finish();
    finished_ = true;
  }
}

/// Rank 0. MPI ends only with all ranks, and with nothing under way that nobody receives: so each
/// says when all that it has sent has arrived, and receives until all have said so.
void Ranks::end_others(std::string_view goodbye) {
  said_bye_ = true;
  std::set<int> others;
  for (int other = 1; other < size(); ++other) {
    if (!lost_.contains(other)) {
      others.insert(other);
      send(other, over);
    }
  }
  const auto end = Clock::now() + explore::silence_of_the_dead;
  while (!others.empty() && Clock::now() < end) {
    const auto message = receive(between_looks);
    if (message && message->text == all_sent) {
      others.erase(message->from);
    }
  }
  for (const int other : others) {
    fmt::print(stderr, "heddle: rank {} does not answer any more: nobody waits for it\n", other);
    lost(other);
  }
  for (int other = 1; other < size(); ++other) {
    send(other, some_lost_ ? bye_without_one : goodbye);
  }
}

/// The others. They leave the processor to rank 0. The process that they are to wait for then.
std::string Ranks::await_end() {
  constexpr auto most = explore::silence_of_the_dead / 2; // for one that does not receive any more
  std::optional<Clock::time_point> end;
  bool has_said_so = false;
  for (;;) {
    const auto message = receive(std::chrono::milliseconds(0));
    if (message && message->text.starts_with(bye)) {
      some_lost_ = message->text == bye_without_one;
      const bool goes_on = message->text.starts_with(bye_before);
      return goes_on ? message->text.substr(bye_before.size()) : "";
    }
    if (message && message->text == over) {
      end = Clock::now() + most;
    }
    if (end && !has_said_so && (ranks_->all_sent() != 0 || Clock::now() >= *end)) {
      has_said_so = true;
      send(0, all_sent);
    }
    if (!message) {
      std::this_thread::sleep_for(end ? between_looks : between_looks_of_the_idle);
    }
  }
}

int Ranks::rank() const {
  return ranks_->rank;
}
int Ranks::size() const {
  return ranks_->size;
}
int Ranks::size_here() const {
  return ranks_->size_here;
}

Ranks::Machines Ranks::machines(int each) const {
  const auto leader_of = [&](int rank) {
    return each != 0 ? rank - rank % each : ranks_->leaders[rank];
  };
  Machines machines;
  for (int rank = 0; rank < size(); ++rank) {
    if (leader_of(rank) == rank) {
      machines.leaders.push_back(rank);
    }
    machines.ranks_here +=
        rank != this->rank() && leader_of(rank) == leader_of(this->rank()) ? 1 : 0;
  }
  machines.leads = leader_of(rank()) == rank();
  return machines;
}

std::uint32_t Ranks::borrow_processors() const {
  // What the launcher has bound this rank to is less; if the system does not allow it, it stays so.
  ::sched_setaffinity(0, sizeof ranks_->processors_here, &ranks_->processors_here);
  return explore::jobs_of({});
}

void Ranks::lend_processors(pid_t process) const {
  // What a process starts has what it has. So it is all when a second look has found nothing.
  constexpr int most_looks = 10;
  bool all = false;
  for (int look = 0; look < most_looks && !all; ++look) {
    all = true;
    for_all_threads(process, [&](pid_t thread) {
      cpu_set_t now;
      CPU_ZERO(&now);
      if (::sched_getaffinity(thread, sizeof now, &now) != 0 ||
          CPU_EQUAL(&now, &ranks_->processors_here)) {
        return;
      }
      all = false;
      ::sched_setaffinity(thread, sizeof ranks_->processors_here, &ranks_->processors_here);
    });
  }
}

void Ranks::send(int to, std::string_view text) {
  ranks_->send(to, text.data(), text.size());
}

std::optional<Ranks::Message> Ranks::receive(std::chrono::milliseconds at_most) {
  const auto end = std::chrono::steady_clock::now() + at_most;
  Message message;
  const auto take = [](void* context, int from, const void* bytes, std::size_t count) {
    auto& message = *static_cast<Message*>(context);
    message.from = from;
    message.text.assign(static_cast<const char*>(bytes), count);
  };
  for (;;) {
    if (ranks_->receive(take, &message) != 0) {
      return message;
    }
    if (std::chrono::steady_clock::now() >= end) {
      return std::nullopt;
    }
    std::this_thread::sleep_for(between_looks);
  }
}

Result<void> Ranks::agree(const Result<std::map<std::string, std::string>>& what) {
  const std::string ours = encode(what);
  if (rank() != 0) {
    send(0, ours);
    const auto answer = receive(patience + patience);
    if (!what || !answer || answer->text != "agreed") {
      return input_error("the ranks do not agree"); // rank 0 says why
    }
    return {};
  }
  std::string problem;
  for (int heard = 1; heard < size(); ++heard) {
    const auto message = receive(patience);
    if (!message) {
      some_lost_ = true;
      return input_error("not all ranks have come as far as rank 0");
    }
    if (ranks_->leaders[message->from] == ranks_->leaders[0]) {
      processes_here_.push_back({message->from, line_of(message->text, 1)});
    }
    if (problem.empty() && what) {
      problem = difference(message->from, ours, message->text);
    }
  }
  const bool agreed = what && problem.empty();
  for (int other = 1; other < size(); ++other) {
    send(other, agreed ? "agreed" : "not agreed");
  }
  if (!what) {
    return unexpected(what.error());
  }
  if (!problem.empty()) {
    return input_error(problem);
  }
  return {};
}

void Ranks::lost(int rank) {
  lost_.insert(rank);
  some_lost_ = true;
}

} // namespace heddle::cli
