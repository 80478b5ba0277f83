// Lists: many short lists of values, one behind the other in one piece of memory, known by numbers.
//
//   Lists<Demand> lists;                                  // list 0 is the empty one
//   const std::uint32_t n = lists.add(values);
//   for (const Demand& demand : lists[n]) …
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <vector>

namespace heddle::explore {

template <class T> class Lists {
public:
  std::uint32_t add(std::span<const T> list) {
    values_.insert(values_.end(), list.begin(), list.end());
    ends_.push_back(values_.size());
    return static_cast<std::uint32_t>(ends_.size() - 1);
  }
  /// Of values that are sorted into lists 1, 2, …: value v goes to list number which(v) + 1, behind
  /// those before it.
  template <class Which>
  static Lists
  of_sizes(std::span<const std::size_t> sizes, std::span<const T> values, const Which& which) {
    Lists lists;
    std::vector<std::size_t> next;
    std::size_t end = 0;
    for (const std::size_t size : sizes) {
      next.push_back(end);
      lists.ends_.push_back(end += size);
    }
    lists.values_.resize(values.size());
    for (const T& value : values) {
      lists.values_[next[which(value)]++] = value;
    }
    return lists;
  }
  std::uint32_t add(std::initializer_list<T> list) {
    return add(std::span<const T>(list.begin(), list.size()));
  }
  std::span<const T> operator[](std::uint32_t n) const {
    const std::size_t begin = n == 0 ? 0 : ends_[n - 1];
    return {values_.data() + begin, ends_[n] - begin};
  }
  std::size_t size() const { return ends_.size(); }

private:
  std::vector<T> values_;
  std::vector<std::size_t> ends_{0};
};

} // namespace heddle::explore
