// Implements search.h.
#include "explore/search/search.h"

#include "base/check.h"
#include "explore/ranks/claim_rule.h"
#include "explore/search/state_work.h"
#include "explore/witness/schedule.h"
#include "reduce/persistent_sets/persistent_sets.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <utility>

namespace heddle::explore {

namespace {

// States that an invalid search goes on for, to learn more of what it has to begin again without.
constexpr int after_clash = 200;
// Of so many states that are known from looking ahead one is looked at.
constexpr StateId between_looks = 256;

} // namespace

Search::Search(Ground& ground, const Parts& parts)
    : ground_(ground),
      table_(ground.table),
      options_(ground.options),
      stepper_(ground.stepper),
      parts_(parts),
      way_(parts.way),
      course_(parts.way.course()) {}

/// Which choices of hosts are to be made in a state because of how it was reached.
Choices Search::asked_by(const Arrival& arrival, std::uint64_t open) const {
  const std::uint64_t arrived = arrival.host ? ground_.threads.arrived() : 0;
  return explore::asked_by({arrival.host, arrived, arrival.open}, parts_.system.stand(), open);
}

/// All choices that somebody who arrives in a state wants to be made.
Choices Search::wanted(const Node& node, const Choices& asked, bool first) {
  if (table_.keeps_to_some()) {
    return {true, ~std::uint64_t{0}, ~std::uint64_t{0}};
  }
  const std::vector<HostAt> stand = parts_.system.stand();
  if (const auto alone = goes_alone(stepper_, options_, stand)) {
    return {.device = false, .first_ways = std::uint64_t{1} << *alone, .other_ways = 0};
  }
  const Choices always = always_asked(stand);
  Choices result = asked;
  result.first_ways |= always.first_ways;
  result.other_ways |= always.other_ways;
  const bool some_host = std::ranges::any_of(node.choices, [&](const Choice& choice) {
    return choice.kind == Choice::Kind::Host && is_in(choice, result);
  });
  const bool again =
      !first && !starts_at_once(options_); // put off till then; no cycles, see plan.h
  result.device = again || node.moves.empty() || !some_host ||
                  !hosts_are_alone(stepper_, options_, node.moves, stand);
  return result;
}

/// Ends the search if an assumption that it rests on does not hold.
void Search::end_if_void() {
  if (ground_.purpose.one_way()) {
    return;
  }
  if (stepper_.sums_clash()) {
    table_.note(Fact::SumsClash);
    if (++since_clash_ > after_clash) {
      parts_.processes.finish();
    }
  }
  if (stepper_.refuted()) {
    table_.note(Fact::Refuted);
    parts_.processes.finish();
  }
  if (stepper_.some_last()) {
    table_.note(Fact::HostClash);
    parts_.processes.finish();
  }
}

void Search::end_here(std::optional<std::uint8_t> unexpected) {
  if (course_.repeats()) {
    parts_.processes.unrepeatable();
  }
  parts_.record.end(unexpected);
}

bool Search::enter(const Arrival& arrival) {
  if (stepper_.failure()) {
    const Course::Change change(course_);
    if (stepper_.refuted() && !ground_.purpose.one_way()) {
      table_.note(Fact::Refuted);
      parts_.processes.finish();
    }
    if (parts_.record.note_failure()) {
      end_here();
    }
    course_.done();
    return false;
  }
  parts_.news.note_facts();
  // Not in note_facts(): finish() calls that, and note_circle() may call finish().
  if (starts_at_once(options_) && stepper_.choice_met_command()) {
    parts_.processes.note_circle(); // what keep_few() takes for granted does not hold
  }
  Look look = parts_.system.look_around();
  look.alike = arrival.alike;
  return arrive(look, asked_by(arrival, look.open), arrival);
}

/// The same after a move that was made again, which changes nothing but what is known of it: no
/// command completes, so that for host threads that wait all is as it was.
bool Search::enter_again(const Node& before, const Choice& choice, const Arrival& arrival) {
  parts_.system.keep_ways(before);
  return arrive(
      {.device = choice.device,
       .beside = before.beside,
       .open = before.open,
       .check = choice.check,
       .alike = arrival.alike,
       .seen = StateTable::Seen::Never},
      {},
      arrival
  );
}

bool Search::arrive(const Look& look, const Choices& asked, const Arrival& arrival) {
  const bool one_way = ground_.purpose.one_way();
  parts_.news.exchange();
  end_if_void();
  if (course_.repeats()) {
    return arrive_again(look);
  }
  const Course::Change change(course_);
  const Hash128 hash = sum_of(look.device, look.beside);
  const auto visit = table_.visit(hash, asked, look.seen);
  if (!visit) {
    table_.note_limit_of_states();
    parts_.processes.finish();
  }
  look_whether_expected(look, visit->id, arrival);
  const bool is_new = visit->first && !visit->again && !one_way;
  end_if_done(look, *visit, is_new);
  if (!one_way && (visit->nothing_new || table_.keeps_out(hash))) {
    parts_.record.arrived_in(visit->id, look.check);
    return false;
  }
  Node& node = way_.add(visit->id, look);
  parts_.system.all_choices(node);
  node.width = static_cast<std::uint32_t>(std::max<std::size_t>(node.choices.size(), 1));
  const Choices mine = choose(node, look, asked, *visit);
  if (visit->first || one_way) {
    const bool elsewhere = ground_.ranks && table_.devices_claimed(node.state);
    parts_.record.describe(node, (mine.device || elsewhere) && !one_way);
  } else {
    table_.add_moves(node.state, static_cast<std::int32_t>(node.choices.size()));
  }
  if (!one_way) { // the edge says that what it asked for has been claimed
    parts_.record.arrived_in(visit->id, look.check);
  }
  course_.push({.state = node.state, .width = node.width, .alike = node.alike});
  std::ranges::for_each(node.choices, [&](const Choice& c) { course_.add_choice(c.number); });
  way_.found(node.choices.size());
  way_.tell_frontier();
  return true;
}

/// Is this the state that looking ahead, the schedule, or an earlier part of this search has found?
void Search::look_whether_expected(const Look& look, StateId state, const Arrival& arrival) {
  if (look.seen == StateTable::Seen::Never && state % between_looks == 0) {
    const Hash128 found = stepper_.fingerprint();
    HEDDLE_CHECK(
        found == look.device &&
            (look.check == unchecked || look.check == check_of(stepper_.unnumbered(found))),
        "state {} is not the one that was expected",
        state
    );
  }
  const std::optional<Edge>& last = parts_.record.last();
  const bool one_way = ground_.purpose.one_way();
  if (!last && !one_way && table_.goes_on() && state != 0 && table_.process() == 0) {
    parts_.processes.unrepeatable(); // the program does not begin as it did
  }
  if (one_way) {
    parts_.record.arrived_in(state, look.check);
  }
  if (arrival.expected != unchecked && look.check != unchecked && arrival.expected != look.check) {
    table_.add_event(
        EventKind::Nondeterminism,
        state,
        last ? last->site : 0,
        fmt::format("step {} of the schedule led to another state than before", arrival.step)
    );
    parts_.processes.finish();
  }
}

/// Ends the search where it has come as far as it was to. What it has found is true, so the move
/// that has led here is written down.
void Search::end_if_done(const Look& look, const StateTable::Visit& visit, bool is_new) {
  const bool one_way = ground_.purpose.one_way();
  const bool circle = !visit.first && finds_circles(options_) &&
                      is_one_of_the_last(way_.nodes(), way_.nodes().size(), visit.id);
  const bool gives_up = visit.first && !one_way && options_.gives_up && gives_up_straight();
  if (gives_up || (circle && starts_at_once(options_) && !one_way)) {
    parts_.record.arrived_in(visit.id, look.check);
  }
  if (circle) {
    parts_.processes.note_circle();
  }
  if (gives_up) {
    table_.note(Fact::GaveUp);
    parts_.processes.finish();
  }
  if (is_new && is_spent()) {
    parts_.record.arrived_in(visit.id, look.check);
    table_.note_limit_of_states();
    parts_.processes.finish();
  }
}

/// Which choices of a state this process makes: those that are asked for, that nobody has claimed,
/// and that no others stand for. Returns what it has claimed.
Choices
Search::choose(Node& node, const Look& look, const Choices& asked, const StateTable::Visit& visit) {
  const bool one_way = ground_.purpose.one_way();
  const Choices before =
      visit.first && table_.goes_on() ? table_.asked_before(node.state) : Choices();
  Choices all = wanted(node, asked, visit.first);
  all |= before;
  Choices mine = table_.claim(node.state, all);
  if (ground_.ranks) {
    const Hash128 hash = sum_of(look.device, look.beside);
    mine = keep_ours(*ground_.ranks, table_, hash, node.state, ground_.threads.count(), mine);
  }
  node.alike = 0;
  if (!one_way) {
    std::erase_if(node.choices, [&](const Choice& choice) { return !is_in(choice, mine); });
    const bool some = !node.choices.empty();
    keep_alone(node);
    if (options_.blocks_start_at_once()) {
      keep_few(node, look.alike);
    }
    HEDDLE_CHECK(some == !node.choices.empty(), "no move is left to stand for the others");
    count_work(node, visit.first && !visit.again, before);
  }
  if (ground_.ranks) {
    parts_.errands.begin_elsewhere(node);
  }
  if (visit.first) { // what is left out is not explored, others stand for it
    node.width = static_cast<std::uint32_t>(std::max<std::size_t>(node.choices.size(), 1));
  }
  return mine;
}

/// A search by one process that goes on where an earlier part of it was stopped (course.h): it
/// makes the moves of the way once more, and has the choices in front of it that were left.
bool Search::arrive_again(const Look& look) {
  const Course::Step& step = course_.again();
  if (table_.know(sum_of(look.device, look.beside)) != step.state) {
    parts_.processes.unrepeatable();
  }
  Node& node = way_.add(step.state, look);
  node.width = step.width;
  node.alike = step.alike;
  node.looked_ahead = true; // choice by choice
  parts_.system.all_choices(node);
  const std::span<const std::uint32_t> left = course_.left(step);
  std::erase_if(node.choices, [&](const Choice& choice) {
    return std::ranges::find(left, choice.number) == left.end();
  });
  if (node.choices.size() != left.size()) {
    parts_.processes.unrepeatable();
  }
  way_.found(left.size());
  parts_.news.computed_since(); // it is counted
  return true;
}

/// Has a search that may be given up been long without a cycle?
bool Search::gives_up_straight() const {
  return !table_.saw(Fact::Circle) && table_.work() >= options_.straight_after;
}

/// Where blocks start at once: choices that others stand for are gone
/// (reduce/persistent_sets/persistent_sets.h). `left` is what is known from the state before, see
/// Node::alike.
void Search::keep_few(Node& node, std::uint64_t left) {
  if (node.moves.empty() || node.choices.size() != node.moves.size() ||
      node.choices.back().kind == Choice::Kind::Host) {
    return; // the host takes part
  }
  std::vector<std::size_t> tried;
  for (const Choice& choice : node.choices) {
    tried.push_back(choice.move);
  }
  node.alike = reduce::keep_few(stepper_, node.moves, tried, left);
  std::erase_if(node.choices, [&](const Choice& choice) {
    return std::ranges::find(tried, choice.move) == tried.end();
  });
}

/// [RED-GROUPS] On the first path little is known of who comes where. What a state of it has left
/// when that is known need not be tried if the moves that have been tried are of one group.
void Search::keep_group(Node& node) {
  if (node.next == 0) {
    return;
  }
  stepper_.persistent().groups().path_ended();
  if (node.next == node.choices.size() || node.width != node.moves.size() ||
      node.choices.front().number != 0 || node.choices.front().kind != Choice::Kind::Thread) {
    return; // … or that has been done
  }
  const std::vector<std::size_t> group =
      stepper_.persistent().groups().one_group(node.moves, node.choices.front().move);
  const auto is_left_out = [&](const Choice& choice) {
    return choice.kind != Choice::Kind::Thread ||
           std::ranges::find(group, choice.move) == group.end();
  };
  const auto left = node.choices.begin() + static_cast<std::ptrdiff_t>(node.next);
  if (std::any_of(node.choices.begin(), left, is_left_out)) {
    return;
  }
  const Course::Change change(course_);
  const auto last = std::remove_if(left, node.choices.end(), is_left_out);
  const auto gone = static_cast<std::int32_t>(node.choices.end() - last);
  node.choices.erase(last, node.choices.end());
  if (gone != 0) {
    table_.add_moves(node.state, -gone);
    way_.done(static_cast<std::uint64_t>(gone));
  }
  course_.take_choices_back();
  std::for_each(left, node.choices.end(), [&](const Choice& c) { course_.add_choice(c.number); });
}

/// [RED-SETTLED] Of device threads' choices those that others stand for are gone. What the host
/// does next is tried all the same, since it is tried where the host arrives ([RED-RETURNS]).
void Search::keep_alone(Node& node) {
  std::vector<std::size_t> tried;
  for (const Choice& choice : node.choices) {
    if (choice.kind != Choice::Kind::Host) {
      tried.push_back(choice.move);
    }
  }
  reduce::keep_alone(node.moves, tried);
  std::erase_if(node.choices, [&](const Choice& choice) {
    return choice.kind != Choice::Kind::Host &&
           std::ranges::find(tried, choice.move) == tried.end();
  });
}

/// Has this search had what it was given?
bool Search::is_spent() const {
  return (options_.max_work != 0 && table_.work() >= options_.max_work) ||
         (options_.max_computed != 0 && table_.computed() >= options_.max_computed);
}

/// What the last state of the way and its moves that cannot be taken back are worth, but for what
/// an earlier part of this search has counted.
void Search::count_work(const Node& node, bool is_new, const Choices& before) {
  const auto count = std::ranges::count_if(node.choices, [&](const Choice& choice) {
    return choice.kind != Choice::Kind::Thread && !is_in(choice, before);
  });
  table_.add_work(is_new ? work_of(node.moves.size()) : 0, static_cast<std::uint32_t>(count));
  if (is_new) {
    table_.add_computed(parts_.news.computed_since());
  }
}

// --- The search ----------------------------------------------------------------------------------

/// Another process has found out that the search is over.
void Search::end_if_told() const {
  if ((table_.saw(Fact::SumsClash) && !stepper_.sums_clash()) || table_.saw(Fact::Refuted) ||
      table_.saw(Fact::HostClash) || table_.saw(Fact::GaveUp) || table_.saw(Fact::Unrepeatable) ||
      (starts_at_once(options_) && table_.saw(Fact::Circle)) ||
      (ground_.ranks && table_.saw(Fact::OutOfStates))) { // of all ranks together
    parts_.processes.finish();
  }
}

bool Search::run() {
  while (!way_.empty()) {
    end_if_told();
    if (course_.may_stop() && !table_.saw(Fact::SumsClash)) { // else it ends soon, and is void
      course_.stop_if_due(table_.state_count());
    }
    if (!way_.last().looked_ahead) {
      parts_.mover.look_ahead(way_.last());
    }
    if (!parts_.errands.give()) {
      parts_.shares.give();
    }
    way_.show_open_sometimes();
    Node& node = way_.last();
    if (stepper_.assumed().persistent.in_groups && !course_.repeats()) {
      keep_group(node);
    }
    if (node.next == node.choices.size()) {
      if (way_.nodes().size() == 1 && parts_.shares.take()) {
        continue;
      }
      way_.leave();
      if (!way_.empty()) {
        stepper_.undo_to(way_.last().mark);
      }
      continue;
    }
    Choice& choice = node.choices[node.next++]; // stays where it is, unlike the node
    way_.done();
    node.taken = choice.number;
    const Arrival arrival{
        .host = false,
        .open = node.open,
        .alike = node.alike > last_ones(stepper_) ? node.alike - 1 : 0
    };
    if (choice.kind == Choice::Kind::Thread) {
      try_choice(node, choice, arrival);
    } else if (const auto host = try_for_good(node, choice, arrival)) {
      return *host;
    }
  }
  return false;
}

/// A move that can be undone.
void Search::try_choice(Node& node, Choice& choice, const Arrival& arrival) {
  if (!choice.ahead || choice.again.epoch != stepper_.epoch()) {
    choice.ahead = false; // meanwhile another state may have shown what is right now
    parts_.mover.look_ahead(node, choice);
  }
  if (!course_.repeats() && parts_.mover.leads_to_known(node, choice)) {
    return;
  }
  parts_.mover.go(node, choice);
  const bool is_known = parts_.record.is_known();
  if (!(is_known ? enter_again(node, choice, arrival) : enter(arrival))) {
    stepper_.undo_to(way_.last().mark);
  }
}

/// A move that cannot. nullopt: another process makes it; else what run() returns, or the search
/// goes on from there.
std::optional<bool>
Search::try_for_good(const Node& node, const Choice& choice, const Arrival& arrival) {
  // A crash ends all processes that this one waits for.
  const bool last =
      !parts_.processes.has_helpers() &&
      std::ranges::all_of(way_.nodes(), [](const Node& n) { return n.next == n.choices.size(); });
  if (!last && !parts_.processes.fork_for(node)) {
    return std::nullopt;
  }
  // Nobody goes back from here.
  parts_.processes.leave_family();
  way_.go_beyond();
  parts_.errands.note_way();
  if (parts_.mover.go(node, choice)) {
    return true;
  }
  way_.clear();
  if (!enter(arrival)) {
    return false;
  }
  return std::nullopt;
}

} // namespace heddle::explore
