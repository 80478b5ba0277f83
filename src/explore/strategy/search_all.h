// The searches of a plan (plan.h), one after the other, until one holds, and the first look at a
// program whose search turns out to be long.
//
//   FirstLook look(asked, server, checkpoint);
//   TRY(SearchResult all, search_all(request, server, handover, share, &look));
#pragma once

#include "explore/options.h"
#include "explore/process/explored_process.h"
#include "explore/session.h"
#include "explore/single/sampler.h"
#include "explore/single/single_schedules.h"
#include "explore/strategy/plan.h"
#include "explore/table/checkpoint.h"
#include "explore/table/state_table.h"
#include "explore/verdict/verdict_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace heddle::explore {

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
      options.max_work = std::min(most, work_for(options.straight_after));
      options.max_computed = options.max_work;
    } else if (stops_at_work_) {
      options.max_work = work_before_sweep;
    }
    return options;
  }
  /// Is the attempt only the beginning of one?
  bool stops() const { return stops_at_states_ || stops_at_work_; }
  /// It ended for that reason, and what it has met does not matter. (Whether it does is the same
  /// for one process and for several; for fewer states it is made again by one.)
  bool ended_at_work(const StateTable& table) const {
    return stops_at_work_ && table.saw(Fact::OutOfStates) && table.work() >= work_before_sweep;
  }
  /// The last attempt ended for that reason only, and nothing hangs here: it begins again.
  /// `share`: of the time limit, for schedules.
  Result<bool>
  looked_in_vain(const CheckRequest& request, const SearchResult& search, double share) {
    const StateTable& table = search.table;
    const bool many = stops_at_states_ && (table.saw(Fact::GaveUp) || table.saw(Fact::OutOfStates));
    const bool much = ended_at_work(table);
    if (many || much) {
      run_fair();
    }
    if (much && hangs_.empty()) {
      sweep_ = Stage::Done;
      HostSources sources(request.program);
      const std::uint32_t most = std::min(sweep, request.options.schedules);
      TRY(Schedules swept, make_schedules(request, server_, most, any_work, share, sources));
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

  void run_fair() {
    // How far it goes depends on no clock, up to half of the limit of the check itself: a host that
    // sleeps forever, as in a loop of waits with time limits, leaves the rest to the search.
    constexpr double most_seconds = 1e9; // as a number of this type
    if (fair_ == Stage::Wanted) {
      const double half = std::ceil(request_.options.max_seconds / 2);
      const double seconds = std::clamp(half, 1.0, most_seconds);
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

/// The searches of the plan, until one holds, or `look` shows a hang.
Result<SearchResult> search_all(
    CheckRequest& request,
    ForkServer& server,
    Handover& handover,
    double share,
    FirstLook* look = nullptr
);

} // namespace heddle::explore
