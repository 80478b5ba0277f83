// Implements components.h. The operations on sets follow section 4 of the paper: `unite` locks the
// smaller root first, so that of those who unite sets in a cycle one has nobody to wait for, and
// then one entry of each list, which it makes one. A list is a ring of all states of a set; entries
// that are done are left out of it by whoever passes by, and a set is finished when all are.
#include "explore/judge/components.h"

#include "base/check.h"

#include <algorithm>
#include <thread>

namespace heddle::explore {

namespace {

constexpr auto relaxed = std::memory_order_relaxed;
constexpr auto acquire = std::memory_order_acquire;
constexpr auto release = std::memory_order_release;

template <class T> std::atomic_ref<T> shared(T& value) {
  return std::atomic_ref<T>(value);
}

/// Another member holds a lock for a moment, unless it has been put to sleep.
class Patience {
public:
  void wait() {
    if (++rounds_ < 64) {
      __builtin_ia32_pause();
    } else {
      std::this_thread::yield();
    }
  }

private:
  int rounds_ = 0;
};

} // namespace

void Components::open(StateId s) {
  nodes_[s] =
      {.parent = s, .next = s, .members = 0, .set = Set::Live, .item = Item::Live, .marks = 0};
}

void Components::close(StateId s) {
  nodes_[s] =
      {.parent = s, .next = s, .members = 0, .set = Set::Dead, .item = Item::Done, .marks = 0};
}

// --- Sets ----------------------------------------------------------------------------------------

StateId Components::find(StateId s) const {
  for (;;) {
    const StateId parent = shared(nodes_[s].parent).load(acquire);
    if (parent == s) {
      return s;
    }
    const StateId next = shared(nodes_[parent].parent).load(acquire);
    if (next == parent) {
      return parent;
    }
    shared(nodes_[s].parent).store(next, release); // ways become shorter
    s = next;
  }
}

StateId Components::root(StateId s) const {
  return find(s);
}

bool Components::is_single(StateId s) const {
  return nodes_[s].parent == s && (nodes_[s].marks & has_others) == 0;
}

bool Components::same(StateId a, StateId b) const {
  for (;;) {
    a = find(a);
    b = find(b);
    if (a == b) {
      return true;
    }
    if (shared(nodes_[a].parent).load(acquire) == a) {
      return false;
    }
  }
}

void Components::mark(StateId s, std::uint8_t mark) {
  if ((shared(nodes_[s].marks).load(relaxed) & mark) == 0) {
    shared(nodes_[s].marks).fetch_or(mark, relaxed);
  }
}

Components::Claim Components::claim(StateId s, unsigned member) {
  const std::uint32_t bit = 1U << member;
  StateId r = find(s);
  if (shared(nodes_[r].set).load(acquire) == Set::Dead) {
    return Claim::Dead;
  }
  if ((shared(nodes_[r].members).load(acquire) & bit) != 0) {
    return Claim::Known;
  }
  for (;;) { // a root that gets another one hands its members on only once
    shared(nodes_[r].members).fetch_or(bit);
    if (shared(nodes_[r].parent).load() == r) {
      return Claim::New;
    }
    r = find(r);
  }
}

void Components::unite(StateId a, StateId b) {
  StateId q = nobody, r = nobody;
  for (Patience patience;; patience.wait()) {
    a = find(a);
    b = find(b);
    if (a == b) {
      return;
    }
    q = std::min(a, b);
    r = std::max(a, b);
    Set live = Set::Live;
    if (!shared(nodes_[q].set).compare_exchange_strong(live, Set::Locked)) {
      continue;
    }
    if (shared(nodes_[q].parent).load() == q) {
      break;
    }
    shared(nodes_[q].set).store(Set::Live);
  }
  const auto unlock = [&] { shared(nodes_[q].set).store(Set::Live); };
  StateId of_q = nobody, of_r = nobody;
  if (!lock_item(q, of_q)) { // all of it is done: others have united them
    unlock();
    return;
  }
  if (!lock_item(r, of_r)) {
    shared(nodes_[of_q].item).store(Item::Live);
    unlock();
    return;
  }
  const StateId behind_q = shared(nodes_[of_q].next).load(acquire);
  const StateId behind_r = shared(nodes_[of_r].next).load(acquire);
  shared(nodes_[of_q].next).store(behind_r, release);
  shared(nodes_[of_r].next).store(behind_q, release);
  mark(r, has_others);
  shared(nodes_[q].parent).store(r);
  // Whoever has come to one of them has come to both.
  const std::uint32_t members = shared(nodes_[q].members).load();
  for (StateId top = r;;) {
    shared(nodes_[top].members).fetch_or(members);
    if (shared(nodes_[top].parent).load() == top) {
      break;
    }
    top = find(top);
  }
  shared(nodes_[of_q].item).store(Item::Live);
  shared(nodes_[of_r].item).store(Item::Live);
  unlock();
}

// --- Lists ---------------------------------------------------------------------------------------

/// A state of the set that is not done. None: all are, and the set is finished.
std::optional<StateId> Components::pick(StateId s) {
  for (Patience patience;;) {
    const Item item = shared(nodes_[s].item).load(acquire);
    if (item == Item::Live) {
      return s;
    }
    if (item == Item::Locked) {
      patience.wait();
      continue;
    }
    const StateId next = shared(nodes_[s].next).load(acquire);
    if (next == s) {
      mark_dead(s);
      return std::nullopt;
    }
    const Item behind = shared(nodes_[next].item).load(acquire);
    if (behind == Item::Live) {
      return next;
    }
    if (behind == Item::Locked) {
      patience.wait();
      continue;
    }
    const StateId after = shared(nodes_[next].next).load(acquire);
    shared(nodes_[s].next).store(after, release); // `next` is done and stays so
    s = after;
  }
}

bool Components::lock_item(StateId s, StateId& locked) {
  for (Patience patience;; patience.wait()) {
    const auto picked = pick(s);
    if (!picked) {
      return false;
    }
    locked = *picked;
    Item live = Item::Live;
    if (shared(nodes_[locked].item).compare_exchange_strong(live, Item::Locked)) {
      return true;
    }
  }
}

/// All edges out of the state have been gone along.
void Components::finish(StateId s) {
  for (Patience patience;; patience.wait()) {
    Item item = Item::Live;
    if (shared(nodes_[s].item).compare_exchange_strong(item, Item::Done) || item == Item::Done) {
      return;
    }
  }
}

void Components::mark_dead(StateId s) {
  for (Patience patience;; patience.wait()) {
    const StateId r = find(s);
    Set set = Set::Live;
    if (shared(nodes_[r].set).compare_exchange_strong(set, Set::Dead) || set == Set::Dead) {
      return;
    }
  }
}

// --- Walks ---------------------------------------------------------------------------------------

void Components::walk_from(Walk& walk, const OutEdges& out, const Which& which, StateId s) {
  if (claim(s, walk.member) != Claim::New) {
    return; // dead: a walk is over when all that it has come to is
  }
  walk.roots.push_back(s);
  walk.frames.push_back({s, nobody, 0, 0});
  while (!walk.frames.empty()) {
    step(walk, out, which);
  }
}

void Components::step(Walk& walk, const OutEdges& out, const Which& which) {
  Frame& frame = walk.frames.back();
  if (frame.current == nobody) {
    const auto picked = pick(frame.state);
    if (!picked) {
      if (walk.roots.back() == frame.state) {
        walk.roots.pop_back();
      }
      walk.frames.pop_back();
      return;
    }
    frame.current = *picked;
    frame.left = static_cast<std::uint32_t>(out.targets_of(frame.current).size());
    // Members go along different edges first.
    frame.next = frame.left == 0 ? 0 : (walk.member * 5 + frame.current) % frame.left;
  }
  const std::span<const StateId> targets = out.targets_of(frame.current);
  while (frame.left != 0) {
    --frame.left;
    const std::uint32_t n = frame.next;
    frame.next = n + 1 == targets.size() ? 0 : n + 1;
    const StateId t = targets[n];
    if (which.part_of != nullptr &&
        shared(const_cast<std::uint32_t&>(which.part_of[t])).load(relaxed) != which.part) {
      continue;
    }
    if (which.gone != nullptr && which.gone->contains(out.of(frame.current)[n])) {
      continue;
    }
    if (t == frame.current) {
      mark(t, loops);
      continue;
    }
    switch (claim(t, walk.member)) {
    case Claim::Dead:
      break;
    case Claim::New:
      walk.roots.push_back(t);
      walk.frames.push_back({t, nobody, 0, 0});
      return;
    case Claim::Known:
      while (!same(t, frame.state)) {
        const StateId last = walk.roots.back();
        walk.roots.pop_back();
        HEDDLE_CHECK(!walk.roots.empty(), "a circle leads out of the way to it");
        unite(last, walk.roots.back());
      }
      break;
    }
  }
  finish(frame.current);
  frame.current = nobody;
}

/// From state_at(0), state_at(1), …, as many as `count`.
template <class StateAt>
void Components::walk_together(
    const OutEdges& out,
    const Which& which,
    std::size_t count,
    const StateAt& state_at,
    Team& team
) {
  constexpr std::size_t at_once = 256;
  std::atomic<std::size_t> next{0};
  team.together([&](std::size_t member) {
    if (member >= most_members) {
      return;
    }
    Walk walk;
    walk.member = static_cast<unsigned>(member);
    for (;;) {
      const std::size_t begin = next.fetch_add(at_once, relaxed);
      if (begin >= count) {
        return;
      }
      for (std::size_t i = begin; i < std::min(begin + at_once, count); ++i) {
        walk_from(walk, out, which, state_at(i));
      }
    }
  });
}

void Components::split(const OutEdges& out, const Which& which, Team& team) {
  const auto state_at = [](std::size_t i) { return static_cast<StateId>(i); };
  walk_together(out, which, nodes_.size(), state_at, team);
}

void Components::split(
    const OutEdges& out,
    const Which& which,
    std::span<const StateId> states,
    Team& team
) {
  walk_together(out, which, states.size(), [&](std::size_t i) { return states[i]; }, team);
}

void Components::split(const OutEdges& out, const Which& which, std::span<const StateId> states) {
  Walk walk;
  for (const StateId s : states) {
    walk_from(walk, out, which, s);
  }
}

} // namespace heddle::explore
