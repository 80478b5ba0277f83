// Sums: which accesses are independent of everything that other threads do meanwhile, so that a
// search need not choose when they happen. It monitors that assumption and says which instructions
// refute it.
//
// An access is assumed to be independent if no other thread makes a conflicting access to the place
// while it could happen ([RED-INDEPENDENT]). These do not conflict:
//
// - updates of one kind that commute and whose results are unused (such as red.add);
// - reads with reads;
// - accesses of works of which one waits for the other;
// - accesses of one block in different epochs, that is with a barrier of the whole block in
//   between; an epoch is named by the barrier that began it, so two of them may have one name;
// - accesses of one thread.
//
// For the last two, the search must still know which thread made the one access when it reaches the
// other. It may have merged states of equal threads meanwhile (symmetry). So the two count only for
// *owned* accesses: a thread that has made one keeps its number for as long as it may make another
// ([RED-OWNED], owned.h). A place in the cluster's own shared memory is the same place for all
// clusters of a grid, and its threads and blocks are known by their numbers in the cluster, since
// clusters may be taken for each other.
//
// - *Unordered* accesses, see order_data.h: to a place that others access in the same way.
//
//   Sums sums;
//   sums.overlap(a, b);                  // works that may be under way at the same time
//   sums.note(a, {.place = p, .bytes = 4, .kind = k, …});
//   if (sums.clash()) …                  // the assumption does not hold: the search is invalid
//   sums.refuted()                       // … and would hold if it were not made of these
//   for (const Sums::Note& note : sums.take_news()) …  // for the Sums of other processes: learn()
//
// spec/reductions.md has the proof that what was explored on the assumption shows whether it holds.
// Conservative: may report a conflict that cannot occur. Instructions are told apart by 6 bits of a
// hash.
#pragma once

#include "reduce/independence/owned.h"
#include "reduce/learned.h"
#include "reduce/mutant.h"

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <set>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

namespace heddle::reduce {

class Sums {
public:
  using WorkId = std::uint64_t;
  explicit Sums(Mutant mutant = Mutant::None) : mutant_(mutant) {}
  // Stands for several threads, or threads of several blocks: of as many accesses one is kept.
  static constexpr std::uint64_t many = ~std::uint64_t{1};
  struct Access {
    std::uint64_t place = 0; // an address, or what names one in every process of a search
    std::uint32_t bytes = 0;
    std::uint32_t kind = AccessKind::Other;
    // Of the work; of the cluster if the place is in its shared memory.
    std::uint64_t thread = 0, block = 0;
    std::uint64_t epoch = 0;
    unsigned bucket = 0;    // of the instruction
    bool contended = false; // the search chooses when it happens
    bool mover = false;     // … but need not, see left_movers.h
    bool of_host = false;   // a host thread's
    bool elsewhere = false; // … when accesses of the instruction to other places happen
    bool owned = false;     // thread and block are what they were, whatever happened since
    bool shared = false;    // the place is in the cluster's shared memory
    // For unordered accesses (order_data.h): what it does to the place, whatever it gives; it could
    // be one; it is one.
    std::uint32_t effect = AccessKind::Other;
    bool only_data = false, unordered = false;
  };

  void overlap(WorkId a, WorkId b);
  void note(WorkId work, const Access& access);
  /// The host has made a strong access while these were under way.
  void note_host(const Access& access, std::span<const WorkId> under_way);
  struct Region { // of memory, from its first byte to behind its last
    std::uint64_t begin = 0, end = ~std::uint64_t{0};
    bool write = true;
    bool operator==(const Region&) const = default;
  };
  /// A copy, or anything else that is no kernel, has accessed a region.
  void note_command(WorkId command, const Region& region);
  /// These places, by places_of(), have been read as such that nobody writes any more
  /// ([RED-SETTLED]); and these have been written again, by device threads.
  void note_settled(std::uint64_t places) { note_places(Note::Kind::Settled, places); }
  void note_rewritten(std::uint64_t places) { note_places(Note::Kind::Rewritten, places); }
  /// Something that was noted: plain data.
  struct Note {
    enum class Kind : std::uint8_t {
      Access,
      Overlap,  // of work and other
      Command,  // of work, to region
      Settled,  // `other`: places
      Rewritten // the same
    } kind{};
    WorkId work = 0, other = 0;
    Access access;
    Region region{};
  };
  /// What was noted for the first time since the last call, but for what was learned.
  std::vector<Note> take_news() { return std::exchange(news_, {}); }
  void learn(const Note& note);
  bool clash() const { return clash_; }
  const Learned& refuted() const { return refuted_; }
  /// True once a contended access, or another command, could have met a command: when the command
  /// is carried out could be seen.
  bool choice_met_command() const { return choice_met_command_; }
  /// True once unordered accesses have met.
  bool saw_unordered() const { return saw_unordered_; }
  /// Buckets on whose order the bytes of the access noted last depend.
  std::uint64_t take_mixed() { return std::exchange(mixed_, 0); }

private:
  Mutant mutant_ = Mutant::None;
  struct Known {
    WorkId work = 0;
    Access access;
  };
  static bool merge(std::vector<Known>& known, WorkId work, const Access& access);
  static constexpr std::uint64_t granule = 4;
  bool overlapping(WorkId a, WorkId b) const {
    return a == b || overlap_.contains({a, b}) || overlap_.contains({b, a});
  }
  bool commute_for_mutant(const Access& x, const Access& y) const;
  void check(WorkId a, const Access& x, WorkId b, const Access& y);
  /// The accesses among these that are not contended have to be.
  void blame(std::initializer_list<const Access*> accesses);
  void contend_at(const Access& access);
  void meet_all(WorkId work, WorkId command, const Region& region);
  void meet(WorkId work, const Access& access, WorkId command, const Region& region);
  void meet_commands(WorkId command, const Region& region);
  void meet_unordered(const Access& x, const Access& y);
  void note_places(Note::Kind kind, std::uint64_t places);
  template <class F> static void each_place(const Access& access, F&& f);

  std::set<std::pair<WorkId, WorkId>> overlap_;
  std::unordered_map<std::uint64_t, std::vector<Known>> places_; // by granule
  std::vector<Note> news_;
  bool learning_ = false;
  std::vector<std::pair<WorkId, Region>> commands_; // and what they have accessed
  bool choice_met_command_ = false;
  bool clash_ = false;
  Learned refuted_;
  std::uint64_t mixed_ = 0;
  bool saw_unordered_ = false;
  std::uint64_t settled_ = 0, rewritten_ = 0; // places
};

} // namespace heddle::reduce
