// Implements session.h.
#include "explore/session.h"

#include "explore/accesses.h"
#include "explore/checkpoint.h"
#include "explore/early_crash.h"
#include "explore/explored_process.h"
#include "explore/explorer.h"
#include "explore/interruption.h"
#include "explore/phase_time.h"
#include "explore/plan.h"
#include "explore/repetition.h"
#include "explore/sample_sheet.h"
#include "explore/sampler.h"
#include "explore/source_places.h"
#include "explore/state_table.h"
#include "explore/trace.h"
#include "explore/verdict.h"
#include "explore/verdict_text.h"
#include "report/render.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <map>
#include <optional>
#include <tuple>

namespace heddle::explore {

std::vector<std::string> instrumentation_flags(const std::string& library_folder) {
  return {
      "-Xcompiler",
      "-fsanitize=thread,-g,--param=tsan-distinguish-volatile=1",
      // GCC's libtsan knows no volatile accesses; ours does, and is found first.
      "-L" + library_folder
  };
}

namespace {

// Of the time limit, if single schedules follow: a search that needs more is not likely to end
// soon.
constexpr double share_of_search = 2.0 / 3;
constexpr double least_share = 0.1; // of what follows the search
// Where one order has been searched of several: how many single schedules look at the others.
constexpr std::uint32_t schedules_of_other_orders = 3 * sweep;

Judgement judge_search(
    const CheckRequest& request,
    const StateTable& table,
    HostSources& sources,
    bool finished,
    StateTable::Numbering numbering = StateTable::Numbering::AsFound,
    const std::function<void(const std::string&)>& end_found = {}
) {
  const PhaseTime time("judgement");
  JudgeOptions options;
  options.finished = finished;
  options.numbering = numbering;
  options.threads = jobs_of(request.workers);
  options.schedule = request.schedule;
  options.schedule->options = without_limits(request.options);
  options.end_found = end_found;
  return judge(table, [&](const Site& site) { return sources.resolve(site); }, options);
}

/// Where somebody spins in all schedules: " at line 7", or nothing if there are several places.
std::string at_line(const std::vector<report::Label>& labels) {
  const report::Place& first = labels.front().place;
  const bool one = first.line != 0 && std::ranges::all_of(labels, [&](const report::Label& label) {
                     return label.place.file == first.file && label.place.line == first.line;
                   });
  return one ? fmt::format(" at line {}", first.line) : "";
}

/// None of the schedules has ended. That proves nothing, since each was cut off after a number of
/// steps; but a loop that counts its rounds never comes back to a state, and this is all that can
/// be said of it.
report::Diagnostic
still_spinning(const StateTable& table, const SampleSheet& sheet, HostSources& sources) {
  report::Diagnostic d(report::Finding::Livelock, "");
  d.severity = report::Severity::Warning;
  for (std::uint32_t i = 0; i < sheet.spins.count; ++i) {
    const Site site = sources.resolve(table.site(sheet.spins.sites[i]));
    d.labels.push_back(
        {{site.file, site.line, site.column, 0},
         fmt::format("{}: {}", table.text(sheet.spins.words[i]), site.what)}
    );
  }
  std::ranges::sort(d.labels, {}, [](const report::Label& label) {
    return std::tuple(
        label.text.starts_with("part"),
        label.place.file,
        label.place.line,
        label.place.column
    );
  });
  d.message = sheet.done == 1
                  ? fmt::format(
                        "the one schedule that was tried still spins{} when it is cut off",
                        at_line(d.labels)
                    )
                  : fmt::format(
                        "every schedule still spins{}: {} were tried, with {} steps, and none has "
                        "ended",
                        at_line(d.labels),
                        report::with_thousands(sheet.done),
                        report::with_thousands(sheet.steps)
                    );
  d.place = d.labels.front().place;
  d.notes.emplace_back(
      "a loop that counts its rounds never comes back to a state, so no search can end"
  );
  d.help.emplace_back("leave the counter out while the program is checked, or bound the loop");
  return d;
}

/// Single schedules, and what they come to.
struct Schedules {
  Search search;
  SharedSheet sheet;
  report::Report report;
};

Result<Schedules> make_schedules(
    CheckRequest request,
    ForkServer& server,
    std::uint32_t most,
    double share,
    HostSources& sources
) {
  // Nobody would repeat them if these were wrong.
  request.options.sums = request.options.orderly = request.options.phases = false;
  request.options.allocations = false;
  request.options.starts_at_once = false;
  Handover handover;
  handover.options = request.options;
  handover.options.max_states = Options().max_states; // of recorded schedules: not a search
  TRY(SharedSheet sheet,
      SharedSheet::create(
          {.seed = request.options.seed,
           .schedules = most,
           .at_once = std::min(jobs_of(request.workers), SampleSheet::most_at_once),
           .runs = {}}
      ));
  handover.samples = sheet.fd();
  TRY(Search tried,
      search(
          request,
          server,
          handover,
          {.share = share, .begun = std::chrono::steady_clock::now(), .sheet = &*sheet}
      ));
  report::Report found = judge_search(request, tried.table, sources, /*finished=*/false).report;
  return Schedules{std::move(tried), std::move(sheet), std::move(found)};
}

/// Adds what schedules have found, and their counts, to the report of a search before them.
void add_schedules(const Schedules& tried, report::Report& report) {
  report.schedules =
      {.tried = tried.sheet->done, .cut_off = tried.sheet->cut_off, .steps = tried.sheet->steps};
  for (report::Diagnostic finding : tried.report.findings) {
    finding.searched = fmt::format(
        "{}, then {} single schedules",
        searched(report),
        report::with_thousands(tried.sheet->done)
    );
    report.findings.push_back(std::move(finding));
  }
}

/// After a limit: single schedules for the rest of the time. Adds what they find and their counts.
Result<void> try_schedules(
    const CheckRequest& request,
    ForkServer& server,
    double share,
    HostSources& sources,
    report::Report& report
) {
  TRY(const Schedules tried,
      make_schedules(request, server, request.options.schedules, share, sources));
  add_schedules(tried, report);
  const SampleSheet& sheet = *tried.sheet;
  const bool none_ended = sheet.done > 0 && sheet.cut_off == sheet.done;
  if (none_ended && report.claims.coverage() == report::Coverage::Cut && sheet.spins.count > 0) {
    report.findings.push_back(still_spinning(tried.search.table, sheet, sources));
  }
  for (const report::LeftOut& one : tried.report.claims.left_out()) {
    if (one.what != tried.search.limit) {
      report.claims.leave_out(one);
    }
  }
  return {};
}

/// The search ended because of what it had met, before it had been everywhere.
bool ended_early(const StateTable& table) {
  const auto facts = {
      Fact::OutOfStates,
      Fact::SumsClash,
      Fact::Refuted,
      Fact::HostClash,
      Fact::GaveUp,
      Fact::Circle
  };
  return std::ranges::any_of(facts, [&](Fact fact) { return table.saw(fact); });
}

/// The program and what it is called with, in one line.
std::string identity_of(const CheckRequest& request) {
  const Schedule& s = request.schedule;
  Hasher hasher;
  for (const std::string& text : {s.program, s.nvcc, s.device, s.content}) {
    hasher.text(text);
  }
  for (const std::string& argument : s.arguments) {
    hasher.text(argument);
  }
  hasher.value(s.devices);
  const Hash128 hash = hasher.finish();
  return fmt::format("check {:016x}{:016x} by {}", hash.high, hash.low, request.checkpoint.version);
}

/// What the search has met, as the plan wants to know it.
Plan::Seen seen_in(const StateTable& table) {
  return {
      .sums_clash = table.saw(Fact::SumsClash),
      .refuted = table.saw(Fact::Refuted),
      .host_clash = table.saw(Fact::HostClash),
      .retries = table.saw(Fact::Retries),
      .gave_up = table.saw(Fact::GaveUp),
      .host_got_data = table.saw(Fact::HostGotData),
      .circle = table.saw(Fact::Circle),
      .learned = table.learned()
  };
}

/// The attempt ended before it had been everywhere, and the plan goes by what it has found so far.
bool is_beginning(const CheckRequest& request, const Options& options, const StateTable& table) {
  return table.saw(Fact::GaveUp) || (options.starts_at_once && table.saw(Fact::Circle)) ||
         ((options.max_states < request.options.max_states || options.max_work != 0) &&
          table.saw(Fact::OutOfStates));
}

// Up to this limit of states a search that several processes have not finished is made again by
// one …
constexpr std::uint32_t most_states_made_again = 1'000'000;
// … and up to so many one that has met faults, which are looked for again afterwards in any case.
constexpr std::uint32_t most_states_with_faults = 200'000;

/// An attempt of the plan, and where a check that is stopped goes on with it.
struct Stage {
  const Plan& plan;
  SearchPart part;
  bool is_beginning = false;
  bool& by_one;                     // process: it is made again
  std::function<void()> made_again; // from now on
};

/// What several processes learn before all have heard of it depends on their timing, and so does
/// where they have been when a search ends early; with one process neither does. So an attempt that
/// several have found to be void, or the beginning of a search, or that has come to the limit of
/// states, is made again by one, and what that one has met counts. So is one that has met faults:
/// which of several equal threads they name depends on which process has searched where. Where the
/// limit of states is too large for a second search, the report says that what has been explored
/// depends on timing. Whether it is made again depends on no clock: if the time does not suffice,
/// the check is cut short.
Result<Search> attempted(
    const CheckRequest& request,
    ForkServer& server,
    const Handover& handover,
    const Stage& stage
) {
  CheckRequest one = request;
  one.workers.jobs = 1;
  one.peers = nullptr;
  if (stage.by_one) {
    return search(one, server, handover, stage.part);
  }
  CheckRequest several = request;
  // Small, and not worth making twice: others join where moves that cannot be taken back make it
  // take longer than that.
  constexpr std::uint32_t times_alone = 4;
  const std::uint32_t limit = handover.options.max_states;
  std::uint32_t& states_alone = several.workers.states_alone;
  if (limit <= times_alone * states_alone) {
    states_alone = std::max(states_alone, limit + limit / 4);
  }
  if (handover.options.gives_up) { // which it may do meanwhile
    states_alone = std::max(states_alone, handover.options.straight_after);
  }
  const auto settles = [&](const StateTable& table) {
    return stage.plan.is_void(seen_in(table)) || is_beginning(request, handover.options, table) ||
           table.saw(Fact::OutOfStates);
  };
  auto tried = search(several, server, handover, stage.part);
  if (!tried || !tried->table.had_several() || !tried->limit.empty() ||
      (!settles(tried->table) && !tried->table.has_faults())) {
    return tried;
  }
  const bool at_limit = !stage.is_beginning && limit == request.options.max_states &&
                        tried->table.saw(Fact::OutOfStates);
  const bool is_made_again =
      at_limit ? limit <= most_states_made_again
               : settles(tried->table) || tried->table.state_count() <= most_states_with_faults;
  if (is_made_again) {
    stage.by_one = true;
    stage.made_again();
    auto alone = search(one, server, handover, stage.part);
    if (!alone || alone->finished || settles(alone->table)) {
      return alone;
    }
    tried->limit = alone->limit;
    if (!alone->limit.empty() && settles(tried->table)) {
      tried->table.add_event(EventKind::Incomplete, 0, 0, alone->limit);
    }
  }
  if (at_limit) {
    tried->table.add_event(
        EventKind::Incomplete,
        0,
        0,
        "several processes reached the limit of states, so which states they explored, and what "
        "they found there, may differ from run to run (with -j1 it does not)"
    );
  }
  return tried;
}

/// Before a search that turns out to be long goes on, the program runs under schedules that are
/// quicker by far, and what hangs there hangs: under a fair one after `options.straight_after`
/// states, and under one sweep of the sampler's (sampler.h) after far more work. Then the search
/// begins again.
class FirstLook {
public:
  FirstLook(const CheckRequest& request, ForkServer& server, Checkpoint& checkpoint)
      : request_(request),
        server_(server),
        checkpoint_(checkpoint),
        fair_(request.fair_hangs && !request.options.lockstep ? Stage::Wanted : Stage::Done),
        sweep_(request.options.schedules > 0 ? Stage::Wanted : Stage::Done) {}

