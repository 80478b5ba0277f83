// View: a set of events, by small numbers. 64 of them need no memory besides.
//
//   view.add(3); view.add_all(other); view.has(3); view.remove(3);
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace heddle::weak {

class View {
public:
  void add(std::size_t n) { word(n) |= bit(n); }
  bool has(std::size_t n) const {
    return n < bits ? (first_ & bit(n)) != 0
                    : n / bits <= more_.size() && (more_[n / bits - 1] & bit(n)) != 0;
  }
  void remove(std::size_t n) {
    if (has(n)) {
      word(n) &= ~bit(n);
    }
  }
  void add_all(const View& other) {
    first_ |= other.first_;
    more_.resize(std::max(more_.size(), other.more_.size()));
    for (std::size_t i = 0; i < other.more_.size(); ++i) {
      more_[i] |= other.more_[i];
    }
  }
  void keep_only(const View& other) {
    first_ &= other.first_;
    for (std::size_t i = 0; i < more_.size(); ++i) {
      more_[i] &= i < other.more_.size() ? other.more_[i] : 0;
    }
  }
  void remove_all(const View& other) {
    first_ &= ~other.first_;
    for (std::size_t i = 0; i < std::min(more_.size(), other.more_.size()); ++i) {
      more_[i] &= ~other.more_[i];
    }
  }
  bool is_in(const View& other) const {
    if ((first_ & ~other.first_) != 0) {
      return false;
    }
    for (std::size_t i = 0; i < more_.size(); ++i) {
      if ((more_[i] & ~(i < other.more_.size() ? other.more_[i] : 0)) != 0) {
        return false;
      }
    }
    return true;
  }
  /// f(n) for each, in ascending order.
  template <class F> void each(F&& f) const {
    for (std::size_t i = 0; i <= more_.size(); ++i) {
      for (std::uint64_t w = i == 0 ? first_ : more_[i - 1]; w != 0; w &= w - 1) {
        f(i * bits + static_cast<std::size_t>(std::countr_zero(w)));
      }
    }
  }
  /// Equal sets are equal views from then on.
  void trim() {
    while (!more_.empty() && more_.back() == 0) {
      more_.pop_back();
    }
  }
  bool operator==(const View&) const = default;
  /// The same for equal views.
  std::size_t hash() const {
    std::uint64_t result = first_;
    for (const std::uint64_t w : more_) {
      result = (result ^ result >> 29) * 0x9e37'79b9'7f4a'7c15ULL + w;
    }
    return static_cast<std::size_t>(result);
  }
  bool empty() const {
    return first_ == 0 && std::ranges::all_of(more_, [](std::uint64_t w) { return w == 0; });
  }

private:
  static constexpr std::size_t bits = 64;
  static std::uint64_t bit(std::size_t n) { return std::uint64_t{1} << n % bits; }
  std::uint64_t& word(std::size_t n) {
    if (n < bits) {
      return first_;
    }
    more_.resize(std::max(more_.size(), n / bits));
    return more_[n / bits - 1];
  }

  std::uint64_t first_ = 0;
  std::vector<std::uint64_t> more_;
};

} // namespace heddle::weak
