// Work: a command of a search, and the part of the state that belongs to it.
#pragma once

#include "machine/block.h"
#include "machine/world.h"
#include "reduce/independence/barrier_turns.h"
#include "reduce/independence/left_movers.h"
#include "reduce/independence/phases.h"
#include "reduce/states/image.h"

#include <algorithm>
#include <memory>
#include <vector>

namespace heddle::reduce {

/// How a cluster starts of which nobody has taken a step.
enum class Start : std::uint8_t {
  Free,   // it matters who goes first
  Alike,  // whoever goes first, it comes to the same state
  Through // and that state is its end
};

/// A command, and the part of the state that belongs to it.
struct Work {
  CommandPtr command;
  std::vector<CommandPtr> after;
  std::uint64_t identity = 0; // hash of what the command is

  // --- State -----------------------------------------------------------------------------------
  bool ready = false;            // everything before it has completed
  bool begun = false;            // a host function that is running
  bool grids_over = false;       // of a kernel that is ready: griddepcontrol.wait goes on
  bool passed = false;           // the host has gone first, as if this ran through
  std::vector<CommandPtr> parts; // what it has submitted: it goes on when these have completed
  bool done = false;
  std::vector<const Image*> images;       // by cluster, of a kernel that is ready
  std::vector<const Image*> first_images; // the same, when it became ready
  HashSum sum;                            // of their hashes
  HashSum unnumbered;                     // the same of Image::unnumbered
  // By cluster. With another memory it may start in another way, so it is found out whenever the
  // kernel becomes ready, see cluster_starts.h.
  std::vector<Start> starts;
  OpenPlaces open_places; // of all images

  // --- Where a cluster is while it moves; holds some image of it otherwise
  struct Progress {
    bool made = false;
    // The threads meet at barriers forever: from now on each arrival is a move, so that the search
    // sees the cycle.
    bool joins_are_moves = false;
    // Nobody is left who could complete a phase: those who wait for one go round in their loops.
    bool polls = false;
    // Some thread has made an owned access to memory outside of the cluster, and some may make
    // another one: the cluster is told apart by its number.
    bool owner = false;
    // Blocks, by bits of their ranks, whose shared memory others have accessed since the cluster's
    // threads met last; and by threads that have already arrived where they meet next.
    std::uint64_t visited = 0, visited_late = 0;
    // Visited before the last meeting; no thread of the block has waited at that meeting yet.
    std::uint64_t unawaited = 0;
    // Blocks, by bits of their ranks, that have arrived at the barrier of a cooperative grid and
    // not waited there since.
    std::uint64_t grid_arrived = 0;
    std::size_t running_warp = 0; // of the block that runs
    Phases phases;
    std::vector<BarrierTurns> turns;   // of blocks
    bool turns_doubt = false;          // it may matter when a thread arrived at a barrier
    bool in_pieces = false;            // some lanes of a warp came to one without the others
    std::vector<std::uint64_t> epochs; // of blocks, see sums.h
    struct Loops {                     // of a warp
      isa::LaneMask endless = 0;       // lanes in a loop without choices
      isa::LaneMask stepping = 0, local = 0, sleeping = 0; // what they do in it
      isa::LaneMask plain = 0; // lanes that loop on plain reads: each of those is a choice
      // Lanes that have made an owned access and may make another one: they are told apart by their
      // numbers in the cluster ([RED-OWNED]).
      isa::LaneMask owners = 0;
      // By lane, if some lane has any: what is open ([RED-MOVERS]).
      std::vector<OpenAccesses> open;
      // By lane: late looks at clocks; soon ones of a loop that does nothing else, but counts.
      Looks late{}, soon{};
    };
    std::vector<std::vector<Loops>> loops; // [block][warp]
    /// f(member) of what an image holds of it in any case, in its order.
    template <class Self, class F> static void each_member(Self& self, F&& f) {
      f(self.made);
      f(self.joins_are_moves);
      f(self.polls);
      f(self.owner);
      f(self.visited);
      f(self.visited_late);
      f(self.unawaited);
      f(self.grid_arrived);
      for (auto& epoch : self.epochs) {
        f(epoch);
      }
    }
  };
  std::vector<std::unique_ptr<Cluster>> clusters;
  std::vector<Progress> progress;
  std::vector<const Image*> loaded; // nullptr: nothing usable

  bool kernel() const { return command->kind == CommandKind::Kernel; }
  bool cooperative() const { return command->grid->config().cooperative; }
  bool ended() const { // of a kernel that is ready
    return std::ranges::all_of(images, &Image::ended);
  }
  bool starts_alike() const {
    return std::ranges::none_of(images, &Image::made) &&
           std::ranges::find(starts, Start::Free) == starts.end();
  }
};

} // namespace heddle::reduce
