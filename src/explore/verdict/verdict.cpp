// Classification and wording of endless executions.
#include "explore/verdict/verdict.h"

#include "explore/judge/component_threads.h"
#include "explore/judge/wake_mutant.h"
#include "explore/process/phase_time.h"
#include "explore/verdict/event_way.h"
#include "explore/verdict/held_locks.h"
#include "explore/verdict/help.h"
#include "explore/verdict/unexpected_end.h"
#include "explore/verdict/unusual_moves.h"
#include "explore/verdict/verdict_text.h"
#include "machine/hang_report.h"
#include "report/diagnostic_lines.h"
#include "report/names.h"
#include "report/render.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>
#include <future>
#include <map>
#include <optional>
#include <set>
#include <sstream>
#include <tuple>
#include <utility>

namespace heddle::explore {

namespace {

using report::Diagnostic;
using report::Finding;

/// [SIMT-LIVENESS], in the words of the paper's argument.
constexpr const char* paper =
    "a lockstep warp runs one side of a branch alone until it reaches the reconvergence point; a "
    "lane that waits there, or on the other side, gets no turn before that, so a lane that waits "
    "for it waits forever (Habermaier 2011: safe, but not live)";
constexpr const char* never = "no order of sides, lanes and warps lets the program end";

/// An endless execution in the terms of a report.
struct Hang {
  Finding finding{};
  std::string rule;
  std::vector<Part> moving;  // who moves forever, by actor
  std::vector<Part> waiting; // who could move but need never
  bool host_blocked = false; // the host is in the component, but does not move in it
  std::uint32_t host_site = 0;
  std::vector<std::uint32_t> blocked; // sites of who waits at barriers, or is left behind
  std::vector<Site> queued;           // of what begins after a kernel that is in it
  bool left_behind = false;           // in all of it the same lanes of a warp have no turn
  bool needs_wake_up = false;         // a wait returns without a reason on the way to it
  const Component* component = nullptr;
};

/// What is queued behind a kernel: where it was launched, or in words.
template <typename Label>
void add_queued(Diagnostic& diagnostic, const std::vector<Site>& queued, const Label& label) {
  for (const Site& site : queued) {
    if (site.line != 0) {
      label(site, site.what);
    } else {
      diagnostic.notes.push_back(site.what);
    }
  }
}

class Judge {
public:
  Judge(const StateTable& table, const ResolveSite& resolve, const JudgeOptions& options)
      : table_(table),
        resolve_(resolve),
        options_(options),
        team_(options.threads),
        graph_(load()),
        out_(edges_by_state()) {
    leave_out_unreached(graph_, out_);
  }

  Judgement run() {
    report::Report report;
    report.states = graph_.states.size();
    PhaseTime counting("counts");
    report.executions = executions();
    report.seconds = options_.seconds;
    report.bounds = bounds(table_, ptx_memory(), kernels());
    report.assumes_no_races = assumes_no_races(table_, ptx_memory());
    const bool cut_short = add_events(report);
    counting.end();
    if (table_.saw(Fact::Void)) {
      report.findings.clear();
      report.claims.leave_out(
          {.coverage = report::Coverage::Cut,
           .what = "the search took for granted what does not hold"}
      );
      Judgement nothing;
      nothing.report = std::move(report);
      return nothing;
    }
    // Nobody else need wait for it.
    std::future<std::string> an_end =
        std::async(team_.members() > 1 ? std::launch::async : std::launch::deferred, [this] {
          std::string end = replay_of_end();
          if (options_.end_found && team_.members() > 1 && !end.empty() &&
              graph_.states.size() >= large) {
            options_.end_found(end);
          }
          return end;
        });
    PhaseTime finding("endless executions");
    const Analysis analysis = find_endless(graph_, out_, team_);
    finding.end();
    PhaseTime telling("findings");
    complete_ = options_.finished && !cut_short &&
                std::all_of(graph_.states.begin(), graph_.states.end(), [](const State& s) {
                  return s.expanded || s.terminal;
                });
    if (complete_) {
      report.claims.exhaustive();
    }
    complete_ = complete_ && !met_a_limit_;
    add_left_out(table_, options_.schedule ? &options_.schedule->options : nullptr, report.claims);
    for (const Hang& hang : distinct(analysis.endless)) {
      Diagnostic diagnostic = describe(hang);
      diagnostic.searched = searched(report);
      show(hang.component->states);
      if (options_.schedule) {
        const Witness witness = find_witness(graph_, out_, *hang.component);
        explain(diagnostic, witness.edges);
        diagnostic.replay = replay_of(witness, graph_, table_, *options_.schedule);
      }
      report.findings.push_back(std::move(diagnostic));
    }
    add_ends(report);
    if (kernels().empty() && report.findings.empty()) {
      report.warnings.emplace_back(no_kernel_ran(complete_));
    }
    telling.end();
    if (report.verdict() == report::Verdict::Terminates) {
      const PhaseTime time("rules that matter");
      report.rests_on = reasons(analysis);
    }
    PhaseTime ending("an end to repeat");
    const bool none = std::ranges::all_of(report.findings, [](const Diagnostic& finding) {
      return finding.replay.empty();
    });
    std::string ends = none ? an_end.get() : "";
    ending.end();
    std::ranges::sort(shown_);
    shown_.erase(std::ranges::unique(shown_).begin(), shown_.end());
    return {
        .report = std::move(report),
        .shown = std::move(shown_),
        .complete = complete_,
        .straight = analysis.circles.empty(),
        .ends = std::move(ends),
        .other_ends = none && options_.end_found ? other_ends() : std::vector<std::string>()
    };
  }

private:
  // States: judging so many takes longer than to repeat an execution.
  static constexpr std::size_t large = 50'000;

