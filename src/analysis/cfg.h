// Control-flow graph of a function: basic blocks, dominators, post-dominators, reconvergence
// points.
//
//   Cfg cfg(function);
//   auto join = cfg.reconvergence(i);   // where the two sides of the branch at instruction i meet
//
// Blocks are numbered in text order; block 0 is the entry. `cfg.exit()` is a virtual block behind
// every ret, exit and trap and behind the end of the body. Calls are taken to return (a call of a
// .noreturn function too: what follows it is then unreachable code, which changes nothing that is
// executed). A loop without a way out gets a virtual edge from its first block to the exit, so that
// every block has a post-dominator and branches inside the loop still have a reconvergence point.
#pragma once

#include "ptx/module.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace heddle::analysis {

struct BasicBlock {
  std::uint32_t first = 0; // instructions [first, last)
  std::uint32_t last = 0;
  std::vector<std::uint32_t> successors; // without repetitions; may name Cfg::exit()
  std::vector<std::uint32_t> predecessors;
};

/// Where threads that have parted meet if some of them end the function: for post-dominators.
enum class Ends : std::uint8_t {
  Meet, // all ends are one place, and nothing before it is on every way
  Leave // threads that end early are waited for by nobody: only ways to the last end in the text
        // count, be it ret or exit or a jump to a last block that is nothing but that. Among blocks
        // from which all ways end early, the same again
};

class Cfg {
public:
  explicit Cfg(const ptx::Function& function, Ends ends = Ends::Meet);

  const std::vector<BasicBlock>& blocks() const { return blocks_; }
  std::uint32_t exit() const { return static_cast<std::uint32_t>(blocks_.size()); }
  std::uint32_t block_of(std::uint32_t instruction) const { return block_of_[instruction]; }
  /// Can the entry get there?
  bool reachable(std::uint32_t block) const { return block == 0 || dominator_[block] != none; }

  /// Can control come back to it once it has left it?
  bool repeats(std::uint32_t block) const;

  /// Nothing for the entry and for unreachable blocks.
  std::optional<std::uint32_t> immediate_dominator(std::uint32_t block) const;
  /// A block, or exit(); exit() has none.
  std::optional<std::uint32_t> immediate_post_dominator(std::uint32_t block) const;
  /// Reflexive. Unreachable blocks are dominated by themselves only.
  bool dominates(std::uint32_t a, std::uint32_t b) const;
  bool post_dominates(std::uint32_t a, std::uint32_t b) const;

  /// For an instruction that may go to several places: the instruction where all ways meet again.
  /// Nothing if they meet only outside of the function, or if it has one successor (with
  /// Ends::Leave: one that does not end early).
  std::optional<std::uint32_t> reconvergence(std::uint32_t instruction) const;
  /// With Ends::Leave: a thread that goes from the one block to the other, which follows it, ends
  /// without meeting those that go elsewhere.
  bool ends_early(std::uint32_t from, std::uint32_t to) const;

private:
  static constexpr std::uint32_t none = ~0U;

  void find_blocks(const ptx::Function& function);
  void find_edges(const ptx::Function& function);
  void find_dominators();
  void find_post_dominators(const ptx::Function& function, Ends ends);
  void cut_early_ends(
      const ptx::Function& function,
      std::vector<std::vector<std::uint32_t>>& successors
  ) const;

  std::vector<BasicBlock> blocks_;
  std::vector<std::uint32_t> block_of_;
  std::vector<std::uint32_t> dominator_;         // none: entry or unreachable
  std::vector<std::uint32_t> post_dominator_;    // of blocks and exit
  std::vector<std::vector<std::uint32_t>> ways_; // of blocks: successors that count for them
};

/// Does control never go on behind this instruction (bra, brx, ret, exit, trap without a guard)?
bool ends_block_for_good(const ptx::Instruction& instruction);

} // namespace heddle::analysis
