// Implements same_place.h.
#include "ptx/same_place.h"

namespace heddle::ptx {

const Operand* address_of(const Instruction& i) {
  for (const Operand& operand : i.operands) {
    if (operand.kind == OperandKind::Address && operand.elements.size() == 1) {
      return &operand;
    }
  }
  return nullptr;
}

bool same_place(const Instruction& x, const Instruction& y) {
  const Operand* a = address_of(x);
  const Operand* b = address_of(y);
  if (a == nullptr || b == nullptr || a->offset != b->offset ||
      x.one_of(Category::Space) != y.one_of(Category::Space)) {
    return false;
  }
  const Operand& p = a->elements[0];
  const Operand& q = b->elements[0];
  return p.kind == q.kind && p.index == q.index && p.offset == q.offset && p.name == q.name &&
         (p.kind == OperandKind::Register || p.kind == OperandKind::Symbol);
}

} // namespace heddle::ptx
