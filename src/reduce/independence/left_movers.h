// LeftMovers: contended accesses that are made early all the same, because no conflicting access of
// another thread can come before them ([RED-MOVERS]; Lipton's left movers).
//
// A thread's access is *open* from when it is made until the thread next makes an access of which
// the search chooses when it happens: up to then it could still be to come. So it conflicts with
// whatever others access meanwhile.
//
//   LeftMovers movers(mutant);
//   movers.meet(access, opened_of_another_thread);   // for all that are open
//   movers.open(opened, access);                     // one's own
//   movers.end(opened);                              // a thread that has ended closes nothing
//   movers.clash(), movers.refuted()                 // the search is invalid; what to do without
//
// What is open is a part of the state of its thread, so that two executions in one state have the
// same accesses open.
//
// Only the first clash is reported. What follows it in the same search may be its consequence: an
// access that is made too early may lead others onto wrong paths.
//
// Conservative: barriers close nothing, so an access of the same block after one may be reported.
#pragma once

#include "reduce/learned.h"
#include "reduce/mutant.h"

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace heddle::reduce {

/// A strong access of a contended instruction to global memory. No padding: images hold its bytes.
struct OpenAccess {
  std::uint64_t place = 0; // its first byte
  std::uint32_t kind = 0;  // as Sums::Access::kind
  std::uint16_t bytes = 0;
  std::uint16_t bucket = 0; // of the instruction
  auto operator<=>(const OpenAccess&) const = default;
};
static_assert(sizeof(OpenAccess) == 16);

/// What is open of one thread; sorted, each once.
using OpenAccesses = std::vector<OpenAccess>;

/// Where they go to, by places_of() of an address.
std::uint64_t places_of(const OpenAccess& access);
std::uint64_t places_of(const OpenAccesses& open);

/// How many of several things have something open at each place.
class OpenPlaces {
public:
  void add(std::uint64_t places);
  void subtract(std::uint64_t places);
  std::uint64_t all() const { return all_; }

private:
  std::array<std::uint32_t, 64> count_{};
  std::uint64_t all_ = 0;
};

/// One that was made in a move, and by whom.
struct MadeAccess {
  OpenAccess access;
  std::uint64_t places = 0; // places_of(access)
  std::uint32_t thread = 0; // in its cluster, 32 for each warp
  std::uint32_t cluster = 0;
};

class LeftMovers {
public:
  explicit LeftMovers(Mutant mutant) : mutant_(mutant) {}

  void meet(const OpenAccess& access, const OpenAccesses& open);
  void open(OpenAccesses& own, const OpenAccess& access);
  /// One that is made early, of which nobody knows by whom.
  void open_of_nobody(const OpenAccess& access) { blame(access); }
  void end(OpenAccesses& own);

  bool clash() const { return refuted_.immovable != 0; }
  const Learned& refuted() const { return refuted_; }

private:
  void blame(const OpenAccess& access) { refuted_.immovable |= std::uint64_t{1} << access.bucket; }

  Mutant mutant_;
  Learned refuted_;
};

} // namespace heddle::reduce
