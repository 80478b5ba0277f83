// Implements the part of stepper.h that is about commands: what is submitted and what names it,
// when it is ready, what follows when it is complete.
#include "base/check.h"
#include "machine/device_launches.h"
#include "reduce/barrier_monitor.h"
#include "reduce/stepper_work.h"

#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <set>
#include <utility>

namespace heddle::reduce {

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

/// A conditional node's value.
std::vector<Command::Region> regions_of_more(const Command& command) {
  return command.more && command.touches ? *command.touches : std::vector<Command::Region>();
}

} // namespace

void Stepper::submitted(const CommandPtr& command) {
  if (world_.has_fault()) {
    command->done.store(true);
    return;
  }
  if (command->kind == CommandKind::Kernel) {
    make_heap(command->grid->kernel());
    live_.know(command->grid->kernel());
  }
  if (!under_way_.active) {
    host_moved();
  }
  std::unique_ptr<Work> work = works_.make(command);
  const std::set<const Command*> before = Works::before(command);
  for (const auto& other : works_) {
    if (!other->done &&
        (options_.model.ignore_grid_order || !before.contains(other->command.get()))) {
      access_monitor_.sums().overlap(work->identity, other->identity);
    }
  }
  if (options_.persistent.starts_at_once) {
    early_commands_.submitted(command, work->identity, [&](std::uint64_t other) {
      access_monitor_.sums().overlap(work->identity, other);
    });
  }
  if (const auto& wait = command->value) {
    access_monitor_.looks(*work, {.begin = wait->address, .bytes = wait->bytes});
  }
  for (const Command::Region& at : regions_of_more(*command)) {
    access_monitor_.looks(*work, at);
  }
  if (work->kernel()) {
    Grid& grid = *work->command->grid;
    for (std::uint64_t at = 0; at + sizeof(memory::Address) <= grid.parameter_bytes(); at += 8) {
      memory::Address word = 0;
      std::memcpy(&word, grid.parameters() + at, sizeof word);
      seen_.host_parameters =
          seen_.host_parameters ||
          (memory::AddressSpace::is_host_memory(word) && !world_.space().find(word)); // not pinned
    }
  }
  if (weak_) {
    weak_->submitted(*work, before);
  }
  works_.add(std::move(work));
  if (under_way_.active) {
    under_way_.submitted = true; // by a thread or a command, in whose move it is
  } else {
    advance();
    look_for_unchosen();
  }
}

void Stepper::complete(Work& work) {
  if (work.kernel()) {
    followed_.order.ended(work.command->grid->kernel());
  }
  if (weak_) {
    weak_->completed(work);
  }
  work.done = true;
  work.command->completed_at = world_.now();
  work.command->done.store(true);
}

void Stepper::host_accesses(std::uintptr_t address, std::size_t bytes) {
  const memory::Range range = world_.space().find_range(address);
  if (range.size == 0) {
    return;
  }
  std::vector<Sums::WorkId> under_way;
  for (const auto& work : works_) {
    if (!work->done) {
      under_way.push_back(work->identity);
    }
  }
  // Where blocks start at once: what has been carried out early could as well still be to come.
  early_commands_.add_carried_out(under_way);
  const std::uint64_t place = address + static_cast<std::uint64_t>(range.delta);
  if (const auto* const at = static_cast<std::byte*>(world_.space().host_pointer(place, 1))) {
    followed_.order.host_accesses(at, bytes);
    operations_.clocks().data().host_accesses(at, bytes);
  }
  constexpr std::uint64_t host = ~std::uint64_t{0};
  access_monitor_.sums().note_host(
      {.place = place,
       .bytes = static_cast<std::uint32_t>(bytes),
       .thread = host,
       .block = host,
       .contended = true,
       .of_host = true},
      under_way
  );
}

void Stepper::host_writes(std::uintptr_t address, std::uint64_t bytes) {
  if (weak_) {
    weak_->host_writes(address, bytes);
  }
}

void Stepper::returned(const CommandPtr& command) {
  host_moved();
  for (const auto& work : works_) {
    if (work->command == command) {
      complete(*work);
    }
  }
  advance();
  look_for_unchosen();
}

