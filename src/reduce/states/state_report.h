// StateReport: what can be told of a search's state: who waits, and who has no turn.
//
//   for (const Wait& wait : StateReport(parts, present).waits()) …
#pragma once

#include "reduce/states/present.h"

#include <cstdint>
#include <vector>

namespace heddle::reduce {

struct Wait {
  Move first;                // one of those who are blocked at `op`
  std::uint64_t threads = 0; // how many they are
  const isa::Op* op = nullptr;
  const isa::Code* code = nullptr;
  const char* what = "";
};

/// Lanes that nothing blocks and that have no turn, because their warp's rules let others go.
struct LeftBehind {
  Move first; // one of them
  WarpRules::Behind behind;
};

class StateReport {
public:
  StateReport(const StepperParts& parts, Present& present) : parts_(parts), present_(present) {}

  std::vector<Wait> waits();
  std::vector<LeftBehind> left_behind() const;

private:
  static void add_wait(const Block::WarpState& state, const Move& move, std::vector<Wait>& result);

  StepperParts parts_;
  Present& present_;
};

} // namespace heddle::reduce
