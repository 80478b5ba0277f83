// RegisterMap: what lies where in the frame of a Code, and which registers may be read again.
//
// May be wrong in one direction: a register may be taken for live that is not
// (analysis/liveness.h), never the other way round. Of registers that the lowering has added, those
// are always live that more than one instruction uses (the carry).
#pragma once

#include "analysis/bit_vector.h"
#include "isa/op.h"

#include <cstdint>
#include <map>
#include <vector>

namespace heddle::jit {

struct RegisterPlace {
  std::uint32_t offset = 0;        // in the frame
  std::uint32_t element_bytes = 0; // of one lane; 16 is possible
  bool predicate = false;          // one LaneMask
  std::uint32_t bytes() const { return predicate ? 4 : element_bytes * isa::warp_size; }
};

class RegisterMap {
public:
  explicit RegisterMap(const isa::Code& code);

  std::uint32_t count() const { return static_cast<std::uint32_t>(places_.size()); }
  const RegisterPlace& place(std::uint32_t index) const { return places_[index]; }
  /// Index of the register at an offset of the frame; count() if there is none.
  std::uint32_t at(std::uint32_t offset) const;
  /// The op's operands and its guard.
  std::vector<isa::Ref> refs(std::uint32_t op) const;
  /// Whether all registers of the op's instruction are operands of its ops, or `also`. What a
  /// handler gets by another way it would read and write past the compiled code.
  bool names_all(std::uint32_t op, isa::Ref also) const;
  /// count() if it is none.
  std::uint32_t frame_register(isa::Ref ref) const;
  /// Registers that may be read from this op on.
  std::vector<std::uint32_t> live(std::uint32_t op) const;
  bool live_at_instruction(std::uint32_t instruction, std::uint32_t index) const {
    return index >= code_.registers.size() || before_[instruction].test(index);
  }
  /// Registers among the op's operands that its instruction may write.
  bool written(std::uint32_t op, std::uint32_t index) const;
  std::vector<std::uint32_t> writes(std::uint32_t op) const;

private:
  const isa::Code& code_;
  std::vector<RegisterPlace> places_;
  std::map<std::uint32_t, std::uint32_t> by_offset_;
  std::vector<analysis::BitVector> before_;        // by instruction
  std::vector<std::vector<std::uint32_t>> writes_; // by instruction
  std::vector<std::vector<std::uint32_t>> uses_;   // by instruction: reads and writes
  std::vector<bool> kept_; // by register: of the lowering, and used by more than one instruction
};

} // namespace heddle::jit
