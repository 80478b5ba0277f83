// Phases: what the threads of a cluster know of each other's use of mbarriers (PTX ISA 9.0,
// 9.7.13.15), in order to tell whether it matters when they use them.
//
// Arrivals at an mbarrier commute, and a wait is a wait, as long as there is no doubt which phase
// each of them is for. That is so if
// - a thread that arrives knows that the phase before has completed (else its arrival might count
//   for that one), and
// - a thread that waits for a phase has done so, each time, before the next one completes (else it
//   might miss it).
// Bytes that are expected hold up a phase, too. So all that a phase expects must be said before its
// last arrival, in every order: by the thread that arrives, or by one that has still to arrive.
// Then a phase without arrivals to come completes with the last of its bytes. If those are more
// than it expects, some of them might have come after its completion.
//
// Knowledge passes on as execution orders it: from threads that arrive in a phase to threads that
// wait for it, among threads that meet at a barrier or in a warp, and through atomic exchanges of
// shared memory whose order is a choice of the search.
//
//   phases.arrive(thread, object, 0, 1)    // each: false if there is a doubt
//   phases.pass(thread, object, …)
//   phases.meet(threads)
//
// Direction of error: what passes through other memory (flags, global atomics) counts as unknown,
// so there may be no doubt where it sees one.
#pragma once

#include "machine/block.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace heddle::reduce {

using namespace machine;

class Phases {
public:
  using Thread = std::uint32_t; // of the cluster, 32 for each warp
  /// Rank of a block << 32 | offset in its shared memory.
  using Object = std::uint64_t;

  /// Nothing is known, and there are no objects.
  void start(std::uint32_t threads);
  bool in_use() const { return !objects_.empty(); }

  [[nodiscard]] bool init(Thread thread, Object object);
  [[nodiscard]] bool inval(Thread thread, Object object);
  /// Arrivals, and whatever else may complete a phase; the phase before and after it.
  [[nodiscard]] bool arrive(Thread thread, Object object, unsigned before, unsigned after);
  /// The thread has said, without arriving, that bytes are to come; or it has arrived since.
  void note_expecting(Thread thread, Object object, bool expecting);
  bool some_expecting(Object object) const;
  /// For which phase a thread waits, as far as it knows; none: it does not know the object.
  struct Waited {
    unsigned phase = 0;
    bool known = false; // to have completed
  };
  std::optional<Waited> waited_by_parity(Thread thread, Object object, unsigned parity) const;
  std::optional<Waited> waited_by_token(Thread thread, Object object, unsigned phase) const;
  /// The thread goes on behind a wait, in phase `now`.
  [[nodiscard]] bool
  pass(Thread thread, Object object, const std::optional<Waited>& waited, unsigned now);
  /// The thread has asked whether this phase has completed, and forgets the answer
  /// (analysis/forgotten_answer.h).
  void note_question(Thread thread, Object object, unsigned phase) {
    questions_[thread] = {object, phase};
  }
  /// Is that what it has asked last, and not waited for since?
  bool has_asked(Thread thread, Object object, unsigned phase) const {
    const auto asked = questions_.find(thread);
    return asked != questions_.end() && asked->second == Question{object, phase};
  }
  /// Is `now` the phase that it waits for, so that it has not come too late?
  static bool in_time(const std::optional<Waited>& waited, unsigned now) {
    return waited && !waited->known && waited->phase == now;
  }

  /// These threads have come together, with those that have arrived at `with` before.
  void meet(std::span<const Thread> threads, std::uint32_t with = nothing);
  /// Arrives at `at` without waiting.
  void leave_word(std::span<const Thread> threads, std::uint32_t at);
  /// What was left at `from` is left at `to`, and nothing at `from`.
  void move_word(std::uint32_t from, std::uint32_t to);
  /// They learn what was left there.
  void take_word(std::span<const Thread> threads, std::uint32_t at);
  static constexpr std::uint32_t nothing = ~0U;
  /// Where an atomic access to the shared memory of a block leaves word.
  static std::uint32_t word_in_memory(std::size_t rank, std::uint64_t offset) {
    constexpr std::uint32_t in_memory = 1U << 31;
    return in_memory | static_cast<std::uint32_t>(rank << 24 | offset);
  }

  void save(std::vector<std::byte>& bytes) const;
  /// Returns where it has stopped to read.
  const std::byte* load(const std::byte* bytes, std::uint32_t threads);

private:
  // Of each object a phase (`unknown`: none), a bit for each thread: is that the last wait that it
  // has passed in the present phase; and another one: is that its last arrival.
  using Known = std::vector<std::uint64_t>;
  static constexpr std::uint64_t unknown = ~0ULL;
  static constexpr std::size_t largest = std::size_t{1} << 20; // bytes for all threads

  struct Question {
    Object object = 0;
    unsigned phase = 0;
    bool operator==(const Question&) const = default;
  };
  struct Entry {
    Object object = 0;
    bool valid = false;
    unsigned phase = 0;
    Known arriving, complete;
    std::vector<std::uint64_t> passed, arrived; // in the present phase; ever
    std::vector<std::uint64_t> expecting;       // and not arrived since
  };

  std::size_t words() const { return (threads_ + 63) / 64; }
  std::size_t stride() const { return 1 + 2 * words(); }
  std::size_t place(std::size_t entry) const { return entry * stride(); }
  Entry* find(Object object);
  const Entry* find(Object object) const;
  std::size_t number(const Entry& entry) const {
    return static_cast<std::size_t>(&entry - objects_.data());
  }
  template <class F> void each_known(F&& f);
  void join(Known& into, const Known& from) const;
  bool covers(const Known& known, const Entry& entry) const;
  /// The object's phase as the thread knows it.
  std::optional<unsigned> known_phase(Thread thread, Object object) const;
  void forget_passes(std::size_t entry);
  void only_knows_itself(Thread thread, std::size_t first_word);
  void note_arrival(Thread thread, Entry& entry);
  void note_pass(Thread thread, Entry& entry);

  std::uint32_t threads_ = 0;
  std::vector<Entry> objects_;           // in the order in which they were initialised first
  std::vector<Known> known_;             // by thread; empty: there are no objects
  std::map<std::uint32_t, Known> words_; // left for others
  std::map<Thread, Question> questions_;
};

/// Tells Phases of the barriers of a block.
class PhaseMonitor : public BlockMonitor {
public:
  /// `first`: the number of the block's first thread in its cluster.
  PhaseMonitor(Phases& phases, Block& block, std::uint32_t first)
      : phases_(phases),
        block_(block),
        first_(first) {}
  void started() override {}
  void arrived(std::size_t id, std::size_t w, isa::LaneMask lanes) override;
  void opened(std::size_t id, std::span<const isa::LaneMask> waiting, bool counted) override;
  void cluster_arrived(std::size_t w, isa::LaneMask lanes, bool release) override;
  void cluster_opened() override;
  void cluster_passed(std::size_t w, isa::LaneMask lanes) override;
  void warp_synced(std::size_t w, isa::LaneMask lanes) override;
  void dependency_waited() override {}

private:
  std::vector<Phases::Thread> threads(std::size_t w, isa::LaneMask lanes) const;
  std::uint32_t word(std::size_t barrier) const;

  Phases& phases_;
  Block& block_;
  std::uint32_t first_;
};

} // namespace heddle::reduce
