// Lowers wgmma: mma_async on f16, bf16, tf32, 8-bit floats and integers and single bits, fence,
// commit_group and wait_group, and the form with a sparse A (PTX ISA 9.0, 9.7.15).
//
// Each warp of a warpgroup computes its 16 rows of D when all of its lanes have come; PTX does not
// make it wait for the other three. It is one multiplication all the same, complete once any of
// them has waited for it, so shared memory is read for all when the first of the four comes
// (Environment::warpgroup_reads). The multiplication is carried out at once, when it is issued, one
// of the behaviours that PTX allows, so that fence, commit and wait are no-ops (their ops
// are there for monitors and for the lanes to meet): a program that forgets to wait is not caught
// here.
#include "isa/lower_collective_wgmma.h"

#include "isa/lower_collective_mma.h"
#include "isa/ops_address.h"
#include "isa/ops_matrix_descriptor.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace heddle::isa {
namespace {

using ops::MatrixDescriptor;
using ptx::Mod;

constexpr int warp_rows = 16; // of A and D
constexpr std::uint32_t unit = wgmma_unit;

// op.a: descriptor of A, none: A is in the registers behind D's; op.b: descriptor of B, op.c: add
// to D; op.count registers of D from op.list; op.imm: the rest.
struct GroupMultiplication {
  MatrixShape shape;
  MatrixTypes types; // c is as d
  bool not_add = false;
  bool transposed_a = false; // the lines lie along m, not k
  bool transposed_b = false;
  bool negated_a = false;
  bool negated_b = false;
  bool sparse = false;
  int selector = 0;

  /// Elements along k that are there.
  int length(Fragment f) const { return sparse && f == Fragment::A ? shape.k / 2 : shape.k; }

