#include "ptx/special_register.h"

#include <unordered_map>

namespace heddle::ptx {
namespace {

constexpr SpecialRegister rows[] = {
#define HEDDLE_SPECIAL(name, type, components, asks) {name, Mod::type, components, -1, Asks::asks},
#include "ptx/special_register.def"
#undef HEDDLE_SPECIAL
};

const std::unordered_map<std::string_view, const SpecialRegister*>& table() {
  static const auto* map = [] {
    auto* result = new std::unordered_map<std::string_view, const SpecialRegister*>();
    for (const SpecialRegister& row : rows) {
      result->emplace(row.name, &row);
    }
    return result;
  }();
  return *map;
}

/// %envreg0 … %envreg31.
bool is_envreg(std::string_view name) {
  static constexpr std::string_view prefix = "envreg";
  if (!name.starts_with(prefix)) {
    return false;
  }
  name.remove_prefix(prefix.size());
  auto digit = [](char c) { return c >= '0' && c <= '9'; };
  if (name.size() == 1) {
    return digit(name[0]);
  }
  return name.size() == 2 && digit(name[1]) &&
         (name[0] == '1' || name[0] == '2' || (name[0] == '3' && name[1] < '2'));
}

} // namespace

std::optional<SpecialRegister> find_special_register(std::string_view text) {
  if (!text.starts_with('%')) {
    return std::nullopt;
  }
  text.remove_prefix(1);
  std::size_t dot = text.find('.');
  std::string_view base = text.substr(0, dot);
  if (is_envreg(base) && dot == std::string_view::npos) {
    return SpecialRegister{base, Mod::B32, 1, -1, Asks::Nothing};
  }
  auto found = table().find(base);
  if (found == table().end()) {
    return std::nullopt;
  }
  SpecialRegister result = *found->second;
  if (dot != std::string_view::npos) {
    static constexpr std::string_view components = "xyzw";
    std::string_view word = text.substr(dot + 1);
    std::size_t at = word.size() == 1 ? components.find(word[0]) : components.npos;
    if (at == components.npos || result.components == 1) {
      return std::nullopt;
    }
    result.component = static_cast<int>(at);
  }
  return result;
}

} // namespace heddle::ptx
