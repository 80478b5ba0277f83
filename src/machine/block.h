// Block: one block of a grid while it runs: warps, shared memory, barriers, collectives.
// Cluster: the blocks that started together.
//
// run() gives the warps turns until the cluster has ended, or its budget is used up, or nobody in
// it can move. Within a warp the group that is furthest behind goes first (deepest call, lowest
// op), which reconverges lanes; a group that used up its turn goes to the back of the queue, so
// that every started thread keeps making progress ([DEV], [CLUSTER]) however the others spin.
#pragma once

#include "base/hash.h"
#include "base/random.h"
#include "isa/device_runtime.h"
#include "isa/exec.h"
#include "isa/region.h"
#include "machine/grid.h"
#include "machine/monitor.h"

#include <array>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace heddle::machine {

class Cluster;

/// For what a lane waits.
enum class WaitKind : std::uint8_t {
  None,
  Barrier,
  ClusterBarrier,
  Collective,
  Grids // that its own depends on
};

class Block;

/// Moves the lanes of a block's warps by other rules than Block's own, which schedules threads
/// independently: lockstep warps (src/simt). One object per block.
class WarpRules {
public:
  virtual ~WarpRules() = default;
  /// The block is at its first instruction.
  virtual void start() = 0;
  /// Lets a warp run one round: see Block::turn.
  virtual isa::Stop turn(isa::Exec& exec, std::size_t w) = 0;
  /// What the warp's future depends on besides its lanes.
  virtual void hash(std::size_t w, Hasher& hasher) const = 0;
  /// Lanes that nothing blocks and that do not run all the same.
  struct Behind {
    isa::LaneMask lanes = 0;
    isa::LaneMask others = 0;        // who goes first
    bool meets = false;              // the lanes are where the others are to come to
    const isa::Op* op = nullptr;     // where they stand
    const isa::Code* code = nullptr; // of op
    const isa::Op* branch = nullptr; // where they parted; nullptr: at the start
    const isa::Code* branch_code = nullptr;
    bool operator==(const Behind&) const = default;
  };
  virtual std::vector<Behind> behind(std::size_t w) const = 0;
  /// Plain reads may see old values: then everything that is read or written is for others to see.
  virtual bool stale_reads() const { return false; }

  // --- One step at a time, for whoever chooses each of them (Stepper). The exec has entered the
  // block. -----
  struct Next {
    isa::LaneMask lanes = 0; // 0: the warp waits, or has ended
    const isa::Op* op = nullptr;
    const isa::Code* code = nullptr;
    bool branch = false; // of a kind at which lanes may part, or a call that parts them
  };
  /// Who would execute what. Does first what nobody can see: lanes that meet, a wait that is over.
  virtual Next next(isa::Exec& exec, std::size_t w) = 0;
  /// What the rules leave open in one step; empty: as run() does it.
  struct Pick {
    std::vector<std::uint8_t> sides; // each is the number of a side among those that are left
    std::vector<std::uint8_t> lanes; // in this order one after the other
    isa::LaneMask first = 0;         // for reports: lanes that go first, or whose write is the last
    bool operator==(const Pick&) const = default;
  };
  /// The sides at the branch of next() of which any may go first; changes nothing.
  virtual std::vector<isa::LaneMask> sides(isa::Exec& exec, std::size_t w) = 0;
  /// Executes the instruction of next().
  virtual isa::Stop step(isa::Exec& exec, std::size_t w, const Pick& pick) = 0;

  // --- What load() needs to come back to a state, once the lanes are back
  virtual void save(std::size_t w, std::vector<std::byte>& bytes) const = 0;
  /// The part that is for reports only: two states may differ in it and be equal.
  virtual void save_history(std::size_t w, std::vector<std::byte>& bytes) const = 0;
  virtual const std::byte* load(std::size_t w, const std::byte* bytes) = 0;
  virtual const std::byte* load_history(std::size_t w, const std::byte* bytes) = 0;
  /// What the warp's future depends on besides its lanes, but for which lane is which; and what
  /// tells a lane from the others.
  virtual std::uint64_t shape(std::size_t w) const = 0;
  virtual std::uint64_t place(std::size_t w, int lane) const = 0;
};
using MakeWarpRules = std::function<std::unique_ptr<WarpRules>(Block&)>;

/// Serves malloc and free of device threads.
class HeapServer {
public:
  virtual ~HeapServer() = default;
  virtual memory::Address allocate(std::uint64_t bytes) = 0; // 0: no room
  virtual bool release(memory::Address p) = 0;               // false: no live heap pointer
};

