// Sums: accesses of which nobody can tell when they happen, so that a search need not choose.
//
// - Updates whose result nobody uses and which commute with each other (red.add, and such like), as
//   long as nobody else accesses the place in another way meanwhile.
// - *Orderly* accesses, of any kind: to a place that no other thread accesses meanwhile, or that
//   all only read. For them the strong operation is what a plain one is in a program without data
//   races: it commutes with every move of others.
//
// - *Unordered* accesses, see order_data.h: to a place that others access in the same way.
//
// "Meanwhile" leaves out what is ordered anyhow: one thread's own accesses, those of works of which
// one waits for the other, and those of a block in different epochs, that is with a barrier of the
// whole block in between. An epoch is named by the place of the barrier that began it, so two of
// them may have one name; then they count as one.
//
//   Sums sums;
//   sums.overlap(a, b);                  // works that may be under way at the same time
//   sums.note(a, {.place = p, .bytes = 4, .kind = k, …}); // k = Sums::other: neither sum nor read
//   if (sums.clash()) …                  // the assumption does not hold: the search is void
//   sums.contended()                     // … and would hold if these were left alone
//   for (const Sums::Note& note : sums.take_news()) …  // for the Sums of other processes: learn()
//
// That what was explored on the assumption shows whether it holds: take the first access, in some
// execution of the program, that is not orderly. What comes before it commutes as assumed, so some
// explored execution does the same up to there, and both accesses are noted.
//
// Errs to the safe side: a clash may be none. Instructions are told apart by 6 bits of a hash.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

namespace heddle::machine {

class Sums {
public:
  using WorkId = std::uint64_t;
  static constexpr std::uint32_t other = 0, read = 1; // greater kinds: sums
  // Stands for several threads, or threads of several blocks: of as many accesses one is kept.
  static constexpr std::uint64_t many = ~std::uint64_t{1};
  struct Access {
    std::uint64_t place = 0; // an address, or what names one in every process of a search
    std::uint32_t bytes = 0;
    std::uint32_t kind = other; // equal kinds commute, but for `other`
    std::uint64_t thread = 0;   // of the work
    std::uint64_t block = 0, epoch = 0;
    unsigned bucket = 0;    // of the instruction
    bool contended = false; // the search chooses when it happens
    // For unordered accesses (order_data.h): what it does to the place, whatever it gives; it could
    // be one; it is one.
    std::uint32_t effect = other;
    bool only_data = false, unordered = false;
  };

  void overlap(WorkId a, WorkId b);
  void note(WorkId work, const Access& access);
  /// The host has made a strong access while these were under way.
  void note_host(const Access& access, std::span<const WorkId> under_way);
  /// A copy, or anything else that is no kernel, has reached memory nobody knows which.
  void note_command(WorkId command);
  /// Something that was noted: plain data.
  struct Note {
    enum class Kind : std::uint8_t {
      Access,
      Overlap, // of work and other
      Command  // work
    } kind{};
    WorkId work = 0, other = 0;
    Access access;
  };
  /// What was noted for the first time since the last call, but for what was learned.
  std::vector<Note> take_news() { return std::exchange(news_, {}); }
  void learn(const Note& note);
  bool clash() const { return clash_; }
  /// Buckets of the instructions that are to blame, as bits; of those that can be unordered.
  std::uint64_t contended() const { return contended_; }
  std::uint64_t unordered() const { return unordered_; }
  /// True once a contended access could have met a command: what the command does could be seen.
  bool choice_met_command() const { return choice_met_command_; }
  /// True once unordered accesses have met.
  bool saw_unordered() const { return saw_unordered_; }
  /// Buckets on whose order the bytes of the access noted last depend.
  std::uint64_t take_mixed() { return std::exchange(mixed_, 0); }

private:
  struct Known {
    WorkId work = 0;
    Access access;
  };
  static bool merge(std::vector<Known>& known, WorkId work, const Access& access);
  static constexpr std::uint64_t granule = 4;
  bool overlapping(WorkId a, WorkId b) const {
    return a == b || overlap_.contains({a, b}) || overlap_.contains({b, a});
  }
  void check(WorkId a, const Access& x, WorkId b, const Access& y);
  void blame(std::uint64_t buckets) {
    clash_ = true;
    contended_ |= buckets;
  }
  void meet_command(WorkId work);
  void meet_unordered(const Access& x, const Access& y);
  template <class F> static void each_place(const Access& access, F&& f);

  std::set<std::pair<WorkId, WorkId>> overlap_;
  std::unordered_map<std::uint64_t, std::vector<Known>> places_; // by granule
  std::vector<Note> news_;
  bool learning_ = false;
  std::map<WorkId, std::uint64_t> orderly_; // buckets of orderly accesses
  std::set<WorkId> commands_, choosing_;    // … those with contended accesses
  bool choice_met_command_ = false;
  bool clash_ = false;
  std::uint64_t contended_ = 0, unordered_ = 0;
  std::uint64_t mixed_ = 0;
  bool saw_unordered_ = false;
};

} // namespace heddle::machine
