// Implements generator.h.
#include "reference/generator.h"

#include "base/random.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <string_view>

namespace heddle::differ {

using enumeration::Shape;

namespace {

/// Values that an instruction may use: registers by kind, as many as have been written on every way
/// that leads here.
struct Known {
  std::vector<unsigned> words, longs, predicates;
  std::vector<unsigned> hot; // words that depend on what other threads do
};

class Writer {
public:
  explicit Writer(const Wish& wish) : random_(wish.seed), wish_(wish) {}

  Generated write() {
    static constexpr std::array shapes{
        Shape::Blocks,
        Shape::Blocks,
        Shape::Block,
        Shape::Block,
        Shape::Block,
        Shape::Warps,
        Shape::Cluster,
        Shape::Cooperative,
        Shape::Pairs
    };
    program_.seed = wish_.seed;
    program_.shape = shapes[pick(shapes.size())];
    program_.threads = program_.shape == Shape::Pairs ? 4 : chance(80) ? 2 : 3;
    begin();
    if (program_.threads > 2 || chance(40)) {
      code(); // all do the same
    } else { // each does something else
      const std::string other = label(), end = label();
      say("setp.ne.u32 %p{}, %r0, 0;", known_.predicates.front());
      say("@%p{} bra {};", known_.predicates.front(), other);
      const Known here = known_;
      code();
      say("bra {};", end);
      known_ = here;
      place(other);
      code();
      place(end);
    }
    say("ret;");
    forget_unused();
    program_.words = next_;
    return std::move(program_);
  }

private:
  // --- Choices
  unsigned pick(std::size_t of) { return static_cast<unsigned>(random_.below(of)); }
  bool chance(unsigned percent) { return random_.below(100) < percent; }
  template <class T> const T& one_of(const std::vector<T>& list) { return list[pick(list.size())]; }
  std::string_view one_of(std::initializer_list<std::string_view> list) {
    return list.begin()[pick(list.size())];
  }

  // --- Text
  template <class... T> void say(fmt::format_string<T...> format, T&&... values) {
    program_.body.push_back(guard_ + fmt::format(format, std::forward<T>(values)...));
  }
  void place(const std::string& name) { program_.body.push_back(name + ":"); }
  std::string label() { return fmt::format("L{}", labels_++); }

  // --- Registers: each is written once, or again by who decides so, as compilers do
  unsigned fresh() { return next_++; }
  unsigned word() { return !known_.hot.empty() && chance(75) ? hot() : one_of(known_.words); }
  /// One of the last of them.
  unsigned hot() {
    const std::size_t last = known_.hot.size() - 1;
    return known_.hot[last - pick(std::min<std::size_t>(known_.hot.size(), chance(70) ? 2 : 9))];
  }
  unsigned new_hot() {
    const unsigned made = new_word();
    known_.hot.push_back(made);
    return made;
  }
  unsigned long_word() { return one_of(known_.longs); }
  unsigned predicate() { return one_of(known_.predicates); }
  /// What is written under a guard, or on one side of a branch, has a value before.
  unsigned target(std::vector<unsigned>& list, std::string_view kind, std::string_view type) {
    if (chance(15)) {
      return one_of(list);
    }
    const unsigned made = fresh();
    if (!guard_.empty()) {
      const std::string guard = std::exchange(guard_, {});
      say("mov.{} %{}{}, {};", type, kind, made, type == "pred" ? "0" : "0");
      guard_ = guard;
    }
    list.push_back(made);
    return made;
  }
  unsigned new_word() { return target(known_.words, "r", "b32"); }
  unsigned new_long() { return target(known_.longs, "d", "b64"); }
  unsigned new_predicate() {
    const unsigned made = chance(15) ? predicate() : fresh();
    if (std::ranges::count(known_.predicates, made) == 0) {
      if (!guard_.empty()) {
        const std::string guard = std::exchange(guard_, {});
        say("setp.ne.u32 %p{}, %r0, %r0;", made);
        guard_ = guard;
      }
      known_.predicates.push_back(made);
    }
    return made;
  }
  std::string value() { return chance(70) ? fmt::format("%r{}", word()) : fmt::format("{}", pick(4)); }

