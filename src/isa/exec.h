// Exec: the world of one handler call. Warp: lanes, their frames and program counters.
//
// A handler reads operands with in<T>(ref)[lane], writes out<T>(ref)[lane] for lanes in mask(), and
// returns &op + 1. Everything that reaches beyond the warp (barriers, printf, clocks, blocks of the
// cluster) goes through Environment, which the machine implements.
#pragma once

#include "isa/access_watch.h"
#include "isa/found_ranges.h"
#include "isa/op.h"

#include <array>
#include <cstring>
#include <memory>
#include <span>
#include <vector>

namespace heddle::isa {

/// Special values kept as arrays over lanes in the warp's Special area: byte offsets.
struct SpecialLayout {
  static constexpr std::uint32_t u32x32 = 128;
  enum : std::uint32_t {
    TidX,
    TidY,
    TidZ,
    NtidX,
    NtidY,
    NtidZ,
    CtaidX,
    CtaidY,
    CtaidZ,
    NctaidX,
    NctaidY,
    NctaidZ,
    LaneId,
    WarpId,
    NwarpId,
    SmId,
    NsmId,
    LanemaskEq,
    LanemaskLe,
    LanemaskLt,
    LanemaskGe,
    LanemaskGt,
    ClusterIdX,
    ClusterIdY,
    ClusterIdZ,
    NclusterIdX,
    NclusterIdY,
    NclusterIdZ,
    ClusterCtaidX,
    ClusterCtaidY,
    ClusterCtaidZ,
    ClusterNctaidX,
    ClusterNctaidY,
    ClusterNctaidZ,
    ClusterCtarank,
    ClusterNctarank,
    IsExplicitCluster,
    DynamicSmemSize,
    TotalSmemSize,
    AggrSmemSize,
    Envreg0,
    Envreg1,
    Envreg2,
    ReservedSmemOffset0,
    ReservedSmemOffset1,
    GridIdLo,
    GridIdHi,
    Count
  };
  static constexpr std::uint32_t offset(std::uint32_t which) { return which * u32x32; }
  static constexpr std::uint32_t bytes = Count * u32x32;
};

enum class CollectiveKind : std::uint8_t {
  BarWarpSync,
  Shfl,
  Vote,
  Match,
  Redux,
  Elect,
  Matrix // ldmatrix, stmatrix, movmatrix, mma, wmma, wgmma
};

/// What the lanes of a warp hand to each other in a collective. One per warp is enough: a lane
/// takes part in one collective at a time, and lanes only read what lanes of their own collective
/// wrote.
struct Exchange {
  LaneMask lanes = 0; // lanes that take part; valid in `conclude` only
  std::array<std::uint64_t, warp_size> value{};
  std::vector<std::uint32_t> words; // matrices: as many per lane as the op says, lane after lane
};

/// The two halves of a collective. PTX lets lanes meet although they stand at different
/// instructions or in different calls of a function (sm_70 and later), so each half is done once
/// per such subset: `contribute` with exec.mask() = lanes that arrive, when they arrive; `conclude`
/// with exec.mask() = lanes that stand at `op` in one frame, after every lane has contributed.
struct Collective {
  CollectiveKind kind{};
  void (*contribute)(Exec&, const Op&, Exchange&) = nullptr; // may be nullptr: nothing to hand over
  void (*conclude)(Exec&, const Op&, const Exchange&) = nullptr; // may be nullptr; cannot fault
};

/// What the machine provides to instructions. All calls are made by the worker that runs the block.
class Environment {
public:
  virtual ~Environment() = default;

  // --- Block and cluster barriers --------------------------------------------------------------
  enum class BarrierOp : std::uint8_t {
    Sync,
    Arrive,
    RedPopc,
    RedAnd,
    RedOr
  };
  /// Lanes exec.mask() arrive at barrier op.a (u32[32], id 0-15) with thread count op.b (none: all
  /// threads of the block); for Red*, op.c is the LaneMask predicate and op.d the destination
  /// (u32 for popc, predicate for and/or; already resolved on release by the machine).
  /// Returns &op + 1 if nobody has to wait, else nullptr (Stop::Blocked).
  virtual const Op* barrier(Exec&, const Op&, BarrierOp what, bool aligned) = 0;
  enum class ClusterBarrierOp : std::uint8_t {
    Arrive,
    Wait
  };
  virtual const Op* cluster_barrier(Exec&, const Op&, ClusterBarrierOp what, bool aligned) = 0;

