// Implements the part of stepper.h that is about what a command has to wait for ([DEP]), among it
// programmatic dependencies ([DEP-EARLY], [DEP-WAIT], [DEP-BEGUN]): a grid that begins before the
// one it depends on has completed, and waits for it inside.
//
// griddepcontrol.launch_dependents is no choice: that it has not been executed yet nobody can tell,
// and what it allows nobody has to do. griddepcontrol.wait blocks its thread; when the grids before
// are over, all who wait go on at once, which is no choice either.
//
// Such grids overlap (Stepper::submitted), so what one of them does to memory that the other one
// accesses is a choice. That blocks start at once, and that grids which cannot start yet run
// through, is not assumed where there is one.
#include "machine/device_launches.h"
#include "reduce/stepper_work.h"

#include <algorithm>

namespace heddle::reduce {

bool happens_by_itself(const Command& command) {
  return command.kind == CommandKind::EventRecord ||
         (command.kind == CommandKind::Empty && !command.more);
}

bool launches_anything(const Command& command) {
  const DeviceLaunches* launches = command.grid->launches();
  return launches->used() && !launches->over();
}

/// nullptr: it has completed.
const Work* Stepper::work_of(const Command& command) const {
  const auto found = std::ranges::find_if(works_, [&](const auto& work) {
    return work->command.get() == &command;
  });
  return found != works_.end() && !(*found)->done ? found->get() : nullptr;
}

/// [DEP]: does the command have to wait for others?
bool Stepper::held_back(const Work& work) const {
  const auto waits = [](const CommandPtr& before) { return !before->done.load(); };
  if (!options_.ignore_grid_order || !work.kernel()) {
    return std::any_of(work.after.begin(), work.after.end(), waits) ||
           !std::ranges::all_of(work.command->early, [&](const EarlyDependency& early) {
             return triggered(early);
           });
  }
  // Only for what is not a grid, directly or behind events.
  std::vector<const Command*> todo{work.command.get()};
  while (!todo.empty()) {
    const Command* next = todo.back();
    todo.pop_back();
    for (const CommandPtr& before : next->after) {
      if (!waits(before) || before->kind == CommandKind::Kernel) {
        continue;
      }
      if (!happens_by_itself(*before)) {
        return true;
      }
      todo.push_back(before.get());
    }
  }
  return false;
}

/// Does somebody who has not begun wait for its blocks to let dependents begin? Then what its moves
/// do is more than what they do to their cluster.
bool Stepper::has_dependents(const Work& work) const {
  return seen_.early && std::ranges::any_of(works_, [&](const auto& other) {
           return !other->done && !other->ready &&
                  std::ranges::any_of(other->command->early, [&](const EarlyDependency& early) {
                    return early.grid == work.command;
                  });
         });
}

bool Stepper::triggered(const EarlyDependency& early) const {
  if (early.grid->done.load()) {
    return true;
  }
  const Work* work = work_of(*early.grid);
  if (work == nullptr || !work->ready) {
    return false;
  }
  return early.on == Trigger::Launch || std::ranges::all_of(work->images, [](const Image* image) {
           return image != nullptr && (image->ended || image->rest->lets_dependents_begin);
         });
}

/// Have all threads of a grid ended, and has completed what they launched? It may not have
/// completed itself, because of those that it depends on.
bool Stepper::is_over(const Command& grid) const {
  if (grid.done.load()) {
    return true;
  }
  const Work* work = work_of(grid);
  return work != nullptr && work->ready && work->ended() && !launches_anything(grid);
}

bool Stepper::grids_are_over(const Work& work) const {
  return std::ranges::all_of(work.command->overlaps, [&](const Overlap& overlap) {
    return !overlap.awaited || is_over(*overlap.grid);
  });
}

/// [DEP-WAIT]
void Stepper::leave_grid_wait(std::size_t n) {
  Work& work = *works_[n];
  work.grids_over = true;
  log_.push_back({.kind = Log::Kind::GridsOver, .work = static_cast<std::uint32_t>(n)});
  Starts starts;
  const std::uint64_t barrier_before = library_barriers_.grid_barrier(work);
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
    settle(work, c);
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

/// What a command other than a grid submits yet is not known: it counts as if it were one. Grids
/// submit grids only.
bool Stepper::may_call_host() const {
  return !mutant_is(Mutant::HostFirstForgetsFunctions) &&
         std::ranges::any_of(works_, [](const auto& work) {
           return !work->done && !work->begun &&
                  (work->command->kind == CommandKind::HostFunction ||
                   (!work->kernel() && work->command->more));
         });
}

/// An early start is allowed and promised to nobody, nor is a host function while another one runs.
bool Stepper::may_wait(const Work& work) const {
  if (std::ranges::any_of(work.command->overlaps, [](const Overlap& overlap) {
        return !overlap.grid->done.load();
      })) {
    return true;
  }
  return work.command->kind == CommandKind::HostFunction &&
         std::ranges::any_of(works_, [](const auto& other) {
           return other->begun && !other->done;
         });
}

} // namespace heddle::reduce
