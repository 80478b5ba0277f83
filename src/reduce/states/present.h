// Present: the state in which a search stands: where each cluster is, and how to go back.
//
//   const Present::Mark here = present.mark();
//   present.load(work, c);  … the cluster's threads run …  present.capture(n, c);
//   present.undo_to(here);                        // everything is as it was
//
// A cluster that does not move is an image (images.h). Memory is the journal's to take back, the
// messages of the PTX memory model WeakOrder's.
#pragma once

#include "reduce/stepper_parts.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace heddle::reduce {

class Present {
public:
  Present(const StepperParts& parts, MoveFinder& finder) : parts_(parts), finder_(finder) {}

  // --- Clusters ----------------------------------------------------------------------------------
  /// Lets the cluster's threads stand where its image says.
  void load(Work& work, std::size_t cluster) { parts_.images.load(work, cluster); }
  /// The journal takes over what the cluster has written, except what is in its image.
  void absorb_writes(Work& work, std::size_t cluster);
  /// The cluster of the work `n` is where its threads are now.
  void capture(std::size_t n, std::size_t cluster);
  void replace_image(std::size_t n, std::size_t cluster, const Image* image);

  // --- Going back --------------------------------------------------------------------------------
  struct Mark {
    std::size_t log = 0, memory = 0, output = 0, weak = 0;
  };
  Mark mark() const;
  void undo_to(const Mark& mark);
  /// What undo_to() takes back besides: a work is ready, is complete, or the grids before it are.
  void note_ready(std::size_t n) { note(Log::Kind::Ready, n); }
  void note_done(std::size_t n) { note(Log::Kind::Done, n); }
  void note_grids_over(std::size_t n) { note(Log::Kind::GridsOver, n); }
  /// Changes since the mark; those of the classes of threads, whom `move` has moved.
  std::size_t changes() const { return log_.size(); }
  void add_class_changes(std::size_t since, const Move& move, std::vector<Change>& changes) const;
  /// There is no way back: all marks are invalid.
  void forget();
  /// The host has moved: it may have changed memory. All marks are invalid.
  void host_moved();

private:
  struct Log { // what undo_to takes back
    enum class Kind : std::uint8_t {
      Image,
      Ready,
      Done,
      GridsOver
    } kind{};
    std::uint32_t work = 0, cluster = 0;
    const Image* before = nullptr;
  };
  void note(Log::Kind kind, std::size_t n) {
    log_.push_back({.kind = kind, .work = static_cast<std::uint32_t>(n)});
  }
  static void set_image(Work& work, std::size_t cluster, const Image* image);

  StepperParts parts_;
  MoveFinder& finder_;
  std::vector<Log> log_;
};

} // namespace heddle::reduce
