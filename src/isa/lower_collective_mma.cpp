// Lowers mma.sync on f16, bf16, tf32, f64, 8-bit floats and integers, dense (PTX
// ISA 9.0, 9.7.14.5), with a sparse A (.sp, 9.7.14.6), and multiplies for wmma. Block-scaled forms
// are unsupported.
#include "isa/lower_collective_mma.h"

#include "base/check.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

namespace heddle::isa {

using ptx::Mod;

namespace {

// Code::refs from op.list: d, a, b, c, and of sparse ones the metadata. op.imm: how many of each,
// and the types; op.imm2: the shape.
struct Multiplication {
  MatrixShape shape;
  MatrixTypes types;
  bool bits_and = false; // .b1: and instead of xor
  bool sparse = false;
  std::uint8_t selector = 0; // which lanes of four have the metadata
  std::uint8_t count[4] = {};

  static Multiplication of(const Op& op) {
    Multiplication x;
    const auto u = static_cast<std::uint64_t>(op.imm);
    for (unsigned n = 0; n < 4; ++n) {
      x.count[n] = static_cast<std::uint8_t>(u >> (8 * n));
    }
    x.types.a = static_cast<MatrixType>(u >> 32 & 15);
    x.types.b = static_cast<MatrixType>(u >> 36 & 15);
    x.types.c = static_cast<MatrixType>(u >> 40 & 15);
    x.types.d = static_cast<MatrixType>(u >> 44 & 15);
    x.bits_and = (u >> 48 & 1) != 0;
    x.sparse = (u >> 49 & 1) != 0;
    x.selector = static_cast<std::uint8_t>(u >> 50 & 3);
    x.shape.m = static_cast<std::uint16_t>(op.imm2);
    x.shape.n = static_cast<std::uint16_t>(op.imm2 >> 16);
    x.shape.k = static_cast<std::uint16_t>(op.imm2 >> 32);
    x.shape.wmma = (op.imm2 >> 48 & 1) != 0;
    x.shape.saturate = (op.imm2 >> 49 & 1) != 0;
    return x;
  }
  void store(Op& op) const {
    std::uint64_t u = 0;
    for (unsigned n = 0; n < 4; ++n) {
      u |= std::uint64_t{count[n]} << (8 * n);
    }
    u |= static_cast<std::uint64_t>(types.a) << 32 | static_cast<std::uint64_t>(types.b) << 36 |
         static_cast<std::uint64_t>(types.c) << 40 | static_cast<std::uint64_t>(types.d) << 44 |
         std::uint64_t{bits_and} << 48 | std::uint64_t{sparse} << 49 |
         std::uint64_t{selector} << 50;
    op.imm = static_cast<std::int64_t>(u);
    op.imm2 = std::uint64_t{shape.m} | std::uint64_t{shape.n} << 16 | std::uint64_t{shape.k} << 32 |
              std::uint64_t{shape.wmma} << 48 | std::uint64_t{shape.saturate} << 49;
  }
  /// 32-bit words of a lane's registers of A or B.
  int words(Fragment f) const {
    const MatrixType type = f == Fragment::A ? types.a : types.b;
    return count[f == Fragment::A ? 1 : 2] * (type == MatrixType::F64 ? 2 : 1);
  }
  /// Of all that a lane hands over: A, B, metadata.
  std::size_t words() const {
    return static_cast<std::size_t>(words(Fragment::A) + words(Fragment::B) + (sparse ? 1 : 0));
  }
  /// Elements of a line of A or B along k that are there.
  int length(Fragment f) const { return sparse && f == Fragment::A ? shape.k / 2 : shape.k; }
  int bits(Fragment f) const { return matrix_bits(f == Fragment::A ? types.a : types.b); }
  FragmentLayout layout(Fragment f) const {
    return layout(f, f == Fragment::A ? types.a : types.b);
  }
  FragmentLayout layout(Fragment f, MatrixType type) const {
    return shape.layout(f, type, length(Fragment::A));
  }
};

/// Room for the lines of A or B, or for C or D, of any multiplication here.
constexpr std::size_t most_words = 32 * 16 / 2; // wmma m32n8k16 of 16 bits
constexpr std::size_t most_results = 16 * 16;
constexpr std::size_t most_doubles = 16 * 16;

/// Those registers of all lanes that belong to one operand, as far as lanes take part: others' are
/// zero.
class OperandRegisters {
public:
  OperandRegisters(const Exec& exec, const Ref* refs) : exec_(exec), refs_(refs) {}

