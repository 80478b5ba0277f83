// Implements stored_value.h.
#include "isa/stored_value.h"

#include "isa/lower_memory_address.h"
#include "isa/lowering.h"
#include "ptx/effect.h"

#include <algorithm>
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
  const std::size_t count = std::max<std::size_t>(1, op.count);
  const std::uint32_t width = width_of(function, i.operands.at(1), *type);
  std::array<std::byte, memory::AccessValue::most_bytes> bytes{};
  if (width < element || element * count > bytes.size()) {
    return std::nullopt;
  }
  for (std::size_t n = 0; n < count; ++n) {
    const Ref from = op.count == 0 ? op.b : exec.code().refs[op.list + n];
    std::memcpy(&bytes[n * element], exec.in<std::byte>(from) + lane * width, element);
  }
  return memory::AccessValue::at(bytes.data(), element * count);
}

} // namespace heddle::isa
