// What the search writes down: states, moves, failures, and how actors and places are called.
#include "explore/judge/judged_move.h"
#include "explore/search/explorer_impl.h"
#include "explore/verdict/source_places.h"
#include "explore/witness/schedule.h"
#include "machine/fault_diagnostic.h"
#include "report/diagnostic_lines.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

namespace heddle::explore {

namespace {

bool inside_call(const HostPoint& point) {
  using Kind = HostPoint::Kind;
  return point.kind == Kind::ApiCall || point.kind == Kind::Return || point.kind == Kind::Wait ||
         point.kind == Kind::MayWait || point.kind == Kind::Query;
}

/// Does it synchronise, or may it? Then it need not return promptly.
bool may_synchronise(const HostPoint& point) {
  return point.kind == HostPoint::Kind::Wait || point.kind == HostPoint::Kind::MayWait;
}

} // namespace

/// Is a thread that stands there, and could go on, owed that by [HOST]? Else [API] has its say.
bool Explorer::owed_by_host_rule(const HostPoint& point) const {
  const bool waits = inside_call(point) && !(options_.prompt_api && !may_synchronise(point));
  return !waits && options_.host_progress;
}

/// Is the device thread that could make the move owed it? Nobody is if the host is not.
Rule Explorer::owed_by_rule(const Stepper::Move& move) const {
  return options_.host_progress ? rule_of(move.guarantee) : Rule::None;
}

/// Who is owed something in the state; device threads only if asked for. `could_return`: host
/// threads inside a call that they could leave.
void Explorer::demands_of(
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
    const bool could_go_on = ways_[t] != 0;
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

/// `moves_follow`: all moves of device threads become edges, which say who is owed one.
void Explorer::describe(const Node& node, bool moves_follow) {
  std::uint64_t could_return = 0;
  demands_of(node, !moves_follow, demands_, could_return);
  std::string waits; // sites, separated by blanks; only where nothing else is going on
  for (unsigned t = 1; t < threads_.count() && node.moves.empty(); ++t) {
    if (threads_.state(t) == HostThreads::State::Live && ways_[t] == 0) {
      waits += fmt::format("{} ", site(threads_.point(t)));
    }
  }
  if (node.moves.empty()) {
    for (const Stepper::Wait& wait : stepper_.waits()) {
      waits += fmt::format("{} ", site(wait));
    }
  }
  for (const machine::CommandPtr& wait : stepper_.works().value_waits()) { // they may go on in none
    waits += fmt::format("{} ", site(*wait));
  }
  if (options_.lockstep) { // in every state: who it is about is who is left behind in a whole loop
    for (const Stepper::LeftBehind& left : stepper_.left_behind()) {
      waits += fmt::format("{} ", site(left));
    }
  }
  const bool main_live = threads_.state(0) == HostThreads::State::Live;
  table_.describe(
      node.state,
      {.demands = demands_,
       .host_site = main_live ? site(threads_.point(0)) : 0,
       .waits = waits.empty() ? 0 : table_.intern(std::string_view(waits)),
       .could_return = could_return,
       .moves_follow = moves_follow},
      // What is owed in it is all there is to know of a state on a single way.
      sampling_ ? 0 : static_cast<std::uint32_t>(node.choices.size())
  );
}

Edge Explorer::edge_for(const Node& node, const Choice& choice) {
  Edge edge{.from = node.state};
  edge.choice = choice.number;
  if (choice.kind == Choice::Kind::Host) {
    const HostPoint& point = threads_.point(choice.host);
    edge.actor = host_actor(choice.host);
    edge.who = choice.host;
    edge.step = Step::Host;
    edge.site = site(point);
    edge.not_ready = point.kind == HostPoint::Kind::Query && choice.way != 0;
    edge.failed = point.may_fail && choice.way != 0;
    edge.tried = point.may_fail && choice.way == 0;
    // [QUERY] obliges device threads that could move; and completed work is not "not ready"
    // forever.
    const bool complete = (node.open >> choice.host & 1) != 0;
    edge.query_obliged =
        edge.not_ready && !options_.other_processes && (complete || some_is_due(node.moves));
  } else {
    const Stepper::Move& move = node.moves[choice.move];
    const MoveNames& names = names_of(move);
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

void Explorer::note_failure() {
  const Stepper::Failure& failure = *stepper_.failure();
  const machine::FaultReport& report = failure.report;
  const StateId from = last_ ? last_->from : 0;
  const Site place{report.source.file, report.source.line, report.source.column, ""};
  if (!failure.incomplete.empty()) {
    table_.add_event(EventKind::LeftOut, from, 0, failure.incomplete);
    return;
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
    const std::string text = report::to_lines(failure.race ? *failure.race : diagnose(report));
    table_.add_event(EventKind::Fault, from, table_.intern(place), text);
  }
  end_here();
}

/// The last move has ended the execution.
void Explorer::end_here(std::optional<std::uint8_t> unexpected) {
  if (course_.repeats()) {
    unrepeatable();
  }
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

/// The program, or we ourselves, end this process without exit handlers.
void Explorer::host_ends_at_once(int status) {
  if (!threads_.inside() && !over_) {
    host_ended(status);
  }
}

void Explorer::host_ended(std::optional<int> status) {
  over_ = true;
  std::optional<std::uint8_t> unexpected; // [EXIT]
  if (status) {
    const auto seen = static_cast<std::uint8_t>(*status); // as whoever waits for the process does
    if (seen == options_.expect_exit) {
      table_.note(Fact::EndsAsExpected);
    } else {
      unexpected = seen;
    }
  }
  if (unrecorded()) {
    if (unexpected) {
      note_in_sample(fmt::format("exit status {}", *unexpected));
    }
    end_sample(unexpected ? SampleEnd::Event : SampleEnd::Ended);
  }
  {
    const Course::Change change(course_);
    end_here(unexpected);
    course_.done();
  }
  finish();
}

void Explorer::stop_unsupported(std::string_view what) {
  if (unrecorded()) {
    note_in_sample(what);
    end_sample(SampleEnd::Event);
  }
  const HostPoint point{.kind = HostPoint::Kind::Access, .position = host_.capture()};
  table_.add_event(EventKind::Unsupported, last_ ? last_->from : 0, site(point), what);
  host_ended(std::nullopt);
}

void Explorer::found(const report::Diagnostic& diagnostic) {
  if (unrecorded()) {
    note_in_sample(diagnostic.message);
    return;
  }
  if (course_.repeats()) {
    return; // it is known
  }
  const HostPoint point{.kind = HostPoint::Kind::Access, .position = host_.capture()};
  const StateId from = last_ ? last_->from : 0;
  table_.add_event(EventKind::Fault, from, site(point), report::to_lines(diagnostic));
}

// --- Names ---------------------------------------------------------------------------------------

// The table numbers actors in the order in which they come up, and reports name them in that order.
// So schedules that are not recorded, several of which are under way at the same time, bring up
// none.

ActorId Explorer::host_actor(unsigned thread) {
  if (unrecorded()) {
    return 0;
  }
  const auto known = host_actors_.find(thread);
  if (known != host_actors_.end()) {
    return known->second;
  }
  const std::string& name = threads_.name(thread);
  return host_actors_[thread] = table_.add_actor({ActorKind::Host, name, "", ""});
}

const Explorer::MoveNames& Explorer::names_of(const Stepper::Move& move) {
  const auto who = stepper_.names().id(move); // with the command: numbers of works are used again
  const std::uint64_t mixed = (who.first * 0x9e37'79b9'7f4a'7c15ULL ^ who.second ^
                               reinterpret_cast<std::uintptr_t>(move.op) >> 3) *
                              0x9e37'79b9'7f4a'7c15ULL;
  MoveNames& names = last_names_[(mixed >> 32) % last_names_.size()];
  if (names.what == nullptr || names.who != who || names.op != move.op || names.what != move.what ||
      names.first != move.first) {
    names = {who, move.op, move.what, move.first, actor(move), site(move)};
  }
  return names;
}

ActorId Explorer::actor(const Stepper::Move& move) {
  if (unrecorded()) {
    return 0;
  }
  const auto key = stepper_.names().id(move);
  const auto known = actors_.find(key);
  if (known != actors_.end()) {
    return known->second;
  }
  const std::string kernel = stepper_.names().kernel(move);
  const Actor actor =
      move.thread
          ? Actor{ActorKind::DeviceThread,
                  fmt::format("{} of {}", stepper_.names().actor(move), kernel),
                  stepper_.names().cluster(move), kernel}
          : Actor{stepper_.works().host_function(move) != nullptr ? ActorKind::HostFunction
                                                          : ActorKind::Command,
                  kernel, kernel, kernel};
  return actors_[key] = table_.add_actor(actor);
}

std::uint32_t Explorer::site(const HostPoint& point) {
  HostSite& last = last_host_site_;
  if (last.what != point.what || last.kind != point.kind ||
      last.return_addresses != point.position.return_addresses) {
    last = {point.kind, point.what, point.position.return_addresses, find_site(point)};
  }
  return last.site;
}

std::uint32_t Explorer::find_site(const HostPoint& point) {
  const bool call = inside_call(point);
  const auto key = std::pair(
      point.position.return_addresses,
      call ? fmt::format("inside {}", point.what) : std::string(point.what)
  );
  const auto known = host_sites_.find(key);
  if (known != host_sites_.end()) {
    return known->second;
  }
  return host_sites_[key] = table_.intern(Site{addresses(point.position), 0, 0, key.second});
}

/// Which source line that is, the tool finds out when it is asked (source_places.h).
std::string Explorer::addresses(const HostPosition& position) const {
  std::string text = "@";
  for (const std::uintptr_t a : position.return_addresses) {
    if (const std::uintptr_t link = host_.link_address(a); link != 0) {
      text += fmt::format("{}{:x}", text.size() == 1 ? "" : ",", link - 1);
    }
  }
  return text;
}

std::uint32_t Explorer::site(const machine::Command& value_wait) {
  const auto call = value_wait_calls_.find(value_wait.id);
  return table_.intern(
      Site{
          call != value_wait_calls_.end() ? call->second : "",
          0,
          0,
          fmt::format(
              "{} in {} waits {}",
              value_wait.label,
              value_wait.stream,
              value_wait.value->describe()
          )
      }
  );
}

/// Where the host launched it; empty: unknown, or a kernel did.
std::string Explorer::launch_of(std::uint64_t command) const {
  const auto known = launches_.find(command);
  return known != launches_.end() ? known->second : "";
}

std::uint32_t Explorer::site(const Stepper::Move& move) {
  const auto key = std::tuple<const void*, const char*, std::uint32_t, std::uint64_t>(
      move.op,
      move.what,
      move.first,
      move.command
  );
  const auto known = device_sites_.find(key);
  if (known != device_sites_.end()) {
    return known->second;
  }
  const std::string what =
      move.first == 0 ? move.what : fmt::format("{}, {:#010x} first", move.what, move.first);
  const Site site = move.op != nullptr
                        ? place_of(*move.code, *move.op, what, launch_of(move.command))
                        : Site{"", 0, 0, what};
  return device_sites_[key] = table_.intern(site);
}

std::uint32_t Explorer::site(const Stepper::Wait& wait) {
  const std::string others = wait.threads == 1 ? "" : fmt::format(" and {} more", wait.threads - 1);
  return table_.intern(place_of(
      *wait.code,
      *wait.op,
      fmt::format(
          "{} of {}{} {}",
          stepper_.names().thread(wait.first),
          stepper_.names().kernel(wait.first),
          others,
          wait.what
      ),
      launch_of(wait.first.command)
  ));
}

std::uint32_t Explorer::site(const Stepper::LeftBehind& left) {
  const machine::WarpRules::Behind& b = left.behind;
  const auto [command, thread] = stepper_.names().id(left.first);
  const std::vector<std::uint64_t> key{
      command,
      thread,
      b.lanes,
      b.others,
      std::uint64_t{b.meets},
      reinterpret_cast<std::uintptr_t>(b.op),
      reinterpret_cast<std::uintptr_t>(b.branch)
  };
  const auto [known, is_new] = left_sites_.try_emplace(key, 0);
  if (is_new) {
    const int others = std::popcount(b.lanes) - 1;
    known->second = table_.intern(place_of(
        *b.code,
        *b.op,
        fmt::format(
            "{} of {}{} {}",
            stepper_.names().thread(left.first),
            stepper_.names().kernel(left.first),
            others == 0 ? "" : fmt::format(" and {} more", others),
            machine::describe(b)
        )
    ));
  }
  return known->second;
}

namespace {

/// "cub/agent/agent_scan.cuh:123": as one writes it in an #include.
std::string as_included(const machine::SourcePlace& place) {
  constexpr std::string_view folder = "/include/";
  const std::size_t at = place.file.rfind(folder);
  return fmt::format(
      "{}:{}",
      at == std::string::npos ? place.file : place.file.substr(at + folder.size()),
      place.line
  );
}

} // namespace

/// A fault in the code of a library is the user's where he has launched it.
report::Diagnostic Explorer::diagnose(const machine::FaultReport& report) const {
  report::Diagnostic d = machine::diagnose(report);
  const auto launch = last_launches_.find(report.kernel);
  if (d.place.known() && is_system_file(d.place.file) && launch != last_launches_.end()) {
    d.place = {};
    d.place.file = launch->second;
    d.labels.insert(d.labels.begin(), {d.place, "the kernel of a library is launched here"});
  } else if (launch != last_launches_.end() && launch->second.size() > 1) {
    d.labels.push_back({{launch->second, 0, 0}, "launched from here"});
  }
  return d;
}

/// `launch`: addresses() of the call that launched it. For code of a library that is the place, and
/// the library's own place stands behind what is done there.
Site Explorer::place_of(
    const isa::Code& code,
    const isa::Op& op,
    std::string what,
    const std::string& launch
) const {
  machine::FaultReport place;
  machine::describe_instruction(code, op, place);
  const machine::Waiting seen = machine::as_user_sees(place);
  const machine::SourcePlace& own = seen.place;
  Site site;
  if (own.line != 0 && is_system_file(own.file) && launch.size() > 1) {
    site.file = launch;
    site.what = fmt::format("{}, in {}", what, as_included(own));
    return site;
  }
  site.file = own.file;
  site.line = own.line;
  site.column = own.column;
  site.what = std::move(what);
  const auto add_call = [&](const machine::SourcePlace& call, const char* how) {
    if (call.line != 0) {
      site.calls.push_back({call.file, call.line, call.column, how});
    }
  };
  add_call(seen.library, "in a library, called here");
  for (const machine::SourcePlace& call : seen.inlined_at) {
    add_call(call, "inlined from here");
  }
  if (launch.size() > 1) {
    site.calls.push_back({launch, 0, 0, "launched from here"});
  }
  return site;
}

} // namespace heddle::explore
