// Regions: machine code that stands for many Ops of one Code, and how the interpreter enters it.
//
// A region is entered at an op with OpFlags::Compiled by a group that is a whole warp, and executes ops
// until it comes to one that it leaves to the interpreter: one it does not know, a branch on which the
// lanes part, or a taken backward branch for which the fuel does not suffice. It writes back every
// register that may still be read, and returns that op; the interpreter executes it. So a region has
// one kind of exit, and whatever is special (faults, divergence, turns) happens in the interpreter.
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
  std::byte* local = nullptr;
  std::uint64_t local_stride = 0;
  std::uint64_t local_base = 0; // of the frame
  std::int64_t fuel = 0;
  std::uint64_t executed = 0; // thread instructions
  /// Executes one op by its handler, for the lanes given (not none). Its operands have been
  /// written to `registers`. Returns what the handler returns.
  const Op* (*interpret)(RegionContext& context, const Op& op, LaneMask lanes) = nullptr;
  Exec* exec = nullptr; // for `interpret`
};

/// Lets groups that come to these ops of `code` go on in `region` from now on, also groups that
/// execute it already. Both must stay where they are for as long as the process lives.
void install_region(const Code& code, Region region, std::span<const std::uint32_t> entries);

/// Which of Exec's ranges an op uses: its place in memory in units of Ops, modulo their number.
inline constexpr std::size_t range_sites = 64;

} // namespace heddle::isa
