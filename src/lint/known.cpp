#include "lint/known.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <initializer_list>
#include <string>
#include <utility>

namespace heddle::lint {
namespace {

struct Row {
  std::string_view name;
  Known known;
};

constexpr Row function_row(std::string_view name, Effect effect) {
  return {name, {true, effect, std::nullopt}};
}
constexpr Row place_row(std::string_view name, Symbol symbol) {
  return {name, {true, Effect::Pure, symbol}};
}

constexpr Row rows[] = {
#define HEDDLE_FUNCTION(name, effect) function_row(name, Effect::effect),
#define HEDDLE_PLACE_FUNCTION(name, symbol) place_row(name, Symbol::symbol),
#include "lint/functions.def"
};

constexpr std::array atomic_functions = {
    "atomicAdd",
    "atomicSub",
    "atomicExch",
    "atomicMin",
    "atomicMax",
    "atomicInc",
    "atomicDec",
    "atomicCAS",
    "atomicAnd",
    "atomicOr",
    "atomicXor",
};

/// The members of a class template that are read-modify-write operations.
bool is_atomic_member(std::string_view name) {
  for (const std::string_view type :
       {"cuda::atomic::", "cuda::atomic_ref::", "cuda::atomic_flag::"}) {
    if (name.starts_with(type)) {
      const std::string_view member = name.substr(type.size());
      return member.starts_with("fetch_") || member == "exchange" ||
             member.starts_with("compare_exchange") || member.starts_with("operator") ||
             member == "test_and_set";
    }
  }
  return false;
}

bool is_legacy_atomic(std::string_view name) {
  return std::ranges::any_of(atomic_functions, [name](std::string_view atomic) {
    return name == atomic ||
           (name.starts_with(atomic) &&
            (name.substr(atomic.size()) == "_block" || name.substr(atomic.size()) == "_system"));
  });
}

bool has_word(std::string_view text, std::string_view word) {
  for (std::size_t at = text.find(word); at != std::string_view::npos;
       at = text.find(word, at + 1)) {
    const std::size_t end = at + word.size();
    const auto is_part = [](char c) {
      return c == '_' || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
    };
    if ((at == 0 || !is_part(text[at - 1])) && (end == text.size() || !is_part(text[end]))) {
      return true;
    }
  }
  return false;
}

/// Operands of the first statement of the text that begins with `mnemonic`: commas in it, plus one.
std::size_t operand_count(std::string_view text, std::size_t at) {
  const std::string_view statement = text.substr(at, text.find(';', at) - at);
  return 1 + static_cast<std::size_t>(std::ranges::count(statement, ','));
}

/// shfl.sync.idx d, a, b, …: is b a number?
bool reads_fixed_lane(std::string_view text) {
  std::size_t at = text.find("shfl");
  for (int commas = 0; commas < 2 && at != std::string_view::npos; ++commas) {
    at = text.find(',', at);
    at = at == std::string_view::npos ? at : at + 1;
  }
  at = text.find_first_not_of(" \t\n", at);
  return at != std::string_view::npos && std::isdigit(static_cast<unsigned char>(text[at])) != 0;
}

/// Is there an instruction `name` with one of the modifiers (none named: with any or none)?
/// "ld.shared" is no "red".
bool has_instruction(
    std::string_view text,
    std::string_view name,
    std::initializer_list<std::string_view> modifiers
) {
  const auto is_part = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '.' || c == '_' || c == ':';
  };
  for (std::size_t at = text.find(name); at != std::string_view::npos;
       at = text.find(name, at + 1)) {
    std::size_t end = at + name.size();
    if ((at > 0 && is_part(text[at - 1])) || end >= text.size() || text[end] != '.') {
      continue;
    }
    while (end < text.size() && is_part(text[end])) {
      ++end;
    }
    const std::string all = std::string(text.substr(at, end - at)) + ".";
    const bool fits =
        modifiers.size() == 0 || std::ranges::any_of(modifiers, [&](std::string_view one) {
          return all.find("." + std::string(one) + ".") != std::string::npos;
        });
    if (fits) {
      return true;
    }
  }
  return false;
}

} // namespace

Known known_function(std::string_view name) {
  const auto row = std::ranges::find(rows, name, &Row::name);
  if (row != std::end(rows)) {
    return row->known;
  }
  if (is_legacy_atomic(name) || is_atomic_member(name) || name.starts_with("__nv_atomic_") ||
      name.starts_with("__atomic_fetch") || name.starts_with("__atomic_exchange")) {
    return {true, Effect::AtomicUpdate, std::nullopt};
  }
  if (name.starts_with("cuda::std::atomic")) {
    const std::string other = "cuda::" + std::string(name.substr(11));
    return known_function(other);
  }
  for (const std::string_view prefix :
       {"tex1D",
        "tex2D",
        "tex3D",
        "texCube",
        "surf1D",
        "surf2D",
        "surf3D",
        "__nv_",
        "__ld",
        "__st"}) {
    if (name.starts_with(prefix)) {
      return {true, Effect::Pure, std::nullopt};
    }
  }
  return {};
}

