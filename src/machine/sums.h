// Sums: updates whose result nobody uses and which commute with each other (red.add, and such
// like). As long as nobody else accesses a place in another way while they may happen, in which
// order and when they happen nobody can tell, and the explorer need not choose.
//
//   Sums sums;
//   sums.overlap(a, b);                             // works that may be under way at the same time
//   sums.note(a, {.at = p, .bytes = 4, .kind = k}); // k = 0: any other strong access
//   if (sums.clash()) …                             // the assumption does not hold
//
// Errs to the safe side: a clash may be none.
#pragma once

#include <cstddef>
#include <cstdint>
#include <set>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

namespace heddle::machine {

class Sums {
public:
  using WorkId = std::uint64_t;
  struct Access {
    const std::byte* at = nullptr;
    std::uint32_t bytes = 0;
    std::uint32_t kind = 0; // equal kinds commute; 0: no sum
  };

  void overlap(WorkId a, WorkId b) { overlap_.insert({a, b}); }
  void note(WorkId work, const Access& access);
  /// The host has made a strong access while these were under way.
  void note_host(const Access& access, std::span<const WorkId> under_way);
  bool clash() const { return clash_; }

private:
  struct Known {
    WorkId work = 0;
    Access access;
  };
  static constexpr std::uintptr_t granule = 4;
  void check(WorkId a, const Access& x, WorkId b, const Access& y);
  template <class F> static void each_place(const Access& access, F&& f);

  std::set<std::pair<WorkId, WorkId>> overlap_;
  std::unordered_map<std::uintptr_t, std::vector<Known>> places_; // by granule
  bool clash_ = false;
};

} // namespace heddle::machine
