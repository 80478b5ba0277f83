// Implements axioms.h. Numbers in brackets are sections of the PTX ISA 9.0.
#include "memory/axioms/axioms.h"

#include <algorithm>
#include <array>
#include <bit>
#include <numeric>
#include <optional>
#include <set>
#include <string>
#include <utility>

namespace heddle::litmus::axioms {

namespace {

constexpr std::size_t most = 24;
using Set = std::uint32_t;

struct Relation {
  std::array<Set, most> rows{};
  bool has(std::size_t a, std::size_t b) const { return (rows[a] >> b & 1) != 0; }
  void add(std::size_t a, std::size_t b) { rows[a] = static_cast<Set>(rows[a] | 1U << b); }
  void add(const Relation& other) {
    for (std::size_t i = 0; i < most; ++i) {
      rows[i] = static_cast<Set>(rows[i] | other.rows[i]);
    }
  }
  void close() {
    for (std::size_t k = 0; k < most; ++k) {
      if (rows[k] == 0) {
        continue;
      }
      for (Set& row : rows) {
        if ((row >> k & 1) != 0) {
          row = static_cast<Set>(row | rows[k]);
        }
      }
    }
  }
  bool has_circle() const {
    Relation closed = *this;
    closed.close();
    for (std::size_t i = 0; i < most; ++i) {
      if (closed.has(i, i)) {
        return true;
      }
    }
    return false;
  }
};
Relation then(const Relation& a, const Relation& b) {
  Relation result;
  for (std::size_t i = 0; i < most; ++i) {
    for (Set m = a.rows[i]; m != 0; m = static_cast<Set>(m & (m - 1))) {
      result.rows[i] =
          static_cast<Set>(result.rows[i] | b.rows[static_cast<std::size_t>(std::countr_zero(m))]);
    }
  }
  return result;
}

/// An instruction that is skipped, or has not been executed yet, is a fence that does nothing.
struct Event {
  Instruction i;
  std::size_t thread = 0, slot = 0;
  Executed executed{};

  void happens_as(const Executed& e) {
    i = e.i;
    executed = e;
  }
};
constexpr Instruction nothing{.kind = Instruction::Kind::Fence};

class Executions {
public:
  explicit Executions(const Program& p) : program_(p) {
    for (std::size_t t = 0; t < p.threads.size(); ++t) {
      first_.push_back(events_.size());
      for (std::size_t slot = 0; slot < p.threads[t].size(); ++slot) {
        events_.push_back({nothing, t, slot});
      }
    }
    n_ = events_.size();
    for (std::size_t a = 0; a < n_; ++a) {
      for (std::size_t b = a + 1; b < n_; ++b) {
        if (events_[a].thread == events_[b].thread) {
          po_.add(a, b);
        }
      }
    }
    rf_.fill(initial);
    next_.resize(p.threads.size());
  }

  /// Of a program in which nothing depends on what is read: whatever reads from whatever.
  Result all() {
    for (Event& e : events_) {
      e.happens_as(execute(program_, e.thread, e.slot, [](std::size_t) { return 0U; }));
    }
    prepare();
    choose_rf(0);
    return result();
  }

  /// Of any program, those that can be built in an order that program order and reads-from agree
  /// with ([MEM-BOUND]): each read finds a write that is there.
  Result built() {
    build();
    return result();
  }

private:
  static constexpr int initial = -1;

  Result result() const {
    return {made(race_, all_), made(ordered_race_, ordered_), made(bounded_race_, bounded_)};
  }
  static Outcomes made(bool race, const std::set<std::uint64_t>& outcomes) {
    Outcomes result;
    result.race = race;
    if (!race) {
      result.outcomes.assign(outcomes.begin(), outcomes.end());
    }
    return result;
  }

  /// What does not depend on who reads from whom.
  void prepare() {
    ms_ = {};
    barriers_ = {};
    releases_.clear();
    acquires_.clear();
    readers_.clear();
    sc_fences_.clear();
    writes_.assign(static_cast<std::size_t>(program_.places), {});
    for (std::size_t a = 0; a < n_; ++a) {
      for (std::size_t b = 0; b < n_; ++b) {
        if (a != b && morally_strong(a, b)) {
          ms_.add(a, b);
        }
      }
      if (finds_value(a)) {
        readers_.push_back(a);
      }
      if (events_[a].i.sc) {
        sc_fences_.push_back(a);
      }
      if (events_[a].i.writes()) {
        writes_[events_[a].i.place].push_back(a);
      }
    }
    find_patterns();
    find_barriers();
  }

