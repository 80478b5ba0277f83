// Implements sums.h.
#include "machine/sums.h"

#include <algorithm>

namespace heddle::machine {

template <class F> void Sums::each_place(const Access& access, F&& f) {
  const auto begin = reinterpret_cast<std::uintptr_t>(access.at);
  for (std::uintptr_t p = begin / granule; p <= (begin + access.bytes - 1) / granule; ++p) {
    f(p);
  }
}

void Sums::check(WorkId a, const Access& x, WorkId b, const Access& y) {
  const bool sums = x.kind != 0 || y.kind != 0;
  const bool same = x.kind == y.kind && x.at == y.at && x.bytes == y.bytes;
  if (sums && !same && (a == b || overlap_.contains({a, b}) || overlap_.contains({b, a}))) {
    clash_ = true;
  }
}

void Sums::note(WorkId work, const Access& access) {
  each_place(access, [&](std::uintptr_t place) {
    std::vector<Known>& known = places_[place];
    bool is_new = true;
    for (const Known& other : known) {
      check(work, access, other.work, other.access);
      is_new = is_new && !(other.work == work && other.access.kind == access.kind &&
                           other.access.at == access.at && other.access.bytes == access.bytes);
    }
    if (is_new) {
      known.push_back({work, access});
    }
  });
}

void Sums::note_host(const Access& access, std::span<const WorkId> under_way) {
  // As if each of them had made it.
  for (const WorkId work : under_way) {
    note(work, access);
  }
}

} // namespace heddle::machine
