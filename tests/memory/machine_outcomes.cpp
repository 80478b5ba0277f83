// Every execution of a litmus program on the machine of src/weak: each interleaving, each message
// that a read may read, each position of a write.
#include "base/hash.h"
#include "memory/litmus.h"

#include "weak/weak_memory.h"

#include <algorithm>
#include <array>
#include <set>
#include <unordered_set>

namespace heddle::litmus {

namespace {

struct State {
  weak::WeakMemory memory;
  std::vector<std::size_t> next;      // instruction of each thread
  std::vector<std::uint64_t> read;    // what each read has read
  std::array<std::uint64_t, 4> now{}; // what places hold
};

class Search {
public:
  Search(const Program& p, weak::Mutant mutant) : program_(p), mutant_(mutant) {}

  Outcomes run() {
    State first{.memory = weak::WeakMemory({}, mutant_), .next = {}, .read = {}};
    std::size_t reads = 0;
    for (std::size_t t = 0; t < program_.threads.size(); ++t) {
      first.memory.add_thread(static_cast<weak::Thread>(t), program_.locations[t]);
      first_read_.push_back(reads);
      reads +=
          static_cast<std::size_t>(std::ranges::count_if(program_.threads[t], &Instruction::reads));
    }
    first.next.resize(program_.threads.size());
    first.read.resize(reads);
    visit(first);
    Outcomes result;
    result.race = race_;
    if (!race_) {
      result.outcomes.assign(outcomes_.begin(), outcomes_.end());
    }
    return result;
  }

private:
  void visit(const State& s) {
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
        step(s, t, program_.threads[t][s.next[t]]);
      }
    }
    if (ended) {
      std::uint64_t outcome = 0;
      for (const std::uint64_t r : s.read) {
        outcome = outcome << 4 | r;
      }
      for (int p = 0; p < program_.places; ++p) {
        outcome = outcome << 4 | s.now[static_cast<std::size_t>(p)];
      }
      outcomes_.insert(outcome);
    }
  }

  void go_on(State& next, std::size_t t) {
    if (++next.next[t] == program_.threads[t].size()) {
      next.memory.end_thread(static_cast<weak::Thread>(t));
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
        met.memory.end_thread(static_cast<weak::Thread>(other));
      }
    }
    met.memory.tidy();
    visit(met);
  }

  void step(const State& s, std::size_t t, const Instruction& i) {
    const auto thread = static_cast<weak::Thread>(t);
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
    const weak::Range range{std::uint64_t{64} * i.place, 4};
    const weak::Access
        access{i.strong, i.scope, i.acquire, i.release, i.kind == Instruction::Kind::Reduce};
    if (s.memory.race(thread, range, access, i.writes())) {
      race_ = true;
      return;
    }
    const std::uint64_t now = s.now[i.place];
    const std::uint64_t value = value_of(program_, t, s.next[t]);
    std::size_t which = first_read_[t];
    for (std::size_t k = 0; k < s.next[t]; ++k) {
      which += program_.threads[t][k].reads() ? 1 : 0;
    }
    if (i.reads() || i.updates()) {
      for (const weak::Choice& c : s.memory.readable(thread, range, access, i.writes())) {
        State next = s;
        const std::uint64_t found = c.newest ? now : c.value[0];
        if (i.reads()) {
          next.read[which] = found;
        }
        if (i.writes()) {
          const std::uint64_t made = i.reads() ? value : found | value;
          next.memory.update(thread, range, access, c.rank, {now}, {made});
          next.now[i.place] = c.newest ? made : now;
        } else {
          next.memory.read(thread, range, access, c.rank);
        }
        go_on(next, t);
      }
      return;
    }
    const auto positions = s.memory.positions(thread, range, access);
    for (const std::uint32_t p : positions) {
      State next = s;
      next.memory.write(thread, range, access, p, {now}, {value});
      next.now[i.place] = p == positions.back() ? value : now;
      go_on(next, t);
    }
  }

  const Program& program_;
  weak::Mutant mutant_;
  std::vector<std::size_t> first_read_;
  std::unordered_set<std::uint64_t> visited_;
  std::set<std::uint64_t> outcomes_;
  bool race_ = false;
};

} // namespace

Outcomes machine_outcomes(const Program& p, weak::Mutant mutant) {
  return Search(p, mutant).run();
}

} // namespace heddle::litmus
