// Implements record.h.
#include "explore/search/record.h"

#include "explore/judge/judged_move.h"
#include "explore/verdict/unusual_moves.h"
#include "explore/witness/schedule.h"
#include "explore/witness/trace.h"
#include "machine/hang_report.h"
#include "report/diagnostic_lines.h"

#include <fmt/format.h>

#include <array>

namespace heddle::explore {

namespace {

/// Does it synchronise, or may it? Then it need not return promptly.
bool may_synchronise(const HostPoint& point) {
  return point.kind == HostPoint::Kind::Wait || point.kind == HostPoint::Kind::MayWait;
}

} // namespace

Record::Record(
    Ground& ground,
    System& system,
    Launches& launches,
    ReportNames& names,
    Course& course
)
    : table_(ground.table),
      options_(ground.options),
      stepper_(ground.stepper),
      space_(ground.world.space()),
      threads_(ground.threads),
      purpose_(ground.purpose),
      system_(system),
      launches_(launches),
      names_(names),
      course_(course) {}

bool Record::owed_by_host_rule(const HostPoint& point) const {
  const bool waits = inside_call(point) && !(options_.prompt_api && !may_synchronise(point));
  return !waits && options_.host_progress;
}

/// Is the device thread that could make the move owed it? Nobody is if the host is not.
Rule Record::owed_by_rule(const Stepper::Move& move) const {
  return options_.host_progress ? rule_of(move.guarantee) : Rule::None;
}

void Record::demands_of(
    const Node& node,
    bool of_device,
    std::vector<Demand>& demands,
    std::uint64_t& could_return
) const {
  demands.clear();
  const auto owe = [&](Rule rule, ThreadClass who) {
    if (demands.empty() || demands.back() != Demand{rule, who}) {
      demands.push_back({rule, who});
    }
  };
  for (std::size_t m = 0; of_device && m < node.moves.size(); ++m) {
    if (const Rule rule = owed_by_rule(node.moves[m]); rule != Rule::None) {
      owe(rule, node.moves[m].who);
    }
  }
  for (unsigned t = 0; t < threads_.count(); ++t) {
    if (threads_.state(t) != HostThreads::State::Live) {
      continue;
    }
    const HostPoint& point = threads_.point(t);
    const bool could_go_on = system_.owed_ways(t) != 0;
    if (inside_call(point) && could_go_on) {
      could_return |= std::uint64_t{1} << t;
    }
    if (inside_call(point) && !(options_.prompt_api && !may_synchronise(point))) {
      // [API]: it could return, or device work could go on.
      if ((could_go_on || some_is_due(node.moves)) && !options_.other_processes) {
        owe(Rule::Api, t);
      }
    } else if (could_go_on && owed_by_host_rule(point)) {
      owe(Rule::Host, t);
    }
  }
}

void Record::describe(const Node& node, bool moves_follow) {
  std::uint64_t could_return = 0;
  demands_of(node, !moves_follow, demands_, could_return);
  std::string waits; // sites, separated by blanks; only where nothing else is going on
  for (unsigned t = 1; t < threads_.count() && node.moves.empty(); ++t) {
    if (threads_.state(t) == HostThreads::State::Live && system_.owed_ways(t) == 0) {
      waits += fmt::format("{} ", names_.site(threads_.point(t)));
    }
  }
  if (node.moves.empty()) {
    for (const Stepper::Wait& wait : stepper_.report().waits()) {
      waits += fmt::format("{} ", names_.site(wait));
    }
  }
  for (const machine::CommandPtr& wait : stepper_.works().value_waits()) { // they may go on in none
    waits += fmt::format("{} ", names_.site(*wait));
  }
  waits += queued();       // if it is there in all states of a hang
  if (options_.lockstep) { // in every state: who it is about is who is left behind in a whole loop
    for (const Stepper::LeftBehind& left : stepper_.report().left_behind()) {
      waits += fmt::format("{} ", names_.site(left));
    }
  }
  const bool main_live = threads_.state(0) == HostThreads::State::Live;
  table_.describe(
      node.state,
      {.demands = demands_,
       .host_site = main_live ? names_.site(threads_.point(0)) : 0,
       .waits = waits.empty() ? 0 : table_.intern(std::string_view(waits)),
       .could_return = could_return,
       .moves_follow = moves_follow},
      // What is owed in it is all there is to know of a state on a single way.
      purpose_.kind == Purpose::Kind::Samples ? 0 : static_cast<std::uint32_t>(node.choices.size())
  );
}

std::string Record::queued() const {
  std::string sites;
  std::size_t told = 0;
  for (const auto& work : stepper_.works()) {
    const machine::Command& command = *work->command;
    if (work->done || work->ready || !machine::could_end_a_wait(command, space_)) {
      continue;
    }
    const machine::CommandPtr kernel = machine::kernel_before(command);
    if (kernel == nullptr) {
      continue;
    }
    if (++told > machine::most_queued) {
      break;
    }
    const Site
        site{launches_.launch_of(command.id), 0, 0, machine::describe_queued(command, *kernel)};
    sites += fmt::format("{} ", table_.intern(site));
  }
  return sites;
}

Edge Record::edge_for(const Node& node, const Choice& choice) {
  Edge edge{.from = node.state};
  edge.choice = choice.number;
  if (choice.kind == Choice::Kind::Host) {
    const HostPoint& point = threads_.point(choice.host);
    edge.actor = names_.host_actor(choice.host);
    edge.who = choice.host;
    edge.step = Step::Host;
    edge.site = names_.site(point);
    edge.not_ready = point.kind == HostPoint::Kind::Query && choice.way != 0;
    edge.unprovoked = system_.unprovoked_by(choice);
    if (edge.unprovoked == Unprovoked::WakeUp) {
      HostPoint returns = point;
      returns.what = returns_unnotified;
      edge.site = names_.site(returns);
    }
    edge.tried = point.may_fail && choice.way == 0;
    // [QUERY] obliges device threads that could move; and completed work is not "not ready"
    // forever.
    const bool complete = (node.open >> choice.host & 1) != 0;
    edge.query_obliged =
        edge.not_ready && !options_.other_processes && (complete || some_is_due(node.moves));
  } else {
    const Stepper::Move& move = node.moves[choice.move];
    const NamesOfMove& names = names_.of(move);
    edge.actor = names.actor;
    edge.who = move.who;
    edge.count = static_cast<std::uint32_t>(move.count);
    edge.owed = owed_by_rule(move);
    edge.site = names.site;
    edge.soon = move.time == Stepper::Time::Soon;
    edge.late = move.time == Stepper::Time::Late;
    edge.stale = move.stale;
    edge.fresh = move.fresh;
  }
  return edge;
}

std::uint32_t Record::intern(std::span<const Stepper::Change> changes) {
  if (changes.empty()) {
    return 0;
  }
  changes_.clear();
  for (const Stepper::Change& change : changes) {
    changes_.push_back({change.from, change.to});
  }
  return table_.intern(std::span<const ClassChange>(changes_));
}

/// The same as long as the same thread makes the same move and as many others could.
std::uint32_t Record::label_of(const Node& node, const Choice& choice) {
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

void Record::begin(const Edge& edge, std::uint32_t claimer, std::uint32_t label) {
  last_ = edge;
  last_label_ = label;
  last_claimer_ = claimer;
}

void Record::made() {
  last_->step = step_of(stepper_.taken());
  if (!purpose_.unrecorded) {
    last_->changes = intern(stepper_.changes());
  }
}

void Record::forget_last() {
  last_.reset();
  last_label_ = 0;
}

void Record::arrived_in(StateId state, std::uint32_t check) {
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

void Record::leads_to(const Node& node, const Choice& choice, StateId state) {
  table_.add_edge(
      ShortEdge{
          node.state,
          state,
          label_of(node, choice),
          pack_choice(choice.number, choice.check)
      },
      node.claimer
  );
}

bool Record::note_failure() {
  const Stepper::Failure& failure = *stepper_.failure();
  const machine::FaultReport& report = failure.report;
  const StateId from = this->from();
  const Site place{report.source.file, report.source.line, report.source.column, ""};
  if (!failure.incomplete.empty()) {
    table_.add_event(EventKind::LeftOut, from, 0, failure.incomplete);
    return false;
  }
  if (report.kind == machine::FaultReport::Kind::Unsupported) {
    table_.add_event(
        EventKind::Unsupported,
        from,
        table_.intern(place),
        report.kernel.empty() ? report.fault.text
                              : fmt::format("{} in kernel '{}'", report.fault.text, report.kernel)
    );
  } else {
    const std::string text =
        report::to_lines(failure.race ? *failure.race : launches_.diagnose(report));
    table_.add_event(EventKind::Fault, from, table_.intern(place), text);
  }
  return true;
}

void Record::end(std::optional<std::uint8_t> unexpected) {
  const auto end = table_.end_state(unexpected);
  if (end && last_) {
    last_->to = *end;
    last_->choice = pack_choice(last_->choice, unchecked);
    table_.add_edge(
        ShortEdge{last_->from, last_->to, table_.label(*last_), last_->choice},
        last_claimer_
    );
  }
  if (end) {
    reached(*end);
  }
}

void Record::reached(StateId state) {
  if (purpose_.trace >= 0) {
    append_row(purpose_.trace, {.from = state});
  }
}

} // namespace heddle::explore
