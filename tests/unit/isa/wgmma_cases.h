// The multiplications by a warpgroup that were recorded on an H200: PTX, inputs, and a digest of
// the results. Shared by wgmma_test.cpp, which replays them, and wgmma_record.cu, which records
// them.
#pragma once

#include "mma_cases.h"

namespace heddle::test {

constexpr int wgmma_rounds = 16;
constexpr std::size_t wgmma_shared_words = 11520; // of A from byte 0 on, of B from byte 8192 on
constexpr std::size_t wgmma_b_word = 2048;
constexpr std::size_t wgmma_a_word = wgmma_shared_words;     // A in registers, 4 per thread
constexpr std::size_t wgmma_d_word = wgmma_a_word + 4 * 128; // up to 128 per thread
constexpr std::size_t wgmma_in_words = wgmma_d_word + 128 * 128;
constexpr std::size_t wgmma_metadata_word = wgmma_d_word + 127 * 128; // 1 per thread
constexpr std::size_t wgmma_out_words = 128 * 128;

/// Where a matrix lies: bytes, and the fields of a descriptor.
struct WgmmaPlace {
  unsigned start = 0, leading = 0, stride = 0, line = 0, swizzle = 0;
};
constexpr WgmmaPlace in_registers{1, 1, 1, 1, 9};

struct WgmmaCase {
  std::string_view name;
  std::string_view form; // shape and types
  int n = 8;
  std::string_view a, b, d; // element types
  WgmmaPlace a_at, b_at;
  std::string_view more; // scales and transpositions
  bool add = true;
  std::string_view sparse = ""; // .sp: the selector
};

// clang-format off
inline constexpr WgmmaCase wgmma_cases[] = {
  // How each type is added, in the smallest shape; A in memory and in registers.
  {"f16", "m64n8k16.f32.f16.f16", 8, "f16", "f16", "f32", {0, 128, 256}, {8192, 128, 256}, "1, 1, 0, 0"},
  {"f16 registers", "m64n8k16.f32.f16.f16", 8, "f16", "f16", "f32", in_registers, {8192, 128, 256}, "1, 1, 0"},
  {"f16 to f16", "m64n8k16.f16.f16.f16", 8, "f16", "f16", "f16", {0, 128, 256}, {8192, 128, 256}, "1, 1, 0, 0"},
  {"bf16", "m64n8k16.f32.bf16.bf16", 8, "bf16", "bf16", "f32", {0, 128, 256}, {8192, 128, 256}, "1, 1, 0, 0"},
  {"tf32", "m64n8k8.f32.tf32.tf32", 8, "f32", "f32", "f32", {0, 128, 256}, {8192, 128, 256}, "1, 1"},
  {"tf32 registers", "m64n8k8.f32.tf32.tf32", 8, "f32", "f32", "f32", in_registers, {8192, 128, 256}, "1, 1"},
  {"e4m3", "m64n8k32.f32.e4m3.e4m3", 8, "e4m3", "e4m3", "f32", {0, 128, 256}, {8192, 128, 256}, "1, 1"},
  {"e5m2 e4m3", "m64n8k32.f32.e5m2.e4m3", 8, "e5m2", "e4m3", "f32", {0, 128, 256}, {8192, 128, 256}, "1, 1"},
  {"e5m2 registers", "m64n8k32.f32.e5m2.e5m2", 8, "e5m2", "e5m2", "f32", in_registers, {8192, 128, 256}, "1, 1"},
  {"e4m3 to f16", "m64n8k32.f16.e4m3.e4m3", 8, "e4m3", "e4m3", "f16", {0, 128, 256}, {8192, 128, 256}, "1, 1"},
  {"e4m3 e5m2 to f16", "m64n8k32.f16.e4m3.e5m2", 8, "e4m3", "e5m2", "f16", {0, 128, 256}, {8192, 128, 256}, "1, 1"},
  {"s8", "m64n8k32.s32.s8.s8", 8, "bits", "bits", "bits", {0, 128, 256}, {8192, 128, 256}, ""},
  {"u8 s8 satfinite", "m64n8k32.satfinite.s32.u8.s8", 8, "bits", "bits", "bits", {0, 128, 256}, {8192, 128, 256}, ""},
  {"s8 u8 registers", "m64n8k32.s32.s8.u8", 8, "bits", "bits", "bits", in_registers, {8192, 128, 256}, ""},
  {"b1", "m64n8k256.s32.b1.b1.and.popc", 8, "bits", "bits", "bits", {0, 128, 256}, {8192, 128, 256}, ""},
  {"b1 registers", "m64n8k256.s32.b1.b1.and.popc", 8, "bits", "bits", "bits", in_registers, {8192, 128, 256}, ""},
  // Scales.
  {"f16 minus a", "m64n8k16.f32.f16.f16", 8, "f16", "f16", "f32", {0, 128, 256}, {8192, 128, 256}, "-1, 1, 0, 0"},
  {"f16 minus b", "m64n8k16.f32.f16.f16", 8, "f16", "f16", "f32", in_registers, {8192, 128, 256}, "1, -1, 0"},
  {"e4m3 minus both", "m64n8k32.f32.e4m3.e4m3", 8, "e4m3", "e4m3", "f32", {0, 128, 256}, {8192, 128, 256}, "-1, -1"},
  {"f16 without d", "m64n8k16.f32.f16.f16", 8, "f16", "f16", "f32", {0, 128, 256}, {8192, 128, 256}, "1, 1, 0, 0", false},
  {"s8 without d", "m64n8k32.s32.s8.s8", 8, "bits", "bits", "bits", {0, 128, 256}, {8192, 128, 256}, "", false},
  // Places of 16-bit elements, lines along k: strides of any size, swizzles, a start within a span.
  {"f16 far apart", "m64n32k16.f32.f16.f16", 32, "f16", "f16", "f32", {16, 3072, 336}, {8192 + 48, 1168, 4112}, "1, 1, 0, 0"},
  {"f16 32", "m64n40k16.f32.f16.f16", 40, "f16", "f16", "f32", {0, 16, 256, 0, 3}, {8192, 16, 512, 0, 3}, "1, 1, 0, 0"},
  {"f16 64", "m64n40k16.f32.f16.f16", 40, "f16", "f16", "f32", {0, 16, 512, 0, 2}, {8192 + 32, 16, 1024, 0, 2}, "1, 1, 0, 0"},
  {"f16 128", "m64n40k16.f32.f16.f16", 40, "f16", "f16", "f32", {0, 16, 1024, 0, 1}, {8192, 16, 2048, 0, 1}, "1, 1, 0, 0"},
  {"f16 128 further", "m64n40k16.f32.f16.f16", 40, "f16", "f16", "f32", {32, 16, 1024, 0, 1}, {8192 + 96, 16, 1024, 0, 1}, "1, 1, 0, 0"},
  {"bf16 64 128", "m64n64k16.f32.bf16.bf16", 64, "bf16", "bf16", "f32", {32, 16, 512, 0, 2}, {8192 + 64, 16, 1024, 0, 1}, "1, 1, 0, 0"},
  // The same transposed: lines along m and n.
  {"f16 transposed", "m64n32k16.f32.f16.f16", 32, "f16", "f16", "f32", {0, 128, 256}, {8192, 128, 256}, "1, 1, 1, 1"},
  {"f16 transposed far apart", "m64n32k16.f32.f16.f16", 32, "f16", "f16", "f32", {16, 3072, 336}, {8192 + 48, 1168, 4112}, "1, 1, 1, 1"},
  {"f16 transposed 32", "m64n40k16.f32.f16.f16", 40, "f16", "f16", "f32", {0, 512, 256, 0, 3}, {8192, 1024, 512, 0, 3}, "1, 1, 1, 1"},
  {"f16 transposed 64", "m64n72k16.f32.f16.f16", 72, "f16", "f16", "f32", {0, 1024, 512, 0, 2}, {8192, 4096, 1024, 0, 2}, "1, 1, 1, 1"},
  {"f16 transposed 128", "m64n136k16.f32.f16.f16", 136, "f16", "f16", "f32", {0, 2048, 1024, 0, 1}, {8192, 4096, 2048, 0, 1}, "1, 1, 1, 1"},
  {"bf16 transposed b", "m64n64k16.f32.bf16.bf16", 64, "bf16", "bf16", "f32", {0, 16, 1024, 0, 1}, {8192, 2048, 1024, 0, 1}, "1, 1, 0, 1"},
  {"bf16 transposed a", "m64n64k16.f32.bf16.bf16", 64, "bf16", "bf16", "f32", {0, 2048, 1024, 0, 1}, {8192, 16, 1024, 0, 1}, "1, 1, 1, 0"},
  {"f16 registers transposed", "m64n64k16.f32.f16.f16", 64, "f16", "f16", "f32", in_registers, {8192, 2048, 1024, 0, 1}, "1, 1, 1"},
  // A pattern that begins elsewhere.
  {"f16 128 line 3", "m64n16k16.f32.f16.f16", 16, "f16", "f16", "f32", {384, 16, 1024, 3, 1}, {8192 + 640, 16, 1024, 5, 1}, "1, 1, 0, 0"},
  {"f16 64 line 1", "m64n16k16.f32.f16.f16", 16, "f16", "f16", "f32", {128, 16, 512, 1, 2}, {8192 + 256, 16, 512, 2, 2}, "1, 1, 0, 0"},
  {"f16 transposed 128 line 2", "m64n16k16.f32.f16.f16", 16, "f16", "f16", "f32", {256, 2048, 1024, 2, 1}, {8192 + 128, 2048, 1024, 1, 1}, "1, 1, 1, 1"},
  // Every swizzle of other types.
  {"tf32 128", "m64n24k8.f32.tf32.tf32", 24, "f32", "f32", "f32", {32, 16, 1024, 0, 1}, {8192, 16, 1024, 0, 1}, "1, 1"},
  {"tf32 64 32", "m64n24k8.f32.tf32.tf32", 24, "f32", "f32", "f32", {0, 16, 512, 0, 2}, {8192, 16, 256, 0, 3}, "1, 1"},
  {"e4m3 128", "m64n24k32.f32.e4m3.e4m3", 24, "e4m3", "e4m3", "f32", {64, 16, 1024, 0, 1}, {8192, 16, 1024, 0, 1}, "1, 1"},
  {"s8 128", "m64n48k32.s32.s8.s8", 48, "bits", "bits", "bits", {0, 16, 1024, 0, 1}, {8192 + 32, 16, 1024, 0, 1}, ""},
  {"b1 64", "m64n48k256.s32.b1.b1.and.popc", 48, "bits", "bits", "bits", {0, 16, 512, 0, 2}, {8192, 16, 512, 0, 2}, ""},
  // Wide ones.
  {"f16 n256", "m64n256k16.f32.f16.f16", 256, "f16", "f16", "f32", {0, 16, 1024, 0, 1}, {8192, 16, 1024, 0, 1}, "1, 1, 0, 0"},
  {"f16 to f16 n248", "m64n248k16.f16.f16.f16", 248, "f16", "f16", "f16", {0, 16, 1024, 0, 1}, {8192, 16, 1024, 0, 1}, "1, 1, 0, 0"},
  {"e5m2 n176", "m64n176k32.f32.e5m2.e5m2", 176, "e5m2", "e5m2", "f32", {0, 16, 1024, 0, 1}, {8192, 16, 1024, 0, 1}, "1, 1"},
  {"u8 n256", "m64n256k32.s32.u8.u8", 256, "bits", "bits", "bits", {0, 16, 256, 0, 3}, {8192, 16, 256, 0, 3}, ""},
  // A sparse: every shape of metadata, B twice as long, in every layout.
  {"sp f16", "m64n8k32.f32.f16.f16", 8, "f16", "f16", "f32", {0, 128, 256}, {8192, 128, 512}, "1, 1, 0, 0", true, "0"},
  {"sp f16 registers", "m64n8k32.f32.f16.f16", 8, "f16", "f16", "f32", in_registers, {8192, 128, 512}, "1, 1, 0", true, "1"},
  {"sp f16 to f16", "m64n8k32.f16.f16.f16", 8, "f16", "f16", "f16", {0, 128, 256}, {8192, 128, 512}, "1, 1, 0, 0", true, "1"},
  {"sp tf32", "m64n8k16.f32.tf32.tf32", 8, "f32", "f32", "f32", {0, 128, 256}, {8192, 128, 512}, "1, 1", true, "0"},
  {"sp e4m3", "m64n8k64.f32.e4m3.e4m3", 8, "e4m3", "e4m3", "f32", {0, 128, 256}, {8192, 128, 512}, "1, 1", true, "0"},
  {"sp e5m2 registers to f16", "m64n8k64.f16.e5m2.e4m3", 8, "e5m2", "e4m3", "f16", in_registers, {8192, 128, 512}, "1, 1", true, "0"},
  {"sp s8 u8", "m64n8k64.s32.s8.u8", 8, "bits", "bits", "bits", {0, 128, 256}, {8192, 128, 512}, "", true, "0"},
  {"sp bf16 128", "m64n40k32.f32.bf16.bf16", 40, "bf16", "bf16", "f32", {32, 16, 1024, 0, 1}, {8192 + 64, 16, 1024, 0, 1}, "1, 1, 0, 0", true, "0"},
  {"sp f16 64", "m64n40k32.f32.f16.f16", 40, "f16", "f16", "f32", {32, 16, 512, 0, 2}, {8192, 16, 512, 0, 2}, "1, 1, 0, 0", true, "1"},
  {"sp f16 32", "m64n40k32.f32.f16.f16", 40, "f16", "f16", "f32", {0, 16, 256, 0, 3}, {8192, 2048, 256, 0, 3}, "1, 1, 0, 0", true, "1"},
  {"sp f16 far apart", "m64n32k32.f32.f16.f16", 32, "f16", "f16", "f32", {16, 3072, 336}, {8192 + 48, 1168, 4112}, "1, 1, 0, 0", true, "0"},
  {"sp f16 transposed", "m64n32k32.f32.f16.f16", 32, "f16", "f16", "f32", {0, 2048, 1024, 0, 1}, {8192, 4096, 1024, 0, 1}, "1, 1, 1, 1", true, "0"},
  {"sp f16 transposed no swizzle", "m64n32k32.f32.f16.f16", 32, "f16", "f16", "f32", {0, 128, 256}, {8192, 128, 512}, "1, 1, 1, 1", true, "1"},
};
// clang-format on

inline bool in_memory(const WgmmaPlace& at) {
  return at.swizzle < 4;
}
/// Registers of D that a thread has.
inline int wgmma_registers(const WgmmaCase& c) {
  return c.n / (c.d == "f16" ? 4 : 2);
}

/// A module with one kernel, k(out, in), for one block of 128 threads.
inline std::string wgmma_ptx(const WgmmaCase& c) {
  const int registers = wgmma_registers(c);
  const std::string type = c.d == "f32" ? "f32" : "b32";
  std::string text =
      ".version 9.0\n.target sm_90a\n.address_size 64\n"
      ".visible .entry k(.param .u64 out, .param .u64 in)\n.maxntid 128, 1, 1\n{\n"
      ".shared .align 1024 .b8 memory[46080];\n"
      ".reg .b32 %t, %i, %s, %v, %base; .reg .b64 %o, %in, %at, %n, %da, %db; .reg .pred %p, "
      "%add;\n"
      ".reg ." +
      type +
      " %d<128>; .reg .b32 %a<4>;\n"
      "ld.param.u64 %o, [out]; ld.param.u64 %in, [in]; mov.u32 %t, %tid.x;\n"
      "cvta.to.global.u64 %o, %o; cvta.to.global.u64 %in, %in;\n"
      "mov.u32 %base, memory; mov.u32 %i, %t;\n"
      "COPY: mul.wide.u32 %n, %i, 4; add.s64 %at, %in, %n; ld.global.b32 %v, [%at];\n"
      "shl.b32 %s, %i, 2; add.u32 %s, %s, %base; st.shared.b32 [%s], %v;\n"
      "add.u32 %i, %i, 128; setp.lt.u32 %p, %i, " +
      std::to_string(wgmma_shared_words) +
      ";\n"
      "@%p bra COPY;\nfence.proxy.async.shared::cta; bar.sync 0;\n";
  const auto load = [&](char prefix, const std::string& of, int count, std::size_t word) {
    text += "mul.wide.u32 %n, %t, " + std::to_string(4 * count) + "; add.s64 %at, %in, %n;\n";
    for (int r = 0; r < count; ++r) {
      text += "ld.global." + of + " %" + std::string(1, prefix) + std::to_string(r) + ", [%at+" +
              std::to_string((word + static_cast<std::size_t>(r)) * 4) + "];\n";
    }
  };
  const auto descriptor = [&](const std::string& name, const WgmmaPlace& at) {
    const std::uint64_t rest = std::uint64_t{at.leading / 16} << 16 |
                               std::uint64_t{at.stride / 16} << 32 | std::uint64_t{at.line} << 49 |
                               std::uint64_t{at.swizzle} << 62;
    text += "add.u32 %s, %base, " + std::to_string(at.start) + "; shr.u32 %s, %s, 4; cvt.u64.u32 " +
            name + ", %s; or.b64 " + name + ", " + name + ", " +
            std::to_string(static_cast<std::int64_t>(rest)) + ";\n";
  };
  load('d', type, registers, wgmma_d_word);
  if (in_memory(c.a_at)) {
    descriptor("%da", c.a_at);
  } else {
    load('a', "b32", 4, wgmma_a_word);
  }
  descriptor("%db", c.b_at);
  if (!c.sparse.empty()) {
    text += ".reg .b32 %e<1>;\n";
    load('e', "b32", 1, wgmma_metadata_word);
  }
  text += std::string("setp.") + (c.add ? "eq" : "ne") + ".u32 %add, %base, %base;\n";
  text += std::string("wgmma.fence.sync.aligned;\nwgmma.mma_async.") +
          (c.sparse.empty() ? "" : "sp.") + "sync.aligned." + std::string(c.form) + " " +
          mma_list('d', registers) + ", " + (in_memory(c.a_at) ? "%da" : mma_list('a', 4)) +
          ", %db" + (c.sparse.empty() ? "" : ", %e0, " + std::string(c.sparse)) + ", %add" +
          (c.more.empty() ? "" : ", ") + std::string(c.more) + ";\n";
  text += "wgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;\n";
  text += "mul.wide.u32 %n, %t, " + std::to_string(4 * registers) + "; add.s64 %at, %o, %n;\n";
  for (int r = 0; r < registers; ++r) {
    text += "st.global." + type + " [%at+" + std::to_string(r * 4) + "], %d" + std::to_string(r) +
            ";\n";
  }
  return text + "ret;\n}\n";
}

/// As mma_input: growing range of exponents, d = 0 in some; the last two rounds: any bits.
inline std::vector<std::uint32_t> wgmma_input(std::size_t index, int round) {
  const WgmmaCase& c = wgmma_cases[index];
  MmaRandom random(100'000 + index * 100 + static_cast<std::uint64_t>(round));
  const int spread = round >= wgmma_rounds - 2 ? -1 : round;
  std::vector<std::uint32_t> in(wgmma_in_words);
  for (std::size_t n = 0; n < in.size(); ++n) {
    const bool of_d = n >= wgmma_d_word;
    const bool of_b = n >= wgmma_b_word && n < wgmma_a_word;
    const std::uint32_t word = mma_word(random, of_d ? c.d : of_b ? c.b : c.a, spread, false);
    in[n] = of_d && round % 4 == 1 ? 0 : word;
    if (!c.sparse.empty() && n >= wgmma_metadata_word) {
      in[n] = mma_metadata(word * 2654435761U, c.a == "f32");
    }
  }
  return in;
}

inline std::uint64_t wgmma_digest(const std::uint32_t* out) {
  return mma_digest(out, wgmma_out_words);
}

} // namespace heddle::test
