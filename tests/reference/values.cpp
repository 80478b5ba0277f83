// Implements values.h.
#include "reference/values.h"

#include <fmt/ranges.h>

#include <array>

namespace heddle::differ {

Values::Where Values::shared_place() {
  const unsigned offset = (program_.host.empty() ? 8 : enumeration::place_q) * pick(chance(70) ? 1 : 2);
  if (in_block() && chance(30)) {
    return chance(50) ? Where{".shared", fmt::format("%r6+{}", offset)}
                      : Where{"", fmt::format("%d5+{}", offset)};
  }
  if (!known_.hot.empty() && guard_.empty() && chance(20)) { // which one, a value says
    const unsigned index = scratch("r"), address = scratch("d");
    say("and.b32 %r{}, %r{}, 1;", index, hot());
    say("mad.wide.u32 %d{}, %r{}, {}, %d1;", address, index, program_.host.empty() ? 8 : enumeration::place_q);
    return {chance(50) ? ".global" : "", fmt::format("%d{}", address)};
  }
  return {chance(50) ? ".global" : "", fmt::format("%d1+{}", offset)};
}

void Values::exchange_values() {
  const Where at = shared_place();
  if (chance(12)) {
    return exchange_wide(at);
  }
  switch (pick(8)) {
  case 0:
  case 1:
    say("ld.{}{}.u32 %r{}, [{}];", one_of({"relaxed.gpu", "acquire.gpu", "volatile"}), at.space, new_hot(), at.address);
    break;
  case 2:
    say("st.{}{}.u32 [{}], %r{};", one_of({"relaxed.gpu", "release.gpu", "volatile"}), at.space, at.address, word());
    break;
  case 3: {
    const std::string what(one_of({"add", "exch", "min", "max", "inc", "dec", "and", "or", "xor"}));
    const std::string_view type =
        what == "and" || what == "or" || what == "xor" || what == "exch" ? "b32" : "u32";
    const std::string operand = value();
    say("atom{}.{}.{} %r{}, [{}], {};", at.space, what, type, new_hot(), at.address, operand);
    break;
  }
  case 4: {
    const std::string before = value(), after = value();
    say("atom{}.cas.b32 %r{}, [{}], {}, {};", at.space, new_hot(), at.address, before, after);
    break;
  }
  case 5: {
    const std::string what(one_of({"add", "min", "max", "inc", "and", "or", "xor"}));
    say("red{}.{}.{} [{}], {};", at.space, what, what.size() == 3 && what != "and" && what != "xor" ? "u32" : "b32", at.address, value());
    break;
  }
  case 6:
    say("st.relaxed.gpu{}.u32 [{}], {};", at.space, at.address, constant());
    break;
  default:
    say("{};", one_of({"fence.acq_rel.gpu", "fence.sc.gpu", "membar.gl"}));
  }
}

void Values::exchange_wide(const Where& at) {
  const unsigned wide = scratch("d");
  switch (pick(6)) {
  case 0:
    say("ld.relaxed.gpu{}.u64 %d{}, [{}];", at.space, wide, at.address);
    return say("cvt.u32.u64 %r{}, %d{};", new_hot(), wide);
  case 1:
    say("mov.u64 %d{}, {};", wide, pick(3));
    return say("st.relaxed.gpu{}.u64 [{}], %d{};", at.space, at.address, wide);
  case 2: {
    const unsigned result = scratch("d");
    say("mov.u64 %d{}, {};", wide, 1 + pick(2));
    say("atom{}.{} %d{}, [{}], %d{};", at.space, one_of({"add.u64", "exch.b64", "max.u64"}), result, at.address, wide);
    return say("cvt.u32.u64 %r{}, %d{};", new_hot(), result);
  }
  case 3:
    return say("ld.relaxed.gpu{}.{} %r{}, [{}];", at.space, one_of({"u8", "u16", "s8"}), new_hot(), at.address);
  case 4:
    return say("st.relaxed.gpu{}.{} [{}], %r{};", at.space, one_of({"b8", "b16"}), at.address, word());
  default: {
    const unsigned other = scratch("r");
    return say("ld.volatile{}.v2.u32 {{%r{}, %r{}}}, [{}];", at.space, new_hot(), other, at.address);
  }
  }
}

Values::Where Values::own_place(unsigned bytes) {
  const unsigned offset = bytes * pick(16 / bytes);
  switch (pick(own_words() ? 6 : 3)) {
  case 0:
    return {".local", fmt::format("%r5+{}", offset)};
  case 1:
    return {"", fmt::format("%d4+{}", offset)};
  case 2:
    return {".local", fmt::format("own+{}", offset)};
  case 3:
    return {"", fmt::format("%d2+{}", 256 + offset)};
  default:
    return {".global", fmt::format("%d2+{}", 256 + offset)};
  }
}

void Values::own_memory() {
  static constexpr std::array<std::string_view, 8> types{"u8", "s8", "u16", "s16", "u32", "b32", "u64", "b64"};
  const unsigned t = pick(types.size());
  const unsigned bytes = 1U << (t / 2);
  const bool vector = chance(25);
  const Where at = own_place(vector ? 16 : bytes);
  const std::string how = at.space != ".local" && chance(10) ? ".volatile" : ""; // PTX has no other
  if (vector) {
    const unsigned elements = chance(50) ? 2 : 4;
    const unsigned width = elements == 2 && chance(30) ? 8 : 1U << pick(3);
    const std::string type = fmt::format("b{}", 8 * width);
    std::vector<std::string> values;
    const bool load = chance(50);
    for (unsigned e = 0; e < elements; ++e) {
      values.push_back(
          width == 8 ? fmt::format("%d{}", load ? new_long() : long_word())
                     : fmt::format("%r{}", load ? new_word() : word())
      );
    }
    const std::string list = fmt::format("{{{}}}", fmt::join(values, ", "));
    if (load) {
      std::ranges::sort(values);
      if (std::ranges::adjacent_find(values) != values.end()) {
        return; // one register twice
      }
      say("ld{}{}.v{}.{} {}, [{}];", how, at.space, elements, type, list, at.address);
    } else {
      say("st{}{}.v{}.{} [{}], {};", how, at.space, elements, type, at.address, list);
    }
    return;
  }
  if (chance(50)) {
    say("ld{}{}.{} %{}{}, [{}];", how, at.space, types[t], bytes == 8 ? "d" : "r", bytes == 8 ? new_long() : new_word(), at.address);
  } else {
    say("st{}{}.{} [{}], %{}{};", how, at.space, types[t], at.address, bytes == 8 ? "d" : "r", bytes == 8 ? long_word() : word());
  }
}

void Values::pass() {
  const unsigned from = hot();
  const std::string a = fmt::format("%r{}", from), b = value(), c = value();
  switch (pick(24)) {
  case 0:
    return say("mov.b32 %r{}, {};", new_hot(), a);
  case 1:
    return say("add.s32 %r{}, {}, {};", new_hot(), a, pick(2));
  case 2:
    return say("xor.b32 %r{}, {}, {};", new_hot(), a, pick(3));
  case 3:
    return say("prmt.b32 %r{}, {}, {}, 0x3210;", new_hot(), a, b);
  case 4:
    return say("prmt.b32 %r{}, {}, {}, 0x7654;", new_hot(), b, a);
  case 5:
    return say("bfe.u32 %r{}, {}, 0, {};", new_hot(), a, 2 + pick(31));
  case 6:
    return say("lop3.b32 %r{}, {}, {}, {}, 0xF0;", new_hot(), a, b, c);
  case 7:
    return say("shf.l.wrap.b32 %r{}, {}, {}, {};", new_hot(), a, a, 32 * pick(2));
  case 8:
    return say("mad.lo.u32 %r{}, {}, {}, {};", new_hot(), a, 1 + pick(2), pick(2));
  case 9:
    return say("cvt.{} %r{}, {};", one_of({"u32.u16", "s32.s16", "u32.u8", "s32.s8"}), new_hot(), a);
  case 10:
    return say("sad.u32 %r{}, {}, 0, {};", new_hot(), a, pick(2));
  case 11:
    return say("dp4a.u32.u32 %r{}, {}, 1, {};", new_hot(), a, pick(2));
  case 12: {
    const unsigned wide = scratch("d");
    say("cvt.{} %d{}, {};", one_of({"u64.u32", "s64.s32"}), wide, a);
    return say("cvt.u32.u64 %r{}, %d{};", new_hot(), wide);
  }
  case 13: {
    const unsigned wide = scratch("d"), other = scratch("r");
    const bool low = chance(50);
    const std::string half = fmt::format("%r{}", word());
    say("mov.b64 %d{}, {{{}, {}}};", wide, low ? a : half, low ? half : a);
    const unsigned made = new_hot();
    return say("mov.b64 {{%r{}, %r{}}}, %d{};", low ? made : other, low ? other : made, wide);
  }
  case 14: {
    const unsigned wide = scratch("d");
    say("mul.wide.u32 %d{}, {}, 256;", wide, a);
    say("shr.u64 %d{}, %d{}, {};", wide, wide, 8);
    return say("cvt.u32.u64 %r{}, %d{};", new_hot(), wide);
  }
  case 15: {
    const unsigned p = scratch("p");
    say("setp.ne.u32 %p{}, {}, {};", p, a, pick(3));
    known_.predicates.push_back(p);
    return say("selp.b32 %r{}, {}, {}, %p{};", new_hot(), pick(2), 2, p);
  }
  case 16: {
    const unsigned p = scratch("p"), made = new_hot();
    if (made != from) {
      say("mov.u32 %r{}, {};", made, pick(2));
      say("setp.eq.u32 %p{}, {}, {};", p, a, pick(3));
      program_.body.push_back(fmt::format("@%p{} mov.u32 %r{}, 2;", p, made));
    }
    return;
  }
  case 17:
    // Walks with a host begin anew, and a kernel that calls has a heap, with other addresses each time.
    return depth_ == 0 && guard_.empty() && program_.host.empty() ? call() : through_memory(a);
  default:
    return through_memory(a);
  }
}

void Values::through_memory(const std::string& a) {
  static constexpr std::array<unsigned, 4> widths{1, 2, 4, 8};
  const unsigned stored = widths[pick(4)], loaded = widths[pick(4)];
  const Where to = own_place(16), from{to.space, to.address};
  const auto put = [&](unsigned bytes, const std::string& reg) {
    say("st{}.b{} [{}], {};", to.space, 8 * bytes, to.address, reg);
  };
  if (stored == 8) {
    const unsigned wide = scratch("d");
    say("cvt.u64.u32 %d{}, {};", wide, a);
    put(8, fmt::format("%d{}", wide));
  } else {
    if (loaded > stored) {
      put(loaded == 8 ? 4 : loaded, "%r3"); // 0
      if (loaded == 8) {
        say("st{}.v2.b32 [{}], {{%r3, %r3}};", to.space, to.address);
      }
    }
    put(stored, a);
  }
  if (loaded == 8) {
    const unsigned wide = scratch("d");
    say("ld{}.b64 %d{}, [{}];", from.space, wide, from.address);
    return say("cvt.u32.u64 %r{}, %d{};", new_hot(), wide);
  }
  if (stored == 4 && loaded == 4 && guard_.empty() && chance(20)) { // in an array, where another value says
    const unsigned index = scratch("r"), address = scratch("d");
    say("and.b32 %r{}, %r{}, 3;", index, hot());
    say("mad.wide.u32 %d{}, %r{}, 4, %d4;", address, index);
    say("st.u32 [%d{}], {};", address, a);
    say("ld.local.u32 %r{}, [own+{}];", new_hot(), 4 * pick(4));
    return;
  }
  if (chance(25)) {
    const unsigned other = scratch("r");
    return say("ld{}.v2.b{} {{%r{}, %r{}}}, [{}];", from.space, 8 * loaded, new_hot(), other, from.address);
  }
  say("ld{}.u{} %r{}, [{}];", from.space, 8 * loaded, new_hot(), from.address);
}

void Values::compute() {
  const std::string a = fmt::format("%r{}", word()), b = value(), c = value();
  const std::string x = fmt::format("%d{}", long_word()), y = fmt::format("%d{}", long_word());
  const unsigned p = predicate(), n = pick(33);
  switch (pick(34)) {
  case 0: return say("mov.b32 %r{}, {};", new_word(), a);
  case 1: return say("add.u32 %r{}, {}, {};", new_word(), a, b);
  case 2: return say("sub.s32 %r{}, {}, {};", new_word(), a, b);
  case 3: return say("mul.lo.u32 %r{}, {}, {};", new_word(), a, b);
  case 4: return say("mad.lo.s32 %r{}, {}, {}, {};", new_word(), a, b, c);
  case 5: return say("and.b32 %r{}, {}, {};", new_word(), a, b);
  case 6: return say("or.b32 %r{}, {}, {};", new_word(), a, b);
  case 7: return say("xor.b32 %r{}, {}, {};", new_word(), a, b);
  case 8: return say("not.b32 %r{}, {};", new_word(), a);
  case 9: return say("shl.b32 %r{}, {}, {};", new_word(), a, n);
  case 10: return say("shr.{} %r{}, {}, {};", one_of({"u32", "s32", "b32"}), new_word(), a, n);
  case 11: return say("prmt.b32{} %r{}, {}, {}, {};", one_of({"", "", ".f4e", ".rc8", ".ecl"}), new_word(), a, b, chance(50) ? c : fmt::format("{}", pick(65536)));
  case 12: return say("bfe.{} %r{}, {}, {}, {};", one_of({"u32", "s32"}), new_word(), a, pick(32), pick(33));
  case 13: return say("bfi.b32 %r{}, {}, {}, {}, {};", new_word(), a, b, pick(32), pick(33));
  case 14: return say("{}.b32 %r{}, {};", one_of({"popc", "clz", "brev"}), new_word(), a);
  case 15: return say("lop3.b32 %r{}, {}, {}, {}, {};", new_word(), a, b, c, pick(256));
  case 16: return say("shf.{}.{}.b32 %r{}, {}, {}, {};", one_of({"l", "r"}), one_of({"wrap", "clamp"}), new_word(), a, b, c);
  case 17: return say("selp.b32 %r{}, {}, {}, %p{};", new_word(), a, b, p);
  case 18: return say("slct.u32.s32 %r{}, {}, {}, {};", new_word(), a, b, c);
  case 19: return say("{}.{} %r{}, {}, {};", one_of({"min", "max"}), one_of({"u32", "s32"}), new_word(), a, b);
  case 20: return say("mov.b64 %d{}, {{{}, {}}};", new_long(), a, fmt::format("%r{}", word()));
  case 21: {
    const unsigned low = new_word(), high = new_word();
    if (low != high) {
      say("mov.b64 {{%r{}, %r{}}}, {};", low, high, x);
    }
    return;
  }
  case 22: return say("cvt.{} %r{}, {};", one_of({"u32.u16", "s32.s16", "u32.u8", "s32.s8"}), new_word(), fmt::format("%r{}", word()));
  case 23: return say("cvt.{} %d{}, {};", one_of({"u64.u32", "s64.s32"}), new_long(), a);
  case 24: return say("cvt.u32.u64 %r{}, {};", new_word(), x);
  case 25: return say("{} %d{}, {}, {};", one_of({"add.u64", "sub.s64", "and.b64", "or.b64", "xor.b64", "mul.lo.u64"}), new_long(), x, y);
  case 26: return say("{} %d{}, {}, {};", one_of({"shl.b64", "shr.u64", "shr.s64"}), new_long(), x, pick(65));
  case 27: return say("mul.wide.u32 %d{}, {}, {};", new_long(), a, b);
  case 28: return say("mad.wide.s32 %d{}, {}, {}, {};", new_long(), a, b, x);
  case 29: return say("sad.u32 %r{}, {}, {}, {};", new_word(), a, b, c);
  case 30: return say("dp4a.u32.u32 %r{}, {}, {}, {};", new_word(), a, b, c);
  case 31: return say("cvt.sat.{} %r{}, {};", one_of({"u8.u32", "u8.s32", "s8.s32", "u16.u32"}), new_word(), a);
  case 32: return say("{} %r{}, {}, {};", one_of({"mul24.lo.u32", "mul.hi.u32", "rem.u32", "div.u32"}), new_word(), a, pick(3) + 1);
  default: return say("selp.b64 %d{}, {}, {}, %p{};", new_long(), x, y, p);
  }
}

void Values::compare() {
  const std::string a = fmt::format("%r{}", word()), b = value();
  const std::string x = fmt::format("%d{}", long_word());
  const unsigned p = predicate(), q = predicate();
  const std::string_view relation = one_of({"eq", "ne", "lt", "le", "gt", "ge"});
  switch (pick(6)) {
  case 0:
  case 1:
  case 2: return say("setp.{}.u32 %p{}, {}, {};", relation, new_predicate(), a, b);
  case 3: return say("setp.{}.s64 %p{}, {}, {};", relation, new_predicate(), x, pick(3));
  case 4: return say("{}.pred %p{}, %p{}, %p{};", one_of({"and", "or", "xor"}), new_predicate(), p, q);
  default: return say("setp.{}.{}.u32 %p{}, {}, {}, %p{};", relation, one_of({"and", "or", "xor"}), new_predicate(), a, b, p);
  }
}

void Values::call() {
  const unsigned which = static_cast<unsigned>(program_.functions.size());
  const std::string name = fmt::format("f{}", which);
  std::string inside;
  switch (pick(own_words() ? 4 : 3)) {
  case 0:
    inside = "add.u32 %v1, %v0, 1;\n";
    break;
  case 1:
    inside = "st.local.u32 [kept], %v0;\nld.local.u32 %v1, [kept];\n";
    break;
  case 2:
    inside = fmt::format("atom.{}.u32 %v1, [%w0], %v0;\n", one_of({"add", "max", "exch.b32"}));
    if (inside.find("exch") != std::string::npos) {
      inside = "atom.exch.b32 %v1, [%w0], %v0;\n";
    }
    break;
  default:
    inside = "st.u32 [%w1+288], %v0;\nld.u32 %v1, [%w1+288];\n";
  }
  program_.functions.push_back(
      fmt::format(
          ".func (.param .b32 out) {}(.param .b32 in, .param .b64 place, .param .b64 mine)\n{{\n"
          ".reg .b32 %v<3>; .reg .b64 %w<2>; .local .align 8 .b8 kept[8];\n"
          "ld.param.u32 %v0, [in]; ld.param.u64 %w0, [place]; ld.param.u64 %w1, [mine];\n"
          "{}st.param.b32 [out], %v1;\nret;\n}}\n",
          name,
          inside
      )
  );
  const unsigned in = hot();
  say("{{ .param .b32 a; .param .b64 b; .param .b64 c; .param .b32 o;"
      " st.param.b32 [a], %r{}; st.param.b64 [b], %d1; st.param.b64 [c], %d{};"
      " call (o), {}, (a, b, c); ld.param.b32 %r{}, [o]; }}",
      in,
      own_words() ? 2 : 1,
      name,
      new_hot());
}

} // namespace heddle::differ