  const std::uint32_t* operator()(int r) { return lanes<std::uint32_t>(r); }
  const std::uint64_t* doubles(int r) { return lanes<std::uint64_t>(r); }

private:
  template <class Word> const Word* lanes(int r) {
    const Word* all = exec_.in<Word>(refs_[r]);
    if (exec_.mask() == all_lanes) {
      return all;
    }
    auto* some = reinterpret_cast<Word*>(room_[r % 2]);
    std::fill_n(some, warp_size, Word{});
    exec_.each([&](int lane) { some[lane] = all[lane]; });
    return some;
  }

  const Exec& exec_;
  const Ref* refs_;
  std::uint64_t room_[2][warp_size]; // two registers may be asked for at a time
};

struct Multiply {
  static void contribute(Exec& exec, const Op& op, Exchange& exchange) {
    const auto x = Multiplication::of(op);
    const Ref* refs = exec.code().refs.data() + op.list + x.count[0];
    const std::size_t count = x.words();
    std::uint32_t* to = words_of(exchange, 0, count);
    const auto put = [&]<class W>(const W* from) {
      exec.each([&](int lane) {
        std::memcpy(to + static_cast<std::size_t>(lane) * count, from + lane, sizeof(W));
      });
      to += sizeof(W) / sizeof *to;
    };
    for (int r = 0; r < x.count[1] + x.count[2]; ++r) {
      if (x.types.a == MatrixType::F64) {
        put(exec.in<std::uint64_t>(refs[r]));
      } else {
        put(exec.in<std::uint32_t>(refs[r]));
      }
    }
    if (x.sparse) {
      put(exec.in<std::uint32_t>(refs[x.count[1] + x.count[2] + x.count[3]]));
    }
  }

  static void conclude(Exec& exec, const Op& op, const Exchange& exchange) {
    const auto x = Multiplication::of(op);
    const auto of_a = static_cast<std::size_t>(x.words(Fragment::A));
    const auto of_b = static_cast<std::size_t>(x.words(Fragment::B));
    multiply(
        exec,
        op,
        x,
        HandedOver(exchange, x.words(), 0),
        HandedOver(exchange, x.words(), of_a),
        HandedOver(exchange, x.words(), of_a + of_b)
    );
  }

  static void at_once(Exec& exec, const Op& op) {
    const auto x = Multiplication::of(op);
    const Ref* a = exec.code().refs.data() + op.list + x.count[0];
    const Ref* b = a + x.count[1];
    multiply(
        exec,
        op,
        x,
        OperandRegisters(exec, a),
        OperandRegisters(exec, b),
        OperandRegisters(exec, b + x.count[2] + x.count[3])
    );
  }

private:
  /// From registers of A, B and, of sparse ones, metadata.
  template <class Registers>
  static void multiply(
      Exec& exec,
      const Op& op,
      const Multiplication& x,
      Registers of_a,
      Registers of_b,
      Registers of_metadata
  ) {
    std::vector<std::uint16_t> places;
    if (x.sparse) {
      std::array<std::uint32_t, warp_size> words{};
      std::copy_n(of_metadata(0), warp_size, words.begin());
      places = Metadata::of(x.types.a, x.length(Fragment::A)).places(x.selector, words);
    }
    const Product product = product_of(x, places);
    if (x.types.a == MatrixType::F64) {
      multiply_doubles(exec, op, x, product, of_a, of_b);
      return;
    }
    alignas(32) std::uint32_t a[most_words];
    alignas(32) std::uint32_t b[most_words];
    alignas(32) std::int32_t c[most_results];
    alignas(32) std::int32_t d[most_results];
    const auto lines = [&](Fragment f, Registers& registers, std::uint32_t* to) {
      const FragmentLayout layout = x.layout(f);
      const int step = layout.length * layout.bits / 8;
      HEDDLE_CHECK(static_cast<std::size_t>(layout.lines * step) <= sizeof a, "its size");
      registers_to_lines<std::uint32_t>(
          layout,
          x.count[f == Fragment::A ? 1 : 2],
          registers,
          reinterpret_cast<std::byte*>(to),
          step
      );
    };
    lines(Fragment::A, of_a, a);
    lines(Fragment::B, of_b, b);
    HEDDLE_CHECK(static_cast<std::size_t>(product.m * product.n) <= most_results, "its size");
    registers_to_addends(x.layout(Fragment::C, x.types.c), x.count[3], addends_of(exec, op, x), c);
    x.shape.turned() ? product(b, a, c, d) : product(a, b, c, d);
    results_to_registers(
        x.layout(Fragment::C, x.types.d),
        x.count[0],
        d,
        put_to<std::uint32_t>(exec, op)
    );
  }

