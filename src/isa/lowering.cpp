// Implements lowering.h: register layout, operands, constants, labels; the families fill the table.
#include "isa/lowering.h"

#include "analysis/liveness.h"
#include "base/check.h"
#include "isa/exec.h"

#include <algorithm>
#include <cstring>

namespace heddle::isa {
namespace {

const Op* run_unsupported(Exec& exec, const Op& op) {
  return exec.stop_unsupported(exec.code().messages[static_cast<std::size_t>(op.imm)]);
}

const Op* run_off_the_end(Exec& exec, const Op& op) {
  return exec.return_lanes(op);
}

/// Special registers whose value is fixed for a thread: kept in the warp's Special area.
std::optional<std::uint32_t> special_slot(std::string_view name) {
  static const std::unordered_map<std::string_view, std::uint32_t> slots = {
      {"%tid.x", SpecialLayout::TidX},
      {"%tid.y", SpecialLayout::TidY},
      {"%tid.z", SpecialLayout::TidZ},
      {"%ntid.x", SpecialLayout::NtidX},
      {"%ntid.y", SpecialLayout::NtidY},
      {"%ntid.z", SpecialLayout::NtidZ},
      {"%ctaid.x", SpecialLayout::CtaidX},
      {"%ctaid.y", SpecialLayout::CtaidY},
      {"%ctaid.z", SpecialLayout::CtaidZ},
      {"%nctaid.x", SpecialLayout::NctaidX},
      {"%nctaid.y", SpecialLayout::NctaidY},
      {"%nctaid.z", SpecialLayout::NctaidZ},
      {"%laneid", SpecialLayout::LaneId},
      {"%warpid", SpecialLayout::WarpId},
      {"%nwarpid", SpecialLayout::NwarpId},
      {"%smid", SpecialLayout::SmId},
      {"%nsmid", SpecialLayout::NsmId},
      {"%lanemask_eq", SpecialLayout::LanemaskEq},
      {"%lanemask_le", SpecialLayout::LanemaskLe},
      {"%lanemask_lt", SpecialLayout::LanemaskLt},
      {"%lanemask_ge", SpecialLayout::LanemaskGe},
      {"%lanemask_gt", SpecialLayout::LanemaskGt},
      {"%clusterid.x", SpecialLayout::ClusterIdX},
      {"%clusterid.y", SpecialLayout::ClusterIdY},
      {"%clusterid.z", SpecialLayout::ClusterIdZ},
      {"%nclusterid.x", SpecialLayout::NclusterIdX},
      {"%nclusterid.y", SpecialLayout::NclusterIdY},
      {"%nclusterid.z", SpecialLayout::NclusterIdZ},
      {"%cluster_ctaid.x", SpecialLayout::ClusterCtaidX},
      {"%cluster_ctaid.y", SpecialLayout::ClusterCtaidY},
      {"%cluster_ctaid.z", SpecialLayout::ClusterCtaidZ},
      {"%cluster_nctaid.x", SpecialLayout::ClusterNctaidX},
      {"%cluster_nctaid.y", SpecialLayout::ClusterNctaidY},
      {"%cluster_nctaid.z", SpecialLayout::ClusterNctaidZ},
      {"%cluster_ctarank", SpecialLayout::ClusterCtarank},
      {"%cluster_nctarank", SpecialLayout::ClusterNctarank},
      {"%is_explicit_cluster", SpecialLayout::IsExplicitCluster},
      {"%dynamic_smem_size", SpecialLayout::DynamicSmemSize},
      {"%total_smem_size", SpecialLayout::TotalSmemSize},
      {"%aggr_smem_size", SpecialLayout::AggrSmemSize},
      {"%envreg0", SpecialLayout::Envreg0},
      {"%envreg1", SpecialLayout::Envreg1},
      {"%envreg2", SpecialLayout::Envreg2},
      {"%reserved_smem_offset_0", SpecialLayout::ReservedSmemOffset0},
      {"%reserved_smem_offset_1", SpecialLayout::ReservedSmemOffset1},
  };
  const auto it = slots.find(name);
  return it != slots.end() ? std::optional(it->second) : std::nullopt;
}

/// The value of an immediate at `bytes` width of `type`.
std::uint64_t immediate_bits(const ptx::Operand& operand, ptx::Type type) {
  if (operand.kind == ptx::OperandKind::Integer) {
    if (type == ptx::Mod::F32) { // an integer literal where a float is wanted is its value
      const auto value = static_cast<float>(static_cast<std::int64_t>(operand.bits));
      return std::bit_cast<std::uint32_t>(value);
    }
    if (type == ptx::Mod::F64) {
      return std::bit_cast<std::uint64_t>(
          static_cast<double>(static_cast<std::int64_t>(operand.bits))
      );
    }
    return operand.bits;
  }
  const int bits = ptx::type_bits(type);
  if (operand.float_bits == 32 && bits == 64) {
    const float value = std::bit_cast<float>(static_cast<std::uint32_t>(operand.bits));
    return std::bit_cast<std::uint64_t>(static_cast<double>(value));
  }
  if (operand.float_bits == 64 && bits == 32) {
    const auto value = static_cast<float>(std::bit_cast<double>(operand.bits));
    return std::bit_cast<std::uint32_t>(value);
  }
  return operand.bits;
}

} // namespace

const LowerTable& lower_table() {
  static const LowerTable table = [] {
    LowerTable t;
    register_integer(t);
    register_float(t);
    register_convert(t);
    register_control(t);
    register_memory(t);
    register_texture(t);
    register_atomic(t);
    register_sync(t);
    return t;
  }();
  return table;
}

Lowering::Lowering(Code& code, SymbolResolver& resolver) : code_(code), resolver_(resolver) {
  for (const ptx::Register& r : code.function->registers) {
    registers_.push_back(Ref::at(Area::Frame, allocate_register(register_bytes(r.type))));
  }
  label_ops_.assign(code.function->labels.size(), 0);
}

std::uint32_t Lowering::allocate_register(std::uint32_t element_bytes) {
  return std::exchange(frame_bytes_, frame_bytes_ + std::max(64U, element_bytes * warp_size));
}

Result<void> Lowering::run() {
  const ptx::Function& f = function();
  // Labels in order of the instruction they stand before.
  std::vector<std::uint32_t> order(f.labels.size());
  for (std::uint32_t i = 0; i < order.size(); ++i) {
    order[i] = i;
  }
  std::ranges::sort(order, {}, [&](std::uint32_t label) {
    return std::pair(f.labels[label].instruction, label);
  });
  std::size_t next_label = 0;
  std::vector<std::uint32_t> joins;
  for (std::uint32_t index = 0; index <= f.body.size(); ++index) {
    for (; next_label < order.size() && f.labels[order[next_label]].instruction <= index;
         ++next_label) {
      label_ops_[order[next_label]] = next();
      joins.push_back(next());
    }
    if (index == f.body.size()) {
      break;
    }
    const ptx::Instruction& instruction = f.body[index];
    const std::uint32_t first = next();
    const auto entry = lower_table().find(instruction.opcode);
    Result<void> done =
        entry != lower_table().end()
            ? entry->second(*this, instruction)
            : unsupported(fmt::format("instruction '{}'", ptx::text(instruction.opcode)));
    if (!done) {
      if (done.error().kind != ErrorKind::Unsupported) {
        return done;
      }
      code_.ops.resize(first);
      Op gap = op(instruction);
      gap.execute = run_unsupported;
      gap.imm = static_cast<std::int64_t>(code_.messages.size());
      code_.messages.push_back(done.error().message);
      emit(gap);
    }
    for (std::uint32_t i = first; i < next(); ++i) {
      code_.ops[i].instruction = index;
    }
  }
  Op end;
  end.execute = run_off_the_end;
  end.flags = Visible;
  end.instruction = static_cast<std::uint32_t>(f.body.empty() ? 0 : f.body.size() - 1);
  emit(end);
  for (const std::uint32_t join : joins) {
    code_.ops[join].flags |= Join;
  }
  for (const auto& [index, label] : fixups_) {
    code_.ops[index].target = label_ops_[label];
  }
  for (const auto& [index, label] : reference_fixups_) {
    code_.refs[index].raw = label_ops_[label];
  }
  code_.frame_bytes = frame_bytes_;
  code_.registers = registers_;
  clear_at_entry();
  return {};
}

/// A program that reads a register before it writes it sees the same value in every run.
void Lowering::clear_at_entry() {
  if (function().body.empty()) {
    return;
  }
  const analysis::Cfg cfg(function());
  const analysis::Liveness live(function(), cfg);
  for (std::size_t i = 0; i < registers_.size(); ++i) {
    if (live.at_entry(0).test(i)) {
      const std::uint32_t bytes = register_bytes(function().registers[i].type);
      const bool predicate = function().registers[i].type == ptx::Mod::Pred;
      code_.cleared.emplace_back(registers_[i].offset(), predicate ? bytes : bytes * warp_size);
    }
  }
}

Op Lowering::op(const ptx::Instruction& i) const {
  Op op;
  if (i.guard) {
    op.flags |= Guarded;
    op.guard = registers_[i.guard->register_index];
    op.guard_negated = i.guard->negated;
  }
  return op;
}

std::uint32_t Lowering::emit(const Op& op) {
  HEDDLE_CHECK(op.execute != nullptr, "an op without a handler");
  code_.ops.push_back(op);
  return next() - 1;
}

void Lowering::branch_to(std::uint32_t index, std::uint32_t label) {
  fixups_.emplace_back(index, label);
}

void Lowering::reference_to(std::uint32_t index, std::uint32_t label) {
  reference_fixups_.emplace_back(index, label);
}

Ref Lowering::source(const ptx::Operand& operand, ptx::Type type) {
  switch (operand.kind) {
  case ptx::OperandKind::Register:
    return registers_[operand.index];
  case ptx::OperandKind::Special:
    if (const auto slot = special_slot(operand.name)) {
      return Ref::at(Area::Special, SpecialLayout::offset(*slot));
    }
    if (operand.name == "WARP_SZ") {
      return constant_of(std::uint32_t{warp_size});
    }
    return {};
  case ptx::OperandKind::Integer:
  case ptx::OperandKind::Float: {
    if (type == ptx::Mod::Pred) {
      return constant_of(operand.bits != 0 ? all_lanes : LaneMask{0});
    }
    const std::uint32_t bytes = register_bytes(type);
    std::uint64_t value[2] = {immediate_bits(operand, type), 0};
    if (bytes == 16 && operand.kind == ptx::OperandKind::Integer &&
        static_cast<std::int64_t>(value[0]) < 0) {
      value[1] = ~0ULL;
    }
    return constant(value, bytes);
  }
  default:
    return {};
  }
}

Ref Lowering::destination(const ptx::Operand& operand) {
  return operand.kind == ptx::OperandKind::Register ? registers_[operand.index] : Ref{};
}

std::uint32_t register_bytes(ptx::Type type) {
  if (type == ptx::Mod::Pred) {
    return sizeof(LaneMask);
  }
  return static_cast<std::uint32_t>(std::max(2, ptx::type_bits(type) / 8));
}

std::uint32_t
element_bytes(const ptx::Function& function, const ptx::Operand& operand, ptx::Type type) {
  if (operand.kind == ptx::OperandKind::Register) {
    return register_bytes(function.registers[operand.index].type);
  }
  return operand.kind == ptx::OperandKind::Special ? 4 : register_bytes(type);
}

std::uint32_t Lowering::element_bytes(const ptx::Operand& operand, ptx::Type type) const {
  return isa::element_bytes(function(), operand, type);
}

Ref Lowering::constant(const void* element, std::uint32_t bytes) {
  return Ref::at(
      Area::Constant,
      place_constant(std::string(static_cast<const char*>(element), bytes), element, bytes).first
  );
}

Ref Lowering::address_constant(std::uint64_t address, std::uint32_t bytes) {
  // Whether it equals another constant must not depend on where variables lie.
  std::string key = "address in this process: "; // longer than any element
  key.append(reinterpret_cast<const char*>(&address), bytes);
  const auto [offset, fresh] = place_constant(std::move(key), &address, bytes);
  if (fresh) {
    code_.addresses.emplace_back(offset, bytes);
  }
  return Ref::at(Area::Constant, offset);
}

std::pair<std::uint32_t, bool>
Lowering::place_constant(std::string key, const void* element, std::uint32_t bytes) {
  const auto [it, fresh] =
      constants_.try_emplace(std::move(key), static_cast<std::uint32_t>(code_.constants.size()));
  if (fresh) {
    const std::size_t base = code_.constants.size();
    code_.constants.resize(base + std::size_t{bytes} * warp_size);
    for (std::size_t lane = 0; lane < warp_size; ++lane) {
      std::memcpy(code_.constants.data() + base + lane * bytes, element, bytes);
    }
  }
  return {it->second, fresh};
}

Ref Lowering::scratch(std::uint32_t element_bytes) {
  const Ref ref = Ref::at(Area::Frame, allocate_register(element_bytes));
  code_.scratch.emplace_back(ref.offset(), element_bytes);
  return ref;
}

Ref Lowering::scratch_predicate() {
  const Ref ref = Ref::at(Area::Frame, allocate_register(sizeof(LaneMask)));
  code_.scratch.emplace_back(ref.offset(), 0);
  return ref;
}

Ref Lowering::carry() {
  if (carry_.none()) {
    carry_ = scratch_predicate();
  }
  return carry_;
}

std::uint32_t Lowering::list(const std::vector<Ref>& refs) {
  const auto first = static_cast<std::uint32_t>(code_.refs.size());
  code_.refs.insert(code_.refs.end(), refs.begin(), refs.end());
  return first;
}

Result<SymbolResolver::Symbol> Lowering::symbol(std::string_view name) {
  return resolver_.resolve(*code_.module, *code_.function, name);
}

Result<Lowering::AddressParts> Lowering::address(const ptx::Operand& operand) {
  AddressParts parts;
  parts.offset = operand.offset;
  const ptx::Operand& base =
      operand.kind == ptx::OperandKind::Address ? operand.elements.at(0) : operand;
  switch (base.kind) {
  case ptx::OperandKind::Register:
    parts.base = registers_[base.index];
    parts.base_bytes = element_bytes(base, ptx::Mod::U64);
    return parts;
  case ptx::OperandKind::Integer:
    parts.offset += static_cast<std::int64_t>(base.bits);
    return parts;
  case ptx::OperandKind::Symbol: {
    TRY(parts.symbol, symbol(base.name));
    if (&base != &operand) {
      parts.offset += base.offset;
    }
    parts.offset += static_cast<std::int64_t>(parts.symbol->address);
    return parts;
  }
  default:
    return unsupported("an address of this kind");
  }
}

} // namespace heddle::isa
