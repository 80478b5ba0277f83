// Lowers cp.async.bulk.tensor, cp.reduce.async.bulk.tensor and their prefetch in tile mode (PTX ISA
// 9.0, 5.5 and 9.7.9.27): a box of a tensor in global memory, described by a TensorMap, from or to
// dense shared memory, the first dimension fastest, swizzled as the map says.
//
// Elements outside of the tensor are read as zero (or NaN) and not written. The copy is carried out
// when it is issued, as in lower_async.cpp. Modes other than .tile, interleaved layouts, packed
// types and pairs of blocks (.cta_group) are unsupported.
#include "isa/lower_tensor.h"

#include "isa/lower_async.h"
#include "isa/lower_atomic.h"
#include "isa/lower_mbarrier.h"
#include "isa/lower_memory_address.h"
#include "isa/lower_tensor_map.h"
#include "isa/ops_memory.h"
#include "isa/swizzle.h"

#include <fmt/format.h>

#include <cstring>

namespace heddle::isa {
namespace {

using ptx::Mod;

// op.a: place in shared memory, op.b: tensor map (generic), op.c: mask of blocks or none, op.d:
// object that is told or none; op.count coordinates from op.list; op.imm: the operation of a
// reduction.

struct Box {
  TensorMap map;
  std::int32_t at[TensorMap::max_rank] = {}; // coordinates of the first element
  std::uint32_t count[TensorMap::max_rank] = {1, 1, 1, 1, 1};
  std::uint32_t element_bytes = 0;