  template <class Registers>
  static void multiply_doubles(
      Exec& exec,
      const Op& op,
      const Multiplication& x,
      const Product& product,
      Registers& of_a,
      Registers& of_b
  ) {
    alignas(32) std::uint64_t a[most_doubles];
    alignas(32) std::uint64_t b[most_doubles];
    alignas(32) std::uint64_t c[most_doubles];
    alignas(32) std::uint64_t d[most_doubles];
    HEDDLE_CHECK(x.shape.m <= 16 && x.shape.n <= 16 && x.shape.k <= 16, "its size");
    const auto lines = [](const FragmentLayout& f, int count, auto& registers, std::uint64_t* to) {
      registers_to_lines<std::uint64_t>(
          f,
          count,
          [&registers](int r) { return registers.doubles(r); },
          reinterpret_cast<std::byte*>(to),
          f.length * f.bits / 8
      );
    };
    const FragmentLayout of_results = x.layout(Fragment::C, x.types.d);
    OperandRegisters addends = addends_of(exec, op, x);
    lines(x.layout(Fragment::A), x.count[1], of_a, a);
    lines(x.layout(Fragment::B), x.count[2], of_b, b);
    lines(of_results, x.count[3], addends, c);
    product(a, b, c, d);
    lines_to_registers<std::uint64_t>(
        of_results,
        x.count[0],
        reinterpret_cast<const std::byte*>(d),
        of_results.length * of_results.bits / 8,
        put_to<std::uint64_t>(exec, op)
    );
  }

  static OperandRegisters addends_of(const Exec& exec, const Op& op, const Multiplication& x) {
    const Ref* refs = exec.code().refs.data() + op.list;
    return {exec, refs + x.count[0] + x.count[1] + x.count[2]};
  }

  template <class Word> static auto put_to(Exec& exec, const Op& op) {
    return [&exec, refs = exec.code().refs.data() + op.list](int r, const Word* words) {
      write_register(exec, refs[r], words);
    };
  }

  static Product product_of(const Multiplication& x, const std::vector<std::uint16_t>& places) {
    Product product;
    product.m = x.shape.m;
    product.n = x.shape.n;
    product.k = x.shape.k;
    product.types = x.types;
    if (x.shape.turned()) {
      std::swap(product.m, product.n);
      std::swap(product.types.a, product.types.b);
    }
    product.saturate = x.shape.saturate;
    product.bits_and = x.bits_and;
    product.halves = matrix_bits(x.types.a) == 8;
    product.how.step = x.shape.wmma && x.types.a == MatrixType::Tf32 ? 4 : x.length(Fragment::A);
    product.places = x.sparse ? places.data() : nullptr;
    return product;
  }
};

bool fits(const MatrixShape& shape, const Multiplication& x) {
  // Every lane's registers together hold each matrix once or, in wmma, a whole number of times.
  for (const Fragment f : {Fragment::A, Fragment::B}) {
    const int bits = x.bits(f);
    const int held = x.words(f) * 32 / bits * warp_size;
    const int needed = (f == Fragment::A ? shape.m : shape.n) * x.length(f);
    if (shape.wmma ? held == 0 || held % needed != 0 : held != needed) {
      return false;
    }
  }
  const auto holds = [&](std::uint8_t count, MatrixType type) {
    const int bits = matrix_bits(type);
    return count * (bits < 32 ? 32 / bits : 1) * warp_size == shape.m * shape.n;
  };
  return holds(x.count[0], x.types.d) && holds(x.count[3], x.types.c);
}

bool supported(const MatrixTypes& t) {
  const auto is = [](MatrixType type, std::initializer_list<MatrixType> list) {
    return std::ranges::find(list, type) != list.end();
  };
  using enum MatrixType;
  if (t.a == F64) {
    return t.b == F64 && t.c == F64 && t.d == F64;
  }
  if (is(t.a, {S8, U8})) {
    return is(t.b, {S8, U8}) && t.c == S32 && t.d == S32;
  }
  if (is(t.a, {S4, U4})) {
    return is(t.b, {S4, U4}) && t.c == S32 && t.d == S32;
  }
  if (t.a == B1) {
    return t.b == B1 && t.c == S32 && t.d == S32;
  }
  if (is(t.a, {E4m3, E5m2})) {
    return is(t.b, {E4m3, E5m2}) && t.c == F32 && t.d == F32;
  }
  if (t.a == F16) {
    return t.b == F16 && is(t.c, {F16, F32}) && is(t.d, {F16, F32});
  }
  return is(t.a, {Bf16, Tf32}) && t.b == t.a && t.c == F32 && t.d == F32;
}

} // namespace

Result<void> emit_multiply(
    Lowering& l,
    const ptx::Instruction& i,
    const MatrixShape& shape,
    const MatrixTypes& types,
    bool bits_and
) {
  Multiplication x;
  x.shape = shape;
  x.types = types;
  x.bits_and = bits_and;
  x.sparse = i.has(Mod::Sp) || i.has(Mod::SpOrderedMetadata);
  std::vector<Ref> refs;
  for (std::size_t n = 0; n < 4; ++n) {
    const ptx::Operand& operand = i.operands.at(n);
    const std::size_t before = refs.size();
    const MatrixType type = n == 0 ? types.d : n == 1 ? types.a : n == 2 ? types.b : types.c;
    const Mod word = type == MatrixType::F64   ? Mod::F64
                     : type == MatrixType::F32 ? Mod::F32
                                               : Mod::B32;
    for (const ptx::Operand& element : operand.elements) {
      refs.push_back(n == 0 ? l.destination(element) : l.source(element, word));
      if (refs.back().none()) {
        return unsupported("a matrix without a register");
      }
    }
    x.count[n] = static_cast<std::uint8_t>(refs.size() - before);
  }
  if (x.sparse) {
    refs.push_back(l.source(i.operands.at(4), Mod::B32));
    x.selector = static_cast<std::uint8_t>(i.operands.at(5).bits & 3);
    if (refs.back().none() || !Metadata::of(types.a, x.length(Fragment::A)).fits(x.selector)) {
      return unsupported("a sparse mma with this selector");
    }
  }
  if (!supported(types) || !fits(shape, x)) {
    return unsupported(
        fmt::format("{} m{}n{}k{} on these types", ptx::text(i.opcode), shape.m, shape.n, shape.k)
    );
  }
  Op op = l.op(i);
  op.flags |= Visible;
  op.list = l.list(refs);
  op.count = static_cast<std::uint16_t>(refs.size());
  x.store(op);
  op.execute = collect_matrix<Multiply>;
  l.emit(op);
  return {};
}

namespace {

// --- m8n8k4 on f16: four multiplications at once (9.7.14.5.1)
//
// Lanes 4q to 4q+3 and 16+4q to 16+4q+3 make up multiplication q. The rounding of sm_70, for which
// the form was made, is not known: sums are those of one step of four.

// Code::refs from op.list: d, a (2), b (2), c. op.imm: bits 0-7: registers of d, 8-15: of c, 16: a
// by columns, 17: b by columns.
struct QuadMultiply {
  static constexpr int side = 8;
  static constexpr int k = 4;

