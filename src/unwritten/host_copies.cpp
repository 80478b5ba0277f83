// Implements host_copies.h.
#include "unwritten/host_copies.h"

#include <algorithm>
#include <cstring>
#include <iterator>

namespace heddle::unwritten {
namespace {

/// This thread changes the table: what that frees itself is not of interest.
thread_local bool changes_host_copies = false;

class HostCopiesChange {
public:
  HostCopiesChange() { changes_host_copies = true; }
  ~HostCopiesChange() { changes_host_copies = false; }
  HostCopiesChange(const HostCopiesChange&) = delete;
  HostCopiesChange& operator=(const HostCopiesChange&) = delete;
};

} // namespace

void HostCopies::copied(const Row& row, const std::function<Copy()>& describe) {
  const HostCopiesChange change;
  const std::lock_guard lock(mutex_);
  forget(row.to, row.to + row.bytes);
  if (on_memory_ == nullptr || row.values == nullptr ||
      row.from.all_written(row.offset, row.bytes)) {
    return;
  }
  copies_.push_back({describe(), row.to, {row.values, row.values + row.bytes}});
  const auto is_written = [&](std::uint64_t n) { return row.from.bits(row.offset + n, 1) != 0xff; };
  for (std::uint64_t n = 0; n < row.bytes;) {
    if (is_written(n)) {
      ++n;
      continue;
    }
    std::uint64_t end = n + 1;
    while (end < row.bytes && !is_written(end)) {
      ++end;
    }
    pieces_[row.to + n] = {row.to + end, copies_.size() - 1};
    on_memory_(row.to + n, end - n);
    n = end;
  }
}

void HostCopies::written(memory::Address at, std::uint64_t bytes) {
  if (changes_host_copies) {
    return;
  }
  const HostCopiesChange change;
  const std::lock_guard lock(mutex_);
  forget(at, at + bytes);
}

std::optional<HostCopies::Copy> HostCopies::read(memory::Address at, std::uint64_t bytes) const {
  constexpr std::uint64_t most = 16; // more is a copy
  const std::lock_guard lock(mutex_);
  const auto next = pieces_.upper_bound(at);
  if (next == pieces_.begin() || bytes > most) {
    return std::nullopt;
  }
  const Piece& piece = std::prev(next)->second;
  const Kept& kept = copies_[piece.copy];
  if (at + bytes > piece.end ||
      std::memcmp(reinterpret_cast<const void*>(at), kept.values.data() + (at - kept.to), bytes) !=
          0) {
    return std::nullopt;
  }
  return kept.copy;
}

void HostCopies::forget(memory::Address begin, memory::Address end) {
  auto at = pieces_.lower_bound(begin);
  if (at != pieces_.begin()) {
    Piece& before = std::prev(at)->second;
    if (before.end > end) {
      pieces_[end] = before;
    }
    before.end = std::min(before.end, begin);
  }
  at = pieces_.lower_bound(begin);
  while (at != pieces_.end() && at->first < end) {
    const Piece piece = at->second;
    at = pieces_.erase(at);
    if (piece.end > end) {
      pieces_[end] = piece;
      break;
    }
  }
}

} // namespace heddle::unwritten
