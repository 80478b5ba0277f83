// Implements exec.h: the interpreter's loop, address translation, and how groups of lanes part,
// wait, call, return and end.
//
// Which group of a warp runs next is the machine's choice; the only rule here is the place to stop:
// a group that reaches a labelled block while lanes of the same frame stand at a lower op stops
// there, so that they can catch up (the lowest op first reconverges structured code at its
// post-dominators).
#include "isa/exec.h"

#include "base/check.h"
#include "isa/word_around.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace heddle::isa {
namespace {

/// Gives `lanes` a value; in most cases those are all of a warp, and a few wide stores do it.
template <typename T> void set_lanes(std::array<T, warp_size>& values, LaneMask lanes, T value) {
  if (lanes == all_lanes) {
    values.fill(value);
    return;
  }
  for (; lanes != 0; lanes &= lanes - 1) {
    values[static_cast<std::size_t>(std::countr_zero(lanes))] = value;
  }
}

} // namespace

// --- Warp

Frame* Warp::push_frame(const Code* code, Frame* caller, const Op* return_op, LaneMask lanes) {
  std::unique_ptr<Frame> frame;
  if (!spare_.empty()) {
    frame = std::move(spare_.back());
    spare_.pop_back();
  } else {
    frame = std::make_unique<Frame>();
  }
  frame->code = code;
  frame->caller = caller;
  frame->return_op = return_op;
  frame->lanes = lanes;
  frame->depth = caller != nullptr ? caller->depth + 1 : 0;
  frame->local_base = caller != nullptr ? caller->local_end() : 0;
  frame->allocating = 0;
  frame->registers.resize(code->frame_bytes);
  // The others hold what the frame's last user left: nobody reads that.
  for (const auto& [offset, bytes] : code->cleared) {
    std::memset(frame->registers.data() + offset, 0, bytes);
  }
  frames_.push_back(std::move(frame));
  return frames_.back().get();
}

bool Warp::is_only_frame(const Frame* frame, const Code& code) const {
  return frames_.size() == 1 && frames_[0].get() == frame && frame->code == &code &&
         frame->caller == nullptr && frame->allocating == 0;
}

Frame& Warp::only_frame(const Code* code, LaneMask lanes) {
  if (frames_.empty() || !is_only_frame(frames_[0].get(), *code)) {
    reset();
    push_frame(code, nullptr, nullptr, lanes);
  }
  frames_[0]->lanes = lanes;
  return *frames_[0];
}

void Warp::grow_stack(Frame& frame, int lane, std::int64_t bytes) {
  const auto n = static_cast<std::size_t>(lane);
  frame.allocated[n] =
      static_cast<std::uint32_t>(static_cast<std::int64_t>(frame.allocated_by(lane)) + bytes);
  frame.allocating |= LaneMask{1} << lane;
  stack[n] = static_cast<std::uint32_t>(static_cast<std::int64_t>(stack[n]) + bytes);
}

bool Warp::has_room(const Frame& frame, LaneMask lanes, std::uint64_t bytes) const {
  std::uint32_t most = 0;
  for (LaneMask m = lanes; m != 0; m &= m - 1) {
    most = std::max(most, stack[static_cast<std::size_t>(std::countr_zero(m))]);
  }
  return std::uint64_t{frame.local_end()} + most + bytes <= local_bytes;
}

std::span<std::byte> Warp::stack_of(int lane) const {
  const auto n = static_cast<std::size_t>(lane);
  return {local + n * local_stride + local_bytes - stack[n], stack[n]};
}

void Warp::pop_lanes(Frame* frame, LaneMask lanes) {
  frame->lanes &= ~lanes;
  for (LaneMask m = lanes & frame->allocating; m != 0; m &= m - 1) {
    const int lane = std::countr_zero(m);
    grow_stack(*frame, lane, -std::int64_t{frame->allocated_by(lane)});
  }
  frame->allocating &= ~lanes;
  if (frame->lanes != 0) {
    return;
  }
  for (std::size_t i = frames_.size(); i-- > 0;) {
    if (frames_[i].get() == frame) {
      spare_.push_back(std::move(frames_[i]));
      frames_.erase(frames_.begin() + static_cast<std::ptrdiff_t>(i));
      return;
    }
  }
  HEDDLE_CHECK(false, "a frame that its warp does not know");
}

