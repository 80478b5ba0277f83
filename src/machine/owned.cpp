// Implements owned.h.
#include "machine/owned.h"

#include "base/hash.h"
#include "ptx/strength.h"

namespace heddle::machine {

using ptx::Mod;
using ptx::Opcode;

unsigned bucket_of(const ptx::Function& function, std::uint32_t instruction) {
  Hasher name;
  name.text(function.name);
  name.value(instruction);
  return static_cast<unsigned>(name.finish().low >> 58);
}

std::uint32_t access_kind(const ptx::Instruction& i) {
  const auto operation = i.one_of(ptx::Category::Operation);
  const auto type = i.type();
  const bool commutes = operation == Mod::Add || operation == Mod::Min || operation == Mod::Max ||
                        operation == Mod::And || operation == Mod::Or || operation == Mod::Xor;
  if (i.opcode == Opcode::Ld) {
    return AccessKind::Read;
  }
  if (!commutes || !type || i.opcode == Opcode::St) {
    return AccessKind::Other;
  }
  return static_cast<std::uint32_t>(*operation) << 16 | static_cast<std::uint32_t>(*type);
}

bool may_be_owned(const ptx::Function& f, std::uint32_t instruction, const Learned& learned) {
  const ptx::Instruction& i = f.body[instruction];
  bool always = true; // else only if that has turned out to be needed
  switch (i.opcode) {
  case Opcode::Ld:
    always = false;
    [[fallthrough]];
  case Opcode::St:
    if (!ptx::is_strong(i)) {
      return false;
    }
    break;
  case Opcode::Red:
    always = access_kind(i) == AccessKind::Other;
    break;
  case Opcode::Atom:
    always = access_kind(i) == AccessKind::Other || i.operands[0].kind != ptx::OperandKind::Sink;
    break;
  case Opcode::Cp:
    if (!i.has(Mod::Reduce)) {
      return false;
    }
    break;
  default:
    return false;
  }
  const unsigned bucket = bucket_of(f, instruction);
  return (learned.contended >> bucket & 1) == 0 && (always || (learned.owned >> bucket & 1) != 0);
}

} // namespace heddle::machine
