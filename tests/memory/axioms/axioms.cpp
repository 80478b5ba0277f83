// Implements axioms.h. Numbers in brackets are sections of the PTX ISA 9.0.
#include "memory/axioms/axioms.h"

#include <algorithm>
#include <array>
#include <bit>
#include <numeric>
#include <set>

namespace heddle::litmus::axioms {

namespace {

constexpr std::size_t most = 16;
using Set = std::uint16_t;

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

struct Event {
  Instruction i;
  std::size_t thread = 0;
  std::uint64_t value = 0; // that it writes
};

class Executions {
public:
  explicit Executions(const Program& p) : program_(p) {
    for (std::size_t t = 0; t < p.threads.size(); ++t) {
      for (std::size_t slot = 0; slot < p.threads[t].size(); ++slot) {
        events_.push_back({p.threads[t][slot], t, value_of(p, t, slot)});
      }
    }
    n_ = events_.size();
    for (std::size_t a = 0; a < n_; ++a) {
      for (std::size_t b = 0; b < n_; ++b) {
        if (events_[a].thread == events_[b].thread && a < b) {
          po_.add(a, b);
        }
        if (a != b && morally_strong(a, b)) {
          ms_.add(a, b);
        }
      }
    }
    find_patterns();
    find_barriers();
    for (std::size_t e = 0; e < n_; ++e) {
      if (finds_value(e)) {
        readers_.push_back(e);
      }
      if (events_[e].i.sc) {
        sc_fences_.push_back(e);
      }
    }
    writes_.resize(static_cast<std::size_t>(p.places));
    for (std::size_t e = 0; e < n_; ++e) {
      if (events_[e].i.writes()) {
        writes_[events_[e].i.place].push_back(e);
      }
    }
  }

  Result run() {
    choose_rf(0);
    Result result;
    result.all.race = race_;
    result.bounded.race = bounded_race_;
    if (!race_) {
      result.all.outcomes.assign(all_.begin(), all_.end());
    }
    if (!bounded_race_) {
      result.bounded.outcomes.assign(bounded_.begin(), bounded_.end());
    }
    return result;
  }

private:
  static constexpr int initial = -1;

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
    reads_from_ = {};
    for (const std::size_t r : readers_) {
      if (rf_[r] != initial) {
        reads_from_.add(static_cast<std::size_t>(rf_[r]), r);
      }
    }
    observe();
    choose_co(0);
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

  void choose_co(std::size_t place) {
    if (bounded_race_) {
      return;
    }
    if (place == writes_.size()) {
      make_communication();
      if (contradicts_program_order() || breaks_atomicity()) {
        return;
      }
      std::ranges::sort(sc_fences_);
      do {
        judge();
      } while (std::ranges::next_permutation(sc_fences_).found && !bounded_race_);
      return;
    }
    std::vector<std::size_t>& order = writes_[place];
    std::ranges::sort(order);
    do {
      choose_co(place + 1);
    } while (std::ranges::next_permutation(order).found);
  }

  /// [8.9.7] Communication order: coherence, reads-from, and from a read to what overwrites it.
  void make_communication() {
    co_ = {};
    for (const auto& order : writes_) {
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

  void judge() {
    // [8.9.3] Fence-SC order.
    Relation sc;
    for (std::size_t i = 0; i < sc_fences_.size(); ++i) {
      for (std::size_t k = i + 1; k < sc_fences_.size(); ++k) {
        if (ms_.has(sc_fences_[i], sc_fences_[k])) {
          sc.add(sc_fences_[i], sc_fences_[k]);
        }
      }
    }
    // [8.9.4] Memory synchronisation, [8.9.5] causality order.
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

    bool race = false;
    for (std::size_t a = 0; a < n_; ++a) {
      for (std::size_t b = 0; b < n_; ++b) {
        if (cause.has(a, b)) {
          if (a == b) {
            return; // coherence, or Fence-SC
          }
          const Instruction &x = events_[a].i, &y = events_[b].i;
          if (x.sc && y.sc && ms_.has(a, b) && sc.has(b, a)) {
            return; // [8.10.2] Fence-SC
          }
          if (same_place(a, b)) {
            if (x.writes() && y.writes() && !co_.has(a, b)) {
              return; // [8.10.1] Coherence
            }
            if (finds_value(a) && y.writes() && rf_[a] == static_cast<int>(b)) {
              return; // [8.10.6] Causality, 1
            }
            if (x.writes() && finds_value(b) && rf_[b] != static_cast<int>(a) &&
                (rf_[b] == initial || co_.has(static_cast<std::size_t>(rf_[b]), a))) {
              return; // [8.10.6] Causality, 2
            }
          }
        } else if (conflict(a, b) && !ms_.has(a, b) && !cause.has(b, a)) {
          race = true; // [8.6.1]
        }
      }
    }
    Relation way = po_;
    way.add(reads_from_);
    way.add(sc);
    way.add(barriers_);
    const bool bounded = !way.has_circle();
    race_ |= race;
    bounded_race_ |= race && bounded;
    if (!race) {
      const std::uint64_t o = outcome();
      all_.insert(o);
      if (bounded) {
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
    const bool adds = events_[w].i.kind == Instruction::Kind::Reduce;
    return adds ? events_[w].value | value_behind(rf_[w]) : events_[w].value;
  }

  std::uint64_t outcome() const {
    std::uint64_t result = 0;
    for (const std::size_t r : readers_) {
      if (events_[r].i.reads()) {
        result = result << 4 | value_behind(rf_[r]);
      }
    }
    for (const auto& order : writes_) {
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
  std::vector<std::vector<std::size_t>> writes_; // of each place, in coherence order
  std::array<int, most> rf_{};
  std::set<std::uint64_t> all_, bounded_;
  bool race_ = false, bounded_race_ = false;
};

} // namespace

Result outcomes(const Program& p) {
  return Executions(p).run();
}

} // namespace heddle::litmus::axioms