  ProgressGraph load() {
    const PhaseTime time("graph");
    return table_.load(options_.numbering, team_);
  }
  OutEdges edges_by_state() {
    const PhaseTime time("edges by state");
    return {graph_, team_};
  }
  /// Says what is unusual on the way to it.
  void explain(Diagnostic& diagnostic, std::span<const EdgeId> way) const {
    explain_unusual_moves(diagnostic, graph_, way, resolved());
  }
  void add_ends(report::Report& report) {
    const bool others = !report.findings.empty() || !complete_;
    for (UnexpectedEnd& end : unexpected_ends(table_, graph_, out_, resolve_, options_, others)) {
      end.finding.searched = searched(report);
      explain(end.finding, end.way.edges);
      if (options_.schedule) {
        end.finding.replay = replay_of(end.way, graph_, table_, *options_.schedule);
      }
      show({end.state});
      report.findings.push_back(std::move(end.finding));
    }
  }

  /// A finding speaks of these states.
  void show(const std::vector<StateId>& states) {
    if (graph_.states.empty()) {
      return; // something went wrong before there was one
    }
    shown_.insert(shown_.end(), states.begin(), states.end());
    for (const EdgeId e : shortest_way(graph_, out_, states)) {
      shown_.push_back(graph_.edges[e].from);
      shown_.push_back(graph_.edges[e].to);
    }
  }

  /// Ways through the graph that end somewhere, or in a state that another one has come to before.
  std::uint64_t executions() const {
    std::uint64_t ends = 0;
    for (StateId s = 0; s < graph_.states.size(); ++s) {
      ends += out_.of(s).empty() ? 1 : 0;
    }
    return graph_.states.empty() ? 0 : graph_.edges.size() + 1 - graph_.states.size() + ends;
  }

