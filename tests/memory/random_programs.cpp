// Implements random_programs.h.
#include "memory/random_programs.h"

#include <algorithm>
#include <random>
#include <utility>

namespace heddle::litmus {

namespace {

using Kind = Instruction::Kind;
using Use = Instruction::Use;
using weak::Scope;

constexpr std::size_t most_instructions = 20, most_values = 16;

class Maker {
public:
  explicit Maker(std::uint64_t seed) : random_(seed) {
    // What this program is like: all of one kind says more than a bit of everything.
    weak_ = pick({0, 0, 0, 10, 30});
    ordered_ = pick({0, 30, 60, 90});
    volatile_ = pick({0, 0, 0, 30});
    updates_ = pick({0, 10, 30, 60});
    fences_ = pick({0, 0, 20, 50});
    depends_ = pick({0, 20, 50});
    barriers_ = pick({0, 0, 0, 25});
    few_scopes_ = chance(80);
    wide_ = chance(50) ? Scope::Gpu : Scope::Sys;
    same_values_ = chance(30);
  }

  Program make() {
    Program p;
    const std::size_t threads = below(100) < 35 ? 2 : below(100) < 65 ? 3 : 4;
    p.places = 2 + static_cast<int>(chance(35));
    place_threads(p, threads);
    p.threads.resize(threads);
    for (auto& code : p.threads) {
      const std::size_t accesses = 2 + below(threads == 2 ? 4 : threads == 3 ? 3 : 2);
      for (std::size_t k = 0; k < accesses; ++k) {
        if (k != 0 && chance(barriers_)) {
          code.push_back({.kind = Kind::Barrier});
        }
        if (k != 0 && chance(fences_)) {
          code.push_back(fence());
        }
        code.push_back(access(p, code));
      }
    }
    while (hangs(p)) {
      drop_barrier(p);
    }
    return p;
  }

private:
  std::size_t below(std::size_t n) { return random_() % n; }
  bool chance(unsigned percent) { return below(100) < percent; }
  template <class T> T pick(std::initializer_list<T> from) {
    return *(from.begin() + below(from.size()));
  }

  void place_threads(Program& p, std::size_t threads) {
    const bool devices = chance(15), apart = chance(35), together = chance(25);
    std::uint32_t next = 0;
    for (std::size_t t = 0; t < threads; ++t) {
      weak::Location at{next, next, 0};
      if (t != 0 && !apart && (together || chance(40))) {
        at = p.locations[below(t)];
      } else if (t != 0 && !apart && chance(30)) {
        const weak::Location& near = p.locations[below(t)];
        at = {next, near.cluster, near.device};
      } else if (devices) {
        at.device = static_cast<std::uint32_t>(below(2));
      }
      ++next;
      p.locations.push_back(at);
    }
  }

  Scope scope() {
    return few_scopes_ && chance(95) ? wide_
                                     : pick({Scope::Cta, Scope::Cluster, Scope::Gpu, Scope::Sys});
  }

  Instruction fence() {
    Instruction i{.kind = Kind::Fence, .strong = true, .scope = scope()};
    const std::size_t kind = below(5);
    i.acquire = kind != 0;
    i.release = kind != 1;
    i.sc = kind > 2;
    return i;
  }

  Instruction access(const Program& p, const std::vector<Instruction>& before) {
    Instruction i;
    if (chance(updates_)) {
      i.kind = pick({Kind::Update, Kind::Reduce, Kind::Add, Kind::Cas, Kind::Cas});
    } else {
      i.kind = chance(50) ? Kind::Load : Kind::Store;
    }
    i.place = static_cast<std::uint8_t>(below(static_cast<std::size_t>(p.places)));
    const bool plain = i.kind == Kind::Load || i.kind == Kind::Store;
    if (plain && chance(weak_)) {
      i.strong = false;
    } else if (plain && chance(volatile_)) {
      i.strong = i.is_volatile = true;
      i.scope = Scope::Sys;
    } else {
      i.strong = true;
      i.scope = scope();
      i.acquire = i.reads() && chance(ordered_);
      i.release = i.writes() && chance(ordered_);
    }
    if (i.writes() && i.kind != Kind::Reduce) {
      i.value = static_cast<std::uint8_t>(same_values_ ? 1 + below(2) : 1 + ++values_ % 14);
    }
    i.expected = static_cast<std::uint8_t>(chance(50) ? 0 : below(same_values_ ? 3 : 1 + values_));
    if (i.expected > 15) {
      i.expected = 0;
    }
    depend(i, before);
    return i;
  }

