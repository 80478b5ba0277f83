// Images: clusters as they are between two moves, each kept once, with its name, the moves in it
// and the classes of its threads.
//
//   const Image* image = images.intern(work, c, finder);      // as the cluster is now
//   images.load(work, c);                                     // … and as work.images[c] says
//
// What an image is called is Renaming's, what its name leaves out DeadData's.
#pragma once

#include "machine/live_state.h"
#include "reduce/dead_data/dead_data.h"
#include "reduce/renaming/renaming.h"
#include "reduce/states/cluster_text.h"
#include "reduce/states/image.h"
#include "reduce/states/work.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace heddle::reduce {

/// Finds the moves in a cluster.
class MoveFinder {
public:
  static constexpr std::size_t no_turn = ~std::size_t{0};
  virtual ~MoveFinder() = default;
  /// `turns`: by thread, which of the moves is one of its.
  virtual void
  find_moves(Work& work, std::size_t cluster, Image& image, std::vector<std::size_t>& turns) = 0;
  /// Those of warps; `lanes`: what lanes are called.
  virtual void find_warp_moves(
      Work& work,
      std::size_t cluster,
      Image& image,
      std::span<const Hash128> lanes
  ) = 0;
};

class Images {
public:
  Images(
      LiveState& live,
      const Renaming& renaming,
      const DeadData& dead,
      const TextOptions& options
  )
      : live_(live),
        renaming_(renaming),
        dead_(dead),
        options_(options),
        store_(options.by_decisions) {}

  /// The image of the cluster as it is.
  const Image* intern(Work& work, std::size_t cluster, MoveFinder& finder);
  /// Lets the cluster's threads stand where its image says.
  void load(Work& work, std::size_t cluster);
  /// The image of a cluster that was `before`, after one thread of it has made a move that is
  /// known.
  const Image* derive(
      const Work& work,
      std::size_t cluster,
      const Image& before,
      std::size_t thread,
      const LaneOutcome& outcome
  );

  const Renaming& renaming() const { return renaming_; }
  ImageStore& store() { return store_; }

private:
  struct Names {
    std::vector<Hash128> lanes, warps; // 0, 0: it has ended
  };
  bool placed(const Image& image, std::uint8_t identity) const;
  Hash128 unnumbered(const ClusterText& text, const Image& image, std::size_t t) const;
  Names name(const Work& work, const ClusterText& text, Image& image) const;
  void add_part(
      const Work& work,
      std::size_t cluster,
      const ClusterText& text,
      const Hash128& lane,
      std::size_t t,
      std::size_t turn,
      Image& image
  );
  /// The shared memory of a cluster; one that has moved mostly differs little from what it was.
  const ImageShared* intern_shared(const Work& work, std::size_t cluster);

  LiveState& live_;
  const Renaming& renaming_;
  const DeadData& dead_;
  TextOptions options_;
  ImageStore store_;
  TextBuffers buffers_;
};

} // namespace heddle::reduce
