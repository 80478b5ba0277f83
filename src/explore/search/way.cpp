// Implements way.h.
#include "explore/search/way.h"

#include <utility>

namespace heddle::explore {

namespace {

constexpr unsigned between_shows = 1024; // states; see show_open()

} // namespace

Way::Way(Ground& ground, System& system)
    : table_(ground.table),
      stepper_(ground.stepper),
      system_(system),
      course_(table_.course()) {}

Node& Way::add(StateId state, const Look& look) {
  if (spare_.empty()) {
    nodes_.emplace_back();
  } else {
    nodes_.push_back(std::move(spare_.back()));
    spare_.pop_back();
  }
  Node& node = nodes_.back();
  node.state = state;
  node.mark = stepper_.mark();
  node.check = look.check;
  node.open = look.open;
  node.device = look.device;
  node.beside = look.beside;
  node.ways = system_.ways_seen();
  node.next = 0;
  node.looked_ahead = false;
  node.claimer = StateTable::own_claim;
  node.choices.clear();
  stepper_.moves(node.moves);
  return node;
}

void Way::leave() {
  course_.pop();
  spare_.push_back(std::move(nodes_.back()));
  nodes_.pop_back();
}

Node Way::take_last() {
  Node node = std::move(nodes_.back());
  nodes_.clear();
  return node;
}

void Way::show_open_sometimes() {
  if (since_shown_++ % between_shows == 0) {
    show_open();
  }
}

void Way::show_open() {
  since_shown_ = 1; // this one
  table_.set_open(open_share(nodes_, weight_));
}

void Way::abandon_open() {
  if (!nodes_.empty()) {
    const bool under_way = nodes_.back().next != 0; // a choice, which is not done with
    table_.abandon(open_share(nodes_, weight_) + (under_way ? weight_of_next(nodes_, weight_) : 0));
  }
  table_.set_open(0);
}

void Way::show_nothing() {
  table_.set_frontier(0, 0);
  table_.set_open(0);
}

void Way::begin_part() {
  queue_ = 0;
  since_shown_ = 0;
}

void Way::go_beyond() {
  weight_ = weight_of_next(nodes_, weight_);
  course_.add_to_base(nodes_.size());
}

} // namespace heddle::explore
