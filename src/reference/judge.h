// The definition of spec/hangs.md, written down: is there an endless execution that is allowed?
//
//   Graph graph;  …states and edges, all of them…
//   for (const Endless& endless : find_endless(graph)) …
//
// From some moment on an endless execution stays inside a set of states that it can repeat forever,
// or in one in which nobody moves. Such a set is looked for among strongly connected components. If
// a thread is owed a move in one of its states and makes none in the whole component ([FAIR]), then
// no allowed execution visits that state again and again: the state goes, and what is left is split
// anew. While the host waits for the device some device thread must move, if one can ([API]).
#pragma once

#include <cstdint>
#include <vector>

namespace heddle::reference {

struct Edge {
  std::uint32_t from = 0, to = 0;
  std::uint32_t thread = 0;
  bool step = false;
};

struct State {
  bool over = false;               // the program has ended
  bool moves = false;              // some thread can move
  std::vector<std::uint32_t> owed; // threads that are guaranteed to go on and can move
};

struct Graph {
  std::vector<State> states;
  std::vector<Edge> edges; // by `from`, ascending
};

/// States that an allowed endless execution visits again and again, and the moves it makes; no
/// moves: one state in which nobody moves.
struct Endless {
  std::vector<std::uint32_t> states;
  std::vector<std::uint32_t> edges;
};

std::vector<Endless> find_endless(const Graph& graph);

} // namespace heddle::reference
