// System: a program on the device as a system of states and moves, and nothing else.
//
//   System system(grids, memory, exec_space);
//   const Bytes start = system.save();
//   for (const Move& move : system.enabled()) {
//     system.load(start);
//     const Taken taken = system.apply(move);   // one PTX instruction of one thread
//     …system.save()…
//   }
//
// The reference with which the search of `heddle check` is compared. It shares with that search
// what executes an instruction (isa/), what a block does when threads wait for each other
// (machine/block.h), and the table of what an instruction is to others (ptx/effect.def); and no
// line of what finds moves, names states or leaves anything out. A state is all that a program's
// future depends on, whole: each byte of its memory, each register of each thread. Every thread
// that nothing blocks may move, and it moves by one instruction.
//
// What it does not know it refuses (Taken::refused): clocks, copies that complete later, grids
// that launch others, dependencies between grids other than the end of one, malloc and printf.
#pragma once

#include "isa/exec.h"
#include "machine/block.h"
#include "machine/grid.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace heddle::reference {

using Bytes = std::vector<std::byte>;

/// A grid, and those that have to end before it may begin ([DEP]), by their numbers.
struct Launched {
  std::shared_ptr<machine::Grid> grid;
  std::vector<std::size_t> behind;
};

struct Move {
  std::size_t grid = 0, cluster = 0, block = 0, warp = 0;
  int lane = 0;
  std::uint32_t thread = 0; // its number among all threads of the program
  bool owed = false;        // [CLUSTER] [COOP]: it is guaranteed to go on
};

/// An access to memory that other threads may see.
struct Access {
  const std::byte* at = nullptr;
  std::uint32_t bytes = 0;
  bool writes = false, strong = false;
};

/// What a move has done.
struct Taken {
  bool step = false; // spec/steps.md
  std::vector<Access> accesses;
  std::string fault;   // not empty: the program is over
  std::string refused; // not empty: what the reference does not know; nothing has been done
};

class System {
public:
  /// `memory`: all that the grids can reach in the global state space.
  System(
      std::vector<Launched> grids,
      std::vector<std::span<std::byte>> memory,
      memory::AddressSpace& space
  );
  ~System();

  std::vector<Move> enabled();
  Taken apply(const Move& move);
  /// All threads of all grids have ended.
  bool over() const;
  /// Threads that have not ended and that something blocks.
  std::vector<std::string> blocked() const;
  std::string name_of(const Move& move) const;

  /// Valid until the next call.
  const Bytes& save();
  void load(const Bytes& state);

private:
  class Watch;
  struct Grid {
    Launched launched;
    std::vector<std::unique_ptr<machine::Cluster>> clusters;
    std::vector<std::uint8_t> stepped; // a thread of the cluster has taken a step
    std::uint32_t first_thread = 0;
  };
  bool may_begin(const Grid& grid) const;
  static bool over(const Grid& grid);
  machine::Block& block_of(const Move& move);

  std::vector<Grid> grids_;
  std::vector<std::span<std::byte>> memory_;
  std::unique_ptr<Watch> watch_;
  isa::Exec exec_;
  std::optional<isa::Watching> watching_;
  Bytes saved_;
};

} // namespace heddle::reference
