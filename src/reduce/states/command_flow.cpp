#include "reduce/states/command_flow.h"

#include "base/check.h"
#include "machine/device_launches.h"
#include "reduce/independence/barrier_monitor.h"
#include "reduce/states/stepper_work.h"

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

void CommandFlow::submitted(const CommandPtr& command) {
  if (command->kind == CommandKind::Kernel) {
    parts_.independence.know(command->grid->kernel());
    parts_.machine.live.know(command->grid->kernel());
  }
  if (!parts_.under_way.active) {
    present_.host_moved();
  }
  std::unique_ptr<Work> work = parts_.machine.works.make(command);
  note_overlaps(*work);
  if (const auto& wait = command->value) {
    parts_.independence.accesses().looks(*work, {.begin = wait->address, .bytes = wait->bytes});
  }
  for (const Command::Region& at : regions_of_more(*command)) {
    parts_.independence.accesses().looks(*work, at);
  }
  if (work->kernel()) {
    note_host_parameters(*work);
  }
  if (parts_.weak) {
    parts_.weak->submitted(*work, Works::before(command));
  }
  parts_.machine.works.add(std::move(work));
  if (parts_.under_way.active) {
    parts_.under_way.submitted = true; // by a thread or a command, in whose move it is
  } else {
    advance();
  }
}

/// Which commands may be under way at the same time as this one.
void CommandFlow::note_overlaps(const Work& work) {
  Sums& sums = parts_.independence.accesses().sums();
  const std::set<const Command*> before = Works::before(work.command);
  for (const auto& other : parts_.machine.works) {
    if (!other->done &&
        (parts_.options.model.ignore_grid_order || !before.contains(other->command.get()))) {
      sums.overlap(work.identity, other->identity);
    }
  }
  if (parts_.options.persistent.starts_at_once) {
    persistent_.early_commands().submitted(work.command, work.identity, [&](std::uint64_t other) {
      sums.overlap(work.identity, other);
    });
  }
}

void CommandFlow::note_host_parameters(const Work& work) {
  Grid& grid = *work.command->grid;
  for (std::uint64_t at = 0; at + sizeof(memory::Address) <= grid.parameter_bytes(); at += 8) {
    memory::Address word = 0;
    std::memcpy(&word, grid.parameters() + at, sizeof word);
    parts_.seen.host_parameters =
        parts_.seen.host_parameters || (memory::AddressSpace::is_host_memory(word) &&
                                        !parts_.machine.world.space().find(word)); // not pinned
  }
}

void CommandFlow::complete(Work& work) {
  if (work.kernel()) {
    parts_.independence.order().ended(work.command->grid->kernel());
  }
  if (parts_.weak) {
    parts_.weak->completed(work);
  }
  work.done = true;
  work.command->completed_at = parts_.machine.world.now();
  work.command->done.store(true);
}

void CommandFlow::returned(const CommandPtr& command) {
  present_.host_moved();
  for (const auto& work : parts_.machine.works) {
    if (work->command == command) {
      complete(*work);
    }
  }
  advance();
}

bool CommandFlow::make(const Move& move) {
  Work& work = *parts_.machine.works[move.work];
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
  present_.note_done(move.work);
  if (!parts_.machine.works.simple(move)) {
    if (!command->more) {
      parts_.dead_data.cone().carried_out(*command);
      parts_.independence.operations().clocks().data().carried_out(*command);
      parts_.independence.accesses().carried_out(work);
    }
    present_.host_moved();
  }
  return true;
}

// --- Readiness -----------------------------------------------------------------------------------

void CommandFlow::make_ready(std::size_t n) {
  Work& work = *parts_.machine.works[n];
  work.ready = true;
  present_.note_ready(n);
  if (!work.kernel()) {
    return;
  }
  const auto& grid = work.command->grid;
  grid->allow_launches(parts_.machine.world, *work.command);
  const auto count = static_cast<std::size_t>(grid->cluster_count());
  const std::uint64_t threads = grid->config().grid.count() * grid->config().block.count();
  const std::size_t some =
      threads > few_threads ? std::max<std::size_t>(1, few_threads * count / threads) : count;
  MemoryUse before = some != count ? memory_use() : MemoryUse{};
  const auto fits = [&](std::size_t done) {
    const auto why = done == some ? too_large(*work.command, before, some, count) : std::nullopt;
    if (why) {
      parts_.under_way.give_up(*why);
    }
    return !why;
  };
  if (work.clusters.empty() && !make_clusters(work, fits)) {
    return;
  }
  if (parts_.weak) {
    if (const std::string why = parts_.weak->begin_threads(work); !why.empty()) {
      parts_.under_way.give_up(why);
    }
  }
  work.grids_over = parts_.machine.works.grids_are_over(work);
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
  ClusterStarts::Known starts;
  const std::uint64_t barrier_before = grids_.barrier(work);
  for (std::size_t c = 0; c < count && !parts_.under_way.failure; ++c) {
    if (!fits(c)) {
      return;
    }
    start_cluster(work, c);
    free_.settling.settle(work, c);
    present_.capture(n, c);
    work.first_images[c] = work.images[c];
    if (work.grids_over) { // else in leave_grid_wait()
      persistent_.starts().find(work, c, starts);
    }
    if (parts_.options.persistent.starts_at_once && !parts_.under_way.failure &&
        !ClusterStarts::runs_through(work, c)) {
      persistent_.starts().start_at_once(n, c);
    }
  }
  grids_.settle_outside_of_moves(n, barrier_before);
}

