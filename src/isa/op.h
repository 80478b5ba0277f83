// One decoded instruction, and what it sees while it executes.
//
// A Function of a module is lowered once per kernel into Code: an array of Op. An Op is executed
// for a *group*: the lanes of one warp that stand at the same Op of the same call frame. Registers
// are kept as arrays over the 32 lanes (structure of arrays), so the same handler serves one lane
// (the explorer, which moves every thread on its own), a convergent warp (fast) and lockstep warps.
//
//   register of 8..64 bits : 32 consecutive elements of its declared width (2, 4 or 8 bytes)
//   register of 128 bits   : 32 consecutive 16-byte elements
//   predicate              : one LaneMask
//
// Operands are `Ref`s: 2 bits say in which area (registers of the frame, constants of the Code,
// special values of the warp), 30 bits the byte offset there. A constant is stored 32 times, so a
// handler never asks whether an operand is an immediate.
#pragma once

#include "memory/address_space.h"
#include "ptx/module.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <string>
#include <utility>
#include <vector>

namespace heddle::isa {

using LaneMask = std::uint32_t;
inline constexpr int warp_size = 32;
inline constexpr LaneMask all_lanes = ~LaneMask{0};

/// Bytes that begin at a cache line, so that no vector of lanes crosses one.
template <class T> struct LineAllocator {
  using value_type = T;
  static constexpr std::align_val_t line{64};
  LineAllocator() = default;
  template <class U> LineAllocator(const LineAllocator<U>&) {}
  T* allocate(std::size_t n) { return static_cast<T*>(::operator new(n * sizeof(T), line)); }
  void deallocate(T* p, std::size_t n) noexcept { ::operator delete(p, n * sizeof(T), line); }
  bool operator==(const LineAllocator&) const = default;
};
using LaneBytes = std::vector<std::byte, LineAllocator<std::byte>>;

struct Op;
struct Code;
struct Frame;
class Warp;
class Exec;

enum class Area : std::uint8_t {
  Frame = 0,
  Constant = 1,
  Special = 2
};

struct Ref {
  std::uint32_t raw = none_raw;
  static constexpr std::uint32_t none_raw = ~0U;
  constexpr bool none() const { return raw == none_raw; }
  constexpr Area area() const { return static_cast<Area>(raw >> 30); }
  constexpr std::uint32_t offset() const { return raw & 0x3fff'ffffU; }
  static constexpr Ref at(Area area, std::uint32_t offset) {
    return Ref{(static_cast<std::uint32_t>(area) << 30) | offset};
  }
};

/// Executes `op` for the lanes exec.mask() and returns the op to go on with (usually &op + 1), or
/// nullptr after having called one of Exec's stop functions.
using Handler = const Op* (*)(Exec & exec, const Op& op);

enum OpFlags : std::uint8_t {
  Guarded = 1,  // op.guard is a predicate register
  Join = 4,     // first op of a labelled block: where lanes of a warp that parted may meet
  Compiled = 8, // Code::region may be entered here; set while others execute: install_region()
  Visible = 2   // touches memory that others may share, is an atomic, fence, barrier, collective or
                // exit; or reads a clock
};

struct Op {
  Handler execute = nullptr;
  Ref d, a, b, c;           // destination and sources; meaning is the handler's
  Ref e;                    // fifth operand or second destination
  Ref guard;                // predicate, if flags & Guarded
  std::uint32_t target = 0; // branch: index of the Op in Code::ops
  std::uint32_t list = 0;   // first of `count` refs in Code::refs (vectors, call arguments)
  std::uint16_t count = 0;
  std::uint8_t flags = 0;
  bool guard_negated = false;
  std::uint32_t instruction = 0; // index in ptx::Function::body
  std::int64_t imm = 0;          // address offset, LUT, name of a barrier, …: the handler's
  std::uint64_t imm2 = 0;
};

struct RegionContext; // region.h
struct RegionWatch;   // region.h
/// Compiled code. `at`: index of the op to begin with. Returns the op to go on with, or nullptr if
/// a handler has stopped the group.
using Region = const Op* (*)(RegionContext & context, std::uint32_t at);

/// For each op a worker remembers where in memory it went last: at its place in memory in units of
/// Ops, modulo their number. More than most kernels have ops: two that share a place and have other
/// allocations take it away from each other each time.
inline constexpr std::size_t range_sites = 1024;

/// Places of a Code's ops follow each other, from the first op's on, and begin again at 0 only if
/// that is where they have begun: compiled code knows the distance of each from the first one's.
template <class T> struct OpAllocator {
  using value_type = T;
  OpAllocator() = default;
  template <class U> OpAllocator(const OpAllocator<U>&) {}
  static std::align_val_t alignment(std::size_t count) {
    const std::size_t places = std::min(std::bit_ceil(count), range_sites);
    return std::align_val_t{std::max(places * sizeof(T), alignof(std::max_align_t))};
  }
  T* allocate(std::size_t count) {
    return static_cast<T*>(::operator new(count * sizeof(T), alignment(count)));
  }
  void deallocate(T* ops, std::size_t count) noexcept {
    ::operator delete(ops, count * sizeof(T), alignment(count));
  }
  template <class U> bool operator==(const OpAllocator<U>&) const { return true; }
};

/// Lowered function. Immutable once lowered, but for install_region().
struct Code {
  const ptx::Module* module = nullptr;
  const ptx::Function* function = nullptr;
  const ptx::Function* kernel = nullptr; // for which it has been lowered
  int device = 0;                        // whose program it is part of
  std::vector<Op, OpAllocator<Op>> ops;
  std::vector<Ref> refs;
  LaneBytes constants;               // elements, broadcast
  std::vector<std::string> messages; // of ops that stop with Stop::Unsupported
  std::uint32_t frame_bytes = 0;     // of registers
  std::uint32_t local_bytes = 0;     // of .local and .param variables, per lane
  std::vector<Ref> registers;        // where the function's registers are, by their index
  /// Registers that may be read before they are written: offset in the frame, bytes.
  std::vector<std::pair<std::uint32_t, std::uint32_t>> cleared;
  std::vector<std::uint32_t> parameter_offsets; // of formal parameters: .func: in the frame's local
                                                // memory, .entry: in the parameter block
  std::vector<std::uint32_t> return_offsets;    // .func: in the frame's local memory
  std::vector<std::uint32_t> variable_offsets;  // .local and .param variables: in the frame's local
                                                // memory; others 0
  /// Offset in the frame and bytes of an element (0: a predicate) of the registers that the
  /// lowering has added to the function's own.
  std::vector<std::pair<std::uint32_t, std::uint32_t>> scratch;
  /// Offset in `constants` and bytes of an element of those that are addresses in this process; all
  /// others are the same in every process.
  std::vector<std::pair<std::uint32_t, std::uint32_t>> addresses;
  /// Compiled while programs run, for everybody; atomic.
  mutable Region region = nullptr;
  /// How often it was left because what it takes for likely did not hold; atomic.
  mutable std::uint64_t wrong_guesses = 0;
};

/// One activation of a function by some lanes of a warp.
struct Frame {
  const Code* code = nullptr;
  Frame* caller = nullptr;
  const Op* return_op = nullptr; // where the lanes go on in the caller
  LaneMask lanes = 0;            // lanes that have not returned
  std::uint32_t local_base = 0;  // offset of this frame's local variables in each lane's stack
  std::uint32_t depth = 0;
  LaneMask allocating = 0;                          // lanes that have allocated here, by alloca …
  std::array<std::uint32_t, warp_size> allocated{}; // … so many bytes; of other lanes: anything
  LaneBytes registers;

