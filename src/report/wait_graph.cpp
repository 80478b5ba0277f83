// Implements wait_graph.h.
#include "report/wait_graph.h"

#include <algorithm>
#include <array>
#include <cctype>

namespace heddle::report {
namespace {

struct Phrase {
  std::string_view text; // where it begins, the name of the party ends
  WaitRole role;
};
// The first one in a label decides: "need not advance; it waits" is about somebody who could go on.
constexpr std::array phrases = {
    Phrase{" need not", WaitRole::Left},
    Phrase{" has not taken a step yet", WaitRole::Left},
    Phrase{" has not started", WaitRole::Left},
    Phrase{" may stay ", WaitRole::Left},
    Phrase{" spins here", WaitRole::Runs},
    Phrase{" runs here forever", WaitRole::Runs},
    Phrase{" is queued behind ", WaitRole::Waits},
    Phrase{" waits ", WaitRole::Waits},
    Phrase{" wait ", WaitRole::Waits},
};

/// What follows "(3) "; nothing for "(1, 3) launched from here".
std::optional<std::string_view> after_number(std::string_view text) {
  if (!text.starts_with('(')) {
    return std::nullopt;
  }
  std::size_t digits = 1;
  while (digits < text.size() && std::isdigit(static_cast<unsigned char>(text[digits])) != 0) {
    ++digits;
  }
  return digits > 1 && text.substr(digits).starts_with(") ")
             ? std::optional(text.substr(digits + 2))
             : std::nullopt;
}

std::optional<WaitGraph::Node> node_of(const Label& label) {
  const auto text = after_number(label.text);
  if (!text) {
    return std::nullopt;
  }
  const auto place = [&](const Phrase& phrase) { return text->find(phrase.text); };
  const Phrase& first = *std::ranges::min_element(phrases, {}, place);
  const std::size_t at = place(first);
  if (at == std::string_view::npos) {
    return std::nullopt;
  }
  return WaitGraph::Node{
      std::string(text->substr(0, at)),
      std::string(text->substr(at + 1)),
      first.role
  };
}

} // namespace

std::string_view name(WaitRole role) {
  switch (role) {
  case WaitRole::Runs:
    return "runs";
  case WaitRole::Waits:
    return "waits";
  case WaitRole::Left:
    return "left";
  case WaitRole::Nobody:
    break;
  }
  return "nobody";
}

std::optional<WaitGraph> wait_graph(const Diagnostic& diagnostic) {
  if (describe(diagnostic.finding).group != FindingGroup::Hang) {
    return std::nullopt;
  }
  WaitGraph graph;
  for (const Label& label : diagnostic.labels) {
    if (auto node = node_of(label)) {
      graph.nodes.push_back(std::move(*node));
    }
  }
  if (graph.nodes.empty()) {
    return std::nullopt;
  }
  const auto count = static_cast<std::uint32_t>(graph.nodes.size());
  const auto has = [&](WaitRole role) {
    return std::ranges::count(graph.nodes, role, &WaitGraph::Node::role) != 0;
  };
  const auto add_to_all = [&](std::uint32_t from, WaitRole role, const char* text) {
    for (std::uint32_t to = 0; to < count; ++to) {
      if (graph.nodes[to].role == role) {
        graph.edges.push_back({from, to, text});
      }
    }
  };
  const bool stuck = !has(WaitRole::Runs) && !has(WaitRole::Left);
  for (std::uint32_t n = 0; n < count; ++n) {
    switch (graph.nodes[n].role) {
    case WaitRole::Runs:
      if (has(WaitRole::Left)) {
        add_to_all(n, WaitRole::Left, "goes on unless it is released by");
      } else {
        graph.edges.push_back({n, n, "runs forever"});
      }
      break;
    case WaitRole::Waits:
      if (stuck) {
        graph.edges.push_back({n, count, "waits, but there is"});
      } else {
        add_to_all(n, has(WaitRole::Runs) ? WaitRole::Runs : WaitRole::Left, "waits for");
      }
      break;
    case WaitRole::Left:
    case WaitRole::Nobody:
      break;
    }
  }
  if (stuck) {
    graph.nodes.push_back({"no thread that can move", "every party is blocked", WaitRole::Nobody});
  }
  return graph;
}

} // namespace heddle::report