  void begin() {
    next_ = 8;
    if (program_.shape == Shape::Warps) { // the other lanes have ended before anybody begins
      say("mov.u32 %r1, %laneid;");
      say("setp.ne.u32 %p5, %r1, 0;");
      say("@%p5 exit;");
    }
    const std::size_t first = program_.body.size();
    say("ld.param.u64 %d1, [memory];");
    if (program_.shape == Shape::Pairs) {
      say("mov.u32 %r1, %tid.x;");
      say("mov.u32 %r2, %ctaid.x;");
      say("mad.lo.u32 %r0, %r2, 2, %r1;");
    } else if (program_.shape == Shape::Warps) {
      say("mov.u32 %r1, %tid.x;");
      say("shr.u32 %r0, %r1, 5;");
    } else {
      say("mov.u32 %r0, {};", program_.shape == Shape::Block ? "%tid.x" : "%ctaid.x");
    }
    say("mad.wide.u32 %d2, %r0, 64, %d1;"); // + 256: one's own words
    say("mov.u32 %r3, 0;");
    say("mov.u64 %d3, 1;");
    say("setp.eq.u32 %p4, %r0, 0;");
    say("mov.u32 %r5, own;");   // in local memory
    say("mov.u32 %r6, board;"); // in shared memory
    say("mov.u64 %d6, own;");
    say("cvta.local.u64 %d4, %d6;");
    say("mov.u64 %d7, board;");
    say("cvta.shared.u64 %d5, %d7;");
    prologue_begin_ = first;
    prologue_ = program_.body.size();
    if (in_block() && chance(25)) { // before anybody can reach it
      mbarrier_ = true;
      say("@%p4 mbarrier.init.shared.b64 [phase], {};", here());
      say("barrier.sync 0;");
    }
    known_.words = {0, 3};
    known_.longs = {3};
    known_.predicates = {4};
  }

  bool in_block() const {
    return program_.shape == Shape::Block || program_.shape == Shape::Pairs ||
           program_.shape == Shape::Warps;
  }
  /// Threads of a block.
  unsigned here() const {
    return program_.shape == Shape::Pairs ? 2 : in_block() ? program_.threads : 1;
  }

  /// Each instruction of a thread is a move: what nobody uses of the beginning costs states.
  void forget_unused() {
    std::vector<std::string>& body = program_.body;
    for (std::size_t line = prologue_; line-- > prologue_begin_;) {
      const std::size_t at = body[line].find('%');
      const std::string name = body[line].substr(at, body[line].find(',') - at);
      const auto uses = [&](const std::string& other) {
        for (std::size_t n = other.find(name); n != std::string::npos; n = other.find(name, n + 1)) {
          if (n + name.size() == other.size() || std::isdigit(other[n + name.size()]) == 0) {
            return true;
          }
        }
        return false;
      };
      const auto others = body.begin() + static_cast<std::ptrdiff_t>(line) + 1;
      if (std::none_of(others, body.end(), uses)) {
        body.erase(others - 1);
      }
    }
  }

  void code() {
    statements(1 + pick(wish_.length));
    if (chance(80)) {
      hang();
    }
  }

  void statements(unsigned count) {
    for (unsigned n = 0; n < count; ++n) {
      statement();
    }
  }

  void statement() {
    const bool guarded = guard_.empty() && depth_ < 2 && chance(15);
    if (guarded) {
      guard_ = fmt::format("@{}%p{} ", chance(50) ? "!" : "", predicate());
    }
    const unsigned what = pick(100);
    if (what < 45 || known_.hot.empty()) {
      exchange_values();
    } else if (what < 65) {
      pass();
    } else if (what < 69) {
      own_memory();
    } else if (what < 73) {
      compute();
    } else if (what < 77) {
      compare();
    } else if (guarded || depth_ >= 2) {
      pass();
    } else if (what < 86) {
      branch();
    } else if (what < 90) {
      loop();
    } else {
      meet();
    }
    if (guarded) {
      guard_.clear();
    }
  }

