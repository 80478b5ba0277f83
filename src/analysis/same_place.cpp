// Implements same_place.h.
#include "analysis/same_place.h"

namespace heddle::analysis {

const ptx::Operand* address_of(const ptx::Instruction& i) {
  for (const ptx::Operand& operand : i.operands) {
    if (operand.kind == ptx::OperandKind::Address && operand.elements.size() == 1) {
      return &operand;
    }
  }
  return nullptr;
}

bool same_place(const ptx::Instruction& x, const ptx::Instruction& y) {
  const ptx::Operand* a = address_of(x);
  const ptx::Operand* b = address_of(y);
  if (a == nullptr || b == nullptr || a->offset != b->offset ||
      x.one_of(ptx::Category::Space) != y.one_of(ptx::Category::Space)) {
    return false;
  }
  const ptx::Operand& p = a->elements[0];
  const ptx::Operand& q = b->elements[0];
  return p.kind == q.kind && p.index == q.index && p.offset == q.offset && p.name == q.name &&
         (p.kind == ptx::OperandKind::Register || p.kind == ptx::OperandKind::Symbol);
}

} // namespace heddle::analysis