InlineAssembly known_assembly(std::string_view text) {
  static constexpr std::pair<std::string_view, Symbol> registers[] = {
      {"%tid.x", Symbol::ThreadIndexX},
      {"%tid.y", Symbol::ThreadIndexY},
      {"%tid.z", Symbol::ThreadIndexZ},
      {"%ctaid", Symbol::BlockIndexX},
      {"%ntid", Symbol::GridConstant},
      {"%nctaid", Symbol::GridConstant},
      {"%laneid", Symbol::LaneIndex},
      {"%lanemask", Symbol::LaneIndex},
      {"%warpid", Symbol::WarpRank},
      {"%clock", Symbol::Clock},
      {"%globaltimer", Symbol::Clock},
      {"%smid", Symbol::Multiprocessor},
      {"%cluster_ctarank", Symbol::BlockRank},
      {"%cluster_ctaid", Symbol::BlockIndexX},
      {"%clusterid", Symbol::ClusterRank},
  };
  InlineAssembly result;
  // "%%laneid" in an extended asm statement is "%laneid" in PTX.
  for (const auto& [name, symbol] : registers) {
    if (text.find(name) != std::string_view::npos) {
      result.symbol = symbol;
    }
  }
  if (has_word(text, "elect")) {
    result.symbol = Symbol::Elected;
  }
  const auto find = [text](std::string_view word) { return text.find(word); };
  const auto none = std::string_view::npos;
  if (find("barrier.cluster.arrive") != none) {
    result.effect = Effect::ClusterArrive;
  } else if (find("barrier.cluster.wait") != none) {
    result.effect = Effect::ClusterWait;
  } else if (find("bar.warp.sync") != none) {
    result.effect = Effect::WarpBarrier;
  } else if (
      const std::size_t arrive = std::min(find("bar.arrive"), find("barrier.cta.arrive"));
      arrive != none
  ) {
    result.effect = Effect::NamedBarrier;
  } else if (
      const std::size_t sync = std::min(
          {find("bar.sync"), find("barrier.sync"), find("bar.cta.sync"), find("barrier.cta.sync")}
      );
      sync != none
  ) {
    result.effect = operand_count(text, sync) > 1 ? Effect::NamedBarrier : Effect::BlockBarrier;
  } else if (
      const std::size_t red =
          std::min({find("bar.red"), find("barrier.red"), find("barrier.cta.red")});
      red != none
  ) {
    // bar.red.op d, a, p  or  bar.red.op d, a, b, p with a count
    result.effect = operand_count(text, red) > 3 ? Effect::NamedBarrier : Effect::BlockBarrier;
  } else if (find("mbarrier") != none) {
    result.effect = Effect::ObjectBarrier;
  } else if (has_word(text, "exit")) {
    result.effect = Effect::ThreadExit;
  } else if (has_word(text, "trap")) {
    result.effect = Effect::Trap;
  } else if (has_instruction(text, "atom", {}) || has_instruction(text, "red", {})) {
    result.effect = Effect::AtomicUpdate;
  } else if (has_instruction(text, "shfl", {})) {
    // From one lane that is named by a number, the whole warp gets the same.
    result.effect = has_instruction(text, "shfl", {"idx"}) && reads_fixed_lane(text)
                        ? Effect::WarpReduce
                        : Effect::WarpScan;
  } else if (
      has_instruction(text, "vote", {}) || has_instruction(text, "match", {}) ||
      has_instruction(text, "redux", {})
  ) {
    result.effect = Effect::WarpReduce;
  } else if (has_instruction(text, "ld", {"acquire", "relaxed", "volatile", "mmio", "cv", "cg"})) {
    // .cg and .cv: how code before sm_70 reads what others write.
    result.effect = Effect::AtomicLoad;
  } else if (has_instruction(text, "st", {"release", "relaxed", "volatile", "mmio"})) {
    result.effect = Effect::AtomicStore;
  } else if (find("membar") != none || find("fence") != none) {
    result.effect = Effect::Fence;
  } else if (find("nanosleep") != none) {
    result.effect = Effect::Sleep;
  }
  return result;
}

const char* text(Symbol symbol) {
  static constexpr const char* texts[] = {
#define HEDDLE_SYMBOL(enumerator, text, level) text,
#include "lint/symbol.def"
#undef HEDDLE_SYMBOL
  };
  return texts[static_cast<std::size_t>(symbol)];
}

const char* text(Operator op) {
  static constexpr const char* texts[] = {
#define HEDDLE_OPERATOR(enumerator, text) text,
#include "lint/operator.def"
#undef HEDDLE_OPERATOR
  };
  return texts[static_cast<std::size_t>(op)];
}

Level level(Symbol symbol) {
  static constexpr Level levels[] = {
#define HEDDLE_SYMBOL(enumerator, text, level) Level::level,
#include "lint/symbol.def"
#undef HEDDLE_SYMBOL
  };
  return levels[static_cast<std::size_t>(symbol)];
}

} // namespace heddle::lint
