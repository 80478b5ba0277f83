// Implements generator.h.
#include "reference/generator.h"

#include "reduce/micro_launches.h"
#include "reference/hosts.h"
#include "reference/scenes.h"

#include <fmt/ranges.h>

#include <array>
#include <cctype>

namespace heddle::differ {

namespace {

class Writer : private Scenes {
public:
  explicit Writer(const Wish& wish) : Scenes(wish) {}

  Generated write() {
    static constexpr std::array shapes{
        Shape::Blocks,
        Shape::Blocks,
        Shape::Block,
        Shape::Block,
        Shape::Block,
        Shape::Warps,
        Shape::Cluster,
        Shape::Cluster,
        Shape::Cooperative,
        Shape::Pairs
    };
    program_.seed = wish_.seed;
    program_.shape = shapes[pick(shapes.size())];
    program_.threads = program_.shape == Shape::Pairs ? 4 : chance(80) ? 2 : 3;
    surroundings();
    alike_ = chance(40);
    choose_scene();
    if (!has_scene()) {
      choose_feature();
    }
    begin();
    if (program_.threads != 2 || alike_ || chance(30)) {
      code(); // all do the same
    } else {  // each does something else
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
  /// A host, another memory model, lockstep or other guarantees of progress: few programs have one
  /// of them.
  void surroundings() {
    const unsigned what = pick(100);
    if (what < 14) {
      program_.shape = chance(75) ? Shape::Blocks : Shape::Block;
      program_.threads = chance(60) ? 1 : 2;
      draw_host(random_, program_);
    } else if (what < 24) {
      program_.weak = true;
      program_.shape = chance(50) ? Shape::Blocks : chance(70) ? Shape::Block : Shape::Warps;
      program_.threads = 2;
    } else if (what < 29) {
      program_.lockstep = true;
      program_.shape = Shape::Block;
    } else if (what < 34) {
      using enum model::ProgressModel;
      static constexpr std::array models{Fair, Obe, Hsa, Lobe};
      program_.progress = models[pick(models.size())];
    }
  }

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
    if (in_block() && (needs_mbarrier() || chance(25))) { // before anybody can reach it
      mbarrier_ = true;
      say("@%p4 mbarrier.init.shared.b64 [phase], {};",
          chance(needs_mbarrier() ? 85 : 60) ? here() : 1 + pick(here() + 1));
      say("barrier.sync 0;");
    } else if (program_.shape == Shape::Cluster && chance(30)) { // each block has one
      mbarrier_ = true;
      say("mbarrier.init.shared.b64 [phase], {};", chance(60) ? program_.threads : 1 + pick(2));
      say("fence.mbarrier_init.release.cluster;");
      say("barrier.cluster.arrive;");
      say("barrier.cluster.wait;");
    }
    known_.words = {3};
    known_.longs = {3};
    known_.predicates = {4};
    if (alike_) {
      say("setp.eq.u32 %p6, %r3, 1;");
      known_.predicates = {6};
    } else {
      known_.words.push_back(0);
    }
  }

  /// Each instruction of a thread is a move: what nobody uses of the beginning costs states.
  void forget_unused() {
    std::vector<std::string>& body = program_.body;
    for (std::size_t line = prologue_; line-- > prologue_begin_;) {
      const std::size_t at = body[line].find('%');
      const std::string name = body[line].substr(at, body[line].find(',') - at);
      const auto uses = [&](const std::string& other) {
        for (std::size_t n = other.find(name); n != std::string::npos;
             n = other.find(name, n + 1)) {
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
    if (has_scene()) {
      statements(pick(2));
      play();
      statements(pick(3));
    } else {
      statements(1 + pick(wish_.length));
    }
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
    if (has_feature() && chance(35)) {
      use_feature();
    } else if (mbarrier_ && chance(35)) {
      phase();
    } else if (what < 45 || known_.hot.empty()) {
      exchange_values();
    } else if (what < 65) {
      pass();
    } else if (alike_ && what < 67) {
      ask_who();
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

  /// Two or three rounds, until a word that others write has a value, until a ticket is high
  /// enough, or until an update succeeds.
  void loop() {
    switch (pick(8)) {
    case 0:
      return rounds();
    case 1:
      return tickets();
    case 2:
      return retry();
    case 3:
      return lock();
    default:
      return poll();
    }
  }

  void poll() {
    ++depth_;
    const std::string begin = label();
    const unsigned p = fresh(), found = fresh();
    place(begin);
    const Known here = known_;
    if (chance(30)) {
      statements(1);
    }
    const Where at = shared_place();
    say("{}{}.u32 %r{}, [{}];",
        one_of({"ld.relaxed.gpu", "ld.acquire.gpu", "ld.volatile"}),
        at.space,
        found,
        at.address);
    known_ = here;
    again_if(
        fmt::format(
            "setp.{}.u32 %p{}, %r{}, {};",
            one_of({"eq", "ne", "ne", "lt"}),
            p,
            found,
            pick(3)
        ),
        p,
        begin,
        found
    );
  }

  void rounds() {
    ++depth_;
    const std::string begin = label();
    const unsigned p = fresh(), count = fresh();
    say("mov.u32 %r{}, 0;", count);
    place(begin);
    const Known here = known_;
    statements(1);
    say("add.u32 %r{}, %r{}, 1;", count, count);
    known_ = here;
    again_if(fmt::format("setp.lt.u32 %p{}, %r{}, {};", p, count, 1 + pick(2)), p, begin, count);
  }

  void tickets() {
    ++depth_;
    const std::string begin = label();
    const unsigned p = fresh(), ticket = fresh();
    const Where at = shared_place();
    place(begin);
    const Known here = known_;
    say("atom{}.add.u32 %r{}, [{}], 1;", at.space, ticket, at.address);
    depends_on_others(ticket);
    statements(1 + pick(2));
    known_ = here;
    again_if(fmt::format("setp.lt.u32 %p{}, %r{}, {};", p, ticket, 1 + pick(3)), p, begin, ticket);
  }

  /// Adds one by compare-and-swap.
  void retry() {
    ++depth_;
    const std::string begin = label();
    const unsigned p = fresh(), expected = fresh(), next = fresh(), found = fresh();
    const Where at = shared_place();
    say("ld.relaxed.gpu{}.u32 %r{}, [{}];", at.space, found, at.address);
    place(begin);
    say("mov.u32 %r{}, %r{};", expected, found);
    say("add.u32 %r{}, %r{}, 1;", next, expected);
    say("atom{}.cas.b32 %r{}, [{}], %r{}, %r{};", at.space, found, at.address, expected, next);
    again_if(fmt::format("setp.ne.u32 %p{}, %r{}, %r{};", p, found, expected), p, begin, found);
  }

  void lock() {
    ++depth_;
    const std::string begin = label();
    const unsigned p = fresh(), found = fresh();
    const Where at = shared_place();
    place(begin);
    say("{};",
        chance(70) ? fmt::format("atom{}.cas.b32 %r{}, [{}], 0, 1", at.space, found, at.address)
                   : fmt::format("atom{}.exch.b32 %r{}, [{}], 1", at.space, found, at.address));
    again_if(fmt::format("setp.ne.u32 %p{}, %r{}, 0;", p, found), p, begin, found);
    if (chance(80)) {
      statements(1 + pick(2));
      say("{}{}.{} [{}], 0;",
          one_of({"st.relaxed.gpu", "st.release.gpu"}),
          at.space,
          "u32",
          at.address);
    }
  }

  /// The end of a loop, behind which `value` is known.
  void again_if(const std::string& test, unsigned p, const std::string& begin, unsigned value) {
    program_.body.push_back(test);
    say("@%p{} bra {};", p, begin);
    depends_on_others(value);
    known_.predicates.push_back(p);
    --depth_;
  }

  /// Who it is, as a value or as a condition.
  void ask_who() {
    guard_.clear();
    const unsigned who = fresh(), p = fresh();
    say("mov.u32 %r{}, {};",
        who,
        program_.shape == Shape::Block ? "%tid.x"
        : chance(80)                   ? "%ctaid.x"
                                       : "%smid");
    say("setp.eq.u32 %p{}, %r{}, {};", p, who, pick(2));
    known_.words.push_back(who);
    known_.predicates.push_back(p);
  }

  // --- Threads that meet
  void meet() {
    if (program_.shape == Shape::Cluster) {
      say("barrier.cluster.arrive;");
      return say("barrier.cluster.wait;");
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
    const Given given{word(), value()}; // before there is a register for the result
    collective(pick(10), new_hot(), given);
  }

  struct Given {
    unsigned from;
    std::string a;
  };
  void collective(unsigned kind, unsigned to, const Given& given) {
    const std::string mask = fmt::format("{}", (1U << here()) - 1);
    const auto& [from, a] = given;
    const unsigned p = predicate();
    switch (kind) {
    case 0:
      return say("bar.warp.sync {};", mask);
    case 1:
      return say("barrier.sync 0;");
    case 2:
      return say(
          "shfl.sync.{}.b32 %r{}, %r{}, {}, 31, {};",
          one_of({"idx", "bfly", "down"}),
          to,
          from,
          pick(2),
          mask
      );
    case 3:
      return say("vote.sync.ballot.b32 %r{}, %p{}, {};", to, p, mask);
    case 4:
      return say(
          "vote.sync.{}.pred %p{}, %p{}, {};",
          one_of({"any", "all", "uni"}),
          new_predicate(),
          p,
          mask
      );
    case 5:
      return say("match.any.sync.b32 %r{}, {}, {};", to, a, mask);
    case 6:
      return say(
          "redux.sync.{} %r{}, {}, {};",
          one_of({"add.u32", "min.u32", "max.s32", "and.b32", "or.b32", "xor.b32"}),
          to,
          a,
          mask
      );
    case 7:
      return say("barrier.red.popc.u32 %r{}, 0, %p{};", to, p);
    case 8:
      return say("barrier.red.{}.pred %p{}, 0, %p{};", one_of({"and", "or"}), new_predicate(), p);
    default:
      return say("shfl.sync.idx.b32 %r{}, %r{}, {}, 31, {};", to, from, a, mask);
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
    collective(kind, to, {word(), value()});
    say("bra {};", end);
    place(other);
    collective(kind, to, {word(), value()});
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
    if (program_.shape == Shape::Cluster && chance(50)) {
      guard_.clear();
      return neighbours_phase();
    }
    if (chance(20)) {
      guard_.clear();
      return rare_phase();
    }
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
        say("mbarrier.{}.shared.b64 %p{}, [phase], %d{};",
            one_of({"test_wait", "try_wait"}),
            p,
            token);
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
      say("mbarrier.{}.parity.shared.b64 %p{}, [phase], {};",
          one_of({"test_wait", "try_wait"}),
          p,
          pick(4) == 0 ? 1 : 0);
      if (depth_ < 2 && chance(50)) { // a side that is soon over
        return peek(p);
      }
      return say("selp.u32 %r{}, 1, 0, %p{};", new_hot(), p);
    }
    default:
      guard_.clear();
      return say("mbarrier.arrive.shared.b64 _, [phase];");
    }
  }

  /// A peek: if the phase is not over yet, something else is done, or it is waited for.
  void peek(unsigned p) {
    const std::string over = label();
    const Known here = known_;
    ++depth_;
    say("@{}%p{} bra {};", chance(70) ? "" : "!", p, over);
    if (chance(50)) {
      statements(1);
    }
    if (chance(60)) {
      const unsigned q = fresh();
      const std::string again = label();
      place(again);
      say("mbarrier.try_wait.parity.shared.b64 %p{}, [phase], 0;", q);
      say("@!%p{} bra {};", q, again);
    }
    --depth_;
    known_ = here;
    place(over);
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
    switch (pick(12)) {
    case 0: // seldom: it takes 65,536 instructions in each state before that is said
      place(again);
      say("bra {};", again);
      break;
    case 1:
    case 2:
    case 3:
    case 4:
    case 5:
      place(again);
      say("ld.relaxed.gpu.u32 %r{}, [%d1+{}];", r, 8 * pick(3));
      say("setp.ne.u32 %p{}, %r{}, 77;", p, r);
      say("@%p{} bra {};", p, again);
      break;
    case 6:
    case 7:
    case 8:
      say("trap;");
      break;
    default:
      say("bar.sync 1, 64;");
    }
    place(over);
  }

  std::size_t prologue_begin_ = 0, prologue_ = 0; // lines before the first statement
};

} // namespace

enumeration::MicroProgram Generated::program() const {
  const std::string statements = fmt::format("{}", fmt::join(body, "\n"));
  std::string text = fmt::format("{}", fmt::join(functions, ""));
  if (statements.find("malloc") != statements.npos || statements.find("free") != statements.npos) {
    text += ".extern .func (.param .b64 r) malloc(.param .b64 a);\n.extern .func free(.param .b64 "
            "a);\n";
  }
  text += statements.find("__cudaCDP2") != statements.npos ? enumeration::children_as_ptx() : "";
  text += ".visible .entry k(.param .u64 memory)\n{\n";
  text += fmt::format(
      ".reg .b32 %r<{0}>;\n.reg .b64 %d<{0}>;\n.reg .pred %p<{0}>;\n"
      ".local .align 16 .b8 own[32];\n.shared .align 16 .b8 board[32];\n"
      ".shared .align 8 .b8 phase[8];\n.shared .align 16 .b8 copied[64];\n",
      words
  );
  text += statements + "\n}\n";
  return {
      .shape = shape,
      .actors = static_cast<std::uint8_t>(threads),
      .codes = {},
      .host = host,
      .beside = beside,
      .prompt = prompt,
      .weak = weak,
      .lockstep = lockstep,
      .progress = progress,
      .text = text
  };
}

bool Generated::asks_clocks() const {
  const auto asks = [](const std::string& text) {
    return text.find("%clock") != text.npos || text.find("%globaltimer") != text.npos;
  };
  return std::ranges::any_of(body, asks) || std::ranges::any_of(functions, asks);
}

Generated generate(const Wish& wish) {
  return Writer(wish).write();
}

} // namespace heddle::differ
