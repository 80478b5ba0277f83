// WakeMutant: ways to break [HOST-WAKE] on purpose. tests/check/test_wake_ups.py must notice each
// of them; nobody else sets one.
#pragma once

#include <cstdlib>
#include <string_view>

namespace heddle::explore {

/// Is it `never`, `owed`, `forever`, `leaves` or `nearest`? The environment says so, since search
/// and judge are different processes.
inline bool wake_mutant_is(std::string_view name) {
  static const char* const mutant = std::getenv("HEDDLE_WAKE_MUTANT");
  return mutant != nullptr && name == mutant;
}

} // namespace heddle::explore
