// Implements plan.h.
#include "explore/strategy/plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <utility>

namespace heddle::explore {

using reduce::Mutant;

namespace {

// A beginning is given up after Options::one_order_after states, or after so much work for each of
// them, or so much computing (StateTable::work, computed): where states are large, or need
// processes, that is some seconds, too.
constexpr std::uint32_t work_for_state = 20;
constexpr std::uint32_t least_states = 1000; // for that: a program has to start
// So often a search begins again because an instruction conflicts at one place more; then it is
// contended everywhere. So often it does because a place is written again ([RED-SETTLED]); then all
// places are taken to be.
constexpr unsigned most_place_rounds = 4;

/// May it be searched with blocks that start at once if no state comes back? Only where somebody is
/// always owed the start of a block, as long as nobody waits for a thread of another block.
bool may_be_straight(const Options& options) {
  return options.straight && options.eager && options.progress == ProgressModel::Cuda &&
         options.host_progress && !options.other_processes && !options.lockstep &&
         !options.ignore_grid_order;
}

} // namespace

Plan::Plan(const Options& asked, Mutant mutant)
    : asked_(asked),
      options_(asked),
      mutant_(mutant),
      contended_(asked.learned.contended),
      every_order_(asked.data_order && asked.learned.unordered == 0),
      straight_(may_be_straight(asked)),
      cone_(asked.cone && !asked.by_decisions && asked.eager && !asked.lockstep) {}

void Plan::with_less() {
  if (cone_) {
    options_.by_decisions = options_.host_decides = true;
    cone_ = false;
    return;
  }
  if (one_order_may_do()) {
    every_order_ = false;
    options_.learned.contended = contended_;
    options_.learned.unordered = could_be_;
  }
  if (options_.host_decides && host_got_data_) {
    options_.learned.kept = options_.learned.deciding = 0; // the host's among them
  }
  options_.host_decides = false;
}

std::uint32_t work_for(std::uint32_t states) {
  const std::uint64_t most = std::uint64_t{work_for_state} * std::max(states, least_states);
  return static_cast<std::uint32_t>(std::min<std::uint64_t>(most, ~std::uint32_t{0}));
}

Plan::Attempt Plan::next() {
  one_order_might_have_done_ = one_order_may_do();
  less_might_have_done_ = less_may_do();
  const bool first = small_ && !options_.starts_at_once;
  Attempt attempt{.options = options_, .number = number_};
  if (less_might_have_done_ && (first || options_.starts_at_once)) {
    attempt.is_beginning = true;
    attempt.options.max_states = std::min(asked_.max_states, asked_.one_order_after);
    attempt.options.max_work = work_for(attempt.options.max_states);
    attempt.options.max_computed = attempt.options.max_work;
  }
  attempt.options.gives_up = first && straight_;
  attempt.is_beginning = attempt.is_beginning || attempt.options.gives_up;
  return attempt;
}

/// Without what has turned out to be wrong.
void Plan::begin_again(const Seen& seen) {
  const bool sums = (options_.sums || options_.orderly || options_.by_decisions) && seen.sums_clash;
  const bool host = options_.host_first && seen.host_clash;
  reduce::Learned blamed = options_.learned;
  if (sums || host || seen.refuted) {
    blamed |= seen.learned;
  }
  if (!options_.places) {
    blamed.places = 0;
  } else if (
      blamed.places != options_.learned.places && blamed.contended == options_.learned.contended &&
      ++place_rounds_ > most_place_rounds
  ) {
    blamed.places = ~std::uint64_t{0};
  }
  if (blamed.rewritten != options_.learned.rewritten && ++rewritten_rounds_ > most_place_rounds) {
    blamed.rewritten = ~std::uint64_t{0};
  }
  const bool news = blamed != options_.learned;
  host_got_data_ = host_got_data_ || seen.host_got_data;
  contended_ |=
      sums && !one_order_might_have_done_ ? blamed.contended & ~options_.learned.contended : 0;
  if (every_order_) {
    could_be_ |= blamed.unordered;
    blamed.contended |= blamed.unordered;
    blamed.unordered = 0;
  }
  options_.learned = blamed;
  options_.by_decisions = options_.by_decisions && (!seen.sums_clash || news);
  options_.sums = options_.sums && (!sums || news);
  options_.orderly = options_.orderly && (!sums || news);
  options_.host_first = options_.host_first && (!host || news);
}

bool Plan::is_void(const Seen& seen) const {
  return ((options_.sums || options_.orderly || options_.by_decisions) && seen.sums_clash) ||
         seen.refuted || (options_.host_first && seen.host_clash);
}

Plan::Next Plan::stop(const Seen& seen) {
  if (kept_) {
    options_ = kept_with_;
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
    return Next::Again;
  }
  const bool less = less_might_have_done_;
  const bool retried = options_.retries && seen.retries;
  const bool last = !options_.starts_at_once && !seen.gave_up && (!less || !small_);
  if (last && !kept_ && !retried) {
    return Next::This;
  }
  const Found found = judge();
  if (retried && !found.straight && mutant_ != Mutant::RetriesForgetCircles) {
    options_.retries = false; // somebody may change a place forever that another one updates
    return Next::Again;
  }
  if (last && !kept_) {
    return Next::This;
  }
  if (last) {
    if (!found.clean || found.complete) {
      return Next::This;
    }
    options_ = kept_with_; // later ones have learned more
    return Next::Kept;
  }
  const bool circles =
      (seen.circle || !found.straight) && mutant_ != Mutant::StraightForgetsCircles;
  if (found.complete && (!options_.starts_at_once || (!circles && found.clean))) {
    return Next::This;
  }
  Next next = Next::Again;
  if (!found.clean) { // nothing must be lost
    if (options_.starts_at_once) {
      kept_ = true;
      kept_with_ = options_;
      next = Next::KeepAndAgain;
    }
    small_ = straight_ = options_.starts_at_once = false;
  } else if (straight_ && !circles) {
    straight_ = false;
    options_.starts_at_once = true;
  } else if (options_.starts_at_once && !circles && less) {
    with_less();
  } else {
    straight_ = options_.starts_at_once = false;
    if (less) {
      with_less();
    }
    small_ = less_may_do();
  }
  return next;
}

// --- As a line -----------------------------------------------------------------------------------

struct Plan::Flag {
  std::string_view word;
  bool Plan::* member;
};
struct Plan::Set {
  std::string_view word;
  std::uint64_t Plan::* member;
};
struct Plan::Count {
  std::string_view word;
  unsigned Plan::* member;
};
// A member that is not here would be forgotten by a search that goes on (but for what next() sets).
constinit const Plan::Flag Plan::flags[] = {
    {"every-order", &Plan::every_order_},
    {"small", &Plan::small_},
    {"straight", &Plan::straight_},
    {"kept", &Plan::kept_},
    {"cone", &Plan::cone_},
    {"host-got-data", &Plan::host_got_data_},
};
constinit const Plan::Set Plan::sets[] = {
    {"could-be", &Plan::could_be_},
    {"contended", &Plan::contended_},
};
constinit const Plan::Count Plan::counts[] = {
    {"attempt", &Plan::number_},
    {"places", &Plan::place_rounds_},
    {"rewritten", &Plan::rewritten_rounds_},
};

/// "attempt=3 places=0 … small=1 … with=starts=at-once kept-with=".
std::string Plan::to_text() const {
  std::string text;
  const auto add = [&](std::string_view word, const auto& value) {
    text += fmt::format("{}{}={}", text.empty() ? "" : " ", word, value);
  };
  for (const Count& count : counts) {
    add(count.word, this->*count.member);
  }
  for (const Set& set : sets) {
    add(set.word, this->*set.member);
  }
  for (const Flag& flag : flags) {
    add(flag.word, this->*flag.member ? 1 : 0);
  }
  const Options usual;
  add("with", explore::to_text(with_limits_of(options_, usual)));
  add("kept-with", explore::to_text(with_limits_of(kept_with_, usual)));
  return text;
}

Result<void> Plan::go_on_from(std::string_view text) {
  const auto bad = [&] { return input_error("a plan of searches is damaged"); };
  const auto value_of = [&](std::string_view word) -> std::optional<std::string_view> {
    const std::string_view part = text.substr(0, text.find(' '));
    text.remove_prefix(std::min(text.size(), part.size() + 1));
    if (!part.starts_with(word) || part.substr(word.size(), 1) != "=") {
      return std::nullopt;
    }
    return part.substr(word.size() + 1);
  };
  const auto number_of = [&](std::string_view word, auto& number) {
    const auto value = value_of(word);
    if (!value) {
      return false;
    }
    const auto [end, failure] =
        std::from_chars(value->data(), value->data() + value->size(), number);
    return failure == std::errc() && end == value->data() + value->size();
  };
  Plan read(asked_, mutant_);
  bool good = true;
  for (const Count& count : counts) {
    good = good && number_of(count.word, read.*count.member);
  }
  for (const Set& set : sets) {
    good = good && number_of(set.word, read.*set.member);
  }
  for (const Flag& flag : flags) {
    unsigned is_set = 0;
    good = good && number_of(flag.word, is_set) && is_set <= 1;
    read.*flag.member = is_set != 0;
  }
  for (Options* const options : {&read.options_, &read.kept_with_}) {
    const auto words = value_of(options == &read.options_ ? "with" : "kept-with");
    if (!good || !words) {
      return bad();
    }
    TRY(const Options named, parse_options(*words));
    *options = with_limits_of(named, asked_);
  }
  if (!text.empty()) {
    return bad();
  }
  *this = std::move(read);
  return {};
}

std::string kind_of(const Plan::Attempt& attempt) {
  const Options& options = attempt.options;
  return fmt::format(
      "{}{}",
      options.starts_at_once ? "blocks start at once, " : "",
      options.learned.unordered != 0 ? "one order"
      : options.by_decisions         ? "by decisions"
                                     : "every order"
  );
}

} // namespace heddle::explore
