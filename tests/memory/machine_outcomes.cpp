// Every execution of a litmus program on the machine of src/weak: each interleaving, each message
// that a read may read, each position of a write.
#include "base/hash.h"
#include "memory/litmus.h"

#include "weak/weak_memory.h"

#include <algorithm>
#include <array>
#include <optional>
#include <set>
#include <unordered_set>

namespace heddle::litmus {

namespace {

struct State {
  weak::WeakMemory memory;
  std::vector<std::size_t> next;      // instruction of each thread
  std::vector<std::uint64_t> read;    // what each instruction has read
  std::array<std::uint64_t, 4> now{}; // what places hold
};

class Search {
public:
  Search(const Program& p, weak::Mutant mutant) : program_(p), mutant_(mutant) {}

  Outcomes run() {
    State first{.memory = weak::WeakMemory({}, mutant_), .next = {}, .read = {}};
    for (std::size_t t = 0; t < program_.threads.size(); ++t) {
      first.memory.add_thread(static_cast<weak::Thread>(t), program_.locations[t]);
      first_.push_back(first.read.size());
      first.read.resize(first.read.size() + program_.threads[t].size());
    }
    first.next.resize(program_.threads.size());
    visit(first);
    Outcomes result;
    result.race = race_;
    if (!race_) {
      result.outcomes.assign(outcomes_.begin(), outcomes_.end());
    }
    return result;
  }

  bool ordered_fences() const { return heard_ || (took_ && apart_); }

private:
  void visit(const State& s) {
    const auto fences = s.memory.sc_fences();
    heard_ = heard_ || fences.heard;
    took_ = took_ || fences.took;
    apart_ = apart_ || fences.apart;
    if (race_) {
      return;
    }
    Hasher h;
    for (const std::size_t n : s.next) {
      h.value(n);
    }
    for (const std::uint64_t r : s.read) {
      h.value(r);
    }
    for (const std::uint64_t v : s.now) {
      h.value(v);
    }
    s.memory.name(h);
    const Hash128 name = h.finish();
    if (!visited_.insert(name.low ^ name.high * 3).second) {
      return;
    }
    bool ended = true;
    for (std::size_t t = 0; t < program_.threads.size(); ++t) {
      if (s.next[t] < program_.threads[t].size()) {
        ended = false;
        const Executed e = execute(program_, t, s.next[t], [&](std::size_t from) {
          return s.read[first_[t] + from];
        });
        if (e.skipped) {
          State next = s;
          go_on(next, t);
        } else {
          step(s, t, e);
        }
      }
    }
    if (ended) {
      std::uint64_t outcome = 0;
      for (std::size_t t = 0; t < program_.threads.size(); ++t) {
        for (std::size_t k = 0; k < program_.threads[t].size(); ++k) {
          if (program_.threads[t][k].reads()) {
            outcome = outcome << 4 | s.read[first_[t] + k];
          }
        }
      }
      for (int p = 0; p < program_.places; ++p) {
        outcome = outcome << 4 | s.now[static_cast<std::size_t>(p)];
      }
      outcomes_.insert(outcome);
    }
  }

  void go_on(State& next, std::size_t t) {
    if (++next.next[t] == program_.threads[t].size()) {
      next.memory.end_threads(static_cast<weak::Thread>(t), 1);
    }
    next.memory.tidy();
    visit(next);
  }

