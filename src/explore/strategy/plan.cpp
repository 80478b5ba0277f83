// Implements plan.h.
#include "explore/strategy/plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <utility>

namespace heddle::explore {

using reduce::Mutant;

namespace {

// A beginning is given up after Options::one_order_after states, or after so much work for each of
// them, or so much computing (StateTable::work, computed): where states are large, or need
// processes, that is some seconds, too.
constexpr std::uint32_t work_for_state = 20;
constexpr std::uint32_t least_states = 1000; // for that: a program has to start
// An attempt in groups is given up after so many states, or after Options::one_order_after.
constexpr std::uint32_t groups_states = 20'000;

/// May it be searched with blocks that start at once if no state comes back? Only where somebody is
/// always owed the start of a block, as long as nobody waits for a thread of another block.
bool may_be_straight(const Options& options) {
  return options.straight && options.eager && options.progress == ProgressModel::Cuda &&
         options.host_progress && !options.other_processes && !options.lockstep &&
         !options.ignore_grid_order;
}

} // namespace

Plan::Plan(const Options& asked, Mutant mutant, bool tries_groups)
    : asked_(asked),
      mutant_(mutant),
      evidence_{.contended = asked.learned.contended},
      assumed_(asked),
      budget_(may_be_straight(asked) ? Budget::First : Budget::Beginning),
      groups_untried_(tries_groups && !asked.ptx_memory),
      decisions_untried_(asked.cone && !asked.by_decisions && asked.eager && !asked.lockstep),
      one_order_untried_(asked.data_order && asked.learned.unordered == 0) {}

/// Is there an abstraction that tells less apart, and has not been tried?
bool Plan::less_may_do() const {
  return decisions_untried_ || one_order_may_do() ||
         (assumed_.host_decides && evidence_.host_got_data);
}

void Plan::tell_less_apart() {
  if (decisions_untried_) {
    assumed_.by_decisions = assumed_.host_decides = true;
    decisions_untried_ = false;
    return;
  }
  if (one_order_may_do()) {
    one_order_untried_ = false;
    assumed_.learned.contended = evidence_.contended;
    assumed_.learned.unordered = evidence_.could_be;
  }
  if (assumed_.host_decides && evidence_.host_got_data) {
    assumed_.learned.kept = assumed_.learned.deciding = 0; // the host's among them
  }
  assumed_.host_decides = false;
}

std::uint32_t work_for(std::uint32_t states) {
  const std::uint64_t most = std::uint64_t{work_for_state} * std::max(states, least_states);
  return static_cast<std::uint32_t>(std::min<std::uint64_t>(most, ~std::uint32_t{0}));
}

Plan::Attempt Plan::next() const {
  Attempt attempt{.options = assumed_, .budget = budget_, .number = number_};
  const bool others_may_do = less_may_do() || (budget_ == Budget::AtOnce && groups_untried_);
  if ((others_may_do || is_in_groups()) && budget_ != Budget::Whole) {
    attempt.is_beginning = true;
    attempt.options.max_states = std::min(
        asked_.max_states,
        is_in_groups() ? std::max(groups_states, asked_.one_order_after) : asked_.one_order_after
    );
    attempt.options.max_work = work_for(std::min(asked_.max_states, asked_.one_order_after));
    attempt.options.max_computed = attempt.options.max_work;
  }
  attempt.options.gives_up = budget_ == Budget::First;
  attempt.is_beginning = attempt.is_beginning || attempt.options.gives_up;
  return attempt;
}

/// Without what has turned out to be wrong.
void Plan::begin_again(const Seen& seen) {
  using Order = Evidence::Order;
  const Order order = !one_order_untried_  ? Order::One
                      : one_order_may_do() ? Order::EveryYet
                                           : Order::Every;
  evidence_.add(seen, order, assumed_);
}

Plan::Next Plan::stop(const Seen& seen) {
  if (kept_) {
    assumed_ = *kept_;
    return Next::Kept;
  }
  if (is_void(seen)) { // the next one says only what is true
    begin_again(seen);
    ++number_;
    return Next::Again;
  }
  return Next::This;
}

Plan::Next Plan::after(const Seen& seen, const std::function<Found()>& judge) {
  const Next next = decide(seen, judge);
  number_ += next == Next::Again || next == Next::KeepAndAgain ? 1 : 0;
  return next;
}

Plan::Next Plan::decide(const Seen& seen, const std::function<Found()>& judge) {
  if (is_void(seen)) {
    begin_again(seen);
    if (is_in_groups() && !assumed_.learned.holds(reduce::Assumption::Groups)) {
      return follow({.clean = true}, /*circles=*/false); // it is not known who comes where
    }
    return Next::Again;
  }
  const bool retried = assumed_.retries && seen.retries;
  const bool last =
      budget_ != Budget::AtOnce && !seen.gave_up && (budget_ == Budget::Whole || !less_may_do());
  if (last && !kept_ && !retried) {
    return Next::This;
  }
  const Found found = judge();
  if (retried && !found.straight && mutant_ != Mutant::RetriesForgetCircles) {
    assumed_.retries = false; // somebody may change a place forever that another one updates
    return Next::Again;
  }
  if (last) {
    if (!kept_ || !found.clean || found.complete) {
      return Next::This;
    }
    assumed_ = *kept_; // later ones have learned more
    return Next::Kept;
  }
  const bool circles =
      (seen.circle || !found.straight) && mutant_ != Mutant::StraightForgetsCircles;
  const bool holds = budget_ != Budget::AtOnce || (!circles && found.clean);
  return found.complete && holds ? Next::This : follow(found, circles);
}

/// On to the next attempt of the list. `circles`: a state may repeat.
Plan::Next Plan::follow(const Found& found, bool circles) {
  Next next = Next::Again;
  const bool less = less_may_do();
  if (!found.clean) { // nothing must be lost
    if (budget_ == Budget::AtOnce) {
      kept_ = assumed_;
      next = Next::KeepAndAgain;
    }
    budget_ = Budget::Whole;
  } else if (budget_ == Budget::First && !circles) {
    budget_ = Budget::AtOnce;
  } else if (budget_ == Budget::AtOnce && !circles && std::exchange(groups_untried_, false)) {
    assumed_.starts = Starts::InGroups;
    return next;
  } else if (budget_ == Budget::AtOnce && !circles && less) {
    tell_less_apart();
  } else {
    if (less) {
      tell_less_apart();
    }
    budget_ = less_may_do() ? Budget::Beginning : Budget::Whole;
  }
  assumed_.starts = budget_ == Budget::AtOnce ? Starts::AtOnce : Starts::AtAnyTime;
  return next;
}

// --- As a line -----------------------------------------------------------------------------------

/// A member that is not here would be forgotten by a search that goes on.
template <class Self, class F> void Plan::each_number(Self& self, F&& f) {
  f("attempt", self.number_);
  f("budget", self.budget_);
  f("places", self.evidence_.place_rounds);
  f("rewritten", self.evidence_.rewritten_rounds);
  f("could-be", self.evidence_.could_be);
  f("contended", self.evidence_.contended);
  f("host-got-data", self.evidence_.host_got_data);
  f("groups", self.groups_untried_);
  f("decisions", self.decisions_untried_);
  f("one-order", self.one_order_untried_);
}

/// "attempt=3 budget=1 places=0 … with=starts=at-once kept=0 kept-with=".
std::string Plan::to_text() const {
  std::string text;
  each_number(*this, [&](std::string_view word, auto value) {
    text += fmt::format("{}={} ", word, static_cast<std::uint64_t>(value));
  });
  const Options usual;
  text += fmt::format(
      "with={} kept={}",
      explore::to_text(with_limits_of(assumed_, usual)),
      kept_ ? 1 : 0
  );
  text += fmt::format(
      " kept-with={}",
      explore::to_text(with_limits_of(kept_.value_or(Options()), usual))
  );
  return text;
}

namespace {

/// The words of such a line, one after the other.
class PlanWords {
public:
  explicit PlanWords(std::string_view text) : rest_(text) {}

