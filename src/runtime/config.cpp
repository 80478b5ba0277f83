// Implements config.h. A value that cannot be understood is an error, never ignored: a run with
// other options than the user asked for would be a wrong answer.
#include "runtime/config.h"

#include "runtime/device/device_attribute.h"

#include <fmt/format.h>

#include <charconv>
#include <cstdlib>
#include <cstring>
#include <map>
#include <string_view>

namespace heddle::runtime {
namespace {

Result<std::uint64_t>
number(const char* name, std::string_view text, std::uint64_t low, std::uint64_t high) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || value < low || value > high) {
    return input_error(
        fmt::format("{}={}: a number from {} to {} is expected", name, text, low, high)
    );
  }
  return value;
}

/// How many devices CUDA_VISIBLE_DEVICES leaves: entries up to the first that names no device.
int visible(std::string_view list, int devices) {
  int count = 0;
  while (!list.empty()) {
    const auto comma = list.find(',');
    const std::string_view entry = list.substr(0, comma);
    list = comma == std::string_view::npos ? std::string_view{} : list.substr(comma + 1);
    int index = -1;
    const auto [end, error] = std::from_chars(entry.data(), entry.data() + entry.size(), index);
    if (error != std::errc{} || end != entry.data() + entry.size() || index < 0 ||
        index >= devices) {
      break;
    }
    ++count;
  }
  return count;
}

} // namespace

