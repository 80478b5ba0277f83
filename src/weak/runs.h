// Runs: a map from threads to values in which threads side by side with one value have it once.
//
//   Runs<Location> map;
//   map.set(first, 64, location); map.at(first + 3); map.erase(first);
//   for (auto& run : map) …                            // run.first, run.count, run.value
//   map.part(first + 3, 1).value = other;              // of these threads only
//   map.join([](auto& a, auto& b) { return a == b; }); // runs that need not be two any more
//
// References and iterators are void after whatever changes runs.
#pragma once

#include "base/check.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace heddle::weak {

using Thread = std::uint64_t;

template <class Value> class Runs {
public:
  struct Run {
    Thread first = 0;
    std::uint64_t count = 0;
    Value value{};
    Thread end() const { return first + count; }
    bool has(Thread thread) const { return thread - first < count; }
  };

  auto begin() { return runs_.begin(); }
  auto end() { return runs_.end(); }
  auto begin() const { return runs_.begin(); }
  auto end() const { return runs_.end(); }
  std::size_t size() const { return size_; } // in threads
  bool empty() const { return size_ == 0; }

  bool contains(Thread thread) const { return find(thread) != nullptr; }
  /// Is one of them there?
  bool has_some(Thread first, std::uint64_t count) const {
    const std::size_t behind = index_behind(first + count - 1);
    return count != 0 && behind != 0 && runs_[behind - 1].end() > first;
  }
  const Value& at(Thread thread) const { return run_of(thread).value; }
  const Run& run_of(Thread thread) const {
    const Run* const run = find(thread);
    HEDDLE_CHECK(run != nullptr, "no such thread: {}", thread);
    return *run;
  }
  /// A run of exactly these threads, all of which are in one.
  Run& part(Thread first, std::uint64_t count) {
    std::size_t at = index_behind(first) - 1;
    HEDDLE_CHECK(at < runs_.size() && runs_[at].end() >= first + count, "no such run: {}", first);
    at = split(at, first);
    split(at, first + count);
    return runs_[at];
  }
  void set(Thread first, std::uint64_t count, Value value) {
    erase(first, count);
    runs_.insert(at_index(index_behind(first)), Run{first, count, std::move(value)});
    size_ += count;
  }
  /// Those of them that are there.
  void erase(Thread first, std::uint64_t count = 1) {
    for (std::size_t at = 0; at < runs_.size();) {
      const Thread from = std::max(first, runs_[at].first);
      const Thread to = std::min(first + count, runs_[at].end());
      if (from >= to) {
        ++at;
        continue;
      }
      at = split(at, from);
      split(at, to);
      runs_.erase(at_index(at));
      size_ -= to - from;
    }
  }
  template <class F> void join(F&& alike) {
    std::size_t last = 0;
    for (std::size_t at = 1; at < runs_.size(); ++at) {
      Run& before = runs_[last];
      if (before.end() == runs_[at].first && alike(before.value, runs_[at].value)) {
        before.count += runs_[at].count;
      } else if (++last != at) {
        runs_[last] = std::move(runs_[at]);
      }
    }
    if (!runs_.empty()) {
      runs_.erase(at_index(last + 1), runs_.end());
    }
  }

private:
  auto at_index(std::size_t at) { return runs_.begin() + static_cast<std::ptrdiff_t>(at); }
  /// The first run that begins behind it.
  std::size_t index_behind(Thread thread) const {
    return static_cast<std::size_t>(
        std::ranges::upper_bound(runs_, thread, {}, &Run::first) - runs_.begin()
    );
  }
  const Run* find(Thread thread) const {
    const std::size_t at = index_behind(thread);
    return at != 0 && runs_[at - 1].has(thread) ? &runs_[at - 1] : nullptr;
  }
  /// Makes a run begin there, if one goes on there; returns the index of what stands there now, or
  /// would.
  std::size_t split(std::size_t at, Thread thread) {
    Run& run = runs_[at];
    if (thread <= run.first || thread >= run.end()) {
      return thread <= run.first ? at : at + 1;
    }
    Run rest{thread, run.end() - thread, run.value};
    run.count = thread - run.first;
    runs_.insert(at_index(at + 1), std::move(rest));
    return at + 1;
  }

  std::vector<Run> runs_; // by first
  std::size_t size_ = 0;
};

} // namespace heddle::weak