/// False: they do not fit into memory.
bool CommandFlow::make_clusters(Work& work, const std::function<bool(std::size_t)>& fits) {
  const auto& grid = work.command->grid;
  const auto count = static_cast<std::size_t>(grid->cluster_count());
  for (std::size_t c = 0; c < count; ++c) {
    if (!fits(c)) {
      work.clusters.clear();
      return false;
    }
    work.clusters.push_back(std::make_unique<Cluster>(grid, parts_.options.model.warp_rules));
    for (std::size_t b = 0; b < work.clusters.back()->size(); ++b) {
      work.clusters.back()->block(b).look_for_divergence();
      work.clusters.back()->block(b).take_heap(parts_.independence.heap());
    }
  }
  work.progress.resize(count);
  work.loaded.resize(count);
  const IndependenceOptions& on = parts_.options.independence;
  if (on.eager || on.phases || on.orderly || on.neighbours || parts_.weak) {
    watch_barriers(
        work,
        parts_.machine.exec,
        parts_.weak ? &parts_.weak->order() : nullptr,
        parts_.options.mutant
    );
  }
  return true;
}

void CommandFlow::start_cluster(Work& work, std::size_t c) {
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
}

/// [DEP-WAIT]
void CommandFlow::leave_grid_wait(std::size_t n) {
  Work& work = *parts_.machine.works[n];
  work.grids_over = true;
  present_.note_grids_over(n);
  ClusterStarts::Known starts;
  const std::uint64_t barrier_before = grids_.barrier(work);
  const std::size_t made_before = parts_.independence.accesses().made().size();
  for (std::size_t c = 0; c < work.images.size() && !parts_.under_way.failure; ++c) {
    if (work.images[c]->ended) {
      continue;
    }
    const bool moved = work.images[c] != work.first_images[c];
    present_.load(work, c);
    Cluster& cluster = *work.clusters[c];
    for (std::size_t b = 0; b < cluster.size(); ++b) {
      cluster.block(b).grids_before_are_over();
    }
    free_.settling.settle(work, c);
    present_.capture(n, c);
    // How a cluster starts must not depend on what it did first, here or behind its wait: a state
    // does not tell.
    if (!parts_.under_way.failure && !work.images[c]->made && !moved) {
      persistent_.starts().find(work, c, starts);
    }
  }
  parts_.independence.open().meet_since(n, made_before);
  grids_.settle_outside_of_moves(n, barrier_before);
}

// --- What nobody chooses -------------------------------------------------------------------------

void CommandFlow::advance() {
  for (bool changed = true; changed && !parts_.under_way.failure;) {
    changed = false;
    for (std::size_t n = 0; n < parts_.machine.works.size() && !parts_.under_way.failure; ++n) {
      changed = advance(n) || changed;
    }
  }
}

/// Has something happened to the work?
bool CommandFlow::advance(std::size_t n) {
  Work& work = *parts_.machine.works[n];
  if (work.done) {
    return false;
  }
  bool changed = false;
  if (!work.ready) {
    const bool first = all_done(work.after);
    parts_.seen.dependency =
        parts_.seen.dependency || (work.kernel() && !(first && work.command->early.empty()));
    if (parts_.machine.works.held_back(work)) {
      return false;
    }
    make_ready(n);
    changed = true;
  }
  if (work.kernel() && !parts_.under_way.failure && !work.grids_over &&
      parts_.machine.works.grids_are_over(work)) {
    leave_grid_wait(n);
    changed = true;
    if (parts_.under_way.failure) {
      return true;
    }
  }
  note_reads(*work.command);
  if (has_ended(work)) {
    complete(work);
    present_.note_done(n);
    changed = true;
  }
  return changed;
}

/// It decides by what is in memory.
void CommandFlow::note_reads(const Command& command) {
  const bool more = command.more && command.kind != CommandKind::Kernel;
  if (command.value || more) {
    parts_.independence.order().called_library();
    parts_.independence.operations().clocks().data().called_library();
  }
  if (command.value) {
    parts_.dead_data.cone().decided_by(command.value->address);
  } else if (more) {
    parts_.dead_data.cone().decided_by_anything();
  }
}

bool CommandFlow::has_ended(const Work& work) const {
  const Command& command = *work.command;
  if (!work.kernel()) {
    return happens_by_itself(command);
  }
  return !parts_.under_way.failure && work.ended() && !launches_anything(command) &&
         std::ranges::all_of(command.early, [](const EarlyDependency& early) {
           return early.grid->done.load();
         });
}

} // namespace heddle::reduce
