// Implements pageable_results.h.
#include "runtime/diagnostics/pageable_results.h"

#include <algorithm>

namespace heddle::runtime {
namespace {

constexpr std::size_t most_results = 64;

} // namespace

void PageableResults::add(memory::Address at, std::uint64_t bytes) {
  const std::lock_guard lock(mutex_);
  if (results_.size() == most_results) {
    results_.erase(results_.begin());
  }
  results_.push_back({at, bytes});
  any_ = true;
}

bool PageableResults::contain(memory::Address at) const {
  if (!any_) {
    return false;
  }
  const std::lock_guard lock(mutex_);
  return std::ranges::any_of(results_, [&](const Result& r) {
    return at >= r.at && at < r.at + r.bytes;
  });
}

void PageableResults::drop(memory::Address at, std::uint64_t bytes) {
  if (!any_) {
    return;
  }
  const std::lock_guard lock(mutex_);
  std::erase_if(results_, [&](const Result& r) {
    return r.at < at + bytes && at < r.at + r.bytes;
  });
  any_ = !results_.empty();
}

void PageableResults::clear() {
  if (any_) {
    const std::lock_guard lock(mutex_);
    results_.clear();
    any_ = false;
  }
}

} // namespace heddle::runtime
