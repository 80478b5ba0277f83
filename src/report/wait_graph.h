// WaitGraph: who waits for whom in a hang, to be drawn.
//
//   if (auto graph = wait_graph(diagnostic)) …        // nodes with roles, edges between them
//
// Made of the labels of a finding: what verdict.cpp says of each party ("spins here", "waits",
// "need not") is its role. Misses parties that have no label; an edge says "may be released by", so
// it never claims that moving would be enough.
#pragma once

#include "report/diagnostic.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace heddle::report {

enum class WaitRole : std::uint8_t {
  Runs,  // moves forever
  Waits, // blocked, or inside a call that does not return
  Left,  // could move, and no rule obliges it to
  Nobody // stands for the party that is missing where everyone is blocked
};
std::string_view name(WaitRole role); // "runs", …

struct WaitGraph {
  struct Node {
    std::string name;  // "thread (31,0,0) of block (2,0,0) of kernel 'scan<<<3,32>>>'"
    std::string state; // "spins here: an atomic read"
    WaitRole role{};
  };
  struct Edge { // indices of nodes
    std::uint32_t from = 0, to = 0;
    std::string text;
  };
  std::vector<Node> nodes;
  std::vector<Edge> edges;
};

/// Nothing if the finding is no hang.
std::optional<WaitGraph> wait_graph(const Diagnostic& diagnostic);

} // namespace heddle::report