  static GroupMultiplication of(const Op& op) {
    GroupMultiplication x;
    const auto u = static_cast<std::uint64_t>(op.imm);
    const auto bit = [u](int at) { return (u >> at & 1) != 0; };
    x.shape.m = warp_rows;
    x.shape.n = static_cast<std::uint16_t>(u & 0xffff);
    x.shape.k = static_cast<std::uint16_t>(u >> 16 & 0xffff);
    x.types.a = static_cast<MatrixType>(u >> 32 & 15);
    x.types.b = static_cast<MatrixType>(u >> 36 & 15);
    x.types.c = x.types.d = static_cast<MatrixType>(u >> 40 & 15);
    x.shape.saturate = bit(44);
    x.not_add = bit(45);
    x.transposed_a = bit(46);
    x.transposed_b = bit(47);
    x.negated_a = bit(48);
    x.negated_b = bit(49);
    x.sparse = bit(50);
    x.selector = static_cast<int>(u >> 51 & 3);
    return x;
  }
  void store(Op& op) const {
    op.imm = static_cast<std::int64_t>(
        std::uint64_t{shape.n} | std::uint64_t{shape.k} << 16 |
        static_cast<std::uint64_t>(types.a) << 32 | static_cast<std::uint64_t>(types.b) << 36 |
        static_cast<std::uint64_t>(types.d) << 40 | std::uint64_t{shape.saturate} << 44 |
        std::uint64_t{not_add} << 45 | std::uint64_t{transposed_a} << 46 |
        std::uint64_t{transposed_b} << 47 | std::uint64_t{negated_a} << 48 |
        std::uint64_t{negated_b} << 49 | std::uint64_t{sparse} << 50 |
        static_cast<std::uint64_t>(selector) << 51
    );
  }
};

// What a lane hands over: B's descriptor, A's registers or descriptor, metadata.
constexpr std::size_t words_per_lane = 2 + 4 + 1;

std::uint64_t joined(const std::uint32_t* words) {
  return words[0] | std::uint64_t{words[1]} << 32;
}

/// Calls f(first line, first k, address) for each 16 bytes of `lines` lines from `first` on, of
/// elements of so many bits, k along the lines or, if transposed, across.
template <class F>
void each_unit(
    const MatrixDescriptor& at,
    bool transposed,
    std::uint32_t first,
    std::uint32_t lines,
    std::uint32_t k,
    int bits,
    F f
) {
  const std::uint32_t together = unit * 8 / static_cast<std::uint32_t>(bits);
  if (!transposed) {
    for (std::uint32_t line = 0; line < lines; ++line) {
      for (std::uint32_t i = 0; i < k; i += together) {
        f(line, i, at.along_k(first + line, i / together));
      }
    }
    return;
  }
  for (std::uint32_t i = 0; i < k; ++i) {
    for (std::uint32_t line = 0; line < lines; line += together) {
      f(line, i, at.along_lines(i, (first + line) / together));
    }
  }
}

/// The number of the warp in its warpgroup, times the rows of a warp.
std::uint32_t first_row(const Exec& exec) {
  const Ref warp = Ref::at(Area::Special, SpecialLayout::offset(SpecialLayout::WarpId));
  return exec.in<std::uint32_t>(warp)[0] % warpgroup_warps * warp_rows;
}

/// Calls f(address) for what a warpgroup reads: of A, if it is in memory, the rows of each warp,
/// then of B.
template <class F>
void each_unit_of_both(
    const GroupMultiplication& x,
    const MatrixDescriptor* a,
    const MatrixDescriptor& b,
    F f
) {
  const int bits = matrix_bits(x.types.a);
  const auto length = [&](Fragment m) { return static_cast<std::uint32_t>(x.length(m)); };
  const auto at = [&](std::uint32_t, std::uint32_t, std::uint64_t address) { f(address); };
  for (std::uint32_t warp = 0; a != nullptr && warp < warpgroup_warps; ++warp) {
    each_unit(*a, x.transposed_a, warp * warp_rows, warp_rows, length(Fragment::A), bits, at);
  }
  each_unit(b, x.transposed_b, 0, x.shape.n, length(Fragment::B), bits, at);
}

std::vector<std::byte> read_matrices(Exec& exec, const Op& op) {
  const int reader = std::countr_zero(exec.mask());
  std::vector<std::byte> result;
  for (const std::uint64_t address : wgmma_reads(exec, op)) {
    const std::byte* p = exec.translate_shared(reader, address, unit, /*store=*/false);
    result.resize(result.size() + unit);
    if (p != nullptr) { // else it has been a fault before
      std::memcpy(result.data() + result.size() - unit, p, unit);
    }
  }
  return result;
}

struct GroupMultiply {
  static void contribute(Exec& exec, const Op& op, Exchange& exchange) {
    const Ref* a_refs = exec.code().refs.data() + op.list + op.count;
    exec.each([&](int lane) {
      std::uint32_t* words = words_of(exchange, lane, words_per_lane);
      const auto put = [&](std::uint64_t descriptor) {
        *words++ = static_cast<std::uint32_t>(descriptor);
        *words++ = static_cast<std::uint32_t>(descriptor >> 32);
      };
      put(exec.in<std::uint64_t>(op.b)[lane]);
      if (!op.a.none()) {
        put(exec.in<std::uint64_t>(op.a)[lane]);
        put(0);
      } else {
        for (int r = 0; r < 4; ++r) {
          *words++ = exec.in<std::uint32_t>(a_refs[r])[lane];
        }
      }
      *words = op.e.none() ? 0 : exec.in<std::uint32_t>(op.e)[lane];
    });
  }

  struct Lines {
    std::vector<std::uint32_t> a;
    std::vector<std::uint32_t> b;
  };

