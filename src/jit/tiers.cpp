// Implements tiers.h.
#include "jit/tiers.h"

#include "base/new_file.h"
#include "base/private_folder.h"
#include "base/process.h"
#include "jit/code_hash.h"
#include "jit/image_folder.h"
#include "jit/loader.h"
#include "ptx/parse.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <numeric>
#include <string_view>
#include <thread>
#include <vector>

namespace heddle::jit {
namespace {

namespace fs = std::filesystem;

constexpr auto look_every = std::chrono::milliseconds(2);

/// For whoever works on the compiler, and for tests: HEDDLE_JIT_SHOW=tiers.
void tell(const isa::Kernel& kernel, const char* what) {
  const char* wanted = std::getenv("HEDDLE_JIT_SHOW");
  if (wanted != nullptr && std::string_view(wanted) == "tiers") {
    fmt::print(stderr, "heddle-jit: {}: {}\n", kernel.name, what);
  }
}

std::uint64_t ops_of(const isa::Kernel& kernel) {
  std::uint64_t ops = 0;
  for (const auto& [address, code] : kernel.functions) {
    ops += code->ops.size();
  }
  return ops;
}

/// A warp for which a guess is wrong is interpreted, which takes several times as long: about one
/// in twenty is too many.
bool guesses_badly(const isa::Kernel& kernel, std::uint64_t instructions) {
  std::uint64_t wrong = 0;
  for (const auto& [address, code] : kernel.functions) {
    wrong += __atomic_load_n(&code->wrong_guesses, __ATOMIC_RELAXED);
  }
  constexpr std::uint64_t few = 16;
  constexpr std::uint64_t one_in = 20;
  return wrong > few && wrong * ops_of(kernel) * isa::warp_size * one_in > instructions;
}

/// Thread instructions after which compiling is worth it: as much of the interpreter's time as
/// about half of what compiling takes, which is 50 ms and 0.5 ms for each op (0.2 to 1.4).
std::uint64_t hot_after(const isa::Kernel& kernel) {
  constexpr std::uint64_t per_millisecond = 1'500'000;
  return per_millisecond * (25 + ops_of(kernel) / 4);
}

/// A kernel that has been submitted, `work.instructions` threads, and executes each op at least
/// once: is that as much as half of what compiling takes? Most of these have loops. Others are
/// compiled in vain, once: the image is kept.
bool pays_ahead(const isa::Kernel& kernel, const Tiers::Work& work) {
  return work.instructions * ops_of(kernel) >= hot_after(kernel);
}

} // namespace

Tiers::Tiers(Options options) : options_(std::move(options)) {
  const PrivateFolder made = make_private_folder(options_.cache);
  if (made.state == PrivateFolder::State::OfOthers) {
    fmt::print(
        stderr,
        "heddle: warning: kernels are not compiled, because others could plant code in the cache: "
        "{} (see docs/security.md)\n",
        made.reason
    );
  }
  has_cache_ = made.state == PrivateFolder::State::Ready;
  struct stat about{};
  if (::stat(options_.compiler.c_str(), &about) == 0) {
    compiler_state_ = fmt::format(
        "{:x}.{:x}.{:x}.{:x}",
        about.st_ino,
        about.st_size,
        about.st_mtim.tv_sec,
        about.st_mtim.tv_nsec
    );
  }
}

std::string Tiers::image_of(const isa::Kernel& kernel, const LaunchShape& shape) const {
  // The order of addresses is that of no two processes; the set of functions is.
  std::vector<Hash128> hashes;
  for (const auto& [address, code] : kernel.functions) {
    if (!code->ops.empty()) {
      hashes.push_back(hash_code(*code));
    }
  }
  std::ranges::sort(hashes, {}, [](const Hash128& h) { return std::pair(h.high, h.low); });
  Hasher all;
  all.text(compiler_state_);
  all.text(shape.name());
  all.value(processor_level());
  for (const Hash128& hash : hashes) {
    all.value(hash.low);
    all.value(hash.high);
  }
  const Hash128 name = all.finish();
  return fmt::format("{}/{:016x}{:016x}.image", options_.cache, name.high, name.low);
}

bool Tiers::install(State& state, const isa::Kernel& kernel) {
  std::error_code error;
  const auto size = fs::file_size(state.image, error);
  if (error) {
    return false;
  }
  if (size != 0) { // else: heddle-jit can make nothing of it
    const Result<int> installed = load_image(kernel, state.image);
    note_image_used(state.image);
    tell(kernel, installed && *installed != 0 ? "installed" : "refused");
    if (!installed && options_.when == When::Always) {
      fmt::print(stderr, "heddle: {}\n", installed.error().message);
    }
  }
  return true;
}

void Tiers::request(State& state, const isa::Program& program, const isa::Kernel& kernel) {
  std::vector<std::string> command =
      {options_.compiler, kernel.name, state.image, state.shape.name()};
  // Reading PTX takes longer than compiling a small kernel, and most modules have other kernels.
  const bool alone = kernel.functions.size() == 1; // it calls nothing
  for (const auto& module : program.modules()) {
    command.push_back(fmt::format("{}.{}.{}.ptx", state.image, ::getpid(), command.size()));
    const std::string text =
        alone ? ptx::print_alone(*module, *kernel.function) : ptx::print(*module);
    constexpr mode_t mode = 0600;
    const int fd = open_new_file(command.back(), mode);
    const bool good = fd >= 0 && write_to(fd, text.data(), text.size());
    if (fd >= 0) {
      ::close(fd);
    }
    if (!good) {
      return;
    }
  }
  tell(kernel, "requested");
  if (options_.when == When::Always) {
    const auto done = run_and_read(command);
    if (!done) {
      fmt::print(stderr, "heddle: {}\n", done.error().message);
    }
  } else if (start_detached(command) && options_.one_processor) {
    wait_for_image(state, kernel);
  }
}

/// Several times as long as compiling takes on an idle processor: somebody else may use it, too, or
/// heddle-jit has died.
void Tiers::wait_for_image(const State& state, const isa::Kernel& kernel) const {
  const auto most =
      std::chrono::milliseconds(std::min<std::uint64_t>(5'000, 1'000 + 4 * ops_of(kernel)));
  const auto end = std::chrono::steady_clock::now() + most;
  std::error_code error;
  while (!fs::exists(state.image, error)) {
    if (std::chrono::steady_clock::now() >= end) {
      tell(kernel, "takes too long");
      return;
    }
    std::this_thread::sleep_for(look_every);
  }
  tell(kernel, "has waited");
}

/// Is it time to compile the kernel? What is to come is known as far as it has been submitted: all
/// blocks of a launch, and the launches behind it if the host does not wait for each. If that is
/// much, compiling pays at once. If it is little, it does not pay at all on one processor, where
/// the kernel waits for the compiler; but a host that waits for each launch shows one at a time,
/// and one that waits for some now and then shows no more than these.
bool Tiers::pays(State& state, const Work& work) const {
  const bool is_hot = state.instructions >= state.hot;
  if (state.clusters == 0) {
    return is_hot; // nobody knows how long one takes
  }
  if (state.instructions < state.look_ahead) {
    return false;
  }
  state.look_ahead = state.instructions + state.instructions / 4;
  const std::uint64_t clusters = work.to_come();
  state.ahead = state.ahead || clusters > 2 * work.of_launch;
  state.refilled = state.refilled || (state.drained && clusters > work.of_launch);
  state.drained = state.drained || (state.ahead && clusters <= work.of_launch);
  const double to_come = static_cast<double>(clusters) * static_cast<double>(state.instructions) /
                         static_cast<double>(state.clusters);
  // Of what is to come, compiled code takes a fifth. `hot` is half of the time that compiling
  // takes.
  const double gain = 0.8 * to_come;
  const double cost = 2 * static_cast<double>(state.hot);
  if (gain >= cost) {
    return true;
  }
  constexpr std::uint64_t few = 3;
  const bool ends_soon = (state.ahead && !state.refilled) || state.launches < few;
  return is_hot && !(options_.one_processor && ends_soon &&
                     static_cast<double>(state.instructions) < 2 * cost);
}

void Tiers::worked(const isa::Program& program, const isa::Kernel& kernel, const Work& work) {
  const std::uint32_t row = work.row;
  const std::uint64_t instructions = work.instructions;
  const std::lock_guard lock(mutex_);
  State& state = kernels_[&kernel];
  const bool is_submitted = work.launch == 0;
  if (is_submitted && state.step != Step::New) {
    return; // its turns tell more
  }
  if (state.step != Step::New && !state.shape.fits(row)) {
    const bool guesses = state.shape.guesses;
    state.row = std::gcd(state.row, row);
    state.shape = LaunchShape::of(kernel, state.row, options_.watch);
    state.shape.guesses = guesses;
    tell(kernel, "has blocks of another shape");
    begin(state, program, kernel);
  }
  switch (state.step) {
  case Step::New:
    state.row = row;
    state.shape = LaunchShape::of(kernel, row, options_.watch);
    state.hot = hot_after(kernel);
    begin(state, program, kernel);
    // On one processor a kernel waits for its image, which its turns have to pay for.
    if (is_submitted && state.step == Step::Cold && !options_.one_processor &&
        options_.when == When::Hot && pays_ahead(kernel, work)) {
      request(state, program, kernel);
      state.step = Step::Waiting;
    }
    return;
  case Step::Cold:
    state.instructions += instructions;
    state.clusters += work.clusters;
    state.launches += state.launches == 0 || work.launch != state.launch ? 1 : 0;
    state.launch = work.launch;
    if (pays(state, work)) {
      request(state, program, kernel);
      state.step = Step::Waiting;
    }
    return;
  case Step::Waiting:
    if (const auto now = std::chrono::steady_clock::now(); now >= state.next_look) {
      state.next_look = now + look_every;
      state.step = install(state, kernel) ? Step::Done : Step::Waiting;
    }
    return;
  case Step::Done:
    if (!state.shape.guesses) {
      return;
    }
    state.guessed += instructions;
    if (guesses_badly(kernel, state.guessed)) {
      tell(kernel, "guesses badly");
      state.shape.guesses = false;
      begin(state, program, kernel);
      if (state.step == Step::Cold) { // it has been hot
        request(state, program, kernel);
        state.step = Step::Waiting;
      }
    }
    return;
  }
}

void Tiers::begin(State& state, const isa::Program& program, const isa::Kernel& kernel) {
  if (!has_cache_) {
    state.step = Step::Done;
    return;
  }
  state.image = image_of(kernel, state.shape);
  state.step = install(state, kernel) ? Step::Done : Step::Cold;
  if (state.step == Step::Cold && options_.when == When::Always) {
    request(state, program, kernel);
    install(state, kernel);
    state.step = Step::Done;
  }
}

} // namespace heddle::jit
