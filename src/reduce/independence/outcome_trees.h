// OutcomeTrees: what reads of one word lead to, whatever they find ([RED-POLLS]).
//
//   OutcomeTrees trees;
//   const auto ends = trees.state(name), again = trees.reads();
//   const auto node = trees.question(term, again, ends);  // term holds of the value: it reads
//   again trees.add_extra(n, trees.question(term, again, ends)); trees.outcome(node)             //
//   equal for reads that lead to the same for each value
//
// An *extra* read is one to which a thread comes only by finding another value than the one for
// which it waits: it looks once more before it leaves. It stands for what it leads to if it finds
// the same value. That is possible only if a thread cannot go round by extra reads alone.
//
// Never says that of trees that differ, but for a collision of hashes; equal ones may get different
// outcomes.
#pragma once

#include "base/hash.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

namespace heddle::reduce {

class OutcomeTrees {
public:
  using Node = std::uint32_t;
  /// It comes to one of the reads between which it goes round.
  Node reads() { return add({.kind = Kind::Reads}); }
  Node state(const Hash128& name) { return add({.kind = Kind::State, .name = name}); }
  Node extra(std::size_t number) { return add({.kind = Kind::Extra, .extra = number}); }
  Node question(const Hash128& term, Node yes, Node no) {
    return add({.kind = Kind::Question, .name = term, .yes = yes, .no = no});
  }
  /// What extra read `number`, from 0, leads to.
  void add_extra(Node tree) { extras_.push_back(tree); }

  /// All extra reads are added. Does each way through extra reads end?
  bool extras_end() const;
  /// Nothing: it is too large, or extras do not end.
  std::optional<Hash128> outcome(Node tree) const;

private:
  enum class Kind : std::uint8_t {
    Reads,
    State,
    Extra,
    Question
  };
  struct Tree {
    Kind kind{};
    Hash128 name{};
    std::size_t extra = 0;
    Node yes = 0, no = 0;
  };
  using Answers = std::vector<std::pair<Hash128, bool>>;

  Node add(Tree tree) {
    nodes_.push_back(tree);
    return static_cast<Node>(nodes_.size() - 1);
  }
  bool ends(Node tree, std::vector<std::size_t>& way) const;
  std::optional<Hash128> follow(Node tree, Answers& answers, int& left) const;

  std::vector<Tree> nodes_;
  std::vector<Node> extras_;
};

} // namespace heddle::reduce
