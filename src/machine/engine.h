// Engine: the driver of `heddle run`: a fair schedule on all cores.
//
// Workers take clusters: those that have started get turns round-robin, and a new cluster starts
// when few are resident or when those that are only wait; never more than fit on the virtual
// device, as on real hardware, so a program that waits for a block that cannot start hangs here too
// - and is told so.
#pragma once

#include "base/random.h"
#include "machine/block.h"
#include "machine/host_calls.h"
#include "machine/world.h"

#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <thread>
#include <unordered_map>

namespace heddle::machine {

/// A turn of a cluster.
struct Worked {
  std::uint64_t instructions = 0; // of threads
  std::uint64_t clusters = 0;     // that have ended
  /// Clusters of the same kernel that have been submitted and have not ended. Takes time.
  std::function<std::uint64_t()> to_come = [] { return std::uint64_t{0}; };
  bool submitted = false; // the kernel has been, and has not begun
};

struct EngineOptions {
  unsigned workers = 0; // 0: one for each processor that the process may use
  std::optional<std::uint64_t>
      seed; // set: no worker threads, the waiting host thread does the work. 0: clusters begin in
            // the order of their numbers; others: in any order, up to a few of them
  MakeWarpRules warp_rules = {}; // empty: independent threads
  bool one_at_a_time = false;    // with a seed: nothing runs while a cluster or a copy does
  /// Called when a kernel is submitted, and by a worker before the first turn of a cluster and
  /// after each.
  std::function<void(const Grid&, const Worked&)> worked = {};
};

class Engine final : public Driver {
public:
  Engine(World& world, EngineOptions options);
  ~Engine() override;

  void submitted(const CommandPtr& command) override;
  void wait(
      const std::function<bool()>& done,
      std::span<const CommandPtr> commands,
      const char* what
  ) override;
  bool complete_rest() override;
  void alone(const std::function<void()>& call) override;
  /// Does nothing move any more but the calling thread, which only asks this?
  bool is_asleep();
  bool query(const std::function<bool()>& ready, std::span<const CommandPtr> commands) override;
  void api_call(const char* name) override;

  std::uint64_t executed() const { return executed_.load(std::memory_order_relaxed); }

private:
  struct Clusters { // of a grid that have not started: [first, end)
    std::uint64_t first = 0;
    std::uint64_t end = 0;
    std::uint64_t count() const { return end - first; }
  };
  struct Running { // a kernel whose dependencies have completed
    CommandPtr command;
    std::uint64_t resident_limit = 0; // clusters of it that fit on the device
    std::uint64_t resident = 0;
    std::uint64_t window = 1;        // clusters of it that are resident before any others end
    std::vector<Clusters> returned;  // taken by a worker that did not come to them
    std::uint64_t unstarted() const; // clusters; exact while nobody runs
    std::vector<std::unique_ptr<Cluster>> spare; // ended, to be started again
  };
  struct Resident {
    std::shared_ptr<Running> running;
    std::unique_ptr<Cluster> cluster; // nullptr until its worker has started it
    Clusters next;                    // that its worker starts, one after the other has ended
    bool busy = false;                // a worker has it
  };
  struct Task { // what a worker does next
    CommandPtr command;
    std::shared_ptr<Resident> resident;
    explicit operator bool() const { return command != nullptr || resident != nullptr; }
  };
  struct Blocked { // a command with dependencies
    CommandPtr command;
    std::size_t missing = 0;
  };
  void start_threads();
  void work();
  void work_when_host_is_away();
  void run_host_functions();
  Task pick();
  std::shared_ptr<Resident> admit_next();
  bool shuffles() const { return options_.seed.value_or(0) != 0; }
  void wake_another();
  bool may_start(const Running& running) const;
  Clusters take_clusters(Running& running) const;
  void perform(const Task& task, isa::Exec& exec, std::unique_lock<std::mutex>& lock);
  void tell_worked(const Grid& grid, std::uint64_t executed, std::uint64_t ended);
  std::uint64_t clusters_to_come(const isa::Kernel& kernel);
  void run_cluster(
      const std::shared_ptr<Resident>& resident,
      isa::Exec& exec,
      std::unique_lock<std::mutex>& lock
  );
  void make_ready(const CommandPtr& command);
  void complete(const CommandPtr& command);
  void own_part_done(const CommandPtr& command, std::unique_lock<std::mutex>& lock);
  void let_nobody_run(std::unique_lock<std::mutex>& lock);
  /// What is resident and waits for what.
  std::vector<std::string> describe(std::unique_lock<std::mutex>& lock);
  bool host_work_is_left() const;
  /// Reports a hang and returns true if nothing guaranteed can move any more. Where host threads
  /// may still act it warns once, after some time. `waited`: since something has come to an end.
  void perform_one();
  bool probe(
      const char* what,
      std::chrono::steady_clock::duration waited,
      std::unique_lock<std::mutex>& lock
  );
  void fail(FaultReport report, std::unique_lock<std::mutex>& lock);

  World& world_;
  EngineOptions options_;
  std::mutex mutex_;
  std::condition_variable work_available_;
  std::condition_variable completed_;
  std::condition_variable host_work_available_;
  bool stopping_ = false;
  std::map<std::uint64_t, CommandPtr> pending_; // not complete, by id
  /// While a fault is reported: what was pending. It is not done before the fault can be seen.
  std::optional<std::vector<CommandPtr>> dropped_;
  std::unordered_map<const Command*, std::vector<std::shared_ptr<Blocked>>> dependents_;
  std::deque<CommandPtr> host_side_;      // copies, sets, records: ready
  std::deque<CommandPtr> host_functions_; // ready; run on a thread of their own, for they may block
  std::deque<CommandPtr> waiting_;        // for values: ready
  std::deque<std::shared_ptr<Running>> running_;
  std::deque<std::shared_ptr<Resident>> resident_; // in the order of their next turn
  std::uint64_t soft_limit_ = 0; // clusters that may be resident before others end
  std::uint64_t turns_ = 0;      // of clusters since one ended or a barrier opened
  std::uint64_t turns_since_end_ = 0;
  HostCalls host_calls_;
  std::atomic<std::uint64_t> executed_{0};
  std::atomic<std::chrono::steady_clock::rep> told_for_{0}; // in EngineOptions::worked
  std::uint64_t progress_ = 0;  // threads ended, barriers opened, commands completed: grows
  unsigned idle_ = 0;           // workers that sleep
  std::set<pid_t> own_threads_; // that do not count as host threads which may act: ours, and those
                                // that wait in here
  bool host_function_runs_ = false;
  std::atomic<bool> probing_{false}; // written under the lock
  bool performing_ = false;      // with one_at_a_time a task, with a seed a cluster is under way
  std::optional<Random> random_; // with a seed, for the thread that performs: without the lock
  std::optional<Random> window_random_;  // … for those that submit: under the lock
  std::unique_ptr<isa::Exec> host_exec_; // with a seed: of the host thread that does the work
  std::vector<std::thread> threads_;
};

} // namespace heddle::machine
