// Micro-programs as PTX, and how they are launched.
#include "reduce/micro_program.h"

#include "reduce/micro_functions.h"
#include "reduce/micro_launches.h"
#include "reduce/micro_widths.h"

#include <fmt/format.h>

#include <algorithm>

namespace heddle::enumeration {

namespace {

// Where things lie in memory. Places are apart, so that none shares a word with another one.
constexpr int q_at = place_q, own_at = 32, r_at = 64, unused_result = 99;

/// Each piece of the text has registers of its own, as compilers make them: a `#` in it stands for
/// a number that no other piece has.
class Text {
public:
  explicit Text(const MicroProgram& program) : program_(program) {}

  std::string run() {
    std::string body;
    if (program_.some_lanes()) { // which threads are no others
      body += fresh(
          fmt::format(
              "mov.u32 %a#, %tid.x; setp.{}.u32 %p#, %a#, 1; and.b32 %a#, %a#, 31;\n"
              "setp.ne.and.u32 %p#, %a#, 0, %p#; @%p# ret;\n",
              program_.shape == Shape::Lanes ? "ne" : "ge"
          )
      );
    }
    const bool local = uses(Place::Local) || uses(Place::InLocal);
    if (local) {
      body += program_.has_width() ? "st.local.v4.u32 [own], {0, 0, 0, 0};\n"
                                   : "st.local.u32 [own], 0;\n";
    }
    if (uses_mbarrier()) { // each block has one
      const bool cluster = program_.of_cluster();
      const bool in_twos = !cluster && program_.in_pairs();
      const int all = in_twos || program_.shape == Shape::Clusters ? 2 : program_.actors;
      body += fresh(
          fmt::format(
              "{0}setp.ne.u32 %p#, %a#, 0; @%p# bra READY;\n"
              "mbarrier.init.shared.b64 [bar], {1}; mbarrier.init.shared.b64 [other], {1};\n"
              "READY: {2}\n",
              cluster || in_twos ? "mov.u32 %a#, %tid.x; " : who(),
              program_.arrivals != 0 ? program_.arrivals : all,
              cluster ? "barrier.cluster.arrive; barrier.cluster.wait;" : barrier("sync 0;")
          )
      );
    }
    for (std::size_t c = 0; c < program_.codes.size(); ++c) {
      if (!program_.alike()) {
        body += fresh(
            fmt::format(
                "CODE{0}: {2}setp.ne.u32 %p#, %a#, {0}; @%p# bra CODE{1};\n",
                c,
                c + 1,
                who()
            )
        );
      }
      first_result_ = c * most_results;
      body += code(program_.codes[c]);
      body += "ret;\n";
    }
    if (!program_.alike()) {
      body += fmt::format("CODE{}: ret;\n", program_.codes.size());
    }
    const int word_bytes = program_.has_width() ? 16 : 4;
    return fmt::format(
        "{6}{0}.visible .entry k(.param .u64 p) {{\n"
        ".reg .pred %p<{1}>; .reg .b32 %a<{1}>, %b<{1}>, %c<{1}>; .reg .b64 %x<{1}>, %y<{1}>;\n"
        ".reg .b16 %h<{1}>; .reg .b32 %d<{1}>, %r<{2}>, %grid; .reg .b64 %memory, %heap, %token, "
        "%begin, %other;\n"
        ".shared .align 8 .b8 bar[8], other[8]; .shared .align {7} .b8 word[{7}], common[4];\n"
        "{8}{4}{5}"
        "ld.param.u64 %memory, [p];\n{3}}}\n",
        uses(Kind::Allocate) ? ".extern .func (.param .b64 r) malloc(.param .b64 a);\n"
                               ".extern .func free(.param .b64 a);\n"
                             : "",
        pieces_,
        first_result_ + most_results,
        body,
        uses(Kind::CopyArrive) || uses(Kind::Bulk) || uses(Kind::ExpectBulk) ||
                uses(Kind::StoreAsync) || uses(Kind::Multicast)
            ? ".shared .align 16 .b8 copied[64];\n"
            : "",
        local ? fmt::format(".local .align {0} .b8 own[{0}];\n", word_bytes) : "",
        (program_.functions ? functions_as_ptx() : "") + (launches() ? children_as_ptx() : ""),
        word_bytes,
        program_.has_width() ? registers_of_widths(pieces_) : ""
    );
  }

private:
  static constexpr std::size_t most_results = 8; // of a code

