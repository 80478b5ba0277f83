// Implements weak_memory.h: what is forgotten, and the name of a state.
#include "weak/weak_memory.h"

#include <algorithm>
#include <limits>
#include <map>
#include <span>
#include <tuple>
#include <unordered_map>
#include <unordered_set>

namespace heddle::weak {

using Words = std::vector<std::uint64_t>;

namespace {

constexpr std::size_t usual_words = 256;

struct Sum {
  std::uint64_t low = 0, high = 0;
  void add(const Sum& other) {
    low += other.low;
    high += other.high;
  }
};

void name_range(Words& words, const Range& range) {
  words.push_back(range.at);
  words.push_back(range.bytes);
}

} // namespace

std::vector<WeakMemory::Group> WeakMemory::groups() const {
  std::vector<Group> result;
  std::map<std::pair<const Knowledge*, std::uint32_t>, std::size_t> known;
  for (const auto& run : threads_) {
    const Member& of = run.value;
    const auto [at, is_new] = known.try_emplace({of.knows.get(), of.cluster}, result.size());
    if (is_new) {
      result.push_back({of.knows.get(), of.cluster, run.first, 0});
    }
    result[at->second].count += run.count;
  }
  return result;
}

std::vector<const WeakMemory::Knowledge*> WeakMemory::each_knowledge() const {
  std::vector<const Knowledge*> result;
  std::unordered_set<const Knowledge*> known;
  for (const auto& run : threads_) {
    if (known.insert(run.value.knows.get()).second) {
      result.push_back(run.value.knows.get());
    }
  }
  return result;
}

/// change(knowledge), once for all threads that have it together. What it is in other states stays.
template <class F> void WeakMemory::change_each_knowledge(F&& change) {
  std::unordered_map<const Knowledge*, KnowledgePtr> changed;
  std::vector<KnowledgePtr> before; // they stay until all have been looked up
  for (auto& run : threads_) {
    KnowledgePtr& own = run.value.knows;
    KnowledgePtr& after = changed[own.get()];
    if (after == nullptr) {
      after = std::make_shared<Knowledge>(*own);
      change(*after);
    }
    before.push_back(std::exchange(own, after));
  }
}

/// Threads that know the same have it together again.
void WeakMemory::share_knowledge() {
  std::unordered_map<std::size_t, std::vector<KnowledgePtr>> known;
  for (auto& run : threads_) {
    KnowledgePtr& own = run.value.knows;
    std::vector<KnowledgePtr>& alike =
        known[own->view.hash() + own->pending.size() * 31 + own->open.size()];
    const auto same = std::ranges::find_if(alike, [&](const KnowledgePtr& other) {
      return other == own || *other == *own;
    });
    if (same != alike.end()) {
      own = *same;
    } else {
      alike.push_back(own);
    }
  }
  threads_.join([](const Member& a, const Member& b) {
    return a.knows == b.knows && a.cluster == b.cluster;
  });
}

/// Messages that every thread knows a newer one of cannot be read any more, nor can anything be put
/// before them.
/// … nor can a thread of a command that has not begun. A group of one thread knows what that has
/// done; of several, others do not.
void WeakMemory::tidy_places() {
  if (places_.empty()) {
    return;
  }
  const std::vector<Group> all = groups();
  std::vector<View> of_commands;
  for (const auto& [_, command] : commands_) {
    of_commands.push_back(will_know(command));
  }
  for (auto place = places_.begin(); place != places_.end();) {
    Messages& messages = place->second;
    auto least = static_cast<std::uint32_t>(messages.size() - 1);
    const bool of_cluster = (place->first.at & Range::of_cluster) != 0;
    const std::optional<std::uint32_t> cluster = of_cluster ? cluster_of(messages) : std::nullopt;
    for (const Group& g : all) {
      if (!of_cluster || g.cluster == cluster) {
        const auto alone = g.count == 1 ? std::optional(g.first) : std::nullopt;
        least = std::min(least, least_rank(messages, g.knows->view, alone));
      }
    }
    for (const View& view : of_commands) {
      if (!of_cluster) {
        least = std::min(least, least_rank(messages, view, {}));
      }
    }
    if (const std::uint32_t first = first_within_limits(messages); first > least) {
      least = first;
      left_out_messages_ = true;
    }
    for (std::uint32_t rank = 0; rank < least; ++rank) {
      if (messages[rank].event != known) {
        events_.no_message(messages[rank].event);
      }
    }
    messages.erase(messages.begin(), messages.begin() + least);
    Message& first = messages.front();
    first.update = false;
    std::erase_if(first.releases, [](const Release& r) { return r.view.empty(); });
    if (first.event == known && first.releases.empty() && first.observed.empty() &&
        first.heard.empty()) {
      first = {.value = first.value, .releases = {}, .observed = {}, .heard = {}};
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

/// Of the threads that can access a place in shared memory. Nothing: no message of it is left that
/// not all of them know.
std::optional<std::uint32_t> WeakMemory::cluster_of(const Messages& messages) const {
  for (const Message& m : messages) {
    if (m.event != known) {
      return locations_->at(events_[m.event].thread).cluster;
    }
  }
  return std::nullopt;
}

/// Nobody looks at them any more.
void WeakMemory::forget_events(const View& events) {
  if (events.empty()) {
    return;
  }
  events_.forget(events);
  const auto remove = [&](View& view) {
    view.remove_all(events);
    view.trim();
  };
  change_each_knowledge([&](Knowledge& knowledge) { each_view_of(knowledge, remove); });
  each_other_view(*this, remove);
}

View WeakMemory::all_events() const {
  View result;
  events_.each([&](std::uint32_t n) { result.add(n); });
  return result;
}

/// Known to all who could make an access that conflicts: to objects in shared memory only threads
/// of their cluster can.
View WeakMemory::known_to_all() const {
  View result, in_global;
  std::map<std::uint32_t, View> in_cluster;
  events_.each([&](std::uint32_t n) {
    const Event& e = events_[n];
    result.add(n);
    const bool of_cluster = (e.range.at & Range::of_cluster) != 0;
    (of_cluster ? in_cluster[locations_->at(e.thread).cluster] : in_global).add(n);
  });
  if (result.empty()) {
    return result;
  }
  const auto keep = [&](View unknown, const View& view, std::optional<Thread> alone) {
    unknown.remove_all(view);
    unknown.each([&](std::size_t n) {
      if (!alone || !events_.is_own(static_cast<std::uint32_t>(n), *alone)) {
        result.remove(n);
      }
    });
  };
  for (const Group& g : groups()) {
    const auto alone = g.count == 1 ? std::optional(g.first) : std::nullopt;
    keep(in_global, g.knows->view, alone);
    if (const auto own = in_cluster.find(g.cluster); own != in_cluster.end()) {
      keep(own->second, g.knows->view, alone);
    }
  }
  for (const auto& [_, command] : commands_) {
    keep(in_global, will_know(command), {});
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
    forget_events(by_all);
    tidy_places();
  }
  const bool patterns = std::ranges::any_of(each_knowledge(), [](const Knowledge* k) {
    return !k->pending.empty() || !k->open.empty();
  });
  if (patterns) {
    change_each_knowledge([](Knowledge& k) {
      std::erase_if(k.pending, [&](const Pending& p) { return p.release.view.is_in(k.view); });
      // A pattern that passes on nothing that anybody lacks.
      std::erase_if(k.open, [](const Open& o) { return o.view.empty(); });
    });
  }
  share_knowledge();
  for (auto& [_, messages] : places_) {
    for (Message& m : messages) {
      std::erase_if(m.releases, [](const Release& r) { return r.view.empty(); });
    }
  }
  std::erase_if(sc_, [](const ScFence& f) { return f.release.view.empty(); });
  barriers_.erase_if([](const auto& b) { return b.second.empty(); });
  grids_.erase_if([](const auto& g) { return g.second.empty(); });
  told_.erase_if([](const auto& t) { return t.second.empty(); });
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
  events_.each([&](std::uint32_t n) {
    const Event& e = events_[n];
    std::uint64_t rank = std::numeric_limits<std::uint64_t>::max();
    if (e.message) {
      const Messages& messages = places_.at(e.range);
      rank = static_cast<std::uint64_t>(
          std::ranges::find(messages, n, &Message::event) - messages.begin()
      );
    }
    keys.push_back({e.range, rank, e.thread, e.write, e.strong, e.ended, e.scope, e.number, n});
  });
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

/// What each thread knows, whether by itself or with others: the sum of the names of its events, so
/// that threads with one knowledge cost one sum. Threads side by side that know the same have one
/// name, however runs divide them.
template <class F>
void WeakMemory::name_threads(
    Words& words,
    const std::vector<std::uint32_t>& order,
    F&& name_releases
) const {
  std::vector<Sum> names(events_.size()); // of each event
  FlatMap<Thread, std::vector<std::uint32_t>> own;
  for (std::size_t i = 0; i < order.size(); ++i) {
    const std::uint64_t word = i;
    const XXH128_hash_t name = XXH3_128bits(&word, sizeof word);
    names[order[i]] = {name.low64, name.high64};
    if (!events_[order[i]].ended) {
      own[events_[order[i]].thread].push_back(order[i]);
    }
  }
  Words of_one, last; // what several threads in a row know, and how many they are
  Thread end = 0;
  const auto add = [&](Thread first, std::uint64_t count) {
    if (end == first && of_one == last && end != 0) {
      words.back() += count;
    } else {
      words.push_back(first);
      words.insert(words.end(), of_one.begin(), of_one.end());
      words.push_back(count);
      last = of_one;
    }
    end = first + count;
  };
  const auto name_of = [&](const View& view) {
    Sum sum;
    view.each([&](std::size_t n) { sum.add(names[n]); });
    return sum;
  };
  const auto name_knowledge = [&](const Knowledge& k,
                                  Sum sum, // of what all who have it know
                                  const Sum& heard,
                                  std::span<const std::uint32_t> besides) {
    of_one.clear();
    for (const std::uint32_t n : besides) {
      if (!k.view.has(n)) {
        sum.add(names[n]);
      }
    }
    of_one.insert(of_one.end(), {sum.low, sum.high, heard.low, heard.high, k.fresh ? 1U : 0U});
    std::map<std::tuple<bool, Range>, std::vector<Release>> pending, open;
    for (const Pending& p : k.pending) {
      View lacks = p.release.view;
      lacks.remove_all(k.view);
      for (const std::uint32_t n : besides) {
        lacks.remove(n);
      }
      if (!lacks.empty()) {
        pending[{false, p.place}].push_back(p.release);
      }
    }
    for (const Open& o : k.open) { // its thread's own
      open[{o.anywhere, o.place}].push_back({0, o.scope, o.view});
    }
    for (const auto* by_place : {&pending, &open}) {
      of_one.push_back(by_place->size());
      for (const auto& [place, releases] : *by_place) {
        name_range(of_one, std::get<1>(place));
        of_one.push_back(static_cast<std::uint8_t>(std::get<0>(place) ? 1 : 0));
        name_releases(of_one, releases);
      }
    }
  };
  auto mine = own.begin();
  for (const auto& run : threads_) {
    const Knowledge& k = *run.value.knows;
    const Sum sum = name_of(k.view), heard = name_of(k.heard);
    for (Thread thread = run.first; thread != run.end();) {
      while (mine != own.end() && mine->first < thread) {
        ++mine;
      }
      const bool has_own = mine != own.end() && mine->first == thread;
      const Thread behind = has_own             ? thread + 1
                            : mine != own.end() ? std::min(mine->first, run.end())
                                                : run.end();
      name_knowledge(
          k,
          sum,
          heard,
          has_own ? std::span<const std::uint32_t>(mine->second) : std::span<const std::uint32_t>()
      );
      add(thread, behind - thread);
      thread = behind;
    }
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
  const auto name_releases = [&](Words& into, const std::vector<Release>& releases) {
    if (releases.empty()) {
      into.push_back(std::size_t{0});
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
    into.push_back(names.size());
    for (const auto& [thread, scope, low, high] : names) {
      into.push_back(thread);
      into.push_back(static_cast<std::uint8_t>(scope));
      into.push_back(low);
      into.push_back(high);
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
      name_view(words, m.heard, order);
      name_releases(words, m.releases);
    }
  }
  words.push_back(written_.size());
  for (const Range& range : written_) {
    name_range(words, range);
  }
  words.push_back(threads_.size());
  name_threads(words, order, name_releases);
  std::vector<Release> fences;
  for (const ScFence& f : sc_) {
    View both = f.release.view;
    both.add_all(f.heard);
    fences.push_back(f.release);
    fences.push_back({f.release.thread, f.release.scope, std::move(both)});
  }
  name_releases(words, fences);
  const auto name_told = [&](const Told& told) {
    name_view(words, told.view, order);
    name_view(words, told.heard, order);
  };
  for (const auto* of : {&barriers_, &grids_}) {
    words.push_back(of->size());
    for (const auto& [name, told] : *of) {
      words.push_back(name);
      name_told(told);
    }
  }
  words.push_back(commands_.size()); // what they come behind is a part of what they are
  for (const auto& [command, waiting] : commands_) {
    words.push_back(command);
    name_told(waiting.told);
  }
  words.push_back(told_.size());
  for (const auto& [range, told] : told_) {
    name_range(words, range);
    name_told(told);
  }
  hasher.bytes(words.data(), words.size() * sizeof(std::uint64_t));
}

} // namespace heddle::weak
