// Lowers wmma.load, wmma.store and wmma.mma (PTX ISA 9.0, 9.7.14.4).
//
// Each lane loads and stores the elements that are its own (matrix_fragment.h), at the address that
// PTX wants to be the same in all lanes.
#include "isa/lower_collective_mma.h"
#include "isa/lower_memory_address.h"
#include "isa/matrix_memory.h"
#include "isa/ops_memory.h"

#include <algorithm>

namespace heddle::isa {
namespace {

using ptx::Mod;

// op.b: stride in elements (u32); op.count registers from op.list; op.imm2 above the address flags:
// lines (8-15), their length (16-31), element bits (32-39), across (40), along_first (41), in_pairs
// (42).
struct FragmentAccess {
  FragmentLayout layout;
  bool across = false; // in memory, elements along a line are a stride away from each other

  static FragmentAccess of(const Op& op) {
    FragmentAccess f;
    f.layout.lines = static_cast<int>(op.imm2 >> 8 & 0xff);
    f.layout.length = static_cast<int>(op.imm2 >> 16 & 0xffff);
    f.layout.bits = static_cast<int>(op.imm2 >> 32 & 0xff);
    f.across = (op.imm2 >> 40 & 1) != 0;
    f.layout.along_first = (op.imm2 >> 41 & 1) != 0;
    f.layout.in_pairs = (op.imm2 >> 42 & 1) != 0;
    return f;
  }
  void store(Op& op) const {
    op.imm2 |= static_cast<std::uint64_t>(layout.lines) << 8 |
               static_cast<std::uint64_t>(layout.length) << 16 |
               static_cast<std::uint64_t>(layout.bits) << 32 | std::uint64_t{across} << 40 |
               std::uint64_t{layout.along_first} << 41 | std::uint64_t{layout.in_pairs} << 42;
  }
  /// Elements that lie next to each other, and how many such rows there are.
  int leading() const { return across ? layout.lines : layout.length; }
  int rows() const { return across ? layout.length : layout.lines; }
  /// Bits from the start of the matrix to element `e` of register `r` of `lane`.
  std::uint64_t offset(int lane, int r, int e, std::uint64_t stride) const {
    const LinePlace p = layout.place(lane, r, e);
    const auto line = static_cast<std::uint64_t>(p.line);
    const auto along = static_cast<std::uint64_t>(p.along);
    return (across ? along * stride + line : line * stride + along) *
           static_cast<std::uint64_t>(layout.bits);
  }
};

/// The bits of an element that does not fill a byte, in its byte.
struct Part {
  unsigned shift = 0;
  unsigned mask = 0;
};
Part part_of(std::uint64_t bit_offset, int bits) {
  return {static_cast<unsigned>(bit_offset % 8), (1U << bits) - 1};
}

/// Host pointer to the start of the matrix, if all lanes take part, want the same one and all of it
/// is at hand; else nullptr.
template <Space S>
std::byte* whole_matrix_at_hand(
    Exec& exec,
    const FragmentAccess& f,
    const std::uint64_t* address,
    const std::uint32_t* stride,
    bool store
) {
  const auto leading = static_cast<std::uint64_t>(f.leading());
  if (exec.mask() != all_lanes || f.layout.bits < 8 || stride[0] < leading) {
    return nullptr;
  }
  std::uint64_t differs = 0;
  for (int lane = 0; lane < warp_size; ++lane) {
    differs |= (address[lane] ^ address[0]) | (stride[lane] ^ stride[0]);
  }
  if (differs != 0) {
    return nullptr;
  }
  const auto rows = static_cast<std::uint64_t>(f.rows());
  const auto bytes = static_cast<std::uint64_t>(f.layout.bits / 8);
  return host_in(
      range_at_hand<S>(exec),
      address[0],
      ((rows - 1) * stride[0] + leading) * bytes,
      bytes,
      store
  );
}

std::size_t sizeof_element(const FragmentAccess& f) {
  return static_cast<std::size_t>(f.layout.bits) / 8;
}

/// Elements of a matrix in memory whose lines lie across: copy(element in memory, element of a
/// register).
template <class Element, class Copy>
void copy_across(
    const FragmentAccess& f,
    std::byte* matrix,
    std::uint64_t stride,
    int r,
    void* registers,
    Copy copy
) {
  constexpr int in_register =
      sizeof(Element) < sizeof(std::uint32_t) ? sizeof(std::uint32_t) / sizeof(Element) : 1;
  const std::uint64_t step = stride * sizeof(Element);
  auto* to = static_cast<Element*>(registers);
  for (int t = 0; t < lanes_per_line; ++t) {
    std::byte* from = matrix + f.offset(t, r, 0, stride) / 8;
    for (int g = 0; g < block_lines; ++g, from += sizeof(Element)) {
      for (int e = 0; e < in_register; ++e) {
        copy(
            from + static_cast<std::uint64_t>(e) * step,
            to + (g * lanes_per_line + t) * in_register + e
        );
      }
    }
  }
}

/// The same for elements of `bits`.
template <class Copy>
void copy_across(
    const FragmentAccess& f,
    std::byte* matrix,
    std::uint64_t stride,
    int r,
    void* registers,
    Copy copy
) {
  switch (f.layout.bits) {
  case 8:
    return copy_across<std::uint8_t>(f, matrix, stride, r, registers, copy);
  case 16:
    return copy_across<std::uint16_t>(f, matrix, stride, r, registers, copy);
  case 32:
    return copy_across<std::uint32_t>(f, matrix, stride, r, registers, copy);
  default:
    return copy_across<std::uint64_t>(f, matrix, stride, r, registers, copy);
  }
}

/// All registers of a fragment from a whole matrix, or it from them. Word: as wide as a register.
template <class Word>
void load_whole(
    Exec& exec,
    const Op& op,
    const FragmentAccess& f,
    std::byte* matrix,
    std::uint64_t stride
) {
  const Ref* refs = exec.refs(op);
  const auto put = [&](int r, const Word* words) { write_register(exec, refs[r], words); };
  if (!f.across) {
    const auto step = static_cast<std::ptrdiff_t>(stride * sizeof_element(f));
    lines_to_registers<Word>(f.layout, op.count, matrix, step, put);
    return;
  }
  for (int r = 0; r < op.count; ++r) {
    Word words[warp_size];
    copy_across(f, matrix, stride, r, words, []<class Element>(const std::byte* p, Element* to) {
      std::memcpy(to, p, sizeof *to);
    });
    put(r, words);
  }
}
template <class Word>
void store_whole(
    Exec& exec,
    const Op& op,
    const FragmentAccess& f,
    std::byte* matrix,
    std::uint64_t stride
) {
  const Ref* refs = exec.refs(op);
  if (!f.across) {
    const auto step = static_cast<std::ptrdiff_t>(stride * sizeof_element(f));
    const auto register_of = [&](int r) { return exec.in<Word>(refs[r]); };
    registers_to_lines<Word>(f.layout, op.count, register_of, matrix, step);
    return;
  }
  for (int r = 0; r < op.count; ++r) {
    Word words[warp_size];
    std::memcpy(words, exec.in<Word>(refs[r]), sizeof words);
    copy_across(f, matrix, stride, r, words, []<class Element>(std::byte* p, const Element* from) {
      std::memcpy(p, from, sizeof *from);
    });
  }
}

template <Space S> const Op* run_load(Exec& exec, const Op& op) {
  const auto f = FragmentAccess::of(op);
  std::uint64_t address[warp_size];
  addresses<S>(exec, op, address);
  const auto* stride = exec.in<std::uint32_t>(op.b);
  if (std::byte* whole = whole_matrix_at_hand<S>(exec, f, address, stride, /*store=*/false)) {
    f.layout.bits == 64 ? load_whole<std::uint64_t>(exec, op, f, whole, stride[0])
                        : load_whole<std::uint32_t>(exec, op, f, whole, stride[0]);
    return &op + 1;
  }
  const Ref* refs = exec.refs(op);
  const int bits = f.layout.bits;
  const auto bytes = static_cast<std::uint32_t>(std::max(1, bits / 8));
  for (LaneMask m = exec.mask(); m != 0; m &= m - 1) {
    const int lane = std::countr_zero(m);
    for (int r = 0; r < op.count; ++r) {
      std::uint64_t word = 0;
      for (int e = 0; e < f.layout.elements(); ++e) {
        const std::uint64_t offset = f.offset(lane, r, e, stride[lane]);
        const std::byte* p =
            host<S>(exec, op, lane, address[lane] + offset / 8, bytes, /*store=*/false);
        if (p == nullptr) {
          return access_fault(exec, op);
        }
        std::uint64_t value = 0;
        std::memcpy(&value, p, bytes);
        if (bits < 8) {
          const Part part = part_of(offset, bits);
          value = value >> part.shift & part.mask;
        }
        word |= value << (e * bits);
      }
      if (bits == 64) {
        exec.out<std::uint64_t>(refs[r])[lane] = word;
      } else {
        exec.out<std::uint32_t>(refs[r])[lane] = static_cast<std::uint32_t>(word);
      }
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
    f.layout.bits == 64 ? store_whole<std::uint64_t>(exec, op, f, whole, stride[0])
                        : store_whole<std::uint32_t>(exec, op, f, whole, stride[0]);
    return &op + 1;
  }
  const Ref* refs = exec.refs(op);
  const std::size_t bytes = sizeof_element(f);
  for (LaneMask m = exec.mask(); m != 0; m &= m - 1) {
    const int lane = std::countr_zero(m);
    for (int r = 0; r < op.count; ++r) {
      std::byte word[sizeof(std::uint64_t)] = {};
      if (f.layout.bits == 64) {
        std::memcpy(word, exec.in<std::uint64_t>(refs[r]) + lane, sizeof(std::uint64_t));
      } else {
        std::memcpy(word, exec.in<std::uint32_t>(refs[r]) + lane, sizeof(std::uint32_t));
      }
      for (int e = 0; e < f.layout.elements(); ++e) {
        const std::uint64_t at = address[lane] + f.offset(lane, r, e, stride[lane]) / 8;
        std::byte* p =
            host<S>(exec, op, lane, at, static_cast<std::uint32_t>(bytes), /*store=*/true);
        if (p == nullptr) {
          return access_fault(exec, op);
        }
        std::memcpy(p, word + static_cast<std::size_t>(e) * bytes, bytes);
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
  shape->wmma = true;
  FragmentAccess f;
  f.layout = shape->layout(fragment, *type, shape->k);
  const bool of_columns = fragment == Fragment::B || (fragment == Fragment::C && shape->turned());
  f.across = i.has(Mod::Col) != of_columns;
  const int once = f.layout.registers();
  if (once == 0 || static_cast<int>(refs.size()) % once != 0 || (store && f.layout.bits < 16)) {
    return unsupported("this form of wmma");
  }
  f.store(op);
  op.b = i.operands.size() > 2 ? l.source(i.operands[2], Mod::U32)
                               : l.constant_of(static_cast<std::uint32_t>(f.leading()));
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

std::vector<MatrixPiece>
matrix_pieces(const Exec& exec, const Op& op, std::size_t lane, std::uint64_t address) {
  const ptx::Instruction& i = exec.code().function->body[op.instruction];
  if (i.opcode != ptx::Opcode::Wmma) {
    constexpr std::uint32_t row = 16;          // bytes of a row of an 8x8 matrix
    constexpr std::size_t lanes_of_matrix = 8; // that give the addresses of its rows
    return lane < lanes_of_matrix * op.count ? std::vector<MatrixPiece>{{address, row}}
                                             : std::vector<MatrixPiece>();
  }
  const auto f = FragmentAccess::of(op);
  const std::uint32_t stride = exec.in<std::uint32_t>(op.b)[lane];
  const auto bytes = static_cast<std::uint32_t>(std::max(1, f.layout.bits / 8));
  std::vector<MatrixPiece> result;
  for (int r = 0; r < op.count; ++r) {
    for (int e = 0; e < f.layout.elements(); ++e) {
      const std::uint64_t at = address + f.offset(static_cast<int>(lane), r, e, stride) / 8;
      if (!result.empty() && result.back().address + result.back().bytes == at) {
        result.back().bytes += bytes;
      } else if (result.empty() || result.back().address != at) { // else bits of one byte
        result.push_back({at, bytes});
      }
    }
  }
  return result;
}

void register_wmma(LowerTable& table) {
  table[ptx::Opcode::Wmma] = lower_wmma;
}

} // namespace heddle::isa
