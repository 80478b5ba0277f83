// Scopes and places of threads, as the PTX memory consistency model uses them ([MEM-SCOPE]).
//
//   includes(Scope::Cta, here, there)     // is the thread at `there` in the block of the one at
//   `here`?
//
// May be wrong: nothing known.
#pragma once

#include <cstdint>

namespace heddle::weak {

enum class Scope : std::uint8_t {
  Cta,
  Cluster,
  Gpu,
  Sys
};

/// Where a thread runs. Numbers are unique in the program: a block of another grid has another one.
struct Location {
  std::uint32_t block = 0, cluster = 0, device = 0, grid = 0;
  bool operator==(const Location&) const = default;
};

/// [MEM-SCOPE] The set of threads that a scope of a thread at `a` means contains one at `b`.
constexpr bool includes(Scope scope, const Location& a, const Location& b) {
  switch (scope) {
  case Scope::Cta:
    return a.block == b.block;
  case Scope::Cluster:
    return a.cluster == b.cluster;
  case Scope::Gpu:
    return a.device == b.device;
  case Scope::Sys:
    break;
  }
  return true;
}

} // namespace heddle::weak
