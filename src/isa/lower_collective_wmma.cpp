// Lowers wmma.load, wmma.store and wmma.mma (PTX ISA 9.0, 9.7.14.4).
//
// Each lane loads and stores the elements that are its own, at the address that PTX wants to be the
// same in all lanes. A fragment's layout is unspecified in PTX: programs that rely on the layout of
// one architecture see another one here.
#include "isa/lower_collective_mma.h"
#include "isa/lower_memory_address.h"
#include "isa/ops_memory.h"

#include <algorithm>

namespace heddle::isa {
namespace {

using ptx::Mod;

// op.b: stride in elements (u32); op.count registers from op.list; op.imm2 above the address flags:
// rows (8-15), columns (16-31), element bits (32-39), column-major (40), elements per lane (48-63).
struct FragmentAccess {
  int rows = 0;
  int columns = 0;
  int bits = 0;
  bool by_columns = false;
  int count = 0;

  static FragmentAccess of(const Op& op) {
    return {
        static_cast<int>(op.imm2 >> 8 & 0xff),
        static_cast<int>(op.imm2 >> 16 & 0xffff),
        static_cast<int>(op.imm2 >> 32 & 0xff),
        (op.imm2 >> 40 & 1) != 0,
        static_cast<int>(op.imm2 >> 48)
    };
  }
  void store(Op& op) const {
    op.imm2 |= static_cast<std::uint64_t>(rows) << 8 | static_cast<std::uint64_t>(columns) << 16 |
               static_cast<std::uint64_t>(bits) << 32 | std::uint64_t{by_columns} << 40 |
               static_cast<std::uint64_t>(count) << 48;
  }
  /// Bits from the start of the matrix to element `index` of `lane`.
  std::uint64_t offset(int lane, int index, std::uint64_t stride) const {
    // Powers of two.
    const int number = (lane * count + index) & (rows * columns - 1);
    const auto row =
        static_cast<std::uint64_t>(number >> std::countr_zero(static_cast<unsigned>(columns)));
    const auto column = static_cast<std::uint64_t>(number & (columns - 1));
    return (by_columns ? column * stride + row : row * stride + column) *
           static_cast<std::uint64_t>(bits);
  }
};

/// Host pointer to the start of the matrix for one lane, if all of its elements, the first of which
/// has been translated already, lie in memory that is at hand; else nullptr.
template <Space S>
std::byte* matrix_at_hand(
    Exec& exec,
    const FragmentAccess& f,
    int lane,
    std::uint64_t address,
    std::uint64_t stride,
    bool store
) {
  const auto leading = static_cast<std::uint64_t>(f.by_columns ? f.rows : f.columns);
  if (f.bits < 8 || stride < leading || f.count > f.rows * f.columns) {
    return nullptr;
  }
  // The last element is at the highest address, since a line ends before the next one begins.
  const auto bytes = static_cast<std::uint64_t>(f.bits / 8);
  const std::uint64_t first = address + f.offset(lane, 0, stride) / 8;
  const std::uint64_t last = address + f.offset(lane, f.count - 1, stride) / 8;
  const memory::Range range = range_at_hand<S>(exec);
  std::byte* const at = host_in(range, first, last + bytes - first, bytes, store);
  return at == nullptr ? nullptr : at - (first - address);
}

/// The bits of an element that does not fill a byte, in its byte.
struct Part {
  unsigned shift = 0;
  unsigned mask = 0;
};
Part part_of(std::uint64_t bit_offset, int bits) {
  return {static_cast<unsigned>(bit_offset % 8), (1U << bits) - 1};
}

/// Host pointer to the start of the matrix, if all lanes take part, want the same one and all of it
/// is at hand, and a lane's elements lie in one line; else nullptr.
template <Space S>
std::byte* whole_matrix_at_hand(
    Exec& exec,
    const FragmentAccess& f,
    const std::uint64_t* address,
    const std::uint32_t* stride,
    bool store
) {
  if (exec.mask() != all_lanes || f.bits < 8 || f.columns % f.count != 0 ||
      stride[0] < static_cast<std::uint64_t>(f.by_columns ? f.rows : f.columns)) {
    return nullptr;
  }
  std::uint64_t differs = 0;
  for (int lane = 0; lane < warp_size; ++lane) {
    differs |= (address[lane] ^ address[0]) | (stride[lane] ^ stride[0]);
  }
  if (differs != 0) {
    return nullptr;
  }
  const auto lines = static_cast<std::uint64_t>(f.by_columns ? f.columns : f.rows);
  const auto length = static_cast<std::uint64_t>(f.by_columns ? f.rows : f.columns);
  const auto bytes = static_cast<std::uint64_t>(f.bits / 8);
  return host_in(
      range_at_hand<S>(exec),
      address[0],
      ((lines - 1) * stride[0] + length) * bytes,
      bytes,
      store
  );
}

/// Copies between a matrix and the registers of all lanes: copy(element, place in a register,
/// bytes).
template <class Copy>
void copy_matrix(
    Exec& exec,
    const Op& op,
    const FragmentAccess& f,
    std::byte* matrix,
    std::uint64_t stride,
    Copy copy
) {
  const Ref* refs = exec.code().refs.data() + op.list;
  const auto each = [&]<class Element, class Register>() {
    constexpr int per_register = sizeof(Register) / sizeof(Element);
    const std::uint64_t step = (f.by_columns ? stride : 1) * sizeof(Element);
    std::uint64_t first[warp_size]; // a lane's elements lie in one line
    for (int lane = 0; lane < warp_size; ++lane) {
      first[lane] = f.offset(lane, 0, stride) / 8;
    }
    for (int r = 0; r < op.count; ++r, matrix += per_register * step) {
      Register* registers = exec.out<Register>(refs[r]);
      for (int lane = 0; lane < warp_size; ++lane) {
        std::byte* p = matrix + first[lane];
        if (per_register == 1 || !f.by_columns) {
          copy(p, registers + lane, sizeof(Register));
          continue;
        }
        for (int e = 0; e < per_register; ++e, p += step) {
          auto* const place = reinterpret_cast<std::byte*>(registers + lane) + e * sizeof(Element);
          copy(p, place, sizeof(Element));
        }
      }
    }
  };
  switch (f.bits) {
  case 8:
    return each.template operator()<std::uint8_t, std::uint32_t>();
  case 16:
    return each.template operator()<std::uint16_t, std::uint32_t>();
  case 32:
    return each.template operator()<std::uint32_t, std::uint32_t>();
  default:
    return each.template operator()<std::uint64_t, std::uint64_t>();
  }
}

template <Space S> const Op* run_load(Exec& exec, const Op& op) {
  const auto f = FragmentAccess::of(op);
  std::uint64_t address[warp_size];
  addresses<S>(exec, op, address);
  const auto* stride = exec.in<std::uint32_t>(op.b);
  if (std::byte* whole = whole_matrix_at_hand<S>(exec, f, address, stride, /*store=*/false)) {
    copy_matrix(exec, op, f, whole, stride[0], [](const std::byte* p, void* to, std::size_t bytes) {
      std::memcpy(to, p, bytes);
    });
    return &op + 1;
  }
  const Ref* refs = exec.code().refs.data() + op.list;
  const auto bytes = static_cast<std::uint32_t>(std::max(1, f.bits / 8));
  for (LaneMask m = exec.mask(); m != 0; m &= m - 1) {
    const int lane = std::countr_zero(m);
    const std::uint64_t first = address[lane] + f.offset(lane, 0, stride[lane]) / 8;
    if (host<S>(exec, op, lane, first, bytes, /*store=*/false) == nullptr) {
      return access_fault(exec, op);
    }
    const std::byte* matrix =
        matrix_at_hand<S>(exec, f, lane, address[lane], stride[lane], /*store=*/false);
    std::uint64_t word = 0; // of the register being filled
    int filled = 0;
    int r = 0;
    for (int e = 0; e < f.count; ++e) {
      const std::uint64_t offset = f.offset(lane, e, stride[lane]);
      const std::byte* p =
          matrix != nullptr
              ? matrix + offset / 8
              : host<S>(exec, op, lane, address[lane] + offset / 8, bytes, /*store=*/false);
      if (p == nullptr) {
        return access_fault(exec, op);
      }
      std::uint64_t value = 0;
      std::memcpy(&value, p, bytes);
      if (f.bits < 8) {
        const Part part = part_of(offset, f.bits);
        value = value >> part.shift & part.mask;
      }
      word |= value << filled;
      filled += f.bits;
      if (f.bits == 64) {
        exec.out<std::uint64_t>(refs[r++])[lane] = word;
      } else if (filled == 32) {
        exec.out<std::uint32_t>(refs[r++])[lane] = static_cast<std::uint32_t>(word);
      } else {
        continue;
      }
      word = 0;
      filled = 0;
    }
  }
  return &op + 1;
}

template <Space S> const Op* run_store(Exec& exec, const Op& op) {
  const auto f = FragmentAccess::of(op);
  std::uint64_t address[warp_size];
  addresses<S>(exec, op, address);
  const auto* stride = exec.in<std::uint32_t>(op.b);
  if (std::byte* whole = whole_matrix_at_hand<S>(exec, f, address, stride, /*store=*/true)) {
    copy_matrix(
        exec,
        op,
        f,
        whole,
        stride[0],
        [](std::byte* p, const void* from, std::size_t bytes) { std::memcpy(p, from, bytes); }
    );
    return &op + 1;
  }
  const Ref* refs = exec.code().refs.data() + op.list;
  const auto bytes = static_cast<std::uint32_t>(f.bits / 8);
  for (LaneMask m = exec.mask(); m != 0; m &= m - 1) {
    const int lane = std::countr_zero(m);
    const std::uint64_t first = address[lane] + f.offset(lane, 0, stride[lane]) / 8;
    if (host<S>(exec, op, lane, first, bytes, /*store=*/true) == nullptr) {
      return access_fault(exec, op);
    }
    std::byte* matrix =
        matrix_at_hand<S>(exec, f, lane, address[lane], stride[lane], /*store=*/true);
    for (int e = 0; e < f.count; ++e) {
      const std::uint64_t offset = f.offset(lane, e, stride[lane]);
      std::byte* p =
          matrix != nullptr
              ? matrix + offset / 8
              : host<S>(exec, op, lane, address[lane] + offset / 8, bytes, /*store=*/true);
      if (p == nullptr) {
        return access_fault(exec, op);
      }
      if (f.bits == 16) {
        const std::uint32_t word = exec.in<std::uint32_t>(refs[e / 2])[lane];
        const auto half = static_cast<std::uint16_t>(e % 2 == 0 ? word : word >> 16);
        std::memcpy(p, &half, sizeof half);
      } else if (f.bits == 32) {
        std::memcpy(p, exec.in<std::uint32_t>(refs[e]) + lane, sizeof(std::uint32_t));
      } else {
        std::memcpy(p, exec.in<std::uint64_t>(refs[e]) + lane, sizeof(std::uint64_t));
      }
    }
  }
  return &op + 1;
}

/// wmma.load.{a,b,c} r, [p]{, stride}; wmma.store.d [p], r{, stride}.
Result<void> lower_fragment(Lowering& l, const ptx::Instruction& i, bool store) {
  auto shape = matrix_shape(i);
  if (!shape || !i.type()) {
    return unsupported("this form of wmma");
  }
  const auto type = matrix_type(*i.type());
  if (!type) {
    return unsupported("wmma on these types");
  }
  const Fragment fragment = i.has(Mod::A) ? Fragment::A : i.has(Mod::B) ? Fragment::B : Fragment::C;
  Op op = l.op(i);
  TRY(const Space space, lower_access(l, i.operands.at(store ? 0 : 1), space_of(i), op));
  const ptx::Operand& registers = i.operands.at(store ? 1 : 0);
  const bool wide = *type == MatrixType::F64;
  std::vector<Ref> refs;
  for (const ptx::Operand& element : registers.elements) {
    refs.push_back(store ? l.source(element, wide ? Mod::B64 : Mod::B32) : l.destination(element));
    if (refs.back().none()) {
      return unsupported("a matrix without a register");
    }
  }
  // B is held by columns: as its transposed matrix by rows.
  const bool transposed = fragment == Fragment::B;
  FragmentAccess f;
  f.rows = transposed ? shape->columns(fragment) : shape->rows(fragment);
  f.columns = transposed ? shape->rows(fragment) : shape->columns(fragment);
  f.bits = matrix_bits(*type);
  f.by_columns = i.has(Mod::Col) != transposed;
  f.count = static_cast<int>(refs.size()) * (f.bits < 32 ? 32 / f.bits : 1);
  if (f.count * warp_size % (f.rows * f.columns) != 0 || (store && f.bits < 16)) {
    return unsupported("this form of wmma");
  }
  f.store(op);
  const int leading = f.by_columns ? f.rows : f.columns;
  op.b = i.operands.size() > 2 ? l.source(i.operands[2], Mod::U32)
                               : l.constant_of(static_cast<std::uint32_t>(leading));
  op.count = static_cast<std::uint16_t>(refs.size());
  op.list = l.list(refs);
  if (space == Space::Shared) {
    op.execute = store ? run_store<Space::Shared> : run_load<Space::Shared>;
  } else if (space == Space::Generic) {
    op.execute = store ? run_store<Space::Generic> : run_load<Space::Generic>;
  } else {
    return unsupported("wmma on local or param memory");
  }
  l.emit(op);
  return {};
}

/// With f16 factors .dtype.ctype only are written, else .dtype.atype.btype.ctype.
Result<void> lower_multiply(Lowering& l, const ptx::Instruction& i) {
  auto shape = matrix_shape(i);
  const auto first = i.type(0);
  const auto second = i.type(1);
  if (!shape || !second) {
    return unsupported("this form of wmma");
  }
  shape->wmma = true;
  shape->saturate = i.has(Mod::Satfinite);
  const bool short_form = !i.type(2);
  const auto d = matrix_type(*first);
  const auto a = short_form ? MatrixType::F16 : matrix_type(*second);
  const auto b = short_form ? MatrixType::F16 : matrix_type(*i.type(2));
  const auto c = short_form  ? matrix_type(*second)
                 : i.type(3) ? matrix_type(*i.type(3))
                             : std::nullopt;
  if (!a || !b || !c || !d) {
    return unsupported("wmma on these types");
  }
  return emit_multiply(l, i, *shape, {*a, *b, *c, *d}, i.has(Mod::And));
}

Result<void> lower_wmma(Lowering& l, const ptx::Instruction& i) {
  if (i.has(Mod::Load)) {
    return lower_fragment(l, i, /*store=*/false);
  }
  return i.has(Mod::Store) ? lower_fragment(l, i, /*store=*/true) : lower_multiply(l, i);
}

} // namespace

void register_wmma(LowerTable& table) {
  table[ptx::Opcode::Wmma] = lower_wmma;
}

} // namespace heddle::isa
