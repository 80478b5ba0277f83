// Implements search_all.h.
#include "explore/strategy/search_all.h"

#include "explore/process/interruption.h"
#include "explore/verdict/early_crash.h"
#include "explore/verdict/source_places.h"
#include "explore/witness/trace.h"
#include "report/render.h"
#include "report/seconds.h"

#include <algorithm>
#include <chrono>
#include <optional>
#include <sstream>

namespace heddle::explore {

namespace {

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
  return table.saw(Fact::GaveUp) || (starts_at_once(options) && table.saw(Fact::Circle)) ||
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
  bool& by_one;                                     // process: it is made again
  std::function<void()> made_again;                 // from now on
  std::function<bool(const StateTable&)> is_enough; // that one need not be made again
};

/// What several processes learn before all have heard of it depends on their timing, and so does
/// where they have been when a search ends early; with one process neither does. So an attempt that
/// several have found to be invalid, or the beginning of a search, or that has come to the limit of
/// states, is made again by one, and what that one has met counts. So is one that has met faults:
/// which of several equal threads they name depends on which process has searched where. Where the
/// limit of states is too large for a second search, the report says that what has been explored
/// depends on timing. Whether it is made again depends on no clock: if the time does not suffice,
/// the check is cut short.
Result<SearchResult> attempted(
    const CheckRequest& request,
    ForkServer& server,
    const Handover& handover,
    const Stage& stage
) {
  CheckRequest one = request;
  one.workers.jobs = 1;
  one.peers = nullptr;
  // Which group goes first depends on what a process knows.
  if (stage.by_one || handover.options.starts == Starts::InGroups) {
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
      (!settles(tried->table) && !tried->table.has_faults()) ||
      (!stage.plan.is_void(seen_in(tried->table)) && stage.is_enough(tried->table))) {
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

  Result<SearchResult> search() {
    if (look_ != nullptr && !look_->checkpoint().stands().empty()) {
      TRY_VOID(go_on());
    }
    for (;;) {
      TRY(std::optional<SearchResult> last, attempt());
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
            "straight={} order={} sampled={}|{} {}|{}|{}|{} {}",
            asked_.straight_after,
            asked_.one_order_after,
            asked_.schedules > 0,
            asked_.max_states,
            is_limited_ ? 1 : 0,
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
  bool is_same_with_limit(const std::string& text);
  Result<std::optional<SearchResult>> attempt();
  Checkpoint* checkpoint_of(const Plan::Attempt& attempt);
  SearchResult cut_short(SearchResult tried, const Options& options);
  Plan::Found found_by(const SearchResult& tried) const;

  CheckRequest& request_;
  ForkServer& server_;
  Handover& handover_;
  const Options asked_;
  const double share_;
  FirstLook* const look_; // nullptr: nobody looks, and nothing is kept
  Plan plan_;
  std::optional<SearchResult> kept_; // true, but not everything
  bool by_one_ = false;              // the attempt is made again
  bool is_limited_ = false;          // an attempt before has come to the limit of states
  bool goes_on_ = false;             // the attempt under way is the one in the file
  const std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

/// "30000 0": the limit of states, and whether an attempt has come to it. Would a check with our
/// limit have come to the same place?
bool SearchOfAll::is_same_with_limit(const std::string& text) {
  std::istringstream in(text);
  std::uint32_t states = 0, limited = 1;
  if (!(in >> states >> limited)) {
    return false;
  }
  is_limited_ = limited != 0;
  return states == asked_.max_states ||
         (!is_limited_ && states < asked_.max_states &&
          states > std::max(asked_.straight_after, asked_.one_order_after));
}

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
  if (part(stands, 0) != part(own.plan, 0) || !is_same_with_limit(std::string(part(stands, 1)))) {
    fmt::print(
        stderr,
        "heddle: the limits are not those of the checkpoint, with which the plan of searches may "
        "be "
        "another one: it begins anew\n"
    );
    return {};
  }
  TRY_VOID(plan_.go_on_from(part(stands, 2)));
  look_->go_on_from(part(stands, 3));
  by_one_ = part(stands, 4).starts_with("true");
  if (part(stands, 4).ends_with("true")) {
    request_.workers.jobs = 1;
    request_.peers = nullptr;
  }
  TRY(auto kept, checkpoint.kept({.max_states = asked_.max_states}));
  if (kept) {
    checkpoint.keep_beside(*kept);
    kept_.emplace(SearchResult{std::move(*kept), true, ""});
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
SearchResult SearchOfAll::cut_short(SearchResult tried, const Options& options) {
  const Plan::Attempt next = plan_.next();
  handover_.options = look_ != nullptr ? look_->first(next.options) : next.options;
  checkpoint_of(next); // which begins there when the check goes on
  request_.options = handover_.options = options;
  if (tried.limit.empty()) {
    tried.limit = fmt::format(
        "the limit of {} s was reached (--max-time)",
        report::rounded_seconds(asked_.max_seconds)
    );
    tried.table.add_event(EventKind::Incomplete, 0, 0, tried.limit);
  }
  return tried;
}

Plan::Found SearchOfAll::found_by(const SearchResult& tried) const {
  HostSources sources(request_.program);
  const Judgement found = judge_search(request_, tried.table, sources, tried.finished);
  return {
      .clean = found.report.findings.empty(),
      .complete = found.complete,
      .straight = found.straight
  };
}

/// Nothing: another one follows.
Result<std::optional<SearchResult>> SearchOfAll::attempt() {
  const Plan::Attempt attempt = plan_.next();
  handover_.options = look_ != nullptr ? look_->first(attempt.options) : attempt.options;
  Checkpoint* const checkpoint = checkpoint_of(attempt);
  const Stage stage{
      .plan = plan_,
      .part =
          {.share = share_,
           .begun = start_,
           .sheet = nullptr,
           .checkpoint = checkpoint,
           .after_defect = request_.after_defect.get()},
      .is_beginning = attempt.is_beginning || (look_ != nullptr && look_->stops()),
      .by_one = by_one_,
      .made_again =
          [&] {
            if (checkpoint != nullptr) {
              checkpoint->begin(standing(attempt), handover_.options);
            }
          },
      .is_enough =
          [&](const StateTable& table) { return look_ != nullptr && look_->ended_at_work(table); }
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
    if (was_void && (look_->found() || left() <= 0)) { // no other search follows
      tried->table.note(Fact::Void);
    }
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
  const auto judge = [&] { return found_by(*tried); };
  is_limited_ = is_limited_ || (tried->table.saw(Fact::OutOfStates) && !stage.is_beginning);
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

} // namespace

Result<SearchResult> search_all(
    CheckRequest& request,
    ForkServer& server,
    Handover& handover,
    double share,
    FirstLook* look
) {
  return SearchOfAll(request, server, handover, share, look).search();
}

} // namespace heddle::explore
