// CUDA-1.14 [synchronize.active_threads]: a barrier of the block is reached by all of its threads
// or by none. Also the barriers of clusters and grids, each for its own group.
//
// For each barrier the branches that decide about it (control dependence, transitively) are found;
// where threads of the group part at one of them, what is reported depends on how the others get
// past:
//   the barrier lies inside the branching statement   …_in_divergent_region, at the barrier
//   … and every way through it passes a barrier       unaligned_synchronization
//   a jump inside the statement leads around it       …_bypassed, at the jump
//   the jump ends the thread                          early_exit_before_synchronization, at the
//   jump
// "potentially_" comes before the key where nothing certain is known to differ. Misses: a barrier
// in a function that is called through a pointer of unknown type.
#include "lint/waits.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

namespace heddle::lint {
namespace {

constexpr std::uint32_t none = UINT32_MAX;
constexpr std::size_t most_related = 6;

const char* group_name(Level scope) {
  return scope == Level::Grid ? "grid" : scope == Level::Cluster ? "cluster" : "block";
}

/// Can other threads or the host notice that this was executed?
bool has_effect(const Entry& entry, ValueId id) {
  const Instruction& code = entry.graph.code[id];
  if (code.op == Op::Known) {
    return code.effect != Effect::Pure && code.effect != Effect::Fence;
  }
  return (code.op == Op::Store || code.op == Op::CopyObject) &&
         std::ranges::find(entry.flow.writes, id) != entry.flow.writes.end();
}

class Synchronization {
public:
  Synchronization(const Entry& entry, const CheckOptions& options, std::vector<Found>& out)
      : entry_(entry),
        graph_(entry.graph),
        options_(options),
        out_(out) {}

  void run() {
    for (const std::uint32_t block : graph_.sequence) {
      for (ValueId i = graph_.blocks[block].first; i < graph_.blocks[block].last; ++i) {
        if (const auto scope = barrier_scope(graph_.code[i])) {
          barrier(i, *scope);
        }
      }
    }
    for (const auto& [branch, id] : unaligned_) {
      report_unaligned(id, branch);
    }
    for (auto& [key, jump] : jumps_) {
      report_jump(jump);
    }
  }

private:
  struct Jump {
    std::uint32_t block = 0;
    std::uint32_t branch = 0;
    bool sure = false;
    bool uniform = false;
    Level scope{};
    std::vector<ValueId> barriers;
  };

  Agreement agreement(std::uint32_t branch) const { return entry_.uniformity.branch(branch); }

  void barrier(ValueId id, Level scope) {
    const std::uint32_t block = graph_.block_of[id];
    std::uint32_t inside = none;    // a divergent statement around the barrier
    std::uint32_t unaligned = none; // … of which all ways pass a barrier
    bool inside_is_sure = false;
    for (const std::uint32_t branch : deciding_branches(graph_, block)) {
      const Agreement at = agreement(branch);
      const bool divergent = at.possible > scope && !has_roles(id, scope, at) &&
                             !(at.definite <= Level::Warp && may_be_left_out(id, branch));
      if (!divergent && scope != Level::Block) {
        continue;
      }
      const bool lexical = contains(branch, id);
      if (!divergent) {
        if (!lexical) {
          bypass(branch, id, scope, /*uniform=*/true);
        }
        continue;
      }
      if (!lexical) {
        if (!bypass(branch, id, scope, /*uniform=*/false) && inside == none) {
          inside = branch;
          inside_is_sure = at.definite > scope;
        }
        continue;
      }
      const bool sure = at.definite > scope;
      if (scope == Level::Block && all_ways_synchronize(branch)) {
        unaligned = unaligned == none ? branch : unaligned;
      } else if (inside == none || (sure && !inside_is_sure)) {
        inside = branch;
        inside_is_sure = sure;
      }
    }
    if (inside != none && !is_last_statement(id, inside)) {
      report_inside(id, inside, scope, inside_is_sure);
    } else if (unaligned != none && inside == none) {
      // Once for all barriers of the statement, at the first of them.
      const auto [entry, is_new] = unaligned_.try_emplace(unaligned, id);
      if (!is_new && graph_.code[id].spot.begin < graph_.code[entry->second].spot.begin) {
        entry->second = id;
      }
    }
  }