void Warp::reset() {
  for (auto& frame : frames_) {
    spare_.push_back(std::move(frame));
  }
  frames_.clear();
  pc.fill(nullptr);
  frame.fill(nullptr);
  stack.fill(0);
  live = 0;
  blocked = 0;
}

// --- The loop

void Exec::enter_block(const Block& block) {
  if (block.device != block_.device) {
    forget_ranges(); // another device may not reach what this one does
  }
  block_ = block;
  environment_ = block.environment;
  shared_ = block.shared;
  shared_bytes_ = access_watch_ == nullptr ? block.shared_bytes : 0;
  param_ = block.param;
  param_bytes_ = block.param_bytes;
}

void Exec::enter_frame(Frame& frame) {
  frame_ = &frame;
  bases_[0] = frame.registers.data();
  bases_[1] = const_cast<std::byte*>(frame.code->constants.data()); // read only by construction
}

void Exec::select(Warp& warp, Frame& frame, LaneMask lanes) {
  warp_ = &warp;
  enter_frame(frame);
  bases_[2] = warp.special;
  group_ = lanes;
  mask_ = lanes;
  lanes_ = static_cast<std::uint32_t>(std::popcount(lanes));
  local_bytes_ = access_watch_ == nullptr ? warp.local_bytes : 0;
}

// The fast paths are closed while somebody watches: see translate_*.
Watching::Watching(Exec& exec, AccessWatch& watch) : exec_(exec), watch_(watch) {
  watch.outer_ = std::exchange(exec.access_watch_, &watch);
  if (watch.outer_ == nullptr) {
    exec.forget_ranges();
    exec.enter_block(exec.block_);
  }
}

Watching::~Watching() {
  HEDDLE_CHECK(exec_.access_watch_ == &watch_, "who began to watch last ends first");
  exec_.access_watch_ = watch_.outer_;
  if (exec_.access_watch_ == nullptr) {
    exec_.forget_ranges();
    exec_.enter_block(exec_.block_);
  }
}

/// Generation 0: there are none. Who watches some ops only forgets them often.
void Exec::forget_ranges() {
  if (cache_generation_ != 0) {
    cache_.fill({});
    found_.forget();
    cache_generation_ = 0;
  }
}

/// Programs that allocate in kernels also free there, all the time; what lives is still known.
void Exec::forget_changed() {
  if (cache_generation_ == 0) {
    return; // nothing is
  }
  std::array<memory::AddressSpace::Freed, memory::AddressSpace::most_freed> freed;
  std::uint64_t now = 0;
  const auto count = space_.freed_since(cache_generation_, freed, now);
  if (!count || *count == 0) {
    forget_ranges();
    return;
  }
  memory::Address lowest = ~memory::Address{0};
  memory::Address highest = 0;
  for (std::size_t n = 0; n < *count; ++n) {
    lowest = std::min(lowest, freed[n].base);
    highest = std::max(highest, freed[n].base);
    found_.forget(freed[n].base, freed[n].size);
  }
  found_.each_site([&](std::size_t n) {
    if (cache_[n].base >= lowest && cache_[n].base <= highest) {
      cache_[n] = {};
    }
  });
  cache_generation_ = now;
}

void Exec::look_behind() {
  behind_ = nullptr;
  const LaneMask others = warp_->live & ~warp_->blocked & ~group_;
  if (others != 0) {
    constexpr auto nowhere = std::numeric_limits<std::intptr_t>::max();
    std::intptr_t lowest = nowhere; // written to be vectorised
    for (std::size_t lane = 0; lane < warp_size; ++lane) {
      const bool other = warp_->frame[lane] == frame_ && (others >> lane & 1) != 0;
      const std::intptr_t at = other ? reinterpret_cast<std::intptr_t>(warp_->pc[lane]) : nowhere;
      lowest = std::min(lowest, at);
    }
    behind_ = lowest != nowhere ? reinterpret_cast<const Op*>(lowest) : nullptr;
  }
  watch_ =
      static_cast<std::uint8_t>(reconverge_ && behind_ != nullptr ? watch_ | Join : watch_ & ~Join);
}