  // --- Executions in the order in which they are built -------------------------------------------

  bool stands_at_barrier(std::size_t t) const {
    const auto& code = program_.threads[t];
    return next_[t] < code.size() && code[next_[t]].is_barrier();
  }
  /// All threads of the block that have a barrier in front of them stand at one.
  bool opens(std::size_t t) const {
    for (std::size_t other = 0; other < next_.size(); ++other) {
      const auto& code = program_.threads[other];
      const auto next = code.begin() + static_cast<std::ptrdiff_t>(next_[other]);
      if (program_.locations[other].block == program_.locations[t].block &&
          std::any_of(next, code.end(), [](const auto& i) { return i.is_barrier(); }) &&
          !stands_at_barrier(other)) {
        return false;
      }
    }
    return true;
  }

  void build() {
    std::string name;
    for (const std::size_t next : next_) {
      name += static_cast<char>(next);
    }
    for (std::size_t e = 0; e < n_; ++e) {
      name += static_cast<char>(rf_[e]);
    }
    if (bounded_race_ || !built_.insert(name).second) {
      return;
    }
    bool ended = true;
    for (std::size_t t = 0; t < next_.size(); ++t) {
      if (next_[t] == program_.threads[t].size()) {
        continue;
      }
      ended = false;
      if (stands_at_barrier(t)) {
        if (opens(t)) {
          build_barrier(t);
          return; // it excludes nothing
        }
        continue;
      }
      const std::size_t at = first_[t] + next_[t];
      const Executed e = execute(program_, t, next_[t], [&](std::size_t from) {
        return events_[first_[t] + from].i.reads() ? value_behind(rf_[first_[t] + from]) : 0;
      });
      if (e.skipped || !(e.i.reads() || e.i.updates())) {
        build_event(t, e.skipped ? Executed{nothing} : e, initial);
        return; // nor does this: it reads nothing
      }
      build_event(t, e, initial);
      for (std::size_t w = 0; w < n_; ++w) {
        if (w != at && events_[w].i.writes() && events_[w].i.place == e.i.place) {
          build_event(t, e, static_cast<int>(w));
        }
      }
    }
    if (ended) {
      prepare();
      judge_reads();
    }
  }

  void build_event(std::size_t t, const Executed& e, int from) {
    const std::size_t at = first_[t] + next_[t]++;
    rf_[at] = from;
    events_[at].happens_as(e);
    if (e.i.reads() || e.i.updates()) {
      events_[at].happens_as(e.having_found(value_behind(from)));
      prepare();
      find_reads();
      if (const auto must = coherence_must_have(causality({})); must && !must->has_circle()) {
        build();
      }
    } else {
      build();
    }
    events_[at].i = nothing;
    rf_[at] = initial;
    --next_[t];
  }

  void build_barrier(std::size_t t) {
    std::vector<std::size_t> who;
    for (std::size_t other = 0; other < next_.size(); ++other) {
      if (stands_at_barrier(other) &&
          program_.locations[other].block == program_.locations[t].block) {
        who.push_back(other);
      }
    }
    for (const std::size_t other : who) {
      events_[first_[other] + next_[other]].i = program_.threads[other][next_[other]];
      ++next_[other];
    }
    build();
    for (const std::size_t other : who) {
      --next_[other];
      events_[first_[other] + next_[other]].i = nothing;
    }
  }

  // --- The relations
  // ------------------------------------------------------------------------------

  /// An atomic operation reads its place, a `red` too; it is no read operation [8.3] all the same.
  bool finds_value(std::size_t e) const { return events_[e].i.reads() || events_[e].i.updates(); }
  bool same_place(std::size_t a, std::size_t b) const {
    return events_[a].i.accesses() && events_[b].i.accesses() &&
           events_[a].i.place == events_[b].i.place;
  }
  bool conflict(std::size_t a, std::size_t b) const {
    return a != b && same_place(a, b) && (events_[a].i.writes() || events_[b].i.writes());
  }