  /// Does the text of the branching statement contain the barrier, or the call that leads to it?
  bool contains(std::uint32_t branch, ValueId id) const {
    const std::uint32_t frame = graph_.blocks[branch].frame;
    const std::uint32_t of_barrier = graph_.blocks[graph_.block_of[id]].frame;
    return graph_.is_within(of_barrier, frame) &&
           graph_.blocks[branch].end.statement.contains(
               graph_.seen_from(frame, of_barrier, graph_.code[id].spot)
           );
  }

  /// Warps of a cluster with roles of their own, each with its own call: the instruction is aligned
  /// for a warp, and counts threads. Misses a role without a call.
  bool has_roles(ValueId id, Level scope, const Agreement& branch) const {
    return scope == Level::Cluster && branch.definite <= Level::Warp &&
           std::ranges::any_of(graph_.sequence, [&](std::uint32_t block) {
             return block != graph_.block_of[id] &&
                    std::any_of(
                        graph_.code.begin() + graph_.blocks[block].first,
                        graph_.code.begin() + graph_.blocks[block].last,
                        [&](const Instruction& code) {
                          return code.op == Op::Known && code.effect == graph_.code[id].effect;
                        }
                    );
           });
  }

  /// A warp that has arrived at the barrier of a cluster need not wait for it, unless it arrives
  /// there once more.
  bool may_be_left_out(ValueId id, std::uint32_t branch) const {
    if (graph_.code[id].effect != Effect::ClusterWait) {
      return false;
    }
    std::set<std::uint32_t> seen = {graph_.block_of[id]};
    std::vector<std::uint32_t> work = graph_.blocks[branch].end.successors;
    while (!work.empty()) {
      const std::uint32_t at = work.back();
      work.pop_back();
      if (!seen.insert(at).second) {
        continue;
      }
      for (ValueId i = graph_.blocks[at].first; i < graph_.blocks[at].last; ++i) {
        const Instruction& code = graph_.code[i];
        if (code.op == Op::Known &&
            (code.effect == Effect::ClusterArrive || code.effect == Effect::ClusterBarrier)) {
          return false;
        }
      }
      const auto& more = graph_.blocks[at].end.successors;
      work.insert(work.end(), more.begin(), more.end());
    }
    return true;
  }

  bool synchronizes(std::uint32_t block) const {
    for (ValueId i = graph_.blocks[block].first; i < graph_.blocks[block].last; ++i) {
      if (graph_.code[i].op == Op::Known && (graph_.code[i].effect == Effect::BlockBarrier ||
                                             graph_.code[i].effect == Effect::BlockWait)) {
        return true;
      }
    }
    return false;
  }

  /// Every way from the branch to where threads meet again passes a barrier.
  bool all_ways_synchronize(std::uint32_t branch) const {
    const Construct construct = graph_.blocks[branch].end.construct;
    if (construct != Construct::If && construct != Construct::Switch &&
        construct != Construct::Conditional) {
      return false;
    }
    const std::uint32_t end = graph_.blocks[branch].post_dominator;
    std::set<std::uint32_t> seen;
    std::vector<std::uint32_t> work = graph_.blocks[branch].end.successors;
    while (!work.empty()) {
      const std::uint32_t at = work.back();
      work.pop_back();
      if (at == end || at == branch) {
        return false;
      }
      if (!seen.insert(at).second || synchronizes(at)) {
        continue;
      }
      const auto& more = graph_.blocks[at].end.successors;
      work.insert(work.end(), more.begin(), more.end());
    }
    return true;
  }

