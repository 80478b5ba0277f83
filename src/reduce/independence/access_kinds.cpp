// Implements access_kinds.h.
#include "reduce/independence/access_kinds.h"

#include "analysis/forgotten_result.h"
#include "ptx/effect.h"

namespace heddle::reduce {

using ptx::Opcode;

std::uint32_t AccessKinds::sum_kind(const isa::Code& code, const isa::Op& op) {
  const auto [known, is_new] = sum_kinds_.try_emplace(&op, 0);
  if (!is_new) {
    return known->second;
  }
  const ptx::Instruction& i = code.function->body[op.instruction];
  const std::uint32_t kind = access_kind(i, mutant_ == Mutant::SumsOfFloats);
  if (kind <= AccessKind::Read || by_warps_) {
    return 0;
  }
  if (i.opcode == Opcode::Atom && live_.is_result_used(code, op)) {
    return 0; // somebody will know who came first
  }
  return known->second = kind;
}

unsigned AccessKinds::bucket(const isa::Code& code, const isa::Op& op) {
  const auto [known, is_new] = buckets_.try_emplace(&op, 0);
  if (is_new) {
    known->second = bucket_of(*code.function, op.instruction);
  }
  return known->second;
}

bool AccessKinds::forgets_result(const isa::Code& code, const isa::Op& op) {
  const auto [known, is_new] = forgets_result_.try_emplace(&op, false);
  if (is_new) {
    const ptx::Function& f = *code.function;
    known->second = analysis::forgets_result(f, analysis::Cfg(f), op.instruction);
  }
  return known->second;
}

} // namespace heddle::reduce
