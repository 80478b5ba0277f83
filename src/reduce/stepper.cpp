// Implements stepper.h.
#include "reduce/stepper.h"

#include "reduce/independence/owned.h"

#include <unordered_set>
#include <utility>

namespace heddle::reduce {

namespace {

/// What the reductions want to know of each place in the code.
LiveState::Options live_options(const StepperOptions& options) {
  const Learned& learned = options.learned;
  const Mutant mutant = options.mutant;
  return {
      .owns =
          [learned](const ptx::Function& f, std::uint32_t i) {
            return may_be_owned(f, i, learned);
          },
      .by_decisions = options.dead_data.by_decisions,
      .decisive_store =
          [learned](const ptx::Function& f, std::uint32_t i) {
            return (learned.deciding >> store_bucket_of(f, i) & 1) != 0;
          },
      .forgets_low_bit = mutant == Mutant::FaintLowBit,
      .forgets_first_register = mutant == Mutant::FaintFirstRegister,
      .clocks_without = clocks_without(mutant),
      .holds_all_times = options.model.clock_step != 0
  };
}

/// Updates do not commute with weak memory: the later one may take what the earlier one passes on.
StepperOptions sound(StepperOptions options) {
  options.independence.sums = options.independence.sums &&
                              (!options.model.weak || options.mutant == Mutant::SumsInWeakMemory);
  return options;
}

} // namespace

Stepper::Stepper(World& world, Options options)
    : options_(sound(std::move(options))),
      machine_(
          world,
          // Where lanes of a warp wait for each other a branch that does nothing is one all the
          // same.
          options_.by_warps() || !options_.independence.eager ? analysis::Liveness::Of::Reads
                                                              : analysis::Liveness::Of::Effects,
          live_options(options_),
          {.ignore_grid_order = options_.model.ignore_grid_order,
           .lasting = options_.learned.lasting,
           .mutant = options_.mutant}
      ),
      independence_(machine_, options_, [this] { dead_data_.cone().decided_by_anything(); }),
      renaming_(options_),
      dead_data_(machine_, options_),
      images_(
          machine_.live,
          renaming_,
          dead_data_,
          {.by_decisions = options_.dead_data.by_decisions,
           .by_warps = options_.by_warps(),
           .phases = options_.independence.phases}
      ),
      state_names_(machine_.works, machine_.journal, options_.mutant),
      weak_(
          !options_.model.weak ? nullptr
                               : std::make_unique<WeakMoves>(
                                     world,
                                     machine_.exec,
                                     machine_.live,
                                     machine_.works,
                                     independence_.operations().kinds(),
                                     independence_.accesses().sums(),
                                     WeakOptions{
                                         .same_value_races = options_.model.same_value_races,
                                         .settled = options_.persistent.settled,
                                         .rewritten = options_.learned.rewritten,
                                         .mutant = options_.mutant
                                     }
                                 )
      ),
      parts_{options_, machine_, independence_, dead_data_, images_, weak_, seen_, under_way_},
      free_moves_(parts_),
      present_(parts_, free_moves_.left),
      persistent_(parts_, present_, free_moves_),
      grids_(parts_, present_, free_moves_.settling),
      thread_moves_(parts_, free_moves_, present_, grids_),
      cached_(parts_, present_, state_names_, thread_moves_),
      commands_(parts_, free_moves_, present_, grids_, persistent_),
      enabled_(parts_) {
  if (weak_) {
    machine_.journal.tell_last(weak_->order());
    state_names_.tell(weak_->order());
  }
}

// --- Commands and the host -----------------------------------------------------------------------

void Stepper::submitted(const CommandPtr& command) {
  if (machine_.world.has_fault()) {
    command->done.store(true);
    return;
  }
  commands_.submitted(command);
  if (!under_way_.active) {
    look_for_unchosen();
  }
}

void Stepper::returned(const CommandPtr& command) {
  commands_.returned(command);
  look_for_unchosen();
}

void Stepper::host_accesses(std::uintptr_t address, std::size_t bytes) {
  const memory::Range range = machine_.world.space().find_range(address);
  if (range.size == 0) {
    return;
  }
  std::vector<Sums::WorkId> under_way;
  for (const auto& work : machine_.works) {
    if (!work->done) {
      under_way.push_back(work->identity);
    }
  }
  if (options_.persistent.in_groups) {
    persistent_.groups().meetings().comes_anywhere();
  }
  // Where blocks start at once: what has been carried out early could as well still be to come.
  persistent_.early_commands().add_carried_out(under_way);
  const std::uint64_t place = address + static_cast<std::uint64_t>(range.delta);
  if (const void* const at = machine_.world.space().host_pointer(address, 1)) {
    const auto* const byte = static_cast<const std::byte*>(at);
    independence_.order().host_accesses(byte, bytes);
    independence_.operations().clocks().data().host_accesses(byte, bytes);
  }
  constexpr std::uint64_t host = ~std::uint64_t{0};
  independence_.accesses().sums().note_host(
      {.place = place,
       .bytes = static_cast<std::uint32_t>(bytes),
       .thread = host,
       .block = host,
       .contended = true,
       .of_host = true},
      under_way
  );
}

// --- Moves ---------------------------------------------------------------------------------------

std::vector<Move> Stepper::moves() {
  std::vector<Move> result;
  moves(result);
  return result;
}

void Stepper::moves(std::vector<Move>& result) {
  enabled_.list(result);
  if (options_.persistent.in_groups) {
    persistent_.groups().note(result);
  }
  persistent_.looks_first(result);
}

bool Stepper::step(const Move& move, const Again& again) {
  under_way_.taken = StepKind::None;
  under_way_.changes.clear();
  under_way_.submitted = false;
  under_way_.made_again = false;
  if (weak_) {
    weak_->order().keep();
  }
  under_way_.active = true;
  const bool fine = move.thread ? step_thread(move, again) : commands_.make(move);
  under_way_.active = false;
  if (under_way_.submitted) {
    host_moved(); // there is no way back
  }
  if (under_way_.made_again) {
    return true; // that ends no grid and says nothing
  }
  if (fine) {
    commands_.advance();
  }
  if (weak_) {
    look_for_unchosen();
    weak_->order().tidy();
  }
  if (DeviceHeap* const heap = independence_.heap();
      heap != nullptr && heap->gave_up() && !under_way_.failure) {
    under_way_.give_up(
        "the device's heap has more, or larger, allocations than a search has room for"
    );
  }
  return !under_way_.failure;
}

/// False: nothing can have become possible by it.
bool Stepper::step_thread(const Move& move, const Again& again) {
  seen_.choice = seen_.choice || !move.through;
  if (move.endless) {
    under_way_.taken = move.step;
    return false;
  }
  const std::size_t before = present_.changes();
  const bool fine = cached_.make(move, again);
  // Nobody was owed anything by threads that were not guaranteed and are gone.
  const bool followed =
      (!move.through || move.guarantee != Guarantee::None) && !under_way_.made_again;
  if (fine && followed) {
    present_.add_class_changes(before, move, under_way_.changes);
  }
  return fine;
}

/// An access was made at once, in one of several ways that there were for it. Then the assumption
/// that it is independent does not hold ([RED-INDEPENDENT]), and the monitor has found the access
/// that it meets: the search is invalid, and is made again. If it has found none (what a barrier
/// orders that a thread leaves by its end, say), it is made again without such accesses; and if
/// there are none, then nothing may be claimed.
void Stepper::look_for_unchosen() {
  if (!weak_ || !weak_->order().made_unchosen() || under_way_.failure || refuted() ||
      sums_clash()) {
    return;
  }
  if (options_.independence.orderly) {
    seen_.several_ways = true;
    return;
  }
  under_way_.give_up(
      "--memory=ptx does not model several ways to make an access that nobody chooses"
  );
}

void Stepper::forget() {
  constexpr std::size_t worth_it = 1024; // images
  present_.forget();
  if (images_.store().size() < worth_it) {
    return;
  }
  cached_.forget(); // names images
  std::unordered_set<const Image*> used;
  for (const auto& work : machine_.works) {
    used.insert(work->images.begin(), work->images.end());
    used.insert(work->loaded.begin(), work->loaded.end());
  }
  images_.store().keep_only(used);
}

void Stepper::collect_accesses(MemoryJournal::Accesses* all) {
  cached_.forget();
  machine_.journal.collect(all);
}

Learned Stepper::learned() const {
  Learned result = options_.learned;
  independence_.add_refuted(result);
  result |= dead_data_.cone().refuted();
  result.lasting |= persistent_.starts().lasting();
  if (persistent_.groups().meetings().is_refuted()) {
    result.refute(Assumption::Groups);
  }
  if (seen_.several_ways) {
    result.refute(Assumption::OneWay);
  }
  return result;
}

} // namespace heddle::reduce
