// Way: the states between where the host stopped and where the search is, and what of them is left.
//
//   Node& node = way.add(state, look);       // the search is there now, without choices
//   way.found(choices); way.done();          // choices that are left, for reports of progress
//   way.leave();                             // the last state is done with
#pragma once

#include "explore/search/system.h"
#include "explore/search/way_shares.h"
#include "explore/table/course.h"

#include <cstdint>
#include <vector>

namespace heddle::explore {

class Way {
public:
  Way(Ground& ground, System& system);

  /// Stays where it is until the next state is added.
  Node& add(StateId state, const Look& look);
  void leave();
  void clear() { nodes_.clear(); }
  /// The last state, which is on no way any more.
  Node take_last();
  bool empty() const { return nodes_.empty(); }
  std::vector<Node>& nodes() { return nodes_; }
  const std::vector<Node>& nodes() const { return nodes_; }
  Node& last() { return nodes_.back(); }

  // --- What is left ------------------------------------------------------------------------------
  void found(std::uint64_t choices) { queue_ += choices; }
  void done(std::uint64_t choices = 1) { queue_ -= choices; }
  void tell_frontier() { table_.set_frontier(course_.base() + nodes_.size(), queue_); }
  /// How much of the search is left, now and then.
  void show_open_sometimes();
  void show_open();
  /// This process ends; if that is before it has tried everything, nobody else does.
  void abandon_open();
  /// It has nothing to do.
  void show_nothing();
  /// Another process, forked for a part of it.
  void begin_part();

  /// How likely an execution comes to the first state.
  double weight() const { return weight_; }
  void set_weight(double weight) { weight_ = weight; }
  /// The choice under way leads to where nobody goes back from.
  void go_beyond();
  /// Up to the way, and with it.
  Course& course() { return course_; }

private:
  StateTable& table_;
  Stepper& stepper_;
  System& system_;
  std::vector<Node> nodes_;
  std::vector<Node> spare_; // for their memory
  Course course_;
  std::uint64_t queue_ = 0;  // choices of this process, not tried yet
  double weight_ = 1;        // see weight()
  unsigned since_shown_ = 0; // states since show_open()
};

} // namespace heddle::explore