  static int count_d(const Op& op) { return static_cast<int>(op.imm & 0xff); }
  static int count_c(const Op& op) { return static_cast<int>(op.imm >> 8 & 0xff); }
  struct Place {
    int row;
    int column;
  };
  /// Of element `i` of C and D in registers of `registers` words per lane.
  static Place place(int lane, int i, int registers) {
    const int lower = lane >= 16 ? 4 : 0;
    return registers == 4 ? Place{lane % 4 + lower, i}
                          : Place{(lane & 1) + (i & 2) + lower, (i & 4) + (lane & 2) + (i & 1)};
  }

  static void contribute(Exec& exec, const Op& op, Exchange& exchange) {
    const Ref* refs = exec.code().refs.data() + op.list + count_d(op);
    const int total = 4 + count_c(op);
    exec.each([&](int lane) {
      std::uint32_t* words = words_of(exchange, lane, static_cast<std::size_t>(total));
      for (int r = 0; r < total; ++r) {
        words[r] = exec.in<std::uint32_t>(refs[r])[lane];
      }
    });
  }

  static void conclude(Exec& exec, const Op& op, const Exchange& exchange) {
    const bool a_by_columns = (op.imm >> 16 & 1) != 0;
    const bool b_by_columns = (op.imm >> 17 & 1) != 0;
    const bool c_half = count_c(op) == 4;
    const bool d_half = count_d(op) == 4;
    const auto total = static_cast<std::size_t>(4 + count_c(op));
    // Lines along k: of A by row, of B by column, of C as f32 words.
    ops::Factor a[4][side][k];
    ops::Factor b[4][side][k];
    std::uint32_t c[4][side][side] = {};
    for (int lane = 0; lane < warp_size; ++lane) {
      if ((exchange.lanes >> lane & 1) == 0) {
        continue;
      }
      const int q = lane % 16 / 4;
      const int lower = lane >= 16 ? 4 : 0;
      const std::uint32_t* words = words_of(exchange, lane, total);
      for (int i = 0; i < k; ++i) {
        const auto element = [i](const std::uint32_t* pair) {
          return ops::factor(pair[i / 2] >> (i % 2 * 16) & 0xffffU, ops::f16_format);
        };
        (a_by_columns ? a[q][i + lower][lane % 4] : a[q][lane % 4 + lower][i]) = element(words);
        (b_by_columns ? b[q][lane % 4 + lower][i] : b[q][i + lower][lane % 4]) = element(words + 2);
      }
      for (int i = 0; i < side; ++i) {
        const Place p = place(lane, i, count_c(op));
        const std::uint32_t* from = words + 4;
        c[q][p.row][p.column] =
            c_half ? ops::bits(
                         ops::to_float(
                             ops::Half{static_cast<std::uint16_t>(from[i / 2] >> (i % 2 * 16))}
                         )
                     )
                   : from[i];
      }
    }
    const Ref* d_refs = exec.code().refs.data() + op.list;
    const int product_bits = 2 * ops::f16_format.mantissa_bits;
    exec.each([&](int lane) {
      const int q = lane % 16 / 4;
      for (int i = 0; i < side; ++i) {
        const Place p = place(lane, i, count_d(op));
        const ops::Factor* x = a[q][p.row];
        const ops::Factor* y = b[q][p.column];
        const std::uint32_t sum = c[q][p.row][p.column];
        if (d_half) {
          auto* halves =
              reinterpret_cast<std::uint16_t*>(exec.out<std::uint32_t>(d_refs[i / 2]) + lane);
          halves[i % 2] =
              static_cast<std::uint16_t>(ops::matrix_dot<true>(x, y, k, {k}, product_bits, sum));
        } else {
          exec.out<std::uint32_t>(d_refs[i])[lane] =
              ops::matrix_dot<false>(x, y, k, {k}, product_bits, sum);
        }
      }
    });
  }
};

Result<void> lower_quads(Lowering& l, const ptx::Instruction& i) {
  std::vector<Ref> refs;
  std::size_t count[4] = {};
  for (std::size_t n = 0; n < 4; ++n) {
    const Mod word = n == 3 && i.type(3) == Mod::F32 ? Mod::F32 : Mod::B32;
    for (const ptx::Operand& element : i.operands.at(n).elements) {
      refs.push_back(n == 0 ? l.destination(element) : l.source(element, word));
      if (refs.back().none()) {
        return unsupported("a matrix without a register");
      }
      ++count[n];
    }
  }
  const auto registers = [](std::optional<ptx::Type> type) {
    return type == Mod::F16 ? 4U : type == Mod::F32 ? 8U : 0U;
  };
  std::vector<Mod> layouts;
  for (const Mod mod : i.modifiers) {
    if (mod == Mod::Row || mod == Mod::Col) {
      layouts.push_back(mod);
    }
  }
  if (count[0] == 0 || count[0] != registers(i.type(0)) || count[1] != 2 || count[2] != 2 ||
      count[3] == 0 || count[3] != registers(i.type(3)) || layouts.size() != 2) {
    return unsupported("mma m8n8k4 on these types");
  }
  Op op = l.op(i);
  op.flags |= Visible;
  op.list = l.list(refs);
  op.count = static_cast<std::uint16_t>(refs.size());
  op.imm = static_cast<std::int64_t>(
      count[0] | count[3] << 8 | std::uint64_t{layouts[0] == Mod::Col} << 16 |
      std::uint64_t{layouts[1] == Mod::Col} << 17
  );
  op.execute = collect_matrix<QuadMultiply>;
  l.emit(op);
  return {};
}

Result<void> lower_mma(Lowering& l, const ptx::Instruction& i) {
  auto shape = matrix_shape(i);
  const auto d = i.type(0);
  const auto a = i.type(1);
  const auto b = i.type(2);
  const auto c = i.type(3);
  if (i.has(Mod::BlockScale) || !shape || !c) {
    return unsupported("this form of mma");
  }
  const auto td = matrix_type(*d);
  const auto ta = matrix_type(*a);
  const auto tb = matrix_type(*b);
  const auto tc = matrix_type(*c);
  if (ta == MatrixType::F16 && tb == MatrixType::F16 && shape->k == 4) {
    return lower_quads(l, i);
  }
  if (!ta || !tb || !tc || !td) {
    return unsupported("mma on these types");
  }
  shape->saturate = i.has(Mod::Satfinite);
  return emit_multiply(l, i, *shape, {*ta, *tb, *tc, *td}, i.has(Mod::And));
}

} // namespace

void register_mma(LowerTable& table) {
  table[ptx::Opcode::Mma] = lower_mma;
}

} // namespace heddle::isa