  /// Where the local memory of a called function begins.
  std::uint32_t local_end() const { return local_base + (code->local_bytes + 15) / 16 * 16; }
  std::uint32_t allocated_by(int lane) const {
    return (allocating >> lane & 1) != 0 ? allocated[static_cast<std::size_t>(lane)] : 0;
  }
};

/// What stopped a group.
enum class Stop : std::uint8_t {
  None,
  Visible,    // next op is visible and the caller asked to stop there; not executed
  Fuel,       // budget used up; pc stands at the next op
  Diverged,   // lanes of the group stand at different ops now
  Yield,      // nanosleep or a failed poll: somebody else should run
  Blocked,    // lanes wait (barrier, collective); the machine has recorded for what
  Exited,     // the group's lanes have ended
  Fault,      // exec.fault() says what
  Unsupported // exec.fault().text says what
};

enum class FaultKind : std::uint8_t {
  OutOfBounds,
  Misaligned,
  Null,
  UseAfterFree,
  ReadOnly,
  BadSpace,
  HostMemory,
  PeerMemory,
  StackOverflow,
  Assert,
  Trap,
  IllegalInstruction,
  BadCall,
  BarrierMisuse,
  BarrierReused,
  BarrierEnded,
  WarpgroupMisuse,
  HeapMisuse
};

struct Fault {
  FaultKind kind{};
  int lane = 0;
  memory::Address address = 0;
  std::uint32_t bytes = 0;
  bool store = false;
  ptx::Mod space{}; // state space of the access as written (generic: none)
  bool generic = false;
  std::string text; // assert message, name of the unsupported instruction, …
};

} // namespace heddle::isa
