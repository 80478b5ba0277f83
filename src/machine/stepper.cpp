// Implements stepper.h.
#include "machine/stepper.h"

#include "base/check.h"
#include "isa/ops_address.h"
#include "machine/stepper_work.h"

#include <algorithm>
#include <bit>

namespace heddle::machine {

using isa::LaneMask;
using isa::Op;
using isa::Stop;
using ptx::Mod;
using ptx::Opcode;

namespace {

// Backward branches that a thread may take in one go before it is asked whether it loops for ever,
// and then until we give up.
constexpr std::int64_t plain_fuel = 1 << 14;
constexpr std::uint64_t loop_rounds = 1 << 22;
constexpr std::uint64_t max_threads = 1 << 16;

LaneMask bit(int lane) {
  return LaneMask{1} << lane;
}

} // namespace

Stepper::Stepper(World& world, Options options)
    : world_(world),
      options_(options),
      exec_(world.space()) {}
Stepper::~Stepper() = default;

Block::WarpState& Stepper::warp_state(const Lane& at) {
  return at.work->clusters[at.cluster]->block(at.block).warps()[at.warp];
}

// --- Operations --------------------------------------------------------------------------------

bool Stepper::stands_at_visible(const Lane& at) const {
  const isa::Warp& warp = warp_state(at).warp;
  const auto index = static_cast<std::size_t>(at.lane);
  const Op& op = *warp.pc[index];
  if ((op.flags & isa::Visible) == 0) {
    return false;
  }
  if ((op.flags & isa::Guarded) != 0) {
    LaneMask guard = 0;
    std::memcpy(&guard, warp.frame[index]->registers.data() + op.guard.offset(), sizeof guard);
    return (((op.guard_negated ? ~guard : guard) >> at.lane) & 1) != 0;
  }
  return true;
}

// [STEP.1] to [STEP.4]: atomic writes and fences are no steps, nor is anything done to an object of
// automatic storage.
Stepper::Operation Stepper::classify(const Lane& at) const {
  isa::Warp& warp = warp_state(at).warp;
  const auto index = static_cast<std::size_t>(at.lane);
  const Op& op = *warp.pc[index];
  const isa::Code& code = *warp.frame[index]->code;
  const ptx::Instruction& i = code.function->body[op.instruction];
  switch (i.opcode) {
  case Opcode::Ld:
  case Opcode::St:
  case Opcode::Atom:
  case Opcode::Red: {
    std::uint64_t address[isa::warp_size];
    exec_.enter_block(at.work->clusters[at.cluster]->block(at.block).exec_block());
    exec_.select(warp, *warp.frame[index], bit(at.lane));
    isa::addresses<isa::Space::Generic>(exec_, op, address);
    if (!i.one_of(ptx::Category::Space)) {
      if (address[index] - memory::local_window < memory::window_size) {
        return {Class::Silent, StepKind::None, "an access to a local variable", /*local=*/true};
      }
      if (address[index] - memory::param_window < memory::window_size) {
        return {Class::Silent, StepKind::None, "a read of a parameter"};
      }
    }
    if (i.opcode == Opcode::Atom || i.opcode == Opcode::Red) {
      return {Class::Access, StepKind::Sync, "an atomic update"};
    }
    const bool load = i.opcode == Opcode::Ld;
    if (i.has(Mod::Volatile)) {
      return {Class::Access, StepKind::Volatile, load ? "a volatile read" : "a volatile write"};
    }
    if (i.has(Mod::Relaxed) || i.has(Mod::Acquire) || i.has(Mod::Release) || i.has(Mod::Mmio)) {
      return load ? Operation{Class::Access, StepKind::Sync, "an atomic read"}
                  : Operation{Class::Access, StepKind::None, "an atomic write"};
    }
    saw_plain_access_ = true;
    return {
        Class::Plain,
        StepKind::None,
        load ? "a plain read" : "a plain write",
        /*local=*/false,
        /*plain_read=*/load
    };
  }
  case Opcode::Fence:
  case Opcode::Membar:
    return {Class::Silent, StepKind::None, "a fence"};
  case Opcode::Griddepcontrol:
    return {Class::Silent, StepKind::None, "a grid dependency"};
  case Opcode::Bar:
  case Opcode::Barrier:
    if (!i.has(Mod::Warp) && !i.has(Mod::Cluster) &&
        (i.opcode == Opcode::Bar || i.has(Mod::Aligned))) {
      return {Class::Aligned, StepKind::Sync, "a barrier"};
    }
    return {Class::Join, StepKind::Sync, "a barrier"};
  case Opcode::Shfl:
  case Opcode::Vote:
  case Opcode::Match:
  case Opcode::Redux:
  case Opcode::Elect:
    return {Class::Join, StepKind::Sync, "a warp collective"};
  case Opcode::Mbarrier:
    return {Class::Access, StepKind::Sync, "an mbarrier operation"};
  case Opcode::Call:
    if (i.operands.size() > 1 &&
        std::any_of(i.operands.begin(), i.operands.end(), [](const ptx::Operand& o) {
          return o.name == "vprintf";
        })) {
      return {Class::Io, StepKind::Io, "printf"};
    }
    return {Class::Access, StepKind::None, "a library call"};
  case Opcode::Ret:
  case Opcode::Exit:
    return {Class::End, StepKind::End, "the end of the thread"};
  default:
    return {Class::Access, StepKind::None, "an operation that others may see"};
  }
}

/// Does the thread stand at an operation of which the explorer chooses when it happens?
bool Stepper::is_choice(const Lane& at) const {
  if (!stands_at_visible(at)) {
    return false;
  }
  const Work::Progress& progress = at.work->progress[at.cluster];
  switch (classify(at).kind) {
  case Class::Silent:
    return false;
  case Class::Plain:
    return (progress.loops[at.block][at.warp].plain & bit(at.lane)) != 0 ||
           (!progress.made && !bundling_);
  case Class::Access:
  case Class::Aligned: // its warp decides, see open_aligned
    return true;
  case Class::Join:
  case Class::End:
  case Class::Io:
    break;
  }
  return !progress.made || progress.joins_are_moves;
}

// --- Running threads ---------------------------------------------------------------------------

Stop Stepper::run(const Lane& at, std::int64_t fuel, LaneMask with) {
  exec_.enter_block(at.work->clusters[at.cluster]->block(at.block).exec_block());
  isa::Exec::Turn turn;
  turn.fuel = fuel;
  turn.stop_at_visible = true;
  turn.reconverge = false;
  return exec_.run(warp_state(at).warp, bit(at.lane) | with, turn);
}

// [BAR-4]: threads of a warp execute an aligned barrier together. Lanes that have come to one wait
// for the others of their warp, wherever those go; when all that can run stand at some aligned
// barrier, each group of them executes its own.
LaneMask Stepper::together(const Lane& at) const {
  const isa::Warp& warp = warp_state(at).warp;
  const auto index = static_cast<std::size_t>(at.lane);
  LaneMask group = 0;
  for (LaneMask m = warp.live & ~warp.blocked; m != 0; m &= m - 1) {
    Lane other = at;
    other.lane = std::countr_zero(m);
    const auto i = static_cast<std::size_t>(other.lane);
    if (!stands_at_visible(other) || classify(other).kind != Class::Aligned) {
      return 0;
    }
    if (warp.pc[i] == warp.pc[index] && warp.frame[i] == warp.frame[index]) {
      group |= bit(other.lane);
    }
  }
  return group;
}

bool Stepper::open_aligned(const Lane& at) {
  const LaneMask group = together(at);
  if (group == 0) {
    return true;
  }
  const Stop stop = run(at, plain_fuel, group);
  if (stop == Stop::Fault || stop == Stop::Unsupported) {
    fail(at, stop);
    return false;
  }
  return true;
}

/// Lets a thread run until it stands at an operation that is somebody's choice; false if it failed.
bool Stepper::settle_lane(const Lane& at) {
  const isa::Warp& warp = warp_state(at).warp;
  Work::Progress& progress = at.work->progress[at.cluster];
  int rounds = 0;
  while ((warp.live & ~warp.blocked & ~progress.loops[at.block][at.warp].endless & bit(at.lane)) !=
         0) {
    if (is_choice(at)) {
      return true;
    }
    if (++rounds > 64) {
      return loops_for_ever(at);
    }
    const Stop stop = run(at, plain_fuel);
    if (stop == Stop::Fault || stop == Stop::Unsupported) {
      fail(at, stop);
      return false;
    }
  }
  return true;
}

/// Called for a thread that has run for long without a choice: either its state comes again
/// (Brent's algorithm), then it will loop for ever, or it gets somewhere. False if neither, or it
/// failed.
bool Stepper::loops_for_ever(const Lane& at) {
  const isa::Warp& warp = warp_state(at).warp;
  Work::Progress& progress = at.work->progress[at.cluster];
  const auto fingerprint = [&] {
    Hasher hasher;
    hash_lane(warp, at.lane, hasher);
    return hasher.finish();
  };
  Hash128 remembered = fingerprint();
  std::uint64_t power = 1, length = 0;
  constexpr std::uint64_t never = ~0ULL;
  std::uint64_t stepped = never, accessed = never, slept = never,
                read = never; // in which round last
  for (std::uint64_t round = 0; round < loop_rounds; ++round) {
    const Stop stop = run(at, /*fuel=*/1);
    if (stop == Stop::Fault || stop == Stop::Unsupported) {
      fail(at, stop);
      return false;
    }
    if ((warp.live & ~warp.blocked & bit(at.lane)) == 0) {
      return true;
    }
    if (is_choice(at)) {
      return true;
    }
    if (stands_at_visible(at)) {
      const Operation operation = classify(at);
      stepped = operation.step != StepKind::None ? round : stepped;
      accessed = operation.local ? round : accessed;
      read = operation.plain_read ? round : read;
    }
    slept = stop == Stop::Yield ? round : slept;
    if (fingerprint() == remembered) {
      auto& loops = progress.loops[at.block][at.warp];
      const auto in_circle = [&](std::uint64_t when) {
        return when != never && round - when <= length ? bit(at.lane) : 0;
      };
      if (in_circle(read) != 0) {
        loops.plain |= bit(at.lane); // others may write what it reads
        return settle_lane(at);
      }
      loops.endless |= bit(at.lane);
      loops.stepping |= in_circle(stepped);
      loops.local |= in_circle(accessed);
      loops.sleeping |= in_circle(slept);
      return true;
    }
    if (++length == power) {
      remembered = fingerprint();
      power *= 2;
      length = 0;
    }
  }
  failure_ = Failure{};
  failure_->incomplete = fmt::format(
      "a thread of {} ran through {} rounds of a loop without an operation that others can see",
      at.work->command->label,
      loop_rounds
  );
  return false;
}

void Stepper::settle(Work& work, std::size_t cluster) {
  // A barrier that opens lets lanes go that were looked at before: repeat until nothing changes.
  constexpr int many_passes = 4096;
  std::uint64_t executed = 0;
  int passes = 0;
  do {
    if (++passes > many_passes) {
      work.progress[cluster].joins_are_moves = true;
    }
    executed = exec_.executed();
    Cluster& c = *work.clusters[cluster];
    for (std::size_t b = 0; b < c.size(); ++b) {
      for (std::size_t w = 0; w < c.block(b).warps().size(); ++w) {
        const isa::Warp& warp = c.block(b).warps()[w].warp;
        for (LaneMask m = warp.live & ~warp.blocked; m != 0; m &= m - 1) {
          if (!settle_lane({&work, cluster, b, w, std::countr_zero(m)})) {
            return;
          }
        }
        const Work::Progress& progress = work.progress[cluster];
        const LaneMask can_run = warp.live & ~warp.blocked;
        if (can_run != 0 && progress.made && !progress.joins_are_moves &&
            !open_aligned({&work, cluster, b, w, std::countr_zero(can_run)})) {
          return;
        }
      }
    }
  } while (exec_.executed() != executed);
}

void Stepper::settle(Work& work) {
  for (std::size_t c = 0; c < work.clusters.size() && !failure_; ++c) {
    settle(work, c);
  }
}

void Stepper::fail(const Lane& at, Stop stop) {
  failure_ = Failure{};
  FaultReport& report = failure_->report;
  Block& block = at.work->clusters[at.cluster]->block(at.block);
  report.kind =
      stop == Stop::Unsupported ? FaultReport::Kind::Unsupported : FaultReport::Kind::Fault;
  report.fault = exec_.fault();
  report.kernel = at.work->command->grid->describe();
  report.block = block.index();
  report.thread = block.thread_index(at.warp, at.lane);
  describe_instruction(exec_.code(), *exec_.current(), report);
}

// --- Commands ----------------------------------------------------------------------------------

void Stepper::submitted(const CommandPtr& command) {
  if (world_.has_fault()) {
    command->done.store(true);
    return;
  }
  works_.push_back(std::make_unique<Work>());
  works_.back()->command = command;
  advance();
}

namespace {

/// Nothing in the kernel depends on when it runs: no atomic or volatile access, no call.
bool has_only_plain_accesses(const ptx::Function& function) {
  return std::none_of(function.body.begin(), function.body.end(), [](const ptx::Instruction& i) {
    switch (i.opcode) {
    case Opcode::Ld:
    case Opcode::St:
      return i.has(Mod::Volatile) || i.has(Mod::Relaxed) || i.has(Mod::Acquire) ||
             i.has(Mod::Release) || i.has(Mod::Mmio);
    case Opcode::Atom:
    case Opcode::Red:
    case Opcode::Mbarrier:
    case Opcode::Call:
    case Opcode::Activemask:
    case Opcode::Multimem:
    case Opcode::Cp:
      return true;
    default:
      return false;
    }
  });
}

} // namespace

/// [DEP]: does the command have to wait for others?
bool Stepper::held_back(const Command& command) const {
  if (!options_.ignore_grid_order || command.kind != CommandKind::Kernel) {
    return !command.after.empty();
  }
  // Only for what is not a grid, directly or behind events.
  std::vector<const Command*> todo{&command};
  while (!todo.empty()) {
    const Command* next = todo.back();
    todo.pop_back();
    for (const CommandPtr& before : next->after) {
      if (before->done.load() || before->kind == CommandKind::Kernel) {
        continue;
      }
      if (before->kind != CommandKind::EventRecord && before->kind != CommandKind::Empty) {
        return true;
      }
      todo.push_back(before.get());
    }
  }
  return false;
}

void Stepper::make_ready(Work& work) {
  work.ready = true;
  if (!work.kernel()) {
    return;
  }
  const auto& grid = work.command->grid;
  work.plain_only = has_only_plain_accesses(*grid->kernel().function);
  const std::uint64_t threads = grid->config().grid.count() * grid->config().block.count();
  if (threads > max_threads) {
    failure_ = Failure{};
    failure_->incomplete = fmt::format(
        "{} has {} threads, more than the {} that can be explored",
        work.command->label,
        threads,
        max_threads
    );
    return;
  }
  for (std::uint64_t index = 0; index < grid->cluster_count(); ++index) {
    work.clusters.push_back(std::make_unique<Cluster>(grid));
    Cluster& cluster = *work.clusters.back();
    cluster.start(index);
    Work::Progress progress;
    for (std::size_t b = 0; b < cluster.size(); ++b) {
      progress.loops.emplace_back(cluster.block(b).warps().size());
    }
    work.progress.push_back(std::move(progress));
  }
  settle(work);
}

void Stepper::complete(Work& work) {
  work.command->after.clear();
  work.command->completed_at = world_.now();
  work.command->done.store(true);
}

/// Does whatever nobody can choose about: readiness, completion, records and orders.
void Stepper::advance() {
  for (bool changed = true; changed && !failure_;) {
    changed = false;
    for (const auto& work : works_) {
      if (failure_) {
        return;
      }
      Command& command = *work->command;
      if (!work->ready) {
        std::erase_if(command.after, [](const CommandPtr& c) { return c->done.load(); });
        saw_dependency_ = saw_dependency_ || (work->kernel() && !command.after.empty());
        if (held_back(command)) {
          continue;
        }
        make_ready(*work);
        changed = true;
      }
      if (command.kind == CommandKind::HostFunction) {
        failure_ = Failure{};
        failure_->report.kind = FaultReport::Kind::Unsupported;
        failure_->report.fault.text = "cudaLaunchHostFunc under exploration";
        return;
      }
      const bool ended = work->kernel() ? std::all_of(
                                              work->clusters.begin(),
                                              work->clusters.end(),
                                              [](const auto& cluster) {
                                                for (std::size_t b = 0; b < cluster->size(); ++b) {
                                                  if (!cluster->block(b).ended()) {
                                                    return false;
                                                  }
                                                }
                                                return true;
                                              }
                                          )
                                        : command.kind == CommandKind::EventRecord ||
                                              command.kind == CommandKind::Empty;
      if (ended) {
        if (command.work) {
          command.work();
        }
        complete(*work);
        changed = true;
      }
    }
    std::erase_if(works_, [](const auto& work) { return work->command->done.load(); });
  }
}

// --- Moves -------------------------------------------------------------------------------------

std::vector<Stepper::Move> Stepper::moves() const {
  std::vector<Move> result;
  for (std::size_t n = 0; n < works_.size(); ++n) {
    const Work& work = *works_[n];
    if (work.ready && !work.kernel()) {
      result.push_back({.work = n});
    }
    for (std::size_t c = 0; c < work.clusters.size(); ++c) {
      const std::size_t before = result.size();
      add_moves(n, c, result);
      if (work.plain_only && !work.progress[c].made && result.size() > before) {
        // In which order such clusters start, and by which thread, makes no difference to anybody.
        result.resize(before + 1);
        break;
      }
    }
  }
  return result;
}

void Stepper::add_moves(std::size_t n, std::size_t c, std::vector<Move>& result) const {
  const Work& work = *works_[n];
  Cluster& cluster = *work.clusters[c];
  const bool alone = cluster.size() == 1 && work.command->grid->config().block.count() == 1;
  const Guarantee guarantee = !work.progress[c].made ? Guarantee::None
                              : work.cooperative()   ? Guarantee::Cooperative
                              : alone                ? Guarantee::Itself
                                                     : Guarantee::Cluster;
  for (std::size_t b = 0; b < cluster.size(); ++b) {
    Block& block = cluster.block(b);
    for (std::size_t w = 0; w < block.warps().size(); ++w) {
      const isa::Warp& warp = block.warps()[w].warp;
      for (LaneMask m = warp.live & ~warp.blocked; m != 0; m &= m - 1) {
        Move move{.work = n, .thread = true, .cluster = c, .block = b, .warp = w};
        move.lane = std::countr_zero(m);
        move.endless = (work.progress[c].loops[b][w].endless & bit(move.lane)) != 0;
        move.guarantee = guarantee;
        if (!waits_for_warp(move)) {
          result.push_back(move);
        }
      }
    }
  }
}

/// Has the lane come to an aligned barrier and waits there for the rest of its warp, or has another
/// lane of its group the move?
bool Stepper::waits_for_warp(const Move& move) const {
  const Lane at{works_[move.work].get(), move.cluster, move.block, move.warp, move.lane};
  const Work::Progress& progress = at.work->progress[move.cluster];
  if (!progress.made || !stands_at_visible(at) || classify(at).kind != Class::Aligned) {
    return false; // as the first step of its cluster, arriving is a move of each
  }
  const LaneMask group = together(at);
  return group == 0 || std::countr_zero(group) != move.lane;
}

bool Stepper::step(const Move& move) {
  Work& work = *works_[move.work];
  taken_ = StepKind::None;
  if (!move.thread) {
    if (work.command->work) {
      work.command->work();
    }
    complete(work);
    advance();
    return !failure_;
  }
  if (move.endless) {
    taken_ = describe(move).step;
    return true;
  }
  const Lane at{&work, move.cluster, move.block, move.warp, move.lane};
  if (classify(at).kind == Class::Plain && !work.progress[move.cluster].made) {
    // Plain accesses go together with the operation that follows them.
    bundling_ = true;
    const bool fine = settle_lane(at);
    bundling_ = false;
    if (!fine) {
      return false;
    }
  }
  const isa::Warp& warp = warp_state(at).warp;
  if ((warp.live & ~warp.blocked & bit(at.lane)) != 0 && is_choice(at)) {
    const Operation operation = classify(at);
    taken_ = operation.step;
    const bool aligned = operation.kind == Class::Aligned;
    if (aligned && !work.progress[move.cluster].made) {
      // It has arrived; settling brings the others of its warp, then they pass together.
    } else {
      const Stop stop = run(at, plain_fuel, aligned ? together(at) : 0);
      if (stop == Stop::Fault || stop == Stop::Unsupported) {
        fail(at, stop);
        return false;
      }
    }
  }
  // [CLUSTER] [COOP]: from now on they are all guaranteed.
  if (taken_ != StepKind::None && !work.progress[move.cluster].made) {
    for (std::size_t c = 0; c < work.progress.size(); ++c) {
      if (c == move.cluster || work.cooperative()) {
        work.progress[c].made = true;
        settle(work, c);
      }
    }
  } else {
    settle(work, move.cluster);
  }
  advance();
  return !failure_;
}

} // namespace heddle::machine
