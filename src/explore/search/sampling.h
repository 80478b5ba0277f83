// What the explorer knows while it tries single schedules; for samples.h.
#pragma once

#include "explore/single/sample_sheet.h"
#include "explore/single/sampler.h"

#include <sys/types.h>

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>

namespace heddle::explore {

struct Sampling {
  explicit Sampling(SharedSheet s) : sheet(std::move(s)) {}

  SharedSheet sheet;
  std::uint32_t before_schedules = 0;                       // moves that they have in common
  std::array<pid_t, SampleSheet::most_at_once> processes{}; // of the schedules under way
  std::uint32_t number = 0;                                 // of this process's schedule
  bool record = false;
  std::uint32_t recorded = 0;            // process of the table that records
  std::optional<std::uint32_t> crash_at; // the step after which the schedule crashed, if recorded
  std::uint64_t noted = 0;               // signature of what the runtime has found
  std::uint64_t hang = 0;                // of the best hang
  std::optional<Sampler> sampler;        // none: this process only forks
  static constexpr std::size_t most_recent = 256;
  std::array<std::uint32_t, most_recent>
      recent{}; // sites of the last moves of device threads, in a cycle
  // How often a device thread has moved at a site since the last time that one came to its end.
  std::map<std::pair<std::uint64_t, std::uint32_t>, std::uint32_t> rounds;
  static constexpr std::uint32_t spinning_rounds =
      16; // a thread with fewer may just have much to do
};

} // namespace heddle::explore
