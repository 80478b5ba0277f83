// Special registers (%tid.x, %clock64, …): the rows of special_register.def by name.
#pragma once

#include "ptx/effect.h"
#include "ptx/module.h"

#include <optional>
#include <string_view>

namespace heddle::ptx {

struct SpecialRegister {
  std::string_view name; // without % and component
  Type type{};
  int components = 1; // 4: a vector
  int component = -1; // 0 … 3 for .x … .w; -1: the whole vector, or no vector
  Asks asks{};
};

/// "%tid.x", "%tid" (all four), "%laneid"; nothing for a name that PTX does not know.
std::optional<SpecialRegister> find_special_register(std::string_view text);

} // namespace heddle::ptx
