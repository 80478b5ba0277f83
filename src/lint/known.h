// What a function means by its name alone (functions.def), for front ends.
//
//   const Known known = known_function("cooperative_groups::thread_block::sync");
//   known.effect == Effect::BlockBarrier
//
// Families that differ in a suffix or an overload (atomicAdd_system, __shfl_up_sync, surf2Dwrite)
// are recognised by their prefix.
#pragma once

#include "lint/flow.h"

#include <string_view>

namespace heddle::lint {

struct Known {
  bool known = false;
  Effect effect = Effect::Unknown;
  std::optional<Symbol> symbol; // a place function: no effect, this value
};
Known known_function(std::string_view qualified_name);

/// Inline PTX: the strongest thing that its text does.
struct InlineAssembly {
  Effect effect = Effect::Pure;
  std::optional<Symbol> symbol; // a special register that it reads
};
InlineAssembly known_assembly(std::string_view text);

} // namespace heddle::lint
