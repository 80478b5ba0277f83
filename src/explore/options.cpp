// Words of HEDDLE_EXPLORE and of schedule strings.
#include "explore/options.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>

namespace heddle::explore {

namespace {

constexpr auto models = std::to_array<std::string_view>({"cuda", "fair", "obe", "hsa", "lobe"});

/// An option that is either as usual or not: `text` says that it is not.
struct Switch {
  std::string_view text;
  bool Options::* member;
  bool value;
};
constexpr auto switches = std::to_array<Switch>({
    {"host-progress=none", &Options::host_progress, false},
    {"api=prompt", &Options::prompt_api, true},
    {"other-processes", &Options::other_processes, true},
    {"spurious-failures", &Options::spurious_failures, true},
    {"barriers=guide", &Options::guide_barriers, true},
    {"no-symmetry", &Options::symmetry, false},
    {"no-eager", &Options::eager, false},
    {"no-sums", &Options::sums, false},
    {"no-orderly", &Options::orderly, false},
    {"no-places", &Options::places, false},
    {"no-movers", &Options::movers, false},
    {"no-early-writes", &Options::early_writes, false},
    {"no-settled", &Options::settled, false},
    {"no-data-order", &Options::data_order, false},
    {"no-retries", &Options::retries, false},
    {"no-cone", &Options::cone, false},
    {"states=by-decisions", &Options::by_decisions, true},
    {"host=decides", &Options::host_decides, true},
    {"no-phases", &Options::phases, false},
    {"no-peeks", &Options::peeks, false},
    {"no-allocations", &Options::allocations, false},
    {"no-neighbours", &Options::neighbours, false},
    {"no-host-first", &Options::host_first, false},
    {"no-straight", &Options::straight, false},
    {"gives-up", &Options::gives_up, true},
    {"warps=lockstep", &Options::lockstep, true},
    {"stale-reads", &Options::stale_reads, true},
    {"reconvergence=common-exit", &Options::common_exit, true},
    {"ignore=DEP", &Options::ignore_grid_order, true},
    {"same-value=error", &Options::same_value_races, true},
});

constexpr std::string_view ptx_key = "memory=ptx"; // stands for several switches, too
constexpr std::string_view progress_key = "progress=";
constexpr std::string_view at_once_key = "starts=at-once", in_groups_key = "starts=in-groups";
/// What has been learned of the program: a set of instructions or kernels each.
struct LearnedSet {
  std::string_view key;
  std::uint64_t reduce::Learned::* member;
};
constexpr auto learned_sets = std::to_array<LearnedSet>({
    {"contended=", &reduce::Learned::contended},
    {"places=", &reduce::Learned::places},
    {"immovable=", &reduce::Learned::immovable},
    {"rewritten=", &reduce::Learned::rewritten},
    {"owned=", &reduce::Learned::owned},
    {"unordered=", &reduce::Learned::unordered},
    {"lasting=", &reduce::Learned::lasting},
    {"deciding=", &reduce::Learned::deciding},
    {"kept=", &reduce::Learned::kept},
    {"refuted=", &reduce::Learned::refuted},
});
constexpr std::string_view expect_exit_key = "expect-exit=";
constexpr std::string_view straight_key = "straight-after=";
constexpr std::string_view one_order_key = "one-order-after=";
constexpr std::string_view work_key = "max-work=";
constexpr std::string_view computed_key = "max-computed=";
constexpr std::string_view states_key = "max-states=";
constexpr std::string_view seconds_key = "max-time=";
constexpr std::string_view mebibytes_key = "max-memory=";
constexpr std::string_view schedules_key = "schedules=";
constexpr std::string_view seed_key = "seed=";
constexpr std::string_view table_key = "table=";
constexpr std::string_view replay_key = "replay=";
constexpr std::string_view trace_key = "trace=";
constexpr std::string_view samples_key = "samples=";

/// True if `word` is "key<number>" with a number of T that is not negative.
template <class T> bool read_number(std::string_view word, std::string_view key, T& value) {
  if (!word.starts_with(key)) {
    return false;
  }
  word.remove_prefix(key.size());
  T number{};
  const auto [end, failure] = std::from_chars(word.data(), word.data() + word.size(), number);
  if (failure != std::errc() || end != word.data() + word.size() || !(number >= T{})) {
    return false;
  }
  value = number;
  return true;
}

bool read_option(std::string_view word, Options& options) {
  const auto* known = std::ranges::find(switches, word, &Switch::text);
  if (known != switches.end()) {
    options.*known->member = known->value;
    return true;
  }
  if (word == ptx_key) {
    options = with_ptx_memory(options);
    return true;
  }
  if (word == at_once_key || word == in_groups_key) {
    options.starts = word == at_once_key ? Starts::AtOnce : Starts::InGroups;
    return true;
  }
  if (word.starts_with(progress_key)) {
    const auto model = find_progress_model(word.substr(progress_key.size()));
    options.progress = model.value_or(options.progress);
    return model.has_value();
  }
  for (const LearnedSet& set : learned_sets) {
    if (read_number(word, set.key, options.learned.*set.member)) {
      return true;
    }
  }
  return read_number(word, expect_exit_key, options.expect_exit) ||
         read_number(word, straight_key, options.straight_after) ||
         read_number(word, one_order_key, options.one_order_after) ||
         read_number(word, work_key, options.max_work) ||
         read_number(word, computed_key, options.max_computed) ||
         read_number(word, states_key, options.max_states) ||
         read_number(word, seconds_key, options.max_seconds) ||
         read_number(word, mebibytes_key, options.max_mebibytes) ||
         read_number(word, schedules_key, options.schedules) ||
         read_number(word, seed_key, options.seed);
}

bool read_handover(std::string_view word, Handover& handover) {
  return read_number(word, table_key, handover.table) ||
         read_number(word, replay_key, handover.replay) ||
         read_number(word, trace_key, handover.trace) ||
         read_number(word, samples_key, handover.samples) || read_option(word, handover.options);
}

/// Calls read(word) for each word between commas. Input error: it does not know one.
template <class Read> Result<void> read_words(std::string_view text, Read read) {
  while (!text.empty()) {
    const std::string_view word = text.substr(0, text.find(','));
    if (!read(word)) {
      return input_error(fmt::format("'{}' is no option of a search", word));
    }
    text.remove_prefix(std::min(text.size(), word.size() + 1));
  }
  return {};
}

} // namespace

std::string_view name(ProgressModel model) {
  return models[static_cast<std::size_t>(model)];
}

std::optional<ProgressModel> find_progress_model(std::string_view name) {
  const auto* known = std::ranges::find(models, name);
  if (known == models.end()) {
    return std::nullopt;
  }
  return static_cast<ProgressModel>(known - models.begin());
}

std::string to_text(const Options& options) {
  const Options defaults;
  std::string text;
  const auto add = [&text](std::string_view key, const auto& value) {
    text += fmt::format("{}{}{}", text.empty() ? "" : ",", key, value);
  };
  if (options.progress != defaults.progress) {
    add(progress_key, name(options.progress));
  }
  if (options.ptx_memory) {
    add(ptx_key, "");
  }
  const Options usual = options.ptx_memory ? with_ptx_memory({}) : defaults;
  for (const Switch& s : switches) {
    if (options.*s.member == s.value && usual.*s.member != s.value) {
      add(s.text, "");
    }
  }
  if (options.starts != Starts::AtAnyTime) {
    add(options.starts == Starts::AtOnce ? at_once_key : in_groups_key, "");
  }
  for (const LearnedSet& set : learned_sets) {
    if (options.learned.*set.member != 0) {
      add(set.key, options.learned.*set.member);
    }
  }
  if (options.expect_exit != defaults.expect_exit) {
    add(expect_exit_key, options.expect_exit);
  }
  if (options.straight_after != defaults.straight_after) {
    add(straight_key, options.straight_after);
  }
  if (options.one_order_after != defaults.one_order_after) {
    add(one_order_key, options.one_order_after);
  }
  if (options.max_work != defaults.max_work) {
    add(work_key, options.max_work);
  }
  if (options.max_computed != defaults.max_computed) {
    add(computed_key, options.max_computed);
  }
  if (options.max_states != defaults.max_states) {
    add(states_key, options.max_states);
  }
  if (options.max_seconds != defaults.max_seconds) {
    add(seconds_key, options.max_seconds);
  }
  if (options.max_mebibytes != defaults.max_mebibytes) {
    add(mebibytes_key, options.max_mebibytes);
  }
  if (options.schedules != defaults.schedules) {
    add(schedules_key, options.schedules);
  }
  if (options.seed != defaults.seed) {
    add(seed_key, options.seed);
  }
  return text;
}

Options with_ptx_memory(Options options) {
  options.ptx_memory = true;
  options.symmetry = options.sums = options.data_order = false;
  options.retries = options.cone = options.phases = options.allocations = false;
  options.neighbours = options.movers = false;
  return options;
}

Options without_limits(const Options& options) {
  const Options defaults;
  Options result = options;
  result.learned.lasting = defaults.learned.lasting;
  result.gives_up = defaults.gives_up;
  result.straight_after = defaults.straight_after;
  result.one_order_after = defaults.one_order_after;
  result.max_work = defaults.max_work;
  result.max_computed = defaults.max_computed;
  result.max_states = defaults.max_states;
  result.max_seconds = defaults.max_seconds;
  result.max_mebibytes = defaults.max_mebibytes;
  result.schedules = defaults.schedules;
  result.seed = defaults.seed;
  return result;
}

Options with_limits_of(Options options, const Options& limits) {
  options.straight_after = limits.straight_after;
  options.one_order_after = limits.one_order_after;
  options.max_work = limits.max_work;
  options.max_computed = limits.max_computed;
  options.max_states = limits.max_states;
  options.max_seconds = limits.max_seconds;
  options.max_mebibytes = limits.max_mebibytes;
  options.schedules = limits.schedules;
  options.seed = limits.seed;
  return options;
}

Result<Options> parse_options(std::string_view text) {
  Options options;
  TRY_VOID(read_words(text, [&](std::string_view word) { return read_option(word, options); }));
  return options;
}

std::string to_text(const Handover& handover) {
  std::string text = fmt::format("{}{}", table_key, handover.table);
  if (handover.replay >= 0) {
    text += fmt::format(",{}{}", replay_key, handover.replay);
  }
  if (handover.trace >= 0) {
    text += fmt::format(",{}{}", trace_key, handover.trace);
  }
  if (handover.samples >= 0) {
    text += fmt::format(",{}{}", samples_key, handover.samples);
  }
  const std::string options = to_text(handover.options);
  return options.empty() ? text : text + "," + options;
}

Result<Handover> parse_handover(std::string_view text) {
  Handover handover;
  text = text.substr(0, text.find_last_not_of(' ') + 1); // of a fixed length
  TRY_VOID(read_words(text, [&](std::string_view word) { return read_handover(word, handover); }));
  if (handover.table < 0) {
    return input_error(
        "HEDDLE_MODE=check is set by `heddle check`, which also passes HEDDLE_EXPLORE=table=<fd>"
    );
  }
  return handover;
}

} // namespace heddle::explore
