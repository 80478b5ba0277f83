// Implements code_hash.h.
#include "jit/code_hash.h"

#include "isa/region.h"

#include <algorithm>

namespace heddle::jit {
namespace {

void add(Hasher& h, isa::Ref ref) {
  h.value(ref.raw);
}

void add(Hasher& h, const ptx::Operand& operand) {
  h.value(operand.kind);
  h.value(operand.negated);
  h.value(operand.part);
  h.value(static_cast<std::uint64_t>(operand.elements.size()));
  if (operand.kind == ptx::OperandKind::Special) {
    h.text(operand.name);
  }
  for (const ptx::Operand& element : operand.elements) {
    add(h, element);
  }
}

} // namespace

bool is_call(const isa::Code& code, const isa::Op& op) {
  return op.instruction < code.function->body.size() &&
         code.function->body[op.instruction].opcode == ptx::Opcode::Call;
}

bool has_absolute_address(const isa::Code& code, const isa::Op& op) {
  if (op.instruction >= code.function->body.size() || !op.a.none()) {
    return false;
  }
  const auto& operands = code.function->body[op.instruction].operands;
  const auto names_variable = [](const ptx::Operand& o) {
    return o.kind == ptx::OperandKind::Symbol ||
           (o.kind == ptx::OperandKind::Address && o.elements[0].kind == ptx::OperandKind::Symbol);
  };
  return std::ranges::any_of(operands, names_variable);
}

Hash128 hash_code(const isa::Code& code) {
  Hasher h;
  const ptx::Function& function = *code.function;
  h.text(code.module->target);
  h.value(code.module->version_major);
  h.value(code.module->version_minor);
  h.value(function.entry);
  for (const ptx::Register& r : function.registers) {
    h.value(r.type);
  }
  h.value(code.frame_bytes);
  h.value(code.local_bytes);
  h.value(static_cast<std::uint64_t>(code.ops.size()));
  for (const isa::Op& op : code.ops) {
    for (const isa::Ref ref : {op.d, op.a, op.b, op.c, op.e, op.guard}) {
      add(h, ref);
    }
    const bool branches = op.instruction < function.body.size() &&
                          function.body[op.instruction].opcode == ptx::Opcode::Bra;
    h.value(branches ? op.target : 0); // a monitor keeps numbers there
    h.value(op.list);
    h.value(op.count);
    h.value(
        static_cast<std::uint8_t>(__atomic_load_n(&op.flags, __ATOMIC_RELAXED) & ~isa::Compiled)
    );
    h.value(op.guard_negated);
    h.value(op.instruction);
    if (!is_call(code, op) && !has_absolute_address(code, op)) {
      h.value(op.imm);
      h.value(op.imm2);
    }
    if (op.instruction < function.body.size()) {
      const ptx::Instruction& i = function.body[op.instruction];
      h.value(i.opcode);
      h.value(static_cast<std::uint64_t>(i.modifiers.size()));
      for (const ptx::Mod mod : i.modifiers) {
        h.value(mod);
      }
      h.value(static_cast<std::uint64_t>(i.operands.size()));
      for (const ptx::Operand& operand : i.operands) {
        add(h, operand);
      }
    }
  }
  for (const isa::Ref ref : code.refs) {
    add(h, ref);
  }
  std::vector<std::byte> constants(code.constants.begin(), code.constants.end());
  for (const auto& [offset, bytes] : code.addresses) {
    h.value(offset);
    h.value(bytes);
    std::fill_n(constants.begin() + offset, std::size_t{bytes} * isa::warp_size, std::byte{0});
  }
  h.value(static_cast<std::uint64_t>(constants.size()));
  h.bytes(constants.data(), constants.size());
  return h.finish();
}

int processor_level() {
  const bool wide = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                    __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
                    __builtin_cpu_supports("avx512vl");
  return wide ? 4 : 3;
}

Hash128 build_hash() {
  Hasher h;
  h.text(HEDDLE_BUILD);
  h.value(static_cast<std::uint64_t>(sizeof(isa::RegionContext)));
  h.value(processor_level());
  return h.finish();
}

} // namespace heddle::jit