  std::string fresh(std::string text) {
    const std::string number = fmt::format("{}", pieces_++);
    for (std::size_t at = text.find('#'); at != std::string::npos; at = text.find('#', at)) {
      text.replace(at, 1, number);
    }
    return text;
  }

  template <class Predicate> bool any_operation(const Predicate& predicate) const {
    return std::ranges::any_of(program_.codes, [&](const Code& code) {
      return std::ranges::any_of(code.operations, predicate);
    });
  }
  bool uses(Kind kind) const {
    return any_operation([kind](const Operation& operation) { return operation.kind == kind; });
  }
  bool uses(Place place) const {
    return any_operation([place](const Operation& operation) {
      return has_place(operation.kind) && operation.place == place;
    });
  }
  bool launches() const {
    return any_operation([](const Operation& operation) { return is_launch(operation.kind); });
  }
  bool uses_mbarrier() const {
    return any_operation([](const Operation& operation) { return is_of_mbarrier(operation.kind); });
  }

  std::string code(const Code& code) {
    std::string text;
    const int loop = label_++;
    text += fmt::format("L{}:\n", loop); // a round knows nothing of the one before
    for (std::size_t n = 0; n < code.operations.size(); ++n) {
      text += fmt::format("mov.u32 %r{}, {};\n", result(n), unused_result);
    }
    for (std::size_t n = 0; n < code.operations.size(); ++n) {
      text += operation(code.operations[n], n);
    }
    if (code.hang) {
      text += hang(*code.hang, code.operations[code.hang->of]);
    }
    if (code.rounds != 0) {
      text += fresh(
          fmt::format("setp.lt.u32 %p#, %r{}, {}; @%p# bra L{};\n", result(0), code.rounds, loop)
      );
    }
    return text;
  }

  /// Asked where it is needed: before that, and behind it, threads are alike.
  std::string who() const {
    switch (program_.shape) {
    case Shape::Block:
      return "mov.u32 %a#, %tid.x; ";
    case Shape::Warps:
      return "mov.u32 %a#, %tid.x; shr.u32 %a#, %a#, 5; ";
    case Shape::Lanes:
      return "mov.u32 %a#, %tid.x; shr.u32 %b#, %a#, 5; and.b32 %a#, %a#, 31; "
             "add.u32 %a#, %a#, %b#; min.u32 %b#, %b#, 1; add.u32 %a#, %a#, %b#; ";
    case Shape::WarpPairs:
      return "mov.u32 %a#, %tid.x; shr.u32 %a#, %a#, 5; mov.u32 %b#, %ctaid.x; "
             "mad.lo.u32 %a#, %b#, 2, %a#; ";
    case Shape::Pairs:
    case Shape::ClusterPairs:
      return "mov.u32 %a#, %tid.x; mov.u32 %b#, %ctaid.x; mad.lo.u32 %a#, %b#, 2, %a#; ";
    default:
      return "mov.u32 %a#, %ctaid.x; ";
    }
  }

  std::size_t result(std::size_t n) const { return first_result_ + n; }

  std::string unless(std::string_view value, int equals, int to) const {
    return fmt::format("setp.ne.u32 %p#, {}, {}; @%p# bra L{};\n", value, equals, to);
  }

  std::string hang(const Hang& hang, const Operation& asked) {
    const int over = label_++;
    std::string text = fresh(unless(fmt::format("%r{}", result(hang.of)), hang.equals, over));
    if (hang.who) {
      text += fresh(who() + unless("%a#", *hang.who, over));
    }
    if (!program_.one_block() && !program_.some_lanes()) { // nobody else ever comes there
      return text + fmt::format("bar.sync 1, 64;\nL{}:\n", over);
    }
    const bool in_q = has_place(asked.kind) && asked.place == Place::Q;
    return text +
           fresh(
               fmt::format(
                   "H{0}: ld.relaxed.gpu.u32 %b#, [%memory+{1}]; setp.ne.u32 %p#, %b#, {2};\n"
                   "@%p# bra H{0};\nL{0}:\n",
                   over,
                   in_q ? q_at : 0,
                   unused_result
               )
           );
  }

