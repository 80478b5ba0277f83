// EnabledMoves: the moves of the present state, and what is owed to those that make them.
//
//   enabled.list(moves);
#pragma once

#include "reduce/stepper_parts.h"

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

namespace heddle::reduce {

class EnabledMoves {
public:
  explicit EnabledMoves(const StepperParts& parts) : parts_(parts) {}

  /// Every move that could be made now, in a fixed order; one for threads that are alike.
  void list(std::vector<Move>& result);

private:
  Guarantee guarantee(const Work& work, std::size_t cluster) const;
  void add_command(std::size_t n, std::vector<Move>& result) const;
  void add_threads(std::size_t n, std::vector<Move>& result);
  void add_cluster(std::size_t n, std::size_t cluster, const Move& like, std::vector<Move>& result);
  /// Takes down how many clusters of the work are like each of them.
  void count_alike(const Work& work);

  StepperParts parts_;
  // Memory that is used again; nothing in it outlives a call.
  std::uint64_t pass_ = 0;
  std::unordered_map<ThreadClass, std::size_t> loose_; // moves of loose threads
};

} // namespace heddle::reduce