  /// [8.6] Morally strong operations. (One proxy only; accesses overlap completely or not at all.)
  bool morally_strong(std::size_t a, std::size_t b) const {
    const Event &x = events_[a], &y = events_[b];
    if (x.i.accesses() && y.i.accesses() && x.i.place != y.i.place) {
      return false;
    }
    const weak::Location &at_x = program_.locations[x.thread], &at_y = program_.locations[y.thread];
    return x.thread == y.thread ||
           (x.i.strong && y.i.strong && weak::includes(x.i.scope, at_x, at_y) &&
            weak::includes(y.i.scope, at_y, at_x));
  }

  /// [8.7] Release and acquire patterns: where they begin and end.
  struct Pattern {
    std::size_t first = 0, last = 0;
  };
  void find_patterns() {
    for (std::size_t a = 0; a < n_; ++a) {
      const Instruction& x = events_[a].i;
      if (x.release && x.writes()) {
        releases_.push_back({a, a});
      }
      if (x.acquire && x.reads()) {
        acquires_.push_back({a, a});
      }
      for (std::size_t b = a + 1; b < n_ && events_[b].thread == events_[a].thread; ++b) {
        const Instruction& y = events_[b].i;
        const bool same = x.is_fence() || y.is_fence() || same_place(a, b);
        if (x.release && (x.writes() || x.is_fence()) && y.writes() && y.strong && same) {
          releases_.push_back({a, b});
        }
        if (x.reads() && x.strong && y.acquire && (y.reads() || y.is_fence()) && same) {
          acquires_.push_back({a, b});
        }
      }
    }
  }

  /// [8.9.4] What is before a barrier comes before what is behind it, for all threads of a block.
  void find_barriers() {
    const auto number = [&](std::size_t e) { // which barrier of its thread
      std::size_t n = 0;
      for (std::size_t before = 0; before < e; ++before) {
        n += po_.has(before, e) && events_[before].i.is_barrier() ? 1U : 0U;
      }
      return n;
    };
    for (std::size_t a = 0; a < n_; ++a) {
      for (std::size_t b = 0; b < n_; ++b) {
        if (events_[a].thread == events_[b].thread || !events_[a].i.is_barrier() ||
            !events_[b].i.is_barrier() || number(a) != number(b) ||
            program_.locations[events_[a].thread].block !=
                program_.locations[events_[b].thread].block) {
          continue;
        }
        for (std::size_t before = 0; before < n_; ++before) {
          if (po_.has(before, a)) {
            barriers_.rows[before] = static_cast<Set>(barriers_.rows[before] | po_.rows[b]);
          }
        }
      }
    }
  }

  void choose_rf(std::size_t k) {
    if (bounded_race_) {
      return;
    }
    if (k < readers_.size()) {
      const std::size_t r = readers_[k];
      rf_[r] = initial;
      choose_rf(k + 1);
      for (const std::size_t w : writes_[events_[r].i.place]) {
        if (w != r && !po_.has(r, w)) { // its own later write is against [8.10.5] at once
          rf_[r] = static_cast<int>(w);
          choose_rf(k + 1);
        }
      }
      return;
    }
    judge_reads();
  }

  void find_reads() {
    reads_from_ = {};
    for (const std::size_t r : readers_) {
      if (rf_[r] != initial) {
        reads_from_.add(static_cast<std::size_t>(rf_[r]), r);
      }
    }
    observe();
  }

  /// [8.9.2] Observation order.
  void observe() {
    observed_ = {};
    for (const std::size_t r : readers_) {
      if (rf_[r] != initial && ms_.has(static_cast<std::size_t>(rf_[r]), r)) {
        observed_.add(static_cast<std::size_t>(rf_[r]), r);
      }
    }
    for (std::size_t z = 0; z < n_; ++z) {
      if (!events_[z].i.updates()) {
        continue;
      }
      for (std::size_t w = 0; w < n_; ++w) {
        if (observed_.has(w, z)) {
          observed_.rows[w] = static_cast<Set>(observed_.rows[w] | observed_.rows[z]);
        }
      }
    }
    // Updates in any order: once more for each of them.
    for (std::size_t round = 0; round < n_; ++round) {
      for (std::size_t z = 0; z < n_; ++z) {
        if (events_[z].i.updates()) {
          for (std::size_t w = 0; w < n_; ++w) {
            if (observed_.has(w, z)) {
              observed_.rows[w] = static_cast<Set>(observed_.rows[w] | observed_.rows[z]);
            }
          }
        }
      }
    }
  }