  // --- Memory that all threads access: strong accesses, one word each
  struct Where {
    std::string space, address;
  };
  /// A word that others access, too, of at most eight bytes.
  Where shared_place() {
    const unsigned offset = 8 * pick(chance(70) ? 1 : 2);
    if (in_block() && chance(30)) {
      return chance(50) ? Where{".shared", fmt::format("%r6+{}", offset)}
                        : Where{"", fmt::format("%d5+{}", offset)};
    }
    if (!known_.hot.empty() && guard_.empty() && chance(10)) { // which one, a value says
      const unsigned index = fresh(), address = fresh();
      say("and.b32 %r{}, %r{}, 1;", index, hot());
      say("mad.wide.u32 %d{}, %r{}, 8, %d1;", address, index);
      return {chance(50) ? ".global" : "", fmt::format("%d{}", address)};
    }
    return {chance(50) ? ".global" : "", fmt::format("%d1+{}", offset)};
  }

  void exchange_values() {
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
      say("st.relaxed.gpu{}.u32 [{}], {};", at.space, at.address, pick(3));
      break;
    default:
      say("{};", one_of({"fence.acq_rel.gpu", "fence.sc.gpu", "membar.gl"}));
    }
  }

  /// By other widths than four bytes.
  void exchange_wide(const Where& at) {
    const unsigned wide = fresh();
    switch (pick(6)) {
    case 0:
      say("ld.relaxed.gpu{}.u64 %d{}, [{}];", at.space, wide, at.address);
      return say("cvt.u32.u64 %r{}, %d{};", new_hot(), wide);
    case 1:
      say("mov.u64 %d{}, {};", wide, pick(3));
      return say("st.relaxed.gpu{}.u64 [{}], %d{};", at.space, at.address, wide);
    case 2: {
      const unsigned result = fresh();
      say("mov.u64 %d{}, {};", wide, 1 + pick(2));
      say("atom{}.{} %d{}, [{}], %d{};", at.space, one_of({"add.u64", "exch.b64", "max.u64"}), result, at.address, wide);
      return say("cvt.u32.u64 %r{}, %d{};", new_hot(), result);
    }
    case 3:
      return say("ld.relaxed.gpu{}.{} %r{}, [{}];", at.space, one_of({"u8", "u16", "s8"}), new_hot(), at.address);
    case 4:
      return say("st.relaxed.gpu{}.{} [{}], %r{};", at.space, one_of({"b8", "b16"}), at.address, word());
    default: {
      const unsigned other = fresh();
      return say("ld.volatile{}.v2.u32 {{%r{}, %r{}}}, [{}];", at.space, new_hot(), other, at.address);
    }
    }
  }