Stop Exec::run(Warp& warp, LaneMask group, const Turn& turn) {
  HEDDLE_CHECK(group != 0, "an empty group cannot run");
  forget_freed();
  const auto first = static_cast<std::size_t>(std::countr_zero(group));
  select(warp, *warp.frame[first], group);
  fuel_ = turn.fuel;
  why_ = Stop::None;
  reconverge_ = turn.reconverge;
  tires_ = turn.tires;
  last_poll_ = nullptr;
  // Who stops before visible ops or watches accesses wants every op by itself.
  const bool regions = !turn.stop_at_visible && access_watch_ == nullptr;
  watch_ = static_cast<std::uint8_t>(
      Guarded | (turn.stop_at_visible ? Visible : 0) | (regions ? Compiled : 0)
  );
  look_behind();
  const Op* op = warp.pc[first];
  const Op* left = nullptr; // where a region has been left: the interpreter executes that op
  bool moved = false;       // the first op is executed in any case
  while (op != nullptr) {
    op_ = op;
    const std::uint8_t flags = __atomic_load_n(&op->flags, __ATOMIC_RELAXED);
    if ((flags & watch_) != 0) [[unlikely]] {
      if ((flags & watch_ & Join) != 0 && moved && behind_ <= op) {
        stop_at(Stop::Diverged, op);
        break;
      }
      if ((flags & watch_ & Compiled) != 0 && std::exchange(left, nullptr) != op) {
        const std::uint64_t before = executed_;
        left = enter_region(*op);
        moved = moved || left != op || executed_ != before;
        op = left;
        continue;
      }
      if ((flags & Guarded) != 0) {
        const LaneMask p = predicate(op->guard);
        mask_ = group_ & (op->guard_negated ? ~p : p);
        if (mask_ == 0) {
          mask_ = group_;
          moved = true;
          ++op;
          continue;
        }
      }
      if ((flags & watch_ & Visible) != 0 && moved) {
        mask_ = group_;
        stop_at(Stop::Visible, op);
        break;
      }
      executed_ += lanes_;
      op = op->execute(*this, *op);
      mask_ = group_;
    } else {
      executed_ += lanes_;
      op = op->execute(*this, *op);
    }
    moved = true;
  }
  return why_;
}

Stop Exec::step(Warp& warp, LaneMask group) {
  HEDDLE_CHECK(group != 0, "an empty group cannot run");
  forget_freed();
  const auto first = static_cast<std::size_t>(std::countr_zero(group));
  select(warp, *warp.frame[first], group);
  fuel_ = std::numeric_limits<std::int64_t>::max(); // loops are bounded by the caller
  why_ = Stop::None;
  reconverge_ = false;
  behind_ = nullptr;
  watch_ = Guarded;
  op_ = warp.pc[first];
  if ((op_->flags & Guarded) != 0) {
    const LaneMask p = predicate(op_->guard);
    mask_ = group_ & (op_->guard_negated ? ~p : p);
    if (mask_ == 0) {
      mask_ = group_;
      stop_at(Stop::None, op_ + 1);
      return why_;
    }
  }
  executed_ += lanes_;
  const Op* next = op_->execute(*this, *op_);
  mask_ = group_;
  if (next != nullptr) { // without a branch for each lane: this is done for every op
    for (int lane = 0; lane < warp_size; ++lane) {
      const Op*& pc = warp.pc[static_cast<std::size_t>(lane)];
      pc = (group_ >> lane & 1) != 0 ? next : pc;
    }
  }
  return why_;
}

// --- Ways to stop

const Op* Exec::stop_at(Stop why, const Op* next) {
  set_lanes(warp_->pc, group_, next);
  why_ = why;
  return nullptr;
}

void Exec::leave(LaneMask lanes, const Op* at) {
  set_lanes(warp_->pc, lanes, at);
  group_ &= ~lanes;
  mask_ &= ~lanes;
  lanes_ = static_cast<std::uint32_t>(std::popcount(group_));
  look_behind();
}

const Op* Exec::next_or_stop(const Op& op, Stop why) {
  if (group_ != 0) {
    mask_ = group_;
    look_behind();
    return &op + 1;
  }
  why_ = why;
  return nullptr;
}

const Op* Exec::block(const Op& op, const Op* next) {
  warp_->blocked |= mask_;
  leave(mask_, next);
  return next_or_stop(op, Stop::Blocked);
}

const Op* Exec::stop_fault(Fault fault) {
  fault_ = std::move(fault);
  return stop_fault();
}

const Op* Exec::stop_fault() {
  return stop_at(Stop::Fault, op_);
}

