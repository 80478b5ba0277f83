// Learned: which assumptions about a program's instructions and kernels a search has refuted, so
// that the next search of the same program does without them.
//
//   options.learned |= table.learned();     // after a search that is void
//
// Each member is a set of instructions, or kernels, by 6 bits of a hash of their names. Two of them
// may share a bit. That costs states and never misses anything, because each member only takes a
// reduction away.
#pragma once

#include <cstdint>

namespace heddle::machine {

struct Learned {
  /// Instructions whose accesses may conflict with those of other threads that are under way at the
  /// same time: the search chooses when such an access happens ([RED-INDEPENDENT]).
  std::uint64_t contended = 0;
  /// Instructions whose accesses conflict with others of the same thread or block only. Threads
  /// that have made one are told apart ([RED-OWNED]).
  std::uint64_t owned = 0;
  /// Instructions whose accesses conflict with others in a way on which only data depends
  /// ([RED-DATA-ORDER]).
  std::uint64_t unordered = 0;
  /// Kernels whose grids do not come to an end by themselves ([RED-HOST-FIRST]).
  std::uint64_t lasting = 0;

  Learned& operator|=(const Learned& other) {
    contended |= other.contended;
    owned |= other.owned;
    unordered |= other.unordered;
    lasting |= other.lasting;
    return *this;
  }
  bool operator==(const Learned&) const = default;
};

} // namespace heddle::machine