  /// What compilers make of a short condition is an instruction with a guard, and no branch. With Q
  /// it is one, with other places a branch.
  bool is_guarded(const Operation& operation) const {
    if (is_function(operation) || program_.has_width()) {
      return false;
    }
    switch (operation.kind) {
    case Kind::Load:
    case Kind::Store:
    case Kind::Sum:
    case Kind::Maximum:
    case Kind::Toggle:
    case Kind::Exchange:
    case Kind::Increment:
    case Kind::CompareAndSwap:
    case Kind::PlainLoad:
    case Kind::PlainStore:
      return operation.guard.on != Guard::On::Always && operation.place == Place::Q;
    default:
      return false;
    }
  }

  /// One of functions_as_ptx(): they take an address of global memory.
  bool is_function(const Operation& operation) const {
    return program_.functions && function_name(operation.kind) != nullptr &&
           operation.place <= Place::Own;
  }

  std::string operation(const Operation& operation, std::size_t n) {
    if (is_guarded(operation)) {
      const bool by_result = operation.guard.on == Guard::On::Result;
      return fresh(
          (by_result ? std::string() : who()) +
          fmt::format(
              "setp.eq.u32 %p#, {}, {};\n",
              by_result ? fmt::format("%r{}", result(operation.guard.of)) : std::string("%a#"),
              operation.guard.equals
          ) +
          access(operation, n)
      );
    }
    const int over = label_++;
    std::string text;
    if (operation.guard.on == Guard::On::Result) {
      text = fresh(
          unless(fmt::format("%r{}", result(operation.guard.of)), operation.guard.equals, over)
      );
    } else if (operation.guard.on == Guard::On::Who) {
      text = fresh(who() + unless("%a#", operation.guard.equals, over));
    }
    return text + fresh(access(operation, n)) + fmt::format("L{}:\n", over);
  }

  std::string access(const Operation& operation, std::size_t n) {
    std::string at, before; // computes the address and the value
    switch (operation.place) {
    case Place::P:
      at = "[%memory+0]";
      break;
    case Place::Q:
      at = fmt::format("[%memory+{}]", q_at);
      break;
    case Place::Local:
      at = "[own]";
      break;
    case Place::Shared:
      at = "[word]";
      break;
    case Place::InShared:
    case Place::InLocal:
      before = fmt::format(
          "{}setp.eq.u32 %p#, %a#, 0; mov.u64 %y#, {}; cvta.{}.u64 %y#, %y#;\n"
          "selp.b64 %x#, %memory, %y#, %p#; ",
          who(),
          operation.place == Place::InShared ? "word" : "own",
          operation.place == Place::InShared ? "shared" : "local"
      );
      at = "[%x#]";
      break;
    case Place::Behind:
      at = "[%memory+4]";
      break;
    case Place::OfFirst:
      before = "mov.u32 %d#, word; mapa.shared::cluster.u32 %d#, %d#, 0; ";
      at = "[%d#]";
      break;
    case Place::Own:
      before = who() + "mad.wide.u32 %x#, %a#, 4, %memory; ";
      at = fmt::format("[%x#+{}]", own_at);
      break;
    case Place::Either:
    case Place::Found: {
      const bool by_who = operation.place == Place::Either;
      before = fmt::format(
          "{}min.u32 %b#, {}, 1; mad.wide.u32 %x#, %b#, {}, %memory; ",
          by_who ? who() : std::string(),
          by_who ? std::string("%a#") : fmt::format("%r{}", result(n - 1)),
          r_at - q_at
      );
      at = fmt::format("[%x#+{}]", q_at);
      break;
    }
    }
    std::string value = "1";
    switch (operation.value) {
    case Value::One:
      break;
    case Value::Two:
      value = "2";
      break;
    case Value::Who:
      before += who() + "add.u32 %c#, %a#, 1; ";
      value = "%c#";
      break;
    case Value::Last:
    case Value::First:
      before += fmt::format(
          "add.u32 %c#, %r{}, 1; ",
          result(n == 0 || operation.value == Value::First ? 0 : n - 1)
      );
      value = "%c#";
      break;
    }
    const std::string to = fmt::format("%r{}", result(n));
    if (is_function(operation)) {
      return before + call_as_ptx(operation, to, at, value);
    }
    std::string text = access(operation, before, to, at, value);
    if (is_guarded(operation)) {
      text.insert(before.size(), "@%p# ");
    }
    text = in_scope(in_space(operation, in_order(operation, std::move(text))));
    return program_.strength == Strength::Volatile ? as_volatile(std::move(text)) : text;
  }

