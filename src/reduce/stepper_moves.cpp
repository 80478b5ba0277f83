// Implements the part of stepper.h that is about moves: who can move and is owed it, making a move
// and taking it back.
#include "base/check.h"
#include "machine/device_launches.h"
#include "reduce/stepper_work.h"

#include <algorithm>
#include <bit>
#include <unordered_set>
#include <utility>

namespace heddle::reduce {

using isa::LaneMask;
using isa::Stop;
using ptx::Mod;
using ptx::Opcode;

// --- Moves ---------------------------------------------------------------------------------------

Stepper::Guarantee Stepper::guarantee(const Work& work, std::size_t cluster) const {
  const bool alone =
      work.clusters[cluster]->size() == 1 && work.command->grid->config().block.count() == 1;
  const Guarantee own = work.cooperative() ? Guarantee::Cooperative
                        : alone            ? Guarantee::Itself
                                           : Guarantee::Cluster;
  if (work.images[cluster]->made && options_.model.progress != ProgressModel::Hsa) {
    return own;
  }
  switch (options_.model.progress) {
  case ProgressModel::Cuda:
  case ProgressModel::Obe:
    return Guarantee::None;
  case ProgressModel::Fair:
    return own;
  case ProgressModel::Hsa: {
    const auto first = std::ranges::find(work.images, false, &Image::ended);
    return work.cooperative() || first - work.images.begin() == static_cast<std::ptrdiff_t>(cluster)
               ? own
               : Guarantee::None;
  }
  case ProgressModel::Lobe:
    return std::any_of(
               work.images.begin() + static_cast<std::ptrdiff_t>(cluster),
               work.images.end(),
               [](const Image* image) { return image->made; }
           )
               ? own
               : Guarantee::None;
  }
  return Guarantee::None;
}

std::vector<Stepper::Move> Stepper::moves() {
  std::vector<Move> result;
  moves(result);
  return result;
}

void Stepper::moves(std::vector<Move>& result) {
  result.clear();
  for (std::size_t n = 0; n < works_.size(); ++n) {
    const Work& work = *works_[n];
    if (work.done || !work.ready || work.begun) {
      continue;
    }
    if (!work.kernel()) {
      const auto& wait = work.command->value;
      if (wait ? wait->holds() : all_done(work.parts)) {
        result.push_back(
            {.work = n,
             .command = work.command->id,
             .may_wait = works_.may_wait(work),
             .what = wait ? "finds its value" : "is ready to be carried out"}
        );
      }
      continue;
    }
    if (work.ended()) {
      if (work.command->grid->launches()->next_is_tail()) {
        result.push_back(
            {.work = n, .command = work.command->id, .what = "goes on with its tail launches"}
        );
      }
      continue;
    }
    ++scratch_.pass;
    if (options_.renaming.symmetry) {
      for (const Image* image : work.images) {
        const Image& like = *image->alike;
        like.like_it = like.looked_at == scratch_.pass ? like.like_it + 1 : 1;
        like.looked_at = scratch_.pass;
      }
    }
    ++scratch_.pass;
    scratch_.loose.clear();
    bool one_runs_through = false;
    const bool put_off = works_.may_wait(work);
    const bool one_starts_all = work.cooperative() && work.starts_alike();
    for (std::size_t c = 0; c < work.images.size() && !(one_starts_all && c != 0); ++c) {
      const Image& image = *work.images[c];
      const Image& like = *image.alike;
      if (image.ready.empty() || (options_.renaming.symmetry && like.looked_at == scratch_.pass)) {
        continue; // a cluster like it has had its turn
      }
      const bool starts = !image.made && work.starts[c] != Start::Free;
      const bool through = runs_through(work, c);
      if (through && std::exchange(one_runs_through, true)) {
        continue; // moves with that one
      }
      like.looked_at = scratch_.pass;
      const Guarantee guaranteed = guarantee(work, c);
      for (std::size_t r = 0; r < image.ready.size(); ++r) {
        const Image::Ready& ready = image.ready[r];
        const std::uint64_t count =
            std::uint64_t{ready.count} * (options_.renaming.symmetry ? like.like_it : 1);
        if (image.loose) {
          const ThreadClass who = ready.who + static_cast<ThreadClass>(ready.time);
          const auto [known, is_new] = scratch_.loose.try_emplace(who, result.size());
          if (!is_new) { // a thread of another cluster that is like it has its turn
            result[known->second].count += count;
            continue;
          }
        }
        const Move move{
            .work = n,
            .command = work.command->id,
            .thread = true,
            .endless = ready.endless,
            .through = through,
            .may_wait = put_off && !image.made,
            .guarantee = guaranteed,
            .cluster = c,
            .block = ready.block,
            .warp = ready.warp,
            .lane = ready.lane,
            .ready = r,
            .who = ready.who,
            .count = count,
            .step = ready.operation.step,
            .what = ready.operation.what,
            .op = ready.op,
            .code = ready.code,
            .heap = ready.operation.kind == OperationKind::Heap,
            .pick = ready.pick,
            .lanes = ready.lanes,
            .first = ready.pick != 0 ? image.picks[ready.pick - 1].first : 0,
            .time = ready.time,
        };
        if (weak_) {
          weak_->add_ways(move, image, result);
        } else {
          result.push_back(move);
        }
        if (starts) {
          break;
        }
      }
    }
  }
  operations_.clocks().looks_first(result);
}
bool Stepper::step(const Move& move, const Again& again) {
  under_way_.taken = StepKind::None;
  under_way_.changes.clear();
  under_way_.submitted = false;
  under_way_.active = true;
  under_way_.made_again = false;
  if (weak_) {
    weak_->order().keep();
  }
  const bool fine = move.thread ? step_thread(move, again) : step_command(move);
  under_way_.active = false;
  if (under_way_.submitted) {
    host_moved(); // there is no way back
  }
  if (under_way_.made_again) {
    return true; // that ends no grid and says nothing
  }
  if (fine) {
    advance();
  }
  if (weak_) {
    look_for_unchosen();
    weak_->order().tidy();
  }
  if (heap_ != nullptr && heap_->gave_up() && !under_way_.failure) {
    under_way_.failure = Failure{};
    under_way_.failure->incomplete =
        "the device's heap has more, or larger, allocations than a search has room for";
  }
  return !under_way_.failure;
}

/// An access was made at once, in one of several ways that there were for it. Then the assumption
/// that it is independent does not hold ([RED-INDEPENDENT]), and the monitor has found the access
/// that it meets: the search is invalid, and is made again. If it has found none, then nothing may
/// be claimed.
void Stepper::look_for_unchosen() {
  if (!weak_ || !weak_->order().made_unchosen() || under_way_.failure || refuted() ||
      sums_clash()) {
    return;
  }
  under_way_.failure = Failure{};
  under_way_.failure->incomplete =
      "--memory=ptx does not model several ways to make an access that nobody chooses";
}

/// False: nothing can have become possible by it.
bool Stepper::step_command(const Move& move) {
  Work& work = *works_[move.work];
  const CommandPtr& command = work.command;
  if (command->kind == CommandKind::HostFunction) {
    work.begun = true;
    return false;
  }
  if (command->work) {
    command->work();
  }
  if (command->more) {
    work.parts = command->more();
    if (!work.parts.empty()) {
      return true;
    }
  }
  complete(work);
  log_.push_back({.kind = Log::Kind::Done, .work = static_cast<std::uint32_t>(move.work)});
  if (!works_.simple(move)) {
    if (!command->more) {
      followed_.cone.carried_out(*command);
      operations_.clocks().data().carried_out(*command);
      access_monitor_.carried_out(work);
    }
    host_moved();
  }
  return true;
}

bool Stepper::step_thread(const Move& move, const Again& again) {
  seen_.choice = seen_.choice || !move.through;
  if (move.endless) {
    under_way_.taken = move.step;
    return false;
  }
  const std::size_t before = log_.size();
  const bool fine = move_all(move, again);
  // Nobody was owed anything by threads that were not guaranteed and are gone.
  const bool followed =
      (!move.through || move.guarantee != Guarantee::None) && !under_way_.made_again;
  for (std::size_t i = before; fine && followed && i < log_.size(); ++i) {
    const Log& entry = log_[i];
    if (entry.kind == Log::Kind::Image && entry.before != nullptr) {
      const Work& work = *works_[entry.work];
      note_changes(*entry.before, *work.images[entry.cluster], under_way_.changes);
      if (Renaming::like_others(work, entry.cluster, *entry.before, move.who)) {
        note_kept(*entry.before, under_way_.changes);
      }
    }
  }
  return fine;
}

/// As it was done before, or by executing it; false if it failed.
bool Stepper::move_thread(const Move& move, const Again& again) {
  move_cache_.forget_if_changed();
  Work& work = *works_[move.work];
  const Image* before = work.images[move.cluster];
  using OfImage = Transitions<Outcome>::Transition;
  using OfLane = Transitions<LaneOutcome>::Transition;
  const bool known = again.epoch == epoch() && !works_.has_dependents(work);
  const MoveCache::Found found = known || weak_ ? MoveCache::Found() : move_cache_.find(move);
  const auto* of_image =
      known ? static_cast<const OfImage*>(again.of_image) : found.of_image.transition;
  const auto* of_lane =
      known ? static_cast<const OfLane*>(again.of_lane) : found.of_lane.transition;
  if (of_image != nullptr) {
    meet_open(move, of_image->result.made, Whose::Cluster);
    journal_.write(of_image->writes);
    replace_image(move.work, move.cluster, of_image->result.image);
    under_way_.taken = of_image->result.taken;
    under_way_.made_again = known;
    return true;
  }
  if (of_lane != nullptr) {
    const LaneOutcome& outcome = of_lane->result;
    const Image* after =
        images_.derive(work, move.cluster, *before, thread_of(work, move), outcome);
    if (!after->ready.empty()) { // else the grid may be over, or stuck
      meet_open(move, outcome.made, Whose::Thread);
      journal_.write(of_lane->writes);
      replace_image(move.work, move.cluster, after);
      under_way_.taken = outcome.taken;
      under_way_.made_again = known;
      return true;
    }
  }
  under_way_.repeatable = true;
  operations_.take_call();
  const auto settled = move.alone ? std::optional(weak_->note_settled(move)) : std::nullopt;
  access_monitor_.begin_move(settled);
  const std::size_t logged = log_.size();
  const bool done = execute(move);
  const bool order_has_news = followed_.order.take_news();
  if (operations_.clocks().data().take_news() || order_has_news) {
    move_cache_.forget(); // what is known may read what has been marked, or write what is
  }
  meet_open(move, access_monitor_.made(), Whose::Anybody);
  if (!done) {
    return false;
  }
  if (under_way_.repeatable && !operations_.take_call() && !weak_) {
    const Image* after = work.images[move.cluster];
    const bool cooperative = work.cooperative();
    const bool made_others = !before->made && after->made && cooperative;
    // If all others wait for the grid, they now do so forever (settle_grid).
    const bool may_be_stuck = cooperative && options_.independence.phases && after->ready.empty() &&
                              !mutant_is(Mutant::AheadForgetsGrid);
    if (!made_others && !may_be_stuck && log_.size() <= logged + 1) {
      move_cache_.remember(move, *before, under_way_.taken);
    }
  }
  return true;
}

/// What a move has accessed meets what others have open ([RED-MOVERS]). Those of its own cluster it
/// has met when it was made, but this one may stand beside others.
void Stepper::meet_open(const Move& move, std::span<const MadeAccess> made, Whose whose) {
  const auto is_by = [&](const MadeAccess& access, std::size_t n, std::size_t c, std::size_t t) {
    return n == move.work && c == (whose == Whose::Anybody ? access.cluster : move.cluster) &&
           t == (whose == Whose::Thread ? thread_of(*works_[n], move) : access.thread);
  };
  std::uint64_t places = 0;
  for (const MadeAccess& access : made) {
    places |= access.places;
  }
  for (std::size_t n = 0; places != 0 && n < works_.size(); ++n) {
    const Work& work = *works_[n];
    if ((work.open_places.all() & places) == 0) {
      continue;
    }
    for (std::size_t c = 0; c < work.images.size(); ++c) {
      if (work.images[c] == nullptr) {
        continue; // it is being made
      }
      const Image& image = *work.images[c];
      for (std::size_t t = 0; (image.open_places & places) != 0 && t < image.parts.size(); ++t) {
        if (image.parts[t] == nullptr || image.parts[t]->open.empty()) {
          continue;
        }
        for (const MadeAccess& access : made) {
          if (!is_by(access, n, c, t)) {
            access_monitor_.movers().meet(access.access, image.parts[t]->open);
          }
        }
      }
    }
  }
}

/// The same of what clusters of a work have accessed without a move of theirs, behind so many
/// accesses.
void Stepper::meet_open_since(std::size_t n, std::size_t made_before) {
  Move nobodys;
  nobodys.work = n;
  if (!mutant_is(Mutant::MoversForgetStarts)) {
    meet_open(nobodys, std::span(access_monitor_.made()).subspan(made_before), Whose::Anybody);
  }
}

bool Stepper::execute(const Move& move) {
  Work& work = *works_[move.work];
  load(work, move.cluster);
  const Lane at{&work, move.cluster, move.block, move.warp, move.lane};
  const auto failed = [&] {
    work.loaded[move.cluster] = nullptr;
    journal_.absorb({});
    return false;
  };
  const bool was_made = work.progress[move.cluster].made;
  under_way_.barrier_before = operations_.library_barriers().grid_barrier(work);
  if (by_warps()) {
    if (!warps_.begin_move(move, work)) {
      return failed();
    }
    return end_move(move, was_made);
  }
  const OperationKind first = operations_.classify(at).kind;
  const isa::Op* const from = warp_state(at).warp.pc[static_cast<std::size_t>(at.lane)];
  if ((first == OperationKind::Plain ||
       (first == OperationKind::Allocation && options_.independence.allocations)) &&
      (!was_made || !options_.independence.eager)) {
    // Plain accesses go together with the operation that follows them.
    under_way_.bundling = true;
    const bool fine = settling_.settle_lane(at);
    under_way_.bundling = false;
    if (!fine) {
      return failed();
    }
  }
  const isa::Warp& warp = warp_state(at).warp;
  if ((warp.live & ~warp.blocked & (LaneMask{1} << at.lane)) != 0 && choices_.is_choice(at)) {
    const Operation operation = operations_.classify(at);
    if (operation.kind == OperationKind::Heap && !move.heap) {
      return end_move(move, was_made); // that cannot be taken back: a move of its own
    }
    const auto lane = static_cast<std::size_t>(at.lane);
    if (warp.pc[lane] != from && (asks_for_active(*warp.frame[lane]->code, *warp.pc[lane]) ||
                                  operation.kind == OperationKind::Clock || weak_)) {
      // Others may come and be named with it; more than one time may be shown, or value be read: a
      // move of its own.
      return end_move(move, was_made);
    }
    under_way_.taken = operation.step;
    const bool may_stay =
        was_made && operation.kind == OperationKind::Access && move.lanes == 0 && !weak_;
    if (may_stay && operations_.polls().reads_in_vain(at)) {
      // It reads, which others may have to know, and stays where it is.
      const Stop stop = runner_.run(at, plain_fuel);
      absorb_writes(work, move.cluster);
      work.loaded[move.cluster] = nullptr;
      return stop != Stop::Fault && stop != Stop::Unsupported;
    }
    const bool aligned = operation.kind == OperationKind::Aligned;
    if (aligned && !was_made) {
      // It has arrived; settling brings the others of its warp, then they pass together.
    } else {
      operations_.clocks().begin_look(at, move.time);
      under_way_.weak_pick = move.pick;
      const Stop stop = runner_.run(at, plain_fuel, aligned ? choices_.together(at) : move.lanes);
      if (stop == Stop::Fault || stop == Stop::Unsupported) {
        runner_.fail(at);
        return failed();
      }
      // What the thread does before its next choice belongs to this move, and may be a step.
      const bool allocates = operation.kind == OperationKind::Allocation;
      const bool looks = was_made && under_way_.taken == StepKind::None;
      under_way_.early = looks && weak_ && options_.independence.early_writes && !under_way_.tried;
      for (int rounds = 0; (allocates || looks) && rounds < 64; ++rounds) {
        if ((warp.live & ~warp.blocked & (LaneMask{1} << at.lane)) == 0 || choices_.is_choice(at)) {
          break;
        }
        if (stands_at_visible(at)) {
          const Operation next = operations_.classify(at);
          const bool alone =
              next.kind == OperationKind::Silent || next.kind == OperationKind::Orderly ||
              next.kind == OperationKind::Plain || next.kind == OperationKind::Access;
          if (under_way_.taken == StepKind::None && (allocates || alone)) {
            under_way_.taken = next.step;
          }
          if (!allocates && (under_way_.taken != StepKind::None || !alone)) {
            break; // settling goes on
          }
        }
        const Stop next = runner_.run(at, plain_fuel);
        if (next == Stop::Fault || next == Stop::Unsupported) {
          under_way_.early = false;
          runner_.fail(at);
          return failed();
        }
      }
      under_way_.early = false;
    }
  }
  return end_move(move, was_made);
}

/// Lets whoever may go on without a choice do so, and takes down where everybody is.
bool Stepper::end_move(const Move& move, bool was_made) {
  Work& work = *works_[move.work];
  // [CLUSTER] [COOP]: from now on they are all guaranteed.
  if (move.through && under_way_.taken == StepKind::None) {
    under_way_.taken = StepKind::End; // [STEP.1]
  }
  // The literature's occupancy begins with any operation.
  const bool makes =
      (under_way_.taken != StepKind::None || options_.model.progress == ProgressModel::Lobe) &&
      !was_made;
  work.progress[move.cluster].made = was_made || makes;
  settling_.settle(work, move.cluster);
  operations_.clocks().end_look(work, move);
  capture(move.work, move.cluster);
  for (std::size_t c = 0; makes && work.cooperative() && c < work.clusters.size(); ++c) {
    if (c != move.cluster && !under_way_.failure) {
      load(work, c);
      work.progress[c].made = true;
      settling_.settle(work, c);
      capture(move.work, c);
    }
  }
  if (!under_way_.failure && options_.independence.phases && work.cooperative()) {
    settle_grid(move.work, under_way_.barrier_before);
  }
  return !under_way_.failure;
}

// --- Going back ----------------------------------------------------------------------------------

Stepper::Mark Stepper::mark() const {
  return {log_.size(), journal_.mark(), world_.output_bytes(), weak_ ? weak_->order().mark() : 0};
}

void Stepper::undo_to(const Mark& mark) {
  under_way_.failure.reset();
  journal_.undo_to(mark.memory);
  if (weak_) {
    weak_->order().undo_to(mark.weak);
  }
  if (mark.output != world_.output_bytes()) {
    world_.drop_output_from(mark.output);
  }
  for (; log_.size() > mark.log; log_.pop_back()) {
    const Log& entry = log_.back();
    Work& work = *works_[entry.work];
    switch (entry.kind) {
    case Log::Kind::Image:
      set_image(work, entry.cluster, entry.before);
      break;
    case Log::Kind::Ready:
      work.ready = false;
      work.images.clear();
      work.open_places = {};
      work.sum = work.unnumbered = {};
      std::ranges::fill(work.loaded, nullptr);
      break;
    case Log::Kind::GridsOver:
      work.grids_over = false;
      std::ranges::fill(work.starts, Start::Free);
      break;
    case Log::Kind::Done:
      work.done = false;
      work.command->done.store(false);
      break;
    }
  }
}

void Stepper::forget() {
  constexpr std::size_t worth_it = 1024; // images
  log_.clear();
  journal_.forget();
  if (weak_) {
    weak_->order().forget_undo();
  }
  if (images_.store().size() < worth_it) {
    return;
  }
  move_cache_.forget(); // names images
  std::unordered_set<const Image*> used;
  for (const auto& work : works_) {
    used.insert(work->images.begin(), work->images.end());
    used.insert(work->loaded.begin(), work->loaded.end());
  }
  images_.store().keep_only(used);
}

} // namespace heddle::reduce