const Op* Exec::stop_unsupported(std::string what) {
  fault_ = Fault{};
  fault_.kind = FaultKind::IllegalInstruction;
  fault_.lane = std::countr_zero(mask_);
  fault_.text = std::move(what);
  return stop_at(Stop::Unsupported, op_);
}

const Op* Exec::diverge(LaneMask taken, const Op* target, const Op* next) {
  for (LaneMask m = group_; m != 0; m &= m - 1) {
    const int lane = std::countr_zero(m);
    warp_->pc[static_cast<std::size_t>(lane)] = (taken >> lane & 1) != 0 ? target : next;
  }
  why_ = Stop::Diverged;
  return nullptr;
}

const Op* Exec::exit_lanes(const Op& op) {
  const LaneMask ended = mask_;
  warp_->live &= ~ended;
  // The lanes of a group are in one frame, so they have all its callers in common.
  for (Frame* frame = frame_; frame != nullptr;) {
    Frame* caller = frame->caller;
    warp_->pop_lanes(frame, ended);
    frame = caller;
  }
  set_lanes<Frame*>(warp_->frame, ended, nullptr);
  leave(ended, nullptr);
  environment_->exited(*this, ended);
  return next_or_stop(op, Stop::Exited);
}

const Op* Exec::call(const Op& op, const Code& callee) {
  if (!warp_->has_room(*frame_, mask_, callee.local_bytes)) {
    Fault fault;
    fault.kind = FaultKind::StackOverflow;
    fault.lane = std::countr_zero(mask_);
    fault.bytes = static_cast<std::uint32_t>(warp_->local_bytes);
    fault.text = callee.function->name;
    return stop_fault(std::move(fault));
  }
  const LaneMask entering = mask_;
  if (entering != group_) {
    leave(group_ & ~entering, &op + 1);
  }
  Frame* frame = warp_->push_frame(&callee, frame_, &op + 1, entering);
  if (access_watch_ != nullptr) {
    // Whoever takes moves back must not find what other calls have left behind.
    for (LaneMask m = entering; m != 0; m &= m - 1) {
      const auto lane = static_cast<std::size_t>(std::countr_zero(m));
      std::memset(
          warp_->local + lane * warp_->local_stride + frame->local_base,
          0,
          callee.local_bytes
      );
    }
  }
  set_lanes(warp_->frame, entering, frame);
  enter_frame(*frame);
  behind_ = nullptr; // nobody else is in it
  watch_ &= static_cast<std::uint8_t>(~Join);
  return callee.ops.data();
}

const Op* Exec::return_lanes(const Op& op) {
  Frame* frame = frame_;
  if (frame->caller == nullptr) {
    return exit_lanes(op);
  }
  const LaneMask returning = mask_;
  const Op* next = frame->return_op;
  Frame* caller = frame->caller;
  if (returning != group_) {
    // The others go on in this frame; the returning lanes become a group of their own.
    set_lanes(warp_->frame, returning, caller);
    leave(returning, next);
    warp_->pop_lanes(frame, returning);
    return next_or_stop(op, Stop::Diverged);
  }
  set_lanes(warp_->frame, returning, caller);
  const bool alone = frame->lanes == returning;
  warp_->pop_lanes(frame, returning);
  enter_frame(*caller);
  if (!alone && reconverge_) {
    // Lanes of the same call are still inside: let them return first, to meet again here.
    return stop_at(Stop::Diverged, next);
  }
  look_behind();
  return next;
}

// --- Addresses

std::byte*
Exec::bad_access(FaultKind kind, int lane, memory::Address a, std::uint32_t bytes, bool store) {
  fault_ = Fault{};
  fault_.kind = kind;
  fault_.lane = lane;
  fault_.address = a;
  fault_.bytes = bytes;
  fault_.store = store;
  return nullptr;
}

std::byte* Exec::reached(int lane, std::byte* at, std::uint32_t bytes, bool store) {
  for (AccessWatch* watch = access_watch_; watch != nullptr; watch = watch->outer_) {
    watch->accessed(lane, at, bytes, store);
  }
  return at;
}