class Block final : public isa::Environment, public isa::DeviceRuntime {
public:
  /// `make_rules` may be empty: independent threads.
  Block(Cluster& cluster, Grid& grid, const MakeWarpRules& make_rules = {});
  ~Block() override;

  /// Becomes block `rank` of cluster `cluster_index`, at its first instruction. `compiled`: a block
  /// of its own cluster may begin with run_compiled(); see goes_compiled().
  void start(std::uint64_t cluster_index, std::uint32_t rank, bool compiled = false);

  struct WarpState {
    isa::Warp warp;
    // Scheduling: lanes whose round is over, so that the others go first; lanes that ran in the
    // round that is under way, and what is left of its fuel.
    isa::LaneMask tired = 0;
    isa::LaneMask ran = 0;
    std::int64_t fuel = 0;
    // Collectives: lanes that have arrived, and where.
    isa::LaneMask arrived = 0;
    std::array<std::uint32_t, isa::warp_size> membermask{};
    std::array<const isa::Op*, isa::warp_size> collective_op{};
    // Lanes that wait for the result of a bar.red.
    isa::LaneMask red_popc = 0;
    isa::LaneMask red_and = 0;
    isa::LaneMask red_or = 0;
    std::array<isa::Collective, isa::warp_size> collective{};
    isa::Exchange exchange;
    // barrier.cluster
    isa::LaneMask cluster_arrived = 0;
    isa::LaneMask cluster_waiting = 0;
    isa::LaneMask cluster_passed = 0; // arrived in a phase that has completed, has not waited yet
    isa::LaneMask grid_waiting = 0;   // in griddepcontrol.wait
    // Instructions of its warpgroup that it has executed and that not all four warps have.
    struct WarpgroupOp {
      const isa::Op* op = nullptr;
      const isa::Code* code = nullptr;
      std::uint64_t operands = 0;
      std::shared_ptr<const Bytes> read = nullptr; // once all of its lanes have come
      bool same(const WarpgroupOp& o) const {
        return op == o.op && code == o.code && operands == o.operands;
      }
    };
    std::vector<WarpgroupOp> warpgroup_ahead;
    /// The question to an mbarrier that a lane has asked last and that was answered "yes"
    /// ([BAR-REUSE]); not in a search, which goes every way.
    struct Passed {
      memory::Address object = 0; // in_cluster(); 0: none
      const isa::Code* code = nullptr;
      std::uint32_t instruction = 0;
    };
    std::vector<Passed> passed; // by lane; empty: none has
  };
  struct Barrier {
    std::uint32_t expected = 0;         // 0: all threads of the block that have not ended
    std::uint32_t arrivals = 0;         // of whole warps by bar.arrive, in threads
    std::vector<isa::LaneMask> arrived; // by bar.arrive, per warp, while it is not all of the warp
    std::vector<isa::LaneMask> waiting; // per warp
    std::uint32_t popc = 0;
    bool all = true;
    bool any = false;
    bool in_use = false;
  };
  /// With its warps, its shared and its local memory: all that its future depends on. For whoever
  /// writes that down and puts it back.
  struct Own {
    std::uint32_t& live;
    bool& launched_dependents;
    bool& grids_before_over;
    std::array<Barrier, 16>& barriers;
  };
  Own own() { return {live_, launched_dependents_, grids_before_over_, barriers_}; }
  /// Shared memory with what is reserved there; local memory of all threads.
  std::span<std::byte> all_shared() { return shared_; }
  std::span<const std::byte> all_shared() const { return shared_; }
  std::span<std::byte> local() { return {local_, local_bytes_}; }
  std::span<const std::byte> local() const { return {local_, local_bytes_}; }
  void watch(std::unique_ptr<BlockMonitor> monitor) { monitor_ = std::move(monitor); }
  /// Serves malloc and free in the place of the world's heap; nullptr: that does.
  void take_heap(HeapServer* heap) { heap_ = heap; }
  std::vector<WarpState>& warps() { return warps_; }
  const std::vector<WarpState>& warps() const { return warps_; }
  Grid& grid() { return grid_; }
  Dim3 index() const { return index_; }
  std::uint32_t rank() const { return rank_; }
  std::byte* shared() { return shared_.data(); }
  std::uint64_t shared_bytes() const { return shared_bytes_; }
  bool ended() const { return live_ == 0; }
  isa::Exec::Block exec_block();
  Dim3 thread_index(std::size_t warp, int lane) const;

