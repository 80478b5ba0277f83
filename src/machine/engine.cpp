// Implements engine.h.
#include "machine/engine.h"

#include "base/check.h"
#include "base/processors.h"
#include "machine/device_launches.h"
#include "machine/hang_report.h"
#include "machine/host_activity.h"
#include "machine/probe.h"
#include "machine/probe_pace.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>

namespace heddle::machine {
namespace {

// Turns of warps that a cluster gets before it goes to the back of the queue.
constexpr std::uint64_t rounds_per_turn = 16;
// A monitor that ends the turn of a warp wants others to go first (race/access.cpp): of a few other
// clusters, too, which start then.
constexpr std::uint64_t watched_clusters = 4;
// With a seed other than 0, up to 2^(this - 1) clusters of a kernel begin in any order.
constexpr std::uint64_t window_powers = 4;
// With a seed device work is done by the host thread while it waits; when it does not call for this
// long (it spins on a flag) another thread does it.
constexpr auto host_away = std::chrono::milliseconds(50);
// How often idle workers look whether a stream that waits for a value may go on: whoever writes it
// tells nobody.
constexpr auto value_poll = std::chrono::microseconds(100);
// How soon Ctrl-C is noticed.
constexpr auto interrupt_poll = std::chrono::milliseconds(100);
using Clock = std::chrono::steady_clock;
// A warning that device threads only wait, where host threads could still end that.
constexpr Clock::duration tell_after = std::chrono::seconds(7);

// So many clusters a worker takes at a time if they are short: one after the other, without asking
// for the next one. As soon as one of them does not end at once, or they have taken longer than
// this many thread instructions, the worker gives back those that it has not started.
constexpr std::uint64_t most_clusters_at_once = 1024;
constexpr std::uint64_t instructions_at_once = 1 << 22;

std::string with_place(const Waiting& waiting) {
  const SourcePlace& place = waiting.place;
  return place.line == 0 ? waiting.text
                         : fmt::format("{}:{}: {}", place.file, place.line, waiting.text);
}

/// Without the engine's lock: who hears of it may ask what is to come.
void tell_submitted(const EngineOptions& options, const Command& command) {
  if (options.worked && command.grid != nullptr) {
    options.worked(*command.grid, {.submitted = true});
  }
}

FaultReport deadlock_of(Cluster& cluster) {
  FaultReport report;
  report.kind = FaultReport::Kind::Deadlock;
  report.kernel = cluster.grid().describe();
  report.block = cluster.block(0).index();
  Waits waits;
  cluster.describe_waits(waits);
  report.waits = machine::describe(waits);
  report.launches = {{report.kernel, cluster.grid().config().called_from}};
  return report;
}

} // namespace

Engine::Engine(World& world, EngineOptions options) : world_(world), options_(std::move(options)) {
  if (options_.workers == 0) {
    options_.workers = usable_processors();
  }
  if (options_.seed) {
    options_.workers = 1;
    random_.emplace(*options_.seed);
    window_random_.emplace(*options_.seed);
    if (shuffles()) { // a program of one kernel has the schedule that it had with one generator
      random_->below(window_powers);
    }
    host_exec_ = std::make_unique<isa::Exec>(world.space());
    host_exec_->work_alone();
    host_exec_->keep_turns();  // what the seed chooses among must not depend on compiled code
    world_.use_virtual_time(); // nor on how fast this machine is: waits of libcu++ ask for the time
  }
  soft_limit_ = options_.workers;
}

Engine::~Engine() {
  {
    std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  work_available_.notify_all();
  host_work_available_.notify_all();
  for (std::thread& thread : threads_) {
    thread.join();
  }
}

void Engine::start_threads() {
  if (!threads_.empty()) {
    return;
  }
  if (options_.seed) {
    threads_.emplace_back([this] { work_when_host_is_away(); });
  } else {
    for (unsigned i = 0; i < options_.workers; ++i) {
      threads_.emplace_back([this] { work(); });
    }
  }
  threads_.emplace_back([this] { run_host_functions(); });
  world_.listen_for_interrupts();
}

// --- Commands ----------------------------------------------------------------------------------

void Engine::submitted(const CommandPtr& command) {
  tell_submitted(options_, *command);
  std::unique_lock lock(mutex_);
  host_calls_.note_work();
  if (dropped_) {
    dropped_->push_back(command);
    return;
  }
  if (world_.has_fault()) {
    command->done.store(true); // nothing runs any more
    return;
  }
  start_threads();
  pending_.emplace(command->id, command);
  auto blocked = std::make_shared<Blocked>();
  blocked->command = command;
  const auto wait_for = [&](const CommandPtr& before) {
    if (!before->done.load()) {
      ++blocked->missing;
      dependents_[before.get()].push_back(blocked);
    }
  };
  std::ranges::for_each(command->after, wait_for);
  // [DEP-EARLY] allows that they begin earlier, and promises it to nobody.
  for (const EarlyDependency& early : command->early) {
    wait_for(early.grid);
  }
  if (blocked->missing == 0) {
    make_ready(command);
  }
}

void Engine::make_ready(const CommandPtr& command) {
  if (command->kind == CommandKind::HostFunction) {
    host_functions_.push_back(command);
    host_work_available_.notify_one();
    return;
  }
  if (command->kind == CommandKind::ValueWait) {
    waiting_.push_back(command);
    wake_another();
    return;
  }
  if (command->kind != CommandKind::Kernel) {
    host_side_.push_back(command);
    wake_another();
    return;
  }
  Grid& grid = *command->grid;
  grid.allow_launches(world_, *command);
  auto running = std::make_shared<Running>();
  running->command = command;
  const std::uint64_t blocks = std::uint64_t{resident_blocks(
                                   world_.model(),
                                   static_cast<std::uint32_t>(grid.config().block.count()),
                                   grid.shared_bytes()
                               )} *
                               world_.model().multiprocessors;
  running->resident_limit = std::max<std::uint64_t>(1, blocks / grid.blocks_per_cluster());
  if (shuffles()) {
    running->window = std::uint64_t{1} << window_random_->below(window_powers);
  }
  running_.push_back(std::move(running));
  work_available_.notify_all();
}

void Engine::complete(const CommandPtr& command) {
  ++progress_;
  command->completed_at = world_.now();
  command->after.clear();
  command->early.clear();
  if (command->kind == CommandKind::Kernel) { // others pass them on
    command->overlaps.clear();
  }
  command->done.store(true);
  pending_.erase(command->id);
  const auto waiting = dependents_.find(command.get());
  if (waiting != dependents_.end()) {
    const auto list = std::move(waiting->second);
    dependents_.erase(waiting);
    for (const auto& blocked : list) {
      if (--blocked->missing == 0) {
        make_ready(blocked->command);
      }
    }
  }
  completed_.notify_all();
}

// What its threads have launched belongs to a grid, the chosen body to a conditional node.
void Engine::own_part_done(const CommandPtr& command, std::unique_lock<std::mutex>& lock) {
  std::vector<CommandPtr> unfinished;
  if (command->more) {
    lock.unlock();
    unfinished = command->more();
    lock.lock();
  }
  if (!pending_.contains(command->id)) {
    return; // a fault meanwhile
  }
  if (unfinished.empty()) {
    complete(command);
    return;
  }
  auto join = std::make_shared<Command>();
  join->device = command->device;
  join->label = fmt::format("the end of what {} has begun", command->label);
  join->stream = command->stream;
  join->after = std::move(unfinished);
  join->work = [this, command] {
    std::unique_lock again(mutex_);
    if (pending_.contains(command->id)) {
      own_part_done(command, again);
    }
  };
  lock.unlock();
  world_.submit(join);
  lock.lock();
}

// --- Work --------------------------------------------------------------------------------------

// After a turn there is a cluster to run or a place to start one: worth a wake-up only if somebody
// sleeps, for this is done once per block.
void Engine::wake_another() {
  if (idle_ > 0) {
    work_available_.notify_one();
  }
}

bool Engine::may_start(const Running& running) const {
  const Grid& grid = *running.command->grid;
  if (running.unstarted() == 0 || running.resident >= running.resident_limit) {
    return false;
  }
  // [COOP]: all of a cooperative grid; others when few are resident.
  return resident_.size() < soft_limit_ || running.resident < running.window ||
         grid.config().cooperative;
}

std::uint64_t Engine::Running::unstarted() const {
  std::uint64_t count = command->grid->cluster_count() - command->grid->next_cluster;
  for (const Clusters& clusters : returned) {
    count += clusters.count();
  }
  return count;
}

/// In the order of their numbers, as far as possible.
Engine::Clusters Engine::take_clusters(Running& running) const {
  // With a seed the order is that of one at a time. Somebody else has to get some, too.
  const std::uint64_t most = random_ || options_.one_at_a_time
                                 ? 1
                                 : std::clamp<std::uint64_t>(
                                       running.unstarted() / (4 * options_.workers),
                                       1,
                                       most_clusters_at_once
                                   );
  const auto take = [most](std::uint64_t& first, std::uint64_t end) {
    const std::uint64_t begin = first;
    first = std::min(end, begin + most);
    return Clusters{begin, first};
  };
  if (running.returned.empty()) {
    Grid& grid = *running.command->grid;
    return take(grid.next_cluster, grid.cluster_count());
  }
  const auto lowest = std::ranges::min_element(running.returned, {}, &Clusters::first);
  const Clusters taken = take(lowest->first, lowest->end);
  if (lowest->count() == 0) {
    running.returned.erase(lowest);
  }
  return taken;
}

/// Kernels take turns in starting blocks, so that partners in two streams both get going.
std::shared_ptr<Engine::Resident> Engine::admit_next() {
  for (std::size_t i = 0; i < running_.size(); ++i) {
    std::shared_ptr<Running> running = running_.front();
    running_.pop_front();
    running_.push_back(running);
    if (may_start(*running)) {
      auto resident = std::make_shared<Resident>();
      resident->running = running;
      resident->next = take_clusters(*running);
      ++running->resident;
      if (!running->spare.empty()) {
        resident->cluster = std::move(running->spare.back());
        running->spare.pop_back();
      }
      resident_.push_back(resident);
      turns_ = 0;
      return resident;
    }
  }
  return nullptr;
}

Engine::Task Engine::pick() {
  if (probing_ || performing_) {
    return {};
  }
  const auto fulfilled = std::ranges::find_if(waiting_, [](const CommandPtr& command) {
    return command->value->holds();
  });
  if (fulfilled != waiting_.end()) {
    host_side_.push_back(*fulfilled);
    waiting_.erase(fulfilled);
  }
  if (!host_side_.empty()) {
    Task task;
    task.command = host_side_.front();
    host_side_.pop_front();
    return task;
  }
  if (shuffles()) {
    while (admit_next() != nullptr) { // any of them may be the first to move
    }
  } else if (const std::shared_ptr<Resident> next = admit_next()) {
    next->busy = true;
    return Task{nullptr, next};
  }
  const auto waits = [](const std::shared_ptr<Resident>& r) { return !r->busy; };
  auto it = std::ranges::find_if(resident_, waits);
  if (it == resident_.end()) {
    return {};
  }
  if (random_) { // any of them may be next
    const auto count = static_cast<std::uint64_t>(std::ranges::count_if(resident_, waits));
    for (std::uint64_t skip = random_->below(count); skip > 0; --skip) {
      it = std::find_if(std::next(it), resident_.end(), waits);
    }
  }
  std::shared_ptr<Resident> resident = *it;
  resident_.erase(it);
  resident_.push_back(resident);
  resident->busy = true;
  return Task{nullptr, resident};
}

void Engine::perform(const Task& task, isa::Exec& exec, std::unique_lock<std::mutex>& lock) {
  // With a seed several host threads may wait, and they have one Exec.
  performing_ = options_.one_at_a_time || (random_ && task.resident != nullptr);
  if (task.resident != nullptr) {
    run_cluster(task.resident, exec, lock);
    performing_ = false;
    return;
  }
  if (task.command->work) {
    lock.unlock();
    task.command->work();
    lock.lock();
  }
  if (Monitor* monitor = world_.monitor(); monitor != nullptr && task.command->value) {
    monitor->value_seen(*task.command);
  }
  performing_ = false;
  if (pending_.contains(task.command->id)) {
    own_part_done(task.command, lock);
  }
}

std::uint64_t Engine::clusters_to_come(const isa::Kernel& kernel) {
  const std::lock_guard lock(mutex_);
  std::uint64_t count = 0;
  for (const auto& [id, command] : pending_) {
    if (command->kind == CommandKind::Kernel && &command->grid->kernel() == &kernel) {
      count += command->grid->cluster_count() - command->grid->clusters_ended.load();
    }
  }
  return count;
}

void Engine::tell_worked(const Grid& grid, std::uint64_t executed, std::uint64_t ended) {
  if (options_.worked) {
    const Clock::time_point before = Clock::now();
    options_.worked(grid, {executed, ended, [&] { return clusters_to_come(grid.kernel()); }});
    told_for_.fetch_add((Clock::now() - before).count(), std::memory_order_relaxed);
  }
}

void Engine::run_cluster(
    const std::shared_ptr<Resident>& resident,
    isa::Exec& exec,
    std::unique_lock<std::mutex>& lock
) {
  const std::shared_ptr<Running> running = resident->running;
  Grid& grid = *running->command->grid;
  const bool fresh = resident->cluster == nullptr || !resident->cluster->started();
  lock.unlock();
  if (resident->cluster == nullptr) {
    resident->cluster = std::make_unique<Cluster>(running->command->grid, options_.warp_rules);
  }
  Cluster& cluster = *resident->cluster;
  if (fresh) {
    tell_worked(grid, 0, 0);
  }
  std::uint64_t warps = 0;
  for (std::size_t rank = 0; rank < cluster.size(); ++rank) {
    warps += cluster.block(rank).warps().size();
  }
  const std::uint64_t before = exec.executed();
  std::uint64_t ended = 0;
  bool start = fresh;
  Cluster::Outcome outcome{};
  do {
    if (start) {
      cluster.start(resident->next.first++, /*compiled=*/!random_);
      for (std::size_t rank = 0; rank < cluster.size(); ++rank) {
        cluster.block(rank).look_for_divergence(); // [BAR-6], [WARP-MASK]
      }
    }
    outcome = cluster.run(
        exec,
        rounds_per_turn * warps,
        random_ ? &*random_ : nullptr,
        shuffles() ? 1 + random_->below(3) : 1
    );
    ended += outcome == Cluster::Outcome::Ended ? 1 : 0;
    start = true;
  } while (outcome == Cluster::Outcome::Ended && resident->next.count() != 0 &&
           !options_.one_at_a_time && exec.executed() - before < instructions_at_once &&
           !probing_.load(std::memory_order_relaxed));
  executed_.fetch_add(exec.executed() - before, std::memory_order_relaxed);
  tell_worked(grid, exec.executed() - before, ended);
  lock.lock();
  resident->busy = false;
  const auto place = std::ranges::find(resident_, resident);
  if (place == resident_.end()) {
    return; // everything was dropped meanwhile, after a fault
  }
  if (resident->next.count() != 0) {
    running->returned.push_back(std::exchange(resident->next, {}));
  }
  const std::uint64_t all_ended = grid.clusters_ended.fetch_add(ended) + ended;
  switch (outcome) {
  case Cluster::Outcome::Yielded:
    if (options_.one_at_a_time && exec.why() == isa::Stop::Yield &&
        soft_limit_ < watched_clusters) {
      ++soft_limit_;
    }
    ++turns_since_end_;
    turns_ = cluster.progressed() ? 0 : turns_ + 1;
    progress_ += cluster.progressed() ? 1 : 0;
    if (turns_ > 2 * resident_.size() || turns_since_end_ > 64 * resident_.size()) {
      // They may wait for one that has not begun. Doubling reaches the limit of the device soon.
      soft_limit_ = 2 * resident_.size() + options_.workers;
      turns_ = turns_since_end_ = 0;
    }
    wake_another();
    return;
  case Cluster::Outcome::Ended:
    ++progress_;
    resident_.erase(place);
    --running->resident;
    turns_ = turns_since_end_ = 0;
    if (resident_.empty()) {
      soft_limit_ = options_.workers;
    }
    cluster.stop();
    running->spare.push_back(std::move(resident->cluster));
    if (all_ended == grid.cluster_count()) {
      std::erase(running_, running);
      own_part_done(running->command, lock);
    }
    wake_another();
    return;
  case Cluster::Outcome::Deadlock:
    fail(deadlock_of(cluster), lock);
    return;
  case Cluster::Outcome::Fault:
  case Cluster::Outcome::Unsupported:
    fail(cluster.fault_report(exec), lock);
    return;
  }
}

void Engine::work() {
  isa::Exec exec(world_.space());
  if (options_.workers == 1) {
    exec.work_alone();
  }
  std::unique_lock lock(mutex_);
  own_threads_.insert(become_machine_thread());
  while (!stopping_) {
    if (const Task task = pick()) {
      perform(task, exec, lock);
    } else {
      ++idle_;
      if (waiting_.empty()) {
        work_available_.wait(lock);
      } else {
        work_available_.wait_for(lock, value_poll);
      }
      --idle_;
    }
  }
}

void Engine::work_when_host_is_away() {
  isa::Exec exec(world_.space());
  std::unique_lock lock(mutex_);
  own_threads_.insert(become_machine_thread());
  std::uint64_t seen = ~0ULL;
  while (!stopping_) {
    const std::uint64_t before = std::exchange(seen, host_calls_.count());
    if (const Task task = before == seen ? pick() : Task{}) {
      perform(task, exec, lock);
    } else {
      work_available_.wait_for(lock, host_away);
    }
  }
}

void Engine::run_host_functions() {
  std::unique_lock lock(mutex_);
  own_threads_.insert(become_machine_thread());
  while (!stopping_) {
    if (world_.interrupted()) {
      const std::vector<std::string> lines = describe(lock);
      lock.unlock();
      world_.report_interrupt(lines);
      lock.lock();
    }
    if (host_functions_.empty()) {
      host_work_available_.wait_for(lock, interrupt_poll);
      continue;
    }
    const CommandPtr command = host_functions_.front();
    host_functions_.pop_front();
    host_function_runs_ = true;
    lock.unlock();
    command->work();
    lock.lock();
    host_function_runs_ = false;
    if (pending_.contains(command->id)) {
      complete(command);
    }
  }
}

// --- The host ----------------------------------------------------------------------------------

void Engine::wait(
    const std::function<bool()>& done,
    std::span<const CommandPtr> /*commands*/,
    const char* what
) {
  using namespace std::chrono;
  std::unique_lock lock(mutex_);
  const bool outermost = own_threads_.insert(::gettid()).second;
  ProbePace pace(options_.seed.has_value(), executed());
  auto quiet_since = steady_clock::now();
  std::uint64_t seen = progress_;
  Clock::rep told_for = told_for_.load(std::memory_order_relaxed);
  while (!done()) {
    host_calls_.note_work();
    if (!options_.seed) {
      completed_.wait_until(lock, pace.deadline());
    } else if (const Task task = pick()) {
      perform(task, *host_exec_, lock);
    } else {
      completed_.wait_for(lock, milliseconds(1));
    }
    // Nobody could move while a kernel was compiled: the schedule must not depend on how long.
    const Clock::rep told_before =
        std::exchange(told_for, told_for_.load(std::memory_order_relaxed));
    pace.put_off(Clock::duration(told_for - told_before));
    quiet_since += Clock::duration(told_for - told_before);
    if (!pace.is_due(executed()) || done()) {
      continue;
    }
    if (std::exchange(seen, progress_) != progress_) {
      quiet_since = steady_clock::now();
    } else if (probe(what, steady_clock::now() - quiet_since, lock)) {
      break;
    }
    pace.next(executed());
  }
  if (outermost) {
    own_threads_.erase(::gettid());
  }
  lock.unlock();
  world_.flush_output();
}

bool Engine::host_work_is_left() const {
  return host_function_runs_ || !host_side_.empty() || !host_functions_.empty();
}

bool Engine::probe(const char* what, Clock::duration waited, std::unique_lock<std::mutex>& lock) {
  // Host threads outside our API may still write what device threads wait for, unless they sleep.
  const bool others = !others_sleep_for_good(own_threads_);
  if (host_work_is_left() || probing_ || (others && waited < tell_after)) {
    return false;
  }
  let_nobody_run(lock);
  bool stuck = (!resident_.empty() || !waiting_.empty()) && !host_work_is_left() &&
               (others || others_sleep_for_good(own_threads_));
  for (const auto& running : running_) {
    if (running->unstarted() != 0 && running->resident < running->resident_limit) {
      soft_limit_ = ~0ULL; // first start what fits
      stuck = false;
    }
  }
  isa::Exec exec(world_.space());
  // The first pass lets every warp settle; only the second can show that nobody changes anything.
  Probe probe(exec);
  for (const Probed wanted : {Probed::Settled, Probed::Circles}) {
    probe.begin_pass();
    for (std::size_t i = 0; i < resident_.size() && stuck; ++i) {
      stuck = resident_[i]->cluster != nullptr && resident_[i]->cluster->started() &&
              probe.cluster(*resident_[i]->cluster) >= wanted;
    }
  }
  // A stream that waits for a value may be one that reads a counter.
  stuck = stuck && probe.nobody_reads_counters() && (waiting_.empty() || !probe.saw_counters());
  stuck = stuck && std::ranges::none_of(waiting_, [](const CommandPtr& command) {
            return command->value->holds();
          });
  probing_ = false;
  work_available_.notify_all();
  if (!stuck) {
    return false;
  }
  FaultReport report;
  report.kind = resident_.empty() ? FaultReport::Kind::Deadlock : FaultReport::Kind::Livelock;
  report.kernel =
      resident_.empty() ? waiting_.front()->label : resident_.front()->cluster->grid().describe();
  Waits waits;
  for (const auto& resident : resident_) {
    resident->cluster->describe_waits(waits);
  }
  report.waits = machine::describe(waits);
  add_waiting(report, waiting_, what);
  for (const auto& running : running_) {
    const Grid& grid = *running->command->grid;
    report.launches.emplace_back(grid.describe(), grid.config().called_from);
    if (running->unstarted() != 0) {
      report.kind = FaultReport::Kind::Starvation;
      report.waits.push_back(
          {{},
           fmt::format(
               "{} of {} blocks of '{}' have not started: {} are resident, more do not fit",
               running->unstarted() * grid.blocks_per_cluster(),
               grid.cluster_count() * grid.blocks_per_cluster(),
               grid.describe(),
               running->resident * grid.blocks_per_cluster()
           ),
           grid.describe()}
      );
    }
  }
  add_queued(report, pending_, world_.space());
  if (others) {
    report.host_may_act = true;
    world_.remark(report);
    return false;
  }
  fail(std::move(report), lock);
  return true;
}

bool Engine::query(
    const std::function<bool()>& ready,
    std::span<const CommandPtr> /*commands*/
) {
  if (ready()) {
    world_.flush_output();
    return true;
  }
  if (options_.seed) {
    perform_one();
  } else {
    std::this_thread::yield();
  }
  return ready();
}

/// With a seed: a host that waits, or may, lets a device move.
void Engine::perform_one() {
  std::unique_lock lock(mutex_);
  if (const Task task = pick()) {
    perform(task, *host_exec_, lock);
  }
}

void Engine::api_call(const char* /*name*/) {
  if (host_calls_.note_call() && options_.seed) {
    perform_one();
  }
}

void Engine::let_nobody_run(std::unique_lock<std::mutex>& lock) {
  const auto busy = [](const std::shared_ptr<Resident>& r) { return r->busy; };
  // Set in each round: another who has waited for the same may have let them run again.
  while (probing_ = true, std::ranges::any_of(resident_, busy)) { // pick() hands out nothing
    completed_.wait_for(lock, std::chrono::milliseconds(1));
  }
}

std::vector<std::string> Engine::describe(std::unique_lock<std::mutex>& lock) {
  let_nobody_run(lock);
  std::vector<std::string> lines;
  Waits waits;
  for (const auto& running : running_) {
    const Grid& grid = *running->command->grid;
    lines.push_back(
        fmt::format(
            "kernel '{}' in {}: {} of {} blocks have ended, {} run, {} have not started",
            grid.describe(),
            running->command->stream,
            grid.clusters_ended.load() * grid.blocks_per_cluster(),
            grid.cluster_count() * grid.blocks_per_cluster(),
            running->resident * grid.blocks_per_cluster(),
            running->unstarted() * grid.blocks_per_cluster()
        )
    );
    for (const auto& resident : resident_) {
      if (resident->running == running && !resident->busy && resident->cluster != nullptr) {
        resident->cluster->describe_waits(waits);
      }
    }
  }
  for (const Waiting& waiting : machine::describe(waits)) {
    lines.push_back(with_place(waiting));
  }
  for (const CommandPtr& command : waiting_) {
    lines.push_back(describe_wait(*command));
  }
  for (const auto& [id, command] : pending_) {
    if (std::ranges::find(waiting_, command) == waiting_.end() &&
        (command->kind != CommandKind::Kernel || command->grid->next_cluster == 0)) {
      lines.push_back(fmt::format("{} in {} has not begun", command->label, command->stream));
    }
  }
  probing_ = false;
  work_available_.notify_all();
  return lines;
}

} // namespace heddle::machine
