// Renaming: the second of the four parts of the reductions (spec/reductions.md): which threads and
// clusters are equal, and what they and their cluster are called ([RED-SYMMETRY], [RED-OWNED]).
//
// Two threads are equal if what an image holds of them is, and neither can still ask which one it
// is. A cluster is called by the sum of its threads, a state by the sum of its clusters; so states
// that differ only in which thread is where have one name.
#pragma once

#include "machine/live_state.h"
#include "reduce/options.h"
#include "reduce/states/image.h"
#include "reduce/states/work.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace heddle::reduce {

/// What an image is called whose threads add up to `lanes`.
Hash128 image_hash(
    const Work& work,
    const Hash128& rest,
    const HashSum& shared,
    const HashSum& lanes,
    std::uint64_t where
);

class Renaming {
public:
  /// Without symmetry all threads are told apart. With warp rules warps are renamed, not threads.
  explicit Renaming(const StepperOptions& options)
      : symmetry_(options.renaming.symmetry),
        by_warps_(options.by_warps()),
        mutant_(options.mutant) {}

  bool symmetry() const { return symmetry_; }
  /// May a thread of the cluster still ask which block it is in, or which lane it is? `identity`:
  /// what all of them may learn about themselves.
  bool tells_blocks_apart(std::uint8_t identity) const;
  bool tells_places_apart(const Work& work, std::uint8_t identity) const;
  /// Is a thread told from the others of its cluster by its place?
  bool placed(std::uint8_t identity) const {
    return (identity & (LiveState::Thread | LiveState::Place)) != 0 &&
           !is(Mutant::SymmetryForgetsPlaces);
  }
  /// Can no other cluster be like it?
  static bool is_alone(const Work& work, const Image& image);

  /// What the image is called, its parts, its threads' sum and `where` being known. `identity`:
  /// what all of its threads together may still learn and do; `shared`: the sum of its shared
  /// memory, as far as it counts.
  ///
  /// As long as threads may meet, as at a barrier, it matters who is in a block with whom. If that
  /// is over, and nobody asks for the block's number, threads of different blocks can change places
  /// like those of one: then a cluster is called by nothing but the sum of its threads, and a state
  /// by that of all such clusters.
  void set_name(const Work& work, std::uint8_t identity, const HashSum& shared, Image& image) const;
  /// Image::asked_where if a thread of the cluster becomes `to`.
  std::uint64_t
  asked_where_after(const Image& before, std::size_t thread, const ImageThread* to) const;

  /// Threads of a loose cluster are known by themselves wherever they are. Those of another one
  /// have classes of their own if no other one can be like it; those of which that is true within
  /// the cluster too, one for as long as it lasts.
  ThreadClass class_of(
      const Work& work,
      std::size_t cluster,
      const Image& image,
      std::size_t thread,
      const Hash128& mover,
      bool placed
  ) const;
  /// Has another cluster of the work threads of the same classes? If they are loose, only `who`
  /// matters, who moves: the others keep theirs.
  static bool
  like_others(const Work& work, std::size_t cluster, const Image& image, ThreadClass who);

private:
  bool is(Mutant mutant) const { return mutant_ == mutant; }

  bool symmetry_, by_warps_;
  Mutant mutant_;
};

/// How classes have changed when one image has become another one.
void note_changes(const Image& before, const Image& after, std::vector<Change>& changes);
/// Threads of other clusters that are like those of one that has moved have kept their classes.
void note_kept(const Image& image, std::vector<Change>& changes);

} // namespace heddle::reduce
