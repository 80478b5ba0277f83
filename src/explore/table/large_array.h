// LargeArray: plain values, zero at first, whose pages are touched first by whoever writes to them.
//
//   LargeArray<std::uint32_t> first(states + 1);
//
// (std::vector would write to all of it, in one thread.)
//
// Arrays of a graph of a million states are some tens of megabytes each; filling their pages takes
// as long as judging. Kept in memory mappings of their own, in large pages where there are some; a
// forked process does not have these.
#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <cstdlib>
#include <new>
#include <type_traits>
#include <utility>

namespace heddle::explore {

template <class T> class LargeArray {
  static_assert(std::is_trivially_destructible_v<T> && std::is_trivially_copyable_v<T>);

public:
  LargeArray() = default;
  /// Throws std::bad_alloc, as a vector would.
  explicit LargeArray(std::size_t count) : size_(count) {
    if (count == 0) {
      return;
    }
    void* p = is_small() ? std::calloc(size_, sizeof(T)) : map();
    if (p == nullptr) {
      throw std::bad_alloc();
    }
    data_ = static_cast<T*>(p);
  }
  LargeArray(LargeArray&& other) noexcept { *this = std::move(other); }
  LargeArray& operator=(LargeArray&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    return *this;
  }
  ~LargeArray() {
    if (is_small()) {
      std::free(data_);
    } else {
      ::munmap(data_, bytes());
    }
  }

  T* data() { return data_; }
  const T* data() const { return data_; }
  std::size_t size() const { return size_; }
  T& operator[](std::size_t i) { return data_[i]; }
  const T& operator[](std::size_t i) const { return data_[i]; }

private:
  std::size_t bytes() const { return size_ * sizeof(T); }
  /// A mapping takes longer than filling it: graphs of few states are judged after each step of a single schedule.
  bool is_small() const { return bytes() < std::size_t{64} << 10; }

  /// nullptr: no memory.
  void* map() const {
    void* p = ::mmap(
        nullptr,
        bytes(),
        PROT_READ | PROT_WRITE,
        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
        -1,
        0
    );
    if (p == MAP_FAILED) {
      return nullptr;
    }
    // A program that is started meanwhile would make a copy of each large page that is written to.
    ::madvise(p, bytes(), MADV_DONTFORK);
    constexpr std::size_t worth_it = std::size_t{2} << 20; // one large page
    if (bytes() >= worth_it) {
      ::madvise(p, bytes(), MADV_HUGEPAGE);
    }
    return p;
  }

  T* data_ = nullptr;
  std::size_t size_ = 0;
};

} // namespace heddle::explore