  // --- Everything but hangs ----------------------------------------------------------------------
  /// Adds findings for what ended executions early; true if something was left unexplored.
  bool add_events(report::Report& report) {
    bool cut_short = false;
    std::set<std::pair<std::uint32_t, std::uint32_t>> seen;
    std::map<std::size_t, EventWay> ways; // to findings, by their numbers
    for (const Event& event : table_.events(options_.numbering)) {
      if (event.kind == EventKind::Asked || event.kind == EventKind::Input) {
        continue;
      }
      const bool is_bound = event.kind == EventKind::LeftOut || event.kind == EventKind::Unchosen;
      cut_short = cut_short || (event.kind != EventKind::Fault && !is_bound);
      met_a_limit_ = met_a_limit_ || event.kind == EventKind::LeftOut;
      if (event.kind == EventKind::Incomplete || is_bound) {
        const Site where = event.site != 0 ? site(event.site) : Site();
        if (auto left = left_out(event.kind, table_.text(event.text), where)) {
          report.claims.leave_out(std::move(*left));
        }
        continue;
      }
      if (!seen.insert({event.text, event.site}).second) {
        continue;
      }
      const Site site = this->site(event.site);
      Diagnostic diagnostic = diagnostic_of(event);
      resolve_host(diagnostic.place);
      std::erase_if(diagnostic.labels, [this](report::Label& label) {
        const bool host = label.place.file.starts_with('@');
        resolve_host(label.place);
        return host && !label.place.known(); // compiled without -g
      });
      if (!diagnostic.place.known()) {
        diagnostic.place = {site.file, site.line, site.column, 0};
      }
      if (event.kind == EventKind::Crash && site.what == returns_unnotified) {
        if (crashes_notified(table_.events(options_.numbering), event, resolved())) {
          continue;
        }
        explain_wake_up(diagnostic, site);
      }
      if (Diagnostic* known = same_place(report, diagnostic)) {
        // What happens to several threads at one place is one finding.
        std::ranges::copy(diagnostic.threads, std::back_inserter(known->threads));
        continue;
      }
      if (event.kind != EventKind::Unsupported) { // Heddle's own gaps have no replay
        const EventWay& way = ways.emplace(report.findings.size(), way_of(event)).first->second;
        diagnostic.replay = replay_of_event(way);
      }
      show({event.from});
      report.findings.push_back(std::move(diagnostic));
    }
    for (const auto& [finding, way] : ways) { // not before: same_place() compares labels
      explain(report.findings[finding], way.witness.edges);
    }
    for (Diagnostic& diagnostic : report.findings) {
      auto& threads = diagnostic.threads;
      std::set<std::string> known;
      std::erase_if(threads, [&](const std::string& name) { return !known.insert(name).second; });
      if (threads.size() > 1) {
        diagnostic.notes.push_back(
            fmt::format(
                "in other executions it is another thread, one of {} more",
                threads.size() - 1
            )
        );
      }
    }
    return cut_short;
  }

  /// A place of host code that is known by return addresses only.
  void resolve_host(report::Place& place) const {
    if (place.file.starts_with('@')) {
      const Site own = resolve_({place.file, 0, 0, ""});
      place = {own.file, own.line, own.column, 0};
    }
  }

  /// The way to what went wrong.
  EventWay way_of(const Event& event) const {
    const Site place = site(event.site);
    return way_to_event(graph_, out_, event, [&](const Edge& edge) {
      const Site own = site(edge.site);
      return own.file == place.file && own.line == place.line;
    });
  }
  std::string replay_of_event(const EventWay& way) const {
    if (!options_.schedule) {
      return {};
    }
    Schedule schedule = *options_.schedule;
    Witness witness = way.witness;
    if (way.missing) {
      schedule.choices.push_back(*way.missing);
      ++witness.loop_from;
    }
    return replay_of(witness, graph_, table_, std::move(schedule));
  }

  std::string replay_of_end() const {
    return options_.schedule ? replay_of_an_end(graph_, out_, table_, *options_.schedule) : "";
  }
  std::vector<std::string> other_ends() const {
    return options_.schedule ? replays_of_other_ends(graph_, out_, table_, *options_.schedule)
                             : std::vector<std::string>();
  }

  Diagnostic diagnostic_of(const Event& event) const {
    const std::string text(table_.text(event.text));
    switch (event.kind) {
    case EventKind::Fault:
      return report::from_lines(text).at(0);
    case EventKind::Crash:
      return {Finding::HostCrash, text};
    case EventKind::Nondeterminism:
      return {Finding::Nondeterminism, text};
    default:
      return {Finding::Unsupported, text};
    }
  }
  static Diagnostic* same_place(report::Report& report, const Diagnostic& diagnostic) {
    const auto line = [](const report::Place& p) { return std::tie(p.file, p.line); };
    const auto of = [&](const report::Label& label) { return line(label.place); };
    const auto known = std::ranges::find_if(report.findings, [&](const Diagnostic& other) {
      return !diagnostic.threads.empty() && other.finding == diagnostic.finding &&
             other.rule == diagnostic.rule && other.place.known() &&
             line(other.place) == line(diagnostic.place) &&
             other.place.column == diagnostic.place.column &&
             std::ranges::equal(other.labels, diagnostic.labels, {}, of, of);
    });
    return known == report.findings.end() ? nullptr : &*known;
  }

