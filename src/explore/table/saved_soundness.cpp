// Implements saved_soundness.h.
#include "explore/table/saved_soundness.h"

#include "report/diagnostic_lines.h"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstring>
#include <vector>

namespace heddle::explore {

namespace {

// A new enumerator must be listed here, or the build fails: files with it would be refused.
bool is_one(EventKind kind) {
  switch (kind) {
  case EventKind::Crash:
  case EventKind::Fault:
  case EventKind::Unsupported:
  case EventKind::Nondeterminism:
  case EventKind::Incomplete:
  case EventKind::LeftOut:
  case EventKind::Unchosen:
  case EventKind::Asked:
  case EventKind::Input:
    return true;
  }
  return false;
}
bool is_one(ActorKind kind) {
  switch (kind) {
  case ActorKind::Host:
  case ActorKind::DeviceThread:
  case ActorKind::Command:
  case ActorKind::HostFunction:
    return true;
  }
  return false;
}
bool is_one(Step step) {
  switch (step) {
  case Step::None:
  case Step::End:
  case Step::Io:
  case Step::Volatile:
  case Step::Sync:
  case Step::Host:
    return true;
  }
  return false;
}

class Soundness {
public:
  explicit Soundness(const SavedArrays& saved)
      : saved_(saved),
        known_(saved.texts.size(), Nothing) {}

  bool all() {
    return std::ranges::all_of(saved_.texts, [&](const StoredText& t) { return lies_inside(t); }) &&
           std::ranges::all_of(saved_.actors, [&](const StoredActor& a) { return is_sound(a); }) &&
           std::ranges::all_of(saved_.states, [&](const StoredState& s) { return is_sound(s); }) &&
           std::ranges::all_of(saved_.edges, [&](const ShortEdge& e) { return is_sound(e); }) &&
           std::ranges::all_of(saved_.events, [&](const Event& e) { return is_sound(e); }) &&
           std::ranges::all_of(saved_.told, [](const StoredTold& t) {
             return t.count <= StateTable::most_told;
           });
  }

private:
  /// What a text is known to be: many states and edges have the same one.
  enum Known : std::uint8_t {
    Nothing,
    Description = 1,
    OfEdges = 2
  };

  bool lies_inside(const StoredText& text) const {
    return text.offset <= saved_.bytes.size() && text.bytes <= saved_.bytes.size() - text.offset;
  }
  bool is_text(std::uint32_t id) const { return id < saved_.texts.size(); }
  std::string_view text(std::uint32_t id) const {
    return saved_.bytes.substr(saved_.texts[id].offset, saved_.texts[id].bytes);
  }

  bool is_sound(const StoredActor& actor) const {
    return is_one(actor.kind) && is_text(actor.name) && is_text(actor.group) &&
           is_text(actor.kernel);
  }

  bool is_sound(const StoredState& state) {
    if (state.visited > StoredVisit::Known || state.described > InFull ||
        state.end > UnexpectedEnd || !is_text(state.description)) {
      return false;
    }
    return known(state.description, Description, [&](std::string_view t) { return describes(t); });
  }
  bool describes(std::string_view bytes) const {
    StoredDescription fixed{};
    if (bytes.size() < sizeof fixed) {
      return true; // nobody has described it
    }
    std::memcpy(&fixed, bytes.data(), sizeof fixed);
    const auto demands = values_of<StoredDemand>(bytes.substr(sizeof fixed));
    return is_text(fixed.host_site) && is_text(fixed.waits) && lists_texts(text(fixed.waits)) &&
           std::ranges::all_of(demands, [](const StoredDemand& demand) {
             return demand.rule < rule_count;
           });
  }
  /// "12 7 "
  bool lists_texts(std::string_view list) const {
    while (!list.empty()) {
      std::uint32_t id = 0;
      const auto [end, failure] = std::from_chars(list.data(), list.data() + list.size(), id);
      if (failure != std::errc() || !is_text(id)) {
        return false;
      }
      list.remove_prefix(static_cast<std::size_t>(end - list.data()));
      if (!list.empty() && list.front() != ' ') {
        return false;
      }
      list.remove_prefix(std::min<std::size_t>(1, list.size()));
    }
    return true;
  }

  bool is_sound(const ShortEdge& edge) {
    const auto is_there = [&](StateId s) {
      return s < saved_.states.size() && saved_.states[s].visited != NotVisited;
    };
    if (edge.label == 0) {
      return true; // nobody has used it
    }
    return is_there(edge.from) && is_there(edge.to) && is_text(edge.label) &&
           known(edge.label, OfEdges, [&](std::string_view t) { return labels(t); });
  }
  bool labels(std::string_view bytes) const {
    if (!is_label(bytes)) {
      return false;
    }
    const Label label = values_of<Label>(bytes).front();
    return label.actor < saved_.actors.size() && is_text(label.changes) && is_text(label.site);
  }

  bool is_sound(const Event& event) const {
    return is_one(event.kind) && is_text(event.site) && is_text(event.text) &&
           (event.kind != EventKind::Fault || !report::from_lines(text(event.text)).empty());
  }

  template <class F> bool known(std::uint32_t id, Known as, const F& find_out) {
    if ((known_[id] & as) == 0) {
      if (!find_out(text(id))) {
        return false;
      }
      known_[id] |= as;
    }
    return true;
  }

  const SavedArrays& saved_;
  std::vector<std::uint8_t> known_; // by text
};

} // namespace

bool is_label(std::string_view bytes) {
  if (bytes.size() != sizeof(Label)) {
    return false;
  }
  // They lie one behind the other, a byte each.
  constexpr std::size_t first_truth = offsetof(Label, not_ready),
                        last_truth = offsetof(Label, late);
  const auto at = [&](std::size_t place) { return static_cast<std::uint8_t>(bytes[place]); };
  for (std::size_t place = first_truth; place <= last_truth; ++place) {
    if (at(place) > 1) {
      return false;
    }
  }
  return is_one(static_cast<Step>(at(offsetof(Label, step)))) &&
         at(offsetof(Label, owed)) <= rule_count;
}

bool is_sound(const SavedArrays& saved) {
  return Soundness(saved).all();
}

} // namespace heddle::explore
