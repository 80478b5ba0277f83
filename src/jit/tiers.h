// Tiers: which kernels are compiled, and when compiled code takes the interpreter's place.
//
//   Tiers tiers({.when = Tiers::When::Hot, .compiler = "…/heddle-jit", .cache = "…/kernels"});
//   engine_options.worked = [&](const machine::Grid& g, std::uint64_t n) { tiers.worked(…); };
//
// A kernel whose image is in the cache gets it at its first turn. Otherwise, once its threads have
// executed so many instructions, or have so many to come, that compiling is worth it, heddle-jit is
// started in a process of its own that nobody waits for; the interpreter goes on, and looks now and
// then whether the image has come. With one processor the interpreter would take the compiler's
// time, and does a tenth of what compiled code does in the same time: there the kernel waits, for a
// bounded time. A kernel that cannot be compiled costs one such process, once: the empty image that
// heddle-jit leaves says so. Nothing here changes what a program computes, so failures are silent,
// except with When::Always, which is for tests: there, a kernel waits for its image.
//
// An image is for blocks of certain shapes. If others come, another image takes its place that is
// for all that have come.
//
// The first image takes for granted what is likely of the threads of a warp (launch_shape.h). Where
// that is wrong too often, another one without guesses takes its place.
//
//   <cache>/<hash of the code, its callees and heddle-jit itself>.image
#pragma once

#include "isa/program.h"
#include "jit/launch_shape.h"

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <unordered_map>

namespace heddle::jit {

class Tiers {
public:
  enum class When : std::uint8_t {
    Never,
    Hot,
    Always
  };
  struct Options {
    When when = When::Never;
    std::string compiler; // path of heddle-jit
    std::string cache;    // folder; made if need be
    LaunchShape::Watch watch = LaunchShape::Watch::Nothing;
    bool one_processor = false; // heddle-jit has no other than that of the interpreter
  };
  explicit Tiers(Options options);

  struct Work {
    std::uint32_t row = 0;          // of the blocks: isa::region_row()
    std::uint64_t launch = 0;       // its number; 0: only submitted, `instructions` counts threads
    std::uint64_t of_launch = 0;    // clusters
    std::uint64_t instructions = 0; // that threads have executed
    std::uint64_t clusters = 0;     // that have ended
    /// Clusters that have been submitted and have not ended.
    std::function<std::uint64_t()> to_come = [] { return std::uint64_t{0}; };
  };
  /// Some more of the kernel has been executed. Called between turns, by any worker; `program` is
  /// that of the kernel.
  void worked(const isa::Program& program, const isa::Kernel& kernel, const Work& work);

private:
  enum class Step : std::uint8_t {
    New,
    Cold,    // no image in the cache
    Waiting, // for heddle-jit
    Done     // installed, or there will be none
  };
  struct State {
    Step step = Step::New;
    LaunchShape shape; // of the launches that have come so far
    std::uint32_t row = 0;
    std::string image;
    std::uint64_t instructions = 0;
    std::uint64_t hot = 0; // from so many on
    std::uint64_t clusters = 0;
    std::uint64_t launches = 0;
    std::uint64_t launch = 0;     // the last one
    std::uint64_t look_ahead = 0; // next at so many instructions
    // How many launches the host submits before others have ended.
    bool ahead = false;        // several
    bool drained = false;      // then all of them were under way
    bool refilled = false;     // then there were more
    std::uint64_t guessed = 0; // instructions since there is code that guesses
    std::chrono::steady_clock::time_point next_look;
  };
  std::string image_of(const isa::Kernel& kernel, const LaunchShape& shape) const;
  bool install(State& state, const isa::Kernel& kernel);
  void request(State& state, const isa::Program& program, const isa::Kernel& kernel);
  bool pays(State& state, const Work& work) const;
  void wait_for_image(const State& state, const isa::Kernel& kernel) const;
  /// Of a State that has a shape: the image from the cache, or at once if all are to have one.
  void begin(State& state, const isa::Program& program, const isa::Kernel& kernel);

  const Options options_;
  bool has_cache_ = false;     // a folder that only this user can change: images are executed
  std::string compiler_state_; // what the file heddle-jit is, for names of images
  std::mutex mutex_;
  std::unordered_map<const isa::Kernel*, State> kernels_;
};

} // namespace heddle::jit
