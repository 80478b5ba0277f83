// The search: depth first, in place where moves can be undone, in forked processes where not.
#include "base/check.h"
#include "explore/judge/judged_move.h"
#include "explore/ranks/claim_rule.h"
#include "explore/search/explorer_impl.h"
#include "explore/search/way_shares.h"
#include "explore/strategy/few_moves.h"
#include "explore/witness/schedule.h"
#include "reduce/persistent_sets.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <memory>
#include <span>
#include <utility>

namespace heddle::explore {

namespace {

// States that an invalid search goes on for, to learn more of what it has to begin again without.
constexpr int after_clash = 200;
constexpr unsigned between_shows = 1024; // states; see show_open()
// Of so many states that are known from looking ahead one is looked at.
constexpr StateId between_looks = 256;

/// Cycles matter.
bool finds_circles(const Options& options) {
  return options.gives_up || options.starts_at_once;
}

/// Where the live host threads stand; `ways`: of each, those in which it can go on.
std::vector<HostAt> stand_of(const HostThreads& threads, std::span<const std::uint64_t> ways) {
  std::vector<HostAt> result;
  for (unsigned t = 0; t < threads.count(); ++t) {
    if (threads.state(t) == HostThreads::State::Live) {
      const HostPoint& point = threads.point(t);
      result.push_back({point.kind, point.device_visible, ways[t] != 0, t});
    }
  }
  return result;
}

/// Does what the call there waits or asks for hold?
bool has_come_true(const HostPoint& point, std::uint64_t ways) {
  return point.kind == HostPoint::Kind::MayWait ? (*point.condition)()
                                                : point.condition != nullptr && (ways & 1) != 0;
}

/// Without instrumentation the host is seen at API calls only. That leaves nothing out while no
/// other thread, and no device, reaches what it accesses between them.
bool devices_reach_host(memory::AddressSpace& space) {
  bool result = false;
  space.each_live([&](const memory::Allocation& allocation) {
    result = result || allocation.kind == memory::AllocationKind::Managed ||
             allocation.kind == memory::AllocationKind::Pinned ||
             allocation.kind == memory::AllocationKind::Registered;
  });
  return result;
}

} // namespace

// --- States --------------------------------------------------------------------------------------

/// A new state: finds out which ways are open to host threads. Returns those in a call that waits,
/// or asks, for something that holds now.
std::uint64_t Explorer::open_waits() {
  std::uint64_t open = 0;
  ++ways_seen_;
  ways_vary_ = false;
  for (unsigned t = 0; t < threads_.count(); ++t) {
    ways_[t] = threads_.ways(t);
    if (threads_.state(t) != HostThreads::State::Live) {
      continue;
    }
    const HostPoint& point = threads_.point(t);
    ways_vary_ = ways_vary_ || point.kind == HostPoint::Kind::Sync; // a futex may be on the device
    if (has_come_true(point, ways_[t])) {
      open |= std::uint64_t{1} << t;
    }
  }
  return open;
}

/// Every choice of the state, numbered; the last ones are the host's.
void Explorer::all_choices(Node& node) const {
  std::vector<Choice>& result = node.choices;
  result.clear();
  const auto add = [&](Choice::Kind kind, std::size_t move) {
    Choice& choice = result.emplace_back();
    choice.kind = kind;
    choice.number = static_cast<std::uint32_t>(result.size() - 1);
    choice.move = move;
  };
  bool others = false;
  for (std::size_t m = 0; m < node.moves.size(); ++m) {
    if (stepper_.can_undo(node.moves[m])) {
      add(Choice::Kind::Thread, m);
    } else {
      others = true;
    }
  }
  for (std::size_t m = 0; others && m < node.moves.size(); ++m) {
    if (!stepper_.can_undo(node.moves[m])) {
      add(Choice::Kind::Command, m);
    }
  }
  for (unsigned t = 0; t < threads_.count(); ++t) {
    for (std::uint64_t ways = ways_[t]; ways != 0; ways &= ways - 1) {
      add(Choice::Kind::Host, 0);
      result.back().host = t;
      result.back().way = static_cast<unsigned>(std::countr_zero(ways));
    }
  }
}

/// Which choices of hosts are to be made in a state because of how it was reached.
Choices Explorer::asked_by(const Arrival& arrival, std::uint64_t open) const {
  const std::uint64_t arrived = arrival.host ? threads_.arrived() : 0;
  return explore::asked_by({arrival.host, arrived, arrival.open}, stand_of(threads_, ways_), open);
}

/// All choices that somebody who arrives in a state wants to be made.
Choices Explorer::wanted(const Node& node, const Choices& asked, bool first) {
  if (table_.keeps_to_some()) {
    return {true, ~std::uint64_t{0}, ~std::uint64_t{0}};
  }
  const std::vector<HostAt> stand = stand_of(threads_, ways_);
  const Choices always = always_asked(stand);
  Choices result = asked;
  result.first_ways |= always.first_ways;
  result.other_ways |= always.other_ways;
  const bool some_host = std::ranges::any_of(node.choices, [&](const Choice& choice) {
    return choice.kind == Choice::Kind::Host && is_in(choice, result);
  });
  const bool again = !first && !options_.starts_at_once; // put off till then; no cycles, see plan.h
  result.device = again || node.moves.empty() || !some_host ||
                  !hosts_are_alone(stepper_, options_, node.moves, stand);
  return result;
}

bool Explorer::is_in(const Choice& choice, const Choices& choices) {
  if (choice.kind != Choice::Kind::Host) {
    return choices.device;
  }
  return ((choice.way == 0 ? choices.first_ways : choices.other_ways) >> choice.host & 1) != 0;
}

/// What the last move has shown of the program as a whole.
void Explorer::note_facts() {
  const auto fences = stepper_.sc_fences();
  for (const auto& [seen, fact] : {
           std::pair(stepper_.saw_dependency(), Fact::Dependency),
           std::pair(stepper_.saw_plain_access(), Fact::PlainAccess),
           std::pair(stepper_.left_out_active(), Fact::ActiveSets),
           std::pair(stepper_.left_out_values(), Fact::OldValues),
           std::pair(stepper_.made_vectors_at_once(), Fact::Vectors),
           std::pair(stepper_.made_reductions_at_once(), Fact::Reductions),
           std::pair(fences.heard, Fact::FenceHeard),
           std::pair(fences.took, Fact::FencesTook),
           std::pair(fences.apart, Fact::FencesApart),
           std::pair(stepper_.saw_same_value(), Fact::SameValue),
           std::pair(stepper_.host_got_data(), Fact::HostGotData),
           std::pair(stepper_.saw_unordered(), Fact::DataOrder),
           std::pair(stepper_.saw_retries(), Fact::Retries),
           std::pair(stepper_.saw_choice(), Fact::Choice),
       }) {
    seen ? table_.note(fact) : void();
  }
  if (const std::uint64_t now = world_.space().generation();
      (now != looked_at_allocations_ || threads_.count() > 1) && table_.saw(Fact::HostUnseen)) {
    looked_at_allocations_ = now;
    if (threads_.count() > 1 || devices_reach_host(world_.space())) {
      table_.note(Fact::HostShares);
    }
  }
  const auto tell_once = [this](bool left_out, bool& told, std::string_view what) {
    if (left_out && !one_way() && !std::exchange(told, true)) {
      table_.add_event(EventKind::LeftOut, 0, 0, what);
    }
  };
  tell_once(
      stepper_.left_out_looks(),
      told_of_looks_,
      "more looks at a clock before a time limit is over"
  );
  tell_once(!stepper_.left_out_times().empty(), told_of_times_, stepper_.left_out_times());
  tell_once(
      stepper_.left_out_orders(),
      told_of_orders_,
      "more orders in which lanes of a warp do one atomic operation"
  );
  tell_once(
      stepper_.left_out_arrivals(),
      told_of_arrivals_,
      "bytes of an asynchronous copy that arrive later at an mbarrier, which threads may notice"
  );
}

/// Ends the search if an assumption that it rests on does not hold.
void Explorer::note_refuted() {
  if (stepper_.refuted() && !one_way()) {
    table_.note(Fact::Refuted);
    finish();
  }
}

/// The machine and the host are in a state that the last move led to. False if there is nothing
/// more to do in it; else it is the last of path_.
bool Explorer::enter(const Arrival& arrival) {
  if (stepper_.failure()) {
    const Course::Change change(course_);
    note_refuted();
    note_failure();
    course_.done();
    return false;
  }
  note_facts();
  // Not in note_facts(): finish() calls that, and note_circle() may call finish().
  if (options_.starts_at_once && stepper_.choice_met_command()) {
    note_circle(); // what keep_few() takes for granted does not hold
  }
  Look look = look_around();
  look.alike = arrival.alike;
  return arrive(look, asked_by(arrival, look.open));
}

/// What a schedule says of the state in which the devices are, so that whoever repeats it can tell
/// whether it gets there: nothing that depends on which of equal threads went first.
std::uint32_t Explorer::check_of_state(const Hash128& fingerprint) const {
  return stepper_.saw_host_addresses() ? unchecked : check_of(stepper_.unnumbered(fingerprint));
}

/// What the state is like in which the machine and the host are.
Explorer::Look Explorer::look_around() {
  Look look;
  look.open = open_waits();
  look.device = stepper_.fingerprint();
  look.beside = beside_device(look.open);
  look.check = check_of_state(look.device);
  if (replay_) {
    look.device = stepper_.unnumbered(look.device); // as what was recorded
  }
  return look;
}

/// The same after a move that was made again, which changes nothing but what is known of it: no
/// command completes, so that for host threads that wait all is as it was.
bool Explorer::enter_again(const Node& before, const Choice& choice, const Arrival& arrival) {
  if (ways_vary_ || before.ways != ways_seen_) {
    open_waits();
  }
  return arrive(
      {.device = choice.device,
       .beside = before.beside,
       .open = before.open,
       .check = choice.check,
       .alike = arrival.alike,
       .seen = StateTable::Seen::Never},
      {}
  );
}

bool Explorer::arrive(const Look& look, const Choices& asked) {
  exchange_news();
  if (stepper_.sums_clash() && !one_way()) {
    table_.note(Fact::SumsClash);
    if (++since_clash_ > after_clash) {
      finish();
    }
  }
  note_refuted();
  if (stepper_.some_last() && !one_way()) {
    table_.note(Fact::HostClash);
    finish();
  }
  if (course_.repeats()) {
    return arrive_again(look);
  }
  const Course::Change change(course_);
  const Hash128 hash = sum_of(look.device, look.beside);
  const auto visit = table_.visit(hash, asked, look.seen);
  if (!visit) {
    table_.note_limit_of_states();
    finish();
  }
  if (look.seen == StateTable::Seen::Never && visit->id % between_looks == 0) {
    const Hash128 found = stepper_.fingerprint();
    HEDDLE_CHECK(
        found == look.device &&
            (look.check == unchecked || look.check == check_of(stepper_.unnumbered(found))),
        "state {} is not the one that was expected",
        visit->id
    );
  }
  if (!last_ && !one_way() && table_.goes_on() && visit->id != 0 && table_.process() == 0) {
    unrepeatable(); // the program does not begin as it did
  }
  if (one_way()) {
    arrived_in(visit->id, look.check);
  }
  if (replay_ && expected_ != unchecked && look.check != unchecked && expected_ != look.check) {
    table_.add_event(
        EventKind::Nondeterminism,
        visit->id,
        last_ ? last_->site : 0,
        fmt::format("step {} of the schedule led to another state than before", replay_->taken)
    );
    finish();
  }
  const bool is_new = visit->first && !visit->again && !one_way();
  const bool circle = !visit->first && finds_circles(options_) &&
                      is_one_of_the_last(path_, path_.size(), visit->id);
  const bool gives_up = visit->first && !one_way() && options_.gives_up && gives_up_straight();
  if (gives_up || (circle && options_.starts_at_once && !one_way())) {
    arrived_in(visit->id, look.check); // the search ends here, and what it has found is true
  }
  if (circle) {
    note_circle();
  }
  if (gives_up) {
    table_.note(Fact::GaveUp);
    finish();
  }
  if (is_new && is_spent()) {
    arrived_in(visit->id, look.check);
    table_.note_limit_of_states();
    finish();
  }
  if (!one_way() && (visit->nothing_new || table_.keeps_out(hash))) {
    arrived_in(visit->id, look.check);
    return false;
  }
  Node& node = add_node(visit->id, look);
  all_choices(node);
  node.width = static_cast<std::uint32_t>(std::max<std::size_t>(node.choices.size(), 1));
  const Choices before =
      visit->first && table_.goes_on() ? table_.asked_before(node.state) : Choices();
  Choices all = wanted(node, asked, visit->first);
  all |= before;
  Choices mine = table_.claim(node.state, all);
  if (ranks_) {
    mine = keep_ours(*ranks_, table_, hash, node.state, threads_.count(), mine);
  }
  if (!one_way()) {
    std::erase_if(node.choices, [&](const Choice& choice) { return !is_in(choice, mine); });
  }
  if (!one_way()) {
    keep_alone(node);
  }
  node.alike = 0;
  if (options_.blocks_start_at_once() && !one_way()) {
    keep_few(node, look.alike);
  }
  if (!one_way()) {
    add_work(node, is_new, before);
  }
  if (ranks_) {
    begin_elsewhere(node);
  }
  if (visit->first) { // what is left out is not explored, others stand for it
    node.width = static_cast<std::uint32_t>(std::max<std::size_t>(node.choices.size(), 1));
  }
  if (visit->first || one_way()) {
    const bool elsewhere = ranks_ && table_.devices_claimed(node.state);
    describe(node, (mine.device || elsewhere) && !one_way());
  } else {
    table_.add_moves(node.state, static_cast<std::uint32_t>(node.choices.size()));
  }
  if (!one_way()) {
    arrived_in(visit->id, look.check); // the edge says that what it asked for has been claimed
  }
  course_.push({.state = node.state, .width = node.width, .alike = node.alike});
  std::ranges::for_each(node.choices, [&](const Choice& c) { course_.add_choice(c.number); });
  queue_ += node.choices.size();
  table_.set_frontier(course_.base() + path_.size(), queue_);
  return true;
}

/// The move under way has led there.
void Explorer::arrived_in(StateId state, std::uint32_t check) {
  if (!last_) {
    return;
  }
  course_.done();
  last_->to = state;
  last_->choice = pack_choice(last_->choice, check);
  table_.add_edge(
      ShortEdge{
          last_->from,
          last_->to,
          last_label_ != 0 ? last_label_ : table_.label(*last_),
          last_->choice
      },
      last_claimer_
  );
}

/// The state where the search is, which is the last one of path_ from now on, without choices.
Explorer::Node& Explorer::add_node(StateId state, const Look& look) {
  if (spare_.empty()) {
    path_.emplace_back();
  } else {
    path_.push_back(std::move(spare_.back()));
    spare_.pop_back();
  }
  Node& node = path_.back();
  node.state = state;
  node.mark = stepper_.mark();
  node.check = look.check;
  node.open = look.open;
  node.device = look.device;
  node.beside = look.beside;
  node.ways = ways_seen_;
  node.next = 0;
  node.looked_ahead = false;
  node.claimer = StateTable::own_claim;
  node.choices.clear();
  stepper_.moves(node.moves);
  return node;
}

void Explorer::note_circle() {
  table_.note(Fact::Circle);
  if (options_.starts_at_once && !one_way()) {
    finish(); // for nothing
  }
}

/// Has a search that may be given up been long without a cycle?
bool Explorer::gives_up_straight() const {
  return !table_.saw(Fact::Circle) && table_.work() >= options_.straight_after;
}

/// Where blocks start at once: choices that others stand for are gone (few_moves.h). `left` is what
/// is known from the state before, see Node::alike.
void Explorer::keep_few(Node& node, std::uint64_t left) {
  if (node.moves.empty() || node.choices.size() != node.moves.size() ||
      node.choices.back().kind == Choice::Kind::Host) {
    return; // the host takes part
  }
  std::vector<std::size_t> tried;
  for (const Choice& choice : node.choices) {
    tried.push_back(choice.move);
  }
  node.alike = explore::keep_few(stepper_, node.moves, tried, left);
  std::erase_if(node.choices, [&](const Choice& choice) {
    return std::ranges::find(tried, choice.move) == tried.end();
  });
}

/// [RED-SETTLED] Of device threads' choices those that others stand for are gone. What the host
/// does next is tried all the same, since it is tried where the host arrives ([RED-RETURNS]).
void Explorer::keep_alone(Node& node) {
  std::vector<std::size_t> tried;
  for (const Choice& choice : node.choices) {
    if (choice.kind != Choice::Kind::Host) {
      tried.push_back(choice.move);
    }
  }
  explore::keep_alone(node.moves, tried);
  std::erase_if(node.choices, [&](const Choice& choice) {
    return choice.kind != Choice::Kind::Host &&
           std::ranges::find(tried, choice.move) == tried.end();
  });
}

// --- The search ----------------------------------------------------------------------------------

void Explorer::next(HostThreads&) {
  stepper_.host_moved();
  hash_host();
  path_.clear();
  if (sampling_) {
    sample();
    return;
  }
  if (serves_ || errand_) {
    if (do_errand()) {
      return;
    }
    finish();
  }
  if (!enter({.host = true, .open = 0}) || !(replay_ ? repeat() : search())) {
    finish();
  }
  path_.clear();
}

/// Host functions run on a host thread of their own. It gets no memory that was allocated here:
/// where that lies depends on the search, and the address would be part of states.
void Explorer::begin_host_function(const machine::CommandPtr& command) {
  if (command == nullptr) {
    return;
  }
  const HeddleThreadHooks* hooks = threads_.hooks();
  const auto call = std::ranges::find(host_calls_, nullptr, &HostCall::command);
  if (hooks == nullptr || call == host_calls_.end()) {
    stop_unsupported("a host function, with this C library");
  }
  *call = {this, command};
  pthread_t id{};
  hooks->create(
      &id,
      nullptr,
      [](void* argument) -> void* {
        auto& call = *static_cast<HostCall*>(argument);
        call.command->work();
        const HostThreads::Aside aside(call.explorer->threads_);
        call.explorer->stepper_.returned(call.command);
        call.command = nullptr;
        return nullptr;
      },
      &*call
  );
  hooks->detach(id);
}

/// Makes a choice. True: it was the host's, and the host goes on now.
bool Explorer::go(const Node& node, const Choice& choice) {
  last_label_ = 0;
  last_claimer_ = node.claimer;
  if (choice.ahead) {
    table_.set_position(node.state, 0);
    stepper_.step(node.moves[choice.move], choice.again);
    if (stepper_.made_again()) {
      last_ = {.from = node.state, .choice = choice.number};
      last_label_ = label_of(node, choice);
      return false;
    }
    last_ = edge_for(node, choice);
  } else {
    last_ = edge_for(node, choice);
    table_.set_position(last_->from, last_->site);
    if (choice.kind == Choice::Kind::Host) {
      const HostPoint& point = threads_.point(choice.host);
      if (options_.starts_at_once && point.kind == HostPoint::Kind::Wait && threads_.live() == 1) {
        stepper_.host_waited(*point.condition);
      }
      threads_.choose(choice.host, choice.way);
      return true;
    }
    if (choice.kind == Choice::Kind::Command) {
      begin_host_function(stepper_.works().host_function(node.moves[choice.move]));
    }
    stepper_.step(node.moves[choice.move]);
    if (choice.kind == Choice::Kind::Command) {
      hash_host(); // a copy may have written its memory
    }
  }
  last_->step = step_of(stepper_.taken());
  if (!unrecorded()) {
    last_->changes = intern(stepper_.changes());
  }
  return false;
}

std::uint32_t Explorer::intern(std::span<const Stepper::Change> changes) {
  if (changes.empty()) {
    return 0;
  }
  changes_.clear();
  for (const Stepper::Change& change : changes) {
    changes_.push_back({change.from, change.to});
  }
  return table_.intern(std::span<const ClassChange>(changes_));
}

/// What the choice leads to, if that is known.
void Explorer::look_ahead(const Node& node, Choice& choice) {
  const auto ahead = stepper_.look_ahead(node.moves[choice.move], node.device);
  if (!ahead) {
    return;
  }
  choice.ahead = true;
  choice.known = nowhere;
  choice.step = step_of(ahead->taken);
  choice.check = stepper_.saw_host_addresses() ? unchecked : check_of(ahead->unnumbered);
  choice.again = ahead->again;
  choice.note = ahead->note;
  choice.device = ahead->fingerprint;
  // No command completes, so that for those who wait nothing changes.
  choice.state = sum_of(ahead->fingerprint, node.beside);
  if (ahead->note == nullptr) {
    choice.changes = intern(ahead->changes);
  } else {
    if (ahead->note->changes == 0) {
      ahead->note->changes = intern(ahead->changes) + 1;
    }
    choice.changes = ahead->note->changes - 1;
  }
}

/// What the edge of a choice whose outcome is known has in common with others. It is the same as
/// long as the same thread makes the same move and as many others could.
std::uint32_t Explorer::label_of(const Node& node, const Choice& choice) {
  const Stepper::Move& move = node.moves[choice.move];
  const std::array<std::uint64_t, 3> of{
      move.command << 16 | move.block << 8 | static_cast<std::uint64_t>(owed_by_rule(move)),
      move.cluster << 32 | move.warp << 8 | static_cast<std::uint64_t>(move.lane),
      move.count
  };
  if (choice.note != nullptr && choice.note->label != 0 && choice.note->of == of) {
    return choice.note->label;
  }
  Edge edge = edge_for(node, choice);
  edge.step = choice.step;
  edge.changes = choice.changes;
  const std::uint32_t label = table_.label(edge);
  if (choice.note != nullptr) {
    choice.note->label = label;
    choice.note->of = of;
  }
  return label;
}

/// `node` is one of path_. True: what the choice does is known, and so is the state that it leads
/// to. Five of six moves are like that where six threads move; they are written down and not made.
bool Explorer::leads_to_known(const Node& node, const Choice& choice) {
  if (!choice.ahead) {
    return false;
  }
  const auto to = choice.known != nowhere ? std::optional(choice.known)
                  : ranks_                ? done_somewhere(*ranks_, table_, choice.state)
                                          : table_.find_done(choice.state);
  if (!to) {
    return false;
  }
  const Course::Change change(course_);
  course_.done();
  table_.add_edge(
      ShortEdge{node.state, *to, label_of(node, choice), pack_choice(choice.number, choice.check)},
      node.claimer
  );
  const auto way = static_cast<std::size_t>(&node - path_.data()) + 1;
  if (finds_circles(options_) && is_one_of_the_last(path_, way, *to)) {
    note_circle();
  }
  return true;
}

/// All choices of a state that has just been entered: what they lead to is fetched while others are
/// looked at. Those that lead to known states are written down when their turn comes: whether that
/// is known now depends on what this process keeps in mind, and what a search that ends early has
/// found must not.
void Explorer::look_ahead(Node& node) {
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
    if (choice.ahead && !ranks_) {
      choice.known = table_.find_done(choice.state).value_or(nowhere);
    }
  }
}