  std::uint32_t elements() const { return count[0] * count[1] * count[2] * count[3] * count[4]; }
};

/// Where byte `offset` of a box that begins at shared address `to` is kept.
std::uint64_t place_in_box(const Box& box, std::uint64_t to, std::uint32_t offset) {
  static_assert(TensorMap::None == 0 && TensorMap::Bytes128 == 3);
  return swizzled(16U << box.map.swizzle, to + offset);
}

/// Reads what lane's operands say. False: the exec has stopped.
bool read_box(Exec& exec, const Op& op, int lane, Box& box) {
  const std::uint64_t address = exec.in<std::uint64_t>(op.b)[lane];
  if (!read_map(exec, lane, address, box.map)) {
    access_fault(exec, op);
    return false;
  }
  if (box.map.magic != TensorMap::known) {
    bad_map(exec, lane, address, "was not made by cuTensorMapEncodeTiled");
    return false;
  }
  if (box.map.rank != op.count) {
    bad_map(exec, lane, address, "has another number of dimensions than the copy");
    return false;
  }
  if (!box.map.aligned()) {
    bad_map(exec, lane, address, "has an address or a stride that is not a multiple of 16");
    return false;
  }
  if (!box.map.complete()) {
    bad_map(exec, lane, address, "has fields that tensormap.replace has not set");
    return false;
  }
  box.element_bytes = TensorMap::element_bytes(box.map.type);
  for (std::size_t i = 0; i < op.count; ++i) {
    box.at[i] = exec.in<std::int32_t>(exec.code().refs[op.list + i])[lane];
    box.count[i] = box.map.count(i);
  }
  if (const std::uint64_t place = exec.in<std::uint64_t>(op.a)[lane]; place % 128 != 0) {
    Fault fault;
    fault.kind = FaultKind::Misaligned;
    fault.lane = lane;
    fault.address = place;
    fault.text = fmt::format("a box of a tensor at {:#x}, which is not a multiple of 128", place);
    exec.stop_fault(std::move(fault));
    return false;
  }
  // Not in the manual; an H200 calls it an illegal instruction.
  if (std::int64_t{box.at[0]} * box.element_bytes % 16 != 0) {
    bad_map(
        exec,
        lane,
        address,
        "is used with a first coordinate that is not a multiple of 16 bytes"
    );
    return false;
  }
  return true;
}

/// Calls f(offset in the box, global address, inside the tensor) for each element; stops when it
/// answers false.
template <class F> bool each_element(const Box& box, F f) {
  const TensorMap& map = box.map;
  std::uint32_t index[TensorMap::max_rank] = {};
  const std::uint32_t total = box.elements();
  for (std::uint32_t n = 0; n < total; ++n) {
    std::uint64_t address = map.address;
    bool inside = true;
    for (std::size_t i = 0; i < map.rank; ++i) {
      const std::int64_t c = std::int64_t{box.at[i]} + std::int64_t{index[i]} * map.step[i];
      inside = inside && c >= 0 && c <= map.last[i];
      address += static_cast<std::uint64_t>(c) * (i == 0 ? box.element_bytes : map.stride[i - 1]);
    }
    if (!f(n * box.element_bytes, address, inside)) {
      return false;
    }
    for (std::size_t i = 0; i < map.rank && ++index[i] == box.count[i]; ++i) {
      index[i] = 0;
    }
  }
  return true;
}

/// The NaN that stands for elements outside, as an H200 writes it, in units of 16 bits; 0: the type
/// has none.
std::uint64_t outside(const TensorMap& map) {
  constexpr std::uint8_t first_float =
      6; // CU_TENSOR_MAP_DATA_TYPE_FLOAT16; what follows are floats
  return map.fill_with_nan != 0 && map.type >= first_float ? 0x7ff7'7ff7'7ff7'7ff7ULL : 0;
}

bool load_box(Exec& exec, int lane, const Box& box, std::uint64_t to) {
  const std::uint64_t filling = outside(box.map);
  const std::uint32_t bytes = box.element_bytes;
  return each_element(box, [&](std::uint32_t offset, std::uint64_t from, bool inside) {
    std::byte* d =
        exec.translate_shared(lane, place_in_box(box, to, offset), bytes, /*store=*/true);
    const std::byte* s = reinterpret_cast<const std::byte*>(&filling);
    if (d != nullptr && inside) {
      s = host_at(exec, Space::Generic, lane, from, bytes, /*store=*/false);
    }
    if (d == nullptr || s == nullptr) {
      return false;
    }
    std::memcpy(d, s, bytes);
    return true;
  });
}

const Op* run_load(Exec& exec, const Op& op) {
  const auto* to = exec.in<std::uint64_t>(op.a);
  const auto* object = exec.in<std::uint64_t>(op.d);
  for (LaneMask m = exec.mask(); m != 0; m &= m - 1) {
    const int lane = std::countr_zero(m);
    Box box;
    if (!read_box(exec, op, lane, box)) {
      return nullptr;
    }
    const std::uint32_t bytes = box.elements() * box.element_bytes;
    std::uint64_t signal = object[lane];
    if (signal - memory::shared_window < memory::window_size) {
      signal -= memory::shared_window;
    }
    if (op.c.none()) {
      if (!load_box(exec, lane, box, to[lane]) || !complete_tx(exec, lane, signal, bytes)) {
        return access_fault(exec, op);
      }
      continue;
    }
    // .multicast::cluster: at the same places in each block that the mask names.
    for (std::uint32_t blocks = exec.in<std::uint16_t>(op.c)[lane]; blocks != 0;
         blocks &= blocks - 1) {
      const std::uint64_t block = (static_cast<std::uint64_t>(std::countr_zero(blocks)) + 1)
                                  << memory::shared_rank_shift;
      if (!load_box(exec, lane, box, block | (to[lane] & in_block_mask)) ||
          !complete_tx(exec, lane, block | (signal & in_block_mask), bytes)) {
        return access_fault(exec, op);
      }
    }
  }
  return &op + 1;
}

const Op* run_store(Exec& exec, const Op& op) {
  const auto* from = exec.in<std::uint64_t>(op.a);
  for (LaneMask m = exec.mask(); m != 0; m &= m - 1) {
    const int lane = std::countr_zero(m);
    Box box;
    if (!read_box(exec, op, lane, box)) {
      return nullptr;
    }
    const std::uint32_t bytes = box.element_bytes;
    const bool done = each_element(box, [&](std::uint32_t offset, std::uint64_t to, bool inside) {
      const std::byte* s = exec.translate_shared(
          lane,
          place_in_box(box, from[lane], offset),
          bytes,
          /*store=*/false
      );
      std::byte* d = s == nullptr || !inside
                         ? nullptr
                         : host_at(exec, Space::Generic, lane, to, bytes, /*store=*/true);
      if (d != nullptr) {
        std::memcpy(d, s, bytes);
      }
      return s != nullptr && (d != nullptr || !inside);
    });
    if (!done) {
      return access_fault(exec, op);
    }
  }
  return &op + 1;
}

/// A reduction with elements of type T, of the executing lanes whose maps have the type of the
/// first.
template <class T, auto F> const Op* run_tile_reduce(Exec& exec, const Op& op) {
  const auto* from = exec.in<std::uint64_t>(op.a);
  for (LaneMask m = exec.mask(); m != 0; m &= m - 1) {
    const int lane = std::countr_zero(m);
    Box box;
    if (!read_box(exec, op, lane, box)) {
      return nullptr;
    }
    if (box.element_bytes != sizeof(T)) {
      return exec.stop_unsupported("a reduction on tensors of different types by one warp");
    }
    const bool done = each_element(box, [&](std::uint32_t offset, std::uint64_t to, bool inside) {
      const std::byte* s = exec.translate_shared(
          lane,
          place_in_box(box, from[lane], offset),
          sizeof(T),
          /*store=*/false
      );
      std::byte* d = s == nullptr || !inside
                         ? nullptr
                         : host_at(exec, Space::Generic, lane, to, sizeof(T), /*store=*/true);
      if (d != nullptr) {
        ops::update_atomically<T, F>(d, ops::weak_load<T>(s));
      }
      return s != nullptr && (d != nullptr || !inside);
    });
    if (!done) {
      return access_fault(exec, op);
    }
  }
  return &op + 1;
}

struct MakeTileReduce {
  template <class T, auto F, auto InShared> static Handler handler(Space) {
    return run_tile_reduce<T, F>;
  }
};

const Op* run_reduce(Exec& exec, const Op& op) {
  constexpr Mod types[] = {
      Mod::U8,
      Mod::U16,
      Mod::U32,
      Mod::S32,
      Mod::U64,
      Mod::S64,
      Mod::F16,
      Mod::F32,
      Mod::F64,
      Mod::Bf16,
      Mod::F32
  };
  Box box;
  if (!read_box(exec, op, std::countr_zero(exec.mask()), box)) {
    return nullptr;
  }
  const Handler reduce = box.map.type < std::size(types) ? select_update<MakeTileReduce>(
                                                               Space::Generic,
                                                               static_cast<Mod>(op.imm),
                                                               types[box.map.type]
                                                           )
                                                         : nullptr;
  return reduce != nullptr ? reduce(exec, op)
                           : exec.stop_unsupported("this reduction on a tensor of this type");
}

} // namespace

std::uint32_t tensor_box_bytes(Exec& exec, const Op& op, int lane) {
  TensorMap map;
  if (!read_map(exec, lane, exec.in<std::uint64_t>(op.b)[lane], map) ||
      map.magic != TensorMap::known || map.rank != op.count || !map.complete()) {
    return 0;
  }
  std::uint32_t bytes = TensorMap::element_bytes(map.type);
  for (std::size_t i = 0; i < op.count; ++i) {
    bytes *= map.count(i);
  }
  return bytes;
}

Result<void> lower_tensor_copy(Lowering& l, const ptx::Instruction& i) {
  for (const Mod mod : i.modifiers) {
    if (ptx::category(mod) == ptx::Category::Traversal && mod != Mod::Tile) {
      return unsupported(fmt::format("a copy of a tensor in mode .{}", ptx::text(mod)));
    }
  }
  if (i.has(Mod::CtaGroup1) || i.has(Mod::CtaGroup2)) {
    return unsupported("a copy of a tensor for a pair of blocks");
  }
  if (i.has(Mod::Prefetch)) {
    return {};
  }
  const bool load = i.has(Mod::MbarrierCompleteTxBytes);
  const ptx::Operand& tensor = i.operands.at(load ? 1 : 0);
  if (tensor.elements.size() != 2) {
    return unsupported("a copy of a tensor without coordinates");
  }
  Op op = l.op(i);
  ptx::Operand map = tensor;
  map.elements.resize(1);
  TRY(const Place map_place, lower_place(l, i, map, std::nullopt));
  op.b = map_place.address;
  // Which of the spaces is the shared one: the first for loads, the second for stores.
  TRY(const Place shared,
      lower_place(l, i, i.operands.at(load ? 0 : 1), nth_space(i, load ? 0 : 1)));
  op.a = shared.address;
  if (shared.space != Space::Shared || map_place.space != Space::Generic) {
    return unsupported("a copy of a tensor between these spaces");
  }
  if (load) {
    TRY(const Place object, lower_place(l, i, i.operands.at(2), nth_space(i, 0)));
    op.d = object.address;
    if (i.has(Mod::MulticastCluster)) {
      op.c = l.source(i.operands.at(3), Mod::U16);
    }
  }
  std::vector<Ref> coordinates;
  for (const ptx::Operand* element : elements_of(tensor.elements[1])) {
    coordinates.push_back(l.source(*element, Mod::S32));
  }
  op.flags |= Visible;
  op.list = l.list(coordinates);
  op.count = static_cast<std::uint16_t>(coordinates.size());
  if (i.has(Mod::Reduce)) {
    const std::optional<Mod> operation = i.one_of(ptx::Category::Operation);
    if (!operation) {
      return unsupported("a reduction on a tensor without an operation");
    }
    op.imm = static_cast<std::int64_t>(*operation);
  }
  op.execute = load ? run_load : i.has(Mod::Reduce) ? run_reduce : run_store;
  l.emit(op);
  return {};
}

} // namespace heddle::isa
