// Record: what the search writes down in the table: states, moves and failures.
//
//   record.describe(node, moves_follow);          // who is owed what in a new state
//   record.begin(record.edge_for(node, choice), node.claimer);   // a move is under way …
//   record.arrived_in(state, check);              // … and has led there
//   record.end(unexpected);                       // … or has ended the execution
#pragma once

#include "explore/search/report_names.h"
#include "explore/search/system.h"
#include "explore/table/course.h"

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace heddle::explore {

class Record {
public:
  Record(Ground& ground, System& system, Launches& launches, ReportNames& names, Course& course);

  // --- States ------------------------------------------------------------------------------------
  /// Who is owed something in the state; device threads only if asked for. `could_return`: host
  /// threads inside a call that they could leave.
  void demands_of(
      const Node& node,
      bool of_device,
      std::vector<Demand>& demands,
      std::uint64_t& could_return
  ) const;
  /// `moves_follow`: all moves of device threads become edges, which say who is owed one.
  void describe(const Node& node, bool moves_follow);
  /// Is a thread that stands there, and could go on, owed that by [HOST]? Else [API] has its say.
  bool owed_by_host_rule(const HostPoint& point) const;

  // --- Moves -------------------------------------------------------------------------------------
  Edge edge_for(const Node& node, const Choice& choice);
  /// What the edge of a choice whose outcome is known has in common with others.
  std::uint32_t label_of(const Node& node, const Choice& choice);
  std::uint32_t intern(std::span<const Stepper::Change> changes);
  /// A move is under way. `label` of its edge; 0: it is to be made of the edge, else that has no
  /// more than `from` and `choice`.
  void begin(const Edge& edge, std::uint32_t claimer, std::uint32_t label = 0);
  /// It has led to another state of the machine.
  void made();
  /// Is one under way, or has one led here?
  const std::optional<Edge>& last() const { return last_; }
  StateId from() const { return last_ ? last_->from : 0; }
  bool is_known() const { return last_label_ != 0; }
  void forget_last();
  /// It has led there.
  void arrived_in(StateId state, std::uint32_t check);
  /// That is known of a choice of `node`, and the move is not made.
  void leads_to(const Node& node, const Choice& choice, StateId state);

  // --- Ends --------------------------------------------------------------------------------------
  /// The machine has failed. True: that has ended the execution.
  bool note_failure();
  /// The last move has ended the execution.
  void end(std::optional<std::uint8_t> unexpected);
  /// A replay is in that state.
  void reached(StateId state);

private:
  Rule owed_by_rule(const Stepper::Move& move) const;
  /// Sites of the commands that begin after a kernel that has not ended, and may be what it waits
  /// for, each with a blank behind.
  std::string queued() const;

  StateTable& table_;
  const Options& options_;
  Stepper& stepper_;
  const memory::AddressSpace& space_;
  const HostThreads& threads_;
  const Purpose& purpose_;
  const System& system_;
  const Launches& launches_;
  ReportNames& names_;
  Course& course_;
  std::vector<ClassChange> changes_;                   // scratch
  std::vector<Demand> demands_;                        // scratch
  std::optional<Edge> last_;                           // `to` is not known yet
  std::uint32_t last_label_ = 0;                       // see begin()
  std::uint32_t last_claimer_ = StateTable::own_claim; // Node::claimer of last_->from
};

} // namespace heddle::explore
