// Implements weak_memory.h: [MEM-VIEW], rule by rule.
#include "weak/weak_memory.h"

#include "base/check.h"

#include <algorithm>
#include <iterator>
#include <ranges>
#include <utility>

namespace heddle::weak {

void WeakMemory::add_threads(
    const std::vector<std::pair<Thread, Location>>& threads,
    const Told& told
) {
  const auto knows = std::make_shared<Knowledge>(
      Knowledge{.view = told.view, .heard = told.heard, .pending = {}, .open = {}, .fresh = true}
  );
  if (locations_.use_count() > 1) {
    locations_ = std::make_shared<Runs<Location>>(*locations_);
  }
  for (std::size_t n = 0; n < threads.size();) {
    const auto& [first, location] = threads[n];
    std::size_t end = n;
    while (end < threads.size() && threads[end].first == first + (end - n) &&
           threads[end].second == location) {
      ++end;
    }
    threads_.set(first, end - n, {.knows = knows, .cluster = location.cluster});
    locations_->set(first, end - n, location);
    n = end;
  }
}

void WeakMemory::end_threads(Thread first, std::uint64_t count) {
  const auto grid_of = [&](Thread thread) -> Told& { return grids_[locations_->at(thread).grid]; };
  for (const auto& run : threads_) {
    const Thread end = std::min(first + count, run.end());
    for (Thread thread = std::max(first, run.first); thread < end;) {
      grid_of(thread).add_all({run.value.knows->view, run.value.knows->heard});
      thread = locations_->run_of(thread).end();
    }
  }
  events_.each_of(first, count, [&](std::uint32_t n) { grid_of(events_[n].thread).view.add(n); });
  events_.end(first, count);
  threads_.erase(first, count);
  if (threads_.empty()) {
    written_.clear();
  }
}

void WeakMemory::submit(std::uint32_t command, std::vector<std::uint32_t> behind) {
  std::ranges::sort(behind);
  commands_[command] = {.told = {.view = all_events()}, .behind = std::move(behind)};
}

Told WeakMemory::take_command(std::uint32_t command) {
  Told result;
  if (const auto known = commands_.find(command); known != commands_.end()) {
    result = std::move(known->second.told);
    commands_.erase(known);
  }
  return result;
}

void WeakMemory::complete(
    std::uint32_t command,
    const Told& knew,
    std::optional<std::uint32_t> part_of
) {
  if (part_of) {
    const auto waiting = commands_.find(*part_of);
    (waiting != commands_.end() ? waiting->second.told : grids_[*part_of]).add_all(knew);
  }
  for (auto& [_, waiting] : commands_) {
    if (std::erase(waiting.behind, command) != 0) {
      waiting.told.add_all(knew);
    }
  }
}

/// Before it begins, at the latest.
View WeakMemory::will_know(const Waiting& command) const {
  View result = command.told.view;
  events_.each([&](std::uint32_t n) {
    if (std::ranges::binary_search(command.behind, locations_->at(events_[n].thread).grid)) {
      result.add(n);
    }
  });
  return result;
}

Told WeakMemory::take_grid(std::uint32_t grid) {
  Told result;
  if (const auto known = grids_.find(grid); known != grids_.end()) {
    result = std::move(known->second);
    grids_.erase(known);
  }
  return result;
}

View WeakMemory::known_to(Thread thread) const {
  View result = knowledge(thread).view;
  events_.each_of(thread, [&](std::uint32_t n) { result.add(n); });
  return result;
}

Told WeakMemory::told_by(Thread thread) const {
  return {.view = known_to(thread), .heard = knowledge(thread).heard};
}

bool WeakMemory::knows_all(Thread thread, const View& view, const View& events) const {
  if (events.is_in(view)) {
    return true;
  }
  bool result = true;
  events.each([&](std::size_t n) { result = result && knows(thread, view, n); });
  return result;
}

/// To be changed: nobody else has it.
WeakMemory::Knowledge& WeakMemory::own_knowledge(Thread thread) {
  KnowledgePtr& knows = threads_.part(thread, 1).value.knows;
  if (knows.use_count() > 1) {
    knows = std::make_shared<Knowledge>(*knows);
  }
  return *knows;
}

/// [MEM-BOUND]
void WeakMemory::hear(Thread thread, const View& heard) {
  if (!heard.is_in(knowledge(thread).heard) && !is(Mutant::FencesUnheard)) {
    own_knowledge(thread).heard.add_all(heard);
  }
}

std::vector<Range> WeakMemory::written_at(const Range& range) const {
  std::vector<Range> result;
  std::ranges::copy_if(written_, std::back_inserter(result), [&](const Range& known) {
    return known.overlaps(range);
  });
  return result;
}

void WeakMemory::note_written(const Range& range) {
  const auto at = std::ranges::lower_bound(written_, range);
  if (at == written_.end() || *at != range) {
    written_.insert(at, range);
  }
}

/// [MEM-STRONG] for two scopes: each contains the thread of the other one.
bool WeakMemory::reach(Thread a, Scope of_a, Thread b, Scope of_b) const {
  const Location &at_a = locations_->at(a), &at_b = locations_->at(b);
  return is(Mutant::StrongWhateverScope) ||
         (includes(of_a, at_a, at_b) && includes(of_b, at_b, at_a));
}

/// [MEM-STRONG] of two accesses to the same bytes. (Those of one thread are ordered anyway.)
bool WeakMemory::morally_strong(
    Thread a,
    const Access& of_a,
    Thread b,
    bool strong,
    Scope scope
) const {
  return a == b || (of_a.strong && strong && reach(a, of_a.scope, b, scope));
}

/// [MEM-ACQUIRE] An acquire of that scope takes what a release pattern passes on.
bool WeakMemory::passes_on(const Release& r, Thread thread, Scope scope) const {
  return is(Mutant::AcquireWhateverScope) || reach(thread, scope, r.thread, r.scope);
}

/// [MEM-RACE] Conflicting, not morally strong, and not ordered by causality.
std::optional<Race> WeakMemory::race(
    Thread thread,
    const Range& range,
    const Access& access,
    bool writes,
    std::optional<std::uint32_t> reads,
    const std::optional<Value>& same
) const {
  const Knowledge& knowledge = this->knowledge(thread);
  View more; // that it knows because of this access
  if (access.strong && reads) {
    more = told_at(range).view;
  }
  if (access.acquire && reads && !access.reduction && !is(Mutant::RacesForgetAcquires)) {
    for (const Pending& p : knowledge.pending) {
      if (p.place == range && passes_on(p.release, thread, access.scope)) {
        more.add_all(p.release.view);
      }
    }
    if (const auto place = places_.find(range); place != places_.end()) {
      const Message& m = place->second.at(*reads);
      if (m.strong && morally_strong(thread, access, m.writer, m.strong, m.scope)) {
        for (const Release& r : m.releases) {
          if (passes_on(r, thread, access.scope)) {
            more.add_all(r.view);
          }
        }
      }
    }
  }
  std::uint32_t first = events_.size(); // the first one that it races with
  const auto look = [&](std::uint32_t n) {
    const Event& e = events_[n];
    if (n < first && !more.has(n) && !knows(thread, knowledge.view, n) &&
        !(same && e.write && !e.strong && e.range == range && e.value == same) &&
        !(e.range == range && morally_strong(thread, access, e.thread, e.strong, e.scope))) {
      first = n;
    }
  };
  events_.each_overlapping(range, Events::Kind::Writes, look);
  if (writes && !is(Mutant::RacesForgetReads)) {
    events_.each_overlapping(range, Events::Kind::Reads, look);
  }
  if (first == events_.size()) {
    return std::nullopt;
  }
  const Event& e = events_[first];
  return Race{e.thread, e.write, e.strong, e.scope, e.range, e.tag};
}

/// [MEM-COHERENCE] The newest message that the view has: what is older may not be read any more.
/// `thread`: it knows what it has done, too.
std::uint32_t WeakMemory::least_rank(
    const Messages& messages,
    const View& view,
    std::optional<Thread> thread
) const {
  for (auto rank = static_cast<std::uint32_t>(messages.size() - 1); rank > 0; --rank) {
    const std::uint32_t event = messages[rank].event;
    if (event == known || view.has(event) || (thread && events_.is_own(event, *thread))) {
      return rank;
    }
  }
  return 0;
}

std::vector<Choice>
WeakMemory::readable(Thread thread, const Range& range, const Access& access, bool update) const {
  const auto place = places_.find(range);
  if (place == places_.end()) {
    return {Choice{}};
  }
  const Messages& messages = place->second;
  const auto last = static_cast<std::uint32_t>(messages.size() - 1);
  std::vector<Choice> result;
  // A weak read has no race, so it knows all of them.
  for (std::uint32_t rank = access.strong ? least_rank(messages, knowledge(thread).view, thread)
                                          : last;
       rank <= last;
       ++rank) {
    // [MEM-ATOMIC] Nothing comes between an update and what it has read.
    if (update && rank < last && messages[rank + 1].update && !is(Mutant::UpdatesApart)) {
      continue;
    }
    const Message& m = messages[rank];
    result.push_back({rank, rank == last, m.value});
  }
  return result;
}

std::vector<std::uint32_t>
WeakMemory::positions(Thread thread, const Range& range, const Access& access) const {
  const auto place = places_.find(range);
  if (place == places_.end()) {
    return {1};
  }
  const Messages& messages = place->second;
  const auto end = static_cast<std::uint32_t>(messages.size());
  std::vector<std::uint32_t> result;
  for (std::uint32_t at = access.strong ? least_rank(messages, knowledge(thread).view, thread) + 1
                                        : end;
       at <= end;
       ++at) {
    if (at == end || (!messages[at].update && !is(Mutant::WritesAreNewest)) ||
        is(Mutant::UpdatesApart)) { // [MEM-ATOMIC]
      result.push_back(at);
    }
  }
  return result;
}

std::uint32_t WeakMemory::newest(const Range& range) const {
  const auto place = places_.find(range);
  return place == places_.end() ? 0 : static_cast<std::uint32_t>(place->second.size() - 1);
}

std::optional<Unseen> WeakMemory::unseen(Thread thread, const Range& range) const {
  const auto place = places_.find(range);
  if (place == places_.end() || place->second.back().event == known ||
      knows(thread, knowledge(thread).view, place->second.back().event)) {
    return std::nullopt;
  }
  const std::uint32_t event = place->second.back().event;
  const auto passes = [&](const Release& r) { return r.view.has(event); };
  Unseen result{Unseen::Why::NotReleased, events_[event].tag};
  if (std::ranges::any_of(knowledge(thread).pending, passes, &Pending::release)) {
    result.why = Unseen::Why::NotAcquired;
  } else if (std::ranges::any_of(places_, [&](const auto& other) {
               return std::ranges::any_of(other.second, [&](const Message& m) {
                 return std::ranges::any_of(m.releases, passes);
               });
             })) {
    result.why = Unseen::Why::NotRead;
  }
  return result;
}

/// Does whoever knows the later one know the earlier one, too, now and in future? (The later one
/// can be read by nobody, so it is passed on in views only.)
bool WeakMemory::covers(std::uint32_t later, std::uint32_t earlier) const {
  bool result = true;
  const auto look = [&](const View& view) {
    result = result && (!view.has(later) || view.has(earlier));
  };
  for (const Knowledge* k : each_knowledge()) { // whoever has made both knows both
    each_view_of(*k, look);
  }
  each_other_view(*this, look);
  return result;
}

/// Of accesses of one kind the last one stands for those that it covers: who does not know one of
/// them does not know the last one. Reads and weak writes are known by release patterns only, which
/// pass on all that came before.
void WeakMemory::forget_covered(
    Thread thread,
    const Range& range,
    const Access& access,
    bool write
) {
  std::vector<std::uint32_t> alike;
  const auto kind = write ? Events::Kind::Writes : Events::Kind::Reads;
  events_.each_at(range, kind, thread, [&](std::uint32_t n) {
    const Event& e = events_[n];
    if (!e.message && e.strong == access.strong && e.scope == access.scope) {
      alike.push_back(n);
    }
  });
  if (alike.empty()) {
    return;
  }
  std::ranges::sort(alike, {}, [&](std::uint32_t n) { return events_[n].number; });
  View gone;
  const bool known_by_release = !write || !access.strong;
  std::vector<std::uint32_t> kept; // the latest first
  for (const std::uint32_t n : std::views::reverse(alike)) {
    if (known_by_release ||
        std::ranges::any_of(kept, [&](std::uint32_t later) { return covers(later, n); })) {
      gone.add(n);
    } else {
      kept.push_back(n);
    }
  }
  for (; kept.size() >= limits_.events; kept.pop_back()) {
    gone.add(kept.back());
    left_out_messages_ = true;
  }
  forget_events(gone);
}

void WeakMemory::note_value(Thread thread, const Range& range, const std::optional<Value>& value) {
  events_.each_at(range, Events::Kind::Writes, thread, [&](std::uint32_t n) {
    const Event& e = events_[n];
    if (!e.strong && !e.ended) {
      const bool several = e.several || !value || (e.value && e.value != value);
      events_.set_value(n, several ? std::nullopt : value, several);
    }
  });
}

Told WeakMemory::told_at(const Range& range) const {
  Told result;
  for (const auto& [written, told] : told_) {
    if (written.overlaps(range)) {
      result.add_all(told);
    }
  }
  return result;
}

std::uint32_t WeakMemory::add_event(
    Thread thread,
    const Range& range,
    const Access& access,
    bool write,
    bool message,
    std::uint64_t tag
) {
  // An event that stands for several writes has a value if all of them wrote that one.
  std::optional<Value> value;
  bool several = false;
  if (write && !access.strong) {
    events_.each_at(range, Events::Kind::Writes, thread, [&](std::uint32_t n) {
      if (!events_[n].strong) {
        value = events_[n].value;
        several = events_[n].several;
      }
    });
  }
  if (knowledge(thread).fresh) {
    own_knowledge(thread).fresh = false;
  }
  forget_covered(thread, range, access, write);
  return events_.add(
      {.write = write,
       .strong = access.strong,
       .message = message,
       .scope = access.scope,
       .thread = thread,
       .range = range,
       .tag = tag,
       .value = value,
       .several = several}
  );
}

/// [MEM-OBSERVE] What has been read morally strongly comes before what the thread does next; and
/// the release patterns that the message is in wait for an acquire.
void WeakMemory::observe(
    Thread thread,
    const Range& range,
    const Access& access,
    const Message& m
) {
  hear(thread, m.heard);
  if (!access.strong || !m.strong || !morally_strong(thread, access, m.writer, m.strong, m.scope)) {
    return;
  }
  View seen = m.observed;
  if (m.event != known && !is(Mutant::ReadsForget)) {
    seen.add(m.event);
  }
  if (!knows_all(thread, knowledge(thread).view, seen)) {
    own_knowledge(thread).view.add_all(seen);
  }
  if (access.reduction && !is(Mutant::ReductionsAcquire)) {
    return;
  }
  for (const Release& r : m.releases) {
    if (r.thread != thread && includes(r.scope, locations_->at(r.thread), locations_->at(thread))) {
      own_knowledge(thread).pending.push_back({range, r});
    }
  }
}

/// [MEM-ACQUIRE] Takes what morally strong release patterns pass on: those read at `place`, or any.
void WeakMemory::acquire(
    Thread thread,
    const Range* place,
    Scope scope,
    const std::vector<Range>& objects
) {
  if (knowledge(thread).pending.empty()) {
    return;
  }
  Knowledge& knowledge = own_knowledge(thread);
  for (const Pending& p : knowledge.pending) {
    if ((place == nullptr || p.place == *place) && passes_on(p.release, thread, scope)) {
      knowledge.view.add_all(of_objects(p.release.view, objects));
    }
  }
  std::erase_if(knowledge.pending, [&](const Pending& p) {
    return knows_all(thread, knowledge.view, p.release.view);
  });
}

void WeakMemory::read(
    Thread thread,
    const Range& range,
    const Access& access,
    std::uint32_t rank,
    std::uint64_t tag
) {
  if (access.strong) {
    learn_told(thread, range);
  }
  if (const auto place = places_.find(range); place != places_.end()) {
    observe(thread, range, access, place->second.at(rank));
  }
  add_event(thread, range, access, /*write=*/false, /*message=*/false, tag);
  if (access.acquire || is(Mutant::ReadsAcquire)) {
    acquire(thread, &range, access.scope);
  }
}

/// [MEM-RESTRICT] What of it concerns objects in these ranges; none: all.
View WeakMemory::of_objects(const View& view, const std::vector<Range>& objects) const {
  if (objects.empty() || is(Mutant::FencesUnrestricted)) {
    return view;
  }
  View result;
  view.each([&](std::size_t n) {
    const auto holds = [&](const Range& object) {
      return events_[n].range.at - object.at < object.bytes;
    };
    if (std::ranges::any_of(objects, holds)) {
      result.add(n);
    }
  });
  return result;
}

/// Opens a release pattern, in the place of those that pass on less.
static void open_pattern(auto& open, auto&& fresh) {
  std::erase_if(open, [&](const auto& o) {
    return o.scope <= fresh.scope && (fresh.anywhere || (!o.anywhere && o.place == fresh.place)) &&
           o.view.is_in(fresh.view); // a restricted fence passes on less than one before it
  });
  open.push_back(std::forward<decltype(fresh)>(fresh));
}

/// [MEM-RELEASE] The thread's next write at `range`, with the release patterns that it ends.
WeakMemory::Message WeakMemory::make_message(
    Thread thread,
    const Range& range,
    const Access& access,
    const Value& value,
    std::uint64_t tag
) {
  Message m;
  m.event = add_event(thread, range, access, /*write=*/true, access.strong, tag);
  m.strong = access.strong;
  m.scope = access.scope;
  m.writer = thread;
  m.value = value;
  m.heard = knowledge(thread).heard;
  if (access.release) {
    open_pattern(own_knowledge(thread).open, Open{false, range, access.scope, known_to(thread)});
  }
  if (access.strong) {
    for (const Open& o : knowledge(thread).open) {
      if (o.anywhere || o.place == range || is(Mutant::ReleasesWithoutPlace)) {
        m.releases.push_back({thread, o.scope, o.view});
      }
    }
    if (is(Mutant::FencesReleaseOnce)) {
      own_knowledge(thread).open.clear();
    }
  }
  return m;
}

/// Places that a write of `range` makes one value again: who reads it later knows the write.
void WeakMemory::drop_places(const Range& range, bool but_same) {
  places_.erase_if([&](const auto& place) {
    const bool drop = place.first.overlaps(range) && !(but_same && place.first == range);
    if (drop) {
      for (const Message& m : place.second) {
        if (m.event != known) {
          events_.no_message(m.event);
        }
      }
    }
    return drop;
  });
}

void WeakMemory::write(
    Thread thread,
    const Range& range,
    const Access& access,
    std::uint32_t position,
    const Value& before,
    const Value& value,
    std::uint64_t tag
) {
  drop_places(range, /*but_same=*/access.strong);
  Message m = make_message(thread, range, access, value, tag);
  if (!access.strong) {
    return;
  }
  Messages& messages = places_[range];
  if (messages.empty()) {
    messages.emplace_back().value = before;
  }
  HEDDLE_CHECK(position > 0 && position <= messages.size(), "no such position: {}", position);
  messages.insert(messages.begin() + position, std::move(m));
}

/// Would the message of an update say what the one that it reads says already? It is not needed
/// then: nothing can come between the two, and whoever reads the first could as well read the
/// second.
bool WeakMemory::changes_nothing(
    Thread thread,
    const Range& range,
    const Access& access,
    const Message& from,
    const Value& value
) const {
  const bool releases =
      access.release || std::ranges::any_of(knowledge(thread).open, [&](const Open& o) {
        return o.anywhere || o.place == range;
      });
  return value == from.value && access.strong && from.strong && from.scope == access.scope &&
         includes(access.scope, locations_->at(from.writer), locations_->at(thread)) &&
         (!releases || is(Mutant::EqualUpdatesRelease));
}

void WeakMemory::update(
    Thread thread,
    const Range& range,
    const Access& access,
    std::uint32_t rank,
    const Value& before,
    const Value& value,
    std::uint64_t tag
) {
  drop_places(range, /*but_same=*/true);
  Messages& messages = places_[range];
  if (messages.empty()) {
    messages.emplace_back().value = before;
  }
  learn_told(thread, range);
  observe(thread, range, access, messages.at(rank));
  if (access.acquire) {
    acquire(thread, &range, access.scope);
  }
  Message& from = messages[rank];
  if (changes_nothing(thread, range, access, from, value)) {
    const std::uint32_t event =
        add_event(thread, range, access, /*write=*/true, /*message=*/false, tag);
    from.observed.add(event); // whoever reads it
    from.heard.add_all(knowledge(thread).heard);
    return;
  }
  Message m = make_message(thread, range, access, value, tag);
  m.update = true;
  if (from.strong && morally_strong(thread, access, from.writer, from.strong, from.scope)) {
    // [MEM-OBSERVE] Observation order goes on through updates.
    m.observed = from.observed;
    if (from.event != known) {
      m.observed.add(from.event);
    }
    if (!is(Mutant::UpdatesEndReleases)) {
      m.releases.insert(m.releases.end(), from.releases.begin(), from.releases.end());
    }
  }
  messages.insert(messages.begin() + rank + 1, std::move(m));
}

void WeakMemory::fence(Thread thread, const Fence& fence, Scope scope) {
  if (fence.acquire && !is(Mutant::FencesForgetReads)) {
    acquire(thread, nullptr, scope, fence.objects);
  }
  if (fence.sc) {
    least_sc_ = std::min(scope, least_sc_.value_or(scope));
    heard_of_fences_ =
        heard_of_fences_ || !knows_all(thread, knowledge(thread).view, knowledge(thread).heard);
  }
  if (fence.sc && !is(Mutant::ScFencesApart)) { // [MEM-SC] Fences happen in Fence-SC order.
    for (const ScFence& f : sc_) {
      if ((is(Mutant::ScFencesTogether) ||
           reach(thread, scope, f.release.thread, f.release.scope)) &&
          !knows_all(thread, knowledge(thread).view, f.release.view) && !comes_first(thread, f)) {
        fences_took_ = true;
        own_knowledge(thread).view.add_all(f.release.view);
        own_knowledge(thread).fresh = false;
        hear(thread, f.heard);
      }
    }
  }
  const View known = known_to(thread);
  if (known.empty()) {
    return; // it passes on nothing, and nothing that came before it does
  }
  if (fence.sc && !is(Mutant::ScFencesApart)) {
    hear(thread, known);
    std::erase_if(sc_, [&](const ScFence& f) {
      return f.release.thread == thread && f.release.scope <= scope;
    });
    sc_.push_back({{thread, scope, known}, knowledge(thread).heard});
  }
  if (fence.release) {
    open_pattern(
        own_knowledge(thread).open,
        Open{true, {}, scope, of_objects(known, fence.objects)}
    );
  }
}

bool WeakMemory::tells_nothing(Thread thread, const Fence& fence, Scope scope) const {
  const Knowledge& knowledge = this->knowledge(thread);
  const View known = known_to(thread);
  const bool takes = fence.sc && !std::ranges::all_of(sc_, [&](const ScFence& f) {
                       return comes_first(thread, f);
                     });
  if (known.empty() && knowledge.pending.empty() && !takes) {
    return true;
  }
  const View all = known_to_all();
  return known.is_in(all) &&
         (!fence.acquire || std::ranges::all_of(
                                knowledge.pending,
                                [&](const Pending& p) {
                                  return p.release.view.is_in(all) ||
                                         !passes_on(p.release, thread, scope);
                                }
                            )) &&
         (!takes || std::ranges::all_of(sc_, [&](const ScFence& f) {
           return f.release.view.is_in(all) || comes_first(thread, f) ||
                  !reach(thread, scope, f.release.thread, f.release.scope);
         }));
}

/// [MEM-VIEW] A thread that has done nothing and has been told nothing since its grid began knows
/// what all threads of the grid knew from their beginning. So its fence.sc passes on nothing to
/// that one, which may as well come behind it; and then it takes nothing. Whatever is possible in
/// the other order is possible in this one.
bool WeakMemory::comes_first(Thread thread, const ScFence& before) const {
  const Knowledge& k = knowledge(thread);
  return (k.fresh || is(Mutant::FencesComeFirst)) && knows_all(thread, k.view, k.heard) &&
         locations_->at(thread).grid == locations_->at(before.release.thread).grid;
}

} // namespace heddle::weak
