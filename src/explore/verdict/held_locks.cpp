// Implements held_locks.h.
#include "explore/verdict/held_locks.h"

#include "report/render.h"

#include <fmt/format.h>

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace heddle::explore {
namespace {

constexpr std::string_view taking = "an atomic update";

/// Where the function that contains the site was called; nullptr: it is not in one that was
/// inlined.
const Site::Call* lock_call(const Site& at) {
  return at.calls.empty() || !at.calls.front().how.starts_with("inlined") ? nullptr
                                                                          : &at.calls.front();
}

std::string line_of(const Site::Call& call) {
  return fmt::format("{}:{}", report::shown_path(call.file), call.line);
}

bool may_write(const Site& at) {
  return at.what.find("write") != std::string::npos || at.what.find("update") != std::string::npos;
}

/// Where the thread that spins at `spin` has taken the lock that it holds.
std::optional<std::string> held_by(
    ActorId actor,
    const Site& spin,
    const ProgressGraph& graph,
    std::span<const EdgeId> way,
    const std::function<Site(std::uint32_t)>& site
) {
  std::optional<std::string> held;
  for (const EdgeId e : way) {
    const Edge edge = graph.edges[e];
    if (edge.actor != actor) {
      continue;
    }
    const Site at = site(edge.site);
    const bool same = at.file == spin.file && at.line == spin.line && at.what == spin.what;
    const Site::Call* const call = lock_call(at);
    if (same && call != nullptr && *call != *lock_call(spin)) {
      held = line_of(*call);
    } else if (!same && may_write(at)) {
      held.reset();
    }
  }
  return held;
}

} // namespace

void add_held_locks(
    report::Diagnostic& diagnostic,
    const SpinningThreads& spinning,
    const std::function<Site(std::uint32_t)>& site
) {
  if (spinning.threads.size() < 2) {
    return;
  }
  const ProgressGraph& graph = spinning.graph;
  const std::vector<EdgeId> way = shortest_way(graph, spinning.out, spinning.component.states);
  std::vector<std::string> notes;
  for (const Part& part : spinning.threads) {
    const Actor& actor = graph.actors[part.actor];
    const Site spin = site(*part.sites.begin());
    if (!graph.by_device(part.actor) || part.sites.size() != 1 || !spin.what.starts_with(taking) ||
        lock_call(spin) == nullptr) {
      return;
    }
    const auto held = held_by(part.actor, spin, graph, way, site);
    if (!held) {
      return;
    }
    notes.push_back(
        fmt::format(
            "{} holds the lock that it took at {}, and waits at {}",
            actor.name,
            *held,
            line_of(*lock_call(spin))
        )
    );
  }
  diagnostic.message = fmt::format(
      "{} may hang: each of {} threads holds a lock and waits for another one, forever",
      graph.actors[spinning.threads.front().actor].kernel,
      notes.size()
  );
  diagnostic.notes.insert(diagnostic.notes.end(), notes.begin(), notes.end());
  diagnostic.help.emplace_back("take the locks in one order in all threads");
}

} // namespace heddle::explore