  /// The options of an attempt, which this may stop early.
  Options first(Options options) {
    const std::uint32_t most = options.max_work != 0 ? options.max_work : ~std::uint32_t{0};
    stops_at_states_ = fair_ == Stage::Wanted && options.straight_after < options.max_states;
    stops_at_work_ = !stops_at_states_ && sweep_ == Stage::Wanted && most > work_before_sweep;
    if (stops_at_states_) {
      options.max_states = options.straight_after;
      options.max_work = std::min(most, work_for_state * std::max(options.straight_after, 1U));
    } else if (stops_at_work_) {
      options.max_work = work_before_sweep;
    }
    return options;
  }
  /// Is the attempt only the beginning of one?
  bool stops() const { return stops_at_states_ || stops_at_work_; }
  /// The last attempt ended for that reason only, and nothing hangs here: it begins again.
  /// `share`: of the time limit, for schedules.
  Result<bool> looked_in_vain(const CheckRequest& request, const Search& search, double share) {
    const StateTable& table = search.table;
    const bool many = stops_at_states_ && (table.saw(Fact::GaveUp) || table.saw(Fact::OutOfStates));
    const bool much =
        stops_at_work_ && table.saw(Fact::OutOfStates) && table.work() >= work_before_sweep;
    if (many || much) {
      run_fair();
    }
    if (much && hangs_.empty()) {
      sweep_ = Stage::Done;
      HostSources sources(request.program);
      const std::uint32_t most = std::min(sweep, request.options.schedules);
      TRY(Schedules swept, make_schedules(request, server_, most, share, sources));
      swept_.emplace(std::move(swept));
    }
    return (many || much) && !found();
  }
  Checkpoint& checkpoint() { return checkpoint_; }
  bool found() const { return !hangs_.empty() || (swept_ && !swept_->report.findings.empty()); }
  /// Where the search itself has found nothing.
  void add_to(report::Report& report) {
    run_fair();
    for (report::Diagnostic hang : hangs_) {
      hang.searched = searched(report) + ", and one fair schedule";
      report.findings.push_back(std::move(hang));
    }
    if (swept_ && hangs_.empty()) {
      add_schedules(*swept_, report);
    }
  }
  /// What need not be done again by a check that goes on: it has found nothing.
  std::string to_text() const {
    return fmt::format("fair={} sweep={}", fair_ == Stage::Done, sweep_ == Stage::Done);
  }
  void go_on_from(std::string_view text) {
    fair_ = text.starts_with("fair=true") ? Stage::Done : fair_;
    sweep_ = text.ends_with("sweep=true") ? Stage::Done : sweep_;
  }

private:
  enum class Stage : std::uint8_t {
    Wanted,
    Done
  };
  // Some seconds; more than a search has at the usual limit of states if they are cheap: that one
  // is over soon.
  static constexpr std::uint32_t work_before_sweep = 1'250'000;
  static constexpr std::uint32_t work_for_state = 20; // as in plan.cpp

