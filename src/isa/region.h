// Regions: machine code that stands for many Ops of one Code, and how the interpreter enters it.
//
// A region is entered at an op with OpFlags::Compiled by a group of lanes, and executes ops for
// some of a warp's lanes at a time (RegionLanes) until it comes to one that it leaves to the
// interpreter: one it does not know, a branch on which the lanes part, a taken backward branch for
// which the fuel does not suffice, or a place where lanes stand that are behind. It writes back
// every register that may still be read, and returns that op; the interpreter executes it. So
// whatever is special (faults, divergence, turns) happens in the interpreter. Where lanes have gone
// different ways within a region they may leave it at different ops: RegionContext::rest.
//
// RegionContext is all that compiled code knows of the machine. Its layout is part of the format of
// images (jit/image.h): whoever changes it changes their version.
#pragma once

#include "isa/op.h"

#include <cstddef>
#include <cstdint>
#include <span>

namespace heddle::isa {

struct RegionContext {
  const Op* ops = nullptr;               // of the Code
  std::byte* registers = nullptr;        // of the frame
  const std::byte* constants = nullptr;  // of the Code
  const std::byte* special = nullptr;    // of the warp
  const memory::Range* ranges = nullptr; // where memory instructions went last: range_site()
  std::byte* shared = nullptr;
  std::uint64_t shared_bytes = 0;
  std::byte* param = nullptr;
  std::uint64_t param_bytes = 0;
  std::byte* local = nullptr; // of the warp
  std::uint64_t local_stride = 0;
  std::uint64_t local_base = 0; // of the frame
  std::int64_t fuel = 0;
  std::uint64_t executed = 0;   // thread instructions
  std::uint64_t behind = ~0ULL; // index of the lowest op where others stand; ~0: stop for nobody
  std::uint32_t first = 0;      // the lane with which this call begins
  LaneMask mask = 0;            // lanes that execute, bit 0 is lane `first`
  static constexpr std::size_t most_rests = 4;
  struct Rest {
    LaneMask lanes = 0; // like `mask`
    std::uint32_t op = 0;
  };
  /// Lanes that go on elsewhere than at the op that is returned.
  Rest rest[most_rests];
  std::uint64_t rests = 0;
  /// Executes one op by its handler, for the lanes given (not none; like `mask`). Its operands have
  /// been written to `registers`. Returns what the handler returns.
  const Op* (*interpret)(RegionContext& context, const Op& op, LaneMask lanes) = nullptr;
  Exec* exec = nullptr; // for `interpret`
};

inline constexpr std::uint32_t fewest_region_lanes = 8;
/// For which launches a region is right, and how many lanes one call of it executes: the word
/// before its first instruction says so.
inline constexpr std::uint32_t region_rows = 0x100; // such a group lies in one row of the block
struct RegionLanes {
  std::uint32_t lanes = 0;
  bool rows = false;
};
inline RegionLanes region_lanes(Region region) {
  std::uint32_t word = 0;
  __builtin_memcpy(&word, reinterpret_cast<const std::byte*>(region) - sizeof word, sizeof word);
  return {word & 0xffU, (word & region_rows) != 0};
}

/// Lets groups that come to these ops of `code` go on in `region` from now on, also groups that
/// execute it already. Both must stay where they are for as long as the process lives.
void install_region(const Code& code, Region region, std::span<const std::uint32_t> entries);

/// Which of Exec's ranges an op uses: its place in memory in units of Ops, modulo their number.
inline constexpr std::size_t range_sites = 64;

} // namespace heddle::isa
