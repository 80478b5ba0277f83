// Config: how this process is to be run. `heddle run` passes its options to the library through
// these environment variables; a program started without the CLI gets the defaults.
//
//   HEDDLE_DEVICE=sm_90     which virtual device (device_model.h)
//   HEDDLE_DEVICES=N        how many of them, 1-16
//   HEDDLE_SEED=N           one reproducible, single-threaded schedule (default: all cores)
//   HEDDLE_THREADS=N        worker threads; default: one for each core
//   HEDDLE_MODE=run|check   run: go on as fast as possible; check: every schedule
//   HEDDLE_EXPLORE=TEXT     options of the explorer, as the CLI writes them
//   CUDA_LAUNCH_BLOCKING=1  as in CUDA: a launch returns when the kernel has ended
//   CUDA_VISIBLE_DEVICES=…  as in CUDA: empty hides all devices, a list limits their number
#pragma once

#include "base/result.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

namespace heddle::runtime {

enum class Mode : std::uint8_t {
  Run,
  Check
};

struct Config {
  std::string device = "sm_90";
  int devices = 1;
  std::optional<std::uint64_t> seed;
  std::optional<unsigned> threads;
  Mode mode = Mode::Run;
  std::string explore;
  bool launch_blocking = false;
};

/// Reads the variables through `get` (nullptr: not set). Input error: names the variable.
Result<Config> read_config(const std::function<const char*(const char*)>& get);

} // namespace heddle::runtime
