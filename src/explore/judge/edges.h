// Edges: the moves of a graph of states, sixteen bytes each.
//
//   Edges edges;
//   edges.push_back({.from = 0, .to = 1, .actor = 2});
//   for (const Edge& edge : edges) …                 // put together as it is asked for
//   edges.to(e), edges.label(e)                      // where each access counts
//
// A graph has few kinds of moves and many edges: what does not depend on the two states is a
// *label*, kept once. Edges may lie in memory of somebody else, as those of a StateTable do.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace heddle::explore {

using StateId = std::uint32_t;
using EdgeId = std::uint32_t;
using ActorId = std::uint32_t;
/// Threads that are alike in a state; host threads are 0, 1, …, each alone in its class.
using ThreadClass = std::uint64_t;

/// The rules a verdict can rest on; ids as in spec/.
enum class Rule : std::uint8_t {
  Host,
  Device,
  Cooperative,
  Cluster,
  Api,
  Query,
  Dependency,
  Clock,
  Visible,
  None
};
inline constexpr int rule_count = 9;

/// What kind of step a move was. None: the actor moved, but that does not count as progress.
enum class Step : std::uint8_t {
  None,
  End,
  Io,
  Volatile,
  Sync,
  Host
};

/// What a move of a host thread did without a reason. Nobody is owed such a move.
enum class Unprovoked : std::uint8_t {
  Nothing,
  Failure, // a weak exchange failed
  WakeUp   // a wait on a condition variable returned [HOST-WAKE]
};

struct Edge {
  StateId from = 0, to = 0;
  ActorId actor = 0;         // one of the threads that are alike, for reports
  std::uint32_t changes = 0; // number of a list of changes
  ThreadClass who = 0;       // class of the actor in `from`
  std::uint32_t count = 1;   // so many threads are like it
  Step step = Step::None;
  Rule owed = Rule::None;     // the rule by which the actor is owed a move in `from`
  bool not_ready = false;     // a query answered NotReady …
  bool query_obliged = false; // … although device work could move or was complete
  Unprovoked unprovoked = Unprovoked::Nothing;
  bool tried = false;       // a weak exchange did what it found
  bool soon = false;        // a clock showed what it had shown …
  bool late = false;        // … or that much time has passed
  std::uint32_t site = 0;   // where and what, for reports
  std::uint32_t choice = 0; // for replays (schedule.h)
  // The number of the place of which it read an older value, or the newest one; 0: none.
  std::uint32_t stale = 0, fresh = 0;
};

/// What edges have in common. Without padding, so that equal ones are equal byte for byte.
struct Label {
  ThreadClass who = 0;
  ActorId actor = 0;
  std::uint32_t changes = 0, count = 0, site = 0;
  Step step = Step::None;
  Rule owed = Rule::None;
  bool not_ready = false, query_obliged = false;
  Unprovoked unprovoked = Unprovoked::Nothing;
  bool tried = false;
  bool soon = false, late = false;
  std::uint32_t stale = 0, fresh = 0;
  bool operator==(const Label&) const = default;
  /// Of a host thread that could go on in several ways: not in the first one.
  bool is_other_way() const { return not_ready || unprovoked != Unprovoked::Nothing; }
};
static_assert(sizeof(Label) == 40);

struct ShortEdge {
  StateId from = 0, to = 0;
  std::uint32_t label = 0, choice = 0;
};

inline Label label_of(const Edge& edge) {
  return {
      edge.who,
      edge.actor,
      edge.changes,
      edge.count,
      edge.site,
      edge.step,
      edge.owed,
      edge.not_ready,
      edge.query_obliged,
      edge.unprovoked,
      edge.tried,
      edge.soon,
      edge.late,
      edge.stale,
      edge.fresh
  };
}

class Edges {
public:
  Edges() = default;
  /// They stay where they are.
  Edges(std::span<const ShortEdge> elsewhere, std::vector<Label> labels)
      : elsewhere_(elsewhere),
        labels_(std::move(labels)) {}
  Edges(std::vector<ShortEdge> edges, std::vector<Label> labels)
      : own_(std::move(edges)),
        labels_(std::move(labels)) {}

  void push_back(const Edge& edge) { // not to those of somebody else
    own_.push_back({edge.from, edge.to, static_cast<std::uint32_t>(labels_.size()), edge.choice});
    labels_.push_back(label_of(edge));
  }

  std::span<const ShortEdge> all() const { return own_.empty() ? elsewhere_ : std::span(own_); }
  std::size_t size() const { return all().size(); }
  StateId from(EdgeId e) const { return all()[e].from; }
  StateId to(EdgeId e) const { return all()[e].to; }
  const Label& label(EdgeId e) const { return labels_[all()[e].label]; }
  Edge operator[](EdgeId e) const { return put_together(all()[e]); }

  class Iterator {
  public:
    Iterator(const Edges& edges, const ShortEdge* at) : edges_(&edges), at_(at) {}
    Edge operator*() const { return edges_->put_together(*at_); }
    Iterator& operator++() {
      ++at_;
      return *this;
    }
    bool operator==(const Iterator& other) const { return at_ == other.at_; }

  private:
    const Edges* edges_;
    const ShortEdge* at_;
  };
  Iterator begin() const { return {*this, all().data()}; }
  Iterator end() const { return {*this, all().data() + all().size()}; }

private:
  Edge put_together(const ShortEdge& edge) const {
    const Label& label = labels_[edge.label];
    return {
        edge.from,
        edge.to,
        label.actor,
        label.changes,
        label.who,
        label.count,
        label.step,
        label.owed,
        label.not_ready,
        label.query_obliged,
        label.unprovoked,
        label.tried,
        label.soon,
        label.late,
        label.site,
        edge.choice,
        label.stale,
        label.fresh
    };
  }

  std::span<const ShortEdge> elsewhere_;
  std::vector<ShortEdge> own_; // if there are some, these
  std::vector<Label> labels_;
};

} // namespace heddle::explore
