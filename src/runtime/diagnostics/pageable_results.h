// PageableResults: memory of the host alone that asynchronous copies write, and that functions of
// streams are given, until the host has waited by a call that promises it: such a copy "might be
// synchronous" ([API-WAIT]).
//
//   results.add(at, bytes);           // a copy with Async is about to be submitted
//   if (results.contain(at)) …        // an access of the host there is one for the monitor
//   results.clear();                  // the host has waited
//
// Misses what comes behind a wait for another stream. Thread safe. Allocates nothing, since drop()
// is called by free().
#pragma once

#include "memory/address_space.h"

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <span>

namespace heddle::runtime {

class PageableResults {
public:
  void add(memory::Address at, std::uint64_t bytes);
  bool contain(memory::Address at) const;
  /// These bytes are given back to the heap.
  void drop(memory::Address at, std::uint64_t bytes);
  void clear();

private:
  struct Result {
    memory::Address at = 0;
    std::uint64_t bytes = 0;
  };
  std::span<const Result> all() const { return {results_.data(), count_}; }

  mutable std::mutex mutex_;
  std::atomic<bool> any_{false};
  std::array<Result, 64> results_;
  std::size_t count_ = 0;
};

} // namespace heddle::runtime