  /// For what a lane waits; the instruction is the one before its program counter.
  static WaitKind wait_of(const WarpState& state, int lane);

  // --- Programmatic dependencies -----------------------------------------------------------------
  /// From now on griddepcontrol.wait blocks, until the grids before this one have completed. (Who
  /// lets a block begin only then need not call these.)
  void hold_at_grid_wait() { grids_before_over_ = false; }
  void grids_before_are_over();
  /// [DEP-EARLY]: is there nothing of it left that dependents wait for?
  bool lets_dependents_begin() const { return launched_dependents_ || ended(); }
  /// Which of this block's warps it is.
  std::size_t index_of(const isa::Warp& warp) const;

  /// The group of warp `w` that should run next: lanes of one frame at one op; 0 if none can run.
  isa::LaneMask next_group(WarpState& state);
  /// Lets a warp run one round. Exited: no lane is left; Blocked: none can run; Fuel: the round is
  /// over; Fault, Unsupported: see exec.
  isa::Stop turn(isa::Exec& exec, std::size_t w);
  /// nullptr: independent threads.
  WarpRules* rules() const { return rules_.get(); }
  /// nullptr: nobody watches.
  BlockMonitor* monitor() const { return monitor_.get(); }
  Cluster& cluster() { return cluster_; }

  // --- Compiled code for a whole block: block_compiled.cpp
  bool goes_compiled() const { return goes_compiled_; }
  /// Runs a block of which that is true as far as compiled code goes. Exited: it has ended;
  /// Blocked: its warps have their turns now; Fault, Unsupported: of the warp; see exec.
  isa::Stop run_compiled(isa::Exec& exec, std::size_t& warp);

  // --- Barriers in divergent code: block_divergence.cpp; warpgroups: block_warpgroup.cpp;
  // mbarriers that are given up too early: block_mbarrier.cpp
  // -------------------------------------------------
  void look_for_divergence() { look_for_divergence_ = rules_ == nullptr; }
  /// What was found, as a fault of the thread that waits, arrives or ends; finding_of() knows it.
  std::optional<FaultReport>& divergence() { return divergence_; }
  const std::optional<FaultReport>& divergence() const { return divergence_; }

  // --- Time, for the probe and the stepper
  void stop_time_at(std::uint64_t ns) { stop_time_at(ns, ns * cycles_per_ns); }
  void stop_time_at(std::uint64_t ns, std::uint64_t cycles) {
    stopped_time_ = ns;
    stopped_clock_ = cycles;
    time_was_read_ = false;
  }
  bool time_was_read() const { return time_was_read_; }
  void let_time_pass() { stopped_time_.reset(); }

  // --- isa::Environment ------------------------------------------------------------------------
  const isa::Op* barrier(isa::Exec&, const isa::Op&, BarrierOp what, bool aligned) override;
  const isa::Op*
  cluster_barrier(isa::Exec&, const isa::Op&, ClusterBarrierOp what, bool aligned) override;
  const isa::Op* collective(
      isa::Exec&,
      const isa::Op&,
      const isa::Collective& collective,
      const std::uint32_t* membermask
  ) override;
  bool warpgroup(isa::Exec&, const isa::Op&, std::uint64_t operands) override;
  std::shared_ptr<const Bytes>
  warpgroup_reads(isa::Exec&, const isa::Op&, Bytes (*read)(isa::Exec&, const isa::Op&)) override;
  void gives_up_mbarrier(
      isa::Exec&,
      const isa::Op&,
      int lane,
      memory::Address address,
      bool again
  ) override;
  void passes_mbarrier(
      isa::Exec&,
      const isa::Op&,
      isa::LaneMask lanes,
      const memory::Address* address
  ) override;
  std::uint64_t clock() override;
  std::uint64_t globaltimer() override;
  const isa::Op* nanosleep(isa::Exec&, const isa::Op&, std::uint32_t nanoseconds) override;
  void exited(isa::Exec&, isa::LaneMask ended) override;
  std::byte* shared_of(std::uint32_t rank, std::uint64_t* bytes) override;
  void launch_dependents() override;
  const isa::Op* grid_dependency_wait(isa::Exec&, const isa::Op&) override;
  int vprintf(isa::Exec&, int lane, memory::Address format, memory::Address arguments) override;
  memory::Address device_malloc(std::uint64_t bytes) override;
  bool device_free(memory::Address p) override;
  const isa::Code* function_at(memory::Address address) override;

