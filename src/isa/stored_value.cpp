// Implements stored_value.h.
#include "isa/stored_value.h"

#include "isa/lower_memory_address.h"
#include "isa/lowering.h"
#include "isa/matrix_memory.h"
#include "ptx/effect.h"

#include <array>
#include <cstring>

namespace heddle::isa {
namespace {

/// Of the registers (or constants, where there is none) that a store takes its elements from.
std::uint32_t width_of(const ptx::Function& function, const ptx::Operand& value, ptx::Type type) {
  for (const ptx::Operand* element : elements_of(value)) {
    if (has_width(*element)) {
      return element_bytes(function, *element, type);
    }
  }
  return register_bytes(type);
}

} // namespace

std::optional<memory::AccessValue> stored_value(const Exec& exec, const Op& op, std::size_t lane) {
  const ptx::Function& function = *exec.code().function;
  const ptx::Instruction& i = function.body[op.instruction];
  const auto type = i.type();
  if (!type || !ptx::effect_of(i).is(ptx::Effect::Kind::Store)) {
    return std::nullopt;
  }
  const std::size_t element = static_cast<std::size_t>(ptx::type_bits(*type)) / 8;
  const std::span<const Ref> from = stored_elements(exec.code(), op);
  const std::uint32_t width = width_of(function, i.operands.at(1), *type);
  std::array<std::byte, memory::AccessValue::most_bytes> bytes{};
  if (width < element || element * from.size() > bytes.size()) {
    return std::nullopt;
  }
  for (std::size_t n = 0; n < from.size(); ++n) {
    std::memcpy(&bytes[n * element], exec.in<std::byte>(from[n]) + lane * width, element);
  }
  return memory::AccessValue::at(bytes.data(), element * from.size());
}

std::optional<memory::AccessValue> stored_bytes(const Exec& exec, const Op& op, std::size_t lane) {
  const ptx::Instruction& i = exec.code().function->body[op.instruction];
  return i.opcode == ptx::Opcode::Stmatrix ? stored_row(exec, op, lane)
                                           : stored_value(exec, op, lane);
}

} // namespace heddle::isa
