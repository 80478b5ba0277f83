// Implements weak_memory.h: what is forgotten, and the name of a state.
#include "weak/weak_memory.h"

#include <algorithm>
#include <limits>
#include <map>
#include <tuple>

namespace heddle::weak {

using Words = std::vector<std::uint64_t>;

namespace {

constexpr std::size_t usual_words = 256;

void name_range(Words& words, const Range& range) {
  words.push_back(range.at);
  words.push_back(range.bytes);
}

} // namespace

/// Messages that every thread knows a newer one of cannot be read any more, nor can anything be put
/// before them.
void WeakMemory::tidy_places() {
  for (auto place = places_.begin(); place != places_.end();) {
    Messages& messages = place->second;
    auto least = static_cast<std::uint32_t>(messages.size() - 1);
    for (const auto& [_, state] : threads_) {
      least = std::min(least, least_rank(messages, state.view));
    }
    if (const std::uint32_t first = first_within_limits(messages); first > least) {
      least = first;
      left_out_messages_ = true;
    }
    for (std::uint32_t rank = 0; rank < least; ++rank) {
      if (messages[rank].event != known) {
        events_[messages[rank].event].message = false;
      }
    }
    messages.erase(messages.begin(), messages.begin() + least);
    Message& first = messages.front();
    first.update = false;
    std::erase_if(first.releases, [](const Release& r) { return r.view.empty(); });
    if (first.event == known && first.releases.empty() && first.observed.empty()) {
      first = {.value = first.value, .releases = {}, .observed = {}};
      if (messages.size() == 1) {
        place = places_.erase(place);
        continue;
      }
    }
    ++place;
  }
}

/// The oldest message that is kept: Limits::messages for each tag. A loop that writes forever has
/// one tag, and straight-line code as many as it has writes, which end.
std::uint32_t WeakMemory::first_within_limits(const Messages& messages) const {
  std::map<std::uint64_t, std::size_t> by_tag;
  auto rank = static_cast<std::uint32_t>(messages.size());
  for (std::size_t kept = 0; rank > 0 && kept < limits_.all_messages; ++kept, --rank) {
    const Message& m = messages[rank - 1];
    if (m.event != known && ++by_tag[events_[m.event].tag] > limits_.messages) {
      break;
    }
  }
  return std::min(rank, static_cast<std::uint32_t>(messages.size() - 1));
}

void WeakMemory::remove_from_views(const View& events) {
  each_view(*this, [&](View& view) { view.remove_all(events); });
}

View WeakMemory::all_events() const {
  View result;
  for (std::uint32_t n = 0; n < events_.size(); ++n) {
    if (events_[n].used) {
      result.add(n);
    }
  }
  return result;
}

View WeakMemory::known_to_all() const {
  View result = all_events();
  for (const auto& [_, state] : threads_) {
    result.keep_only(state.view);
  }
  return result;
}

void WeakMemory::tidy() {
  tidy_places();
  const View by_all = known_to_all();
  if (!by_all.empty()) {
    for (auto& [_, messages] : places_) {
      for (Message& m : messages) {
        if (m.event != known && by_all.has(m.event)) {
          m.event = known;
        }
      }
    }
    for (std::uint32_t n = 0; n < events_.size(); ++n) {
      if (by_all.has(n)) {
        events_[n].used = false;
      }
    }
    remove_from_views(by_all);
    tidy_places();
  }
  for (auto& [_, state] : threads_) {
    std::erase_if(state.pending, [&](const Pending& p) {
      return p.release.view.is_in(state.view);
    });
    // A pattern that passes on nothing that anybody lacks.
    std::erase_if(state.open, [](const Open& o) { return o.view.empty(); });
  }
  for (auto& [_, messages] : places_) {
    for (Message& m : messages) {
      std::erase_if(m.releases, [](const Release& r) { return r.view.empty(); });
    }
  }
  std::erase_if(sc_, [](const Release& r) { return r.view.empty(); });
  barriers_.erase_if([](const auto& b) { return b.second.empty(); });
  told_.erase_if([](const auto& t) { return t.second.empty(); });
  while (!events_.empty() && !events_.back().used) {
    events_.pop_back();
  }
}

/// Events in an order that does not depend on their numbers: messages by their place and rank,
/// others by their place, thread and kind, and then as the thread made them.
std::vector<std::uint32_t> WeakMemory::canonical() const {
  struct Key {
    Range range;
    std::uint64_t rank;
    Thread thread;
    bool write, strong, ended;
    Scope scope;
    std::uint64_t number;
    std::uint32_t event;
    auto operator<=>(const Key&) const = default;
  };
  std::vector<Key> keys;
  for (std::uint32_t n = 0; n < events_.size(); ++n) {
    const Event& e = events_[n];
    if (!e.used) {
      continue;
    }
    std::uint64_t rank = std::numeric_limits<std::uint64_t>::max();
    if (e.message) {
      const Messages& messages = places_.at(e.range);
      rank = static_cast<std::uint64_t>(
          std::ranges::find(messages, n, &Message::event) - messages.begin()
      );
    }
    keys.push_back({e.range, rank, e.thread, e.write, e.strong, e.ended, e.scope, e.number, n});
  }
  std::ranges::sort(keys);
  std::vector<std::uint32_t> result;
  for (const Key& k : keys) {
    result.push_back(k.event);
  }
  return result;
}

void WeakMemory::name_view(
    Words& words,
    const View& view,
    const std::vector<std::uint32_t>& order
) {
  for (std::size_t i = 0; i < order.size(); i += 64) {
    std::uint64_t word = 0;
    for (std::size_t k = i; k < std::min(i + 64, order.size()); ++k) {
      word |= std::uint64_t{view.has(order[k])} << (k - i);
    }
    words.push_back(word);
  }
}

void WeakMemory::name(Hasher& hasher) const {
  Words words; // hashed at once
  words.reserve(usual_words);
  const std::vector<std::uint32_t> order = canonical();
  words.push_back(order.size());
  for (const std::uint32_t n : order) {
    const Event& e = events_[n];
    name_range(words, e.range);
    words.push_back(e.thread);
    words.push_back(
        static_cast<std::uint64_t>(
            (e.write ? 1 : 0) | (e.strong ? 2 : 0) | (e.message ? 4 : 0) | (e.ended ? 8 : 0) |
            static_cast<int>(e.scope) << 4 | (e.value ? 64 : 0)
        )
    );
    if (e.value) {
      words.insert(words.end(), e.value->begin(), e.value->end());
    }
  }
  const auto name_releases = [&](const std::vector<Release>& releases) {
    if (releases.empty()) {
      words.push_back(std::size_t{0});
      return;
    }
    // Only what they are counts, not in which order they came.
    std::vector<std::tuple<Thread, Scope, std::uint64_t, std::uint64_t>> names;
    for (const Release& r : releases) {
      Words of_view;
      name_view(of_view, r.view, order);
      const XXH128_hash_t name =
          XXH3_128bits(of_view.data(), of_view.size() * sizeof(std::uint64_t));
      names.emplace_back(r.thread, r.scope, name.low64, name.high64);
    }
    std::ranges::sort(names);
    names.erase(std::ranges::unique(names).begin(), names.end());
    words.push_back(names.size());
    for (const auto& [thread, scope, low, high] : names) {
      words.push_back(thread);
      words.push_back(static_cast<std::uint8_t>(scope));
      words.push_back(low);
      words.push_back(high);
    }
  };
  words.push_back(places_.size());
  for (const auto& [range, messages] : places_) {
    name_range(words, range);
    words.push_back(messages.size());
    for (const Message& m : messages) {
      words.push_back(
          static_cast<std::uint8_t>(
              (m.event == known ? 1 : 0) | (m.update ? 2 : 0) | (m.strong ? 4 : 0) |
              static_cast<int>(m.scope) << 3
          )
      );
      words.push_back(m.writer);
      words.push_back(m.value[0]);
      words.push_back(m.value[1]);
      name_view(words, m.observed, order);
      name_releases(m.releases);
    }
  }
  words.push_back(written_.size());
  for (const Range& range : written_) {
    name_range(words, range);
  }
  words.push_back(threads_.size());
  for (const auto& [thread, state] : threads_) {
    words.push_back(thread);
    name_view(words, state.view, order);
    for (const bool pending : {true, false}) {
      if (pending ? state.pending.empty() : state.open.empty()) {
        words.push_back(std::size_t{0});
        continue;
      }
      std::map<std::tuple<bool, Range>, std::vector<Release>> by_place;
      if (pending) {
        for (const Pending& p : state.pending) {
          by_place[{false, p.place}].push_back(p.release);
        }
      } else {
        for (const Open& o : state.open) {
          by_place[{o.anywhere, o.place}].push_back({thread, o.scope, o.view});
        }
      }
      words.push_back(by_place.size());
      for (const auto& [place, releases] : by_place) {
        name_range(words, std::get<1>(place));
        words.push_back(static_cast<std::uint8_t>(std::get<0>(place) ? 1 : 0));
        name_releases(releases);
      }
    }
  }
  name_releases(sc_);
  name_view(words, handed_on_, order);
  words.push_back(barriers_.size());
  for (const auto& [barrier, view] : barriers_) {
    words.push_back(barrier);
    name_view(words, view, order);
  }
  words.push_back(told_.size());
  for (const auto& [range, view] : told_) {
    name_range(words, range);
    name_view(words, view, order);
  }
  hasher.bytes(words.data(), words.size() * sizeof(std::uint64_t));
}

} // namespace heddle::weak
