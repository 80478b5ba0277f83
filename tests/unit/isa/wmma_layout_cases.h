// Which lane holds which element of a matrix that wmma.load has loaded: PTX, inputs and a digest of
// all registers, for each fragment, shape, type and layout in memory. PTX leaves it open; this is
// what an H200 does. Shared by wmma_layout_test.cpp and mma_record.cu, which records.
//
// In round r an element is bit r of its number in the matrix, row by row, so that all rounds
// together say which element each register has.
#pragma once

#include "mma_cases.h"

namespace heddle::test {

constexpr int wmma_layout_rounds = 10;
constexpr std::size_t wmma_layout_in_words = 256;
constexpr std::size_t wmma_layout_out_words = 1024; // twice those of all lanes, lane by lane

struct WmmaLayoutCase {
  std::string name;
  char fragment;
  int m, n, k;
  std::string type;
  int bits;
  bool by_columns;
  int registers; // of a lane; with f64 of 64 bits

  int rows() const { return fragment == 'b' ? k : m; }
  int columns() const { return fragment == 'a' ? k : n; }
  std::string shape() const {
    return "m" + std::to_string(m) + "n" + std::to_string(n) + "k" + std::to_string(k);
  }
};

inline std::vector<WmmaLayoutCase> make_wmma_layout_cases() {
  std::vector<WmmaLayoutCase> result;
  const auto add = [&](char fragment, int m, int n, int k, const char* type, int bits) {
    for (const bool by_columns : {false, true}) {
      if (bits < 8 && by_columns != (fragment == 'b')) {
        continue; // has one layout only
      }
      WmmaLayoutCase c{"", fragment, m, n, k, type, bits, by_columns, 0};
      const int held = c.rows() * c.columns() * bits / 32 / (bits == 64 ? 64 : 32);
      c.registers = c.type == "f16" && fragment != 'c' ? 8 : held;
      c.name =
          std::string(1, fragment) + " " + c.shape() + " " + type + (by_columns ? " col" : " row");
      result.push_back(c);
    }
  };
  for (const auto& [m, n] : {std::array{16, 16}, std::array{32, 8}, std::array{8, 32}}) {
    for (const char fragment : {'a', 'b'}) {
      add(fragment, m, n, 16, "f16", 16);
      add(fragment, m, n, 16, "bf16", 16);
      add(fragment, m, n, 16, "s8", 8);
      add(fragment, m, n, 16, "u8", 8);
    }
    add('c', m, n, 16, "f32", 32);
    add('c', m, n, 16, "f16", 16);
    add('c', m, n, 16, "s32", 32);
  }
  for (const char fragment : {'a', 'b', 'c'}) {
    const bool c = fragment == 'c';
    add(fragment, 16, 16, 8, c ? "f32" : "tf32", 32);
    add(fragment, 8, 8, 4, "f64", 64);
    add(fragment, 8, 8, 32, c ? "s32" : "s4", c ? 32 : 4);
    add(fragment, 8, 8, 128, c ? "s32" : "b1", c ? 32 : 1);
  }
  return result;
}

inline const std::vector<WmmaLayoutCase>& wmma_layout_cases() {
  static const std::vector<WmmaLayoutCase> cases = make_wmma_layout_cases();
  return cases;
}

/// A module with one kernel, k(out, in).
inline std::string wmma_layout_ptx(const WmmaLayoutCase& c) {
  const bool wide = c.bits == 64;
  const std::string stored = wide ? "f64" : c.type == "f32" ? "f32" : "b32";
  const int stride = c.by_columns ? c.rows() : c.columns();
  std::string text = ".version 9.0\n.target sm_90a\n.address_size 64\n"
                     ".visible .entry k(.param .u64 out, .param .u64 in)\n{\n"
                     ".reg .b32 %lane; .reg .b64 %o, %i, %n; .reg ." +
                     stored + " %d<8>;\n" +
                     "ld.param.u64 %o, [out]; ld.param.u64 %i, [in]; mov.u32 %lane, %tid.x;\n"
                     "cvta.to.global.u64 %o, %o; cvta.to.global.u64 %i, %i;\n"
                     "mul.wide.u32 %n, %lane, " +
                     std::to_string(c.registers * (wide ? 8 : 4)) + "; add.s64 %o, %o, %n;\n";
  // Twice: where the memory is known already, all lanes are served at once.
  for (const int first : {0, 2048}) {
    text += std::string("wmma.load.") + c.fragment + ".sync.aligned." +
            (c.by_columns ? "col." : "row.") + c.shape() + ".global." + c.type + " " +
            mma_list('d', c.registers) + ", [%i], " + std::to_string(stride) + ";\n";
    for (int r = 0; r < c.registers; ++r) {
      text += "st.global." + stored + " [%o+" + std::to_string(first + r * (wide ? 8 : 4)) +
              "], %d" + std::to_string(r) + ";\n";
    }
  }
  return text + "ret;\n}\n";
}

inline std::vector<std::uint32_t> wmma_layout_input(std::size_t number, int round) {
  const WmmaLayoutCase& c = wmma_layout_cases()[number];
  std::vector<std::uint32_t> result(wmma_layout_in_words);
  for (int row = 0; row < c.rows(); ++row) {
    for (int column = 0; column < c.columns(); ++column) {
      const int element = row * c.columns() + column;
      const int at = (c.by_columns ? column * c.rows() + row : element) * c.bits;
      result[static_cast<std::size_t>(at / 32)] |= static_cast<std::uint32_t>(element >> round & 1)
                                                   << (at % 32);
    }
  }
  return result;
}

} // namespace heddle::test