  static std::string_view plain_space(const Operation& operation) {
    return operation.place == Place::Local ? "local" : "global";
  }

  static constexpr std::string_view grid_workspace = // %x#
      "mov.u32 %a#, %envreg2; mov.u32 %b#, %envreg1; mov.b64 %x#, {%a#, %b#};\n";

  /// As cooperative_groups/details/sync.h: the highest bit changes when all blocks have arrived.
  static std::string grid_arrive() {
    return fmt::format(
        "{}mov.u32 %c#, %ctaid.x; setp.eq.u32 %p#, %c#, 0; mov.u32 %d#, %nctaid.x;\n"
        "sub.u32 %d#, 0x80000001, %d#; selp.u32 %d#, %d#, 1, %p#;\n"
        "atom.add.release.gpu.u32 %grid, [%x#+4], %d#;\n",
        grid_workspace
    );
  }

  std::string grid_wait() {
    return fmt::format(
        "{0}L{1}: ld.acquire.gpu.u32 %c#, [%x#+4]; xor.b32 %c#, %c#, %grid;\n"
        "setp.ge.s32 %p#, %c#, 0; @%p# bra L{1};\n",
        grid_workspace,
        label_++
    );
  }

  /// As cooperative_groups/details/sync.h: each warp has a bit, and the last one takes all back.
  std::string meet_tile(bool tells_last, const std::string& to) {
    const int wait = label_++, full = label_++, over = label_++;
    const unsigned all = (1U << (program_.in_pairs() ? 2 : program_.actors)) - 1;
    return fmt::format(
        "mov.u32 %d#, %reserved_smem_offset_1; add.u32 %d#, %d#, 16; cvt.u64.u32 %x#, %d#;\n"
        "cvta.shared.u64 %x#, %x#;\n"
        "mov.u32 %a#, %tid.x; shr.u32 %a#, %a#, 5; mov.u32 %b#, 1; shl.b32 %b#, %b#, %a#;\n"
        "atom.or.acq_rel.cta.b32 %c#, [%x#], %b#; or.b32 %c#, %c#, %b#;\n"
        "setp.eq.u32 %p#, %c#, {0}; @%p# bra L{2};\n"
        "L{1}: ld.acquire.cta.u32 %c#, [%x#]; and.b32 %c#, %c#, %b#; setp.ne.u32 %p#, %c#, 0;\n"
        "@%p# bra L{1};\n{4}bra L{3};\n"
        "L{2}: red.and.relaxed.cta.b32 [%x#], {5};\n{6}L{3}:\n",
        all,
        wait,
        full,
        over,
        tells_last ? fmt::format("mov.u32 {}, 0; ", to) : "",
        ~all,
        tells_last ? fmt::format("mov.u32 {}, 1; ", to) : ""
    );
  }

  /// %b#: the mask of the actor's warp. (Behind who(), which takes %b#, and before %p# is set.)
  std::string lanes() const {
    if (program_.shape == Shape::Lanes) {
      return "mov.u32 %b#, %tid.x; setp.lt.u32 %p#, %b#, 32; selp.u32 %b#, 3, 1, %p#;\n";
    }
    return fmt::format("mov.u32 %b#, {};\n", (1U << program_.actors) - 1);
  }

  static std::string is_one(std::string_view value) { // %p#
    return fmt::format("mov.u32 %d#, {}; setp.eq.u32 %p#, %d#, 1;\n", value);
  }

  static std::string passed(std::string_view since, int limit, std::string_view to) {
    return fmt::format(
        "mov.u64 %y#, %clock64; sub.u64 %y#, %y#, {}; setp.gt.u64 %p#, %y#, {};\n"
        "selp.u32 {}, 1, 0, %p#;\n",
        since,
        limit,
        to
    );
  }

  static std::string sum_of_floats(std::string_view bits) {
    return fmt::format("red.relaxed.gpu.global.add.f32 [%memory+0], 0f{};\n", bits);
  }