  // --- isa::DeviceRuntime: block_launches.cpp ----------------------------------------------------
  const char* missing() const override;
  memory::Address parameter_buffer(Thread thread, const Launch& launch) override;
  Error launch(Thread thread, memory::Address buffer, std::uint64_t stream) override;
  Error copy(Thread thread, const Copy& copy, std::uint64_t stream) override;
  std::uint64_t create_stream(Thread thread) override;
  Error destroy_stream(Thread thread, std::uint64_t stream) override;
  std::uint64_t create_event(Thread thread) override;
  Error destroy_event(Thread thread, std::uint64_t event) override;
  Error record(Thread thread, std::uint64_t event, std::uint64_t stream) override;
  Error wait(Thread thread, std::uint64_t stream, std::uint64_t event) override;
  Error last_error(Thread thread, bool clear) override;
  Error fail(Thread thread, Error error) override;
  int device() const override;
  int devices() const override;
  bool attribute(int which, std::int32_t* value) const override;
  int resident_blocks(memory::Address kernel, int threads, std::uint64_t shared) override;

private:
  friend class Cluster;
  void write_grid_specials(); // those that no block of the grid changes
  void write_block_specials(std::uint64_t cluster_index, std::size_t warps);
  void start_warps(bool keep_frames);
  isa::Region whole_region() const;
  void make_groups(isa::Region region);
  bool prepare_compiled();
  bool resume(isa::Exec& exec, const isa::Op& op);
  isa::Stop
  fail_compiled(isa::Exec& exec, isa::RegionContext& context, std::int64_t fuel, std::size_t& warp);
  void spread(isa::RegionContext& context);
  void set_special(std::size_t warp, std::uint32_t which, std::uint32_t value);
  isa::LaneMask created(std::size_t warp) const; // lanes of a warp at the start
  bool complete(const Barrier& barrier) const;
  void open(Barrier& barrier);
  void open_if_complete();
  FaultReport misuse(
      isa::FaultKind kind,
      const isa::Code& code,
      const isa::Op& op,
      std::size_t w,
      int lane
  ) const;
  void diverged(const isa::Code& code, const isa::Op& op, std::size_t w, int lane, std::string how);
  void look_where_others_wait(
      const Barrier& barrier,
      const isa::Code& code,
      const isa::Op& op,
      std::size_t w,
      isa::LaneMask lanes
  );
  void look_who_went_around(const isa::Code& code, const isa::Op& op, std::size_t w, int lane);
  void look_who_ended(const isa::Code& code, const isa::Op& op, std::size_t w, int lane);
  void look_who_left_collective(std::size_t w, int lane);
  void look_who_left_warpgroup(std::size_t w, int lane);
  isa::LaneMask might_still_ask(std::size_t w, memory::Address object, isa::LaneMask lanes) const;
  std::optional<memory::Address> awaited_mbarrier(std::size_t w, int lane);
  isa::Stop own_turn(isa::Exec& exec, std::size_t w);
  bool is_gone_around(const isa::Op& op, std::size_t w, int lane);
  void finish_collective(std::size_t w, isa::LaneMask members);
  bool collective_complete(const WarpState& state, int lane) const;