  // --- Hangs
  Hang classify(const Component& component) {
    Hang hang;
    hang.component = &component;
    std::set<ActorId> moving;
    for (const EdgeId e : component.edges) {
      moving.insert(graph_.edges.label(e).actor);
    }
    const auto member = [&](StateId s) { return std::ranges::binary_search(component.states, s); };
    std::map<std::uint32_t, std::size_t> blocked; // in so many states
    std::uint64_t could_return = 0;               // host threads
    for (const StateId s : component.states) {
      const About& about = graph_.about(s);
      hang.host_site = about.host_site;
      could_return |= about.could_return;
      std::istringstream sites{std::string(table_.text(about.waits))};
      for (std::uint32_t site = 0; sites >> site;) {
        ++blocked[site];
      }
    }
    for (const auto& [site, states] : blocked) {
      if (this->site(site).what.find(machine::queued_behind) != std::string::npos) {
        if (states == component.states.size()) {
          hang.queued.push_back(this->site(site));
        }
        continue;
      }
      // With lockstep warps lanes come and go; those matter that never get a turn.
      if (!lockstep() || states == component.states.size()) {
        hang.blocked.push_back(site);
      }
    }
    hang.left_behind =
        lockstep() && std::any_of(hang.blocked.begin(), hang.blocked.end(), [&](std::uint32_t s) {
          return site(s).what.ends_with("[SIMT-LIVENESS]");
        });
    std::vector<EdgeId> leaving;
    for (const StateId s : component.states) {
      for (const EdgeId e : out_.of(s)) {
        if (!member(graph_.edges[e].to)) {
          leaving.push_back(e);
        }
      }
    }
    std::map<ActorId, Part> callers; // whose return was tried where they arrived in the call
    for (const EdgeId e : by_host()) {
      const Edge& edge = graph_.edges[e];
      if ((could_return >> edge.who & 1) != 0 && !moving.contains(edge.actor)) {
        Part& part = callers[edge.actor];
        part.actor = edge.actor;
        part.sites = {edge.who == 0 ? hang.host_site : edge.site};
      }
    }
    std::ranges::sort(leaving);
    std::erase_if(leaving, [&](EdgeId e) {
      const Edge& edge = graph_.edges[e];
      if (edge.unprovoked == Unprovoked::WakeUp) { // nothing has to cause it
        return !wake_mutant_is("leaves");
      }
      return graph_.by_device(edge) ? guaranteed(edge)
                                    : moving.contains(edge.actor) || callers.contains(edge.actor);
    });
    hang.needs_wake_up = needs_wake_up(graph_, shortest_way(graph_, out_, component.states));
    ComponentThreads threads(graph_, component, leaving);
    hang.moving = threads.parts_of(component.edges);
    hang.waiting = threads.parts_of(leaving);
    for (auto& [actor, part] : callers) {
      hang.waiting.push_back(std::move(part));
    }
    const bool host_moves = std::ranges::any_of(moving, [&](ActorId actor) {
      return graph_.actors[actor].kind == ActorKind::Host;
    });
    hang.host_blocked = !host_moves;

    const auto stalls = [&](const Part& part) {
      return graph_.by_device(part.actor) && !part.steps;
    };
    if (std::any_of(hang.moving.begin(), hang.moving.end(), stalls)) {
      hang.finding = Finding::NoProgressLoop;
      hang.rule = "LOOP";
      // Those are what the report is about.
      std::erase_if(hang.moving, [&](const Part& part) { return !stalls(part); });
    } else if (!hang.waiting.empty()) {
      hang.finding = Finding::Starvation;
      hang.rule = permitting_rule(component, hang, host_moves);
    } else if (!hang.moving.empty()) {
      hang.finding = Finding::Livelock;
    } else {
      hang.finding = Finding::Deadlock;
    }
    if (hang.left_behind && hang.waiting.empty() && hang.rule.empty()) {
      hang.rule = "SIMT-LIVENESS";
    }
    return hang;
  }

  /// All moves of host threads.
  const std::vector<EdgeId>& by_host() {
    if (!by_host_) {
      by_host_.emplace();
      for (EdgeId e = 0; e < graph_.edges.size(); ++e) {
        if (graph_.actors[graph_.edges.label(e).actor].kind == ActorKind::Host) {
          by_host_->push_back(e);
        }
      }
    }
    return *by_host_;
  }