Result<Config> read_config(const std::function<const char*(const char*)>& get) {
  Config config;
  if (const char* device = get("HEDDLE_DEVICE")) {
    if (!machine::device_model(device)) {
      return input_error(
          fmt::format("HEDDLE_DEVICE={}: known devices are {}", device, device_names())
      );
    }
    config.device = device;
  }
  if (const char* text = get("HEDDLE_DEVICES")) {
    TRY(const std::uint64_t devices, number("HEDDLE_DEVICES", text, 1, 16));
    config.devices = static_cast<int>(devices);
  }
  if (const char* text = get("HEDDLE_SEED")) {
    TRY(const std::uint64_t seed, number("HEDDLE_SEED", text, 0, ~std::uint64_t{0}));
    config.seed = seed;
  }
  if (const char* text = get("HEDDLE_THREADS")) {
    TRY(const std::uint64_t threads, number("HEDDLE_THREADS", text, 1, 1024));
    config.threads = static_cast<unsigned>(threads);
  }
  const char* const reference = get("HEDDLE_REFERENCE");
  config.reference = reference != nullptr ? reference : "";
  if (const char* text = get("HEDDLE_MODE")) {
    if (std::strcmp(text, "run") == 0) {
      config.mode = Mode::Run;
    } else if (std::strcmp(text, "check") == 0) {
      config.mode = Mode::Check;
    } else {
      return input_error(fmt::format("HEDDLE_MODE={}: run or check is expected", text));
    }
  }
  if (const char* text = get("HEDDLE_WARPS")) {
    if (std::strcmp(text, "lockstep") == 0) {
      config.warps = Warps::Lockstep;
    } else if (std::strcmp(text, "independent") != 0) {
      return input_error(fmt::format("HEDDLE_WARPS={}: independent or lockstep is expected", text));
    }
  }
  if (const char* text = get("HEDDLE_WARP_TRACE")) {
    TRY(config.warp_trace, number("HEDDLE_WARP_TRACE", text, 0, ~std::uint64_t{0}));
  }
  if (const char* text = get("HEDDLE_STALE_READS")) {
    config.stale_reads = std::strcmp(text, "1") == 0;
  }
  if (const char* text = get("HEDDLE_RECONVERGENCE")) {
    config.common_exit = std::strcmp(text, "common-exit") == 0;
  }
  if (config.warps == Warps::Independent && (config.warp_trace != 0 || config.stale_reads)) {
    return input_error("HEDDLE_WARP_TRACE and HEDDLE_STALE_READS need HEDDLE_WARPS=lockstep");
  }
  if (const char* text = get("HEDDLE_RACES"); text != nullptr && config.mode == Mode::Run) {
    config.races = std::strcmp(text, "1") == 0;
    if (config.races && config.warps == Warps::Lockstep) {
      return input_error(
          "--races (HEDDLE_RACES) looks for races of independent threads: it does not go with "
          "--warps=lockstep (HEDDLE_WARPS)"
      );
    }
  }
  if (const char* text = get("HEDDLE_LIBRARY_RACES")) {
    config.library_races = std::strcmp(text, "1") == 0;
  }
  if (const char* text = get("HEDDLE_SAME_VALUE")) {
    config.same_value_races = std::strcmp(text, "error") == 0;
    if (!config.same_value_races && std::strcmp(text, "note") != 0) {
      return input_error(fmt::format("HEDDLE_SAME_VALUE={}: note or error is expected", text));
    }
  }
  if (const char* text = get("HEDDLE_BARRIERS")) {
    config.guide_barriers = std::strcmp(text, "guide") == 0;
    if (!config.guide_barriers && std::strcmp(text, "ptx") != 0) {
      return input_error(fmt::format("HEDDLE_BARRIERS={}: ptx or guide is expected", text));
    }
  }
  if (const char* text = get("HEDDLE_UNINITIALISED"); text != nullptr && config.mode == Mode::Run) {
    config.unwritten = std::strcmp(text, "1") == 0;
    if (config.unwritten && config.warps == Warps::Lockstep) {
      return input_error(
          "--uninitialised (HEDDLE_UNINITIALISED) does not go with --warps=lockstep"
      );
    }
  }
  if (const char* text = get("HEDDLE_JIT")) {
    const std::map<std::string_view, jit::Tiers::When> words = {
        {"never", jit::Tiers::When::Never},
        {"hot", jit::Tiers::When::Hot},
        {"always", jit::Tiers::When::Always}
    };
    const auto word = words.find(text);
    const char* compiler = get("HEDDLE_JIT_COMPILER");
    const char* cache = get("HEDDLE_JIT_CACHE");
    if (word == words.end()) {
      return input_error(fmt::format("HEDDLE_JIT={}: never, hot or always is expected", text));
    }
    if (word->second != jit::Tiers::When::Never) {
      if (compiler == nullptr || cache == nullptr) {
        return input_error("HEDDLE_JIT needs HEDDLE_JIT_COMPILER and HEDDLE_JIT_CACHE");
      }
      config.compile = {.when = word->second, .compiler = compiler, .cache = cache};
    }
  }
  if (const char* text = get("HEDDLE_MAX_TIME"); text != nullptr && config.mode == Mode::Run) {
    char* end = nullptr;
    const double seconds = std::strtod(text, &end);
    if (end == text || *end != '\0' || !(seconds > 0)) {
      return input_error(fmt::format("HEDDLE_MAX_TIME={}: a number of seconds is expected", text));
    }
    config.max_seconds = seconds;
  }
  if (const char* text = get("HEDDLE_MAX_INSTRUCTIONS");
      text != nullptr && config.mode == Mode::Run) {
    TRY(config.max_instructions, number("HEDDLE_MAX_INSTRUCTIONS", text, 1, ~std::uint64_t{0}));
  }
  if (const char* text = get("HEDDLE_LEAKS"); text != nullptr && config.mode == Mode::Run) {
    config.leaks = std::strcmp(text, "1") == 0;
  }
  if (const char* text = get("HEDDLE_ERROR_EXITCODE")) {
    TRY(const std::uint64_t code, number("HEDDLE_ERROR_EXITCODE", text, 0, 255));
    config.defect_exit_code = static_cast<int>(code);
  }
  if (const char* text = get("HEDDLE_EXPLORE")) {
    config.explore = text;
  }
  if (const char* text = get("CUDA_LAUNCH_BLOCKING")) {
    config.launch_blocking = std::strcmp(text, "1") == 0;
  }
  if (const char* text = get("CUDA_VISIBLE_DEVICES")) {
    config.devices = visible(text, config.devices);
  }
  return config;
}

} // namespace heddle::runtime
