// Lowers mma.sync on f16, bf16, tf32, f64, 8-bit floats and integers, dense (PTX
// ISA 9.0, 9.7.14.5), with a sparse A (.sp, 9.7.14.6), and multiplies for wmma. Block-scaled forms
// are unsupported.
#include "isa/lower_collective_mma.h"

#include "base/check.h"
#include "isa/ops_matrix_columns.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <map>
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
  /// Of A or B: how many there are, and the bits of each.
  std::size_t elements(Fragment f) const {
    return static_cast<std::size_t>(f == Fragment::A ? shape.m : shape.n) *
           static_cast<std::size_t>(length(f));
  }
  int bits(Fragment f) const { return matrix_bits(f == Fragment::A ? types.a : types.b); }
};

/// Elements of one register lie one after the other along k. 8-bit floats are kept in the order in
/// which ops::matrix_dot_f8 wants them.
int along_k(int at, bool eight_bit_float, int k) {
  return eight_bit_float ? (at & 2) / 2 * (k / 2) + at / 4 * 2 + at % 2 : at;
}

std::vector<std::uint16_t> metadata_places(const Multiplication& x, const Exchange& exchange) {
  std::array<std::uint32_t, warp_size> words{};
  for (int lane = 0; lane < warp_size; ++lane) {
    words[static_cast<std::size_t>(lane)] = words_of(exchange, lane, x.words())[x.words() - 1];
  }
  const int stored = x.length(Fragment::A);
  const auto in_order = Metadata::of(x.types.a, stored).places(x.selector, words);
  if (x.types.a != MatrixType::E4m3 && x.types.a != MatrixType::E5m2) {
    return in_order;
  }
  std::vector<std::uint16_t> result(in_order.size());
  for (std::size_t n = 0; n < result.size(); ++n) {
    const auto i = static_cast<int>(n) % stored;
    result[n - static_cast<std::size_t>(i) + static_cast<std::size_t>(along_k(i, true, stored))] =
        in_order[n];
  }
  return result;
}

/// Where each element is that a register of D, A, B and C holds, lane by lane: index in the matrix,
/// which is one behind its end for what another lane has, too. Of A and B the lines along k lie one
/// after the other, of C and D the rows.
struct Layout {
  std::array<std::vector<std::uint16_t>, 4> places;
  std::array<bool, 4> in_order{}; // they are 0, 1, 2, …
};

int elements_in_register(int bits) {
  return bits < 32 ? 32 / bits : 1;
}

Layout make_layout(const Multiplication& x) {
  Layout result;
  for (const std::size_t n : {0U, 1U, 2U, 3U}) {
    const Fragment f = n == 1 ? Fragment::A : n == 2 ? Fragment::B : Fragment::C;
    const MatrixType type = n == 0   ? x.types.d
                            : n == 1 ? x.types.a
                            : n == 2 ? x.types.b
                                     : x.types.c;
    const int bits = matrix_bits(type);
    const int count = x.count[n] * elements_in_register(bits);
    const int size = x.shape.rows(f) * x.shape.columns(f);
    const bool eight = type == MatrixType::E4m3 || type == MatrixType::E5m2;
    const bool halves = eight && (f == Fragment::A || !x.sparse); // else by what A needs
    const int k = x.length(f);
    for (int lane = 0; lane < warp_size; ++lane) {
      // wmma's fragments may have room for a matrix more than once: what follows is the same again.
      const bool again = f != Fragment::C && x.shape.wmma && lane * count >= size;
      for (int e = 0; e < count; ++e) {
        const MatrixPlace p = x.shape.place(f, lane, e, count, bits);
        const int at = f == Fragment::C   ? p.row * x.shape.n + p.column
                       : f == Fragment::A ? p.row * k + along_k(p.column, halves, k)
                                          : p.column * k + along_k(p.row, halves, k);
        const std::size_t to = again ? x.elements(f) : static_cast<std::size_t>(at);
        result.places[n].push_back(static_cast<std::uint16_t>(to));
      }
    }
    result.in_order[n] = true;
    for (std::size_t at = 0; at < result.places[n].size(); ++at) {
      result.in_order[n] = result.in_order[n] && result.places[n][at] == at;
    }
  }
  return result;
}

/// Made once for each kind of multiplication.
const Layout& layout_of(const Op& op) {
  thread_local std::map<std::pair<std::int64_t, std::uint64_t>, Layout> known;
  const auto [it, is_new] = known.try_emplace({op.imm, op.imm2});
  if (is_new) {
    it->second = make_layout(Multiplication::of(op));
  }
  return it->second;
}