  /// Is the actor of a device thread's move owed progress?
  bool guaranteed(const Edge& edge) const {
    if (edge.owed != Rule::None) {
      return true;
    }
    const std::span<const Demand> demands = graph_.owed_in(edge.from);
    return std::ranges::find(demands, edge.who, &Demand::who) != demands.end();
  }

  /// The rule that lets the first waiting actor wait forever.
  std::string permitting_rule(const Component& component, const Hang& hang, bool host_moves) const {
    if (options_.schedule && !options_.schedule->options.host_progress) {
      return "HOST"; // without which nobody is owed anything
    }
    const Actor& left_out = graph_.actors[hang.waiting.front().actor];
    if (left_out.kind == ActorKind::Host) {
      return "API"; // it stays inside a call while some device thread makes progress
    }
    for (const Part& part : hang.moving) {
      const Actor& actor = graph_.actors[part.actor];
      if (actor.kind == ActorKind::DeviceThread && actor.kernel == left_out.kernel) {
        return "CLUSTER";
      }
    }
    // A call of main's would oblige it to begin, but for another one that runs.
    const Site main = site(graph_.about(component.states.front()).host_site);
    if (left_out.kind == ActorKind::HostFunction && main.what.starts_with("inside")) {
      return "HOST-CALL";
    }
    if (!host_moves) {
      return "API"; // which asks for some device thread, any one
    }
    // One query proves nothing, and repeated ones ask for some device thread, any one.
    std::vector<EdgeId> edges = shortest_way(graph_, out_, component.states);
    edges.insert(edges.end(), component.edges.begin(), component.edges.end());
    const bool queries = std::any_of(edges.begin(), edges.end(), [&](EdgeId e) {
      return graph_.edges[e].not_ready;
    });
    return queries ? "QUERY" : "LAUNCH";
  }

  /// Smaller: rather this one is told of several that are one defect. Fewer others could still
  /// move; where as many could, nothing decides that depends on the order of the states.
  static std::tuple<std::uint64_t, bool, Finding, std::string> rank(const Hang& hang) {
    std::uint64_t waiting = 0;
    for (const Part& part : hang.waiting) {
      waiting += part.count;
    }
    return {waiting, hang.needs_wake_up, hang.finding, hang.rule};
  }

  /// Endless executions in which the same threads do the same are one defect.
  std::vector<Hang> distinct(const std::vector<Component>& components) {
    std::vector<Hang> result;
    std::map<std::set<std::string>, std::size_t> index;
    for (const Component& component : components) {
      Hang hang = classify(component);
      // Which of several like threads take part does not matter.
      std::set<std::string> key;
      for (const Part& part : hang.moving) {
        // Which instructions of one line are moves depends on the state.
        std::set<std::string> lines;
        for (const std::uint32_t id : part.sites) {
          const Site at = site(id);
          lines.insert(at.line == 0 ? at.what : fmt::format("{}:{}", at.file, at.line));
        }
        key.insert(fmt::format("{}: {}", graph_.actors[part.actor].kernel, fmt::join(lines, ",")));
      }
      if (hang.moving.empty()) {
        key.insert(fmt::format("{}: {}", hang.host_site, fmt::join(hang.blocked, ",")));
      }
      const auto [known, is_new] = index.try_emplace(key, result.size());
      if (is_new) {
        result.push_back(std::move(hang));
      } else if (rank(hang) < rank(result[known->second])) {
        result[known->second] = std::move(hang);
      }
    }
    return result;
  }

