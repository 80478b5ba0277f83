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