  /// "this is the last statement of the kernel": the threads that do not take part can only end,
  /// and the others do nothing afterwards either.
  bool is_last_statement(ValueId id, std::uint32_t branch) const {
    const std::uint32_t block = graph_.block_of[id];
    for (ValueId i = id + 1; i < graph_.blocks[block].last; ++i) {
      if (has_effect(entry_, i)) {
        return false;
      }
    }
    std::set<std::uint32_t> after;
    if (!flows_quietly(graph_.blocks[block].end.successors, after) || after.contains(block)) {
      return false;
    }
    // The ways around the barrier.
    std::set<std::uint32_t> around;
    std::vector<std::uint32_t> work = graph_.blocks[branch].end.successors;
    while (!work.empty()) {
      const std::uint32_t at = work.back();
      work.pop_back();
      if (at == block || !around.insert(at).second) {
        continue;
      }
      const auto& more = graph_.blocks[at].end.successors;
      work.insert(work.end(), more.begin(), more.end());
    }
    const auto reaches_barrier = [&](std::uint32_t from) {
      std::set<std::uint32_t> seen;
      std::vector<std::uint32_t> next = {from};
      while (!next.empty()) {
        const std::uint32_t at = next.back();
        next.pop_back();
        if (at == block) {
          return true;
        }
        if (seen.insert(at).second) {
          const auto& more = graph_.blocks[at].end.successors;
          next.insert(next.end(), more.begin(), more.end());
        }
      }
      return false;
    };
    return std::ranges::all_of(around, [&](std::uint32_t at) {
      return reaches_barrier(at) || is_quiet(at);
    });
  }

  bool is_quiet(std::uint32_t block) const {
    for (ValueId i = graph_.blocks[block].first; i < graph_.blocks[block].last; ++i) {
      if (has_effect(entry_, i)) {
        return false;
      }
    }
    return true;
  }

  bool flows_quietly(std::vector<std::uint32_t> work, std::set<std::uint32_t>& seen) const {
    while (!work.empty()) {
      const std::uint32_t at = work.back();
      work.pop_back();
      if (!seen.insert(at).second) {
        continue;
      }
      if (!is_quiet(at)) {
        return false;
      }
      const auto& more = graph_.blocks[at].end.successors;
      work.insert(work.end(), more.begin(), more.end());
    }
    return true;
  }

  /// The jumps inside the statement of `branch` by which threads get around the barrier; false:
  /// none.
  bool bypass(std::uint32_t branch, ValueId id, Level scope, bool uniform) {
    const std::uint32_t frame = graph_.blocks[branch].frame;
    const Spot& statement = graph_.blocks[branch].end.statement;
    bool found = false;
    for (const std::uint32_t block : graph_.sequence) {
      const GraphBlock& at = graph_.blocks[block];
      if (at.end.jump == JumpKind::None || at.end.kind == Terminator::Kind::Trapped ||
          !graph_.is_within(at.frame, frame)) {
        continue;
      }
      // A return inside a callee leaves the callee only.
      if (at.frame != frame && at.end.kind != Terminator::Kind::Dead) {
        continue;
      }
      if (!statement.contains(graph_.seen_from(frame, at.frame, at.end.jump_spot))) {
        continue;
      }
      // Not control dependence: where a loop has one way out, that way is always taken in the end.
      if (!dominates(graph_, branch, block)) {
        continue;
      }
      if (uniform && at.end.jump != JumpKind::Goto && !options_.every_bypass) {
        continue;
      }
      if (can_reach_in_statement(block, id)) {
        continue; // it jumps to the barrier, not around it
      }
      found = true;
      const auto [entry, is_new] = jumps_.try_emplace(
          {at.end.jump_spot.file, at.end.jump_spot.begin, at.frame},
          Jump{block, branch, false, uniform, scope, {}}
      );
      Jump& jump = entry->second;
      const bool sure = agreement(branch).definite > scope;
      if (jump.uniform && !uniform) {
        jump.branch = branch;
        jump.uniform = false;
      }
      if (sure && !jump.sure && !uniform) {
        jump.sure = true;
        jump.branch = branch;
      }
      if (std::ranges::find(jump.barriers, id) == jump.barriers.end()) {
        jump.barriers.push_back(id);
      }
    }
    return found;
  }