  /// Packed lines of both matrices (Product) from shared memory and registers.
  static Lines
  gather(Exec& exec, const Op& op, const GroupMultiplication& x, const Exchange& exchange) {
    const int bits = matrix_bits(x.types.a); // B's are as many
    const auto words = [&](Fragment f) {
      return static_cast<std::size_t>(x.length(f) * bits / 32);
    };
    Lines result;
    result.a.resize(warp_rows * words(Fragment::A));
    result.b.resize(x.shape.n * words(Fragment::B));
    const int leader = std::countr_zero(exchange.lanes);
    const std::uint32_t* of_leader = words_of(exchange, leader, words_per_lane);
    const auto b = MatrixDescriptor::of(joined(of_leader));
    const auto a = MatrixDescriptor::of(joined(of_leader + 2));
    const auto bytes = exec.environment().warpgroup_reads(exec, op, read_matrices);
    const std::byte* p = bytes->data();
    const auto take = [&](Fragment f, std::uint32_t line, std::uint32_t i) {
      std::vector<std::uint32_t>& all = f == Fragment::A ? result.a : result.b;
      const std::size_t line_bytes = words(f) * sizeof(std::uint32_t);
      auto* to = reinterpret_cast<std::byte*>(all.data()) + line * line_bytes +
                 i * static_cast<std::size_t>(bits) / 8;
      if (f == Fragment::A ? x.transposed_a : x.transposed_b) { // of 16 bits
        for (std::uint32_t at = 0; at < unit; at += 2, to += line_bytes) {
          std::memcpy(to, p + at, 2);
        }
      } else {
        std::memcpy(to, p, unit);
      }
      p += unit;
    };
    const auto length = [&](Fragment f) { return static_cast<std::uint32_t>(x.length(f)); };
    if (!op.a.none()) {
      const std::size_t of_warp = result.a.size() * sizeof(std::uint32_t);
      p += first_row(exec) / warp_rows * of_warp;
      each_unit(
          a,
          x.transposed_a,
          first_row(exec),
          warp_rows,
          length(Fragment::A),
          bits,
          [&](std::uint32_t line, std::uint32_t i, std::uint64_t) { take(Fragment::A, line, i); }
      );
      p = bytes->data() + warpgroup_warps * of_warp;
    }
    each_unit(
        b,
        x.transposed_b,
        0,
        x.shape.n,
        length(Fragment::B),
        bits,
        [&](std::uint32_t line, std::uint32_t i, std::uint64_t) { take(Fragment::B, line, i); }
    );
    if (op.a.none()) {
      registers_to_lines<std::uint32_t>(
          x.shape.layout(Fragment::A, x.types.a, x.length(Fragment::A)),
          4,
          HandedOver(exchange, words_per_lane, 2),
          reinterpret_cast<std::byte*>(result.a.data()),
          static_cast<std::ptrdiff_t>(words(Fragment::A) * sizeof(std::uint32_t))
      );
    }
    negate(x.negated_a, x.types.a, result.a);
    negate(x.negated_b, x.types.b, result.b);
    return result;
  }

  /// Flips the signs of packed floats, if so.
  static void negate(bool negated, MatrixType type, std::vector<std::uint32_t>& words) {
    const int bits = matrix_bits(type);
    std::uint32_t signs = 0;
    for (int at = bits - 1; negated && at < 32; at += bits) {
      signs |= 1U << at;
    }
    for (std::uint32_t& word : words) {
      word ^= signs;
    }
  }

  static std::vector<std::uint16_t>
  metadata_places(const GroupMultiplication& x, const Exchange& exchange) {
    std::array<std::uint32_t, warp_size> words{};
    HandedOver of_metadata(exchange, words_per_lane, words_per_lane - 1);
    std::copy_n(of_metadata(0), warp_size, words.begin());
    return Metadata::of(x.types.a, x.length(Fragment::A)).places(x.selector, words);
  }

  static Product product_of(const GroupMultiplication& x) {
    Product product;
    product.m = x.shape.m;
    product.n = x.shape.n;
    product.k = x.shape.k;
    product.types = x.types;
    product.saturate = x.shape.saturate;
    product.bits_and = true; // .and.popc is the only one
    product.how.step = x.length(Fragment::A);
    if (matrix_bits(x.types.a) == 8) {
      product.how.kept = 13;
    }
    return product;
  }

