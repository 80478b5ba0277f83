// Mover: makes the choices of a state, or looks up what they lead to.
//
//   mover.look_ahead(node);                                // what its choices lead to, if known
//   if (!mover.leads_to_known(node, choice)) mover.go(node, choice);
#pragma once

#include "explore/search/processes.h"
#include "explore/search/record.h"

namespace heddle::explore {

class Mover {
public:
  Mover(Ground& ground, System& system, Record& record, Way& way, Processes& processes);

  /// Makes a choice. True: it was the host's, and the host goes on now.
  bool go(const Node& node, const Choice& choice);
  /// What the choice leads to, if that is known.
  void look_ahead(const Node& node, Choice& choice);
  /// The same for all choices of a state that has just been entered.
  void look_ahead(Node& node);
  /// `node` is one of the way. True: what the choice does is known, and so is the state that it
  /// leads to; this is written down, and the move need not be made.
  bool leads_to_known(const Node& node, const Choice& choice);

private:
  Ground& ground_;
  StateTable& table_;
  Stepper& stepper_;
  System& system_;
  Record& record_;
  Way& way_;
  Processes& processes_;
};

/// Do cycles matter under these options?
bool finds_circles(const Options& options);

} // namespace heddle::explore