  /// The executing lanes arrive at a warp collective (shfl.sync & co.); membermask[lane] says whom
  /// each of them waits for. Calls collective.contribute for them at once. Blocks them until every
  /// live lane named in the membermask has arrived; then, for each op and frame at which arrived
  /// lanes stand, selects those lanes and calls that op's `conclude`, with exchange.lanes = all of
  /// them. Returns &op + 1 if nobody has to wait (the usual case, lanes converged, is dealt with in
  /// lower_collective.cpp without this call).
  virtual const Op*
  collective(Exec&, const Op&, const Collective& collective, const std::uint32_t* membermask) = 0;

  /// The warp takes its part in an instruction of its warpgroup, which does not make it wait for
  /// the other three warps; `operands` is the same in all of them. Called once for each such
  /// instruction. False: another warp of the warpgroup does not take part, or in another way;
  /// exec.fault() says so.
  virtual bool warpgroup(Exec&, const Op&, std::uint64_t operands) = 0;
  /// What that instruction reads of shared memory, once for the warpgroup: read(exec, op) of the
  /// first warp that asks. Called when all lanes of the warp have come to it.
  using Bytes = std::vector<std::byte>;
  virtual std::shared_ptr<const Bytes>
  warpgroup_reads(Exec&, const Op&, Bytes (*read)(Exec&, const Op&)) = 0;

  /// `lane` is about to invalidate the mbarrier at `address` (generic, or an offset in shared
  /// memory), or to initialise it again (`again`): nobody may still wait on it.
  virtual void
  gives_up_mbarrier(Exec&, const Op&, int lane, memory::Address address, bool again) = 0;
  /// `lanes` have asked the mbarriers at address[lane], and their phases are over.
  virtual void
  passes_mbarrier(Exec&, const Op&, LaneMask /*lanes*/, const memory::Address* /*address*/) {}

  // --- Clocks ------------------------------------------------------------------------------------
  virtual std::uint64_t clock() = 0;       // cycles
  virtual std::uint64_t globaltimer() = 0; // nanoseconds
  virtual const Op* nanosleep(Exec&, const Op&, std::uint32_t nanoseconds) = 0;

  // --- Ends
  /// The lanes `ended` have ended: barriers that waited for them may open.
  virtual void exited(Exec&, LaneMask ended) = 0;

  // --- Cluster and grid
  /// Shared memory of block `rank` of this cluster, or nullptr; *bytes gets its size.
  virtual std::byte* shared_of(std::uint32_t rank, std::uint64_t* bytes) = 0;
  virtual void launch_dependents() = 0;                         // griddepcontrol.launch_dependents
  virtual const Op* grid_dependency_wait(Exec&, const Op&) = 0; // griddepcontrol.wait

  // --- Library I/O and heap
  virtual int vprintf(Exec&, int lane, memory::Address format, memory::Address arguments) = 0;
  virtual memory::Address device_malloc(std::uint64_t bytes) = 0; // 0 on failure
  /// False: not a live heap pointer.
  virtual bool device_free(memory::Address p) = 0;

  // --- Calls
  /// The code of the function whose address (as stored in memory) is `address`; nullptr if none.
  virtual const Code* function_at(memory::Address address) = 0;
};

/// The lanes of one warp.
class Warp {
public:
  std::array<const Op*, warp_size> pc{};
  std::array<Frame*, warp_size> frame{};
  LaneMask created = 0;         // at the start of its block
  LaneMask live = 0;            // created and not ended
  LaneMask blocked = 0;         // waiting for a barrier or collective
  std::byte* special = nullptr; // SpecialLayout::bytes
  std::byte* local = nullptr;   // warp_size × local_stride bytes
  std::uint64_t local_stride = 0;
  std::uint64_t local_bytes =
      0; // of each lane: what is behind them up to the next lane is nobody's
  /// What lanes have allocated lies at the end of their local memory, where no frame depends on it:
  /// lanes of a frame have their variables at the same offsets, but each has its own allocations.
  std::array<std::uint32_t, warp_size> stack{}; // bytes, of all frames of the lane

