// Implements owned.h.
#include "reduce/independence/owned.h"

#include "base/hash.h"
#include "memory/usual_address.h"
#include "ptx/effect.h"

#include <algorithm>

namespace heddle::reduce {

using Kind = ptx::Effect::Kind;
using ptx::Mod;
using ptx::Opcode;
using ptx::OperandKind;

unsigned bucket_of(const ptx::Function& function, std::uint32_t instruction) {
  Hasher name;
  name.text(function.name);
  name.value(instruction);
  return static_cast<unsigned>(name.finish().low >> 58);
}

namespace {
constexpr std::uint64_t place_bytes = 4;
}

std::uint64_t places_of(memory::Address address) {
  constexpr std::uint64_t members = 64; // words that follow each other are different ones
  if (!memory::AddressSpace::in_device_range(address)) {
    return ~std::uint64_t{0};
  }
  address = memory::usual_address(address); // a repetition takes what was learned
  Hasher name;
  name.value(address / (place_bytes * members));
  return std::uint64_t{1} << (address / place_bytes + name.finish().low) % members;
}

std::uint64_t places_of(memory::Address address, std::uint32_t bytes) {
  std::uint64_t places = 0;
  for (memory::Address at = address / place_bytes * place_bytes; at < address + bytes;
       at += place_bytes) {
    places |= places_of(at);
  }
  return places;
}

unsigned store_bucket_of(const ptx::Function& function, std::uint32_t instruction) {
  Hasher name;
  name.text(function.name);
  const auto before = std::ranges::count_if(
      function.body.begin(),
      function.body.begin() + instruction,
      [](const ptx::Instruction& i) { return ptx::effect_of(i).is(Kind::Store); }
  );
  return static_cast<unsigned>((name.finish().low + static_cast<std::uint64_t>(before)) % 64);
}

std::uint32_t access_kind(const ptx::Instruction& i, bool floats_commute) {
  const auto operation = i.one_of(ptx::Category::Operation);
  const auto type = i.type();
  const bool commutes = operation == Mod::Add || operation == Mod::Min || operation == Mod::Max ||
                        operation == Mod::And || operation == Mod::Or || operation == Mod::Xor;
  const ptx::Effect& effect = ptx::effect_of(i);
  if (effect.is(Kind::Load)) {
    return AccessKind::Read;
  }
  const bool rounds = operation == Mod::Add && type && ptx::is_float(*type) && !floats_commute;
  if (!commutes || rounds || !type || effect.is(Kind::Store)) {
    return AccessKind::Other;
  }
  return static_cast<std::uint32_t>(*operation) << 16 | static_cast<std::uint32_t>(*type);
}

bool may_be_owned(const ptx::Function& f, std::uint32_t instruction, const Learned& learned) {
  const ptx::Instruction& i = f.body[instruction];
  const ptx::Effect& effect = ptx::effect_of(i);
  if (!effect.is_strong() || !(effect.is_access() || effect.is(Kind::Copy))) {
    return false;
  }
  const bool gives_result = i.opcode == Opcode::Atom && i.operands[0].kind != OperandKind::Sink;
  const bool always = access_kind(i) == AccessKind::Other || gives_result;
  const unsigned bucket = bucket_of(f, instruction);
  return (learned.contended >> bucket & 1) == 0 && (always || (learned.owned >> bucket & 1) != 0);
}

} // namespace heddle::reduce
