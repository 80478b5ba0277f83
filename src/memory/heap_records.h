// HeapRecords: what device code has allocated with malloc(), live and freed, by address.
//
//   HeapRecords heap;
//   heap.add({base, bytes, id, device});       // beyond all that were added before
//   if (auto* record = heap.holding(a)) …      // a lies in it; it may be freed
//
// Programs allocate and free millions of objects, and each must be told of for as long as its
// addresses belong to nobody else. Addresses only grow, so records are a sorted list; an index by
// units of 64 KiB says where in it to look. A tree of all allocations took a microsecond for it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace heddle::memory {

struct HeapRecord {
  std::uint64_t base = 0;
  std::uint64_t size = 0;
  std::uint64_t id = 0;
  int device = 0;
  bool freed = false;
  bool gone = false; // its addresses belong to another allocation, or may soon

  std::uint64_t end() const { return base + size; }
};

class HeapRecords {
public:
  void add(const HeapRecord& record) {
    if (records_.empty()) {
      origin_ = record.base >> unit_bits;
    }
    const std::uint64_t unit = (record.base >> unit_bits) - origin_;
    first_.resize(std::max<std::size_t>(first_.size(), unit + 1), records_.size());
    records_.push_back(record);
  }
  /// The last one that begins at or before `a`; nullptr: none does.
  const HeapRecord* before(std::uint64_t a) const {
    const std::size_t next = behind(a);
    return next != 0 ? &records_[next - 1] : nullptr;
  }
  /// The first one that begins behind `a`.
  const HeapRecord* after(std::uint64_t a) const {
    const std::size_t next = behind(a);
    return next != records_.size() ? &records_[next] : nullptr;
  }
  /// Its bytes, or its base if it has none, are at `a`.
  const HeapRecord* holding(std::uint64_t a) const {
    const HeapRecord* record = before(a);
    return record != nullptr && !record->gone && (a < record->end() || a == record->base) ? record
                                                                                          : nullptr;
  }
  HeapRecord* holding(std::uint64_t a) {
    return const_cast<HeapRecord*>(static_cast<const HeapRecords*>(this)->holding(a));
  }
  /// The freed ones among these addresses.
  void forget_freed(std::uint64_t begin, std::uint64_t end) {
    const HeapRecord* first = before(begin);
    auto i = first != nullptr ? static_cast<std::size_t>(first - records_.data()) : 0;
    for (; i < records_.size() && records_[i].base < end; ++i) {
      records_[i].gone = records_[i].gone || (records_[i].freed && records_[i].end() > begin);
    }
  }
  const std::vector<HeapRecord>& all() const { return records_; }

private:
  static constexpr unsigned unit_bits = 16;

  /// Index of the first record that begins behind `a`.
  std::size_t behind(std::uint64_t a) const {
    const std::uint64_t unit = a >> unit_bits;
    if (records_.empty() || unit < origin_) {
      return 0;
    }
    const std::uint64_t n = unit - origin_;
    if (n >= first_.size()) {
      return records_.size();
    }
    const auto from = records_.begin() + static_cast<std::ptrdiff_t>(first_[n]);
    const auto to = n + 1 < first_.size()
                        ? records_.begin() + static_cast<std::ptrdiff_t>(first_[n + 1])
                        : records_.end();
    const auto next = std::upper_bound(from, to, a, [](std::uint64_t address, const HeapRecord& r) {
      return address < r.base;
    });
    return static_cast<std::size_t>(next - records_.begin());
  }

  std::vector<HeapRecord> records_;
  std::uint64_t origin_ = 0;       // unit of the first record
  std::vector<std::size_t> first_; // by unit: index of the first record that begins there or later
};

} // namespace heddle::memory