  // --- Memory of one thread: plain accesses of every width, in every state space
  Where own_place(unsigned bytes) {
    const unsigned offset = bytes * pick(16 / bytes);
    switch (pick(6)) {
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

  void own_memory() {
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

  // --- A value that depends on others takes its way: it is the same behind each of these, or another
  // one for each that it has been (values are small)
  void pass() {
    const unsigned from = hot();
    const std::string a = fmt::format("%r{}", from);
    switch (pick(24)) {
    case 0:
      return say("mov.b32 %r{}, {};", new_hot(), a);
    case 1:
      return say("add.s32 %r{}, {}, {};", new_hot(), a, pick(2));
    case 2:
      return say("xor.b32 %r{}, {}, {};", new_hot(), a, pick(3));
    case 3:
      return say("prmt.b32 %r{}, {}, {}, 0x3210;", new_hot(), a, value());
    case 4:
      return say("prmt.b32 %r{}, {}, {}, 0x7654;", new_hot(), value(), a);
    case 5:
      return say("bfe.u32 %r{}, {}, 0, {};", new_hot(), a, 2 + pick(31));
    case 6:
      return say("lop3.b32 %r{}, {}, {}, {}, 0xF0;", new_hot(), a, value(), value());
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
      const unsigned wide = fresh();
      say("cvt.{} %d{}, {};", one_of({"u64.u32", "s64.s32"}), wide, a);
      return say("cvt.u32.u64 %r{}, %d{};", new_hot(), wide);
    }
    case 13: {
      const unsigned wide = fresh(), other = fresh();
      const bool low = chance(50);
      const std::string b = fmt::format("%r{}", word());
      say("mov.b64 %d{}, {{{}, {}}};", wide, low ? a : b, low ? b : a);
      const unsigned made = new_hot();
      return say("mov.b64 {{%r{}, %r{}}}, %d{};", low ? made : other, low ? other : made, wide);
    }
    case 14: {
      const unsigned wide = fresh();
      say("mul.wide.u32 %d{}, {}, 256;", wide, a);
      say("shr.u64 %d{}, %d{}, {};", wide, wide, 8);
      return say("cvt.u32.u64 %r{}, %d{};", new_hot(), wide);
    }
    case 15: {
      const unsigned p = fresh();
      say("setp.ne.u32 %p{}, {}, {};", p, a, pick(3));
      known_.predicates.push_back(p);
      return say("selp.b32 %r{}, {}, {}, %p{};", new_hot(), pick(2), 2, p);
    }
    case 16: {
      const unsigned p = fresh(), made = new_hot();
      if (made != from) {
        say("mov.u32 %r{}, {};", made, pick(2));
        say("setp.eq.u32 %p{}, {}, {};", p, a, pick(3));
        program_.body.push_back(fmt::format("@%p{} mov.u32 %r{}, 2;", p, made));
      }
      return;
    }
    case 17:
      return depth_ == 0 && guard_.empty() ? call() : through_memory(a);
    default:
      return through_memory(a);
    }
  }

  /// Stored and loaded again: in any state space, by any width, with other widths of the same bytes.
  void through_memory(const std::string& a) {
    static constexpr std::array<unsigned, 4> widths{1, 2, 4, 8};
    const unsigned stored = widths[pick(4)], loaded = widths[pick(4)];
    const Where to = own_place(16), from{to.space, to.address};
    const auto put = [&](unsigned bytes, const std::string& reg) {
      say("st{}.b{} [{}], {};", to.space, 8 * bytes, to.address, reg);
    };
    if (stored == 8) {
      const unsigned wide = fresh();
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
      const unsigned wide = fresh();
      say("ld{}.b64 %d{}, [{}];", from.space, wide, from.address);
      return say("cvt.u32.u64 %r{}, %d{};", new_hot(), wide);
    }
    if (stored == 4 && loaded == 4 && guard_.empty() && chance(20)) { // in an array, where another value says
      const unsigned index = fresh(), address = fresh();
      say("and.b32 %r{}, %r{}, 3;", index, hot());
      say("mad.wide.u32 %d{}, %r{}, 4, %d4;", address, index);
      say("st.u32 [%d{}], {};", address, a);
      say("ld.local.u32 %r{}, [own+{}];", new_hot(), 4 * pick(4));
      return;
    }
    if (chance(25)) {
      const unsigned other = fresh();
      return say("ld{}.v2.b{} {{%r{}, %r{}}}, [{}];", from.space, 8 * loaded, new_hot(), other, from.address);
    }
    say("ld{}.u{} %r{}, [{}];", from.space, 8 * loaded, new_hot(), from.address);
  }

  // --- Computations: each way that a value can take through registers
  void compute() {
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

  void compare() {
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

  // --- Control
  void branch() {
    ++depth_;
    unsigned p = predicate();
    if (chance(70)) {
      p = fresh();
      say("setp.{}.u32 %p{}, %r{}, {};", one_of({"eq", "ne", "lt", "gt"}), p, hot(), pick(3));
    }
    const Known here = known_;
    const std::string end = label();
    if (chance(40)) {
      const std::string other = label();
      say("@%p{} bra {};", p, other);
      statements(1 + pick(2));
      if (chance(10)) {
        say("exit;");
      } else {
        say("bra {};", end);
      }
      known_ = here;
      place(other);
    } else {
      say("@{}%p{} bra {};", chance(50) ? "!" : "", p, end);
    }
    statements(1 + pick(3));
    known_ = here;
    place(end);
    --depth_;
  }

  /// Two or three rounds, or until a word that others write has a value.
  void loop() {
    ++depth_;
    const std::string begin = label();
    const unsigned p = fresh(), count = fresh();
    const bool polls = chance(60);
    if (!polls) {
      say("mov.u32 %r{}, 0;", count);
    }
    place(begin);
    const Known here = known_;
    if (chance(50)) {
      statements(1);
    }
    if (polls) {
      const Where at = shared_place();
      say("{}{}.u32 %r{}, [{}];", one_of({"ld.relaxed.gpu", "ld.acquire.gpu", "ld.volatile"}), at.space, count, at.address);
    } else {
      say("add.u32 %r{}, %r{}, 1;", count, count);
    }
    known_ = here;
    say("setp.{}.u32 %p{}, %r{}, {};", polls ? one_of({"eq", "ne", "lt"}) : "lt", p, count, polls ? pick(3) : 1 + pick(2));
    say("@%p{} bra {};", p, begin);
    known_.words.push_back(count);
    if (polls) {
      known_.hot.push_back(count);
    }
    known_.predicates.push_back(p);
    --depth_;
  }

  // --- Threads that meet
  void meet() {
    if (program_.shape == Shape::Cluster) {
      say("barrier.cluster.arrive;");
      return say("barrier.cluster.wait;");
    }
    if (mbarrier_ && chance(50)) {
      return phase();
    }
    if (program_.shape == Shape::Warps) {
      return meet_warps();
    }
    if (!in_block()) {
      return exchange_values();
    }
    if (chance(30) && depth_ == 0 && guard_.empty()) {
      return meet_apart();
    }
    collective(pick(10), new_hot());
  }

  void collective(unsigned kind, unsigned to) {
    const std::string mask = fmt::format("{}", (1U << here()) - 1), a = value();
    const unsigned p = predicate();
    switch (kind) {
    case 0:
      return say("bar.warp.sync {};", mask);
    case 1:
      return say("barrier.sync 0;");
    case 2:
      return say("shfl.sync.{}.b32 %r{}, %r{}, {}, 31, {};", one_of({"idx", "bfly", "down"}), to, word(), pick(2), mask);
    case 3:
      return say("vote.sync.ballot.b32 %r{}, %p{}, {};", to, p, mask);
    case 4:
      return say("vote.sync.{}.pred %p{}, %p{}, {};", one_of({"any", "all", "uni"}), new_predicate(), p, mask);
    case 5:
      return say("match.any.sync.b32 %r{}, {}, {};", to, a, mask);
    case 6:
      return say("redux.sync.{} %r{}, {}, {};", one_of({"add.u32", "min.u32", "max.s32", "and.b32", "or.b32", "xor.b32"}), to, a, mask);
    case 7:
      return say("barrier.red.popc.u32 %r{}, 0, %p{};", to, p);
    case 8:
      return say("barrier.red.{}.pred %p{}, 0, %p{};", one_of({"and", "or"}), new_predicate(), p);
    default:
      return say("shfl.sync.idx.b32 %r{}, %r{}, {}, 31, {};", to, word(), a, mask);
    }
  }

  /// The same kind of collective at two instructions.
  void meet_apart() {
    static constexpr std::array<unsigned, 6> kinds{0, 2, 3, 5, 6, 9};
    const unsigned kind = kinds[pick(kinds.size())], to = new_hot(), p = fresh();
    const std::string other = label(), end = label();
    say("mov.b32 %r{}, 0;", to);
    say("setp.eq.u32 %p{}, %r{}, {};", p, chance(50) ? 0 : hot(), pick(2));
    say("@%p{} bra {};", p, other);
    collective(kind, to);
    say("bra {};", end);
    place(other);
    collective(kind, to);
    place(end);
  }

  /// Barriers of whole warps, of which one lane is left.
  void meet_warps() {
    const unsigned p = predicate();
    switch (pick(6)) {
    case 0:
      return say("bar.sync 0;");
    case 1:
      return say("bar.red.popc.u32 %r{}, 0, %p{};", new_hot(), p);
    case 2:
      return say("bar.arrive 1, {};", 32 * here());
    case 3:
      return say("bar.sync 1, {};", 32 * here());
    case 4:
      say("bar.arrive 1, {};", 32 * here());
      return say("bar.sync 2, {};", 32 * here());
    default:
      return say("barrier.red.popc.u32 %r{}, 1, {}, %p{};", new_hot(), 32 * here(), p);
    }
  }

  /// An operation on the mbarrier.
  void phase() {
    const unsigned p = fresh();
    switch (pick(5)) {
    case 0:
    case 1: {
      const unsigned token = fresh();
      known_.longs.push_back(token);
      if (!guard_.empty()) {
        guard_.clear();
      }
      say("mbarrier.arrive.shared.b64 %d{}, [phase];", token);
      if (chance(60) && depth_ < 2) {
        const std::string again = label();
        place(again);
        say("mbarrier.{}.shared.b64 %p{}, [phase], %d{};", one_of({"test_wait", "try_wait"}), p, token);
        say("@!%p{} bra {};", p, again);
      }
      return;
    }
    case 2: {
      guard_.clear();
      const std::string again = label();
      place(again);
      say("mbarrier.try_wait.parity.shared.b64 %p{}, [phase], {};", p, pick(4) == 0 ? 1 : 0);
      return say("@!%p{} bra {};", p, again);
    }
    case 3: {
      guard_.clear();
      say("mbarrier.test_wait.parity.shared.b64 %p{}, [phase], 0;", p);
      return say("selp.u32 %r{}, 1, 0, %p{};", new_hot(), p);
    }
    default:
      guard_.clear();
      return say("mbarrier.arrive.shared.b64 _, [phase];");
    }
  }

  /// A function that passes a value on: by its own memory, by a reference, or as it is.
  void call() {
    const unsigned which = static_cast<unsigned>(program_.functions.size());
    const std::string name = fmt::format("f{}", which);
    std::string inside;
    switch (pick(4)) {
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
        " st.param.b32 [a], %r{}; st.param.b64 [b], %d1; st.param.b64 [c], %d2;"
        " call (o), {}, (a, b, c); ld.param.b32 %r{}, [o]; }}",
        in,
        name,
        new_hot());
  }

  /// If a value says so: forever, with steps or without, at a barrier, or by a trap.
  void hang() {
    const std::string over = label(), again = label();
    const unsigned p = fresh(), r = fresh();
    const unsigned by = known_.hot.empty() ? word() : hot();
    say("setp.{}.u32 %p{}, %r{}, {};", one_of({"ne", "ne", "ne", "eq", "lt"}), p, by, pick(3));
    say("@%p{} bra {};", p, over);
    if (chance(30)) { // only one of them, or only if something else is so, too
      say("@%p{} bra {};", predicate(), over);
    }
    switch (pick(5)) {
    case 0:
      place(again);
      say("bra {};", again);
      break;
    case 1:
    case 2:
      place(again);
      say("ld.relaxed.gpu.u32 %r{}, [%d1+{}];", r, 8 * pick(3));
      say("setp.ne.u32 %p{}, %r{}, 77;", p, r);
      say("@%p{} bra {};", p, again);
      break;
    case 3:
      say("trap;");
      break;
    default:
      say("bar.sync 1, 64;");
    }
    place(over);
  }

  Random random_;
  Wish wish_;
  Generated program_;
  Known known_;
  std::string guard_;
  unsigned next_ = 0, labels_ = 0, depth_ = 0;
  std::size_t prologue_begin_ = 0, prologue_ = 0; // lines before the first statement
  bool mbarrier_ = false;                         // the block has one, of all of its threads
};

} // namespace

enumeration::MicroProgram Generated::program() const {
  std::string text = fmt::format("{}", fmt::join(functions, ""));
  text += ".visible .entry k(.param .u64 memory)\n{\n";
  text += fmt::format(
      ".reg .b32 %r<{0}>;\n.reg .b64 %d<{0}>;\n.reg .pred %p<{0}>;\n"
      ".local .align 16 .b8 own[32];\n.shared .align 16 .b8 board[32];\n"
      ".shared .align 8 .b8 phase[8];\n",
      words
  );
  text += fmt::format("{}\n}}\n", fmt::join(body, "\n"));
  return {
      .shape = shape,
      .actors = static_cast<std::uint8_t>(threads),
      .codes = {},
      .text = text
  };
}

Generated generate(const Wish& wish) {
  return Writer(wish).write();
}

} // namespace heddle::differ
