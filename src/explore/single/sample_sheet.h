// SampleSheet: what is asked of the schedules that are tried after a limit, and what they came to,
// in memory that the tool and all processes of the search share.
//
//   TRY(SharedSheet sheet, SharedSheet::create({.seed = 1, .schedules = 1000}));  // the tool
//   TRY(SharedSheet sheet, SharedSheet::open(fd));                     // the explored process
//   ++sheet->done;
//
// Several schedules may be under way at the same time, each with a record of its own. Their results
// are looked at in the order of their numbers, so these do not depend on how many that are.
#pragma once

#include "base/result.h"

#include <array>
#include <cstdint>
#include <string>
#include <utility>

namespace heddle::explore {

/// How a schedule ended.
enum class SampleEnd : std::uint32_t {
  Running, // if its process is gone: it crashed
  Ended,   // with the program
  CutOff,
  Hang,
  Event // a fault, or something that Heddle does not implement
};

/// Where a schedule was that had to be cut off: the places of its last moves, as sites of the
/// table, and in words (a text of the table) who was at each of them.
struct SpinPlaces {
  static constexpr std::uint32_t most = 8;
  std::uint32_t count = 0;
  std::array<std::uint32_t, most> sites{}, words{};
};

struct SampleSheet {
  // Asked.
  std::uint64_t seed = 1;
  std::uint32_t schedules = 0;
  std::uint32_t at_once = 1;                   // at most most_at_once
  std::uint64_t most_work = ~std::uint64_t{0}; // no schedule is looked at after that
  // So far.
  std::uint32_t done = 0, cut_off = 0, found = 0;
  std::uint64_t steps = 0;
  std::uint64_t work = 0; // StateTable::work and computed, of steps
  // The schedules under way.
  static constexpr std::uint32_t most_at_once = 64;
  struct Run {
    SampleEnd end{};
    std::uint32_t step = 0;
    std::uint64_t work = 0;
    std::uint32_t hang_at = 0;   // after so many steps
    std::uint64_t signature = 0; // of what it came to: equal for what is the same defect
    SpinPlaces spins{};          // if it was cut off
  };
  SpinPlaces spins{}; // in all that were cut off, with the words of the first one
  std::array<Run, most_at_once> runs;
  Run& run(std::uint32_t number) { return runs[number % at_once]; }
};

class SharedSheet {
public:
  static Result<SharedSheet> create(const SampleSheet& asked);
  static Result<SharedSheet> open(int fd);
  SharedSheet(SharedSheet&& other) noexcept
      : fd_(std::exchange(other.fd_, -1)),
        sheet_(std::exchange(other.sheet_, nullptr)) {}
  SharedSheet& operator=(SharedSheet&&) = delete;
  ~SharedSheet();

  int fd() const { return fd_; }
  SampleSheet* operator->() const { return sheet_; }
  const SampleSheet& operator*() const { return *sheet_; }

private:
  SharedSheet(int fd, SampleSheet* sheet) : fd_(fd), sheet_(sheet) {}
  int fd_ = -1;
  SampleSheet* sheet_ = nullptr;
};

} // namespace heddle::explore