  /// The value of the next word, which has to be this one.
  std::optional<std::string_view> value_of(std::string_view word) {
    const std::string_view part = rest_.substr(0, rest_.find(' '));
    rest_.remove_prefix(std::min(rest_.size(), part.size() + 1));
    if (!part.starts_with(word) || part.substr(word.size(), 1) != "=") {
      return std::nullopt;
    }
    return part.substr(word.size() + 1);
  }
  /// At most `most`.
  std::optional<std::uint64_t> number_of(std::string_view word, std::uint64_t most) {
    const auto value = value_of(word);
    std::uint64_t number = 0;
    if (!value) {
      return std::nullopt;
    }
    const char* const last = value->data() + value->size();
    const auto [end, failure] = std::from_chars(value->data(), last, number);
    return failure == std::errc() && end == last && number <= most ? std::optional(number)
                                                                   : std::nullopt;
  }
  bool all_read() const { return rest_.empty(); }

private:
  std::string_view rest_;
};

} // namespace

Result<void> Plan::go_on_from(std::string_view text) {
  const auto bad = [] { return input_error("a plan of searches is damaged"); };
  Plan read(asked_, mutant_);
  PlanWords words(text);
  bool good = true;
  each_number(read, [&]<class T>(std::string_view word, T& member) {
    const std::uint64_t most = std::is_same_v<T, bool> ? 1
                               : std::is_same_v<T, Budget>
                                   ? static_cast<std::uint64_t>(Budget::Whole)
                               : sizeof(T) == sizeof(std::uint32_t) ? ~std::uint32_t{0}
                                                                    : ~std::uint64_t{0};
    const auto number = good ? words.number_of(word, most) : std::nullopt;
    good = number.has_value();
    member = good ? static_cast<T>(*number) : member;
  });
  const auto with = good ? words.value_of("with") : std::nullopt;
  const auto kept = with ? words.number_of("kept", 1) : std::nullopt;
  const auto kept_with = kept ? words.value_of("kept-with") : std::nullopt;
  if (!kept_with || !words.all_read()) {
    return bad();
  }
  TRY(const Options assumed, parse_options(*with));
  TRY(const Options kept_options, parse_options(*kept_with));
  read.assumed_ = with_limits_of(assumed, asked_);
  read.kept_ = *kept == 1 ? std::optional(with_limits_of(kept_options, asked_)) : std::nullopt;
  *this = std::move(read);
  return {};
}

std::string kind_of(const Plan::Attempt& attempt) {
  const Options& options = attempt.options;
  return fmt::format(
      "{}{}{}",
      starts_at_once(options) ? "blocks start at once, " : "",
      options.starts == Starts::InGroups ? "in groups, " : "",
      options.learned.unordered != 0 ? "one order"
      : options.by_decisions         ? "by decisions"
                                     : "every order"
  );
}

} // namespace heddle::explore