/// The elements of a lane's `registers`, each in a T, which is at least as wide as a register;
/// `place`: nullptr for one after the other.
template <int bits, class T>
void spread(const std::uint32_t* words, int registers, const std::uint16_t* place, T* to) {
  constexpr int per_register = bits < 32 ? 32 / bits : 1;
  constexpr T mask = bits < 32 ? (T{1} << bits % 32) - 1 : static_cast<T>(~T{0});
  const auto each = [&](auto at) {
    for (int r = 0; r < registers; ++r) {
      T word;
      std::memcpy(&word, words + r * (sizeof word / sizeof *words), sizeof word);
      for (int e = 0; e < per_register; ++e) {
        to[at(r * per_register + e)] = word >> (e * bits % 32) & mask;
      }
    }
  };
  if (place == nullptr) {
    each([](int n) { return n; });
  } else {
    each([place](int n) { return place[n]; });
  }
}

template <class T>
Operands<T> gather(const Multiplication& x, const Layout& layout, const Exchange& exchange) {
  Operands<T> result;
  for (const Fragment f : {Fragment::A, Fragment::B}) {
    std::vector<T>& all = f == Fragment::A ? result.a : result.b;
    const std::size_t n = f == Fragment::A ? 1 : 2;
    all.resize(x.elements(f) + 1); // the last one takes what a fragment holds again
    const int bits = x.bits(f);
    const int before = f == Fragment::A ? 0 : x.words(Fragment::A);
    const int count = x.count[n] * elements_in_register(bits);
    for (LaneMask m = exchange.lanes; m != 0; m &= m - 1) { // others' elements are zero
      const int lane = std::countr_zero(m);
      const std::uint32_t* words = words_of(exchange, lane, x.words()) + before;
      const std::uint16_t* place = layout.places[n].data() + lane * count;
      T* to = all.data();
      if (layout.in_order[n]) {
        place = nullptr;
        to += lane * count;
      }
      if constexpr (sizeof(T) == 8) {
        spread<64>(words, x.count[n], place, to);
      } else {
        switch (bits) {
        case 1:
          spread<1>(words, x.count[n], place, to);
          break;
        case 4:
          spread<4>(words, x.count[n], place, to);
          break;
        case 8:
          spread<8>(words, x.count[n], place, to);
          break;
        case 16:
          spread<16>(words, x.count[n], place, to);
          break;
        default:
          spread<32>(words, x.count[n], place, to);
          break;
        }
      }
    }
    all.pop_back();
  }
  return result;
}

/// The same from the registers of all lanes that live, to zeros: a and b have room for one more.
template <class T>
void gather(
    Exec& exec,
    const Op& op,
    const Multiplication& x,
    const Layout& layout,
    T* all_of_a,
    T* all_of_b
) {
  const Ref* ref = exec.code().refs.data() + op.list + x.count[0];
  for (const Fragment f : {Fragment::A, Fragment::B}) {
    const std::size_t n = f == Fragment::A ? 1 : 2;
    T* to = f == Fragment::A ? all_of_a : all_of_b;
    const int bits = x.bits(f);
    const int per_register = elements_in_register(bits);
    const int count = x.count[n] * per_register;
    const T mask = bits < 32 ? (T{1} << bits) - 1 : static_cast<T>(~T{0});
    for (int r = 0; r < x.count[n]; ++r, ++ref) {
      const T* from = exec.in<T>(*ref);
      for (int e = 0; e < per_register; ++e) {
        const std::uint16_t* place = layout.places[n].data() + r * per_register + e;
        const int shift = e * bits % 32;
        exec.each([&](int lane) { to[place[lane * count]] = from[lane] >> shift & mask; });
      }
    }
  }
}

Operands<std::int32_t> integers(const Operands<std::uint32_t>& words, const MatrixTypes& types) {
  const auto each = [](const std::vector<std::uint32_t>& from, MatrixType type) {
    const bool negative = integer_factor(1U << (matrix_bits(type) - 1), type) < 0;
    const int unused = negative ? 32 - matrix_bits(type) : 0;
    std::vector<std::int32_t> result(from.size());
    for (std::size_t n = 0; n < from.size(); ++n) {
      result[n] = static_cast<std::int32_t>(from[n] << unused) >> unused;
    }
    return result;
  };
  return {each(words.a, types.a), each(words.b, types.b)};
}

