// Search: depth first, in place where moves can be undone, in forked processes where not.
//
//   search.enter({.host = true});            // the host has stopped: the first state of the way
//   search.run();                            // every choice from there on
//
// While the host threads stand still, the machine is explored in place: undoing moves leads back to
// an earlier state (reduce/stepper.h). Each move that cannot be undone (the host goes on, a copy is
// carried out) is made in a forked process, the last one in this process. Several processes explore
// at the same time (processes.h); what they find does not depend on which goes where.
// Operations that commute with every move of others are not tried in each state:
// - An API call may return, and a query may say "not ready", at any time. That is tried where the
//   host thread has just arrived; waiting longer is the same as arriving later. What a call does
//   before it returns or waits need not commute with what other host threads do, so it is tried
//   again after another one has moved.
// - A call that waits, and a query that says "ready", are tried when they are first enabled.
// - Host operations that no device thread can notice come before device threads move, unless the
//   state is met a second time, so that no cycle leaves device threads out. While everything that
//   device threads can do ends by itself and unseen, API calls that do not wait are such operations
//   too. That grids which wait for others end by themselves is an assumption; it is checked when
//   they can start.
#pragma once

#include "explore/search/errands.h"
#include "explore/search/mover.h"
#include "explore/search/processes.h"
#include "explore/search/record.h"
#include "explore/search/shares.h"

#include <cstdint>
#include <optional>

namespace heddle::explore {

class Search {
public:
  /// What a search is made of.
  struct Parts {
    System& system;
    Record& record;
    News& news;
    Way& way;
    Processes& processes;
    Mover& mover;
    Shares& shares;
    Errands& errands;
  };
  Search(Ground& ground, const Parts& parts);

  /// The machine and the host are in a state that the last move led to. False if there is nothing
  /// more to do in it; else it is the last of the way.
  bool enter(const Arrival& arrival);
  /// Tries everything from the first state of the way on. True: the host goes on in this process;
  /// false: all is done.
  bool run();
  /// The last move has ended the execution.
  void end_here(std::optional<std::uint8_t> unexpected = std::nullopt);

private:
  bool enter_again(const Node& before, const Choice& choice, const Arrival& arrival);
  bool arrive(const Look& look, const Choices& asked, const Arrival& arrival);
  bool arrive_again(const Look& look);
  void end_if_void();
  void end_if_told() const;
  void look_whether_expected(const Look& look, StateId state, const Arrival& arrival);
  void end_if_done(const Look& look, const StateTable::Visit& visit, bool is_new);
  Choices
  choose(Node& node, const Look& look, const Choices& asked, const StateTable::Visit& visit);
  Choices asked_by(const Arrival& arrival, std::uint64_t open) const;
  Choices wanted(const Node& node, const Choices& asked, bool first);
  void keep_few(Node& node, std::uint64_t left);
  static void keep_alone(Node& node);
  void keep_group(Node& node);
  void count_work(const Node& node, bool is_new, const Choices& before);
  bool gives_up_straight() const;
  bool is_spent() const;
  void try_choice(Node& node, Choice& choice, const Arrival& arrival);
  std::optional<bool> try_for_good(const Node& node, const Choice& choice, const Arrival& arrival);

  Ground& ground_;
  StateTable& table_;
  const Options& options_;
  Stepper& stepper_;
  Parts parts_;
  Way& way_;
  Course& course_;
  int since_clash_ = 0; // states since Options::orderly failed
};

} // namespace heddle::explore
