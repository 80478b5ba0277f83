// Implements ranks.h.
#include "cli/ranks.h"

#include "cli/launch.h"
#include "explore/explored_process.h"
#include "explore/interruption.h"
#include "explore/peers.h"

#include "mpi/ranks.h"
#include <dlfcn.h>
#include <fmt/format.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <fstream>
#include <thread>
#include <vector>

namespace heddle::cli {
namespace {

using Clock = std::chrono::steady_clock;
constexpr auto between_looks = std::chrono::milliseconds(2);
constexpr auto patience = std::chrono::seconds(300); // until all have compiled
constexpr auto between_looks_of_the_idle = std::chrono::milliseconds(20);
constexpr std::string_view over = "over?", all_sent = "all sent", bye = "bye",
                           bye_without_one = "bye, one is lost";

bool is_set(const char* name) {
  return std::getenv(name) != nullptr;
}

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

std::string host_name() {
  std::array<char, 256> name{};
  ::gethostname(name.data(), name.size() - 1);
  return name.data();
}

std::string encode(const Result<std::map<std::string, std::string>>& what) {
  std::string text = host_name();
  if (!what) {
    return text + "\n!" + what.error().message;
  }
  for (const auto& [key, value] : *what) {
    text += fmt::format("\n{}={}", key, value);
  }
  return text;
}

/// Why ranks with these cannot work together; empty: they can.
std::string difference(int rank, const std::string& ours, const std::string& theirs) {
  const std::size_t end = theirs.find('\n');
  const std::string where = fmt::format("rank {} on {}", rank, theirs.substr(0, end));
  const std::string rest = end == std::string::npos ? "" : theirs.substr(end + 1);
  if (rest.starts_with('!')) {
    return fmt::format("{}: {}", where, rest.substr(1));
  }
  const std::string own = ours.substr(std::min(ours.find('\n') + 1, ours.size()));
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
  const HeddleRanks* ranks = open != nullptr ? open(heddle_ranks_version) : nullptr;
  if (ranks == nullptr) {
    return cannot(fmt::format("{} does not start", name));
  }
  // Open MPI gives ranks a terminal of its own, whatever its own output is.
  ::setenv("HEDDLE_COLOR", "never", /*overwrite=*/0);
  return std::unique_ptr<Ranks>(new Ranks(ranks));
}

Ranks::~Ranks() {
  if (rank() == 0) {
    end_others();
  } else {
    await_end();
  }
  if (some_lost_) {
    std::fflush(nullptr);
    ranks_->leave(exit_code_);
  }
  ranks_->finish();
}

/// Rank 0. MPI ends only with all ranks, and with nothing under way that nobody receives: so each
/// says when all that it has sent has arrived, and receives until all have said so.
void Ranks::end_others() {
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
    send(other, some_lost_ ? bye_without_one : bye);
  }
}

/// The others. They leave the processor to rank 0.
void Ranks::await_end() {
  const explore::Interruption is_rank_0s; // all get the signal, and that one writes the report
  constexpr auto most = explore::silence_of_the_dead / 2; // for one that does not receive any more
  std::optional<Clock::time_point> end;
  bool has_said_so = false;
  for (;;) {
    const auto message = receive(std::chrono::milliseconds(0));
    if (message && (message->text == bye || message->text == bye_without_one)) {
      some_lost_ = message->text == bye_without_one;
      return;
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
