// Regions: machine code that stands for many Ops of one Code, and how the interpreter enters it.
//
// A region is entered at an op by a group of lanes (RegionGroup), and executes ops until it comes
// to one that it leaves to the interpreter: one it does not know, a taken backward branch for which
// the fuel does not suffice, or a place where lanes of other groups stand that are behind. It
// writes back every register that may still be read, and returns that op; the interpreter executes
// it. So whatever is special (faults, waiting, turns) happens in the interpreter. Lanes that part
// at a branch stay in the region, those at the lowest op first, as in the interpreter; when it is
// left, they may be at different ops: RegionContext::rest.
//
// There are two ways in. From the interpreter's loop (Exec::enter_region), at an op with
// OpFlags::Compiled, for one group. And for a whole block that has just started
// (machine/block_compiled.cpp): then `groups` has all lanes of the block. Each group executes as
// far as a barrier of the block or its end, in the order of the groups; when all of them have come
// to one and the same barrier, they go on behind it. When one of them leaves the region, the others
// are where RegionContext says, or executed by a further call. What of their registers is in slots
// is written to their frames by a call for each of them with `spill`.
//
// A call of a function whose region is of the same shape does not leave the region: the caller's
// asks RegionContext::call for it, which pushes a frame and calls the function's region. If all
// lanes come back, the caller goes on behind the call. If not (the function's region has been left
// with some of them in it), each region on the way writes its registers to its frame and is left,
// too, and every lane stands where the interpreter would have it: isa/region_calls.cpp.
//
// RegionContext is all that compiled code knows of the machine. Its layout is part of the format of
// images (jit/image.h): whoever changes it changes their version.
#pragma once

#include "isa/op.h"

#include <cstddef>
#include <cstdint>
#include <span>

namespace heddle::isa {

/// Lanes of one warp that are executed together.
struct RegionGroup {
  std::byte* registers = nullptr;     // of the frame
  const std::byte* special = nullptr; // of the warp
  const std::byte* uniform = nullptr; // the same for those that are equal in all lanes of a block
  std::byte* local = nullptr;         // of the warp
  std::byte* slots = nullptr;         // of a block's group: RegionWords::slots words
  Warp* warp = nullptr;
  Frame* frame = nullptr;
  std::uint32_t first = 0; // lane
  LaneMask mask = 0;       // lanes that execute, bit 0 is lane `first`
  LaneMask live = 0;       // of the warp
  LaneMask created = 0;    // of the warp
};

/// A register that a region reads from the frame where it is entered, or writes where it is left.
/// Compiled code keeps the values of all of them in memory of its own.
struct RegionRegister {
  std::uint32_t offset = 0;        // in the frame, of lane 0
  std::uint32_t element_bytes = 0; // 2, 4 or 8; 0: a predicate
  std::uint32_t value = 0;         // offset of the value in that memory
  std::uint32_t flags = 0;
  std::int64_t stride = 0;