  void depend(Instruction& i, const std::vector<Instruction>& before) {
    std::vector<std::uint8_t> reads;
    for (std::size_t k = 0; k < before.size(); ++k) {
      if (before[k].reads()) {
        reads.push_back(static_cast<std::uint8_t>(k));
      }
    }
    if (reads.empty() || !chance(depends_)) {
      return;
    }
    i.from = reads[below(reads.size())];
    i.use =
        pick({Use::Data, Use::Address, Use::IfZero, Use::IfNotZero, Use::IfNotZero, Use::IfOdd});
    if (i.use == Use::Data && (!i.writes() || i.kind == Kind::Reduce)) {
      i.use = Use::IfNotZero;
    }
  }

  /// The last one of a thread that has more than another one of its block.
  static void drop_barrier(Program& p) {
    const auto barriers = [&](std::size_t t) {
      return std::ranges::count_if(p.threads[t], &Instruction::is_barrier);
    };
    for (std::size_t a = 0; a < p.threads.size(); ++a) {
      for (std::size_t b = 0; b < p.threads.size(); ++b) {
        if (p.locations[a].block == p.locations[b].block && barriers(a) > barriers(b)) {
          auto& code = p.threads[a];
          std::size_t k = code.size() - 1;
          while (!code[k].is_barrier()) {
            --k;
          }
          remove(code, k);
          return;
        }
      }
    }
  }

public:
  static void remove(std::vector<Instruction>& code, std::size_t k) {
    code.erase(code.begin() + static_cast<std::ptrdiff_t>(k));
    for (Instruction& i : code) {
      if (i.use != Use::Nothing && i.from == k) {
        i.use = Use::Nothing;
        i.from = 0;
      } else if (i.use != Use::Nothing && i.from > k) {
        --i.from;
      }
    }
  }

private:
  std::mt19937_64 random_;
  unsigned weak_, ordered_, volatile_, updates_, fences_, depends_, barriers_;
  bool few_scopes_, same_values_;
  Scope wide_;
  std::uint8_t values_ = 0;
};

bool fits(const Program& p) {
  std::size_t instructions = 0, values = static_cast<std::size_t>(p.places);
  for (const auto& code : p.threads) {
    instructions += code.size();
    values += static_cast<std::size_t>(std::ranges::count_if(code, &Instruction::reads));
  }
  return instructions <= most_instructions && values <= most_values;
}

} // namespace

Program random_program(std::uint64_t seed) {
  constexpr std::uint64_t another = 0x9e3779b97f4a7c15;
  for (;; seed += another) {
    const Program p = Maker(seed).make();
    if (fits(p)) {
      return p;
    }
  }
}

Program smallest(Program p, const std::function<bool(const Program&)>& still) {
  for (bool smaller = true; smaller;) {
    smaller = false;
    const auto try_it = [&](auto&& change) {
      Program less = p;
      change(less);
      if (!hangs(less) && still(less)) {
        p = std::move(less);
        smaller = true;
        return true;
      }
      return false;
    };
    for (std::size_t t = 0; t < p.threads.size(); ++t) {
      for (std::size_t k = p.threads[t].size(); k-- > 0;) {
        if (try_it([&](Program& less) { Maker::remove(less.threads[t], k); })) {
          continue;
        }
        if (p.threads[t][k].use != Use::Nothing) {
          try_it([&](Program& less) {
            less.threads[t][k].use = Use::Nothing;
            less.threads[t][k].from = 0;
          });
        }
      }
      if (p.threads[t].empty() && p.threads.size() > 1) {
        p.threads.erase(p.threads.begin() + static_cast<std::ptrdiff_t>(t));
        p.locations.erase(p.locations.begin() + static_cast<std::ptrdiff_t>(t));
        --t;
      }
    }
  }
  return p;
}

} // namespace heddle::litmus
