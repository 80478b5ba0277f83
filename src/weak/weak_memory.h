// WeakMemory: what each thread may see of memory under the PTX memory consistency model.
//
//   WeakMemory memory;
//   memory.add_thread(0, location);
//   if (const auto race = memory.race(0, range, access, /*writes=*/false)) …    // [MEM-RACE]
//   for (const Choice& c : memory.readable(0, range, access, /*update=*/false)) // any of them:
//     memory.read(0, range, access, c.rank);
//   for (const std::uint32_t p : memory.positions(0, range, access))            // any of them:
//     memory.write(0, range, access, p, before, value);
//   memory.fence(0, {.acquire = true, .release = true, .sc = true}, scope);
//   memory.name(hasher);         // equal up to a renaming of events: the same future
//
// An operational form of the axioms in spec/memory-model.md ([MEM-VIEW] has the argument that the
// two agree). Each write of a strong place is a *message*, and the messages of a place are in
// coherence order. Each access is an *event*. A thread has a *view*: the set of events that precede
// what it does next in causality order ([MEM-CAUSE]). It may read every message that is not older
// than one in its view, and put its own message behind every one in its view. A message carries the
// views of the release patterns that it is in; an acquire pattern takes those views that are
// morally strong with it.
//
// Events that every live thread knows, and messages that nobody can read any more, are forgotten:
// a place with one message, known by all, has no record at all.
//
// It is a value: a copy is another state. The bytes of the newest message are in the caller's
// memory.
//
// May be wrong: executions are built in an order that program order, reads-from and Fence-SC order
// agree with, so what needs a cycle of these (load buffering) is missed ([MEM-BOUND]). Of more
// than `Limits::events` strong writes of one thread to one place that nobody can read any more,
// each unknown to somebody who knows a later one, the oldest is not compared any more (misses a
// race); no more than `Limits::messages` of a place and a tag can be read, and no more than
// `Limits::all_messages` of a place: the oldest ones are then forgotten. left_out_messages() says
// of both. Fences are in Fence-SC order as they are executed; sc_fences() says whether another
// order could have made a difference. The host knows all that has been done, and passes on all of
// it.
#pragma once

#include "base/hash.h"
#include "weak/events.h"
#include "weak/flat_map.h"
#include "weak/runs.h"
#include "weak/scope.h"
#include "weak/view.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

namespace heddle::weak {

/// What an access is, apart from its place.
struct Access {
  bool strong = false;
  Scope scope = Scope::Cta; // of a strong one
  bool acquire = false, release = false;
  bool reduction = false; // an update that is no read operation: begins no acquire pattern
  bool operator==(const Access&) const = default;
};

struct Fence {
  bool acquire = false, release = false, sc = false;
  /// [MEM-RESTRICT] It hands on and takes what concerns objects in these ranges; none: in any.
  std::vector<Range> objects{};
};

/// A message that a thread may read.
struct Choice {
  std::uint32_t rank = 0; // in coherence order
  bool newest = true;     // then the value is what memory holds
  Value value{};
};

/// The newest message of a place that a thread does not have to see: who wrote it, and why not.
struct Unseen {
  enum class Why : std::uint8_t {
    NotReleased, // no release pattern passes it on
    NotRead,     // some do, and the thread has read none of them
    NotAcquired  // it has, and no acquire of it takes that
  } why{};
  std::uint64_t tag = 0; // what the caller said of the write
};

/// Ways to break the machine on purpose: the comparison with the axioms must notice each of them
/// (tests/memory). Nobody else sets one.
enum class Mutant : std::uint8_t {
  None,
  StrongWhateverScope,  // scopes contain everybody
  AcquireWhateverScope, // the scope of an acquire contains everybody
  ReadsAcquire,         // relaxed reads acquire
  ReadsForget,          // what a thread has read it may read an older one of
  WritesAreNewest,      // no write is put before another one
  UpdatesApart,         // something may come between an update and what it has read
  UpdatesEndReleases,   // an update does not hand on what it has read
  FencesReleaseOnce,    // a release fence counts for the next write only
  FencesForgetReads,    // an acquire fence counts for nothing that was read before it
  ScFencesApart,        // fence.sc orders nothing but by what is read
  ScFencesTogether,     // fence.sc orders all of them, whatever their scopes
  ReleasesWithoutPlace, // a release operation counts for writes of other places, too
  EqualUpdatesRelease,  // an update that changes no value hands on nothing of its own
  ReductionsAcquire,    // an update without a result begins an acquire pattern
  RacesForgetReads,     // a write does not race with a read before it
  RacesForgetAcquires,  // an acquire races with what it acquires
  FencesUnrestricted,   // a fence for some objects is one for all
  FencesUnheard,        // nobody hears of a fence.sc what it does not know
  FencesComeFirst,      // any fence.sc may come before all others of its grid
  Count
};

/// An access that conflicts with one that its thread has no order with.
struct Race {
  Thread thread = 0;
  bool write = false, strong = false;
  Scope scope{};
  Range range;
  std::uint64_t tag = 0; // what the caller said of it
};

/// What is handed on, and what has been heard of on the way ([MEM-BOUND]).
struct Told {
  View view;
  View heard{};
  bool empty() const { return view.empty() && heard.empty(); }
  void add_all(const Told& other) {
    view.add_all(other.view);
    heard.add_all(other.heard);
  }
};

/// How much of the past is kept. Less makes fewer states.
struct Limits {
  std::size_t events = 4;   // strong writes of one kind, of one thread to one place, for race()
  std::size_t messages = 8; // of one tag, of a place
  std::size_t all_messages = 64; // of a place
};

class WeakMemory {
public:
  WeakMemory() = default;
  explicit WeakMemory(Limits limits, Mutant mutant = Mutant::None)
      : limits_(limits),
        mutant_(mutant) {}

