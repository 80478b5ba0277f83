// Lowers tensormap.replace and tensormap.cp_fenceproxy (PTX ISA 9.0, 9.7.9.28 and 9.7.13.17): a
// kernel changes a field of a TensorMap, or a warp copies one from shared to global memory.
//
// What a field cannot hold stops at once; that addresses and strides are multiples of 16 is found
// when the map is used. Interleaved layouts, swizzles in larger units than 16 bytes and packed
// types are unsupported. Order and proxies are those of one memory, as for fences (misses what a
// forgotten fence.proxy.tensormap leads to).
#include "isa/lower_tensor_map.h"

#include "isa/lower_async.h"
#include "isa/lower_collective_matrix.h"
#include "isa/lower_memory_address.h"

#include <fmt/format.h>

#include <cstring>

namespace heddle::isa {
namespace {

using ptx::Mod;

/// The bytes of a map, which is aligned to half of its size.
struct MapBytes {
  static constexpr std::uint32_t unit = sizeof(TensorMap) / 2;
  std::byte* half[2] = {};

  /// False: fault() has been filled in.
  bool find(Exec& exec, Space space, int lane, std::uint64_t address, bool store) {
    for (std::uint32_t k = 0; k < 2; ++k) {
      half[k] = space == Space::Shared
                    ? exec.translate_shared(lane, address + k * unit, unit, store)
                    : exec.translate(lane, address + k * unit, unit, store);
      if (half[k] == nullptr) {
        return false;
      }
    }
    return true;
  }
  void read(TensorMap& map) const {
    std::memcpy(static_cast<void*>(&map), half[0], unit);
    std::memcpy(reinterpret_cast<std::byte*>(&map) + unit, half[1], unit);
  }
  void write(const TensorMap& map) const {
    std::memcpy(half[0], &map, unit);
    std::memcpy(half[1], reinterpret_cast<const std::byte*>(&map) + unit, unit);
  }
};

/// Kernels begin with 128 bytes of zeros: a map with no field set yet. A field that must not be
/// zero is reported when the map is used.
bool is_blank(const TensorMap& map) {
  constexpr std::byte zeros[sizeof(TensorMap)] = {};
  return std::memcmp(&map, zeros, sizeof zeros) == 0;
}

/// Numbers of .elemtype as those of CUtensorMapDataType.
constexpr std::uint8_t types[] = {0, 1, 2, 3, 4, 5, 6, 7, 10, 8, 9, 11, 12};

/// False: `value` does not fit.
bool replace(TensorMap& map, Mod field, std::size_t ordinal, std::uint64_t value) {
  switch (field) {
  case Mod::GlobalAddress:
    map.address = value;
    return true;
  case Mod::Rank: // counts from zero
    map.rank = static_cast<std::uint8_t>(value + 1);
    return value < TensorMap::max_rank;
  case Mod::BoxDim:
    map.box[ordinal] = static_cast<std::uint16_t>(value);
    return value >= 1 && value <= 256;
  case Mod::GlobalDim:
    map.last[ordinal] = static_cast<std::uint32_t>(value - 1);
    return true;
  case Mod::GlobalStride:
    map.stride[ordinal] = value;
    return value < 1ULL << 40;
  case Mod::ElementStride:
    // Without interleaving the first dimension has no steps.
    map.step[ordinal] = ordinal == 0 ? 1 : static_cast<std::uint8_t>(value);
    return value >= 1 && value <= 8;
  case Mod::Elemtype:
    map.type = types[value];
    return true;
  case Mod::SwizzleMode:
    map.swizzle = static_cast<std::uint8_t>(value);
    return true;
  case Mod::FillMode:
    map.fill_with_nan = static_cast<std::uint8_t>(value);
    return true;
  default: // what else there is, is always zero
    return true;
  }
}

/// op.a: the map, op.b: the value, op.imm: the field, op.count: which of several.
template <Space S, class T> const Op* run_replace(Exec& exec, const Op& op) {
  const auto* address = exec.in<std::uint64_t>(op.a);
  const auto* value = exec.in<T>(op.b);
  for (LaneMask m = exec.mask(); m != 0; m &= m - 1) {
    const int lane = std::countr_zero(m);
    MapBytes bytes;
    if (!bytes.find(exec, S, lane, address[lane], /*store=*/true)) {
      return access_fault(exec, op);
    }
    TensorMap map;
    bytes.read(map);
    if (is_blank(map)) {
      map.magic = TensorMap::known;
    }
    if (map.magic != TensorMap::known) {
      return bad_map(
          exec,
          lane,
          address[lane],
          "is neither from cuTensorMapEncodeTiled nor 128 bytes of zeros"
      );
    }
    if (!replace(map, static_cast<Mod>(op.imm), op.count, value[lane])) {
      return bad_map(exec, lane, address[lane], "is given a value that its field cannot hold");
    }
    bytes.write(map);
  }
  return &op + 1;
}

template <Space S> Handler select_replace(bool wide) {
  return wide ? run_replace<S, std::uint64_t> : run_replace<S, std::uint32_t>;
}

/// op.a: to (global), op.b: from (shared).
struct CopyMap {
  static void contribute(Exec&, const Op&, Exchange&) {}
  static void conclude(Exec& exec, const Op& op, const Exchange&) {
    const auto* to = exec.in<std::uint64_t>(op.a);
    const auto* from = exec.in<std::uint64_t>(op.b);
    exec.each([&](int lane) {
      MapBytes source;
      MapBytes target;
      if (source.find(exec, Space::Shared, lane, from[lane], /*store=*/false) &&
          target.find(exec, Space::Generic, lane, to[lane], /*store=*/true)) {
        std::memcpy(target.half[0], source.half[0], MapBytes::unit);
        std::memcpy(target.half[1], source.half[1], MapBytes::unit);
      }
    });
  }
};

const Op* run_copy(Exec& exec, const Op& op) {
  const auto* to = exec.in<std::uint64_t>(op.a);
  const auto* from = exec.in<std::uint64_t>(op.b);
  for (LaneMask m = exec.mask(); m != 0; m &= m - 1) {
    const int lane = std::countr_zero(m);
    MapBytes bytes;
    if (!bytes.find(exec, Space::Shared, lane, from[lane], /*store=*/false) ||
        !bytes.find(exec, Space::Generic, lane, to[lane], /*store=*/true)) {
      return access_fault(exec, op);
    }
  }
  return collect_matrix<CopyMap>(exec, op);
}

Result<void> lower_copy(Lowering& l, const ptx::Instruction& i) {
  TRY(const Place to, lower_place(l, i, i.operands.at(0), Mod::Global));
  TRY(const Place from, lower_place(l, i, i.operands.at(1), Mod::SharedCta));
  if (to.space != Space::Generic || from.space != Space::Shared) {
    return unsupported("a copy of a tensor map between these spaces");
  }
  Op op = l.op(i);
  op.flags |= Visible;
  op.a = to.address;
  op.b = from.address;
  op.execute = run_copy;
  l.emit(op);
  return {};
}

/// Is what `field` is to become beyond what a TensorMap describes?
bool beyond(Mod field, std::uint64_t value) {
  switch (field) {
  case Mod::Elemtype:
    return value >= std::size(types);
  case Mod::InterleaveLayout:
  case Mod::SwizzleAtomicity:
    return value != 0;
  case Mod::SwizzleMode:
    return value > TensorMap::Bytes128;
  case Mod::FillMode:
    return value > 1;
  default:
    return false;
  }
}

Result<void> lower_replace(Lowering& l, const ptx::Instruction& i) {
  const std::optional<Mod> field = i.one_of(ptx::Category::Field);
  if (!field) {
    return unsupported("tensormap.replace without a field");
  }
  const bool one_of_several = *field == Mod::BoxDim || *field == Mod::GlobalDim ||
                              *field == Mod::GlobalStride || *field == Mod::ElementStride;
  const ptx::Operand& value = i.operands.at(one_of_several ? 2 : 1);
  const std::uint64_t ordinal = one_of_several ? i.operands.at(1).bits : 0;
  if (ordinal >= TensorMap::max_rank - (*field == Mod::GlobalStride ? 1 : 0)) {
    return unsupported("tensormap.replace of a dimension that no tensor has");
  }
  const bool number = value.kind == ptx::OperandKind::Integer;
  const bool has_code = *field == Mod::Elemtype || *field == Mod::InterleaveLayout ||
                        *field == Mod::SwizzleMode || *field == Mod::SwizzleAtomicity ||
                        *field == Mod::FillMode;
  if (has_code && (!number || beyond(*field, value.bits))) {
    return unsupported(fmt::format("tensormap.replace.{} by this", ptx::text(*field)));
  }
  TRY(const Place map, lower_place(l, i, i.operands.at(0), space_of(i)));
  Op op = l.op(i);
  op.flags |= Visible;
  op.a = map.address;
  const bool wide = i.has(Mod::B64);
  op.b = l.source(value, wide ? Mod::B64 : Mod::B32);
  op.imm = static_cast<std::int64_t>(*field);
  op.count = static_cast<std::uint16_t>(ordinal);
  op.execute = map.space == Space::Shared ? select_replace<Space::Shared>(wide)
                                          : select_replace<Space::Generic>(wide);
  l.emit(op);
  return {};
}

Result<void> lower_tensor_map(Lowering& l, const ptx::Instruction& i) {
  return i.has(Mod::Replace) ? lower_replace(l, i) : lower_copy(l, i);
}

} // namespace

const Op* bad_map(Exec& exec, int lane, std::uint64_t address, const char* what) {
  Fault fault;
  fault.kind = FaultKind::IllegalInstruction;
  fault.lane = lane;
  fault.address = address;
  fault.text = fmt::format("the tensor map at {:#x} {}", address, what);
  return exec.stop_fault(std::move(fault));
}

bool read_map(Exec& exec, int lane, std::uint64_t address, TensorMap& map) {
  MapBytes bytes;
  if (!bytes.find(exec, Space::Generic, lane, address, /*store=*/false)) {
    return false;
  }
  bytes.read(map);
  return true;
}

void register_tensor_map(LowerTable& table) {
  table[ptx::Opcode::Tensormap] = lower_tensor_map;
}

} // namespace heddle::isa
