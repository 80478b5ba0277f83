// What pending_memory.h keeps of a command that is kept back: where it may touch memory of the
// host, and what the host has touched meanwhile.
#pragma once

#include "machine/grid.h"
#include "machine/world.h"
#include "runtime/diagnostics/pending_record.h"
#include "runtime/streams/rows.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

namespace heddle::runtime {

struct PendingPart {
  memory::Address begin = 0, end = 0;           // bytes
  Rows rows{};                                  // which of these
  memory::Address first_page = 0, end_page = 0; // what is protected for it
  bool write = false;                           // the command may write them
  bool open = false;                            // not protected any more

  bool covers(memory::Address at, bool store) const {
    return !open && at >= first_page && at < end_page && (store || write);
  }
  /// Does a pointer to `at` point there?
  bool holds(memory::Address at) const {
    return !open && ((at >= begin && at < end) || (at >= first_page && at < end_page));
  }
  bool conflicts(memory::Address at, bool store) const {
    return at >= begin && at < end && rows.hold(at - begin) && (store || write);
  }
  bool overlaps(const PendingPart& other) const {
    return first_page < other.end_page && other.first_page < end_page;
  }
};

/// What host code has accessed.
struct PendingClaim {
  memory::Address at = 0;
  bool store = false;
  const void* pc = nullptr;
  std::vector<const void*> frames;
  const void* script = nullptr;  // a line of Python (python_place.h)
  std::uint64_t submissions = 0; // before it
  bool settled = false;
};

struct PendingWork {
  machine::CommandPtr command;
  std::vector<PendingPart> parts;
  std::vector<PendingClaim> claims;
  bool held = true;
  bool told = false;                      // its threads may have learnt of what the host has done
  std::vector<const void*> called_from{}; // where the host has submitted it
  /// It is carried out because the host calls this, which waits for it, and need not ([API-WAIT]).
  const char* unpromised = nullptr;
  bool kept = false;                       // it is over, and the host has waited in that way only
  std::unique_ptr<PendingRecord> record{}; // of a kernel that is carried out so

  bool exact() const { return command->grid == nullptr; }
};
using PendingWorkPtr = std::shared_ptr<PendingWork>;

/// A race.
struct PendingRace {
  PendingClaim claim;
  machine::CommandPtr command;
  bool store = false; // of the command
  std::vector<const void*> called_from{};
  std::optional<machine::FaultReport> place;
  const char* unpromised = nullptr; // the call that stands between the two, and need not wait
};

/// Memory was freed by a call that has waited for the command that uses it, and need not.
struct PendingFree {
  machine::CommandPtr command;
  std::vector<const void*> called_from{};
  const char* call = nullptr;
  std::vector<const void*> frames{}; // of the free
};

} // namespace heddle::runtime