  void add_thread(Thread thread, const Location& location) {
    add_threads({{thread, location}}, {});
  }
  /// Of a grid that begins; all of them know that.
  void add_threads(const std::vector<std::pair<Thread, Location>>& threads, const Told& told);
  /// They, as far as they live, will not make another access. What they know is kept until their
  /// grid has ended.
  void end_threads(Thread first, std::uint64_t count);

  /// Grids, and other commands, by their names. The host, or a thread, submits one: it knows all
  /// that has been done by then, and will know what those have known that it comes behind.
  void submit(std::uint32_t command, std::vector<std::uint32_t> behind);
  /// What it knows that begins now. It has no name any more, unless it is a grid, see
  /// end_threads().
  Told take_command(std::uint32_t command);
  /// What the threads of the grid have known, all of which have ended.
  Told take_grid(std::uint32_t grid);
  /// It has completed, and has known that. `part_of`: what does not complete before it, and then
  /// knows that, too.
  void complete(std::uint32_t command, const Told& knew, std::optional<std::uint32_t> part_of = {});
  View all_events() const;
  bool has_thread(Thread thread) const { return threads_.contains(thread); }
  bool has_some(Thread first, std::uint64_t count) const { return threads_.has_some(first, count); }

  /// [MEM-RACE] An access that the thread is about to make: does it race with an earlier one?
  /// `reads`: the rank of the message that it reads; an acquire is behind what it acquires. `same`:
  /// what a weak write writes, if weak writes of one value do not race; see note_value().
  std::optional<Race> race(
      Thread thread,
      const Range& range,
      const Access& access,
      bool writes,
      std::optional<std::uint32_t> reads = {},
      const std::optional<Value>& same = {}
  ) const;
  /// The last weak write of the thread to that range wrote this; nothing: that is not known.
  void note_value(Thread thread, const Range& range, const std::optional<Value>& value);

  /// Messages that a read may read, oldest first; never empty. `update`: it writes behind that.
  std::vector<Choice>
  readable(Thread thread, const Range& range, const Access& access, bool update) const;
  /// `tag`: for Race.
  void read(
      Thread thread,
      const Range& range,
      const Access& access,
      std::uint32_t rank,
      std::uint64_t tag = 0
  );

  /// Where in coherence order a write may be put, as the rank that it gets; never empty. The last
  /// one makes it the newest.
  std::vector<std::uint32_t>
  positions(Thread thread, const Range& range, const Access& access) const;
  /// `before`: what memory holds.
  void write(
      Thread thread,
      const Range& range,
      const Access& access,
      std::uint32_t position,
      const Value& before,
      const Value& value,
      std::uint64_t tag = 0
  );
  /// A read-modify-write that reads the message of that rank.
  void update(
      Thread thread,
      const Range& range,
      const Access& access,
      std::uint32_t rank,
      const Value& before,
      const Value& value,
      std::uint64_t tag = 0
  );
  std::uint32_t newest(const Range& range) const; // its rank
  /// Notes a strong write of a place, for as long as some thread lives. Who notes none does not
  /// tell states apart by them.
  void note_written(const Range& range);
  /// Those that were noted and overlap with it.
  std::vector<Range> written_at(const Range& range) const;
  /// Nothing: the thread knows the newest message.
  std::optional<Unseen> unseen(Thread thread, const Range& range) const;

  void fence(Thread thread, const Fence& fence, Scope scope);
  /// Would the fence neither tell its thread anything, nor pass on what somebody lacks?
  /// ([RED-EARLY])
  bool tells_nothing(Thread thread, const Fence& fence, Scope scope) const;

