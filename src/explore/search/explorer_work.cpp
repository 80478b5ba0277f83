// Giving work away and taking it. A process that has nothing left to do goes back to the base of
// its family (work_board.h) and rests; one that has work gives it half of what it has left, those
// choices that are nearest to the beginning, since they are likely to lead to most. If nobody rests
// it forks a new member, which costs as much as some thousands of states: page tables, copies on
// write, and each page of the table once more.
#include "explore/search/explorer_impl.h"
#include "explore/search/state_work.h"
#include "explore/search/work.h"
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

/// Of the choices of a state on the way: which this process goes on with in any case.
std::size_t Explorer::first_to_give(const Node& node) const {
  return node.next + (&node == &path_.back() && node.next < node.choices.size() ? 1 : 0);
}

/// Records the moves that lead to known states and removes their choices: nothing is left to do
/// there.
void Explorer::drop_known(Node& node) {
  const auto begin = node.choices.begin() + static_cast<std::ptrdiff_t>(first_to_give(node));
  const auto rest = std::remove_if(begin, node.choices.end(), [&](const Choice& choice) {
    return choice.kind == Choice::Kind::Thread && choice.ahead &&
           choice.again.epoch == stepper_.epoch() && leads_to_known(node, choice);
  });
  queue_ -= static_cast<std::uint64_t>(node.choices.end() - rest);
  node.choices.erase(rest, node.choices.end());
}

/// For each state of path_ how many of its choices stay here; empty: there is nothing to give away.
std::vector<std::size_t> Explorer::halve() {
  course_.give_up();
  std::uint64_t all = 0;
  for (Node& node : path_) {
    drop_known(node);
    all += node.choices.size() - first_to_give(node);
  }
  if (all == 0) {
    return {};
  }
  std::uint64_t wanted = (all + 1) / 2;
  std::vector<std::size_t> kept;
  for (const Node& node : path_) {
    const std::uint64_t could = node.choices.size() - first_to_give(node);
    const std::uint64_t given = std::min(could, wanted);
    wanted -= given;
    kept.push_back(node.choices.size() - given);
  }
  return kept;
}