  /// %b#: what the actor alone copies to.
  std::string own_copy(int bytes) const {
    return fmt::format("{}mov.u32 %d#, copied; mad.lo.u32 %b#, %a#, {}, %d#;\n", who(), bytes);
  }

  static std::string of_first(std::string_view variable, std::string_view to) {
    return fmt::format("mov.u32 {0}, {1}; mapa.shared::cluster.u32 {0}, {0}, 0;\n", to, variable);
  }

  /// Lanes of a warp need not come to it together, or they wait for each other.
  std::string barrier(std::string_view what) const {
    return fmt::format("{}.{}", program_.shape == Shape::Lanes ? "barrier" : "bar", what);
  }

  /// With weak memory: what a program needs to pass something on, and beside it what passes
  /// nothing.
  std::string in_order(const Operation& operation, std::string text) const {
    const std::string_view order = operation.kind == Kind::Store       ? ".release."
                                   : operation.kind == Kind::Wait      ? ".acquire."
                                   : operation.kind == Kind::Increment ? ".acq_rel."
                                                                       : "";
    constexpr std::string_view relaxed = ".relaxed.";
    const std::size_t at = text.find(relaxed);
    if (program_.weak && !order.empty() && at != std::string::npos) {
      text.replace(at, relaxed.size(), order);
    }
    return text;
  }

  std::string in_scope(std::string text) const {
    constexpr std::string_view wide = ".gpu.", narrow = ".cta.";
    for (std::size_t at = text.find(wide); program_.narrow && at != std::string::npos;
         at = text.find(wide, at)) {
      text.replace(at, wide.size(), narrow);
    }
    return text;
  }

  /// An access to shared memory says so, and one to Q, or to one of several places, says that it is
  /// global: lanes that stand together then make one instruction with a known space.
  static std::string in_space(const Operation& operation, std::string text) {
    switch (operation.place) {
    case Place::P:
    case Place::Own:
    case Place::Local:
    case Place::InShared:
    case Place::InLocal:
      return text;
    default:
      break;
    }
    constexpr std::string_view anywhere = ".gpu.";
    const std::string_view known = operation.place == Place::Shared    ? ".cta.shared."
                                   : operation.place == Place::OfFirst ? ".cluster.shared::cluster."
                                                                       : ".gpu.global.";
    for (std::size_t at = text.find(anywhere); at != std::string::npos;
         at = text.find(anywhere, at + known.size())) {
      text.replace(at, anywhere.size(), known);
    }
    return text;
  }