  /// It is base + n × stride in the group's lane n, and only the base is there.
  static constexpr std::uint32_t regular = 1;
  /// An f32 that may be any NaN, and is to be PTX's where it is written (jit/any_nan.h).
  static constexpr std::uint32_t any_nan = 2;
  bool is_regular() const { return (flags & regular) != 0; }
};
/// In an image; so many registers lie behind it.
struct alignas(RegionRegister) RegionTable {
  std::uint32_t count = 0;
  std::uint32_t lanes = 0; // of a group
  const RegionRegister* registers() const {
    return reinterpret_cast<const RegionRegister*>(this + 1);
  }
};
/// RegionContext::write. `first`: lane 0 of the group.
void write_registers(
    const RegionTable& table,
    std::byte* frame,
    const std::byte* values,
    std::uint64_t first,
    LaneMask lanes
);
/// RegionContext::read. Only the bases of regular registers and predicates: vectors lie in the
/// frame as compiled code has them. Not 0: a register of these lanes is not regular.
std::uint64_t read_registers(
    const RegionTable& table,
    const std::byte* frame,
    std::byte* values,
    std::uint64_t first,
    LaneMask lanes
);

struct RegionContext;

/// RegionContext::call.
enum class RegionCall : std::uint64_t {
  Refused,  // nothing was done: the interpreter is to execute the op
  Returned, // all lanes have returned
  Left      // not all have; `left` is set, and the lanes that were to call have their places
};
RegionCall call_function(RegionContext& context, const Op& op, LaneMask lanes);

/// What a monitor (machine/monitor.h) gives to compiled code of a program that it watches. Such
/// code is made for that (RegionWords::watched): it tells of each weak access to memory that
/// threads share, calls handlers for everything else that the monitor has a handler for, and ends
/// a turn wherever the interpreter would.
struct RegionWatch {
  /// The lanes access memory at each[lane]; nullptr: at base + lane × stride. Told of a load behind
  /// it, of a store before it, when nothing can fail any more. 0: nothing was noted, and the
  /// interpreter is to execute the op.
  std::uint64_t (*access)(
      RegionContext& context,
      const Op& op,
      LaneMask lanes,
      const std::uint64_t* each,
      std::uint64_t base,
      std::int64_t stride
  ) = nullptr;
  /// All addresses of an access().
  static void addresses(
      const std::uint64_t* each,
      std::uint64_t base,
      std::int64_t stride,
      std::uint64_t (&to)[warp_size]
  ) {
    for (std::size_t lane = 0; lane < warp_size; ++lane) {
      to[lane] = each != nullptr ? each[lane] : base;
      base += static_cast<std::uint64_t>(stride);
    }
  }
  /// May compiled code call the handler of the op, at which `exec` is? Not where it gives others a
  /// turn, or where compiled code may not go on behind it.
  bool (*may_call)(Exec& exec, const Op& op) = nullptr;
  /// May the lanes of `exec` go on in compiled code?
  bool (*may_enter)(Exec& exec) = nullptr;
  /// So many ops take as long in the interpreter as to enter compiled code and to leave it.
  std::uint32_t enough_ops = 0;
};

struct RegionContext {
  const Op* ops = nullptr;               // of the Code
  const std::byte* constants = nullptr;  // of the Code
  const memory::Range* ranges = nullptr; // where memory instructions went last: of op 0
  std::byte* shared = nullptr;
  std::uint64_t shared_bytes = 0;
  std::byte* param = nullptr;
  std::uint64_t param_bytes = 0;
  std::uint64_t local_stride = 0;   // of the warps
  std::uint64_t local_bytes = 0;    // of a lane
  std::uint64_t local_base = 0;     // of the frame
  std::int64_t fuel = 0;            // of each group, up to a barrier; then what is left of it
  std::uint64_t poll_doublings = 0; // of its cost, at most: while a poll has the same answer again
  std::uint64_t executed = 0;       // thread instructions
  std::uint64_t behind = ~0ULL; // index of the lowest op where others stand; ~0: stop for nobody
  static constexpr std::size_t most_rests = warp_size; // and one that is written and not counted
  struct Rest {
    LaneMask lanes; // like RegionGroup::mask
    std::uint32_t op;
  };
  /// Lanes that go on elsewhere than at the op that is returned.
  Rest rest[most_rests];
  std::uint64_t rests = 0;
  /// Executes one op by its handler, for the lanes given (not none; like `mask`) of `group`. Its
  /// operands have been written to the registers. Returns what the handler returns; nullptr with
  /// `refused`: the monitor wants the interpreter to execute it, and nothing was done.
  const Op* (*interpret)(RegionContext& context, const Op& op, LaneMask lanes) = nullptr;
  /// The same where that is seldom: writes the operands to the registers, from `values`. Not 0: the
  /// handler goes on behind its op; else it has stopped with a fault, or see above.
  std::uint64_t (*interpret_seldom)(
      RegionContext& context,
      const Op& op,
      LaneMask lanes,
      const RegionTable& operands,
      const std::byte* values
  ) = nullptr;
  /// Writes registers of lanes that leave the region to their frame, from `values`.
  decltype(&write_registers) write = nullptr;
  /// Reads registers of lanes that enter the region, to `values`.
  decltype(&read_registers) read = nullptr;
  Exec* exec = nullptr;                          // for `interpret`
  decltype(RegionWatch::access) watch = nullptr; // nullptr: nobody watches
  std::uint64_t refused = 0;                     // 1: by RegionWatch::may_call
  std::uint64_t alone = 0;                       // 1: nobody else executes device code meanwhile
  LaneMask fault_lanes = 0;      // which executed the op with which a handler has stopped
  std::uint32_t wrong_guess = 0; // out, 1: lanes differ more than was likely, or an f64 is NaN

