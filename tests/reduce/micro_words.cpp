// What operations are, and micro-programs as words.
#include "explore/options.h"
#include "reduce/micro_program.h"
#include "reduce/micro_widths.h"

#include <fmt/format.h>

namespace heddle::enumeration {

namespace {

std::string words(const Operation& operation, std::size_t n) {
  std::string text;
  if (operation.guard.on == Guard::On::Result) {
    text = fmt::format("if r{} == {}: ", operation.guard.of, operation.guard.equals);
  } else if (operation.guard.on == Guard::On::Who) {
    text = fmt::format("if me == {}: ", operation.guard.equals);
  }
  if (has_result(operation.kind)) {
    text += fmt::format("r{} = ", n);
  }
  static constexpr const char* names[] = {
      "load",
      "store",
      "add 1 to",
      "maximum in",
      "toggle in",
      "exchange",
      "increment",
      "cas 0",
      "retry +1 of",
      "lock",
      "wait for",
      "wait a while for",
      "plain load",
      "plain store",
      "barrier",
      "warp barrier",
      "active",
      "arrive",
      "wait for phase",
      "ask for phase",
      "allocate",
      "free",
      "load of block 0",
      "clock",
      "size",
      "fence",
      "fence.sc",
      "publish",
      "publish if P is 1",
      "publish again",
      "observe",
      "load P and behind",
      "store to P and behind",
      "load the vector of P and behind",
      "store to the vector of P and behind",
      "add 1 to P and behind",
      "arrive at barrier 1",
      "wait at barrier 1",
      "let dependents begin",
      "wait for the grid before",
      "ballot of",
      "ballot of active",
      "shuffle",
      "match",
      "elect",
      "count at the barrier",
      "count at barrier 1",
      "arrive at the cluster's barrier",
      "wait at the cluster's barrier",
      "arrive at the grid's barrier",
      "wait at the grid's barrier",
      "meet the grid",
      "meet the tile",
      "meet the tile: last?",
      "arrive and drop",
      "arrive at that of block 0",
      "wait for the second phase",
      "ask for its phase",
      "copy and arrive",
      "expect bytes",
      "bulk copy",
      "arrive, expect and bulk copy",
      "bulk copy to all",
      "arrive at the other",
      "wait for the other's phase",
      "asynchronous store to block 0",
      "add 1.0 to P",
      "add 2^25 to P",
      "add -2^25 to P",
      "launch a child of",
      "launch and forget a child of",
      "launch last a child of",
      "copy P to Q",
      "copy Q to P",
      "trap",
      "access nothing",
      "spin",
      "end",
      "a time",
      "another time",
      "some time has passed",
      "much time has passed",
      "some other time has passed",
      "bit of a clock",
      "bit of a clock, kept"
  };
  text += names[static_cast<std::size_t>(operation.kind)];
  if (has_place(operation.kind)) {
    static constexpr const char* places[] = {
        " P",
        " Q",
        " mine",
        " mine (local)",
        " S",
        " Q, or R by who",
        " Q, or R by the result",
        " behind P",
        " F",
        " P, or S by who",
        " P, or mine (local) by who"
    };
    text += places[static_cast<std::size_t>(operation.place)];
  }
  if (has_value(operation.kind)) {
    text += operation.value == Value::One   ? " 1"
            : operation.value == Value::Two ? " 2"
            : operation.value == Value::Who
                ? " me+1"
                : fmt::format(" r{}+1", n == 0 || operation.value == Value::First ? 0 : n - 1);
  }
  return text;
}

std::string words(const Code& code) {
  std::string text;
  for (std::size_t n = 0; n < code.operations.size(); ++n) {
    text += fmt::format("{}{}", n == 0 ? "" : "; ", words(code.operations[n], n));
  }
  if (code.hang) {
    text += fmt::format("; if r{} == {}", code.hang->of, code.hang->equals);
    text += code.hang->who ? fmt::format(" and me == {}: hang", *code.hang->who) : ": hang";
  }
  return code.rounds == 0 ? text : fmt::format("do {{ {} }} while (r0 < {})", text, code.rounds);
}

std::string words(const HostOperation& operation) {
  static constexpr const char* names[] = {
      "launch",
      "launch beside",
      "launch one block",
      "launch early",
      "call: set flag",
      "call: store P 1",
      "copy P to Q",
      "set P to 1",
      "set Q to 1 before what follows",
      "set P to 2 in the kernel's stream",
      "copy Q to P in the kernel's stream",
      "record",
      "record behind the copies",
      "copies wait for the event",
      "kernels wait for the event",
      "copies wait until P is 1",
      "kernels wait until P is 1",
      "if P is 1 then: set Q to 1",
      "copy to Q and behind P",
      "copy two words out",
      "store P 1",
      "if P == {}: hang",
      "if Q == {}: hang",
      "if flag: hang",
      "if one word is out: hang",
      "if all kernels are done: hang",
      "ask until all kernels are done",
      "if the event is done: hang",
      "wait for the event",
      "wait for copies",
      "wait for all"
  };
  return fmt::format(
      fmt::runtime(names[static_cast<std::size_t>(operation.kind)]),
      operation.value
  );
}

} // namespace

bool submits(HostKind kind) {
  return kind <= HostKind::CopyOut;
}
bool asks(HostKind kind) {
  return kind == HostKind::HangIfDone || kind == HostKind::AskUntilDone ||
         kind == HostKind::HangIfEvent;
}
bool writes(HostKind kind) {
  return kind == HostKind::CallStore || kind == HostKind::Copy || kind == HostKind::Set ||
         kind == HostKind::SetBefore || kind == HostKind::SetTwo || kind == HostKind::CopyBack ||
         kind == HostKind::SetIf || kind == HostKind::CopyTwo || kind == HostKind::Store;
}
bool has_value(HostKind kind) {
  return kind == HostKind::HangIfP || kind == HostKind::HangIfQ;
}

bool has_result(Kind kind) {
  return kind == Kind::Load || kind == Kind::Exchange || kind == Kind::Increment ||
         kind == Kind::CompareAndSwap || kind == Kind::Retry || kind == Kind::PlainLoad ||
         kind == Kind::Active || kind == Kind::Ask || kind == Kind::Size ||
         kind == Kind::Republish || kind == Kind::Observe || kind == Kind::LoadBoth ||
         (kind >= Kind::Passed && kind <= Kind::KeptBit) || kind == Kind::LoadVector ||
         kind == Kind::WaitOrLate || kind == Kind::Allocate || kind == Kind::Neighbour ||
         kind == Kind::AskOwn || kind == Kind::TileLast ||
         (kind >= Kind::Ballot && kind <= Kind::CountNamed);
}
bool has_place(Kind kind) {
  return kind <= Kind::PlainStore;
}
bool may_be_same(Place a, Place b) {
  const auto in_q_or_r = [](Place place) {
    return place == Place::Q || place == Place::Either || place == Place::Found;
  };
  const auto by_p = [](Place place) {
    return place == Place::P || place == Place::Behind || place == Place::InShared ||
           place == Place::InLocal;
  };
  const auto shared = [](Place place) {
    return place == Place::Shared || place == Place::OfFirst || place == Place::InShared;
  };
  const auto local = [](Place place) { return place == Place::Local || place == Place::InLocal; };
  return a == b || (in_q_or_r(a) && in_q_or_r(b)) || (by_p(a) && by_p(b)) ||
         (shared(a) && shared(b)) || (local(a) && local(b));
}
bool has_value(Kind kind) {
  return kind == Kind::Store || kind == Kind::Exchange || kind == Kind::CompareAndSwap ||
         kind == Kind::Wait || kind == Kind::WaitOrLate || kind == Kind::PlainStore ||
         kind == Kind::Publish || kind == Kind::PublishSome || kind == Kind::Republish ||
         kind == Kind::StoreBoth || kind == Kind::StoreVector || kind == Kind::Maximum ||
         kind == Kind::Toggle ||
         (kind >= Kind::Ballot && kind <= Kind::CountNamed && kind != Kind::Elect) ||
         (kind >= Kind::Launch && kind <= Kind::LaunchTail);
}
bool adds_float(Kind kind) {
  return kind >= Kind::SumFloat && kind <= Kind::SumLess;
}
bool is_launch(Kind kind) {
  return kind >= Kind::Launch && kind <= Kind::CopyToP;
}
bool is_of_mbarrier(Kind kind) {
  return kind == Kind::Arrive || kind == Kind::WaitPhase || kind == Kind::Ask ||
         (kind >= Kind::Drop && kind <= Kind::StoreAsync);
}
bool meets(Kind kind) {
  return kind >= Kind::Publish && kind <= Kind::Observe;
}
bool has_what_it_uses(const Code& code, std::size_t n) {
  const Operation& operation = code.operations[n];
  const auto uses = [&](Value value) {
    return has_value(operation.kind) && operation.value == value;
  };
  const bool last =
      uses(Value::Last) || (has_place(operation.kind) && operation.place == Place::Found);
  return (!last || (n != 0 && has_result(code.operations[n - 1].kind))) &&
         (!uses(Value::First) || (n != 0 && has_result(code.operations[0].kind)));
}
bool writes(Kind kind) {
  return kind == Kind::Store || kind == Kind::Sum || kind == Kind::Exchange ||
         kind == Kind::Increment || kind == Kind::CompareAndSwap || kind == Kind::Retry ||
         kind == Kind::Lock || kind == Kind::PlainStore || kind == Kind::StoreBoth ||
         kind == Kind::StoreVector || kind == Kind::SumBoth || kind == Kind::Maximum ||
         kind == Kind::Toggle;
}
bool reads(Kind kind) {
  return kind == Kind::Wait || kind == Kind::LoadBoth || kind == Kind::LoadVector ||
         (has_result(kind) && has_place(kind));
}
bool is_plain(Kind kind) {
  return kind == Kind::PlainLoad || kind == Kind::PlainStore;
}

std::string MicroProgram::as_words() const {
  static constexpr const char* shapes[] = {
      "blocks",
      "threads",
      "blocks of a cluster",
      "cooperative blocks",
      "threads in pairs",
      "warps",
      "lanes of several warps",
      "threads in pairs of a cluster",
      "warps in pairs",
      "blocks in clusters of two"
  };
  std::string text = fmt::format("{} {}", actors, shapes[static_cast<std::size_t>(shape)]);
  if (arrivals != 0) {
    text += fmt::format(", mbarrier of {}", arrivals);
  }
  text += weak ? ", weak memory" : "";
  text += narrow ? ", narrow scopes" : "";
  text += functions ? ", by functions" : "";
  text += lockstep ? ", lockstep" : "";
  text += has_width() ? fmt::format(", {} {}", name_of(width), name_of(strength)) : "";
  if (progress != model::ProgressModel::Cuda) {
    text += fmt::format(", {}", explore::name(progress));
  }
  for (std::size_t c = 0; c < codes.size(); ++c) {
    text += alike() ? ": " : fmt::format("{} {}: ", c == 0 ? ":" : " |", c);
    text += words(codes[c]);
  }
  for (std::size_t n = 0; n < host.size(); ++n) {
    text += (n != 0 ? "; " : prompt ? " | host: " : " | host, calls may stay: ") + words(host[n]);
  }
  for (std::size_t n = 0; n < beside.size(); ++n) {
    text += (n != 0 ? "; " : " | beside it: ") + words(beside[n]);
  }
  return text;
}

} // namespace heddle::enumeration
