// Implements lower_memory_address.h and the faults of ops_address.h (PTX ISA 9.0, 5.1 and 6.4.1).
#include "isa/lower_memory_address.h"

#include <fmt/format.h>

namespace heddle::isa {

using ptx::Mod;

std::optional<Mod> space_of(const ptx::Instruction& i) {
  return i.one_of(ptx::Category::Space);
}

bool has_width(const ptx::Operand& operand) {
  return operand.kind == ptx::OperandKind::Register || operand.kind == ptx::OperandKind::Special;
}

std::vector<const ptx::Operand*> elements_of(const ptx::Operand& operand) {
  std::vector<const ptx::Operand*> result;
  if (operand.kind == ptx::OperandKind::Vector) {
    for (const ptx::Operand& element : operand.elements) {
      result.push_back(&element);
    }
  } else {
    result.push_back(&operand);
  }
  return result;
}

namespace {

using Kind = SymbolResolver::Symbol::Kind;

/// The spaces in which a variable of kind `kind` may be accessed as `space`.
bool fits(Kind kind, Mod space) {
  switch (kind) {
  case Kind::Global:
    return space == Mod::Global || space == Mod::Const;
  case Kind::Shared:
    return space == Mod::Shared || space == Mod::SharedCta || space == Mod::SharedCluster;
  case Kind::Local:
    return space == Mod::Local;
  case Kind::Param:
    return space == Mod::Param || space == Mod::ParamEntry;
  case Kind::FunctionParam:
    return space == Mod::Param || space == Mod::ParamFunc || space == Mod::Local;
  case Kind::Function:
    return false;
  }
  return false;
}

} // namespace

Result<Space>
lower_access(Lowering& l, const ptx::Operand& operand, std::optional<Mod> space, Op& op) {
  TRY(Lowering::AddressParts parts, l.address(operand));
  op.a = parts.base;
  op.imm = parts.offset;
  op.imm2 = !parts.base.none() && parts.base_bytes == 4 ? std::uint64_t{Base32} : 0;
  if (parts.symbol) {
    if (space && *space != Mod::Generic && !fits(parts.symbol->kind, *space)) {
      return unsupported(fmt::format("a .{} access to a variable elsewhere", ptx::text(*space)));
    }
    switch (parts.symbol->kind) {
    case Kind::Global:
      op.imm2 |= NoWindow;
      op.flags |= Visible;
      return Space::Generic;
    case Kind::Shared:
      op.flags |= Visible;
      return Space::Shared;
    case Kind::Local:
    case Kind::FunctionParam:
      op.imm2 |= FrameRelative;
      return Space::Local;
    case Kind::Param:
      return Space::Param;
    case Kind::Function:
      return unsupported("a function's address as the address of an access");
    }
  }
  switch (space.value_or(Mod::Generic)) {
  case Mod::Generic:
    op.flags |= Visible;
    return Space::Generic;
  case Mod::Global:
    op.imm2 |= NoWindow;
    op.flags |= Visible;
    return Space::Generic;
  case Mod::Const:
    op.imm2 |= NoWindow;
    return Space::Generic;
  case Mod::Shared:
  case Mod::SharedCta:
  case Mod::SharedCluster:
    op.flags |= Visible;
    return Space::Shared;
  case Mod::Local:
    return Space::Local;
  case Mod::Param:
    // A function's parameters live in the local memory of its frame.
    return l.function().entry ? Space::Param : Space::Local;
  case Mod::ParamEntry:
    return Space::Param;
  case Mod::ParamFunc:
    return Space::Local;
  default:
    return unsupported(fmt::format("an access to .{}", ptx::text(*space)));
  }
}

const Op* access_fault(Exec& exec, const Op& op) {
  const ptx::Instruction& i = exec.code().function->body[op.instruction];
  const std::optional<Mod> space = space_of(i);
  exec.fault().generic = !space;
  exec.fault().space = space.value_or(Mod::Generic);
  return exec.stop_fault();
}

std::byte* wrong_space(Exec& exec, int lane, memory::Address a, std::uint32_t bytes, bool store) {
  Fault& fault = exec.fault();
  fault = Fault{};
  fault.kind = FaultKind::BadSpace;
  fault.lane = lane;
  fault.address = a;
  fault.bytes = bytes;
  fault.store = store;
  return nullptr;
}

} // namespace heddle::isa