void Stepper::host_moved() {
  log_.clear();
  journal_.recount();
  if (weak_) {
    weak_->order().forget_undo();
    weak_->order().look_again(world_.space());
  }
  works_.drop_done();
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
      under_way_.failure = Failure{};
      under_way_.failure->incomplete = *why;
    }
    return !why;
  };
  if (work.clusters.empty()) {
    for (std::size_t c = 0; c < count; ++c) {
      if (!fits(c)) {
        work.clusters.clear();
        return;
      }
      work.clusters.push_back(std::make_unique<Cluster>(grid, options_.model.warp_rules));
      for (std::size_t b = 0; b < work.clusters.back()->size(); ++b) {
        work.clusters.back()->block(b).look_for_divergence();
        work.clusters.back()->block(b).take_heap(heap_.get());
      }
    }
    work.progress.resize(count);
    work.loaded.resize(count);
    if (options_.independence.eager || options_.independence.phases ||
        options_.independence.orderly || options_.independence.neighbours || weak_) {
      watch_barriers(work, exec_, weak_ ? &weak_->order() : nullptr, options_.mutant);
    }
  }
  if (weak_) {
    if (const std::string why = weak_->begin_threads(work); !why.empty()) {
      under_way_.failure = Failure{};
      under_way_.failure->incomplete = why;
    }
  }
  work.grids_over = works_.grids_are_over(work);
  work.images.assign(count, nullptr);
  work.first_images.assign(count, nullptr);
  work.starts.assign(count, Start::Free);
  work.sum = work.unnumbered = {};
  for (const auto& cluster : work.clusters) { // it may have run before and been taken back
    for (std::size_t b = 0; b < cluster->size(); ++b) {
      if (Block& block = cluster->block(b); !block.local().empty()) {
        ::madvise(block.local().data(), block.local().size(), MADV_DONTNEED); // zero again
      }
    }
  }
  before = some != count ? memory_use() : MemoryUse{};
  Starts starts;
  const std::uint64_t barrier_before = operations_.library_barriers().grid_barrier(work);
  for (std::size_t c = 0; c < count && !under_way_.failure; ++c) {
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
    progress.turns.resize(cluster.size());
    for (std::size_t b = 0; b < cluster.size(); ++b) {
      progress.turns[b].start(cluster.block(b).warps().size());
    }
    progress.epochs.assign(cluster.size(), 0);
    work.progress[c] = std::move(progress);
    settling_.settle(work, c);
    capture(n, c);
    work.first_images[c] = work.images[c];
    if (work.grids_over) { // else in leave_grid_wait()
      find_start(work, c, starts);
    }
    if (options_.persistent.starts_at_once && !under_way_.failure && !runs_through(work, c)) {
      start_at_once(n, c);
    }
  }
  settle_grid_outside_of_moves(n, barrier_before);
}

/// [DEP-WAIT]
void Stepper::leave_grid_wait(std::size_t n) {
  Work& work = *works_[n];
  work.grids_over = true;
  log_.push_back({.kind = Log::Kind::GridsOver, .work = static_cast<std::uint32_t>(n)});
  Starts starts;
  const std::uint64_t barrier_before = operations_.library_barriers().grid_barrier(work);
  const std::size_t made_before = access_monitor_.made().size();
  for (std::size_t c = 0; c < work.images.size() && !under_way_.failure; ++c) {
    if (work.images[c]->ended) {
      continue;
    }
    const bool moved = work.images[c] != work.first_images[c];
    load(work, c);
    Cluster& cluster = *work.clusters[c];
    for (std::size_t b = 0; b < cluster.size(); ++b) {
      cluster.block(b).grids_before_are_over();
    }
    settling_.settle(work, c);
    capture(n, c);
    // How a cluster starts must not depend on what it did first, here or behind its wait: a state
    // does not tell.
    if (!under_way_.failure && !work.images[c]->made && !moved) {
      find_start(work, c, starts);
    }
  }
  meet_open_since(n, made_before);
  settle_grid_outside_of_moves(n, barrier_before);
}

/// Does whatever nobody can choose about: readiness, completion, records and orders.
void Stepper::advance() {
  for (bool changed = true; changed && !under_way_.failure;) {
    changed = false;
    for (std::size_t n = 0; n < works_.size() && !under_way_.failure; ++n) {
      Work& work = *works_[n];
      if (work.done) {
        continue;
      }
      if (!work.ready) {
        const bool first = std::all_of(work.after.begin(), work.after.end(), [](const auto& c) {
          return c->done.load();
        });
        seen_.dependency =
            seen_.dependency || (work.kernel() && !(first && work.command->early.empty()));
        if (works_.held_back(work)) {
          continue;
        }
        make_ready(n);
        changed = true;
      }
      if (work.kernel() && !under_way_.failure && !work.grids_over && works_.grids_are_over(work)) {
        leave_grid_wait(n);
        changed = true;
        if (under_way_.failure) {
          break;
        }
      }
      const Command& command = *work.command;
      if (command.value || (command.more && !work.kernel())) {
        followed_.order.called_library(); // it decides by what is in memory
        operations_.clocks().data().called_library();
      }
      if (command.value) {
        followed_.cone.decided_by(command.value->address);
      } else if (command.more && !work.kernel()) {
        followed_.cone.decided_by_anything();
      }
      const bool ended =
          work.kernel()
              ? !under_way_.failure && work.ended() && !launches_anything(command) &&
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

} // namespace heddle::reduce