/// The last state of path_ is done with.
void Explorer::leave_node() {
  course_.pop();
  spare_.push_back(std::move(path_.back()));
  path_.pop_back();
}

void Explorer::show_open() {
  since_open_ = 0;
  table_.set_open(open_share(path_, weight_));
}

/// This process ends; if that is before it has tried everything, nobody else does.
void Explorer::abandon_open() {
  if (!path_.empty()) {
    const bool under_way = path_.back().next != 0; // a choice, which is not done with
    table_.abandon(open_share(path_, weight_) + (under_way ? weight_of_next(path_, weight_) : 0));
  }
  table_.set_open(0);
}

/// Tries everything from the first state of path_ on. True: the host goes on in this process;
/// false: all is done.
bool Explorer::search() {
  while (!path_.empty()) {
    if ((table_.saw(Fact::SumsClash) && !stepper_.sums_clash()) || table_.saw(Fact::Refuted) ||
        table_.saw(Fact::HostClash) || table_.saw(Fact::GaveUp) || table_.saw(Fact::Unrepeatable) ||
        (options_.starts_at_once && table_.saw(Fact::Circle)) ||
        (ranks_ && table_.saw(Fact::OutOfStates))) { // of all ranks together
      finish();                                      // another process has found out
    }
    if (course_.may_stop() && !table_.saw(Fact::SumsClash)) { // else it ends soon, and is void
      course_.stop_if_due(table_.state_count());
    }
    if (!path_.back().looked_ahead) {
      look_ahead(path_.back());
    }
    share_work();
    if (since_open_++ % between_shows == 0) {
      show_open();
    }
    Node& node = path_.back();
    if (node.next == node.choices.size()) {
      if (path_.size() == 1 && take_work()) {
        continue;
      }
      leave_node();
      if (!path_.empty()) {
        stepper_.undo_to(path_.back().mark);
      }
      continue;
    }
    Choice& choice = node.choices[node.next++]; // stays where it is, unlike the node
    --queue_;
    node.taken = choice.number;
    const Arrival arrival{
        .host = false,
        .open = node.open,
        .alike = node.alike > last_ones(stepper_) ? node.alike - 1 : 0
    };
    if (choice.kind == Choice::Kind::Thread) {
      if (!choice.ahead || choice.again.epoch != stepper_.epoch()) {
        choice.ahead = false; // meanwhile another state may have shown what is right now
        look_ahead(node, choice);
      }
      if (!course_.repeats() && leads_to_known(node, choice)) {
        continue;
      }
      go(node, choice);
      if (!(last_label_ != 0 ? enter_again(node, choice, arrival) : enter(arrival))) {
        stepper_.undo_to(path_.back().mark);
      }
      continue;
    }
    // A crash ends all processes that this one waits for.
    const bool last = helpers_.empty() && std::ranges::all_of(path_, [](const Node& n) {
                        return n.next == n.choices.size();
                      });
    if (!last && !fork_for(node)) {
      continue;
    }
    // Nobody goes back from here.
    leave_family();
    weight_ = weight_of_next(path_, weight_);
    course_.add_to_base(path_.size());
    note_way();
    if (go(node, choice)) {
      return true;
    }
    path_.clear();
    if (!enter(arrival)) {
      return false;
    }
  }
  return false;
}

} // namespace heddle::explore
