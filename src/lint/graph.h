// graph.h: one entry (a kernel, or a device function that nothing here calls) with everything it
// calls inlined, and the classical facts about the result: post-dominators, control dependence,
// loops.
//
//   Graph graph = inline_calls(unit, kernel);
//   graph.blocks[b].controllers                 // branches that decide whether b is reached
//
// Inlining is what makes the analyses context-sensitive. It stops at recursion, at `most_blocks`
// and at `deepest` calls; a call that stays may do anything and Graph::incomplete is set.
#pragma once

#include "lint/flow.h"

#include <map>
#include <vector>

namespace heddle::lint {

struct Frame {
  std::uint32_t function = 0;
  std::uint32_t parent = 0; // frame 0 is the entry
  Spot call;                // where the parent calls it
  std::uint32_t first_local = 0;
};

struct GraphBlock {
  std::uint32_t first = 0, last = 0;
  std::uint32_t frame = 0;
  Terminator end;
  std::vector<std::uint32_t> predecessors;
  std::vector<std::uint32_t> controllers; // blocks that end in a branch; direct control dependence
  std::uint32_t post_dominator = UINT32_MAX;
  std::uint32_t dominator = UINT32_MAX;
  std::uint32_t order = UINT32_MAX; // in reverse post-order; UINT32_MAX: unreachable
  std::uint32_t loop = UINT32_MAX;  // innermost
  bool is_doomed = false;           // every way from here ends in a trap: the kernel's end
};

struct Loop {
  std::uint32_t header = 0;
  std::uint32_t parent = UINT32_MAX;
  std::vector<std::uint32_t> exits; // blocks in the loop with a successor outside
  std::uint32_t depth = 1;
  std::uint32_t end = 0;             // loops in it, and itself, are numbered up to here
  std::vector<std::uint32_t> blocks; // of it and of loops in it, in reverse post-order
};

struct Object {
  std::uint32_t frame = 0;
  const Variable* variable = nullptr;
};

struct Graph {
  const Unit* unit = nullptr;
  std::uint32_t entry_function = 0;
  std::vector<Instruction> code;       // operands are indices into this vector
  std::vector<std::uint32_t> block_of; // of each instruction
  std::vector<GraphBlock> blocks;      // 0: entry
  std::uint32_t exit = 0;
  std::vector<Frame> frames;
  std::vector<Object> locals; // LocalAddress: number is an index into this
  std::vector<Loop> loops;
  std::vector<std::uint32_t> sequence; // reachable blocks in reverse post-order
  std::map<Symbol, ValueId> symbols;   // the first instruction that reads each
  bool incomplete = false;             // something was not inlined

  bool in_loop(std::uint32_t block, std::uint32_t loop) const;
  /// The only way on from `block` is the only way to where it leads: most blocks, after inlining.
  bool hands_over(std::uint32_t block) const;
  /// Do threads go on behind the loop from here? Not those that end the kernel with an error.
  bool leaves(std::uint32_t block, std::uint32_t loop) const;
  /// Where `spot` of `frame` lies as seen from `outer`: itself, or the call that leads there.
  Spot seen_from(std::uint32_t outer, std::uint32_t frame, const Spot& spot) const;
  bool is_within(std::uint32_t frame, std::uint32_t outer) const;
};

Graph inline_calls(const Unit& unit, std::uint32_t entry);

} // namespace heddle::lint
