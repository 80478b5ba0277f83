// The matrix multiplications that were recorded on an H200: PTX, inputs, and a digest of the
// results. Shared by mma_test.cpp, which replays them, and mma_record.cu, which records them.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace heddle::test {

constexpr int mma_rounds = 16;
constexpr std::size_t mma_in_words =
    768; // mma: 20 per lane, a b c; wmma: matrices at bytes 0, 1024, 2048
constexpr std::size_t mma_out_words = 512; // mma: 8 per lane; wmma: the matrix

struct MmaCase {
  std::string_view name;
  std::string_view instruction; // "mma.sync…" or the types of wmma
  std::string_view a, b, c;     // element types
  int registers[4] = {};        // of d, a, b, c
  std::string_view sparse = ""; // mma.sp: the selector; metadata are word 19 of a lane
};

// clang-format off
inline constexpr MmaCase mma_cases[] = {
  {"f16", "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32", "f16", "f16", "f32", {4, 4, 2, 4}},
  {"f16 k8", "mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32", "f16", "f16", "f32", {4, 2, 1, 4}},
  {"f16 to f16", "mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16", "f16", "f16", "f16", {2, 4, 2, 2}},
  {"f16 to f16 k8", "mma.sync.aligned.m16n8k8.row.col.f16.f16.f16.f16", "f16", "f16", "f16", {2, 2, 1, 2}},
  {"bf16", "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32", "bf16", "bf16", "f32", {4, 4, 2, 4}},
  {"bf16 k8", "mma.sync.aligned.m16n8k8.row.col.f32.bf16.bf16.f32", "bf16", "bf16", "f32", {4, 2, 1, 4}},
  {"tf32", "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32", "f32", "f32", "f32", {4, 4, 2, 4}},
  {"tf32 k4", "mma.sync.aligned.m16n8k4.row.col.f32.tf32.tf32.f32", "f32", "f32", "f32", {4, 2, 1, 4}},
  {"e4m3", "mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32", "e4m3", "e4m3", "f32", {4, 4, 2, 4}},
  {"e5m2 e4m3", "mma.sync.aligned.m16n8k32.row.col.f32.e5m2.e4m3.f32", "e5m2", "e4m3", "f32", {4, 4, 2, 4}},
  {"s8 k16", "mma.sync.aligned.m16n8k16.row.col.s32.s8.s8.s32", "bits", "bits", "bits", {4, 2, 1, 4}},
  {"s8 u8 satfinite", "mma.sync.aligned.m16n8k32.row.col.satfinite.s32.s8.u8.s32", "bits", "bits", "bits", {4, 4, 2, 4}},
  {"u8 s8 m8", "mma.sync.aligned.m8n8k16.row.col.s32.u8.s8.s32", "bits", "bits", "bits", {2, 1, 1, 2}},
  {"s4 u4", "mma.sync.aligned.m16n8k64.row.col.s32.s4.u4.s32", "bits", "bits", "bits", {4, 4, 2, 4}},
  {"u4 k32", "mma.sync.aligned.m16n8k32.row.col.s32.u4.u4.s32", "bits", "bits", "bits", {4, 2, 1, 4}},
  {"b1 xor", "mma.sync.aligned.m16n8k256.row.col.s32.b1.b1.s32.xor.popc", "bits", "bits", "bits", {4, 4, 2, 4}},
  {"b1 and", "mma.sync.aligned.m16n8k128.row.col.s32.b1.b1.s32.and.popc", "bits", "bits", "bits", {4, 2, 1, 4}},
  {"f64 m8", "mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64", "f64", "f64", "f64", {2, 1, 1, 2}},
  {"f64 k4", "mma.sync.aligned.m16n8k4.row.col.f64.f64.f64.f64", "f64", "f64", "f64", {4, 2, 1, 4}},
  {"f64 k8", "mma.sync.aligned.m16n8k8.row.col.f64.f64.f64.f64", "f64", "f64", "f64", {4, 4, 2, 4}},
  // wmma: shape and types; the layouts differ to see that they are honoured.
  {"wmma f16", "row.col.m16n16k16.f32.f32", "f16", "f16", "f32", {8, 8, 8, 8}},
  {"wmma f16 to f16", "col.row.m16n16k16.f16.f16", "f16", "f16", "f16", {4, 8, 8, 4}},
  {"wmma f16 m32", "row.row.m32n8k16.f32.f32", "f16", "f16", "f32", {8, 8, 8, 8}},
  {"wmma f16 m8", "col.col.m8n32k16.f32.f32", "f16", "f16", "f32", {8, 8, 8, 8}},
  {"wmma bf16", "row.col.m16n16k16.f32.bf16.bf16.f32", "bf16", "bf16", "f32", {8, 4, 4, 8}},
  {"wmma tf32", "row.col.m16n16k8.f32.tf32.tf32.f32", "f32", "f32", "f32", {8, 4, 4, 8}},
  {"wmma s8", "row.col.m16n16k16.s32.s8.s8.s32", "bits", "bits", "bits", {8, 2, 2, 8}},
  {"wmma f64", "row.col.m8n8k4.rn.f64.f64.f64.f64", "f64", "f64", "f64", {2, 1, 1, 2}},
  // Sparse: every shape of metadata, both of its instructions.
  {"sp f16", "mma.sp::ordered_metadata.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32", "f16", "f16", "f32", {4, 4, 4, 4}, "0"},
  {"sp f16 selector", "mma.sp::ordered_metadata.sync.aligned.m16n8k32.row.col.f16.f16.f16.f16", "f16", "f16", "f16", {2, 4, 4, 2}, "1"},
  {"sp f16 k16", "mma.sp.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32", "f16", "f16", "f32", {4, 2, 2, 4}, "0"},
  {"sp bf16 k16", "mma.sp::ordered_metadata.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32", "bf16", "bf16", "f32", {4, 2, 2, 4}, "3"},
  {"sp bf16", "mma.sp.sync.aligned.m16n8k32.row.col.f32.bf16.bf16.f32", "bf16", "bf16", "f32", {4, 4, 4, 4}, "1"},
  {"sp tf32 k8", "mma.sp::ordered_metadata.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32", "f32", "f32", "f32", {4, 2, 2, 4}, "2"},
  {"sp tf32", "mma.sp::ordered_metadata.sync.aligned.m16n8k16.row.col.f32.tf32.tf32.f32", "f32", "f32", "f32", {4, 4, 4, 4}, "1"},
  {"sp e4m3", "mma.sp::ordered_metadata.sync.aligned.m16n8k64.row.col.f32.e4m3.e4m3.f32", "e4m3", "e4m3", "f32", {4, 4, 4, 4}, "0"},
  {"sp e4m3 e5m2", "mma.sp::ordered_metadata.sync.aligned.m16n8k64.row.col.f32.e4m3.e5m2.f32", "e4m3", "e5m2", "f32", {4, 4, 4, 4}, "0"},
  {"sp s8 k32", "mma.sp::ordered_metadata.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32", "bits", "bits", "bits", {4, 2, 2, 4}, "0"},
  {"sp u8 s8 k32", "mma.sp::ordered_metadata.sync.aligned.m16n8k32.row.col.satfinite.s32.u8.s8.s32", "bits", "bits", "bits", {4, 2, 2, 4}, "1"},
  {"sp s8 u8", "mma.sp::ordered_metadata.sync.aligned.m16n8k64.row.col.s32.s8.u8.s32", "bits", "bits", "bits", {4, 4, 4, 4}, "0"},
  {"sp s4 k64", "mma.sp::ordered_metadata.sync.aligned.m16n8k64.row.col.s32.s4.u4.s32", "bits", "bits", "bits", {4, 2, 2, 4}, "1"},
  {"sp u4", "mma.sp::ordered_metadata.sync.aligned.m16n8k128.row.col.s32.u4.s4.s32", "bits", "bits", "bits", {4, 4, 4, 4}, "0"},
};
// clang-format on