  Frame* push_frame(const Code* code, Frame* caller, const Op* return_op, LaneMask lanes);
  /// Lanes leave `frame`; it is freed when none is left.
  void pop_lanes(Frame* frame, LaneMask lanes);
  /// The one frame of lanes that are at the start of `code`. Its registers hold anything.
  Frame& only_frame(const Code* code, LaneMask lanes);
  /// Is that one of `code`, with nothing allocated in it, and are there no others?
  bool is_only_frame(const Frame* frame, const Code& code) const;
  /// From now on the lane has `bytes` more of the stack (or less), which belong to this frame.
  void grow_stack(Frame& frame, int lane, std::int64_t bytes);
  /// Can each of these lanes, being in `frame`, have `bytes` more of local variables?
  bool has_room(const Frame& frame, LaneMask lanes, std::uint64_t bytes) const;
  /// The stack of a lane.
  std::span<std::byte> stack_of(int lane) const;
  /// No lanes, no frames; memory is kept for the next block.
  void reset();

private:
  std::vector<std::unique_ptr<Frame>> frames_;
  std::vector<std::unique_ptr<Frame>> spare_;
};

#if !defined(HEDDLE_REGION_HANDLERS) // see region_exec.h
/// Execution of one group. Created per worker and reused.
class Exec {
public:
  // --- Operands ----------------------------------------------------------------------------------
  template <class T> const T* in(Ref ref) const {
    return reinterpret_cast<const T*>(bases_[ref.raw >> 30] + ref.offset());
  }
  template <class T> T* out(Ref ref) const {
    return reinterpret_cast<T*>(bases_[0] + ref.offset());
  }
  LaneMask predicate(Ref ref) const { return *in<LaneMask>(ref); }
  /// Writes `value`'s bits for the executing lanes, keeps the others.
  void set_predicate(Ref ref, LaneMask value) const {
    auto* p = out<LaneMask>(ref);
    *p = (*p & ~mask_) | (value & mask_);
  }

  /// The refs that belong to an op, from Op::list on.
  const Ref* refs(const Op& op) const { return frame_->code->refs.data() + op.list; }
  LaneMask mask() const { return mask_; } // lanes that execute this op (guard applied)
  // The same, and what lanes know of each other, for handlers that are compiled for one lane, too.
  LaneMask executing() const { return mask_; }
  static std::uint32_t lane_number(int n) { return static_cast<std::uint32_t>(n); }
  LaneMask ballot(LaneMask votes) const { return votes & mask_; }
  static std::uint32_t of_lane(const std::uint32_t* value, std::uint32_t lane) {
    return value[lane];
  }
  LaneMask group() const { return group_; } // lanes of the group
  /// Calls f(lane) for each executing lane, lowest first.
  template <class F> void each(F&& f) const {
    if (mask_ == all_lanes) {
      for (int lane = 0; lane < warp_size; ++lane) {
        f(lane);
      }
    } else {
      for (LaneMask m = mask_; m != 0; m &= m - 1) {
        f(std::countr_zero(m));
      }
    }
  }

