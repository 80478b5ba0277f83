// bounds.h: how large a thread's index and its quotients and remainders can become.
//
//   Bounds(arithmetic, uniformity).upper(id)      // threadIdx.x / 32 in blocks of 128 threads: 4
//
// What `__launch_bounds__` and the launches say is believed. In which direction it errs: a value of
// which nothing is known has no bound, and may cause a false report.
#pragma once

#include "lint/arithmetic.h"

namespace heddle::lint {

constexpr std::int64_t most_threads = 1024; // of a block, on every architecture

class Bounds {
public:
  Bounds(const Arithmetic& arithmetic, const Uniformity& uniformity)
      : arithmetic_(arithmetic),
        uniformity_(uniformity),
        flow_(uniformity.flow) {}

  /// A number that the value, which is not negative, does not reach.
  std::optional<std::int64_t> upper(ValueId id, std::size_t depth = 0) const;
  /// Does the operation give the same result for every value that `left` can have?
  bool decide(const Instruction& code, ValueId left, ValueId right) const;

private:
  std::optional<std::int64_t> upper_of(Symbol which) const;

  const Arithmetic& arithmetic_;
  const Uniformity& uniformity_;
  const Dataflow& flow_;
};

} // namespace heddle::lint