  /// Reads-from has been chosen: every Fence-SC order.
  void judge_reads() {
    find_reads();
    std::ranges::sort(sc_fences_);
    do {
      judge_fences();
    } while (std::ranges::next_permutation(sc_fences_).found && !bounded_race_);
  }

  /// Writes of one place in every order that `must` allows.
  void
  choose_co(std::size_t place, std::vector<std::size_t>& order, const Relation& must, bool race) {
    if (place == writes_.size()) {
      judge_all(race);
      return;
    }
    const std::vector<std::size_t>& all = writes_[place];
    if (order.size() == all.size()) {
      order_[place] = order;
      std::vector<std::size_t> next;
      choose_co(place + 1, next, must, race);
      return;
    }
    for (const std::size_t w : all) {
      const auto has = [&](std::size_t other) {
        return std::ranges::find(order, other) != order.end();
      };
      if (has(w) ||
          std::ranges::any_of(all, [&](std::size_t o) { return must.has(o, w) && !has(o); })) {
        continue;
      }
      order.push_back(w);
      choose_co(place, order, must, race);
      order.pop_back();
    }
  }

  /// [8.9.7] Communication order: coherence, reads-from, and from a read to what overwrites it.
  void make_communication() {
    co_ = {};
    for (const auto& order : order_) {
      for (std::size_t i = 0; i < order.size(); ++i) {
        for (std::size_t k = i + 1; k < order.size(); ++k) {
          co_.add(order[i], order[k]);
        }
      }
    }
    communication_ = co_;
    communication_.add(reads_from_);
    for (const std::size_t r : readers_) {
      for (const std::size_t w : writes_[events_[r].i.place]) {
        if (w != r && (rf_[r] == initial || co_.has(static_cast<std::size_t>(rf_[r]), w))) {
          communication_.add(r, w);
        }
      }
    }
  }

  /// [8.10.5] SC per location.
  bool contradicts_program_order() const {
    Relation r;
    for (std::size_t a = 0; a < n_; ++a) {
      for (std::size_t b = 0; b < n_; ++b) {
        if (same_place(a, b) && (po_.has(a, b) || (ms_.has(a, b) && communication_.has(a, b)))) {
          r.add(a, b);
        }
      }
    }
    return r.has_circle();
  }

  /// [8.10.3] No morally strong write between what an update reads and what it writes.
  bool breaks_atomicity() const {
    for (const std::size_t a : readers_) {
      if (!events_[a].i.updates()) {
        continue;
      }
      for (const std::size_t w : writes_[events_[a].i.place]) {
        if (w != a && ms_.has(a, w) && co_.has(w, a) &&
            (rf_[a] == initial || co_.has(static_cast<std::size_t>(rf_[a]), w))) {
          return true;
        }
      }
      // It cannot come before what it has read either.
      if (rf_[a] != initial && co_.has(a, static_cast<std::size_t>(rf_[a]))) {
        return true;
      }
    }
    return false;
  }

  /// [8.9.4] Memory synchronisation, [8.9.5] causality order.
  Relation causality(const Relation& sc) const {
    Relation base = po_;
    base.add(sc);
    base.add(barriers_);
    for (const Pattern& x : releases_) {
      for (const Pattern& y : acquires_) {
        if (x.first != y.last && observed_.has(x.last, y.first) && ms_.has(x.first, y.last)) {
          base.add(x.first, y.last);
        }
      }
    }
    base.close();
    Relation cause = then(observed_, base);
    cause.add(base);
    return cause;
  }

  /// Coherence order has these pairs, or [8.10.1], [8.10.6] are broken whatever it is (nothing).
  /// More events, and more of causality, make more of it.
  std::optional<Relation> coherence_must_have(const Relation& cause) const {
    Relation must;
    const auto writer = [&](std::size_t r) { return static_cast<std::size_t>(rf_[r]); };
    for (std::size_t a = 0; a < n_; ++a) {
      if (events_[a].i.updates() && rf_[a] != initial) {
        must.add(writer(a), a); // [8.10.3] It comes after what it reads.
      }
      for (std::size_t b = 0; b < n_; ++b) {
        if (!cause.has(a, b)) {
          continue;
        }
        if (a == b) {
          return std::nullopt;
        }
        if (!same_place(a, b)) {
          continue;
        }
        const Instruction &x = events_[a].i, &y = events_[b].i;
        if (x.writes() && y.writes()) {
          must.add(a, b); // [8.10.1] Coherence
        }
        if (finds_value(a) && y.writes() && rf_[a] == static_cast<int>(b)) {
          return std::nullopt; // [8.10.6] Causality, 1
        }
        if (x.writes() && finds_value(b) && rf_[b] != static_cast<int>(a)) {
          if (rf_[b] == initial) {
            return std::nullopt; // [8.10.6] Causality, 2
          }
          must.add(a, writer(b));
        }
      }
    }
    return must;
  }