  /// They all know what each of them knows, and what has arrived at the barrier, which is cleared.
  void meet(std::vector<Thread> threads, std::uint64_t barrier);
  /// A barrier's own view is kept here, by a name of the caller's, since events are forgotten.
  void arrive(std::uint64_t barrier, Thread thread);
  void leave(std::uint64_t barrier, Thread thread);
  void clear(std::uint64_t barrier) { barriers_.erase(barrier); }
  /// From now on it has that name, in the place of what had it.
  void rename(std::uint64_t barrier, std::uint64_t as);

  /// What somebody else has written is seen at once: places whose newest message is not what is
  /// there, says `is_there(range, value)`, have one that everybody knows.
  template <class F> void look_again(F is_there) {
    std::vector<Range> gone;
    for (const auto& [range, messages] : places_) {
      if (!is_there(range, messages.back().value)) {
        gone.push_back(range);
      }
    }
    for (const Range& range : gone) {
      drop_places(range, /*but_same=*/false);
    }
  }
  /// The host, or a command, has written there, and knew that: so does whoever reads it strongly.
  void host_writes(const Range& range, const Told& knew) { told_[range] = knew; }
  /// Objects that do not live any more, says `lives(range)`.
  template <class F> void forget_objects(F lives) {
    View gone;
    std::vector<Range> places; // that everybody knows the only message of
    for (const auto& [range, _] : places_) {
      if (!lives(range)) {
        places.push_back(range);
      }
    }
    for (const Range& range : places) {
      drop_places(range, /*but_same=*/false);
    }
    events_.each([&](std::uint32_t n) {
      if (!lives(events_[n].range)) {
        drop_places(events_[n].range, /*but_same=*/false);
        gone.add(n);
      }
    });
    forget_events(gone);
  }
  /// Are there neither events, nor commands that lack one that is to come?
  bool empty() const { return events_.empty() && commands_.empty(); }
  bool left_out_messages() const { return left_out_messages_; }
  /// What has been seen of fence.sc ([MEM-BOUND]).
  struct ScFences {
    bool took = false;  // one has taken something from an earlier one
    bool heard = false; // one had heard of an earlier one what it did not know
    bool apart = false; // the scopes of two may not contain each other's threads
    bool operator==(const ScFences&) const = default;
  };
  ScFences sc_fences() const;

  /// Forgets what makes no difference any more. To be called after each step.
  void tidy();
  void name(Hasher& hasher) const;

private:
  static constexpr std::uint32_t known = ~std::uint32_t{0}; // of an event that all have seen
  struct Release {                                          // what a release pattern passes on
    Thread thread = 0;
    Scope scope{};
    View view;
    bool operator==(const Release&) const = default;
  };
  struct Message {
    std::uint32_t event = known;
    bool update = false; // directly behind the message that it has read
    bool strong = false;
    Scope scope{};
    Thread writer = 0;
    Value value{};
    std::vector<Release> releases;
    View observed; // events that precede it in observation order
    View heard;    // by its writer
  };
  struct ScFence { // the last one of its thread and scope
    Release release;
    View heard;
  };
  struct Pending { // what a later acquire may take
    Range place;
    Release release;
    bool operator==(const Pending&) const = default;
  };
  struct Open { // a release pattern that a strong write may end
    bool anywhere = false;
    Range place; // else
    Scope scope{};
    View view;
    bool operator==(const Open&) const = default;
  };
  /// Of a thread, besides what it has done itself: so threads that do the same have it together.
  struct Knowledge {
    View view;
    /// [MEM-BOUND] What those fence.sc passed on that come before the thread's next step in program
    /// order, reads-from and synchronisation together; the thread may not know it.
    View heard;
    std::vector<Pending> pending;
    std::vector<Open> open;
    bool fresh = false; // it knows only what all threads of its grid knew when that began
    bool operator==(const Knowledge&) const = default;
  };
  using KnowledgePtr = std::shared_ptr<Knowledge>; // own_knowledge() before a change
  struct Member {
    KnowledgePtr knows;
    std::uint32_t cluster = 0;
  };
  struct Waiting { // what a command knows, and the commands that it will know all of
    Told told;
    std::vector<std::uint32_t> behind; // ascending
  };
  /// Threads of one cluster that have the same knowledge.
  struct Group {
    const Knowledge* knows = nullptr;
    std::uint32_t cluster = 0;
    Thread first = 0;
    std::size_t count = 0;
  };
  using Messages = std::vector<Message>;

