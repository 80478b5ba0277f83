// Implements pageable_results.h.
#include "runtime/diagnostics/pageable_results.h"

#include <algorithm>

namespace heddle::runtime {

void PageableResults::add(memory::Address at, std::uint64_t bytes) {
  const std::lock_guard lock(mutex_);
  if (count_ == results_.size()) { // the oldest one goes
    std::shift_left(results_.begin(), results_.end(), 1);
    --count_;
  }
  results_[count_++] = {at, bytes};
  any_ = true;
}

bool PageableResults::contain(memory::Address at) const {
  if (!any_) {
    return false;
  }
  const std::lock_guard lock(mutex_);
  return std::ranges::any_of(all(), [&](const Result& r) {
    return at >= r.at && at < r.at + r.bytes;
  });
}

void PageableResults::drop(memory::Address at, std::uint64_t bytes) {
  if (!any_) {
    return;
  }
  const std::lock_guard lock(mutex_);
  const auto end = results_.begin() + static_cast<std::ptrdiff_t>(count_);
  const auto rest = std::remove_if(results_.begin(), end, [&](const Result& r) {
    return r.at < at + bytes && at < r.at + r.bytes;
  });
  count_ = static_cast<std::size_t>(rest - results_.begin());
  any_ = count_ != 0;
}

void PageableResults::clear() {
  if (any_) {
    const std::lock_guard lock(mutex_);
    count_ = 0;
    any_ = false;
  }
}

} // namespace heddle::runtime