  void run_fair() {
    // How far it goes is a number of instructions; this is for a host that never ends.
    constexpr double most_seconds = 10;
    if (fair_ == Stage::Wanted) {
      const double seconds = std::clamp(std::ceil(request_.options.max_seconds), 1.0, most_seconds);
      hangs_ = request_.fair_hangs(static_cast<unsigned>(seconds));
    }
    fair_ = Stage::Done;
  }

  const CheckRequest& request_;
  ForkServer& server_;
  Checkpoint& checkpoint_;
  Stage fair_, sweep_;
  bool stops_at_states_ = false, stops_at_work_ = false;
  std::vector<report::Diagnostic> hangs_;
  std::optional<Schedules> swept_;
};

/// The searches of the plan, until one holds, `look` shows a hang, or the time is over.
class SearchOfAll {
public:
  SearchOfAll(
      CheckRequest& request,
      ForkServer& server,
      Handover& handover,
      double share,
      FirstLook* look
  )
      : request_(request),
        server_(server),
        handover_(handover),
        asked_(handover.options),
        share_(share),
        look_(look),
        plan_(asked_) {}

  Result<Search> search() {
    if (look_ != nullptr && !look_->checkpoint().stands().empty()) {
      TRY_VOID(go_on());
    }
    for (;;) {
      TRY(std::optional<Search> last, attempt());
      if (last) {
        return std::move(*last);
      }
    }
  }

private:
  double left() const { return share_ * asked_.max_seconds - gone(); }
  double gone() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  }
  Checkpoint::Standing standing(const Plan::Attempt& attempt) const {
    return {
        .plan = fmt::format(
            "states={} straight={} order={} schedules={}|{}|{}|{} {}",
            asked_.max_states,
            asked_.straight_after,
            asked_.one_order_after,
            asked_.schedules,
            plan_.to_text(),
            look_->to_text(),
            by_one_,
            request_.workers.jobs == 1
        ),
        .words = fmt::format(
            "attempt {} ({}{})",
            attempt.number,
            kind_of(attempt),
            by_one_ ? ", by one process" : ""
        )
    };
  }
  Result<void> go_on();
  Result<std::optional<Search>> attempt();
  Checkpoint* checkpoint_of(const Plan::Attempt& attempt);
  Search cut_short(Search tried, const Options& options);