inline std::string replaced(std::string text, std::string_view from, std::string_view to) {
  for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size()) {
    text.replace(at, from.size(), to);
  }
  return text;
}

inline std::string mma_list(char prefix, int count) {
  std::string text = "{";
  for (int n = 0; n < count; ++n) {
    text += (n != 0 ? ", %" : "%") + std::string(1, prefix) + std::to_string(n);
  }
  return text + "}";
}

/// The words between the dots of `text`.
inline std::vector<std::string> dotted(std::string_view text) {
  std::vector<std::string> result(1);
  for (const char c : text) {
    if (c == '.') {
      result.emplace_back();
    } else {
      result.back() += c;
    }
  }
  return result;
}

/// A module with one kernel, k(out, in).
inline std::string mma_ptx(const MmaCase& c) {
  const bool wide = c.a == "f64";
  const std::string type = wide ? "b64" : "b32";
  const int words = wide ? 2 : 1;
  const std::string d = mma_list('d', c.registers[0]);
  const std::string a = mma_list('a', c.registers[1]);
  const std::string b = mma_list('b', c.registers[2]);
  const std::string s = mma_list('c', c.registers[3]);
  std::string text = ".version 9.0\n.target sm_90a\n.address_size 64\n"
                     ".visible .entry k(.param .u64 out, .param .u64 in)\n{\n.reg .b32 %lane; .reg "
                     ".b64 %o, %i, %n;\n";
  const bool wmma = c.name.substr(0, 4) == "wmma";
  const bool floats = wmma && c.c == "f32";
  const std::string accumulator = floats ? "f32" : wide ? "f64" : "b32";
  text += ".reg ." + accumulator + " %d<8>, %c<8>; .reg ." + (wmma && wide ? "f64" : type) +
          " %a<8>, %b<8>;\n";
  text += "ld.param.u64 %o, [out]; ld.param.u64 %i, [in]; mov.u32 %lane, %tid.x;\n";
  text += "cvta.to.global.u64 %o, %o; cvta.to.global.u64 %i, %i;\n";
  if (!wmma) {
    text +=
        "mul.wide.u32 %n, %lane, 80; add.s64 %i, %i, %n; mul.wide.u32 %n, %lane, 32; add.s64 %o, "
        "%o, %n;\n";
    const auto load = [&](char prefix, int count, int first) {
      for (int n = 0; n < count; ++n) {
        text += "ld.global." + type + " %" + prefix + std::to_string(n) + ", [%i+" +
                std::to_string((first + n * words) * 4) + "];\n";
      }
    };
    load('a', c.registers[1], 0);
    load('b', c.registers[2], 8);
    load('c', c.registers[3], 12);
    text += ".reg .b32 %e; ld.global.b32 %e, [%i+76];\n";
    text += std::string(c.instruction) + " " + d + ", " + a + ", " + b + ", " + s +
            (c.sparse.empty() ? "" : ", %e, " + std::string(c.sparse)) + ";\n";
    for (int n = 0; n < c.registers[0]; ++n) {
      text += "st.global." + type + " [%o+" + std::to_string(n * words * 4) + "], %d" +
              std::to_string(n) + ";\n";
    }
  } else {
    const auto w = dotted(c.instruction); // layouts, shape, {rn}, d {a b} c
    const std::string& d_type = w[w[3] == "rn" ? 4 : 3];
    const std::string& c_type = w.back();
    const std::string a_type = w.size() == 5 ? "f16" : w[w[3] == "rn" ? 5 : 4];
    const std::string load = "wmma.load.";
    text +=
        load + "a.sync.aligned." + w[0] + "." + w[2] + ".global." + a_type + " " + a + ", [%i];\n";
    text += load + "b.sync.aligned." + w[1] + "." + w[2] + ".global." + a_type + " " + b +
            ", [%i+1024];\n";
    text += load + "c.sync.aligned.row." + w[2] + ".global." + c_type + " " + s + ", [%i+2048];\n";
    text += "wmma.mma.sync.aligned." + std::string(c.instruction) + " " + d + ", " + a + ", " + b +
            ", " + s + ";\n";
    text += "wmma.store.d.sync.aligned.col." + w[2] + ".global." + d_type + " [%o], " + d + ";\n";
  }
  return text + "ret;\n}\n";
}

