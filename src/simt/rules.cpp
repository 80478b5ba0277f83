// Implements rules.h: spec/simt.md, rule by rule, in its order.
//
// May be wrong in one direction: real hardware of that time had further ways to meet again (a break
// instruction for loops, for instance), so lanes may meet later here than there, never earlier than
// a post-dominator allows. The order of the two sides of a branch is a choice (see Choices).
#include "simt/rules.h"

#include "base/check.h"

#include <algorithm>
#include <bit>

namespace heddle::simt {
namespace {

/// Everything a rule may look at. `top` is a copy: the rules change the stack.
struct Step {
  Warp& warp;
  Core& core;
  Choices& choices;
  Token top;
  Executed done;
};

Token& top_of(Warp& warp) {
  return warp.stack.back();
}

bool execute_by(Step& s, LaneMask lanes) {
  return s.core.execute(s.top.activation, s.top.pc, lanes, s.done);
}

bool execute_at_once(Step& s) {
  return execute_by(s, s.top.mask);
}

/// The lanes go on behind the instruction, all of them.
void advance(Step& s) {
  const Pc next = s.core.next(s.top.activation, s.top.pc);
  HEDDLE_CHECK(
      s.done.group_count == 1 && s.done.groups[0].pc == next && s.done.ended == 0,
      "lanes part at an instruction that is no branch"
  );
  top_of(s.warp).pc = next;
}

/// `lanes` are in no token of this activation any more; tokens without lanes vanish.
template <class Predicate> void remove(Warp& warp, LaneMask lanes, Predicate affected) {
  for (Token& token : warp.stack) {
    if (affected(token)) {
      token.mask &= ~lanes;
    }
  }
  std::erase_if(warp.stack, [](const Token& token) { return token.mask == 0; });
}

/// One lane after the other in an order that the machine may choose; lowest first costs no more
/// than all at once.
bool execute_serialised(Step& s) {
  const LaneOrder order = s.choices.order(s.top.mask);
  if (order.count == 0) {
    return execute_at_once(s);
  }
  LaneMask acted = 0;
  for (int i = 0; i < order.count; ++i) {
    s.done = {};
    const LaneMask lane = LaneMask{1} << order.lanes[static_cast<std::size_t>(i)];
    if (!s.core.execute(s.top.activation, s.top.pc, lane, s.done)) {
      return false;
    }
    acted |= s.done.acted;
  }
  s.done.acted = acted;
  return true;
}

// --- The rules -----------------------------------------------------------------------------------

// [SIMT-EXECUTE] All lanes of the topmost token execute the instruction and go on behind it.
bool execute(Step& s) {
  if (!execute_at_once(s)) {
    return false;
  }
  advance(s);
  return true;
}

// [SIMT-PREDICATE] Lanes whose guard does not hold stay with the others and do nothing. Which rule
// this is shows only afterwards, in s.done.acted; the effect on the warp is that of EXECUTE.
Rule predicate(const Step& s, Rule otherwise) {
  return s.done.acted != s.top.mask ? Rule::Predicate : otherwise;
}

// [SIMT-BRANCH] All lanes go to the same place: nothing happens to the stack.
void branch(Step& s) {
  top_of(s.warp).pc = s.done.groups[0].pc;
}

// [SIMT-ORDER] The sides go in any order; but those that are nothing but an end go first, because
// it makes no difference to anybody, except at a barrier, that their lanes are gone.
void order_sides(Step& s, Executed::Group* begin, Executed::Group* end) {
  const auto is_end = [&s](const Executed::Group& side) {
    const Kind kind = s.core.kind(side.activation, side.pc);
    return kind == Kind::Exit || kind == Kind::Return;
  };
  const auto ends_early = [&s](const Executed::Group& side) {
    return s.core.ends_early(side.activation, s.top.pc, side.pc);
  };
  const auto to_the_front = [end](Executed::Group* first, auto wanted) {
    for (auto* side = first; side != end; ++side) {
      if (wanted(*side)) {
        std::rotate(first++, side, side + 1);
      }
    }
    return first;
  };
  begin = to_the_front(begin, is_end);
  to_the_front(begin, ends_early);
  for (; end - begin > 1; ++begin) {
    const int left = static_cast<int>(end - begin);
    const int next = s.choices.side(left);
    HEDDLE_CHECK(next >= 0 && next < left, "side {} of {}", next, left);
    std::rotate(begin, begin + next, begin + next + 1);
  }
}

// [SIMT-DIVERGE] The lanes part. They meet again at the branch's immediate post-dominator r, or, if
// it has none, where the token itself would have met the one below. The token waits at r with all
// lanes; a token for each other place goes on top. A token that would wait where it is popped at
// once is dropped: so a loop that lanes leave one by one does not make the stack grow.
void diverge(Step& s) {
  Pc r = s.core.reconvergence(s.top.activation, s.top.pc);
  if (r == no_pc) {
    r = s.top.reconvergence;
  }
  if (r == s.top.reconvergence) {
    s.warp.stack.pop_back();
  } else {
    top_of(s.warp).pc = r;
  }
  std::array<Executed::Group, warp_size> sides;
  int n = 0;
  for (int i = 0; i < s.done.group_count; ++i) {
    const Executed::Group& group = s.done.groups[static_cast<std::size_t>(i)];
    HEDDLE_CHECK(group.activation == s.top.activation, "a branch leaves its function");
    if (group.pc != r) { // lanes at r wait in the token below
      sides[static_cast<std::size_t>(n++)] = group;
    }
  }
  order_sides(s, sides.data(), sides.data() + n);
  for (int i = n; i-- > 0;) { // the one that is pushed last goes first
    const Executed::Group& side = sides[static_cast<std::size_t>(i)];
    s.warp.stack.push_back({side.lanes, s.top.activation, side.pc, r, s.top.pc});
  }
}

// [SIMT-RECONVERGE] The topmost token has reached its reconvergence point: it is popped. Its lanes
// are those of the token below, which waits just there.
void reconverge(Warp& warp) {
  warp.stack.pop_back();
}

// [SIMT-CALL] The lanes that call are a new token on top, at the entry of the function, without a
// reconvergence point: they meet where they return to, for the caller's token waits there.
void call(Step& s, const Executed::Group& entered) {
  top_of(s.warp).pc = s.core.next(s.top.activation, s.top.pc);
  s.warp.stack.push_back({entered.lanes, entered.activation, entered.pc, no_pc, s.top.pc});
}

// Lanes that call another function than the one that is entered next, which may be any.
LaneMask later_callers(Step& s) {
  std::array<LaneMask, warp_size> sides;
  const int n = callees(s.core, s.top.activation, s.top.pc, s.top.mask, sides);
  LaneMask later = 0;
  const int next = n > 1 ? s.choices.side(n) : 0;
  for (int i = 0; i < n; ++i) {
    later |= i != next ? sides[static_cast<std::size_t>(i)] : 0;
  }
  return later;
}

// [SIMT-CALL-DIVERGE] An indirect call goes to several functions: the lanes of one of them enter
// it; the others are a token that executes the call again, and meets them behind it.
void call_diverge(Step& s, const Executed::Group& entered, LaneMask others) {
  const Pc behind = s.core.next(s.top.activation, s.top.pc);
  top_of(s.warp).pc = behind;
  s.warp.stack.push_back({others, s.top.activation, s.top.pc, behind, s.top.pc});
  s.warp.stack.push_back({entered.lanes, entered.activation, entered.pc, no_pc, s.top.pc});
}

// [SIMT-RETURN] The lanes that return leave every token of this activation. Lanes that have parted
// in the function return one side after the other; the caller's token goes on when the last is
// there, since until then a token of the activation is above it.
void return_(Step& s, LaneMask returned) {
  const Activation activation = s.top.activation;
  const LaneMask staying = s.top.mask & ~returned & ~s.done.ended;
  if (staying != 0) {
    top_of(s.warp).pc = s.core.next(activation, s.top.pc);
  }
  remove(s.warp, returned, [activation](const Token& token) {
    return token.activation == activation;
  });
}

// [SIMT-EXIT] The lanes that end leave every token. Nobody waits for them at a reconvergence point.
void exit(Step& s) {
  const LaneMask ended = s.done.ended;
  s.warp.live &= ~ended;
  if ((s.top.mask & ~ended) != 0) {
    top_of(s.warp).pc = s.core.next(s.top.activation, s.top.pc);
  }
  remove(s.warp, ended, [](const Token&) { return true; });
}

// [SIMT-ARRIVE] The lanes arrive at a barrier; if it does not open, the warp waits as a whole:
// lanes that are waiting at a reconvergence point can never arrive.
bool arrive(Step& s) {
  if (!execute_at_once(s)) {
    return false;
  }
  advance(s);
  s.warp.waits = (s.core.waiting() & s.top.mask) != 0;
  return true;
}

// [SIMT-RELEASE] Nothing blocks the lanes of the topmost token any more: the warp may step again.
void release(Warp& warp) {
  warp.waits = false;
}

// [SIMT-COLLECTIVE] A vote, shuffle, match or warp barrier: the lanes of the topmost token take
// part together. If its mask names lanes that are not among them, the warp waits, and forever.
bool collective(Step& s) {
  if (!execute_at_once(s)) {
    return false;
  }
  advance(s);
  s.warp.waits = (s.core.waiting() & s.top.mask) != 0;
  return true;
}

// [SIMT-ATOMIC] Each lane's read-modify-write is one action; they happen in any order.
bool atomic(Step& s) {
  if (!execute_serialised(s)) {
    return false;
  }
  advance(s);
  return true;
}

// [SIMT-WRITE] Lanes that write to one place: one of the values is there afterwards, any one.
bool write(Step& s) {
  if (!execute_serialised(s)) {
    return false;
  }
  advance(s);
  return true;
}

// [SIMT-READ] Lanes read together. Whether a plain read of global memory may come from a cache that
// is out of date is the core's business: it has the memory.
bool read(Step& s) {
  if (!execute_at_once(s)) {
    return false;
  }
  advance(s);
  return true;
}

// [SIMT-FENCE] What the lanes read after it was read from memory after it, not from the cache.
bool fence(Step& s) {
  if (!execute_at_once(s)) {
    return false;
  }
  advance(s);
  return true;
}

// --- Which rule ----------------------------------------------------------------------------------

/// Lanes that are in another activation now.
LaneMask moved_out(const Step& s, Executed::Group* last) {
  LaneMask lanes = 0;
  for (int i = 0; i < s.done.group_count; ++i) {
    const Executed::Group& group = s.done.groups[static_cast<std::size_t>(i)];
    if (group.activation != s.top.activation) {
      lanes |= group.lanes;
      *last = group;
    }
  }
  return lanes;
}

bool apply_control(Step& s, Kind kind, Rule& rule) {
  const LaneMask later = kind == Kind::Call ? later_callers(s) : 0;
  if (!execute_by(s, s.top.mask & ~later)) {
    return false;
  }
  if (kind == Kind::Branch) {
    rule = s.done.group_count > 1 ? Rule::Diverge : Rule::Branch;
    rule == Rule::Diverge ? diverge(s) : branch(s);
    return true;
  }
  if (s.done.ended != 0) { // a kernel's ret is an exit
    rule = Rule::Exit;
    exit(s);
    return true;
  }
  Executed::Group entered{};
  const LaneMask moved = moved_out(s, &entered);
  if (moved == 0 && later == 0) { // no guard holds, or a call that the machine itself carries out
    rule = predicate(s, Rule::Execute);
    advance(s);
  } else if (kind == Kind::Return) {
    rule = Rule::Return;
    return_(s, moved);
  } else {
    rule = later != 0 ? Rule::CallDiverge : Rule::Call;
    later != 0 ? call_diverge(s, entered, later) : call(s, entered);
  }
  return true;
}

bool apply(Step& s, Rule& rule) {
  const Kind kind = s.core.kind(s.top.activation, s.top.pc);
  bool good = true;
  switch (kind) {
  case Kind::Branch:
  case Kind::Call:
  case Kind::Return:
  case Kind::Exit:
    return apply_control(s, kind, rule);
  case Kind::Plain:
    rule = Rule::Execute;
    good = execute(s);
    break;
  case Kind::Barrier:
    rule = Rule::Arrive;
    return arrive(s);
  case Kind::Collective:
    rule = Rule::Collective;
    return collective(s);
  case Kind::Atomic:
    rule = Rule::Atomic;
    good = atomic(s);
    break;
  case Kind::Write:
    rule = Rule::Write;
    good = write(s);
    break;
  case Kind::Read:
    rule = Rule::Read;
    good = read(s);
    break;
  case Kind::Fence:
    rule = Rule::Fence;
    good = fence(s);
    break;
  }
  rule = predicate(s, rule);
  return good;
}

/// The safety statements, about the state after a step.
void check(const Warp& warp, const Core& core) {
  // [SIMT-SAFE-B]: an ended lane is in no token, so it never executes anything again.
  HEDDLE_CHECK(warp.live == core.live(), "the warp's live lanes are not those of its core");
  LaneMask left = warp.live;
  for (std::size_t i = warp.stack.size(); i-- > 0;) {
    const Token& token = warp.stack[i];
    HEDDLE_CHECK((token.mask & ~warp.live) == 0, "an ended lane is in a token");
    // [SIMT-SAFE-A]: what a lane is about to execute is what its own history tells it to.
    const LaneMask here = token.mask & left;
    HEDDLE_CHECK(
        here == 0 || core.stand_at(here, token.activation, token.pc) == here,
        "lanes {:#x} do not stand where their token is",
        here
    );
    left &= ~token.mask;
  }
  // [SIMT-SAFE-C]: nobody is forgotten, so nobody skips what it should execute.
  HEDDLE_CHECK(left == 0, "lanes {:#x} are in no token", left);
}

bool at_reconvergence(const Token& token) {
  return token.pc == token.reconvergence;
}

} // namespace

// --- Steps ---------------------------------------------------------------------------------------

std::string_view id(Rule rule) {
  constexpr std::array<std::string_view, rule_count> names{
      "SIMT-EXECUTE",
      "SIMT-PREDICATE",
      "SIMT-BRANCH",
      "SIMT-DIVERGE",
      "SIMT-RECONVERGE",
      "SIMT-CALL",
      "SIMT-CALL-DIVERGE",
      "SIMT-RETURN",
      "SIMT-EXIT",
      "SIMT-ARRIVE",
      "SIMT-RELEASE",
      "SIMT-COLLECTIVE",
      "SIMT-ATOMIC",
      "SIMT-WRITE",
      "SIMT-READ",
      "SIMT-FENCE"
  };
  return names[static_cast<std::size_t>(rule)];
}

void start(Warp& warp, LaneMask lanes, Activation activation, Pc entry) {
  warp.stack.clear();
  warp.live = lanes;
  warp.waits = false;
  if (lanes != 0) {
    warp.stack.push_back({lanes, activation, entry, no_pc, no_pc});
  }
}

Stepped step(Warp& warp, Core& core, Choices& choices, Observer* observer) {
  if (warp.stack.empty()) {
    return Stepped::Ended;
  }
  Step s{warp, core, choices, top_of(warp), {}};
  Rule rule{};
  if (warp.waits) {
    if ((core.waiting() & s.top.mask) != 0) {
      return Stepped::Waits;
    }
    rule = Rule::Release;
    release(warp);
  } else if (at_reconvergence(s.top)) {
    rule = Rule::Reconverge;
    reconverge(warp);
  } else if (!apply(s, rule)) {
    return Stepped::Failed;
  }
  check(warp, core);
  if (observer != nullptr) {
    observer->stepped(rule, s.top, s.done.acted, warp);
  }
  return Stepped::Moved;
}

int callees(
    Core& core,
    Activation activation,
    Pc pc,
    LaneMask lanes,
    std::array<LaneMask, warp_size>& sides
) {
  int n = 0;
  for (LaneMask left = lanes; left != 0;) {
    const LaneMask together = core.call_together(activation, pc, left);
    if (together == 0) {
      break;
    }
    sides[static_cast<std::size_t>(n++)] = together;
    left &= ~together;
  }
  return n;
}

Token next_to_execute(const Warp& warp) {
  for (std::size_t i = warp.stack.size(); i-- > 0;) {
    if (!at_reconvergence(warp.stack[i])) {
      return warp.stack[i];
    }
  }
  return {};
}

} // namespace heddle::simt