  /// From the jump every way passes the barrier (a forward goto to it): nothing is jumped over.
  bool can_reach_in_statement(std::uint32_t block, ValueId id) const {
    const std::uint32_t target = graph_.block_of[id];
    for (std::uint32_t at = graph_.blocks[block].post_dominator; at != none;
         at = graph_.blocks[at].post_dominator) {
      if (at == target) {
        return true;
      }
      if (at == graph_.blocks[at].post_dominator) {
        break;
      }
    }
    return false;
  }

  // --- Reporting

  std::string what(ValueId id) const {
    const std::string& name = graph_.code[id].name;
    return name == "asm" ? "this barrier" : fmt::format("'{}'", name);
  }

  Found start(const std::string& key, bool sure, const Spot& place) const {
    Found found;
    found.key = sure ? key : "potentially_" + key;
    found.place = place;
    found.function = entry_.unit.functions[entry_.function].name;
    return found;
  }

  /// The calls through which a place is reached, outermost first.
  void add_calls(std::uint32_t frame, std::vector<Note>& notes) const {
    std::vector<Note> calls;
    while (frame != 0) {
      const Frame& at = graph_.frames[frame];
      calls.push_back(
          {at.call, fmt::format("'{}' is called here", entry_.unit.functions[at.function].name)}
      );
      frame = at.parent;
    }
    notes.insert(notes.end(), calls.rbegin(), calls.rend());
  }

  void add_launches(std::vector<Note>& notes) const {
    for (const Launch& launch : entry_.unit.launches) {
      if (launch.kernel == entry_.function) {
        notes.push_back({launch.spot, "the kernel is launched here"});
        return;
      }
    }
  }

  void finish(Found found) {
    add_launches(found.related);
    out_.push_back(std::move(found));
  }

  void report_inside(ValueId id, std::uint32_t branch, Level scope, bool sure) {
    const Instruction& code = graph_.code[id];
    Found found = start("thread_synchronization_in_divergent_region", sure, code.spot);
    const std::uint32_t frame = graph_.blocks[graph_.block_of[id]].frame;
    if (code.spot.in_system && frame != 0) {
      found.place = user_spot(frame, code.spot);
    }
    const Construct construct = graph_.blocks[branch].end.construct;
    const bool loop =
        construct == Construct::For || construct == Construct::While || construct == Construct::Do;
    found.message = fmt::format(
        "{} is called in {}divergent code: {}",
        what(id),
        sure ? "" : "possibly ",
        loop ? fmt::format(
                   "threads of one {} {} the loop around it after different numbers of trips",
                   group_name(scope),
                   sure ? "leave" : "may leave"
               )
             : fmt::format(
                   "not all threads of the {} {} it",
                   group_name(scope),
                   sure ? "reach" : "may reach"
               )
    );
    found.steps = explain_branch(entry_, branch);
    add_calls(frame, found.steps);
    found.steps.push_back({code.spot, "the barrier that only some of them reach"});
    add_hoist(found, id, branch);
    finish(std::move(found));
  }

  Spot user_spot(std::uint32_t frame, Spot spot) const {
    while (frame != 0 && spot.in_system) {
      spot = graph_.frames[frame].call;
      frame = graph_.frames[frame].parent;
    }
    return spot;
  }

  void report_unaligned(ValueId id, std::uint32_t branch) {
    const bool sure = agreement(branch).definite > Level::Block;
    Found found = start("unaligned_synchronization", sure, graph_.code[id].spot);
    found.message = fmt::format(
        "threads of one block {} at different calls of a barrier: {} is in one of several branches",
        sure ? "wait" : "may wait",
        what(id)
    );
    found.steps = explain_branch(entry_, branch);
    for (const std::uint32_t block : graph_.sequence) {
      for (ValueId i = graph_.blocks[block].first; i < graph_.blocks[block].last; ++i) {
        const auto scope = barrier_scope(graph_.code[i]);
        if (scope == Level::Block && contains(branch, i) && found.steps.size() < most_related + 6) {
          found.steps.push_back({graph_.code[i].spot, "some threads wait here"});
        }
      }
    }
    found.help.emplace_back("call the barrier once, after the branches have met");
    finish(std::move(found));
  }

