// selection.h: which entries are worth an analysis, and which instantiations of a template show
// something that earlier ones did not.
//
//   Selection selection(unit);
//   if (selection.is_worth(entry) && selection.is_new(entry)) …
//
// A rule needs a barrier, an operation of a warp, an atomic operation, shared memory or a loop to
// say anything; a function that does not lead to one is not inlined. That loses no finding. Of the
// instantiations of a template the first four are analysed (of a large one two), and later ones
// where they lead to a statement that none of those led to (the other side of an `if constexpr`).
// Misses what is wrong only for the constants of a later instantiation.
#pragma once

#include "lint/flow.h"

#include <map>
#include <unordered_set>

namespace heddle::lint {

class Selection {
public:
  explicit Selection(const Unit& unit);

  bool is_worth(std::uint32_t entry) const;
  /// Once for each entry: it remembers what it has seen.
  bool is_new(std::uint32_t entry);

private:
  struct Body {
    bool synchronizes = false; // barriers, warps, atomics, shared memory
    bool loops = false;
  };
  struct Alike {
    std::size_t analysed = 0;
    std::unordered_set<std::uint64_t> statements;
  };

  const Unit& unit_;
  std::vector<Body> bodies_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, Alike> alike_; // by the place of the template
};

} // namespace heddle::lint