  Cluster& cluster_;
  Grid& grid_;
  Dim3 index_;
  std::uint32_t rank_ = 0;
  std::uint64_t cluster_index_ = 0;
  std::uint32_t threads_ = 0;
  std::uint32_t live_ = 0;
  bool launched_dependents_ = false;
  bool grids_before_over_ = true;
  std::uint64_t shared_bytes_ = 0;
  std::vector<std::byte> shared_;
  std::vector<WarpState> warps_;
  std::vector<std::byte> specials_;
  std::byte* local_ = nullptr; // mmapped
  std::uint64_t local_bytes_ = 0;
  std::array<Barrier, 16> barriers_;
  bool look_for_divergence_ = false;
  std::optional<FaultReport> divergence_;
  std::map<const isa::Op*, bool> gone_around_; // by barrier: see is_gone_around()
  std::set<const isa::Op*> without_ended_;     // by barrier: see look_who_ended()
  static constexpr std::uint64_t cycles_per_ns = 2;
  std::optional<std::uint64_t> stopped_time_;
  std::uint64_t stopped_clock_ = 0; // if there is one: what clocks show that count cycles
  bool time_was_read_ = false;
  std::unique_ptr<WarpRules> rules_;
  std::unique_ptr<BlockMonitor> monitor_;
  HeapServer* heap_ = nullptr;   // in the place of the world's
  bool may_compile_ = false;     // in this turn: resume()
  bool goes_compiled_ = false;   // with the next run_compiled()
  bool resumed_ = false;         // behind a barrier, not at the start: groups_ are of live lanes
  bool ended_compiled_ = false;  // the block before, from its start on
  std::uint32_t begins_at_ = 0;  // then: an op
  isa::Region region_ = nullptr; // for which groups_ is
  std::vector<isa::RegionGroup> groups_;
  std::vector<std::uint64_t> slots_; // of groups_
  /// Where compiled code has left a group.
  struct Stand {
    enum Where : std::uint8_t {
      InFront, // of a barrier or an end, with registers in slots
      InFrame
    };
    const isa::Op* at = nullptr;
    Where where = InFrame;
    std::uint32_t behind = 0; // InFront: the op behind `at`
  };
  /// Lanes that wait elsewhere in the region.
  struct Rest {
    isa::Warp* warp;
    isa::LaneMask lanes;
    const isa::Op* at;
  };
  std::vector<Stand> stands_; // of groups_
  std::vector<Rest> rests_;
  isa::Exec results_; // writes results of barriers and collectives into other lanes' registers
};

/// "app.cu:14 (@%p1 bra $L__BB0_2)"; where no source is known, the instruction.
std::string describe_place(const isa::Code& code, const isa::Op& op);
/// "waits at the reconvergence point of the branch at … for lanes …": [SIMT-LIVENESS], the paper's
/// argument for these lanes.
std::string describe(const WarpRules::Behind& behind);

/// Threads that wait for the same thing at the same place, by a text that says both.
struct Waiters {
  static constexpr std::size_t most_named = 4; // more than these are counted
  std::uint64_t threads = 0;
  std::vector<std::pair<Dim3, Dim3>> named; // block and thread of the first ones
  Waiting what;                             // its text: what they do
};
using Waits = std::map<std::string, Waiters>;
/// "thread (0,0,0) of block (1,0,0) and 31 more: waits at …", one per entry; a few threads have one
/// each.
std::vector<Waiting> describe(const Waits& waits);
/// Fills in the source place, inlining and PTX text of an instruction.
void describe_instruction(const isa::Code& code, const isa::Op& op, FaultReport& report);

class Cluster {
public:
  explicit Cluster(std::shared_ptr<Grid> grid, const MakeWarpRules& make_rules = {});
  /// `compiled`: the next call is run(), without `random`.
  void start(std::uint64_t index, bool compiled = false);
  void stop() { started_ = false; }
  bool started() const { return started_; }

  enum class Outcome : std::uint8_t {
    Ended,
    Yielded,
    Deadlock,
    Fault,
    Unsupported
  };
  /// Gives every warp turns. `budget` is in turns of warps. With `random`, of four warps about
  /// `left_out` (1 to 3) are left out of each round, so that warps do not always go in the order of
  /// their numbers.
  Outcome
  run(isa::Exec& exec, std::uint64_t budget, Random* random = nullptr, std::uint64_t left_out = 1);

  Grid& grid() { return *grid_; }
  const std::shared_ptr<Grid>& shared_grid() const { return grid_; }
  std::uint64_t index() const { return index_; }
  Block& block(std::size_t rank) { return *blocks_[rank]; }
  std::size_t size() const { return blocks_.size(); }
  /// After Fault or Unsupported: the lane that caused it.
  FaultReport fault_report(isa::Exec& exec);
  /// True if something other than polling happened in the last run: a thread ended, a barrier
  /// opened.
  bool progressed() const { return progressed_; }
  void note_progress() { progressed_ = true; }
  void forget_progress() { progressed_ = false; }
  void cluster_barrier_check();
  /// Adds who waits for what, for reports of deadlocks and hangs.
  void describe_waits(Waits& waits);

private:
  std::shared_ptr<Grid> grid_;
  std::uint64_t index_ = 0;
  std::vector<std::unique_ptr<Block>> blocks_;
  std::size_t fault_block_ = 0;
  std::size_t fault_warp_ = 0;
  std::size_t next_block_ = 0; // where the next run goes on, for fairness
  std::size_t next_warp_ = 0;
  bool progressed_ = false;
  bool started_ = false;
};

} // namespace heddle::machine