  std::string access(
      const Operation& operation,
      const std::string& before,
      const std::string& to,
      const std::string& at,
      const std::string& value
  ) {
    if (program_.has_width()) {
      if (const auto wide = wide_access(program_, operation.kind, to, at, value, label_++)) {
        return before + *wide;
      }
    }
    switch (operation.kind) {
    case Kind::Load:
      return fmt::format("{}ld.relaxed.gpu.u32 {}, {};\n", before, to, at);
    case Kind::Store:
      return fmt::format("{}st.relaxed.gpu.u32 {}, {};\n", before, at, value);
    case Kind::Sum:
      return fmt::format("{}red.relaxed.gpu.add.u32 {}, 1;\n", before, at);
    case Kind::Maximum:
      return fmt::format("{}red.relaxed.gpu.max.u32 {}, {};\n", before, at, value);
    case Kind::Toggle:
      return fmt::format("{}red.relaxed.gpu.xor.b32 {}, {};\n", before, at, value);
    case Kind::Exchange:
      return fmt::format("{}atom.relaxed.gpu.exch.b32 {}, {}, {};\n", before, to, at, value);
    case Kind::Increment:
      return fmt::format("{}atom.relaxed.gpu.add.u32 {}, {}, 1;\n", before, to, at);
    case Kind::CompareAndSwap:
      return fmt::format("{}atom.relaxed.gpu.cas.b32 {}, {}, 0, {};\n", before, to, at, value);
    case Kind::Retry: {
      const int loop = label_++;
      return fmt::format(
          "{3}ld.relaxed.gpu.u32 {0}, {1};\n"
          "L{2}: mov.u32 %b#, {0}; add.u32 %c#, %b#, 1;\n"
          "atom.relaxed.gpu.cas.b32 {0}, {1}, %b#, %c#; setp.ne.u32 %p#, {0}, %b#; @%p# bra "
          "L{2};\n",
          to,
          at,
          loop,
          before
      );
    }
    case Kind::Lock: {
      const int loop = label_++;
      return fmt::format(
          "{2}mov.u32 %c#, 0;\n"
          "L{1}: atom.relaxed.gpu.cas.b32 %b#, {0}, %c#, 1; setp.ne.u32 %p#, %b#, %c#; @%p# bra "
          "L{1};\n",
          at,
          loop,
          before
      );
    }
    case Kind::Wait: {
      const int loop = label_++;
      return fmt::format(
          "{0}L{1}: ld.relaxed.gpu.u32 %b#, {2}; setp.ne.u32 %p#, %b#, {3}; @%p# bra L{1};\n",
          before,
          loop,
          at,
          value
      );
    }
    case Kind::WaitOrLate: {
      const int loop = label_++, found = label_++, over = label_++;
      return fmt::format(
          "{0}mov.u64 %x#, %globaltimer;\n"
          "L{1}: ld.relaxed.gpu.u32 %b#, {2}; setp.eq.u32 %p#, %b#, {3}; @%p# bra L{4};\n"
          "mov.u64 %y#, %globaltimer; sub.u64 %y#, %y#, %x#; setp.lt.u64 %p#, %y#, 1000000;\n"
          "@%p# bra L{1};\nmov.u32 {5}, 0; bra L{6};\nL{4}: mov.u32 {5}, 1;\nL{6}:\n",
          before,
          loop,
          at,
          value,
          found,
          to,
          over
      );
    }
    case Kind::PlainLoad:
      return fmt::format("{}ld.{}.u32 {}, {};\n", before, plain_space(operation), to, at);
    case Kind::PlainStore:
      return fmt::format("{}st.{}.u32 {}, {};\n", before, plain_space(operation), at, value);
    case Kind::Barrier:
      return program_.of_cluster() ? "barrier.cluster.arrive; barrier.cluster.wait;\n"
                                   : barrier("sync 0;\n");
    case Kind::Vote:
      return lanes() + "bar.warp.sync %b#;\n";
    case Kind::Active:
      return fmt::format("activemask.b32 %b#; popc.b32 {}, %b#;\n", to);
    case Kind::Size:
      return fmt::format("mov.u32 {}, %nctaid.x;\n", to);
    case Kind::Fence:
      return "fence.acq_rel.gpu;\n";
    case Kind::OrderedFence:
      return "fence.sc.gpu;\n";
    case Kind::Publish:
    case Kind::PublishSome:
    case Kind::Republish: {
      const int over = label_++;
      const std::string unless_one =
          operation.kind == Kind::PublishSome ? unless("%b#", 1, over) : std::string();
      const std::string old = operation.kind == Kind::Republish
                                  ? fmt::format("ld.shared.u32 {}, [common];\n", to)
                                  : std::string();
      return fmt::format(
          "{}{}{}ld.relaxed.gpu.u32 %b#, [%memory+0];\n{}{}st.shared.u32 [common], {};\n"
          "L{}: bar.sync 0;\n",
          operation.kind == Kind::Republish ? fmt::format("mov.u32 {}, 0;\n", to) : "",
          before,
          who() + unless("%a#", 0, over),
          unless_one,
          old,
          value,
          over
      );
    }
    case Kind::LoadBoth:
      return fmt::format(
          "{}ld.relaxed.gpu.b64 %y#, {}; shr.u64 %y#, %y#, 32; cvt.u32.u64 {}, %y#;\n",
          before,
          at,
          to
      );
    case Kind::StoreBoth:
      return fmt::format(
          "{}mov.u32 %b#, {}; mov.b64 %y#, {{%b#, %b#}}; st.relaxed.gpu.b64 {}, %y#;\n",
          before,
          value,
          at
      );
    case Kind::LoadVector:
      return fmt::format("{}ld.relaxed.gpu.v2.u32 {{%d#, {}}}, {};\n", before, to, at);
    case Kind::StoreVector:
      return fmt::format("{0}st.relaxed.gpu.v2.u32 {2}, {{{1}, {1}}};\n", before, value, at);
    case Kind::SumBoth:
      return "red.relaxed.gpu.add.u64 [%memory+0], 1;\n";
    case Kind::ArriveNamed:
      return barrier("arrive 1, 64;\n");
    case Kind::WaitNamed:
      return barrier("sync 1, 64;\n");
    case Kind::Dependents:
      return "griddepcontrol.launch_dependents;\n";
    case Kind::WaitGrids:
      return "griddepcontrol.wait;\n";
    case Kind::Observe:
      return fmt::format("ld.shared.u32 {}, [common];\nbar.sync 0;\n", to);
    case Kind::Arrive:
      return fmt::format(
          "mbarrier.arrive.shared.b64 {}, [bar];\n",
          uses(Kind::AskOwn) ? "%token" : "%y#"
      );
    case Kind::ArriveOther:
      return "mbarrier.arrive.shared.b64 %y#, [other];\n";
    case Kind::WaitPhase:
    case Kind::WaitSecond:
    case Kind::WaitOther: {
      const int loop = label_++;
      return fmt::format(
          "L{0}: mbarrier.try_wait.parity.shared.b64 %p#, [{1}], {2}; @!%p# bra L{0};\n",
          loop,
          operation.kind == Kind::WaitOther ? "other" : "bar",
          operation.kind == Kind::WaitSecond ? 1 : 0
      );
    }
    case Kind::Spin: {
      const int loop = label_++;
      return fmt::format(
          "mov.u32 %d#, 1;\n"
          "L{0}: xor.b32 %d#, %d#, 2; setp.ne.u32 %p#, %d#, 0; @%p# bra L{0};\n",
          loop
      );
    }
    case Kind::Ask:
      return fmt::format(
          "mbarrier.test_wait.parity.shared.b64 %p#, [bar], 0; selp.u32 {}, 1, 0, %p#;\n",
          to
      );
    case Kind::AskOwn:
      return fmt::format(
          "mbarrier.test_wait.shared.b64 %p#, [bar], %token; selp.u32 {}, 1, 0, %p#;\n",
          to
      );
    case Kind::GridArrive:
      return grid_arrive();
    case Kind::GridWait:
      return grid_wait();
    case Kind::GridSync:
      return grid_arrive() + grid_wait();
    case Kind::TileSync:
    case Kind::TileLast:
      return meet_tile(operation.kind == Kind::TileLast, to);
    case Kind::Drop:
      return "mbarrier.arrive_drop.shared.b64 %y#, [bar];\n";
    case Kind::ArriveOf:
      return of_first("bar", "%c#") +
             "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%c#];\n";
    case Kind::CopyArrive:
      return own_copy(4) + "cp.async.ca.shared.global [%b#], [%memory+128], 4;\n"
                           "cp.async.mbarrier.arrive.noinc.shared.b64 [bar];\n";
    case Kind::Expect:
      return "mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [bar], 16;\n";
    case Kind::Bulk:
    case Kind::ExpectBulk:
      return own_copy(16) +
             (operation.kind == Kind::Bulk
                  ? ""
                  : "mbarrier.arrive.expect_tx.shared.b64 %y#, [bar], 16;\n") +
             "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%b#], "
             "[%memory+128], 16, [bar];\n";
    case Kind::Multicast:
      return own_copy(16) + "mov.u16 %h#, 3;\n"
                            "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes"
                            ".multicast::cluster [%b#], [%memory+128], 16, [bar], %h#;\n";
    case Kind::StoreAsync:
      return own_copy(16) + "mapa.shared::cluster.u32 %b#, %b#, 0;\n" + of_first("bar", "%c#") +
             "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.v4.u32 [%b#], "
             "{%d#, %d#, %d#, %d#}, [%c#];\n";
    case Kind::Ballot:
      return before + lanes() + is_one(value) +
             fmt::format("vote.sync.ballot.b32 %c#, %p#, %b#; popc.b32 {}, %c#;\n", to);
    case Kind::BallotActive:
      return before + is_one(value) +
             fmt::format(
                 "activemask.b32 %b#; vote.sync.ballot.b32 %c#, %p#, %b#; popc.b32 {}, %c#;\n",
                 to
             );
    case Kind::Shuffle:
      return before + lanes() + fmt::format("shfl.sync.idx.b32 {}, {}, 0, 31, %b#;\n", to, value);
    case Kind::Match:
      return before + lanes() +
             fmt::format("match.any.sync.b32 %d#, {}, %b#; popc.b32 {}, %d#;\n", value, to);
    case Kind::Elect:
      return lanes() + fmt::format("elect.sync _|%p#, %b#; selp.u32 {}, 1, 0, %p#;\n", to);
    case Kind::Count:
      return before + is_one(value) + barrier(fmt::format("red.popc.u32 {}, 0, %p#;\n", to));
    case Kind::CountNamed:
      return before + is_one(value) + barrier(fmt::format("red.popc.u32 {}, 1, 64, %p#;\n", to));
    case Kind::ClusterArrive:
      return "barrier.cluster.arrive;\n";
    case Kind::ClusterWait:
      return "barrier.cluster.wait;\n";
    case Kind::Allocate:
      return fmt::format(
          "{{ .param .b64 a; .param .b64 r; st.param.b64 [a], 640;\n"
          "call.uni (r), malloc, (a); ld.param.b64 %heap, [r]; }}\n"
          "setp.ne.u64 %p#, %heap, 0; selp.u32 {}, 1, 0, %p#;\n",
          to
      );
    case Kind::Neighbour:
      return fmt::format(
          "mov.u32 %b#, bar; mapa.shared::cluster.u32 %c#, %b#, 0;\n"
          "ld.shared::cluster.u32 {}, [%c#];\n",
          to
      );
    case Kind::Free:
      return "{ .param .b64 a; st.param.b64 [a], %heap; call.uni free, (a); }\n";
    case Kind::Clock:
      return "mov.u64 %y#, %globaltimer;\n";
    case Kind::Begin:
      return "mov.u64 %begin, %clock64;\n";
    case Kind::BeginOther:
      return "mov.u64 %other, %clock64;\n";
    case Kind::Passed:
      return passed("%begin", 1, to);
    case Kind::PassedLong:
      return passed("%begin", 6, to);
    case Kind::PassedOther:
      return passed("%other", 1, to);
    case Kind::LowBit:
      return fmt::format("mov.u64 %y#, %clock64; and.b64 %y#, %y#, 1; cvt.u32.u64 {}, %y#;\n", to);
    case Kind::KeptBit:
      return fmt::format(
          "mov.u64 %y#, %clock64; and.b64 %y#, %y#, 1; cvt.u32.u64 %b#, %y#;\n"
          "st.global.u32 [%memory+48], %b#; ld.global.u32 {}, [%memory+48];\n",
          to
      );
    case Kind::SumFloat:
      return sum_of_floats("3F800000");
    case Kind::SumLarge:
      return sum_of_floats("4C000000");
    case Kind::SumLess:
      return sum_of_floats("CC000000");
    case Kind::Launch:
    case Kind::LaunchFree:
    case Kind::LaunchTail:
    case Kind::CopyToQ:
    case Kind::CopyToP:
      return before + launch_as_ptx(operation.kind, value);
    case Kind::Trap:
      return "trap;\n";
    case Kind::BadAccess:
      return "mov.u64 %y#, 64; ld.relaxed.gpu.global.u32 %b#, [%y#];\n";
    case Kind::End:
      return "ret;\n";
    }
    return {};
  }

  const MicroProgram& program_;
  int label_ = 0;
  std::size_t pieces_ = 0, first_result_ = 0;
};

} // namespace

std::string MicroProgram::as_ptx() const {
  return text.empty() ? Text(*this).run() : text;
}

machine::LaunchConfig MicroProgram::launch() const {
  machine::LaunchConfig config;
  const std::uint8_t in_block = one_block() ? actors : in_pairs() ? 2 : 1;
  config.grid = {static_cast<unsigned>(actors / in_block)};
  const unsigned first_lanes = shape == Shape::Lanes ? 2 : 1; // of the first warp
  config.block = {some_lanes() ? (in_block - first_lanes) * isa::warp_size + 1 : in_block};
  if (of_cluster()) {
    config.cluster = {shape == Shape::Clusters ? 2U : config.grid.x};
    config.explicit_cluster = true;
  }
  config.cooperative = shape == Shape::Cooperative;
  return config;
}

} // namespace heddle::enumeration