  CheckRequest& request_;
  ForkServer& server_;
  Handover& handover_;
  const Options asked_;
  const double share_;
  FirstLook* const look_; // nullptr: nobody looks, and nothing is kept
  Plan plan_;
  std::optional<Search> kept_; // true, but not everything
  bool by_one_ = false;        // the attempt is made again
  bool goes_on_ = false;       // the attempt under way is the one in the file
  const std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

/// From where the file stands, if the limits are the same: else the plan may be another one.
Result<void> SearchOfAll::go_on() {
  Checkpoint& checkpoint = look_->checkpoint();
  const Checkpoint::Standing own = standing(plan_.next());
  const std::string_view stands = checkpoint.stands();
  const auto part = [](std::string_view text, int number) {
    for (; number > 0 && !text.empty(); --number) {
      text.remove_prefix(std::min(text.find('|'), text.size() - 1) + 1);
    }
    return text.substr(0, text.find('|'));
  };
  if (part(stands, 0) != part(own.plan, 0)) {
    fmt::print(
        stderr,
        "heddle: the limits are not those of the checkpoint: only a search to the end goes on\n"
    );
    return {};
  }
  TRY_VOID(plan_.go_on_from(part(stands, 1)));
  look_->go_on_from(part(stands, 2));
  by_one_ = part(stands, 3).starts_with("true");
  if (part(stands, 3).ends_with("true")) {
    request_.workers.jobs = 1;
    request_.peers = nullptr;
  }
  TRY(auto kept, checkpoint.kept({.max_states = asked_.max_states}));
  if (kept) {
    checkpoint.keep_beside(*kept);
    kept_.emplace(Search{std::move(*kept), true, ""});
  }
  request_.options = handover_.options = plan_.options();
  goes_on_ = true;
  return {};
}

/// Where it is kept. A file of a plan with other limits stays as it is until its search comes.
Checkpoint* SearchOfAll::checkpoint_of(const Plan::Attempt& attempt) {
  if (look_ == nullptr) {
    return nullptr;
  }
  Checkpoint& checkpoint = look_->checkpoint();
  const bool is_beginning = attempt.is_beginning || look_->stops();
  if (std::exchange(goes_on_, false)) {
    checkpoint.go_on(standing(attempt));
  } else if (checkpoint.has_any() && is_beginning) {
    return nullptr;
  } else if (checkpoint.has(handover_.options)) {
    checkpoint.go_on(standing(attempt));
  } else {
    checkpoint.begin(standing(attempt), handover_.options);
  }
  return &checkpoint;
}

/// There is no time for the next one; `options`: of this one.
Search SearchOfAll::cut_short(Search tried, const Options& options) {
  const Plan::Attempt next = plan_.next();
  handover_.options = look_ != nullptr ? look_->first(next.options) : next.options;
  checkpoint_of(next); // which begins there when the check goes on
  request_.options = handover_.options = options;
  if (tried.limit.empty()) {
    tried.limit = fmt::format("the limit of {} s was reached (--max-time)", asked_.max_seconds);
    tried.table.add_event(EventKind::Incomplete, 0, 0, tried.limit);
  }
  return tried;
}

/// Nothing: another one follows.
Result<std::optional<Search>> SearchOfAll::attempt() {
  const Plan::Attempt attempt = plan_.next();
  handover_.options = look_ != nullptr ? look_->first(attempt.options) : attempt.options;
  Checkpoint* const checkpoint = checkpoint_of(attempt);
  const Stage stage{
      .plan = plan_,
      .part = {.share = share_, .begun = start_, .sheet = nullptr, .checkpoint = checkpoint},
      .is_beginning = attempt.is_beginning || (look_ != nullptr && look_->stops()),
      .by_one = by_one_,
      .made_again = [&] {
        if (checkpoint != nullptr) {
          checkpoint->begin(standing(attempt), handover_.options);
        }
      }
  };
  const Options own = plan_.options();
  auto tried = attempted(request_, server_, handover_, stage);
  by_one_ = false;
  handover_.options = plan_.options();
  if (!tried) {
    return unexpected(tried.error());
  }
  if (find_early_crash(tried->table)) {
    return std::optional(std::move(*tried));
  }
  const bool went_on = tried->table.goes_on();
  // Where ranks have come apart, one of them goes on from the same file.
  const bool is_once_more_alone = tried->table.saw(Fact::Unrepeatable) &&
                                  request_.peers != nullptr && tried->table.had_several();
  if (went_on && !is_once_more_alone &&
      (tried->table.saw(Fact::Unrepeatable) ||
       (tried->finished && !ended_early(tried->table) && !tried->table.all_met_again()))) {
    checkpoint->forget(); // and what has been learned before
    plan_ = Plan(asked_);
    kept_.reset();
    request_.options = handover_.options = asked_;
    return std::nullopt;
  }
  if (is_once_more_alone && checkpoint != nullptr) {
    goes_on_ = checkpoint->use_again();
  }
  const Plan::Seen seen = seen_in(tried->table);
  const bool was_void = plan_.is_void(seen);
  const bool is_cut = !tried->limit.empty() || Interruption::received() != 0;
  if (look_ != nullptr && !is_cut) {
    TRY(const bool in_vain,
        look_->looked_in_vain(request_, *tried, std::max(left() / asked_.max_seconds, 0.0)));
    if (look_->found()) {
      return std::optional(std::move(*tried));
    }
    if (in_vain && !tried->table.saw(Fact::GaveUp)) {
      return left() > 0 ? std::nullopt : std::optional(cut_short(std::move(*tried), own));
    }
  }
  if (!is_cut && tried->table.had_several() &&
      (tried->table.saw(Fact::HostAllocates) || tried->table.saw(Fact::Unrepeatable))) {
    request_.workers.jobs = 1; // for the same states each time
    request_.peers = nullptr;
    return std::nullopt;
  }
  const auto judge = [&] {
    HostSources sources(request_.program);
    const Judgement found = judge_search(request_, tried->table, sources, tried->finished);
    return Plan::Found{
        .clean = found.report.findings.empty(),
        .complete = found.complete,
        .straight = found.straight
    };
  };
  const Plan::Next next = is_cut ? plan_.stop(seen) : plan_.after(seen, judge);
  if (next == Plan::Next::KeepAndAgain) {
    kept_.emplace(std::move(*tried));
    if (checkpoint != nullptr) {
      checkpoint->keep_beside(kept_->table);
    }
  } else if (next == Plan::Next::Again && left() <= 0 && !was_void) {
    return std::optional(cut_short(std::move(*tried), own));
  }
  request_.options = handover_.options = plan_.options();
  switch (next) {
  case Plan::Next::Again:
  case Plan::Next::KeepAndAgain:
    return std::nullopt;
  case Plan::Next::This:
    return std::optional(std::move(*tried));
  case Plan::Next::Kept:
    kept_->table
        .add_event(EventKind::Incomplete, 0, 0, "blocks that all start at once were searched");
    if (!tried->limit.empty()) {
      kept_->table.add_event(EventKind::Incomplete, 0, 0, tried->limit);
    }
    return std::move(kept_);
  }
  return std::nullopt;
}

Result<Search> search_all(
    CheckRequest& request,
    ForkServer& server,
    Handover& handover,
    double share,
    FirstLook* look = nullptr
) {
  return SearchOfAll(request, server, handover, share, look).search();
}

/// Which of several equal threads is named, and which number a choice has, depends on who has
/// searched where. So what several processes have found is looked for again by one that goes there
/// and nowhere else: a report is the same each time.
void retrace(
    const CheckRequest& request,
    ForkServer& server,
    const Handover& handover,
    const Search& all,
    double share,
    HostSources& sources,
    report::Report& report
) {
  constexpr auto by_content = StateTable::Numbering::ByContent;
  Judgement judged = judge_search(request, all.table, sources, all.finished, by_content);
  report = std::move(judged.report);
  const std::vector<Hash128> states = all.table.hashes(judged.shown, by_content);
  const auto again = search(
      request,
      server,
      handover,
      {.share = share, .begun = std::chrono::steady_clock::now(), .keep_to = states}
  );
  std::vector<report::Diagnostic> findings;
  if (again && !again->limit.empty()) {
    report.claims.cut(again->limit); // other threads may be named the next time
  }
  if (again) {
    findings = judge_search(request, again->table, sources, /*finished=*/false).report.findings;
  }
  if (findings.size() != report.findings.size()) {
    return; // what has been found is no less true
  }
  for (report::Diagnostic& finding : findings) {
    if (!finding.searched.empty()) {
      finding.searched = searched(report);
    }
  }
  report.findings = std::move(findings);
}

bool is_hang(const report::Diagnostic& d) {
  return report::describe(d.finding).group == report::FindingGroup::Hang;
}

/// Of several threads that spin, one gives a finding its place: which, depends on the search.
bool speaks_of(const report::Diagnostic& d, const report::Place& place) {
  const auto is_it = [&](const report::Place& other) {
    return other.file == place.file && other.line == place.line;
  };
  return is_it(d.place) || std::ranges::any_of(d.labels, is_it, &report::Label::place);
}

/// A search that only explains a verdict has ended early.
std::string not_found_out(std::string_view what, const std::string& limit) {
  return fmt::format("whether {} was not found out: {}", what, limit);
}

/// A call of the host that need not return while a kernel runs [API] is the assumption that
/// explains least: says how the program hangs without it, if it does.
Result<void> prefer_prompt_hangs(
    const CheckRequest& asked,
    ForkServer& server,
    double share,
    report::Report& report
) {
  const auto rests_on_call = [](const report::Diagnostic& d) {
    return is_hang(d) && d.rule == rule_id(Rule::Api);
  };
  if (asked.options.prompt_api || std::ranges::none_of(report.findings, rests_on_call)) {
    return {};
  }
  CheckRequest request = asked;
  request.options.prompt_api = true;
  Handover handover;
  handover.options = request.options;
  TRY(const Search prompt, search_all(request, server, handover, share));
  HostSources sources(request.program);
  report::Report found = judge_search(request, prompt.table, sources, prompt.finished).report;
  if (prompt.table.for_several() && !found.findings.empty()) {
    retrace(request, server, handover, prompt, share, sources, found);
  }
  std::erase_if(found.findings, [](const report::Diagnostic& d) { return !is_hang(d); });
  if (!prompt.limit.empty()) {
    report.notes.push_back(not_found_out("it hangs with --api=prompt, too,", prompt.limit));
  }
  if (found.findings.empty()) {
    return {};
  }
  std::erase_if(report.findings, [&](const report::Diagnostic& d) {
    return is_hang(d) && std::ranges::any_of(found.findings, [&](const report::Diagnostic& other) {
             return speaks_of(d, other.place);
           });
  });
  for (report::Diagnostic& d : found.findings) {
    d.notes.emplace_back("it hangs although all calls return that need not wait (--api=prompt)");
  }
  report.findings.insert(
      report.findings.begin(),
      std::make_move_iterator(found.findings.begin()),
      std::make_move_iterator(found.findings.end())
  );
  return {};
}

} // namespace

Result<report::Report> check(const CheckRequest& asked) {
  CheckRequest request = asked;
  const auto start = std::chrono::steady_clock::now();
  const auto seconds = [&start] {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  };
  ForkServers servers(asked);
  Handover handover;
  handover.options = request.options;
  const double share = request.options.schedules > 0 ? share_of_search : 1;
  Checkpoint checkpoint(asked.checkpoint, identity_of(asked));
  TRY_VOID(checkpoint.look());
  FirstLook look(asked, servers.fixed, checkpoint);
  auto found = search_all(request, servers.fixed, handover, share, &look);
  if (!found) {
    return unexpected(found.error());
  }
  if (const auto crash = find_early_crash(found->table)) {
    report::Report report = report_of_early_crash(*crash, request);
    check_determinism(request, servers, "", report);
    report.seconds = seconds();
    return report;
  }
  std::optional<Search> all(std::move(*found));
  const double left = std::max(1 - seconds() / request.options.max_seconds, least_share);
  HostSources sources(request.program);
  RepetitionBeside beside(request, servers);
  Judgement judged = judge_search(
      request,
      all->table,
      sources,
      all->finished,
      StateTable::Numbering::AsFound,
      [&](const std::string& end) { beside.begin(end); }
  );
  report::Report& report = judged.report;
  const std::optional<Repeated> repeated = beside.result();
  if (all->table.for_several() && !report.findings.empty()) {
    retrace(request, servers.fixed, handover, *all, left, sources, report);
  }
  const bool is_cut = report.claims.coverage() == report::Coverage::Cut;
  if (is_cut && report.findings.empty() && Interruption::received() == 0) {
    look.add_to(report);
  }
  TRY_VOID(prefer_prompt_hangs(asked, servers.fixed, left, report));
  if (const std::string assumed = to_text(without_limits(asked.options)); !assumed.empty()) {
    report.bounds += ", assuming " + assumed;
  }
  PhaseTime repeating("repetition");
  check_determinism(request, servers, judged.ends, report, repeated);
  repeating.end();
  if (!report.is_exhaustive() && report.findings.empty() && request.options.schedules > 0) {
    if (is_cut) {
      all.reset(); // its memory may be needed
    } else {
      request.options.schedules = std::min(request.options.schedules, schedules_of_other_orders);
    }
    TRY_VOID(try_schedules(request, servers.fixed, left, sources, report));
    if (!report.findings.empty()) {
      check_determinism(request, servers, "", report);
    }
  }
  const double time_left = 1 - seconds() / request.options.max_seconds;
  if (all && report.verdict() == report::Verdict::Terminates && all->table.saw(Fact::Dependency) &&
      all->table.saw(Fact::Choice) && time_left > 0) {
    // Does it end because grids wait for each other? Only a search without that can tell; it may be
    // far larger, and what it adds is an explanation.
    handover.options.ignore_grid_order = true;
    handover.options.max_states =
        std::min(request.options.max_states, 4 * all->table.state_count() + 1000);
    CheckRequest freely = request; // more may contend
    const auto unordered = search_all(freely, servers.fixed, handover, time_left);
    if (unordered && !find_endless(unordered->table.load()).endless.empty()) {
      report.rests_on.emplace_back(rule_id(Rule::Dependency));
    }
    if (unordered && !unordered->limit.empty()) {
      report.notes.push_back(not_found_out("the verdict rests on [DEP]", unordered->limit));
    }
  }
  report.warnings
      .insert(report.warnings.end(), checkpoint.problems().begin(), checkpoint.problems().end());
  report.seconds = seconds();
  return std::move(report);
}

Result<report::Trace> replay(const CheckRequest& request, const Schedule& schedule) {
  ForkServers servers(request);
  TRY(const Repetition again, repeat(request, servers.fixed, schedule));
  const StateTable& table = again.search.table;
  const ProgressGraph graph = table.load();
  HostSources sources(request.program);
  report::Trace trace;
  std::map<ActorId, std::uint32_t> columns; // in order of appearance
  for (const TraceRow& row : again.rows) {
    if (row.actor >= graph.actors.size()) {
      continue;
    }
    const auto [column, is_new] =
        columns.try_emplace(row.actor, static_cast<std::uint32_t>(trace.actors.size()));
    if (is_new) {
      trace.actors.push_back(graph.actors[row.actor].name);
    }
    const Site site = sources.resolve(table.site(row.site));
    report::TraceStep step{
        .actor = column->second,
        .place = {site.file, site.line, site.column, 0},
        .what = site.what,
        .note = {},
        .calls = {},
        .memory = accesses_from(table.text(row.note)),
        .is_noise = site.of_stub
    };
    const std::string reason = reason_from(table.text(row.note));
    step.note = reason.empty() ? in_words(step.memory) : reason;
    for (const Site::Call& call : site.calls) {
      step.calls.push_back({{call.file, call.line, call.column, 0}, call.how});
    }
    trace.steps.push_back(std::move(step));
  }
  std::tie(trace.end, trace.outcome) = outcome_of(again, schedule);
  if (trace.end == report::TraceEnd::Loop) {
    trace.loop_from = schedule.loop_from;
  }
  return trace;
}

} // namespace heddle::explore
