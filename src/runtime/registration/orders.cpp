// Implements orders.h. The text is changed, not the module: it is read as if it had been written
// so.
#include "runtime/registration/orders.h"

#include "base/check.h"
#include "machine/source_place.h"
#include "ptx/effect.h"
#include "ptx/parse.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <fstream>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

namespace heddle::runtime {

namespace {

using Kind = ptx::Effect::Kind;
using ptx::Mod;
using ptx::Opcode;

struct Atomic {
  std::string kind, order;
  std::vector<const ptx::Instruction*> instructions;
};
/// By line, column and file, as they are written.
using Atomics = std::map<std::string, Atomic>;

std::string order_of(const ptx::Instruction& i) {
  if (i.opcode == Opcode::Membar || i.has(Mod::Sc)) {
    return "seq_cst";
  }
  const bool fence = ptx::effect_of(i).is(Kind::Fence);
  return i.has(Mod::Acquire)           ? "acquire"
         : i.has(Mod::Release)         ? "release"
         : i.has(Mod::AcqRel) || fence ? "acq_rel"
                                       : "relaxed";
}

std::string kind_of(const ptx::Instruction& i) {
  const ptx::Effect& effect = ptx::effect_of(i);
  if (effect.is(Kind::Fence)) {
    const bool of_memory = i.one_of(ptx::Category::Scope).has_value() && !i.has(Mod::Proxy);
    return of_memory ? "fence" : "";
  }
  if (!effect.is_access() || !effect.is_strong() || effect.is_async() || i.has(Mod::Volatile)) {
    return "";
  }
  return effect.is(Kind::Load) ? "load" : effect.is(Kind::Store) ? "store" : "update";
}

Atomics atomics_of(const ptx::Module& module) {
  Atomics result;
  for (const auto& function : module.functions) {
    for (const ptx::Instruction& i : function->body) {
      const std::string kind = kind_of(i);
      const auto places =
          kind.empty() ? std::vector<machine::SourcePlace>() : machine::places_of(module, i);
      if (places.empty()) {
        continue;
      }
      const machine::SourcePlace& at = machine::users_place(places);
      if (at.line == 0 || machine::is_system_file(at.file)) {
        continue;
      }
      Atomic& atomic = result[fmt::format("{} {} {}", at.line, at.column, at.file)];
      const std::string order = order_of(i);
      const bool fence = kind == "fence";
      if (atomic.instructions.empty()) {
        atomic.kind = kind;
        atomic.order = order;
      } else if (fence != (atomic.kind == "fence")) {
        // libcu++ makes a sequentially consistent access of a fence and an access.
        const bool sc = fence ? order == "seq_cst" : atomic.order == "seq_cst";
        atomic.kind = fence ? atomic.kind : kind;
        atomic.order = sc ? "seq_cst" : "several";
      } else if (
          kind != atomic.kind || (order != atomic.order && (fence || atomic.order != "seq_cst"))
      ) {
        atomic.order = "several";
      }
      atomic.instructions.push_back(&i);
    }
  }
  return result;
}

/// The text of the instruction, from its name to before the semicolon.
std::pair<std::size_t, std::size_t>
find_text(const std::string& text, const std::vector<std::size_t>& lines, ptx::TextPosition at) {
  HEDDLE_CHECK(at.line >= 1 && at.line <= lines.size(), "line {} of PTX", at.line);
  const std::size_t begin = lines[at.line - 1] + std::max(at.column, 1U) - 1;
  return {begin, std::min(text.find(';', begin), text.size())};
}

/// With that order; empty: it is left out.
std::string with_order(std::string instruction, bool fence, bool apart, std::string_view order) {
  static constexpr std::array<std::string_view, 5> orders =
      {".relaxed", ".acquire", ".release", ".acq_rel", ".sc"};
  const std::size_t guard = instruction.starts_with('@') ? instruction.find_first_of(" \t") : 0;
  if (order == "trap") {
    return instruction.substr(0, guard) + " trap";
  }
  if (fence && (apart || order == "relaxed")) {
    return {};
  }
  if (const std::size_t membar = instruction.find("membar"); membar != std::string::npos) {
    const std::string_view scope = instruction.find(".gl") != std::string::npos    ? "gpu"
                                   : instruction.find(".sys") != std::string::npos ? "sys"
                                                                                   : "cta";
    return instruction.replace(membar, std::string::npos, fmt::format("fence.{}.{}", order, scope));
  }
  for (const std::string_view one : orders) {
    const std::size_t found = instruction.find(one);
    if (found != std::string::npos) {
      return instruction.replace(found, one.size(), fmt::format(".{}", order));
    }
  }
  const std::size_t name =
      instruction.find('.'); // nothing is said: acq_rel of a fence, else relaxed
  return name == std::string::npos ? instruction
                                   : instruction.insert(name, fmt::format(".{}", order));
}

std::string changed(const std::string& text, const ptx::Module& module, const std::string& line) {
  const auto after = [](const std::string& words) { return words.substr(words.find(' ') + 1); };
  const std::string order = after(line).substr(0, after(line).find(' '));
  const Atomics all = atomics_of(module);
  const auto atomic = all.find(after(after(line)));
  if (atomic == all.end()) {
    return text;
  }
  std::vector<std::size_t> lines{0};
  for (std::size_t at = text.find('\n'); at != std::string::npos; at = text.find('\n', at + 1)) {
    lines.push_back(at + 1);
  }
  std::map<std::size_t, std::pair<std::size_t, std::string>, std::greater<>> edits; // last first
  for (const ptx::Instruction* i : atomic->second.instructions) {
    const auto [begin, end] = find_text(text, lines, i->at);
    const bool fence = ptx::effect_of(*i).is(Kind::Fence);
    edits[begin] = {
        end,
        with_order(text.substr(begin, end - begin), fence, atomic->second.kind != "fence", order)
    };
  }
  std::string result = text;
  for (const auto& [begin, edit] : edits) {
    // An instruction that is left out goes with its semicolon.
    const std::size_t end = edit.second.empty() ? edit.first + 1 : edit.first;
    result.replace(begin, end - begin, edit.second);
  }
  return result;
}

} // namespace

Result<std::unique_ptr<ptx::Module>>
parse_with_orders(const std::string& text, const std::string& name) {
  auto module = ptx::parse(text, name);
  const char* const list = std::getenv("HEDDLE_ORDERS_TO");
  const char* const wanted = std::getenv("HEDDLE_ORDER");
  if (!module || (list == nullptr && wanted == nullptr)) {
    return module;
  }
  if (list != nullptr) {
    std::string lines; // written in one go: several processes may do so
    for (const auto& [at, atomic] : atomics_of(**module)) {
      lines += fmt::format("{} {} {}\n", atomic.kind, atomic.order, at);
    }
    std::ofstream(list, std::ios::app) << lines << std::flush;
  }
  return wanted == nullptr ? std::move(module) : ptx::parse(changed(text, **module, wanted), name);
}

} // namespace heddle::runtime