  Diagnostic describe(const Hang& hang) const {
    Diagnostic diagnostic(hang.finding, message(hang));
    diagnostic.rule = hang.rule;
    const auto is_about = [&](const std::string& kernel) {
      const std::string function = report::kernel_in(kernel);
      if (function != kernel &&
          std::ranges::find(diagnostic.functions, function) == diagnostic.functions.end()) {
        diagnostic.functions.push_back(function);
      }
    };
    for (const auto* parts : {&hang.moving, &hang.waiting}) {
      for (const Part& part : *parts) {
        is_about(graph_.actors[part.actor].kernel);
      }
    }
    int number = 0;
    const auto label = [&](const Site& where, const std::string& text) {
      diagnostic.labels.push_back(
          {{where.file, where.line, where.column, 0}, fmt::format("({}) {}", ++number, text)}
      );
      if (!diagnostic.place.known()) {
        diagnostic.place = diagnostic.labels.back().place;
      }
      add_calls(diagnostic, where, number);
    };
    const auto blocked = [&] {
      for (const std::uint32_t at : hang.blocked) {
        label(site(at), site(at).what);
        is_about(site(at).what);
      }
    };
    if (!hang.left_behind) {
      blocked();
    }
    const bool apart = hang.finding == Finding::Livelock && hang.moving.size() <= most_apart;
    for (const auto& [part, several] : alike(graph_, hang.moving, apart)) {
      const std::size_t count = at_once(graph_, *hang.component, part, several);
      label(first_site(part), fmt::format("{}{} {}", name(part), and_more(count), does(part)));
      diagnostic.threads.push_back(name(part));
    }
    if (hang.left_behind) {
      blocked();
    }
    const bool told = std::any_of(hang.waiting.begin(), hang.waiting.end(), [&](const Part& part) {
      return graph_.actors[part.actor].kind == ActorKind::Host;
    });
    if (hang.host_blocked && !told) {
      const Site waits_at = site(hang.host_site);
      const char* const waits = waits_at.what.starts_with("waits") ? "" : "waits ";
      label(waits_at, fmt::format("the host thread {}{}", waits, waits_at.what));
      diagnostic.threads.emplace_back("host thread");
    }
    add_queued(diagnostic, hang.queued, label);
    bool wrote = false;
    for (const auto& [part, count] : alike(graph_, hang.waiting)) {
      const bool has_moved = started(hang, part.actor);
      label(
          first_site(part),
          fmt::format(
              "{}{} {}",
              name(part),
              and_more(count),
              may_wait(graph_.actors[part.actor].kind, first_site(part).what, has_moved)
          )
      );
      diagnostic.threads.push_back(name(part));
      wrote = wrote || (has_moved && graph_.by_device(part.actor));
    }
    if (wrote) {
      diagnostic.notes.emplace_back(
          "atomic writes and fences are not steps: this thread has taken no step [STEP.4]"
      );
    }
    diagnostic.notes.emplace_back(
        "this is a defect in the program; it may well pass on the GPU you have"
    );
    if (hang.rule == "SIMT-LIVENESS") {
      diagnostic.notes.emplace_back(paper);
      if (complete_ && std::ranges::none_of(graph_.states, &State::terminal)) {
        diagnostic.notes.emplace_back(never);
      }
    }
    if (apart) {
      add_held_locks(diagnostic, {graph_, out_, *hang.component, hang.moving}, resolved());
    }
    if (const std::string help = advice(hang); !help.empty()) {
      diagnostic.help.push_back(help);
    }
    const auto has_no_line = [&](const Part& part) {
      return graph_.by_device(part.actor) && first_site(part).line == 0;
    };
    if (std::ranges::any_of(hang.moving, has_no_line) ||
        std::ranges::any_of(hang.waiting, has_no_line)) {
      diagnostic.notes.emplace_back("compile with -lineinfo to see the lines");
    }
    return diagnostic;
  }

  std::string message(const Hang& hang) const {
    const auto who = [&](const Part& part) {
      const Actor& actor = graph_.actors[part.actor];
      return actor.kind == ActorKind::Host ? std::string("the host thread") : actor.kernel;
    };
    if (hang.rule == "SIMT-LIVENESS") {
      return fmt::format(
          "{} may hang: lanes of a warp {} while others of it have no turn",
          hang.moving.empty() ? "the program" : who(hang.moving.front()),
          hang.moving.empty() ? "wait" : "spin"
      );
    }
    switch (hang.finding) {
    case Finding::NoProgressLoop:
      return fmt::format(
          "{} may hang: it loops forever without taking a step",
          who(hang.moving.front())
      );
    case Finding::Livelock:
      return fmt::format(
          "{} may hang: it takes steps forever and never finishes",
          who(hang.moving.front())
      );
    case Finding::Starvation: {
      const Part& left_out = hang.waiting.front();
      const bool host = graph_.actors[left_out.actor].kind == ActorKind::Host;
      if (hang.moving.empty()) {
        return fmt::format("the program may hang: {} never has to advance", who(left_out));
      }
      return fmt::format(
          "{} may hang: it waits for {}, which never has to {}",
          who(hang.moving.front()),
          host                                        ? std::string("the host thread")
          : who(left_out) == who(hang.moving.front()) ? std::string("a block of its own grid")
                                                      : who(left_out),
          host                                        ? "return from its call"
          : started(hang, hang.waiting.front().actor) ? "take its first step"
                                                      : "start"
      );
    }
    default:
      return "the program may hang: every thread is blocked";
    }
  }

