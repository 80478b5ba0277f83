// ClusterText: a cluster between two moves, written down: everything that its future depends on,
// shared memory aside. read_cluster() puts it back.
//
//   ClusterText text(live, buffers, options, work, c);
//   buffers.image      // what belongs to no thread
//   text.threads       // and each thread, in buffers.lane
#pragma once

#include "base/hash.h"
#include "model/image_bytes.h"
#include "reduce/states/image.h"
#include "reduce/states/work.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace heddle::reduce {

struct TextOptions { // of StepperOptions
  bool by_decisions = false, by_warps = false, phases = false;
};

/// Memory that is used again.
struct TextBuffers {
  std::vector<std::byte> image, lane, decisive; // decisive: of one lane
};

/// One thread.
struct ThreadText {
  bool live = false;
  std::uint8_t identity = LiveState::Nothing; // that something may be decided by
  std::uint8_t asked = LiveState::Nothing;    // the same without what it keeps ([RED-OWNED])
  std::size_t begin = 0, end = 0;             // in TextBuffers::lane
  std::uint64_t flags = 0;                    // what its warp knows of it
  Hash128 state;                              // by which something may be decided
  Hash128 summand;
  std::uint64_t reads_shared = 0, writes_shared = 0; // as in LiveState::At
};

class ClusterText {
public:
  /// Writes it down. What threads and warps need not be told apart by any more is forgotten.
  ClusterText(
      LiveState& live,
      TextBuffers& buffers,
      const TextOptions& options,
      Work& work,
      std::size_t cluster
  );

  std::vector<ThreadText> threads;             // 32 for each warp
  std::uint8_t all = LiveState::Nothing;       // what some thread may learn about itself, or keeps
  std::uint8_t all_asked = LiveState::Nothing; // … may learn
  Hasher shared;                               // of everything that belongs to no thread
  HashSum sum_of_bytes;                        // of the threads, each in its place
  bool ended = true;
  bool lets_dependents_begin = true;
  bool apart = false; // no thread waits for others

  Cluster& cluster() const { return cluster_; }

private:
  void write_block(std::size_t b);
  void write_warp(std::size_t b, std::size_t w, bool turns);
  void write_lane(std::size_t b, std::size_t w, int lane, bool turns);

  LiveState& live_;
  TextBuffers& buffers_;
  const TextOptions& options_;
  Cluster& cluster_;
  const Work::Progress& progress_;
  model::ImageWriter writer_, lane_writer_, decisive_writer_;
};

/// Lets the cluster's threads stand where the image says.
void read_cluster(
    LiveState& live,
    const TextOptions& options,
    Work& work,
    std::size_t cluster,
    const Image& image
);

} // namespace heddle::reduce