  void judge_fences() {
    // [8.9.3] Fence-SC order.
    Relation sc;
    for (std::size_t i = 0; i < sc_fences_.size(); ++i) {
      for (std::size_t k = i + 1; k < sc_fences_.size(); ++k) {
        if (ms_.has(sc_fences_[i], sc_fences_[k])) {
          sc.add(sc_fences_[i], sc_fences_[k]);
        }
      }
    }
    const Relation cause = causality(sc);
    bool race = false;
    for (std::size_t a = 0; a < n_; ++a) {
      for (std::size_t b = 0; b < n_; ++b) {
        if (cause.has(a, b)) {
          if (events_[a].i.sc && events_[b].i.sc && ms_.has(a, b) && sc.has(b, a)) {
            return; // [8.10.2] Fence-SC
          }
        } else if (conflict(a, b) && !ms_.has(a, b) && !cause.has(b, a)) {
          race = true; // [8.6.1]
        }
      }
    }
    const auto must = coherence_must_have(cause);
    if (!must || must->has_circle()) {
      return;
    }
    Relation way = po_;
    way.add(reads_from_);
    way.add(barriers_);
    is_ordered_ = !way.has_circle();
    way.add(sc);
    is_bounded_ = !way.has_circle();
    order_.assign(writes_.size(), {});
    std::vector<std::size_t> order;
    choose_co(0, order, *must, race);
  }

  void judge_all(bool race) {
    make_communication();
    if (contradicts_program_order() || breaks_atomicity()) {
      return;
    }
    race_ |= race;
    ordered_race_ |= race && is_ordered_;
    bounded_race_ |= race && is_bounded_;
    if (!race) {
      const std::uint64_t o = outcome();
      all_.insert(o);
      if (is_ordered_) {
        ordered_.insert(o);
      }
      if (is_bounded_) {
        bounded_.insert(o);
      }
    }
  }

  /// What place holds behind a write. A circle of updates is against atomicity.
  std::uint64_t value_behind(int write) const {
    if (write == initial) {
      return 0;
    }
    const auto w = static_cast<std::size_t>(write);
    const Event& e = events_[w];
    return e.executed.written(e.i.updates() ? value_behind(rf_[w]) : 0);
  }

  std::uint64_t outcome() const {
    std::uint64_t result = 0;
    for (std::size_t e = 0; e < n_; ++e) {
      if (program_.threads[events_[e].thread][events_[e].slot].reads()) {
        result = result << 4 | (events_[e].i.reads() ? value_behind(rf_[e]) : 0);
      }
    }
    for (const auto& order : order_) {
      result = result << 4 | value_behind(order.empty() ? initial : static_cast<int>(order.back()));
    }
    return result;
  }

  const Program& program_;
  std::vector<Event> events_;
  std::size_t n_ = 0;
  Relation po_, ms_, barriers_, reads_from_, observed_, co_, communication_;
  std::vector<Pattern> releases_, acquires_;
  std::vector<std::size_t> readers_, sc_fences_;
  std::vector<std::vector<std::size_t>> writes_, order_; // of each place; in coherence order
  std::vector<std::size_t> first_, next_;                // of each thread: event, instruction
  std::set<std::string> built_;
  bool is_ordered_ = true, is_bounded_ = true;
  std::array<int, most> rf_{};
  std::set<std::uint64_t> all_, ordered_, bounded_;
  bool race_ = false, ordered_race_ = false, bounded_race_ = false;
};

} // namespace

Result outcomes(const Program& p) {
  const bool fixed = std::ranges::all_of(p.threads, [](const auto& thread) {
    return std::ranges::all_of(thread, [](const Instruction& i) {
      return i.use == Instruction::Use::Nothing && i.kind != Instruction::Kind::Cas;
    });
  });
  if (fixed) {
    return Executions(p).all();
  }
  return built_outcomes(p);
}

Result built_outcomes(const Program& p) {
  return Executions(p).built();
}

} // namespace heddle::litmus::axioms