/// For each executing lane and each of its elements of D: d = dot(row of A, column of B, c).
template <class Dot>
void scatter(
    Exec& exec,
    const Op& op,
    const Multiplication& x,
    const Layout& layout,
    const Operands<std::uint32_t>& operands,
    Dot dot
) {
  const Ref* refs = exec.code().refs.data() + op.list;
  const Ref* d_refs = refs;
  const Ref* c_refs = refs + x.count[0] + x.count[1] + x.count[2];
  const int count = x.count[0];
  exec.each([&](int lane) {
    for (int e = 0; e < count; ++e) {
      const int at = layout.places[0][static_cast<std::size_t>(lane * count + e)];
      const auto* a = operands.a.data() + std::ptrdiff_t{at / x.shape.n} * x.shape.k;
      const auto* b = operands.b.data() + std::ptrdiff_t{at % x.shape.n} * x.shape.k;
      exec.out<std::uint32_t>(d_refs[e])[lane] = dot(a, b, exec.in<std::uint32_t>(c_refs[e])[lane]);
    }
  });
}

/// scatter for 32- and 16-bit elements: all of D at once.
template <class T>
void scatter_product(
    Exec& exec,
    const Op& op,
    const Multiplication& x,
    const Layout& layout,
    const Product& product,
    const Operands<T>& operands
) {
  const Ref* refs = exec.code().refs.data() + op.list;
  constexpr std::size_t largest = 32 * 8; // 16 × 16, too
  std::int32_t c[largest] = {};
  std::int32_t d[largest];
  const auto each_of =
      [&]<int per_register>(std::size_t n, const Ref* ref, auto registers_at, auto f) {
        const int count = x.count[n] * per_register;
        for (int e = 0; e < count; ++e) {
          auto* registers = registers_at(ref[e / per_register]);
          const std::uint16_t* place = layout.places[n].data() + e;
          exec.each([&](int lane) {
            f(registers[lane], e % per_register, place[lane * count], 32 / per_register);
          });
        }
      };
  const auto each = [&](std::size_t n, const Ref* ref, int bits, auto registers_at, auto f) {
    bits == 16 ? each_of.template operator()<2>(n, ref, registers_at, f)
               : each_of.template operator()<1>(n, ref, registers_at, f);
  };
  const int c_bits = matrix_bits(x.types.c);
  const int d_bits = matrix_bits(x.types.d);
  each(
      3,
      refs + x.count[0] + x.count[1] + x.count[2],
      c_bits,
      [&](Ref ref) { return exec.in<std::uint32_t>(ref); },
      [&](std::uint32_t word, int half, std::uint16_t at, int bits) {
        c[at] = addend(word, half, bits);
      }
  );
  product(operands, c, d);
  each(
      0,
      refs,
      d_bits,
      [&](Ref ref) { return exec.out<std::uint32_t>(ref); },
      [&](std::uint32_t& word, int half, std::uint16_t at, int bits) {
        set_element(word, half, bits, d[at]);
      }
  );
}

/// Products of doubles: eight columns, and no more rows, or elements along k, than `most`.
struct Doubles {
  static constexpr std::size_t columns = 8;
  static constexpr std::size_t most = 16;
  std::uint64_t a[most * most + 1];
  std::uint64_t b[most * columns + 1];
  explicit Doubles(const Multiplication& x) {
    HEDDLE_CHECK(x.shape.n == columns && x.shape.m <= most && x.shape.k <= most, "its size");
    std::fill_n(a, x.elements(Fragment::A), 0);
    std::fill_n(b, x.elements(Fragment::B), 0);
  }
};

