// What releases hand over on the locations of flags, and where a thread that read one got nothing.
//
//   cell.sync = messages.add();
//   for (const Message& message : messages.at(cell.sync)) …
//   messages.broken(link);                       // a flag was read without an acquire
//   for (const BrokenLink& link : messages.broken_links()) …
#pragma once

#include "race/clock.h"
#include "race/race_report.h"
#include "race/shadow.h"

#include <cstdint>
#include <deque>
#include <span>
#include <vector>

namespace heddle::race {

/// What releases on a location have handed over, for whoever reads it.
struct Message {
  Clock clock;
  ThreadName head; // who released; of several the last one
  Scope scope{};   // of the first operation of the release pattern
  bool several = false;
  /// Released by a fence.sc, of whichever thread, that came before the write: another fence.sc
  /// behind the read comes after it. `only`: no other acquire will do.
  bool in_order = false;
  bool only_in_order = false;
  bool only_shared = false; // released by a fence for objects in shared memory only
  std::uint32_t site = 0;
};

/// Something that looks like synchronisation and is none: a thread has read a flag without the
/// order that a release of its writer, or an acquire of its own, would have given. A chain of
/// synchronisation through that thread is broken there.
struct BrokenLink {
  Why why{};
  Clock clock;       // what it would have known; empty: see writer, tick
  ThreadName writer; // NoRelease
  std::uint32_t tick = 0;
  std::uint32_t write_site = 0, read_site = 0;
  ThreadName reader{};
  std::uint32_t reader_tick = 0;

  /// Would it have known that?
  bool would_know(const Access& before) const {
    return why == Why::NoRelease ? writer.block == before.block && before.tick <= tick
                                 : clock.knows(before.by(), before.tick);
  }
  /// The same once more, of the same reader or of another one; then this one knows both.
  bool takes(const BrokenLink& other);
};

/// What a race report says of a flag.
struct FlagSites {
  std::uint32_t write = 0, read = 0;
  ThreadName reader{}; // of another block than the second access
};

class Messages {
public:
  Messages() : by_location_(1) {} // 0 stays free
  std::vector<Message>& at(std::uint32_t sync) { return by_location_[sync]; }
  std::uint32_t add() {
    by_location_.emplace_back();
    return static_cast<std::uint32_t>(by_location_.size() - 1);
  }
  void broken(BrokenLink link);
  /// Of all blocks, the last ones.
  std::span<const BrokenLink> broken_links() const { return broken_; }

private:
  std::deque<std::vector<Message>> by_location_;
  std::vector<BrokenLink> broken_;
  std::size_t next_ = 0;
};

} // namespace heddle::race
