// Implements rank_messages.h with MPI.
#include "cli/ranks/rank_messages.h"

#include "cli/ranks/mpi_launcher.h"
#include "cli/run/launch.h"
#include "mpi/ranks.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <unistd.h>

#include <span>
#include <utility>

namespace heddle::cli {
namespace {

class MpiMessages final : public RankMessages {
public:
  explicit MpiMessages(const HeddleRanks& ranks)
      : ranks_(ranks),
        job_{
            .rank = ranks.rank,
            .size = ranks.size,
            .size_here = ranks.size_here,
            .leaders = {ranks.leaders, ranks.leaders + ranks.size},
            .processors_here = ranks.processors_here,
            .process = ::getpid()
        } {}
  const Job& job() const override { return job_; }
  void send(int to, std::string_view text) override { ranks_.send(to, text.data(), text.size()); }
  std::optional<Message> receive() override {
    Message message;
    const auto take = [](void* context, int from, const void* bytes, std::size_t count) {
      auto& message = *static_cast<Message*>(context);
      message.from = from;
      message.text.assign(static_cast<const char*>(bytes), count);
    };
    return ranks_.receive(take, &message) != 0 ? std::optional(std::move(message)) : std::nullopt;
  }
  bool all_sent() override { return ranks_.all_sent() != 0; }
  void finish() override { ranks_.finish(); }
  void leave(int code) override { ranks_.leave(code); }

private:
  const HeddleRanks& ranks_;
  Job job_;
};

} // namespace

Result<std::unique_ptr<RankMessages>> start_mpi() {
  const auto cannot = [](std::string_view why) {
    return input_error(
        fmt::format("started by an MPI launcher, but its MPI cannot be used: {}", why)
    );
  };
  const char* const name = mpi_library_name();
  TRY(const std::string folder, library_folder());
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
  return std::make_unique<MpiMessages>(*ranks);
}

} // namespace heddle::cli