std::byte* Exec::translate_slow(int lane, memory::Address a, std::uint32_t bytes, bool store) {
  if (a - memory::window_base < 3 * memory::window_size) {
    return translate_window_slow(lane, a, bytes, store);
  }
  if ((a & (bytes - 1)) != 0) {
    return bad_access(FaultKind::Misaligned, lane, a, bytes, store);
  }
  const std::uint64_t generation = space_.generation();
  forget_freed();
  const memory::Range* known = found_.at(a);
  const memory::Range range = known != nullptr ? *known : space_.find_range(a, block_.device);
  if (bytes <= range.size && a - range.base <= range.size - bytes) {
    if (store && !range.writable) {
      return bad_access(FaultKind::ReadOnly, lane, a, bytes, store);
    }
    if (access_watch_ == nullptr) {
      cache_[site(op_)] = range;
      cache_generation_ = generation;
      if (known == nullptr) {
        found_.keep(a, range);
      }
      found_.note_site(site(op_));
    }
    return reached(
        lane,
        reinterpret_cast<std::byte*>(a + static_cast<std::uint64_t>(range.delta)),
        bytes,
        store
    );
  }
  if (a < 4096) {
    return bad_access(FaultKind::Null, lane, a, bytes, store);
  }
  if (const memory::Range hidden = space_.find_range(a);
      bytes <= hidden.size && a - hidden.base <= hidden.size - bytes) {
    return bad_access(FaultKind::PeerMemory, lane, a, bytes, store);
  }
  if (bytes <= 4 && reads_word_around(*frame_, *op_)) {
    const memory::Address word = a & ~memory::Address{3};
    for (memory::Address byte = word; byte < word + 4; ++byte) {
      const memory::Range object = space_.find_range(byte);
      if (object.size != 0 && (!store || object.writable)) {
        return reached(
            lane,
            reinterpret_cast<std::byte*>(a + static_cast<std::uint64_t>(object.delta)),
            bytes,
            store
        );
      }
    }
  }
  const auto nearest = space_.nearest(a);
  if (nearest && nearest->freed && a - nearest->base < nearest->size) {
    return bad_access(FaultKind::UseAfterFree, lane, a, bytes, store);
  }
  const bool near_one = nearest && a - nearest->base < nearest->size + 4096;
  const bool host = !near_one && memory::AddressSpace::is_host_memory(a);
  return bad_access(host ? FaultKind::HostMemory : FaultKind::OutOfBounds, lane, a, bytes, store);
}

std::byte*
Exec::translate_window_slow(int lane, memory::Address a, std::uint32_t bytes, bool store) {
  if ((a & (bytes - 1)) != 0) {
    return bad_access(FaultKind::Misaligned, lane, a, bytes, store);
  }
  const std::uint64_t offset = a % memory::window_size;
  const memory::Address window = a - offset;
  if (window == memory::shared_window) {
    const std::uint64_t in_block = offset & ((1ULL << memory::shared_rank_shift) - 1);
    const auto rank_plus_one = static_cast<std::uint32_t>(offset >> memory::shared_rank_shift);
    std::byte* base = block_.shared;
    std::uint64_t size = block_.shared_bytes;
    if (rank_plus_one != 0) {
      base = environment_->shared_of(rank_plus_one - 1, &size);
    }
    if (base != nullptr && bytes <= size && in_block <= size - bytes) {
      return reached(lane, base + in_block, bytes, store);
    }
    if (base != nullptr && bytes <= 4 && in_block < size && reads_word_around(*frame_, *op_)) {
      return reached(lane, base + in_block, bytes, store); // there is room up to a multiple of 16
    }
    if (rank_plus_one == 0 && block_.reserved != nullptr &&
        in_block >= memory::reserved_shared_offset) {
      return reached(
          lane,
          block_.reserved + (in_block - memory::reserved_shared_offset),
          bytes,
          store
      );
    }
  } else if (window == memory::local_window) {
    if (bytes <= warp_->local_bytes && offset <= warp_->local_bytes - bytes) {
      return reached(
          lane,
          warp_->local + static_cast<std::uint64_t>(lane) * warp_->local_stride + offset,
          bytes,
          store
      );
    }
  } else if (bytes <= param_bytes_ && offset <= param_bytes_ - bytes) {
    if (!store) {
      return param_ + offset;
    }
    return bad_access(FaultKind::ReadOnly, lane, a, bytes, store);
  }
  return bad_access(FaultKind::OutOfBounds, lane, a, bytes, store);
}

} // namespace heddle::isa