class MmaRandom {
public:
  explicit MmaRandom(std::uint64_t seed)
      : state_(seed * 0x9e37'79b9'7f4a'7c15ULL + 88172645463325252ULL) {
    for (int i = 0; i < 8; ++i) {
      next();
    }
  }
  std::uint32_t next() {
    state_ ^= state_ << 13;
    state_ ^= state_ >> 7;
    state_ ^= state_ << 17;
    return static_cast<std::uint32_t>(state_ >> 16);
  }

private:
  std::uint64_t state_;
};

/// A float of the format whose exponent is at most `spread` away from 1's; spread < 0: any bits.
inline std::uint32_t
mma_float(MmaRandom& random, int exponent_bits, int mantissa_bits, int spread) {
  const std::uint32_t any =
      random.next() &
      static_cast<std::uint32_t>((std::uint64_t{2} << (exponent_bits + mantissa_bits)) - 1);
  if (spread < 0) {
    return any;
  }
  const int largest = (1 << exponent_bits) - 2;
  const int by =
      static_cast<int>(random.next() % static_cast<std::uint32_t>(2 * spread + 1)) - spread;
  int exponent = (1 << (exponent_bits - 1)) - 1 + by;
  exponent = exponent < 0 ? 0 : exponent > largest ? largest : exponent;
  const std::uint32_t mask = static_cast<std::uint32_t>((std::uint64_t{1} << exponent_bits) - 1)
                             << mantissa_bits;
  return (any & ~mask) | static_cast<std::uint32_t>(exponent) << mantissa_bits;
}