  bool is(Mutant mutant) const { return mutant_ == mutant; }
  bool morally_strong(Thread a, const Access& of_a, Thread b, bool strong, Scope scope) const;
  bool reach(Thread a, Scope of_a, Thread b, Scope of_b) const;
  std::uint32_t
  least_rank(const Messages& messages, const View& view, std::optional<Thread> thread) const;
  bool knows(Thread thread, const View& view, std::size_t event) const {
    return view.has(event) || events_.is_own(static_cast<std::uint32_t>(event), thread);
  }
  bool knows_all(Thread thread, const View& view, const View& events) const;
  /// All that the thread knows.
  View known_to(Thread thread) const;
  Told told_by(Thread thread) const;
  const Knowledge& knowledge(Thread thread) const { return *threads_.at(thread).knows; }
  Knowledge& own_knowledge(Thread thread);
  std::vector<Group> groups() const;
  std::vector<const Knowledge*> each_knowledge() const;
  void hear(Thread thread, const View& heard);
  template <class F> void change_each_knowledge(F&& change);
  void share_knowledge();
  bool passes_on(const Release& r, Thread thread, Scope scope) const;
  bool comes_first(Thread thread, const ScFence& before) const;
  std::uint32_t
  add_event(Thread, const Range&, const Access&, bool write, bool message, std::uint64_t tag);
  void forget_events(const View& events);
  void observe(Thread thread, const Range& range, const Access& access, const Message& m);
  void
  acquire(Thread thread, const Range* place, Scope scope, const std::vector<Range>& objects = {});
  View of_objects(const View& view, const std::vector<Range>& objects) const;
  void drop_places(const Range& range, bool but_same);
  Message make_message(Thread, const Range&, const Access&, const Value&, std::uint64_t tag);
  bool changes_nothing(Thread, const Range&, const Access&, const Message&, const Value&) const;
  void tidy_places();
  std::uint32_t first_within_limits(const Messages& messages) const;
  std::optional<std::uint32_t> cluster_of(const Messages& messages) const;
  template <class F>
  void name_threads(
      std::vector<std::uint64_t>& words,
      const std::vector<std::uint32_t>& order,
      F&& name_releases
  ) const;
  View known_to_all() const;
  View will_know(const Waiting& command) const;
  Told told_at(const Range& range) const;
  void learn_told(Thread thread, const Range& range);
  void forget_covered(Thread, const Range&, const Access&, bool write);
  bool covers(std::uint32_t later, std::uint32_t earlier) const;
  /// f(view) of every view that is no part of a thread's knowledge.
  template <class Self, class F> static void each_other_view(Self& self, F&& f) {
    for (auto& [_, messages] : self.places_) {
      for (auto& m : messages) {
        f(m.observed);
        f(m.heard);
        for (auto& r : m.releases) {
          f(r.view);
        }
      }
    }
    for (auto& r : self.sc_) {
      f(r.release.view);
      f(r.heard);
    }
    for (auto& [_, command] : self.commands_) {
      f(command.told.view);
      f(command.told.heard);
    }
    for (auto* of : {&self.barriers_, &self.grids_}) {
      for (auto& [_, told] : *of) {
        f(told.view);
        f(told.heard);
      }
    }
    for (auto& [_, told] : self.told_) {
      f(told.view);
      f(told.heard);
    }
  }
  template <class K, class F> static void each_view_of(K& knowledge, F&& f) {
    f(knowledge.view);
    f(knowledge.heard);
    for (auto& p : knowledge.pending) {
      f(p.release.view);
    }
    for (auto& o : knowledge.open) {
      f(o.view);
    }
  }
  std::vector<std::uint32_t> canonical() const;
  static void name_view(
      std::vector<std::uint64_t>& words,
      const View& view,
      const std::vector<std::uint32_t>& order
  );

  Events events_;
  Runs<Member> threads_;
  // Of ended ones, too. States have it together, since it changes only where a grid begins.
  std::shared_ptr<Runs<Location>> locations_ = std::make_shared<Runs<Location>>();
  FlatMap<Range, Messages> places_;
  std::vector<Range> written_; // by note_written()
  std::vector<ScFence> sc_;    // in Fence-SC order
  FlatMap<std::uint64_t, Told> barriers_;
  FlatMap<std::uint32_t, Waiting> commands_; // that have not begun
  FlatMap<std::uint64_t, Told> grids_;       // what their ended threads have known
  FlatMap<Range, Told> told_;                // by host_writes()
  Limits limits_;
  Mutant mutant_ = Mutant::None;
  bool left_out_messages_ = false, fences_took_ = false, heard_of_fences_ = false;
  std::optional<Scope> least_sc_; // of all fence.sc
};

} // namespace heddle::weak
