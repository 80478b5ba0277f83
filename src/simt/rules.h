// The rules by which a lockstep warp steps: one function per rule of spec/simt.md, same order.
//
//   simt::Warp warp;
//   start(warp, lanes, activation, entry);
//   while (step(warp, core, choices, observer) == Stepped::Moved) …
//
// `step` looks at the instruction under the topmost token, applies the one rule that fits it, and
// then asserts the three safety statements (in every build): each lane stands where the machine
// thinks it does, no ended lane is in a token, every live lane is in one. The rules know neither
// PTX nor the language of the tests: both are a Core.
#pragma once

#include "simt/warp.h"

#include <array>
#include <string_view>

namespace heddle::simt {

enum class Rule : std::uint8_t {
  Execute,
  Predicate,
  Branch,
  Diverge,
  Reconverge,
  Call,
  CallDiverge,
  Return,
  Exit,
  Arrive,
  Release,
  Collective,
  Atomic,
  Write,
  Read,
  Fence
};
inline constexpr int rule_count = 16;
std::string_view id(Rule rule); // "SIMT-DIVERGE"

/// What an instruction is, as far as the rules care.
enum class Kind : std::uint8_t {
  Plain,
  Branch, // to one or several targets, direct or indirect
  Call,   // direct or indirect
  Return,
  Exit,
  Barrier, // of the block or the cluster
  Collective,
  Atomic,
  Write,
  Read,
  Fence
};

/// What an instruction did to the lanes that stood at it.
struct Executed {
  struct Group { // lanes that stand at one place now
    LaneMask lanes;
    Activation activation;
    Pc pc;
  };
  LaneMask acted = 0; // the guard held for them; the others did nothing
  LaneMask ended = 0;
  int group_count = 0;
  std::array<Group, warp_size> groups; // of those that have not ended; the first group_count count

  Executed() {} // leaves the groups as they are: there is one of these for each step

  void add(LaneMask lanes, Activation activation, Pc pc) {
    groups[static_cast<std::size_t>(group_count++)] = {lanes, activation, pc};
  }
};

/// A program and the private state of the lanes that run it: each lane has a program counter of its
/// own, changed by its own instructions only. The machine decides who executes; the lanes' own
/// record is what its decisions are checked against.
class Core {
public:
  virtual ~Core() = default;
  virtual Kind kind(Activation activation, Pc pc) = 0;
  /// The instruction behind this one.
  virtual Pc next(Activation activation, Pc pc) = 0;
  /// Where all ways from a branch meet again; no_pc: nowhere before the function returns.
  virtual Pc reconvergence(Activation activation, Pc branch) = 0;
  /// Lanes that go there from the branch end before they could meet those that go elsewhere.
  virtual bool ends_early(Activation activation, Pc branch, Pc pc) = 0;
  /// Those of `lanes` that the call takes to the same function as the lowest of them that calls; 0:
  /// none of them calls (its guard does not hold).
  virtual LaneMask call_together(Activation activation, Pc pc, LaneMask lanes) = 0;
  /// The lanes, which all stand there, execute the instruction. False: it failed, and why is the
  /// core's to tell.
  virtual bool execute(Activation activation, Pc pc, LaneMask lanes, Executed& result) = 0;
  /// Lanes that wait for a barrier or a collective.
  virtual LaneMask waiting() const = 0;
  /// Which of `lanes` stand there by their own record.
  virtual LaneMask stand_at(LaneMask lanes, Activation activation, Pc pc) const = 0;
  virtual LaneMask live() const = 0;
};

/// The order in which lanes do what has no order: lane numbers, `count` of them.
struct LaneOrder {
  std::array<std::uint8_t, warp_size> lanes{};
  int count = 0;
};

/// Whatever the machine leaves open. The defaults are one of the machines that are allowed.
class Choices {
public:
  virtual ~Choices() = default;
  /// [SIMT-ORDER] Which of the n sides of a divergent branch that are left goes next. Side 0 is
  /// that of the lowest lane among those that end early, if there are any, else among all. Also
  /// which of n functions an indirect call enters next ([SIMT-CALL-DIVERGE]).
  virtual int side(int n) {
    static_cast<void>(n);
    return 0;
  }
  /// The order of lanes in an atomic operation, and in a write to one place; empty: lowest first.
  virtual LaneOrder order(LaneMask lanes) {
    static_cast<void>(lanes);
    return {};
  }
};

class Observer {
public:
  virtual ~Observer() = default;
  /// `token` was on top before the rule was applied; `acted` are the lanes that did something.
  virtual void stepped(Rule rule, const Token& token, LaneMask acted, const Warp& after) = 0;
};

enum class Stepped : std::uint8_t {
  Moved,
  Waits,  // for a barrier or a collective; [SIMT-RELEASE] comes later
  Ended,  // no lane is left
  Failed, // core.execute() did
};

void start(Warp& warp, LaneMask lanes, Activation activation, Pc entry);

Stepped step(Warp& warp, Core& core, Choices& choices, Observer* observer = nullptr);

/// The lanes of each function that a call goes to, lowest lane first; returns how many there are.
int callees(
    Core& core,
    Activation activation,
    Pc pc,
    LaneMask lanes,
    std::array<LaneMask, warp_size>& sides
);

/// The lanes that would execute next, and where; mask 0: none. A token that has reached its
/// reconvergence point is looked through.
Token next_to_execute(const Warp& warp);

} // namespace heddle::simt