  /// Has the actor moved on the way to the hang?
  bool started(const Hang& hang, ActorId actor) const {
    const std::vector<EdgeId> way = shortest_way(graph_, out_, hang.component->states);
    return std::ranges::any_of(way, [&](EdgeId e) { return graph_.edges[e].actor == actor; });
  }

  std::string does(const Part& part) const {
    const std::string what = first_site(part).what;
    return part.steps || graph_.actors[part.actor].kind == ActorKind::Host
               ? fmt::format("spins here: {}", what)
               : fmt::format("runs here forever: {}", what);
  }

  std::string advice(const Hang& hang) const {
    const auto kind_of = [&](const Part& part) { return graph_.actors[part.actor].kind; };
    const bool host_alone =
        !hang.moving.empty() && std::ranges::all_of(hang.moving, [&](const Part& part) {
          return kind_of(part) == ActorKind::Host;
        });
    return help_for(
        {.finding = hang.finding,
         .rule = hang.rule,
         .kernel = hang.moving.empty() ? "" : graph_.actors[hang.moving.front().actor].kernel,
         .host_alone = host_alone,
         .waits_for_host =
             !hang.waiting.empty() && kind_of(hang.waiting.front()) == ActorKind::Host}
    );
  }

  static constexpr std::size_t most_apart = 4; // each has a line of its own
  static std::string and_more(std::size_t count) {
    return count == 1 ? "" : fmt::format(" and {} more", count - 1);
  }
  bool ptx_memory() const { return options_.schedule && options_.schedule->options.ptx_memory; }
  bool lockstep() const { return options_.schedule && options_.schedule->options.lockstep; }
  std::string name(const Part& part) const { return graph_.actors[part.actor].name; }
  Site site(std::uint32_t id) const { return resolve_(table_.site(id)); }
  std::function<Site(std::uint32_t)> resolved() const {
    return [this](std::uint32_t id) { return site(id); };
  }
  /// Of the places of a part the one that a report shows: their numbers are in the search's order.
  Site first_site(const Part& part) const {
    Site first = site(*part.sites.begin());
    for (const std::uint32_t id : part.sites) {
      Site other = site(id);
      if (std::tie(other.file, other.line, other.column, other.what) <
          std::tie(first.file, first.line, first.column, first.what)) {
        first = std::move(other);
      }
    }
    return first;
  }

  // --- Clean results
  /// The rules without which the program could hang, and the steps that brought them into force.
  std::vector<std::string> reasons(const Analysis& analysis) const {
    std::vector<std::string> result;
    std::set<Step> steps;
    for (int r = 0; r < rule_count; ++r) {
      const auto rule = static_cast<Rule>(r);
      if (rule == Rule::Host || !analysis.used(rule) ||
          !has_endless(graph_, out_, analysis, rule, team_)) {
        continue;
      }
      result.emplace_back(rule_id(rule));
      for (const Step step : {Step::End, Step::Io, Step::Volatile, Step::Sync, Step::Host}) {
        if ((rule == Rule::Cluster || rule == Rule::Cooperative) &&
            analysis.used_with(rule, step)) {
          steps.insert(step);
        }
      }
    }
    for (const Step step : steps) {
      result.emplace_back(step_id(step));
    }
    return result;
  }

  /// Those of which a thread has moved.
  std::set<std::string> kernels() const {
    std::set<std::string> result;
    for (const Actor& actor : graph_.actors) {
      if (actor.kind == ActorKind::DeviceThread) {
        result.insert(actor.kernel);
      }
    }
    return result;
  }

  const StateTable& table_;
  const ResolveSite& resolve_;
  JudgeOptions options_;
  mutable Team team_; // threads that work; no part of the judgement
  ProgressGraph graph_;
  OutEdges out_;
  std::optional<std::vector<EdgeId>> by_host_;
  bool met_a_limit_ = false; // of the model
  bool complete_ = false;    // no limit was reached
  std::vector<StateId> shown_;
};

} // namespace

Judgement judge(const StateTable& table, const ResolveSite& resolve, const JudgeOptions& options) {
  return Judge(table, resolve, options).run();
}

} // namespace heddle::explore