  void report_jump(const Jump& jump) {
    const GraphBlock& at = graph_.blocks[jump.block];
    const bool ends =
        at.end.kind == Terminator::Kind::Dead || (at.end.jump == JumpKind::Return && at.frame == 0);
    static constexpr const char* names[] = {"", "goto", "break", "continue", "return"};
    const char* name = names[static_cast<int>(at.end.jump)];
    Found found = start(
        ends ? "early_exit_before_synchronization" : "thread_synchronization_bypassed",
        jump.sure || jump.uniform,
        at.end.jump_spot
    );
    const char* group = group_name(jump.scope);
    const std::string& barrier = graph_.code[jump.barriers.front()].name;
    if (jump.uniform) {
      found.message = fmt::format("'{}' bypasses the barrier '{}'", name, barrier);
    } else if (ends) {
      found.message = fmt::format(
          "some threads of the {} {} here, before the others call '{}'",
          group,
          jump.sure ? "end" : "may end",
          barrier
      );
      found.help.emplace_back(
          "let all threads reach the barrier: replace the exit by a flag that guards the work, not "
          "the barrier"
      );
      const Terminator& decides = graph_.blocks[jump.branch].end;
      if (at.frame == 0 && graph_.blocks[jump.branch].frame == 0 &&
          decides.construct == Construct::If && !decides.statement.in_macro &&
          decides.statement.contains(at.end.jump_spot)) {
        found.edits.push_back({at.end.jump_spot, ""});
        found.edits.push_back({decides.statement, ""});
      }
    } else {
      found.message = fmt::format(
          "by this '{}' some threads of the {} {} the barrier '{}'",
          name,
          group,
          jump.sure ? "bypass" : "may bypass",
          barrier
      );
    }
    found.steps = explain_branch(entry_, jump.branch);
    add_calls(at.frame, found.steps);
    found.steps.push_back(
        {at.end.jump_spot, ends ? "these threads end here" : "these threads jump from here"}
    );
    std::size_t shown = 0;
    for (const ValueId id : jump.barriers) {
      if (shown++ < most_related) {
        found.steps.push_back({graph_.code[id].spot, "a barrier that they do not reach"});
      }
    }
    finish(std::move(found));
  }

  /// if (c) { …; barrier(); }  →  if (c) { …; } barrier();
  void add_hoist(Found& found, ValueId id, std::uint32_t branch) const {
    const Terminator& end = graph_.blocks[branch].end;
    const Spot& spot = graph_.code[id].spot;
    if (end.construct == Construct::If &&
        graph_.blocks[branch].frame == graph_.blocks[graph_.block_of[id]].frame && !spot.in_macro &&
        graph_.code[id].effect == Effect::BlockBarrier && end.statement.contains(spot)) {
      // Whether the text allows it is for the one who has the text (lint.cpp).
      found.edits.push_back({spot, ""});
      found.edits.push_back({end.statement, "after"});
      found.edit_description = "move the barrier behind the 'if'";
      found.help.emplace_back("move the barrier out of the branch, so that all threads reach it");
    }
  }

  const Entry& entry_;
  const Graph& graph_;
  const CheckOptions& options_;
  std::vector<Found>& out_;
  std::map<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>, Jump> jumps_;
  std::map<std::uint32_t, ValueId> unaligned_; // by branch
};

} // namespace

std::optional<Level> barrier_scope(const Instruction& code) {
  if (code.op != Op::Known) {
    return std::nullopt;
  }
  switch (code.effect) {
  case Effect::BlockBarrier:
  case Effect::BlockArrive:
  case Effect::BlockWait:
    return Level::Block;
  case Effect::ClusterBarrier:
  case Effect::ClusterArrive:
  case Effect::ClusterWait:
    return Level::Cluster;
  case Effect::GridBarrier:
    return Level::Grid;
  default:
    return std::nullopt;
  }
}

void check_synchronization(
    const Entry& entry,
    const CheckOptions& options,
    std::vector<Found>& out
) {
  Synchronization(entry, options, out).run();
}

} // namespace heddle::lint