  static void conclude(Exec& exec, const Op& op, const Exchange& exchange) {
    const auto x = GroupMultiplication::of(op);
    const Ref* refs = exec.code().refs.data() + op.list;
    LaneMask add = exec.predicate(op.c);
    add = x.not_add ? ~add : add;
    std::vector<std::int32_t> c(static_cast<std::size_t>(warp_rows) * x.shape.n);
    std::vector<std::int32_t> d(c.size());
    const FragmentLayout of_results = x.shape.layout(Fragment::C, x.types.d, x.length(Fragment::A));
    std::uint32_t added[2][warp_size];
    const auto addend = [&](int r) {
      const auto* register_of_d = exec.in<std::uint32_t>(refs[r]);
      for (int lane = 0; lane < warp_size; ++lane) {
        added[r % 2][lane] = (add >> lane & 1) != 0 ? register_of_d[lane] : 0;
      }
      return added[r % 2];
    };
    if ((add & exec.mask()) != 0) {
      registers_to_addends(of_results, op.count, addend, c.data());
    }
    Product product = product_of(x);
    std::vector<std::uint16_t> places;
    if (x.sparse) {
      places = metadata_places(x, exchange);
      product.places = places.data();
    }
    const Lines lines = gather(exec, op, x, exchange);
    product(lines.a.data(), lines.b.data(), c.data(), d.data());
    results_to_registers(of_results, op.count, d.data(), [&](int r, const std::uint32_t* words) {
      write_register(exec, refs[r], words);
    });
  }
};

const Op* different_descriptors(Exec& exec, int lane) {
  Fault fault;
  fault.kind = FaultKind::WarpgroupMisuse;
  fault.lane = lane;
  fault.text = "the lanes of a warp give different descriptors";
  return exec.stop_fault(std::move(fault));
}

const Op* run_multiply(Exec& exec, const Op& op) {
  const int first = std::countr_zero(exec.mask());
  const std::uint64_t* b = exec.in<std::uint64_t>(op.b);
  const std::uint64_t* a = op.a.none() ? b : exec.in<std::uint64_t>(op.a);
  for (LaneMask m = exec.mask(); m != 0; m &= m - 1) {
    const int lane = std::countr_zero(m);
    if (a[lane] != a[first] || b[lane] != b[first]) {
      return different_descriptors(exec, lane);
    }
  }
  // Faults are found before anybody waits.
  const std::vector<std::uint64_t> reads = wgmma_reads(exec, op);
  const bool inside = std::ranges::all_of(reads, [&](std::uint64_t at) {
    return exec.translate_shared(first, at, unit, /*store=*/false) != nullptr;
  });
  if (!inside) {
    return access_fault(exec, op);
  }
  // Whoever brings lane 0 along speaks for the warp.
  const std::uint64_t operands = op.a.none() ? b[first] : b[first] * 31 + a[first];
  if ((exec.mask() & 1) != 0 && !exec.environment().warpgroup(exec, op, operands)) {
    return exec.stop_fault();
  }
  return collect_matrix<GroupMultiply>(exec, op);
}

struct Meet {
  static void contribute(Exec&, const Op&, Exchange&) {}
  static void conclude(Exec&, const Op&, const Exchange&) {}
};

bool supported(const MatrixTypes& t, const MatrixShape& shape, bool sparse) {
  const auto is = [](MatrixType type, std::initializer_list<MatrixType> list) {
    return std::ranges::find(list, type) != list.end();
  };
  using enum MatrixType;
  const int n = shape.n;
  if (sparse && t.a == B1) {
    return false;
  }
  if (shape.m != 4 * warp_rows || shape.k * matrix_bits(t.a) != (sparse ? 512 : 256) || n < 8 ||
      n > 256 || n % 8 != 0) {
    return false;
  }
  if (is(t.a, {S8, U8, B1})) {
    const bool pair = t.a == B1 ? t.b == B1 : is(t.b, {S8, U8});
    return pair && t.d == S32 && (n <= 32 || n % 16 == 0) && (!shape.saturate || t.a != B1);
  }
  if (is(t.a, {E4m3, E5m2})) {
    return is(t.b, {E4m3, E5m2}) && is(t.d, {F16, F32}) && !shape.saturate;
  }
  return t.a == t.b && !shape.saturate &&
         (t.a == F16 ? is(t.d, {F16, F32}) : is(t.a, {Bf16, Tf32}) && t.d == F32);
}

/// d, a or its descriptor, b's descriptor, of sparse ones metadata and selector, scale-d, then as
/// far as the types have them imm-scale-a and -b (1 or -1), imm-trans-a (of descriptors) and -b.
Result<void> lower_multiply(Lowering& l, const ptx::Instruction& i) {
  const auto shape = matrix_shape(i);
  const auto d = matrix_type(i.type(0).value_or(Mod::B32));
  const auto a = matrix_type(i.type(1).value_or(Mod::B32));
  const auto b = matrix_type(i.type(2).value_or(Mod::B32));
  const auto not_this = [&] {
    return unsupported(
        fmt::format("wgmma {} on these types", ptx::text(*i.one_of(ptx::Category::Shape)))
    );
  };
  if (!shape || !d || !a || !b) {
    return unsupported("this form of wgmma");
  }
  GroupMultiplication x;
  x.shape = *shape;
  x.shape.saturate = i.has(Mod::Satfinite);
  x.types = {*a, *b, *d, *d};
  x.sparse = i.has(Mod::Sp);
  const int bits = matrix_bits(*d);
  const bool in_registers = !i.operands.at(1).elements.empty();
  if (!supported(x.types, x.shape, x.sparse) ||
      i.operands.at(0).elements.size() * 32 * 4 * warp_size !=
          static_cast<std::size_t>(x.shape.m) * x.shape.n * static_cast<std::size_t>(bits) ||
      (in_registers && i.operands.at(1).elements.size() != 4)) {
    return not_this();
  }
  std::vector<Ref> refs;
  for (const std::size_t n : {0, 1}) {
    for (const ptx::Operand& element : i.operands.at(n).elements) {
      refs.push_back(n == 0 ? l.destination(element) : l.source(element, Mod::B32));
      if (refs.back().none()) {
        return unsupported("a matrix without a register");
      }
    }
  }
  Op op = l.op(i);
  op.flags |= Visible;
  op.count = static_cast<std::uint16_t>(i.operands.at(0).elements.size());
  op.a = in_registers ? Ref() : l.source(i.operands.at(1), Mod::B64);
  op.b = l.source(i.operands.at(2), Mod::B64);
  std::size_t next = 3;
  if (x.sparse) {
    op.e = l.source(i.operands.at(next++), Mod::B32);
    x.selector = static_cast<int>(i.operands.at(next++).bits & 3);
    if (op.e.none() || !Metadata::of(*a, x.length(Fragment::A)).fits(x.selector)) {
      return unsupported("a sparse wgmma with this selector");
    }
  }
  op.c = l.source(i.operands.at(next), Mod::Pred);
  x.not_add = i.operands.at(next++).negated;
  std::vector<std::int64_t> more;
  for (std::size_t n = next; n < i.operands.size(); ++n) {
    more.push_back(static_cast<std::int64_t>(i.operands[n].bits));
  }
  const bool floats = *d == MatrixType::F16 || *d == MatrixType::F32;
  const bool short_floats = floats && matrix_bits(*a) == 16;
  const std::size_t wanted = !floats ? 0 : !short_floats ? 2 : in_registers ? 3 : 4;
  if (op.b.none() || op.c.none() || more.size() != wanted) {
    return not_this();
  }
  if (floats) {
    x.negated_a = more[0] < 0;
    x.negated_b = more[1] < 0;
  }
  if (short_floats) {
    x.transposed_a = !in_registers && more[2] != 0;
    x.transposed_b = more.back() != 0;
  }
  x.store(op);
  op.list = l.list(refs);
  op.execute = run_multiply;
  l.emit(op);
  return {};
}

Result<void> lower_wgmma(Lowering& l, const ptx::Instruction& i) {
  if (i.has(Mod::MmaAsync)) {
    return lower_multiply(l, i);
  }
  Op op = l.op(i);
  op.flags |= Visible;
  op.execute = collect_matrix<Meet>;
  l.emit(op);
  return {};
}

} // namespace

std::vector<std::uint64_t> wgmma_reads(const Exec& exec, const Op& op) {
  const int first = std::countr_zero(exec.mask());
  const auto b = MatrixDescriptor::of(exec.in<std::uint64_t>(op.b)[first]);
  MatrixDescriptor a;
  if (!op.a.none()) {
    a = MatrixDescriptor::of(exec.in<std::uint64_t>(op.a)[first]);
  }
  std::vector<std::uint64_t> result;
  each_unit_of_both(
      GroupMultiplication::of(op),
      op.a.none() ? nullptr : &a,
      b,
      [&](std::uint64_t at) { result.push_back(at); }
  );
  return result;
}

void register_wgmma(LowerTable& table) {
  table[ptx::Opcode::Wgmma] = lower_wgmma;
}

} // namespace heddle::isa
