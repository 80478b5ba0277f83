// Implements ranks.h.
#include "cli/ranks.h"

#include "cli/launch.h"

#include "mpi/ranks.h"
#include <dlfcn.h>
#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <fstream>
#include <thread>
#include <vector>

namespace heddle::cli {
namespace {

constexpr auto between_looks = std::chrono::milliseconds(2);
constexpr auto patience = std::chrono::seconds(300); // until all have compiled
constexpr std::string_view bye = "bye", bye_without_one = "bye, one is lost";

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
  // While the others have nothing to do they leave the processor to rank 0.
  if (rank() == 0) {
    for (int other = 1; other < size(); ++other) {
      send(other, some_lost_ ? bye_without_one : bye);
    }
  } else {
    for (;;) {
      const auto message = receive(std::chrono::milliseconds(1000));
      if (message && (message->text == bye || message->text == bye_without_one)) {
        some_lost_ = message->text == bye_without_one;
        break;
      }
    }
  }
  if (some_lost_) {
    std::fflush(nullptr);
    ranks_->leave(exit_code_);
  }
  ranks_->finish();
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

void Ranks::lost(int) {
  some_lost_ = true;
}

} // namespace heddle::cli
