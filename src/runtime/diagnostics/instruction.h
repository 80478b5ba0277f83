// Reads one x86-64 instruction: as much of it as result_use.h has to know of what compilers make of
// C++. Intel's manual, volume 2, appendix A has the maps of opcodes that this follows.
//
//   const Instruction i = decode(at);     // i.kind == Instruction::Kind::Unknown: not understood
#pragma once

#include <cstdint>
#include <optional>

namespace heddle::runtime {

struct Instruction {
  enum class Kind : std::uint8_t {
    Unknown,
    Other,  // goes on behind itself
    Move,   // `from` to `to`, of which one may be memory
    Branch, // to `target`, or behind itself
    Jump,   // to `target`
    Call,
    Return,
    End // nothing follows: a jump to somewhere else, a trap
  };
  /// base + displacement, without an index.
  struct Slot {
    std::uint8_t base = 0;
    std::int32_t displacement = 0;
    auto operator<=>(const Slot&) const = default;
  };

  Kind kind = Kind::Unknown;
  std::uint8_t length = 0;
  std::uint16_t reads = 0, writes = 0; // general registers, a bit each; 0 is rax, 4 rsp, 5 rbp
  std::optional<Slot> slot;            // that it reads, writes, or takes the address of
  bool writes_slot = false;            // and does nothing else with it
  const std::uint8_t* target = nullptr;
};

Instruction decode(const std::uint8_t* at);

} // namespace heddle::runtime
