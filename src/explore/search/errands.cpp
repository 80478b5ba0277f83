// Implements errands.h.
#include "explore/search/errands.h"

#include "explore/witness/schedule.h"

#include <algorithm>
#include <bit>
#include <utility>

namespace heddle::explore {

namespace {

// A piece is a process for its taker, which repeats the way to it.
constexpr auto between_pieces_for_ranks = std::chrono::microseconds(500);

} // namespace

Errands::Errands(
    Ground& ground,
    System& system,
    Record& record,
    News& news,
    Way& way,
    Processes& processes,
    Mover& mover,
    Shares& shares
)
    : ground_(ground),
      system_(system),
      record_(record),
      news_(news),
      way_(way),
      processes_(processes),
      mover_(mover),
      shares_(shares),
      serves_(ground.ranks && ground.ranks->does_errands()) {}

void Errands::begin_elsewhere(Node& node) const {
  const auto end = std::ranges::find_if(node.choices, [](const Choice& choice) {
    return choice.kind != Choice::Kind::Thread;
  });
  const auto count = static_cast<std::uint64_t>(end - node.choices.begin());
  const auto first = count * ground_.ranks->rank() / ground_.ranks->ranks();
  std::rotate(node.choices.begin(), node.choices.begin() + static_cast<std::ptrdiff_t>(first), end);
}

bool Errands::give() {
  if (!ground_.ranks || !ground_.ranks->wants_work() || ground_.table.saw(Fact::HostAllocates)) {
    return false;
  }
  const auto now = std::chrono::steady_clock::now();
  if (now < next_piece_) {
    return false;
  }
  next_piece_ = now + between_pieces_for_ranks;
  const std::vector<std::size_t> kept = shares_.halve();
  if (kept.empty()) {
    return false;
  }
  const Node& base = way_.nodes().front();
  const Errand errand{
      .way = from_begin_,
      .base = sum_of(base.device, base.beside),
      .weight = way_.weight(),
      .work = shares_.piece_of_work(kept)
  };
  if (!ground_.ranks->give(encode(errand))) {
    return false;
  }
  shares_.keep(kept);
  return true;
}

void Errands::note_way() {
  const std::vector<Node>& path = way_.nodes();
  for (std::size_t n = 0; ground_.ranks && n < path.size(); ++n) {
    from_begin_.push_back(
        {.choice = path[n].taken, .check = n + 1 < path.size() ? path[n + 1].check : unchecked}
    );
  }
}

/// At the beginning of the program. Returns in a process that is forked for each errand.
Errand Errands::await() {
  for (;;) {
    const auto bytes = ground_.ranks->await();
    if (!bytes) {
      processes_.finish();
    }
    auto errand = decode_errand(*bytes);
    if (!errand) {
      processes_.unrepeatable();
    }
    Searcher child;
    const pid_t id = processes_.fork_searcher(child);
    if (id == 0) {
      serves_ = false;
      taker_ = processes_.depth();
      return *std::move(errand);
    }
    if (id < 0) {
      ground_.table.add_event(EventKind::Incomplete, 0, 0, "cannot fork for work of another rank");
    } else if (processes_.ended_well(child)) {
      ground_.table.go_on(); // with the permit that it has given back
    }
  }
}

bool Errands::perform(const std::function<bool()>& search) {
  if (!errand_) {
    errand_.emplace(await());
  }
  if (go_to_base(*errand_)) {
    return true;
  }
  const std::size_t base = from_begin_.size();
  do {
    begin(*errand_);
    if (search()) {
      errand_.reset();
      return true;
    }
    errand_.reset();
    // Else somewhere behind it, where nobody goes back from. A member of its family has nothing to
    // say of the others, which may be at work.
  } while (taker_ == processes_.depth() && from_begin_.size() == base &&
           !processes_.has_helpers() && take_here());
  return false;
}

/// At the base of the last errand, which is done: another one from here does not need a process.
bool Errands::take_here() {
  news_.note_facts();
  news_.exchange();
  way_.show_nothing();
  const auto bytes = ground_.ranks->await();
  auto errand = bytes ? decode_errand(*bytes) : std::nullopt;
  if (!errand) {
    return false;
  }
  if (errand->way != from_begin_) {
    ground_.ranks->leave(*bytes);
    return false;
  }
  errand_ = std::move(errand);
  return true;
}

/// From here on along the way. True: the host goes on; false: this is the base.
bool Errands::go_to_base(Errand& errand) {
  while (taken_ < errand.way.size()) {
    const Errand::Step step = errand.way[taken_++];
    from_begin_.push_back(step);
    system_.open_waits();
    Node node;
    node.mark = ground_.stepper.mark();
    ground_.stepper.moves(node.moves);
    system_.all_choices(node);
    const auto choice = std::ranges::find(node.choices, step.choice, &Choice::number);
    if (choice == node.choices.end()) {
      processes_.unrepeatable();
    }
    if (mover_.go(node, *choice)) {
      return true;
    }
    if (ground_.stepper.failure()) {
      processes_.unrepeatable();
    }
    const std::uint32_t check = system_.check_of_state(ground_.stepper.fingerprint());
    if (step.check != unchecked && check != unchecked && step.check != check) {
      processes_.unrepeatable();
    }
  }
  return false;
}

/// At its base.
void Errands::begin(const Errand& errand) {
  record_.forget_last();
  way_.set_weight(errand.weight);
  way_.course().set_base(errand.way.size());
  news_.exchange();
  const Look look = system_.look_around();
  const Hash128 hash = sum_of(look.device, look.beside);
  if (hash != errand.base) {
    processes_.unrepeatable();
  }
  const auto base = ground_.table.know(hash);
  if (!base) {
    ground_.table.note_limit_of_states();
    processes_.finish();
  }
  way_.add(*base, look);
  if (!shares_.repeat_way(errand.work, /*of_other_rank=*/true)) {
    processes_.unrepeatable();
  }
}

} // namespace heddle::explore
