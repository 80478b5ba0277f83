// Implements shares.h.
#include "explore/search/shares.h"

#include "explore/witness/schedule.h"

#include <algorithm>
#include <bit>
#include <type_traits>
#include <variant>

namespace heddle::explore {

namespace {

// A process also waits for those that it has forked; that must not bring the limit nearer.
constexpr int max_depth_of_helpers = 1000;
// A process that is given too little is back soon; that must not cost more than it brings.
constexpr auto between_forks = std::chrono::milliseconds(1);
constexpr auto between_pieces = std::chrono::microseconds(200);
// A process that rests longer takes memory for nothing.
constexpr int patience_milliseconds = 250;

/// Names the moves of a state, in their order: whoever goes there again must find the same ones.
std::uint64_t signature_of(std::span<const Stepper::Move> moves) {
  Hasher hasher;
  for (const Stepper::Move& move : moves) {
    hasher.value(move.command);
    hasher.value(move.cluster);
    hasher.value(move.block);
    hasher.value(move.warp);
    hasher.value(move.lane);
    hasher.value(move.who);
    hasher.value(move.count);
    hasher.value(move.pick);
    hasher.value(move.lanes);
    hasher.value(move.first);
  }
  return hasher.finish().low;
}

} // namespace

Shares::Shares(
    Ground& ground,
    System& system,
    Way& way,
    Processes& processes,
    Mover& mover,
    News& news
)
    : ground_(ground),
      table_(ground.table),
      stepper_(ground.stepper),
      system_(system),
      way_(way),
      processes_(processes),
      mover_(mover),
      news_(news) {}

/// Of the choices of a state on the way: which this process goes on with in any case.
std::size_t Shares::first_to_give(const Node& node) const {
  return node.next + (&node == &way_.nodes().back() && node.next < node.choices.size() ? 1 : 0);
}

/// Records the moves that lead to known states and removes their choices: nothing is left to do
/// there.
void Shares::drop_known(Node& node) {
  const auto begin = node.choices.begin() + static_cast<std::ptrdiff_t>(first_to_give(node));
  const auto rest = std::remove_if(begin, node.choices.end(), [&](const Choice& choice) {
    return choice.kind == Choice::Kind::Thread && choice.ahead &&
           choice.again.epoch == stepper_.epoch() && mover_.leads_to_known(node, choice);
  });
  way_.done(static_cast<std::uint64_t>(node.choices.end() - rest));
  node.choices.erase(rest, node.choices.end());
}

std::vector<std::size_t> Shares::halve() {
  std::vector<Node>& path = way_.nodes();
  way_.course().give_up();
  std::uint64_t all = 0;
  for (Node& node : path) {
    drop_known(node);
    all += node.choices.size() - first_to_give(node);
  }
  if (all == 0) {
    return {};
  }
  std::uint64_t wanted = (all + 1) / 2;
  std::vector<std::size_t> kept;
  for (const Node& node : path) {
    const std::uint64_t could = node.choices.size() - first_to_give(node);
    const std::uint64_t given = std::min(could, wanted);
    wanted -= given;
    kept.push_back(node.choices.size() - given);
  }
  return kept;
}

Work Shares::piece_of_work(std::span<const std::size_t> kept) const {
  const std::vector<Node>& path = way_.nodes();
  Work work;
  std::size_t last = 0; // the deepest state that has choices for the other one
  for (std::size_t n = 0; n < path.size(); ++n) {
    if (kept[n] < path[n].choices.size()) {
      last = n;
    }
  }
  for (std::size_t n = 0; n <= last; ++n) {
    const Node& node = path[n];
    if (n != 0) {
      work.steps.push_back(
          {.choice = path[n - 1].taken,
           .check = node.check,
           .state = node.state,
           .width = node.width,
           .alike = static_cast<std::uint32_t>(node.alike)}
      );
    }
    if (kept[n] == node.choices.size()) {
      continue;
    }
    Work::Open& open = work.open.emplace_back();
    open.step = static_cast<std::uint32_t>(n);
    open.claimer = node.claimer == StateTable::own_claim ? ground_.own_rank() : node.claimer;
    open.signature = signature_of(node.moves);
    for (std::size_t c = kept[n]; c < node.choices.size(); ++c) {
      open.choices.push_back(node.choices[c].number);
    }
  }
  work.end = path[last].device;
  return work;
}

void Shares::keep(std::span<const std::size_t> kept) {
  std::vector<Node>& path = way_.nodes();
  for (std::size_t n = 0; n < kept.size(); ++n) {
    way_.done(path[n].choices.size() - kept[n]);
    path[n].choices.resize(kept[n]);
  }
}

void Shares::give() {
  if (way_.course().repeats() || !table_.help_wanted()) {
    return;
  }
  const auto now = std::chrono::steady_clock::now();
  if (now < next_piece_) {
    return;
  }
  next_piece_ = now + between_pieces;
  const bool may_fork = now >= next_fork_ && processes_.depth() < max_depth_of_helpers;
  const auto family = processes_.family();
  WorkBoard& board = processes_.board();
  const bool somebody_rests = family && board.some_idle(*family);
  if (!somebody_rests && !may_fork) {
    return;
  }
  if (!table_.take_permit()) {
    return;
  }
  const std::vector<std::size_t> kept = halve();
  if (kept.empty()) {
    table_.give_permit();
    return;
  }
  if (somebody_rests && board.give(*family, encode(piece_of_work(kept)))) {
    keep(kept);
    return;
  }
  if (!may_fork) {
    table_.give_permit();
    return;
  }
  next_fork_ = now + between_forks;
  fork_member(kept);
}

/// A new process has a permit. It gets all but what is kept.
void Shares::fork_member(std::span<const std::size_t> kept) {
  std::vector<Node>& path = way_.nodes();
  Searcher helper;
  const pid_t id = processes_.fork_searcher(helper, processes_.found_family());
  if (id < 0) {
    table_.give_permit();
    return;
  }
  if (id > 0) {
    keep(kept);
    processes_.add_helper(helper);
    return;
  }
  std::size_t deepest = 0;
  for (std::size_t n = 0; n < path.size(); ++n) {
    Node& node = path[n];
    way_.found(node.choices.size() - kept[n]);
    node.choices.erase(
        node.choices.begin(),
        node.choices.begin() + static_cast<std::ptrdiff_t>(kept[n])
    );
    node.next = 0;
    deepest = node.choices.empty() ? deepest : n;
  }
  stepper_.undo_to(path[deepest].mark);
  path.resize(deepest + 1);
}

bool Shares::take() {
  if (!processes_.family()) {
    return false;
  }
  news_.note_facts();
  news_.exchange();
  way_.show_nothing();
  const std::uint32_t process = table_.process();
  processes_.board().rest(process);
  table_.give_permit();
  const auto answer = processes_.board().await(process, patience_milliseconds);
  const auto* bytes = std::get_if<std::vector<std::byte>>(&answer);
  if (bytes == nullptr) {
    processes_.lose_family();
    return false;
  }
  const auto work = decode(*bytes);
  if (!work || !repeat_way(*work)) {
    processes_.unrepeatable();
  }
  return true;
}

/// The last state of the way has those choices, or none.
bool Shares::open_choices(const Work::Open* open) {
  Node& node = way_.last();
  node.choices.clear();
  node.next = 0;
  node.looked_ahead = true; // choice by choice
  if (open == nullptr) {
    return true;
  }
  if (open->signature != signature_of(node.moves)) {
    return false;
  }
  const bool own = open->claimer == ground_.own_rank();
  node.claimer = own ? StateTable::own_claim : open->claimer;
  system_.all_choices(node);
  std::erase_if(node.choices, [&](const Choice& choice) {
    return std::ranges::find(open->choices, choice.number) == open->choices.end();
  });
  way_.found(node.choices.size());
  return node.choices.size() == open->choices.size();
}

/// To the next state of the way.
bool Shares::repeat_step(const Work::Step& step, bool of_other_rank) {
  Node scratch; // for the numbers of choices
  scratch.moves = way_.last().moves;
  system_.all_choices(scratch);
  const auto choice = std::ranges::find(scratch.choices, step.choice, &Choice::number);
  if (choice == scratch.choices.end() || choice->kind != Choice::Kind::Thread) {
    return false;
  }
  way_.last().taken = step.choice;
  stepper_.step(scratch.moves[choice->move]);
  if (stepper_.failure()) {
    return false;
  }
  const Look look = system_.look_around();
  if (step.check != unchecked && look.check != unchecked && step.check != look.check) {
    return false;
  }
  StateId state = step.state;
  if (of_other_rank) {
    const auto known = table_.know(sum_of(look.device, look.beside));
    if (!known) {
      table_.note_limit_of_states();
      processes_.finish();
    }
    state = *known;
  }
  Node& node = way_.add(state, look);
  node.width = step.width;
  node.alike = step.alike;
  return true;
}

bool Shares::repeat_way(const Work& work, bool of_other_rank) {
  system_.open_waits();
  auto next = work.open.begin();
  for (std::size_t n = 0;; ++n) {
    const bool is_open = next != work.open.end() && next->step == n;
    const bool found = open_choices(is_open ? &*next : nullptr);
    if (!found) {
      return false;
    }
    // Devices' moves of a state have been claimed by the rank that gives some of them.
    const bool some = n < work.steps.size() ||
                      std::ranges::any_of(
                          way_.last().choices,
                          [](const Choice& choice) { return choice.kind != Choice::Kind::Host; }
                      );
    if (of_other_rank && some) {
      table_.note_elsewhere(way_.last().state);
    }
    next += is_open ? 1 : 0;
    if (n == work.steps.size()) {
      break;
    }
    if (!repeat_step(work.steps[n], of_other_rank)) {
      return false;
    }
  }
  const Hash128& end = way_.last().device;
  return end.low == work.end.low && end.high == work.end.high;
}

} // namespace heddle::explore
