// Events: the accesses that somebody may not know of yet, by small numbers.
//
//   const std::uint32_t n = events.add({.write = true, .thread = 3, .range = range});
//   events.each_overlapping(range, Events::Kind::Writes, [](std::uint32_t n) { … });
//   events.each_of(3, [](std::uint32_t n) { … }); // what it has done itself, while it lives
//   events.end(0, 32);                            // these threads do not live any more
//   events.forget(view);                          // their numbers are free again
//
// Many threads of a block access much between two barriers, and each access looks for those before
// it that it meets. So events are found by their places and by their threads.
#pragma once

#include "weak/runs.h"
#include "weak/scope.h"
#include "weak/view.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <vector>

namespace heddle::weak {

/// The bytes that an access touches.
struct Range {
  /// In addresses of memory that only the threads of one cluster can access.
  static constexpr std::uint64_t of_cluster = std::uint64_t{1} << 63;
  std::uint64_t at = 0;
  std::uint32_t bytes = 0;
  auto operator<=>(const Range&) const = default;
  bool overlaps(const Range& other) const {
    return at < other.at + other.bytes && other.at < at + bytes;
  }
};

/// Up to 16 bytes.
using Value = std::array<std::uint64_t, 2>;

struct Event {
  bool used = false, write = false, strong = false, message = false;
  bool ended = false; // its thread has; another one may have that name now
  Scope scope{};
  Thread thread = 0;
  Range range{};
  std::uint64_t number = 0; // rises with time
  std::uint64_t tag = 0;
  std::optional<Value> value{}; // of a weak write; nothing: it stands for writes of several
  bool several = false;
};

class Events {
public:
  enum class Kind : std::uint8_t {
    Reads,
    Writes
  };

  std::uint32_t size() const { return static_cast<std::uint32_t>(all_.size()); } // with free ones
  bool empty() const { return all_.empty(); }
  const Event& operator[](std::size_t n) const { return all_[n]; }

  std::uint32_t add(const Event& event) {
    while (first_free_ < size() && all_[first_free_].used) {
      ++first_free_;
    }
    const std::uint32_t n = first_free_;
    if (n == size()) {
      all_.emplace_back();
    }
    all_[n] = event;
    all_[n].used = true;
    all_[n].number = next_number_++;
    insert(by_place(event.write), Place{event.range, event.thread, n});
    insert(by_thread_, Own{event.thread, n});
    most_bytes_ = std::max(most_bytes_, event.range.bytes);
    return n;
  }
  void forget(const View& events) {
    events.each([&](std::size_t n) {
      all_[n].used = false;
      first_free_ = std::min(first_free_, static_cast<std::uint32_t>(n));
    });
    const auto is_free = [&](const auto& entry) { return !all_[entry.event].used; };
    std::erase_if(reads_, is_free);
    std::erase_if(writes_, is_free);
    std::erase_if(by_thread_, is_free);
    while (!all_.empty() && !all_.back().used) {
      all_.pop_back();
    }
  }
  void end(Thread first, std::uint64_t count) {
    for (auto at = std::ranges::lower_bound(by_thread_, Own{first, 0});
         at != by_thread_.end() && at->thread - first < count;
         ++at) {
      all_[at->event].ended = true;
    }
  }
  /// It cannot be read any more.
  void no_message(std::uint32_t n) { all_[n].message = false; }
  void set_value(std::uint32_t n, const std::optional<Value>& value, bool several) {
    all_[n].value = value;
    all_[n].several = several;
  }

  /// Has the thread, which lives, done that?
  bool is_own(std::uint32_t n, Thread thread) const {
    return all_[n].used && !all_[n].ended && all_[n].thread == thread;
  }
  /// f(n), ascending.
  template <class F> void each(F&& f) const {
    for (std::uint32_t n = 0; n < size(); ++n) {
      if (all_[n].used) {
        f(n);
      }
    }
  }
  template <class F> void each_of(Thread thread, F&& f) const {
    each_of(thread, 1, std::forward<F>(f));
  }
  /// … of these threads, by their order.
  template <class F> void each_of(Thread first, std::uint64_t count, F&& f) const {
    for (auto at = std::ranges::lower_bound(by_thread_, Own{first, 0});
         at != by_thread_.end() && at->thread - first < count;
         ++at) {
      if (!all_[at->event].ended) {
        f(at->event);
      }
    }
  }
  template <class F> void each_overlapping(const Range& range, Kind kind, F&& f) const {
    const auto& places = kind == Kind::Writes ? writes_ : reads_;
    const std::uint64_t from = range.at < most_bytes_ ? 0 : range.at - most_bytes_ + 1;
    for (auto at = std::ranges::lower_bound(places, Place{{from, 0}, 0, 0});
         at != places.end() && at->range.at < range.at + range.bytes;
         ++at) {
      if (at->range.overlaps(range)) {
        f(at->event);
      }
    }
  }
  /// Of one thread, and those that had its name, at exactly that range.
  template <class F> void each_at(const Range& range, Kind kind, Thread thread, F&& f) const {
    const auto& places = kind == Kind::Writes ? writes_ : reads_;
    for (auto at = std::ranges::lower_bound(places, Place{range, thread, 0});
         at != places.end() && at->range == range && at->thread == thread;
         ++at) {
      f(at->event);
    }
  }

private:
  struct Place {
    Range range;
    Thread thread = 0;
    std::uint32_t event = 0;
    auto operator<=>(const Place&) const = default;
  };
  struct Own {
    Thread thread = 0;
    std::uint32_t event = 0;
    auto operator<=>(const Own&) const = default;
  };
  std::vector<Place>& by_place(bool write) { return write ? writes_ : reads_; }
  template <class Entry> static void insert(std::vector<Entry>& entries, const Entry& entry) {
    entries.insert(std::ranges::lower_bound(entries, entry), entry);
  }

  std::vector<Event> all_; // some are free
  std::vector<Place> reads_, writes_;
  std::vector<Own> by_thread_;
  std::uint32_t first_free_ = 0; // those before it are used
  std::uint32_t most_bytes_ = 0;
  std::uint64_t next_number_ = 0;
};

} // namespace heddle::weak