/// scatter for doubles: all of D at once, 8 columns in a vector.
void scatter_doubles(
    Exec& exec,
    const Op& op,
    const Multiplication& x,
    const Layout& layout,
    const Doubles& operands
) {
  constexpr std::size_t columns = Doubles::columns;
  const auto rows = static_cast<std::size_t>(x.shape.m);
  const auto k = static_cast<std::size_t>(x.shape.k);
  const auto each = [&](const Ref* registers, auto f) {
    const int count = x.count[0];
    for (int e = 0; e < count; ++e) {
      const std::uint16_t* place = layout.places[0].data() + e;
      f(registers[e], [place, count](int lane) { return place[lane * count]; });
    }
  };
  std::uint64_t c[Doubles::most * columns];
  std::fill_n(c, rows * columns, 0);
  const Ref* d_refs = exec.code().refs.data() + op.list;
  each(d_refs + x.count[0] + x.count[1] + x.count[2], [&](Ref ref, auto place) {
    const auto* from = exec.in<std::uint64_t>(ref);
    exec.each([&](int lane) { c[place(lane)] = from[lane]; });
  });
  double b[Doubles::most][columns];
  for (std::size_t column = 0; column < columns; ++column) {
    for (std::size_t i = 0; i < k; ++i) {
      b[i][column] = ops::from_bits<double>(operands.b[column * k + i]);
    }
  }
  std::uint64_t d[Doubles::most * columns];
  for (std::size_t row = 0; row < rows; ++row) {
    double sum[columns];
    std::memcpy(sum, c + row * columns, sizeof sum);
    for (std::size_t i = 0; i < k; ++i) {
      const auto a = ops::from_bits<double>(operands.a[row * k + i]);
      for (std::size_t column = 0; column < columns; ++column) {
        sum[column] = std::fma(a, b[i][column], sum[column]);
      }
    }
    std::memcpy(d + row * columns, sum, sizeof sum);
    bool some_nan = false;
    for (std::size_t first = 0; first < columns; first += 4) {
      double four __attribute__((vector_size(4 * sizeof(double))));
      std::memcpy(&four, sum + first, sizeof four);
      some_nan |= ops::any_column(four != four);
    }
    for (std::size_t column = 0; some_nan && column < columns; ++column) {
      const std::size_t at = row * columns + column;
      if (sum[column] != sum[column]) { // which NaN it is depends on the order of operands
        d[at] =
            ops::matrix_dot_f64(operands.a + row * k, operands.b + column * k, x.shape.k, c[at]);
      }
    }
  }
  each(d_refs, [&](Ref ref, auto place) {
    auto* to = exec.out<std::uint64_t>(ref);
    exec.each([&](int lane) { to[lane] = d[place(lane)]; });
  });
}

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
    const Layout& layout = layout_of(op);
    if (x.types.a == MatrixType::F64) {
      const auto all = gather<std::uint64_t>(x, layout, exchange);
      Doubles operands(x);
      std::ranges::copy(all.a, operands.a);
      std::ranges::copy(all.b, operands.b);
      scatter_doubles(exec, op, x, layout, operands);
      return;
    }
    multiply(
        exec,
        op,
        x,
        layout,
        gather<std::uint32_t>(x, layout, exchange),
        x.sparse ? metadata_places(x, exchange) : std::vector<std::uint16_t>()
    );
  }

  static void at_once(Exec& exec, const Op& op) {
    const auto x = Multiplication::of(op);
    const Layout& layout = layout_of(op);
    if (x.sparse) {
      ThroughExchange<Multiply>::at_once(exec, op);
    } else if (x.types.a == MatrixType::F64) {
      Doubles operands(x);
      gather(exec, op, x, layout, operands.a, operands.b);
      scatter_doubles(exec, op, x, layout, operands);
    } else {
      Operands<std::uint32_t> words;
      words.a.resize(x.elements(Fragment::A) + 1); // the last one takes what a fragment holds again
      words.b.resize(x.elements(Fragment::B) + 1);
      gather(exec, op, x, layout, words.a.data(), words.b.data());
      words.a.pop_back();
      words.b.pop_back();
      multiply(exec, op, x, layout, words, {});
    }
  }

private:
  static void multiply(
      Exec& exec,
      const Op& op,
      const Multiplication& x,
      const Layout& layout,
      const Operands<std::uint32_t>& words,
      const std::vector<std::uint16_t>& chosen
  ) {
    switch (x.types.a) {
    case MatrixType::S8:
    case MatrixType::U8:
    case MatrixType::S4:
    case MatrixType::U4:
      scatter_product(exec, op, x, layout, product_of(x, chosen), integers(words, x.types));
      return;
    case MatrixType::B1:
      scatter(
          exec,
          op,
          x,
          layout,
          words,
          [&](const std::uint32_t* a, const std::uint32_t* b, std::uint32_t c) {
            for (int i = 0; i < x.shape.k; ++i) {
              c += x.bits_and ? a[i] & b[i] : a[i] ^ b[i];
            }
            return c;
          }
      );
      return;
    default:
      scatter_product(exec, op, x, layout, product_of(x, chosen), words);
      return;
    }
  }

  static Product product_of(const Multiplication& x, const std::vector<std::uint16_t>& places) {
    Product product;
    product.m = x.shape.m;
    product.n = x.shape.n;
    product.k = x.shape.k;
    product.types = x.types;
    product.saturate = x.shape.saturate;
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
  /// Place of element `i` of C and D in registers of `registers` words per lane.
  static MatrixPlace place(int lane, int i, int registers) {
    const int lower = lane >= 16 ? 4 : 0;
    return registers == 4
               ? MatrixPlace{lane % 4 + lower, i}
               : MatrixPlace{(lane & 1) + (i & 2) + lower, (i & 4) + (lane & 2) + (i & 1)};
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
        const MatrixPlace p = place(lane, i, count_c(op));
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
        const MatrixPlace p = place(lane, i, count_d(op));
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
