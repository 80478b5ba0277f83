// Implements word_around.h.
#include "isa/word_around.h"

#include "ptx/effect.h"

#include <algorithm>
#include <optional>
#include <string_view>

namespace heddle::isa {
namespace {

/// Does the instruction stem from what libcu++ makes of operations on words, itself or where it was
/// inlined?
bool stems_from(const ptx::Module& module, std::uint32_t location) {
  constexpr std::string_view file = "/cuda/std/__atomic/functions/cuda_ptx_derived.h";
  for (std::optional<std::uint32_t> at = location; at && *at < module.source_locations.size();
       at = module.source_locations[*at].inlined_at) {
    const auto path = module.files.find(module.source_locations[*at].file);
    if (path != module.files.end() && path->second.find(file) != std::string::npos) {
      return true;
    }
  }
  return false;
}

/// Is the register nothing but another one, made a multiple of `bytes`?
bool is_word_address(const ptx::Function& function, std::uint32_t index, std::int64_t bytes) {
  bool some = false;
  for (const ptx::Instruction& i : function.body) {
    const bool writes = !i.operands.empty() && i.operands[0].kind == ptx::OperandKind::Register &&
                        i.operands[0].index == index && !ptx::effect_of(i).writes();
    if (!writes) {
      continue;
    }
    const bool clears = i.opcode == ptx::Opcode::And && i.operands.size() == 3 &&
                        i.operands[2].kind == ptx::OperandKind::Integer &&
                        static_cast<std::int64_t>(i.operands[2].bits) == -bytes;
    if (!clears) {
      return false;
    }
    some = true;
  }
  return some;
}

} // namespace

bool reads_word_around(const Frame& frame, const Op& op) {
  const Code& code = *frame.code;
  if (op.instruction >= code.function->body.size()) {
    return false;
  }
  const ptx::Instruction& i = code.function->body[op.instruction];
  const ptx::Effect& effect = ptx::effect_of(i);
  if (!effect.is_access() || effect.is(ptx::Effect::Kind::Store) || !effect.is_strong()) {
    return false; // a store replaces all that it reaches
  }
  if (i.location < code.module->source_locations.size()) {
    const Op* at = &op;
    for (const Frame* f = &frame; f != nullptr; at = f->return_op - 1, f = f->caller) {
      const std::uint32_t instruction = at->instruction;
      if (instruction < f->code->function->body.size() &&
          stems_from(*f->code->module, f->code->function->body[instruction].location)) {
        return true;
      }
      if (f->return_op == nullptr) {
        break;
      }
    }
    return false;
  }
  return has_word_address(code, op);
}

bool has_word_address(const Code& code, const Op& op) {
  const ptx::Instruction& i = code.function->body[op.instruction];
  const auto type = i.type();
  const auto address =
      std::ranges::find(i.operands, ptx::OperandKind::Address, &ptx::Operand::kind);
  return type && address != i.operands.end() && !address->elements.empty() &&
         address->offset == 0 && address->elements[0].kind == ptx::OperandKind::Register &&
         is_word_address(*code.function, address->elements[0].index, ptx::type_bits(*type) / 8);
}

} // namespace heddle::isa
