// PageableResults: memory of the host alone that asynchronous copies write, until the host has
// waited by a call that promises it: such a copy "might be synchronous" ([API-WAIT]).
//
//   results.add(at, bytes);           // a copy with Async is about to be submitted
//   if (results.contain(at)) …        // an access of the host there is one for the monitor
//   results.clear();                  // the host has waited
//
// Misses what comes behind a wait for another stream. Thread safe.
#pragma once

#include "memory/address_space.h"

#include <atomic>
#include <cstdint>
#include <mutex>
#include <vector>

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
  mutable std::mutex mutex_;
  std::atomic<bool> any_{false};
  std::vector<Result> results_;
};

} // namespace heddle::runtime
