// Implements the part of stepper.h that is about commands and moves: what is ready, who can move
// and is owed it, making a move and taking it back.
#include "base/check.h"
#include "machine/device_launches.h"
#include "machine/launch_identity.h"
#include "machine/stepper_work.h"

#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <fstream>
#include <set>
#include <utility>

namespace heddle::machine {

using isa::LaneMask;
using isa::Stop;
using ptx::Mod;
using ptx::Opcode;

namespace {

// Grids of up to so many threads take what memory they need; of larger ones it is estimated by as
// many of their threads.
constexpr std::uint64_t few_threads = 1 << 20;

/// Of the process, and what the system could still give it, in bytes.
struct MemoryUse {
  std::uint64_t resident = 0, available = 0;
};
MemoryUse memory_use() {
  MemoryUse use;
  std::uint64_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages >> pages;
  use.resident = pages * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  std::ifstream system("/proc/meminfo");
  std::string name;
  for (std::uint64_t kilobytes = 0; system >> name >> kilobytes;) {
    if (name == "MemAvailable:") {
      use.available = kilobytes * 1024;
    }
    std::getline(system, name);
  }
  return use;
}

/// Some of the clusters of a large grid have been made ready, at the cost of what the process has
/// grown by: why the rest does not fit, if it does not.
std::optional<std::string>
too_large(const Command& command, const MemoryUse& before, std::size_t some, std::size_t all) {
  const MemoryUse now = memory_use();
  const std::uint64_t each = (now.resident - std::min(before.resident, now.resident)) / some;
  if (each * all <= now.available / 2) {
    return std::nullopt;
  }
  return fmt::format(
      "{} has {} threads, which would take about {} MiB of memory to explore",
      command.label,
      command.grid->config().grid.count() * command.grid->config().block.count(),
      each * all >> 20
  );
}

} // namespace

// --- Commands ------------------------------------------------------------------------------------

void Stepper::submitted(const CommandPtr& command) {
  if (world_.has_fault()) {
    command->done.store(true);
    return;
  }
  if (command->kind == CommandKind::Kernel) {
    make_heap(command->grid->kernel());
    live_.know(command->grid->kernel());
  }
  if (!stepping_) {
    host_moved();
  }
  auto work = std::make_unique<Work>();
  work->command = command;
  work->after = command->after;
  work->passed = std::ranges::any_of(works_, [&](const auto& other) {
    return other->passed && other->command->id == command->part_of;
  });
  Hasher hasher;
  hasher.text(command->label);
  hasher.text(command->stream);
  if (work->kernel()) {
    hasher.value(launch_identity(*command->grid));
  }
  if (const auto& wait = command->value) {
    hasher.value(wait->address);
    hasher.value(wait->wanted);
    hasher.value(static_cast<std::uint64_t>(wait->condition) << 8 | wait->bytes);
  }
  work->identity = hasher.finish().low;
  // Commands that are otherwise the same are told apart by their order.
  while (std::any_of(works_.begin(), works_.end(), [&](const auto& other) {
    return other->identity == work->identity;
  })) {
    ++work->identity;
  }
  // Those that it does not have to wait for may be under way at the same time.
  std::set<const Command*> before;
  std::vector<const Command*> todo{command.get()};
  while (!todo.empty()) {
    const Command* next = todo.back();
    todo.pop_back();
    const auto comes_before = [&](const CommandPtr& other) {
      if (before.insert(other.get()).second) {
        todo.push_back(other.get());
      }
    };
    std::ranges::for_each(next->after, comes_before);
    // The kernel itself may overlap with these, who comes after it does not.
    for (const EarlyDependency& early : next->early) {
      if (next != command.get() && next->kind == CommandKind::Kernel) {
        comes_before(early.grid);
      }
    }
  }
  for (const auto& other : works_) {
    if (!other->done && (options_.ignore_grid_order || !before.contains(other->command.get()))) {
      sums_.overlap(work->identity, other->identity);
    }
  }
  saw_early_ = saw_early_ || !command->early.empty();
  if (options_.starts_at_once) {
    note_before(*work);
  }
  if (const auto& wait = command->value) { // it may look at any time
    const memory::Range range = world_.space().find_range(wait->address);
    sums_.note(
        work->identity,
        {.place = wait->address + static_cast<std::uint64_t>(range.delta),
         .bytes = wait->bytes,
         .contended = true}
    );
  }
  if (work->kernel()) {
    Grid& grid = *work->command->grid;
    for (std::uint64_t at = 0; at + sizeof(memory::Address) <= grid.parameter_bytes(); at += 8) {
      memory::Address word = 0;
      std::memcpy(&word, grid.parameters() + at, sizeof word);
      host_parameters_ = host_parameters_ || (memory::AddressSpace::is_host_memory(word) &&
                                              !world_.space().find(word)); // not pinned
    }
  }
  works_.push_back(std::move(work));
  if (stepping_) {
    submitted_ = true; // by a thread or a command, in whose move it is
  } else {
    advance();
  }
}

std::uint64_t Stepper::name_of(const Command& command) const {
  const auto known = std::ranges::find_if(works_, [&](const auto& work) {
    return work->command.get() == &command && !work->done;
  });
  return known != works_.end() ? (*known)->identity : 0;
}

void Stepper::hash_contents(Hasher& hasher) const {
  for (const auto& work : works_) {
    if (!work->done) {
      hasher.value(work->identity);
      hasher.value(work->command->content);
    }
  }
}

CommandPtr Stepper::host_function(const Move& move) const {
  const CommandPtr& command = works_[move.work]->command;
  return command->kind == CommandKind::HostFunction ? command : nullptr;
}

void Stepper::complete(Work& work) {
  if (work.kernel()) {
    order_data_.ended(work.command->grid->kernel());
  }
  work.done = true;
  work.command->completed_at = world_.now();
  work.command->done.store(true);
}

void Stepper::returned(const CommandPtr& command) {
  host_moved();
  for (const auto& work : works_) {
    if (work->command == command) {
      complete(*work);
    }
  }
  advance();
}

void Stepper::host_moved() {
  output_bytes_ = world_.output_bytes();
  log_.clear();
  journal_.recount();
  if (weak_) {
    const std::uint64_t before = std::exchange(weak_generation_, world_.space().generation());
    weak_->forget_undo();
    weak_->look_again(weak_generation_ == before);
  }
  for (const auto& work : works_) {
    if (work->done) {
      work->command->after.clear();
      work->command->early.clear();
      if (work->kernel()) { // others pass them on
        work->command->overlaps.clear();
      }
    }
  }
  std::erase_if(works_, [](const auto& work) { return work->done; });
}

void Stepper::make_ready(std::size_t n) {
  Work& work = *works_[n];
  work.ready = true;
  log_.push_back({.kind = Log::Kind::Ready, .work = static_cast<std::uint32_t>(n)});
  if (!work.kernel()) {
    return;
  }
  const auto& grid = work.command->grid;
  grid->allow_launches(world_, *work.command);
  const auto count = static_cast<std::size_t>(grid->cluster_count());
  const std::uint64_t threads = grid->config().grid.count() * grid->config().block.count();
  const std::size_t some =
      threads > few_threads ? std::max<std::size_t>(1, few_threads * count / threads) : count;
  MemoryUse before = some != count ? memory_use() : MemoryUse{};
  const auto fits = [&](std::size_t done) {
    const auto why = done == some ? too_large(*work.command, before, some, count) : std::nullopt;
    if (why) {
      failure_ = Failure{};
      failure_->incomplete = *why;
    }
    return !why;
  };
  if (work.clusters.empty()) {
    for (std::size_t c = 0; c < count; ++c) {
      if (!fits(c)) {
        work.clusters.clear();
        return;
      }
      work.clusters.push_back(std::make_unique<Cluster>(grid, options_.warp_rules));
      for (std::size_t b = 0; b < work.clusters.back()->size(); ++b) {
        work.clusters.back()->block(b).look_for_divergence();
        work.clusters.back()->block(b).heap_ = heap_.get();
      }
    }
    work.progress.resize(count);
    work.loaded.resize(count);
    watch_barriers(work);
  }
  if (weak_) {
    begin_weak_threads(work);
  }
  work.grids_over = grids_are_over(work);
  work.images.assign(count, nullptr);
  work.starts.assign(count, Start::Free);
  work.sum = {};
  for (const auto& cluster : work.clusters) { // it may have run before and been taken back
    for (std::size_t b = 0; b < cluster->size(); ++b) {
      if (Block& block = cluster->block(b); block.local_ != nullptr) {
        ::madvise(block.local_, block.local_bytes_, MADV_DONTNEED); // zero again
      }
    }
  }
  before = some != count ? memory_use() : MemoryUse{};
  Starts starts;
  for (std::size_t c = 0; c < count && !failure_; ++c) {
    if (!fits(c)) {
      return;
    }
    Cluster& cluster = *work.clusters[c];
    cluster.start(c);
    Work::Progress progress;
    for (std::size_t b = 0; b < cluster.size(); ++b) {
      if (!work.grids_over) {
        cluster.block(b).hold_at_grid_wait();
      }
      progress.loops.emplace_back(cluster.block(b).warps().size());
    }
    progress.phases.start(threads_of(cluster));
    progress.epochs.assign(cluster.size(), 0);
    work.progress[c] = std::move(progress);
    settle(work, c);
    capture(n, c);
    if (work.grids_over) { // else in leave_grid_wait()
      find_start(work, c, starts);
    }
    if (options_.starts_at_once && !failure_ && !runs_through(work, c)) {
      start_at_once(n, c);
    }
  }
}

/// Does whatever nobody can choose about: readiness, completion, records and orders.
void Stepper::advance() {
  for (bool changed = true; changed && !failure_;) {
    changed = false;
    for (std::size_t n = 0; n < works_.size() && !failure_; ++n) {
      Work& work = *works_[n];
      if (work.done) {
        continue;
      }
      if (!work.ready) {
        const bool first = std::all_of(work.after.begin(), work.after.end(), [](const auto& c) {
          return c->done.load();
        });
        saw_dependency_ =
            saw_dependency_ || (work.kernel() && !(first && work.command->early.empty()));
        if (held_back(work)) {
          continue;
        }
        make_ready(n);
        changed = true;
      }
      if (work.kernel() && !failure_ && !work.grids_over && grids_are_over(work)) {
        leave_grid_wait(n);
        changed = true;
        if (failure_) {
          break;
        }
      }
      const Command& command = *work.command;
      if (command.value || (command.more && !work.kernel())) {
        order_data_.called_library(); // it decides by what is in memory
      }
      if (command.value) {
        cone_.decided_by(command.value->address);
      } else if (command.more && !work.kernel()) {
        cone_.decided_by_anything();
      }
      const bool ended =
          work.kernel()
              ? !failure_ && work.ended() && !launches_anything(command) &&
                    std::ranges::all_of(
                        command.early,
                        [](const EarlyDependency& early) { return early.grid->done.load(); }
                    )
              : happens_by_itself(command);
      if (ended) {
        complete(work);
        log_.push_back({.kind = Log::Kind::Done, .work = static_cast<std::uint32_t>(n)});
        changed = true;
      }
    }
  }
}

// --- Moves ---------------------------------------------------------------------------------------

Stepper::Guarantee Stepper::guarantee(const Work& work, std::size_t cluster) const {
  const bool alone =
      work.clusters[cluster]->size() == 1 && work.command->grid->config().block.count() == 1;
  const Guarantee own = work.cooperative() ? Guarantee::Cooperative
                        : alone            ? Guarantee::Itself
                                           : Guarantee::Cluster;
  if (work.images[cluster]->made && options_.progress != ProgressModel::Hsa) {
    return own;
  }
  switch (options_.progress) {
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

std::vector<Stepper::Move> Stepper::moves() const {
  std::vector<Move> result;
  moves(result);
  return result;
}

void Stepper::moves(std::vector<Move>& result) const {
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
             .may_wait = may_wait(work),
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
    ++pass_;
    if (options_.symmetry) {
      for (const Image* image : work.images) {
        const Image& like = *image->alike;
        like.like_it = like.looked_at == pass_ ? like.like_it + 1 : 1;
        like.looked_at = pass_;
      }
    }
    ++pass_;
    loose_.clear();
    bool one_runs_through = false;
    const bool put_off = may_wait(work);
    const bool one_starts_all = work.cooperative() && work.starts_alike();
    for (std::size_t c = 0; c < work.images.size() && !(one_starts_all && c != 0); ++c) {
      const Image& image = *work.images[c];
      const Image& like = *image.alike;
      if (image.ready.empty() || (options_.symmetry && like.looked_at == pass_)) {
        continue; // a cluster like it has had its turn
      }
      const bool starts = !image.made && work.starts[c] != Start::Free;
      const bool through = runs_through(work, c);
      if (through && std::exchange(one_runs_through, true)) {
        continue; // moves with that one
      }
      like.looked_at = pass_;
      const Guarantee guaranteed = guarantee(work, c);
      for (std::size_t r = 0; r < image.ready.size(); ++r) {
        const Image::Ready& ready = image.ready[r];
        const std::uint64_t count =
            std::uint64_t{ready.count} * (options_.symmetry ? like.like_it : 1);
        if (image.loose) {
          const ThreadClass who = ready.who + static_cast<ThreadClass>(ready.time);
          const auto [known, is_new] = loose_.try_emplace(who, result.size());
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
            .heap = ready.operation.kind == Class::Heap,
            .pick = ready.pick,
            .lanes = ready.lanes,
            .first = ready.pick != 0 ? image.picks[ready.pick - 1].first : 0,
            .time = ready.time,
        };
        if (weak_) {
          add_ways(move, image, result);
        } else {
          result.push_back(move);
        }
        if (starts) {
          break;
        }
      }
    }
  }
  looks_first(result);
}

bool Stepper::simple(const Move& move) const {
  const CommandKind kind = works_[move.work]->command->kind;
  return kind == CommandKind::Allocate || kind == CommandKind::ValueWait;
}

bool Stepper::step(const Move& move, const Again& again) {
  taken_ = StepKind::None;
  changes_.clear();
  submitted_ = false;
  stepping_ = true;
  made_again_ = false;
  if (weak_) {
    weak_->keep();
  }
  const bool fine = move.thread ? step_thread(move, again) : step_command(move);
  stepping_ = false;
  if (submitted_) {
    host_moved(); // there is no way back
  }
  if (made_again_) {
    return true; // that ends no grid and says nothing
  }
  if (fine) {
    advance();
  }
  if (weak_) {
    weak_->tidy();
  }
  if (heap_ != nullptr && heap_->gave_up() && !failure_) {
    failure_ = Failure{};
    failure_->incomplete =
        "the device's heap has more, or larger, allocations than a search has room for";
  }
  output_bytes_ = world_.output_bytes(); // what failed has not been absorbed
  return !failure_;
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
  if (!simple(move)) {
    if (!command->more) {
      note_command(work);
    }
    host_moved();
  }
  return true;
}

bool Stepper::step_thread(const Move& move, const Again& again) {
  saw_choice_ = saw_choice_ || !move.through;
  if (move.endless) {
    taken_ = move.step;
    return false;
  }
  const std::size_t before = log_.size();
  const bool fine = move_all(move, again);
  // Nobody was owed anything by threads that were not guaranteed and are gone.
  const bool followed = (!move.through || move.guarantee != Guarantee::None) && !made_again_;
  for (std::size_t i = before; fine && followed && i < log_.size(); ++i) {
    const Log& entry = log_[i];
    if (entry.kind == Log::Kind::Image && entry.before != nullptr) {
      const Work& work = *works_[entry.work];
      note_changes(*entry.before, *work.images[entry.cluster]);
      if (like_others(work, entry.cluster, *entry.before, move.who)) {
        note_kept(*entry.before);
      }
    }
  }
  return fine;
}

/// As it was done before, or by executing it; false if it failed.
bool Stepper::move_thread(const Move& move, const Again& again) {
  if (const std::uint64_t now = world_.space().generation(); now != allocations_) {
    transitions_.clear();
    lane_transitions_.clear();
    allocations_ = now;
  }
  Work& work = *works_[move.work];
  const Image* before = work.images[move.cluster];
  using OfImage = Transitions<Outcome>::Transition;
  using OfLane = Transitions<LaneOutcome>::Transition;
  const bool known = again.epoch == epoch() && !has_dependents(work);
  const Found found = known || weak_ ? Found() : find(move);
  const auto* of_image =
      known ? static_cast<const OfImage*>(again.of_image) : found.of_image.transition;
  const auto* of_lane =
      known ? static_cast<const OfLane*>(again.of_lane) : found.of_lane.transition;
  if (of_image != nullptr) {
    journal_.write(of_image->writes);
    replace_image(move.work, move.cluster, of_image->result.image);
    taken_ = of_image->result.taken;
    made_again_ = known;
    return true;
  }
  if (of_lane != nullptr) {
    const LaneOutcome& outcome = of_lane->result;
    const Image* after = derive(work, move.cluster, *before, thread_of(work, move), outcome);
    if (!after->ready.empty()) { // else the grid may be over, or stuck
      journal_.write(of_lane->writes);
      replace_image(move.work, move.cluster, after);
      taken_ = outcome.taken;
      made_again_ = known;
      return true;
    }
  }
  repeatable_ = true;
  const std::size_t logged = log_.size();
  const bool done = execute(move);
  if (order_data_.take_news()) { // what is known may read what has been marked, or write what is
    transitions_.clear();
    lane_transitions_.clear();
  }
  if (!done) {
    return false;
  }
  if (repeatable_ && !weak_) {
    remember(move, *before, logged);
  }
  return true;
}

/// Keeps what the move has done, if it concerned its own cluster only.
void Stepper::remember(const Move& move, const Image& before, std::size_t logged) {
  constexpr std::size_t most_writes = 64;
  const Image* after = works_[move.work]->images[move.cluster];
  // The next cluster that looks like this one will be told apart by another number.
  if (before.where == 0 && after->where != 0 && works_[move.work]->clusters.size() > 1) {
    return;
  }
  const bool made_others = !before.made && works_[move.work]->images[move.cluster]->made &&
                           works_[move.work]->cooperative();
  if (made_others || log_.size() > logged + 1 || !journal_.read() ||
      journal_.written().size() + journal_.written_shared().size() > most_writes ||
      world_.space().generation() != allocations_) {
    return;
  }
  // With several clusters, this one will look the same while others do not.
  if (!remember_lane(move, before, *after) || works_[move.work]->clusters.size() > 1) {
    transitions_.add(
        transitions_.key(&before, move.ready),
        *journal_.read(),
        {journal_.written(), {after, taken_, {}}}
    );
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
  barrier_before_ = grid_barrier(work);
  if (by_warps()) {
    if (!begin_move(move)) {
      return failed();
    }
    return end_move(move, was_made);
  }
  const Class first = classify(at).kind;
  const isa::Op* const from = warp_state(at).warp.pc[static_cast<std::size_t>(at.lane)];
  if ((first == Class::Plain || (first == Class::Allocation && options_.allocations)) &&
      (!was_made || !options_.eager)) {
    // Plain accesses go together with the operation that follows them.
    bundling_ = true;
    const bool fine = settle_lane(at);
    bundling_ = false;
    if (!fine) {
      return failed();
    }
  }
  const isa::Warp& warp = warp_state(at).warp;
  if ((warp.live & ~warp.blocked & (LaneMask{1} << at.lane)) != 0 && is_choice(at)) {
    const Operation operation = classify(at);
    if (operation.kind == Class::Heap && !move.heap) {
      return end_move(move, was_made); // that cannot be taken back: a move of its own
    }
    const auto lane = static_cast<std::size_t>(at.lane);
    if (warp.pc[lane] != from && (asks_for_active(*warp.frame[lane]->code, *warp.pc[lane]) ||
                                  operation.kind == Class::Clock || weak_)) {
      // Others may come and be named with it; more than one time may be shown, or value be read: a
      // move of its own.
      return end_move(move, was_made);
    }
    taken_ = operation.step;
    const bool may_stay = was_made && operation.kind == Class::Access && move.lanes == 0 && !weak_;
    if (const Vain vain = may_stay ? reads_in_vain(at) : Vain::No; vain != Vain::No) {
      // It reads, which others may have to know, and stays where it is.
      const Stop stop = run(at, plain_fuel);
      absorb_writes(work, move.cluster);
      work.loaded[move.cluster] = nullptr;
      left_out_reads_ = left_out_reads_ || vain == Vain::ForSome;
      return stop != Stop::Fault && stop != Stop::Unsupported;
    }
    const bool aligned = operation.kind == Class::Aligned;
    if (aligned && !was_made) {
      // It has arrived; settling brings the others of its warp, then they pass together.
    } else {
      begin_look(at, move.time);
      weak_pick_ = move.pick;
      const Stop stop = run(at, plain_fuel, aligned ? together(at) : move.lanes);
      if (stop == Stop::Fault || stop == Stop::Unsupported) {
        fail(at);
        return failed();
      }
      // What the thread does before its next choice belongs to this move, and may be a step.
      for (int rounds = 0; operation.kind == Class::Allocation && rounds < 64; ++rounds) {
        if ((warp.live & ~warp.blocked & (LaneMask{1} << at.lane)) == 0 || is_choice(at)) {
          break;
        }
        if (stands_at_visible(at) && taken_ == StepKind::None) {
          taken_ = classify(at).step;
        }
        const Stop next = run(at, plain_fuel);
        if (next == Stop::Fault || next == Stop::Unsupported) {
          fail(at);
          return failed();
        }
      }
    }
  }
  return end_move(move, was_made);
}

/// Lets whoever may go on without a choice do so, and takes down where everybody is.
bool Stepper::end_move(const Move& move, bool was_made) {
  Work& work = *works_[move.work];
  // [CLUSTER] [COOP]: from now on they are all guaranteed.
  if (move.through && taken_ == StepKind::None) {
    taken_ = StepKind::End; // [STEP.1]
  }
  // The literature's occupancy begins with any operation.
  const bool makes =
      (taken_ != StepKind::None || options_.progress == ProgressModel::Lobe) && !was_made;
  work.progress[move.cluster].made = was_made || makes;
  settle(work, move.cluster);
  end_look(move);
  capture(move.work, move.cluster);
  for (std::size_t c = 0; makes && work.cooperative() && c < work.clusters.size(); ++c) {
    if (c != move.cluster && !failure_) {
      load(work, c);
      work.progress[c].made = true;
      settle(work, c);
      capture(move.work, c);
    }
  }
  if (!failure_ && options_.phases && work.cooperative()) {
    settle_grid(move.work, barrier_before_);
  }
  return !failure_;
}

// --- Going back ----------------------------------------------------------------------------------

Stepper::Mark Stepper::mark() const {
  return {log_.size(), journal_.mark(), output_bytes_, weak_ ? weak_->mark() : 0};
}

void Stepper::undo_to(const Mark& mark) {
  failure_.reset();
  journal_.undo_to(mark.memory);
  if (weak_) {
    weak_->undo_to(mark.weak);
  }
  if (mark.output != output_bytes_) {
    world_.drop_output_from(mark.output);
    output_bytes_ = mark.output;
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
      work.sum = {};
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

} // namespace heddle::machine