Work Explorer::piece_of_work(std::span<const std::size_t> kept) const {
  Work work;
  std::size_t last = 0; // the deepest state that has choices for the other one
  for (std::size_t n = 0; n < path_.size(); ++n) {
    if (kept[n] < path_[n].choices.size()) {
      last = n;
    }
  }
  for (std::size_t n = 0; n <= last; ++n) {
    const Node& node = path_[n];
    if (n != 0) {
      work.steps.push_back(
          {.choice = path_[n - 1].taken,
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
    open.claimer = node.claimer == StateTable::own_claim ? own_rank() : node.claimer;
    open.signature = signature_of(node.moves);
    for (std::size_t c = kept[n]; c < node.choices.size(); ++c) {
      open.choices.push_back(node.choices[c].number);
    }
  }
  work.end = path_[last].device;
  return work;
}

void Explorer::keep(std::span<const std::size_t> kept) {
  for (std::size_t n = 0; n < kept.size(); ++n) {
    queue_ -= path_[n].choices.size() - kept[n];
    path_[n].choices.resize(kept[n]);
  }
}

/// Gives half of what is left away if another process may take part.
void Explorer::share_work() {
  if (share_with_ranks()) {
    return;
  }
  if (course_.repeats() || !table_.help_wanted()) {
    return;
  }
  const auto now = std::chrono::steady_clock::now();
  if (now < next_piece_) {
    return;
  }
  next_piece_ = now + between_pieces;
  const bool may_fork = now >= next_fork_ && depth_ < max_depth_of_helpers;
  const bool somebody_rests = family_ && board_.some_idle(*family_);
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
  if (somebody_rests && board_.give(*family_, encode(piece_of_work(kept)))) {
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
void Explorer::fork_member(std::span<const std::size_t> kept) {
  if (!family_) {
    family_ = table_.process();
    board_.found(*family_);
  }
  Searcher helper;
  const WorkBoard::Family family = *family_;
  const pid_t id = fork_searcher(helper, family);
  if (id < 0) {
    table_.give_permit();
    return;
  }
  if (id > 0) {
    keep(kept);
    helpers_.push_back(helper);
    return;
  }
  std::size_t deepest = 0;
  for (std::size_t n = 0; n < path_.size(); ++n) {
    Node& node = path_[n];
    queue_ += node.choices.size() - kept[n];
    node.choices.erase(
        node.choices.begin(),
        node.choices.begin() + static_cast<std::ptrdiff_t>(kept[n])
    );
    node.next = 0;
    deepest = node.choices.empty() ? deepest : n;
  }
  stepper_.undo_to(path_[deepest].mark);
  path_.resize(deepest + 1);
}

/// This process has nothing left to do, and is at the base. False: nor will it get any more to do
/// there.
bool Explorer::take_work() {
  if (!family_) {
    return false;
  }
  note_facts();
  exchange_news();
  table_.set_frontier(0, 0);
  table_.set_open(0);
  const std::uint32_t process = table_.process();
  board_.rest(process);
  table_.give_permit();
  const auto answer = board_.await(process, patience_milliseconds);
  const auto* bytes = std::get_if<std::vector<std::byte>>(&answer);
  if (bytes == nullptr) {
    family_.reset();
    has_permit_ = false;
    return false;
  }
  const auto work = decode(*bytes);
  if (!work || !repeat_way(*work)) {
    table_.note(Fact::Unrepeatable);
    finish();
  }
  return true;
}

/// From the base, the only state of path_. False: what was said of the way does not hold here.
bool Explorer::repeat_way(const Work& work, bool of_other_rank) {
  open_waits();
  // Devices' moves of a state have been claimed by the rank that gives some of them.
  const auto note_claimed = [&](std::size_t step) {
    const Node& node = path_.back();
    const bool some =
        step < work.steps.size() || std::ranges::any_of(
                                        node.choices,
                                        [](const Choice& c) { return c.kind != Choice::Kind::Host; }
                                    );
    if (of_other_rank && some) {
      table_.note_elsewhere(node.state);
    }
  };
  auto open = [&, next = work.open.begin()](std::size_t step) mutable {
    Node& node = path_.back();
    node.choices.clear();
    node.next = 0;
    node.looked_ahead = true; // choice by choice
    if (next == work.open.end() || next->step != step) {
      note_claimed(step);
      return true;
    }
    if (next->signature != signature_of(node.moves)) {
      return false;
    }
    node.claimer = next->claimer == own_rank() ? StateTable::own_claim : next->claimer;
    all_choices(node);
    std::erase_if(node.choices, [&](const Choice& choice) {
      return std::ranges::find(next->choices, choice.number) == next->choices.end();
    });
    queue_ += node.choices.size();
    note_claimed(step);
    const bool found = node.choices.size() == next->choices.size();
    ++next;
    return found;
  };
  if (!open(0)) {
    return false;
  }
  Node scratch; // for the numbers of choices
  for (std::size_t n = 0; n < work.steps.size(); ++n) {
    const Work::Step& step = work.steps[n];
    scratch.moves = path_.back().moves;
    all_choices(scratch);
    const auto choice = std::ranges::find(scratch.choices, step.choice, &Choice::number);
    if (choice == scratch.choices.end() || choice->kind != Choice::Kind::Thread) {
      return false;
    }
    path_.back().taken = step.choice;
    stepper_.step(scratch.moves[choice->move]);
    if (stepper_.failure()) {
      return false;
    }
    const Look look = look_around();
    if (step.check != unchecked && look.check != unchecked && step.check != look.check) {
      return false;
    }
    StateId state = step.state;
    if (of_other_rank) {
      const auto known = table_.know(sum_of(look.device, look.beside));
      if (!known) {
        table_.note_limit_of_states();
        finish();
      }
      state = *known;
    }
    add_node(state, look);
    path_.back().width = step.width;
    path_.back().alike = step.alike;
    if (!open(n + 1)) {
      return false;
    }
  }
  const Hash128& end = path_.back().device;
  return end.low == work.end.low && end.high == work.end.high;
}

/// This process goes on from somewhere else than the base, or ends.
void Explorer::leave_family() {
  if (family_) {
    board_.quit(table_.process());
    family_.reset();
  }
}

/// What threads have executed since the last time (StateTable::computed).
std::uint32_t Explorer::computed_since() {
  constexpr std::uint64_t instructions_for_one = 256;
  const std::uint64_t computed = (stepper_.executed() - counted_) / instructions_for_one;
  counted_ += computed * instructions_for_one;
  return static_cast<std::uint32_t>(computed);
}

/// Has this search had what it was given?
bool Explorer::is_spent() const {
  return (options_.max_work != 0 && table_.work() >= options_.max_work) ||
         (options_.max_computed != 0 && table_.computed() >= options_.max_computed);
}

/// What the last state of path_ and its moves that cannot be taken back are worth, but for what an
/// earlier part of this search has counted.
void Explorer::add_work(const Node& node, bool is_new, const Choices& before) {
  const auto count = std::ranges::count_if(node.choices, [&](const Choice& choice) {
    return choice.kind != Choice::Kind::Thread && !is_in(choice, before);
  });
  table_.add_work(is_new ? work_of(node.moves.size()) : 0, static_cast<std::uint32_t>(count));
  if (is_new) {
    table_.add_computed(computed_since());
  }
}

} // namespace heddle::explore
