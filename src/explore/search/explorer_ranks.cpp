// One search on several ranks (divided_search.h): what a process of it does otherwise. It makes no
// move that it knows another rank to make, gives work to ranks that have none, and does theirs.
//
// What is not explored here because it is claimed elsewhere is explored there: [RANK-CLAIMS] in
// spec/ranks.md. A claim is announced after StateTable::claim() has granted it and keep_ours() has
// kept it, and from then on it is in the choices of a node: it is made, or given away as a part of
// a Work, whose taker makes it, or the search ends early and says so.
#include "explore/search/explorer_impl.h"
#include "explore/witness/schedule.h"

#include <algorithm>
#include <bit>

namespace heddle::explore {

namespace {

// A piece is a process for its taker, which repeats the way to it.
constexpr auto between_pieces_for_ranks = std::chrono::microseconds(500);

} // namespace

/// Ranks that come to the same states try the moves of devices in different orders, so that each
/// finds something that the others have not claimed a moment ago.
void Explorer::begin_elsewhere(Node& node) const {
  const auto end = std::ranges::find_if(node.choices, [](const Choice& choice) {
    return choice.kind != Choice::Kind::Thread;
  });
  const auto count = static_cast<std::uint64_t>(end - node.choices.begin());
  const auto first = count * ranks_->rank() / ranks_->ranks();
  std::rotate(node.choices.begin(), node.choices.begin() + static_cast<std::ptrdiff_t>(first), end);
}

/// Gives half of what is left to a rank that has nothing to do. False: there is none, or nothing.
bool Explorer::share_with_ranks() {
  if (!ranks_ || !ranks_->wants_work() || table_.saw(Fact::HostAllocates)) {
    return false;
  }
  const auto now = std::chrono::steady_clock::now();
  if (now < next_piece_) {
    return false;
  }
  next_piece_ = now + between_pieces_for_ranks;
  const std::vector<std::size_t> kept = halve();
  if (kept.empty()) {
    return false;
  }
  const Node& base = path_.front();
  const Errand errand{
      .way = way_,
      .base = sum_of(base.device, base.beside),
      .weight = weight_,
      .work = piece_of_work(kept)
  };
  if (!ranks_->give(encode(errand))) {
    return false;
  }
  keep(kept);
  return true;
}

/// The choice under way in the last state of path_ leads to where nobody goes back from.
void Explorer::note_way() {
  for (std::size_t n = 0; ranks_ && n < path_.size(); ++n) {
    way_.push_back(
        {.choice = path_[n].taken, .check = n + 1 < path_.size() ? path_[n + 1].check : unchecked}
    );
  }
}

void Explorer::unrepeatable() {
  table_.note(Fact::Unrepeatable);
  finish();
}

/// At the beginning of the program. Returns in a process that is forked for each errand.
Errand Explorer::await_errand() {
  for (;;) {
    const auto bytes = ranks_->await();
    if (!bytes) {
      finish();
    }
    auto errand = decode_errand(*bytes);
    if (!errand) {
      unrepeatable();
    }
    Searcher child;
    const pid_t id = fork_searcher(child);
    if (id == 0) {
      serves_ = false;
      takes_errands_ = true;
      return *std::move(errand);
    }
    if (id < 0) {
      table_.add_event(EventKind::Incomplete, 0, 0, "cannot fork for work of another rank");
    } else if (ended_well(child)) {
      table_.go_on(); // with the permit that it has given back
    }
  }
}

/// True: the host goes on. False: all is done.
bool Explorer::do_errand() {
  if (!errand_) {
    errand_.emplace(await_errand());
  }
  if (go_to_base(*errand_)) {
    return true;
  }
  const std::size_t base = way_.size();
  do {
    begin_errand(*errand_);
    if (search()) {
      errand_.reset();
      return true;
    }
    errand_.reset();
    // Else somewhere behind it, where nobody goes back from. A member of its family has nothing to
    // say of the others, which may be at work.
  } while (takes_errands_ && way_.size() == base && helpers_.empty() && take_errand_here());
  return false;
}

/// At the base of the last errand, which is done: another one from here does not need a process.
bool Explorer::take_errand_here() {
  note_facts();
  exchange_news();
  table_.set_frontier(0, 0);
  table_.set_open(0);
  const auto bytes = ranks_->await();
  auto errand = bytes ? decode_errand(*bytes) : std::nullopt;
  if (!errand) {
    return false;
  }
  if (errand->way != way_) {
    ranks_->leave(*bytes);
    return false;
  }
  errand_ = std::move(errand);
  return true;
}

/// From here on along the way. True: the host goes on; false: this is the base.
bool Explorer::go_to_base(Errand& errand) {
  while (errand_taken_ < errand.way.size()) {
    const Errand::Step step = errand.way[errand_taken_++];
    way_.push_back(step);
    open_waits();
    Node node;
    node.mark = stepper_.mark();
    stepper_.moves(node.moves);
    all_choices(node);
    const auto choice = std::ranges::find(node.choices, step.choice, &Choice::number);
    if (choice == node.choices.end()) {
      unrepeatable();
    }
    if (go(node, *choice)) {
      return true;
    }
    if (stepper_.failure()) {
      unrepeatable();
    }
    const std::uint32_t check = check_of_state(stepper_.fingerprint());
    if (step.check != unchecked && check != unchecked && step.check != check) {
      unrepeatable();
    }
  }
  return false;
}

/// At its base.
void Explorer::begin_errand(const Errand& errand) {
  last_.reset();
  last_label_ = 0;
  weight_ = errand.weight;
  course_.set_base(errand.way.size());
  exchange_news();
  const Look look = look_around();
  const Hash128 hash = sum_of(look.device, look.beside);
  if (hash != errand.base) {
    unrepeatable();
  }
  const auto base = table_.know(hash);
  if (!base) {
    table_.note_limit_of_states();
    finish();
  }
  add_node(*base, look);
  if (!repeat_way(errand.work, /*of_other_rank=*/true)) {
    unrepeatable();
  }
}

} // namespace heddle::explore
