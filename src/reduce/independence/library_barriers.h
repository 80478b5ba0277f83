// LibraryBarriers: the barriers that cooperative groups makes of memory that nobody else knows of:
// of a grid, and of tiles of several warps. They are to the search what mbarriers are
// (mbarriers.h): arrivals happen at once, and who asks in vain is blocked ([RED-PHASES]).
#pragma once

#include "memory/address_space.h"
#include "reduce/independence/access_kinds.h"
#include "reduce/independence/trial.h"

#include <cstddef>
#include <cstdint>
#include <optional>

namespace heddle::reduce {

class LibraryBarriers {
public:
  struct Options { // IndependenceOptions
    bool phases = false, tiles = false;
  };
  LibraryBarriers(
      Trials& trials,
      const memory::AddressSpace& space,
      AccessKinds& kinds,
      const Options& options
  )
      : trials_(trials),
        space_(space),
        kinds_(kinds),
        options_(options) {}

  struct LibraryOp {
    bool load = false;
    bool of_grid = false;
  };
  /// Does the lane stand at an access to such memory by a generic address?
  std::optional<LibraryOp> operation(const Lane& at);
  bool polls(const Lane& at);
  /// What that is to the search; `as` if it is no such access.
  Operation classify(const Lane& at, Operation as);
  /// The lane is about to make one. Arrivals at the barrier of a tile commute as long as no thread
  /// acts differently because it was the last to arrive. Arrivals at the barrier of a grid commute
  /// as long as each is made by a thread that has waited for the phase of its block's previous
  /// arrival.
  void note(const Lane& at);
  bool tiles_clash() const { return tiles_clash_; }
  bool grid_clash() const { return grid_clash_; }

  /// The barrier of a cooperative grid, as it is now.
  std::uint64_t grid_barrier(const Work& work) const;

private:
  const std::byte* word_at(const Lane& at, std::uint64_t address);
  bool is(Mutant mutant) const { return trials_.mutant == mutant; }

  Trials& trials_;
  const memory::AddressSpace& space_;
  AccessKinds& kinds_;
  Options options_;
  bool tiles_clash_ = false;
  bool grid_clash_ = false;
};

} // namespace heddle::reduce
