// Implements mover.h.
#include "explore/search/mover.h"

#include "explore/judge/judged_move.h"
#include "explore/ranks/claim_rule.h"
#include "explore/search/way_shares.h"

#include <optional>

namespace heddle::explore {

Mover::Mover(Ground& ground, System& system, Record& record, Way& way, Processes& processes)
    : ground_(ground),
      table_(ground.table),
      stepper_(ground.stepper),
      system_(system),
      record_(record),
      way_(way),
      processes_(processes) {}

bool finds_circles(const Options& options) {
  return options.gives_up || starts_at_once(options);
}

bool Mover::go(const Node& node, const Choice& choice) {
  if (choice.ahead) {
    table_.set_position(node.state, 0);
    stepper_.step(node.moves[choice.move], choice.again);
    if (stepper_.made_again()) {
      const std::uint32_t label = record_.label_of(node, choice);
      record_.begin({.from = node.state, .choice = choice.number}, node.claimer, label);
      return false;
    }
    record_.begin(record_.edge_for(node, choice), node.claimer);
  } else {
    const Edge edge = record_.edge_for(node, choice);
    record_.begin(edge, node.claimer);
    table_.set_position(edge.from, edge.site);
    if (choice.kind == Choice::Kind::Host) {
      HostThreads& threads = ground_.threads;
      const HostPoint& point = threads.point(choice.host);
      if (starts_at_once(ground_.options) && point.kind == HostPoint::Kind::Wait &&
          threads.live() == 1) {
        stepper_.persistent().early_commands().host_waited(*point.condition);
      }
      threads.choose(choice.host, choice.way);
      return true;
    }
    const Stepper::Move& move = node.moves[choice.move];
    if (choice.kind == Choice::Kind::Command) {
      system_.host_functions().begin(stepper_.works().host_function(move));
    }
    stepper_.step(move);
    if (choice.kind == Choice::Kind::Command) {
      system_.host_moved(); // a copy may have written its memory
    }
  }
  record_.made();
  return false;
}

void Mover::look_ahead(const Node& node, Choice& choice) {
  const auto ahead = stepper_.look_ahead(node.moves[choice.move], node.device);
  if (!ahead) {
    return;
  }
  choice.ahead = true;
  choice.known = Choice::nowhere;
  choice.step = step_of(ahead->taken);
  choice.check = stepper_.saw_host_addresses() ? unchecked : check_of(ahead->unnumbered);
  choice.again = ahead->again;
  choice.note = ahead->note;
  choice.device = ahead->fingerprint;
  // No command completes, so that for those who wait nothing changes.
  choice.state = sum_of(ahead->fingerprint, node.beside);
  if (ahead->note == nullptr) {
    choice.changes = record_.intern(ahead->changes);
  } else {
    if (ahead->note->changes == 0) {
      ahead->note->changes = record_.intern(ahead->changes) + 1;
    }
    choice.changes = ahead->note->changes - 1;
  }
}

/// Five of six moves are like that where six threads move; they are written down and not made.
bool Mover::leads_to_known(const Node& node, const Choice& choice) {
  if (!choice.ahead) {
    return false;
  }
  const auto to = choice.known != Choice::nowhere ? std::optional(choice.known)
                  : ground_.ranks ? done_somewhere(*ground_.ranks, table_, choice.state)
                                  : table_.find_done(choice.state);
  if (!to) {
    return false;
  }
  const Course::Change change(way_.course());
  way_.course().done();
  record_.leads_to(node, choice, *to);
  const auto way = static_cast<std::size_t>(&node - way_.nodes().data()) + 1;
  if (finds_circles(ground_.options) && is_one_of_the_last(way_.nodes(), way, *to)) {
    processes_.note_circle();
  }
  return true;
}

/// All choices of a state that has just been entered: what they lead to is fetched while others are
/// looked at. Those that lead to known states are written down when their turn comes: whether that
/// is known now depends on what this process keeps in mind, and what a search that ends early has
/// found must not.
void Mover::look_ahead(Node& node) {
  node.looked_ahead = true;
  for (Choice& choice : node.choices) {
    if (choice.kind == Choice::Kind::Thread) {
      look_ahead(node, choice);
      if (choice.ahead) {
        table_.fetch(choice.state);
      }
    }
  }
  for (Choice& choice : node.choices) {
    if (choice.ahead && !ground_.ranks) {
      choice.known = table_.find_done(choice.state).value_or(Choice::nowhere);
    }
  }
}

} // namespace heddle::explore
