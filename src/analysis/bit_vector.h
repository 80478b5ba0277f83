// BitVector: a set of dense indexes (registers, blocks) with word-wise union and difference.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace heddle::analysis {

class BitVector {
public:
  BitVector() = default;
  explicit BitVector(std::size_t size) : size_(size), words_((size + 63) / 64) {}

  std::size_t size() const { return size_; }
  bool test(std::size_t i) const { return (words_[i / 64] >> (i % 64) & 1) != 0; }
  void set(std::size_t i) { words_[i / 64] |= std::uint64_t{1} << (i % 64); }
  void reset(std::size_t i) { words_[i / 64] &= ~(std::uint64_t{1} << (i % 64)); }

  std::size_t count() const {
    std::size_t n = 0;
    for (std::uint64_t word : words_) {
      n += static_cast<std::size_t>(std::popcount(word));
    }
    return n;
  }

  /// Adds the members of other; true if that changed something.
  bool unite(const BitVector& other) {
    std::uint64_t changed = 0;
    for (std::size_t w = 0; w < words_.size(); ++w) {
      changed |= other.words_[w] & ~words_[w];
      words_[w] |= other.words_[w];
    }
    return changed != 0;
  }

  void subtract(const BitVector& other) {
    for (std::size_t w = 0; w < words_.size(); ++w) {
      words_[w] &= ~other.words_[w];
    }
  }

  /// Calls f(i) for each member, lowest first.
  template <class F> void each(F&& f) const {
    for (std::size_t w = 0; w < words_.size(); ++w) {
      for (std::uint64_t word = words_[w]; word != 0; word &= word - 1) {
        f(w * 64 + static_cast<std::size_t>(std::countr_zero(word)));
      }
    }
  }

  bool operator==(const BitVector&) const = default;

private:
  std::size_t size_ = 0;
  std::vector<std::uint64_t> words_;
};

} // namespace heddle::analysis