  // --- Calls
  /// The lanes (not none; like `mask`) of `group` execute `op`, a call; its fuel is spent.
  decltype(&call_function) call = nullptr;
  std::uint64_t called = 0;   // 1: by compiled code, to which all lanes are to return together
  std::uint64_t returned = 0; // out, 1: they are at the end of the function
  std::uint64_t left = 0;     // out, 1: lanes are in called functions, all but those of `rest`
  std::uint64_t failed = 0;   // out, 1: and a handler has stopped with a fault there
  std::uint32_t shape = 0;    // RegionWords::shape() of the region that was entered
  std::uintptr_t stack = 0;   // where the host's stack was then

  // --- Groups. In: the first one; out, and while a handler is called: the one that executes.
  RegionGroup* group = nullptr;

  // --- Of a whole block
  const RegionGroup* first_group = nullptr; // nullptr: for one group
  const RegionGroup* groups_end = nullptr;
  std::int64_t barriers = 0; // so many may open, then all groups stay in front of one
  std::uint64_t spill = 0; // 1: the group is in front of the barrier behind which the call begins,
                           // and writes its slots to its frame; that is all
  std::uint64_t counted = 0; // threads, by the barrier with a result that has opened last
  std::uint64_t ended = 0;   // out, 1: all lanes are at an end of the kernel
  std::uint32_t begin = 0;   // out: where `group` began, as in a call; so do the groups behind it
  std::uint32_t arrived = 0; // out: the barrier or end in front of which the groups before it are
};

/// Or-ed to the op with which a call begins: the registers are in the slots (at op 0: there are
/// none).
inline constexpr std::uint32_t region_from_slots = 0x8000'0000;

inline constexpr std::uint32_t fewest_region_lanes = 8;
/// Threads in a row of a block of x × y × z, as far as groups of lanes can tell: a block of one row
/// ends behind its last thread, so the row is as long as its last group.
inline std::uint32_t region_row(std::uint32_t x, std::uint32_t y, std::uint32_t z) {
  if (y != 1 || z != 1) {
    return x;
  }
  const std::uint32_t group = x <= 8 ? 8 : x <= 16 ? 16 : warp_size;
  return (x + group - 1) / group * group;
}
/// For which launches a region is right, and how many lanes a group of it has: the words before its
/// first instruction say so.
struct RegionWords {
  std::uint32_t slots = 0; // words of 8 bytes in a group's slots
  std::uint32_t flags = 0;
  static constexpr std::uint32_t rows = 0x100;      // such a group lies in one row of the block
  static constexpr std::uint32_t block = 0x200;     // can execute a whole block
  static constexpr std::uint32_t turns = 0x400;     // lanes never part in it
  static constexpr std::uint32_t watch = 0x800;     // for a program that is watched: RegionWatch
  static constexpr std::uint32_t callable = 0x1000; // compiled code may call it, at op 0
  std::uint32_t lanes() const { return flags & 0xffU; }
  bool in_rows() const { return (flags & rows) != 0; }
  /// May it be entered by a block with such rows (region_row)?
  bool fits(std::uint32_t row) const { return !in_rows() || row % lanes() == 0; }
  bool whole_blocks() const { return (flags & block) != 0; }
  bool keeps_turns() const { return (flags & turns) != 0; }
  bool watched() const { return (flags & watch) != 0; }
  bool is_callable() const { return (flags & callable) != 0; }
  /// The groups of regions with the same one are the same.
  std::uint32_t shape() const { return flags & (0xffU | rows | watch); }
};
inline RegionWords region_words(Region region) {
  RegionWords words;
  __builtin_memcpy(&words, reinterpret_cast<const std::byte*>(region) - sizeof words, sizeof words);
  return words;
}

/// Lets groups that come to these ops of `code` go on in `region` from now on, also groups that
/// execute it already. Both must stay where they are for as long as the process lives.
void install_region(const Code& code, Region region, std::span<const std::uint32_t> entries);

/// For whoever has called a region of `code`.
inline void note_guess(const Code& code, RegionContext& context) {
  if (context.wrong_guess != 0) [[unlikely]] {
    __atomic_fetch_add(&code.wrong_guesses, 1, __ATOMIC_RELAXED);
    context.wrong_guess = 0;
  }
}

} // namespace heddle::isa