  // --- Memory ------------------------------------------------------------------------------------
  /// Host pointer for an access of `bytes` at generic (or global) address a by `lane`; nullptr
  /// after fault() has been filled in: then the handler returns stop_fault().
  std::byte* translate(int lane, memory::Address a, std::uint32_t bytes, bool store) {
    const memory::Range& range = cache_[site(op_)];
    if (bytes <= range.size && a - range.base <= range.size - bytes && (!store || range.writable) &&
        (a & (bytes - 1)) == 0) [[likely]] {
      return reinterpret_cast<std::byte*>(a + static_cast<std::uint64_t>(range.delta));
    }
    return translate_slow(lane, a, bytes, store);
  }
  /// The range that this op used last (size 0: none), and the block's own shared memory as a range
  /// of offsets: for the accesses of a whole warp at once. Alignment is the caller's business.
  const memory::Range& last_range() const { return cache_[site(op_)]; }
  memory::Range shared_range() const {
    return {0, shared_bytes_, reinterpret_cast<std::int64_t>(shared_), true};
  }
  /// The same for explicit windows: offsets in .shared (32-bit, rank encoded), .local, .param.
  std::byte* translate_shared(int lane, std::uint64_t offset, std::uint32_t bytes, bool store) {
    if (bytes <= shared_bytes_ && offset <= shared_bytes_ - bytes && (offset & (bytes - 1)) == 0)
        [[likely]] {
      return shared_ + offset;
    }
    return translate_window_slow(
        lane,
        memory::shared_window + (offset & 0xffff'ffffU),
        bytes,
        store
    );
  }
  std::byte* translate_local(int lane, std::uint64_t offset, std::uint32_t bytes, bool store) {
    const std::uint64_t size = warp_->local_bytes;
    if (bytes <= size && offset <= size - bytes && (offset & (bytes - 1)) == 0) [[likely]] {
      return warp_->local + static_cast<std::uint64_t>(lane) * warp_->local_stride + offset;
    }
    return translate_window_slow(
        lane,
        memory::local_window + (offset & 0xffff'ffffU),
        bytes,
        store
    );
  }
  std::byte* translate_param(int lane, std::uint64_t offset, std::uint32_t bytes) {
    if (bytes <= param_bytes_ && offset <= param_bytes_ - bytes) [[likely]] {
      return param_ + offset;
    }
    return translate_window_slow(
        lane,
        memory::param_window + (offset & 0xffff'ffffU),
        bytes,
        false
    );
  }

  // --- Ways to stop ------------------------------------------------------------------------------
  /// The whole group goes on at `next`, after somebody else had a turn.
  const Op* stop_at(Stop why, const Op* next);
  /// The executing lanes wait (the machine has recorded for what) and will go on at `next`; the
  /// other lanes of the group go on behind this op at once.
  const Op* block(const Op& op, const Op* next);
  const Op* stop_fault(Fault fault);
  const Op* stop_fault(); // fault() was filled in by translate
  const Op* stop_unsupported(std::string what);
  /// Lanes `taken` go to `target`, the other lanes of the group to `next`.
  const Op* diverge(LaneMask taken, const Op* target, const Op* next);
  /// Counts a taken backward branch or a poll against the fuel: true when it is used up.
  bool spend(std::uint32_t amount) { return (fuel_ -= static_cast<std::int64_t>(amount)) < 0; }
  /// For a poll, which costs as many ops of fuel. In a turn with Turn::tires one that is repeated
  /// soon costs more and more, for it mostly asks in vain.
  static constexpr std::uint32_t poll_doublings = 3;
  bool spend_on_poll(const Op& op, std::uint32_t amount) {
    constexpr std::uint64_t soon = 24; // ops
    if (tires_) {
      const bool again = &op == last_poll_ && executed_ - polled_at_ <= soon * lanes_;
      repeats_ = again ? std::min(repeats_ + 1, poll_doublings) : 0;
      last_poll_ = &op;
      polled_at_ = executed_;
      amount <<= repeats_;
    }
    return spend(amount);
  }
  /// `lanes` leave the group and stand at `at` from now on; mask() and group() shrink.
  void leave(LaneMask lanes, const Op* at);
  /// The executing lanes end.
  const Op* exit_lanes(const Op& op);
  /// The executing lanes enter `callee`; arguments are copied by the caller of this function.
  const Op* call(const Op& op, const Code& callee);
  /// The executing lanes return to their caller (a kernel's lanes end).
  const Op* return_lanes(const Op& op);

  std::int64_t fuel() const { return fuel_; }
  Fault& fault() { return fault_; }
  Stop why() const { return why_; }
  Environment& environment() { return *environment_; }
  Warp& warp() { return *warp_; }
  Frame& frame() { return *frame_; }
  const Code& code() const { return *frame_->code; }
  const memory::AddressSpace& space() const { return space_; }

  // --- For the machine ---------------------------------------------------------------------------
  struct Block {
    Environment* environment = nullptr;
    std::byte* shared = nullptr;
    std::uint64_t shared_bytes = 0;
    std::byte* reserved = nullptr; // memory::reserved_shared_bytes of the system
    std::byte* param = nullptr;
    std::uint64_t param_bytes = 0;
    int device = 0;                     // whose code it is
    const RegionWatch* watch = nullptr; // of the monitor, if there is one
  };
  explicit Exec(memory::AddressSpace& space) : space_(space) {}
  void enter_block(const Block& block);
  bool is_watched() const { return access_watch_ != nullptr; }
  struct Turn {
    std::int64_t fuel = 0;
    bool stop_at_visible =
        false;              // stop *before* a visible op; the first op is executed in any case
    bool reconverge = true; // stop where lanes of this warp that are behind should go first
    bool tires = false;     // a loop that polls one place ends it sooner
  };
  /// Runs the lanes `group` of `warp` (same frame, same pc) until something stops them; program
  /// counters, frames and live lanes of the warp are up to date afterwards.
  Stop run(Warp& warp, LaneMask group, const Turn& turn);
  /// Executes one op, that at which the lanes `group` of `warp` stand (same frame, same pc), and
  /// leaves program counters, frames and live lanes up to date; Stop::None: nothing special. For
  /// whoever decides after each op who executes the next one (lockstep warps).
  Stop step(Warp& warp, LaneMask group);
  /// Points the exec at lanes of a frame without running (used to complete collectives).
  void select(Warp& warp, Frame& frame, LaneMask lanes);
  std::uint64_t executed() const { return executed_; } // thread instructions so far
  const Op* current() const { return op_; }            // the op being executed, for reports
  /// Fills in what compiled code needs to know of the exec and its block, and that it executes
  /// `code`: for whoever runs a whole block by it. `add_executed`: what it has executed.
  void enter_code(RegionContext& context, const Code& code);
  void add_executed(std::uint64_t instructions) { executed_ += instructions; }
  /// From now on turns end where the interpreter's do: compiled code in which lanes may part is not
  /// used, for it does not count what a turn costs when they do.
  void keep_turns() { keep_turns_ = true; }
  /// Nobody else executes device code: updates of memory that only device code reaches need not be
  /// atomic operations of the host, which cost several times as much.
  void work_alone() { alone_ = true; }
  bool is_alone_with(const memory::Range& range) const { return alone_ && range.of_devices; }
  /// Forgets cached ranges: an allocation has gone.
  void forget_ranges();
  /// The same, of those that have gone since the last time.
  void forget_freed() {
    if (cache_generation_ != space_.generation()) [[unlikely]] {
      forget_changed();
    }
  }

private:
  friend struct RegionFault;
  friend class Watching;
  std::byte* translate_slow(int lane, memory::Address a, std::uint32_t bytes, bool store);
  void forget_changed();
  const Op* next_or_stop(const Op& op, Stop why);
  void enter_frame(Frame& frame);
  void look_behind();
  /// Goes on in the frame's compiled code, which may answer `op` itself: nothing was done then.
  const Op* enter_region(const Op& op);
  void note_entry(const Op& op, std::uint64_t ops);
  static const Op* interpret_for_region(RegionContext& context, const Op& op, LaneMask lanes);
  std::byte* reached(int lane, std::byte* at, std::uint32_t bytes, bool store);
  std::byte*
  bad_access(FaultKind kind, int lane, memory::Address a, std::uint32_t bytes, bool store);
  std::byte* translate_window_slow(int lane, memory::Address a, std::uint32_t bytes, bool store);

  std::byte* bases_[3] = {nullptr, nullptr, nullptr};
  LaneMask mask_ = 0;
  LaneMask group_ = 0;
  std::int64_t fuel_ = 0;
  std::byte* shared_ = nullptr;
  std::uint64_t shared_bytes_ = 0;
  Block block_;
  std::uint64_t local_bytes_ = 0; // per lane; 0 while somebody watches
  AccessWatch* access_watch_ = nullptr;
  std::byte* param_ = nullptr;
  std::uint64_t param_bytes_ = 0;
  /// One range per memory instruction (by a hash of its address): an instruction mostly stays in
  /// one allocation.
  static std::size_t site(const Op* op) {
    return (reinterpret_cast<std::uintptr_t>(op) / sizeof(Op)) % range_sites;
  }
  std::array<memory::Range, range_sites> cache_{};
  std::uint64_t cache_generation_ = 0;
  FoundRanges found_; // of all ops
  /// How often a region that ends where lanes part was entered at an op, and how many ops it has
  /// executed then: note_entry().
  struct Entered {
    std::uint32_t times = 0;
    std::uint32_t ops = 0;
  };
  std::array<Entered, range_sites> entered_{};
  Warp* warp_ = nullptr;
  Frame* frame_ = nullptr;
  Environment* environment_ = nullptr;
  const Op* op_ = nullptr;
  std::uint8_t watch_ = Guarded; // flags that need a look before the op is executed
  bool reconverge_ = true;
  bool keep_turns_ = false;
  bool tires_ = false;
  const Op* last_poll_ = nullptr;
  std::uint64_t polled_at_ = 0; // executed_
  std::uint32_t repeats_ = 0;   // of it
  bool alone_ = false;
  std::uint32_t lanes_ = 0; // popcount(group_)
  /// Lowest op at which lanes of the same frame stand that are not in the group; nullptr: none.
  const Op* behind_ = nullptr;
  Stop why_ = Stop::None;
  Fault fault_;
  std::uint64_t executed_ = 0;
  memory::AddressSpace& space_;
};
#endif

} // namespace heddle::isa

#if defined(HEDDLE_REGION_HANDLERS)
#include "isa/region_exec.h"
#endif