  /// All threads of the block that have a barrier in front of them stand at one: they go on.
  void meet(const State& s, std::size_t t) {
    std::vector<std::size_t> who;
    for (std::size_t other = 0; other < program_.threads.size(); ++other) {
      const auto& code = program_.threads[other];
      const auto next = code.begin() + static_cast<std::ptrdiff_t>(s.next[other]);
      if (program_.locations[other].block != program_.locations[t].block ||
          std::none_of(next, code.end(), [](const auto& i) { return i.is_barrier(); })) {
        continue;
      }
      if (other < t || !next->is_barrier()) {
        return; // the first one of them moves all
      }
      who.push_back(other);
    }
    State met = s;
    for (const std::size_t other : who) {
      met.memory.arrive(1, static_cast<weak::Thread>(other));
    }
    for (const std::size_t other : who) {
      met.memory.leave(1, static_cast<weak::Thread>(other));
    }
    met.memory.clear(1);
    for (const std::size_t other : who) {
      if (++met.next[other] == program_.threads[other].size()) {
        met.memory.end_threads(static_cast<weak::Thread>(other), 1);
      }
    }
    met.memory.tidy();
    visit(met);
  }

  void step(const State& s, std::size_t t, const Executed& e) {
    const auto thread = static_cast<weak::Thread>(t);
    const Instruction& i = e.i;
    if (i.is_barrier()) {
      meet(s, t);
      return;
    }
    if (i.is_fence()) {
      State next = s;
      next.memory.fence(thread, {i.acquire, i.release, i.sc}, i.scope);
      go_on(next, t);
      return;
    }
    if (i.reads() || i.updates()) {
      find(s, t, e);
      return;
    }
    const weak::Access access = access_of(i);
    if (has_race(s, thread, i)) {
      return;
    }
    const std::uint64_t now = s.now[i.place];
    const auto positions = s.memory.positions(thread, range_of(i), access);
    for (const std::uint32_t p : positions) {
      State next = s;
      next.memory.write(thread, range_of(i), access, p, {now}, {e.operand});
      next.now[i.place] = p == positions.back() ? e.operand : now;
      go_on(next, t);
    }
  }

  /// A read, with or without a write: any message that it may read.
  void find(const State& s, std::size_t t, const Executed& e) {
    const auto thread = static_cast<weak::Thread>(t);
    const std::uint64_t now = s.now[e.i.place];
    for (const bool update : {false, true}) {
      for (const weak::Choice& c :
           s.memory.readable(thread, range_of(e.i), access_of(e.i), update)) {
        const std::uint64_t found = c.newest ? now : c.value[0];
        const Executed made = e.having_found(found);
        if (made.i.updates() != update) {
          continue;
        }
        if (has_race(s, thread, made.i, c.rank)) {
          return;
        }
        State next = s;
        if (e.i.reads()) {
          next.read[first_[t] + s.next[t]] = found;
        }
        if (update) {
          const std::uint64_t value = made.written(found);
          next.memory.update(thread, range_of(e.i), access_of(e.i), c.rank, {now}, {value});
          next.now[e.i.place] = c.newest ? value : now;
        } else {
          next.memory.read(thread, range_of(e.i), access_of(e.i), c.rank);
        }
        go_on(next, t);
      }
    }
  }

  static weak::Range range_of(const Instruction& i) { return {std::uint64_t{64} * i.place, 4}; }
  static weak::Access access_of(const Instruction& i) {
    return {i.strong, i.scope, i.acquire, i.release, i.kind == Instruction::Kind::Reduce};
  }
  bool has_race(
      const State& s,
      weak::Thread thread,
      const Instruction& i,
      std::optional<std::uint32_t> reads = {}
  ) {
    race_ = race_ || s.memory.race(thread, range_of(i), access_of(i), i.writes(), reads);
    return race_;
  }

  const Program& program_;
  weak::Mutant mutant_;
  std::vector<std::size_t> first_; // slot of each thread's first instruction
  std::unordered_set<std::uint64_t> visited_;
  std::set<std::uint64_t> outcomes_;
  bool race_ = false, heard_ = false, took_ = false, apart_ = false;
};

} // namespace

Outcomes machine_outcomes(const Program& p, weak::Mutant mutant, bool* ordered_fences) {
  Search search(p, mutant);
  Outcomes result = search.run();
  if (ordered_fences != nullptr) {
    *ordered_fences = search.ordered_fences();
  }
  return result;
}

} // namespace heddle::litmus
