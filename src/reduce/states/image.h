// Images: clusters between two moves, and where they are kept.
//
//   ImageStore images(by_decisions);
//   if (const Image* known = images.find(content)) …
//   else { …; image->rest = images.intern(std::move(rest)); …; images.add(std::move(image)); }
//   images.keep_only(used);
//
// An image is immutable, and there is one for each content, however many clusters and states have
// it. It consists of parts, of which the same is true.
//
// May be wrong: as Interned.
#pragma once

#include "base/hash.h"
#include "machine/block.h"
#include "model/interned.h"
#include "model/memory_journal.h"
#include "model/move.h"
#include "model/weak_order.h"
#include "reduce/cache/transitions.h"
#include "reduce/independence/left_movers.h"
#include "reduce/independence/operation.h"
#include "reduce/independence/sums.h"

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace heddle::reduce {

using namespace machine;
using namespace model;

struct ImageRest; // parts of images
struct ImageShared;
struct ImageThread;

/// How often lanes have looked at clocks ([CLOCK], clocks.h).
using Looks = std::array<std::uint8_t, isa::warp_size>;
inline constexpr std::uint8_t most_soon = 8;

inline Hash128 hash_of(const void* p, std::size_t bytes) {
  const XXH128_hash_t h = XXH3_128bits(p, bytes);
  return {h.low64, h.high64};
}
template <class... T> Hash128 combine(const T&... values) {
  const std::uint64_t words[] = {values...};
  return hash_of(words, sizeof words);
}

/// What a thread adds to the sum that its cluster is known by.
inline Hash128 name_in_sum(const Hash128& lane) {
  return combine(lane.low, lane.high);
}

/// A strong access at which a thread stands, with ModelOptions::weak.
struct WeakNext {
  WeakOrder::Next next;
  std::optional<std::uint64_t> in_shared; // where in the cluster's shared memory
};

/// One cluster between two moves: everything its future depends on, memory and the clocks aside.
/// Immutable; there is one image for each content. It consists of parts that many images have.
struct Image {
  struct Ready { // a move
    std::uint32_t block = 0, warp = 0;
    int lane = 0;
    bool endless = false;
    Operation operation;
    const isa::Op* op = nullptr;
    const isa::Code* code = nullptr;
    ThreadClass who = 0;
    std::uint32_t count = 1;                   // so many threads of this class
    std::uint32_t pick = 0;                    // in `picks`, from 1; 0: nothing is left open
    isa::LaneMask lanes = 0;                   // Move::lanes
    Time time{};                               // Move::time
    std::shared_ptr<const WeakNext> weak_next; // ModelOptions::weak: the strong access that it is
    mutable TransitionHint hint;               // Transitions::find() keeps its last answer
  };
  Hash128 content; // of its parts
  const ImageRest* rest = nullptr;
  const ImageShared* shared = nullptr;
  std::vector<const ImageThread*> parts; // by thread, 32 for each warp; nullptr: it has ended
  HashSum sum_of_bytes;                  // of the threads, each in its place
  std::vector<std::byte> history;        // with warp rules: what is loaded and tells nothing apart
  Hash128 hash;                          // equal: alike, but for the places of equal threads
  HashSum sum;                           // of the threads' names
  // The same without the numbers that threads and clusters keep only because of what they have made
  // ([RED-OWNED]). Which of several equal ones has got one depends on the way.
  Hash128 unnumbered;
  HashSum unnumbered_sum;
  bool made = false; // some thread has taken a step
  bool ended = false;
  bool joins_are_moves = false;
  bool owner = false;            // Progress::owner
  bool places = false;           // threads are told apart by their places
  std::uint64_t where = 0;       // told from other clusters by its number, from 1; 0: it is not
  std::uint64_t asked_where = 0; // the same, because some thread may ask for it
  // Variables in shared memory, by bits, whose contents are no part of the hash ([RED-CONE],
  // [RED-OVERWRITTEN]).
  std::uint64_t left_out = 0;
  // The first image of this hash, or itself. Others differ in what nothing is decided by.
  mutable const Image* alike = this;
  // Its threads have nothing more to do with each other, and none can tell which cluster it is in:
  // threads of different clusters that are loose may be alike, see set_hash().
  bool loose = false;
  std::uint64_t open_places = 0; // of what is open of some part, by places_of()
  // Without warp rules, if the cluster has several threads: does what one of them does depend on
  // nothing of the others but what is in `rest`? See cached_moves.h.
  bool by_thread = false;
  std::vector<Ready> ready;
  std::vector<WarpRules::Pick> picks;
  struct Left { // behind
    std::uint32_t block = 0, warp = 0;
    WarpRules::Behind behind;
  };
  std::vector<Left> left;
  // Classes of all threads (with warp rules: warps), block by block and in order of their numbers;
  // 0: it has ended.
  std::vector<ThreadClass> threads;
  /// A look at a clock is two moves: `look` becomes the late one. False: there is no other one,
  /// because so many have been soon without anything else.
  bool add_soon(Ready& look, std::uint8_t looks) {
    look.time = Time::Soon;
    if (looks < most_soon) {
      ready.push_back(look);
    }
    look.time = Time::Late;
    look.operation.what = "a look at a clock, much later";
    return looks < most_soon;
  }
  mutable std::uint64_t looked_at = 0; // in which pass of moves()
  mutable std::uint32_t like_it = 0;   // clusters with this image, in that pass
};

/// The shared memory of a cluster: of its blocks, one after the other; zeros of those that have
/// ended.
struct ImageShared {
  Hash128 content; // sum
  HashSum sum;     // of the words' hashes, and of the size's
  std::vector<std::byte> bytes;
  HashSum after(std::span<const WordPart> writes) const;
  // By what is left out, and where that lies: sums without it that have been asked for.
  mutable std::unordered_map<std::uint64_t, HashSum> without;
};

/// What else an image holds that belongs to no thread, and what warps know of their threads.
struct ImageRest {
  Hash128 content; // of bytes, and of who it is where somebody can still ask
  std::vector<std::byte> bytes;
  Hash128 hash;                       // without what warps know of their threads
  bool lets_dependents_begin = false; // Block's, of all of its blocks
  // No thread of the cluster waits for others: an odd number that stands for all that follows it
  // when it goes its own way. 0: some do.
  std::uint64_t apart = 0;
};

/// What an image holds of one thread.
struct ImageThread {
  Hash128 content; // of all that follows
  std::vector<std::byte> bytes;
  Hash128 summand;                                   // of Image::sum_of_bytes
  Hash128 lane;                                      // what it is called within its cluster
  Hash128 in_sum;                                    // name_in_sum(lane)
  Hash128 unnumbered;                                // the same, see Image
  std::uint8_t identity = 0;                         // what it may learn about itself, or keeps
  std::uint8_t asked = 0;                            // what it may learn
  std::uint64_t reads_shared = 0, writes_shared = 0; // as in LiveState::At
  OpenAccesses open;                                 // [RED-MOVERS]
  bool placed = false;                               // it is told from others by its place
  bool can_move = false; // without warp rules: it does `ready`, `who` and `count` aside
  Image::Ready ready;
};

/// What look_ahead's caller keeps of a move that is made again and again: zero at first.
struct Note {
  std::uint32_t changes = 0, label = 0;
  std::array<std::uint64_t, 3> of{}; // what `label` is about
};

/// What a move has done: all of its cluster.
struct Outcome {
  const Image* image = nullptr;
  StepKind taken{};
  std::vector<MadeAccess> made;    // those that may meet open ones
  std::vector<Sums::Access> owned; // AccessMonitor::owned()
  struct Changes {                 // without and with other clusters that are like it
    bool known = false;
    std::vector<Change> list;
    Note note; // of look_ahead's caller
  };
  mutable std::array<Changes, 2> changes{}; // worked out when first asked for
};

// What a thread has done, whatever the other threads of its cluster are up to.
struct LaneOutcome {
  const ImageThread* thread = nullptr; // nullptr: it has ended
  const ImageRest* rest = nullptr;
  std::vector<WordPart> shared; // what it has written there
  StepKind taken{};
  std::vector<MadeAccess> made;        // as Outcome::made
  std::vector<Sums::Access> owned;     // as Outcome::owned
  mutable std::array<Note, 2> notes{}; // as Outcome::changes
};

class ImageStore {
public:
  /// `by_decisions`: images of one hash may differ, in what nothing is decided by ([RED-CONE]).
  explicit ImageStore(bool by_decisions) : by_decisions_(by_decisions) {}

  /// What images are known by whose threads add up to `threads`.
  static Hash128
  content_of(const ImageRest& rest, const ImageShared& shared, const HashSum& threads);
  /// nullptr: there is none.
  const Image* find(const Hash128& content) const { return images_.find(content); }
  /// Takes over an image that is new.
  const Image* add(std::unique_ptr<Image> image);
  const ImageRest* intern(std::unique_ptr<ImageRest> rest);
  const ImageThread* intern(std::unique_ptr<ImageThread> thread);
  /// Shared memory whose words add up to `sum`: the one that is known, or a new one with `bytes()`.
  template <class Bytes> const ImageShared* shared(const HashSum& sum, Bytes&& bytes) {
    const Hash128 content{sum.low, sum.high};
    if (const ImageShared* known = shared_.find(content)) {
      return known;
    }
    auto shared = std::make_unique<ImageShared>();
    shared->content = content;
    shared->sum = sum;
    shared->bytes = bytes();
    return shared_.add(std::move(shared));
  }
  /// Shared memory that was `before` after that has been written there.
  const ImageShared* written(const ImageShared& before, std::span<const WordPart> writes);

  std::size_t size() const { return images_.size(); }
  /// Throws away all others, and their parts. nullptr may be among them.
  void keep_only(const std::unordered_set<const Image*>& used);

private:
  void find_alike(const Image& image);

  bool by_decisions_;
  Interned<Image> images_;
  std::unordered_map<std::uint64_t, const Image*> first_alike_; // by the low half of the hash
  Interned<ImageRest> rests_;
  Interned<ImageShared> shared_;
  Interned<ImageThread> threads_;
};

} // namespace heddle::reduce