inline std::uint32_t mma_word(MmaRandom& random, std::string_view type, int spread, bool odd) {
  if (type == "bits") {
    return random.next();
  }
  if (type == "f32") {
    return mma_float(random, 8, 23, spread);
  }
  if (type == "f64") { // upper and lower half
    return odd ? mma_float(random, 11, 20, spread) : random.next();
  }
  const int exponent_bits = type == "f16" || type == "e5m2" ? 5 : type == "bf16" ? 8 : 4;
  const int mantissa_bits = type == "f16" ? 10 : type == "bf16" ? 7 : type == "e4m3" ? 3 : 2;
  const int bits = 1 + exponent_bits + mantissa_bits;
  std::uint32_t word = 0;
  for (int at = 0; at < 32; at += bits) {
    word |= mma_float(random, exponent_bits, mantissa_bits, spread) << at;
  }
  return word;
}

/// Metadata with so many bits: of each four elements two, of each two tf32 one, in order.
inline std::uint32_t mma_metadata(std::uint32_t any, bool tf32) {
  constexpr std::uint32_t two_of_four[] = {0x4, 0x8, 0xc, 0x9, 0xd, 0xe};
  std::uint32_t word = 0;
  for (int at = 0; at < 32; at += 4) {
    const std::uint32_t choice = any >> at & 15;
    word |= (tf32 ? (choice % 2 != 0 ? 0xeU : 0x4U) : two_of_four[choice % 6]) << at;
  }
  return word;
}

/// Rounds 0 to 13: growing range of exponents, c = 0 in some; 14 and 15: any bits.
inline std::vector<std::uint32_t> mma_input(std::size_t index, int round) {
  const MmaCase& c = mma_cases[index];
  MmaRandom random(index * 100 + static_cast<std::uint64_t>(round));
  const int spread = round >= 14 ? -1 : round;
  const bool wmma = c.name.substr(0, 4) == "wmma";
  std::vector<std::uint32_t> in(mma_in_words);
  for (std::size_t n = 0; n < in.size(); ++n) {
    const std::size_t place = wmma ? n / 256 : n % 20 < 8 ? 0 : n % 20 < 12 ? 1 : 2;
    const bool odd = n % 2 == 1;
    const std::uint32_t word = mma_word(
        random,
        place == 0   ? c.a
        : place == 1 ? c.b
                     : c.c,
        spread,
        odd
    );
    in[n] = place == 2 && round % 4 == 1 ? 0 : word;
    if (!c.sparse.empty() && n % 20 == 19) {
      in[n] = mma_metadata(word * 2654435761U, c.a == "f32");
    }
  }
  return in;
}

inline std::uint64_t mma_digest(const std::uint32_t* out, std::size_t words = mma_out_words) {
  std::uint64_t hash = 0xcbf2'9ce4'8422'2325ULL;
  for (std::size_t n = 0; n < words; ++n) {
    hash = (hash ^ out[n]) * 0x100'0000'01b3ULL;
    hash ^= hash >> 29;
  }
  return hash;
}

} // namespace heddle::test
