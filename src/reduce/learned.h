// Learned: which assumptions about a program's instructions and kernels a search has refuted, so
// that the next search of the same program does without them.
//
//   options.learned |= table.learned();     // after a search that is invalid
//
// Instructions, places, kernels and allocations are told apart by 6 bits of a hash of their names,
// so two may share a bit. That costs states and never misses anything, because each member only
// takes a reduction away.
#pragma once

#include <cstdint>

namespace heddle::reduce {

/// Assumptions about a program as a whole.
enum class Assumption : std::uint8_t {
  Phases,     // operations on mbarriers commute or block ([RED-PHASES])
  Tiles,      // no thread acts differently for arriving last at a tile's barrier ([RED-PHASES])
  HeapRoom,   // the device's heap always has room ([RED-HEAP])
  Neighbours, // a block does not end while others access its shared memory ([RED-NEIGHBOURS])
  Turns,      // who arrives at a barrier knows that the phase before is over ([RED-JOIN])
  Whole,      // without it: a warp comes to a barrier as a whole
  Copies,     // nobody looks at the words of a copy that is under way
  Groups,     // it is known who comes to places at which some go first ([RED-GROUPS])
  OneWay // with the memory model of PTX: there is one way to make a free access ([RED-INDEPENDENT])
};

struct Learned {
  /// Instructions whose accesses may conflict with those of other threads that are under way at the
  /// same time: the search chooses when such an access happens ([RED-INDEPENDENT]).
  std::uint64_t contended = 0;
  /// Places where they did, by places_of(). An access of a contended instruction to another place
  /// is taken for independent again ([RED-PLACES]). None: they are contended everywhere.
  std::uint64_t places = 0;
  /// Of contended instructions those before whose accesses others may make conflicting ones: the
  /// search chooses when these happen ([RED-MOVERS]); with the memory model of PTX those that the
  /// host or a copy may see ([RED-EARLY]), or change ([RED-SETTLED]).
  std::uint64_t immovable = 0;
  /// Places, by places_of(), that are written more than once in one execution, so that a read which
  /// finds one write of them may have to wait for the next one ([RED-SETTLED]).
  std::uint64_t rewritten = 0;
  /// Instructions whose accesses conflict with others of the same thread or block only. Threads
  /// that have made one are told apart ([RED-OWNED]).
  std::uint64_t owned = 0;
  /// Instructions whose accesses conflict with others in a way on which only data depends
  /// ([RED-DATA-ORDER]).
  std::uint64_t unordered = 0;
  /// Kernels whose grids do not come to an end by themselves ([RED-HOST-FIRST]).
  std::uint64_t lasting = 0;
  /// Plain stores to memory by which something is decided ([RED-CONE]).
  std::uint64_t deciding = 0;
  /// Allocations by whose contents something is decided ([RED-CONE]).
  std::uint64_t kept = 0;
  /// Assumptions, a bit each, that do not hold.
  std::uint64_t refuted = 0;

  bool holds(Assumption assumption) const {
    return (refuted >> static_cast<unsigned>(assumption) & 1) == 0;
  }
  void refute(Assumption assumption) {
    refuted |= std::uint64_t{1} << static_cast<unsigned>(assumption);
  }
  Learned& operator|=(const Learned& other) {
    contended |= other.contended;
    places |= other.places;
    immovable |= other.immovable;
    rewritten |= other.rewritten;
    owned |= other.owned;
    unordered |= other.unordered;
    lasting |= other.lasting;
    deciding |= other.deciding;
    kept |= other.kept;
    refuted |= other.refuted;
    return *this;
  }
  bool operator==(const Learned&) const = default;
};

} // namespace heddle::reduce
