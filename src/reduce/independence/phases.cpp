// Implements phases.h.
#include "reduce/independence/phases.h"

#include "machine/block.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace heddle::reduce {

namespace {

constexpr unsigned phases = 8; // they are counted modulo that

template <class T> void put(std::vector<std::byte>& bytes, const T& value) {
  const auto* p = reinterpret_cast<const std::byte*>(&value);
  bytes.insert(bytes.end(), p, p + sizeof value);
}
void put(std::vector<std::byte>& bytes, const std::vector<std::uint64_t>& words) {
  put(bytes, static_cast<std::uint32_t>(words.size()));
  const auto* p = reinterpret_cast<const std::byte*>(words.data());
  bytes.insert(bytes.end(), p, p + words.size() * sizeof(std::uint64_t));
}
template <class T> T get(const std::byte*& at) {
  T value{};
  std::memcpy(&value, at, sizeof value);
  at += sizeof value;
  return value;
}
void get(const std::byte*& at, std::vector<std::uint64_t>& words) {
  words.resize(get<std::uint32_t>(at));
  if (!words.empty()) {
    std::memcpy(words.data(), at, words.size() * sizeof(std::uint64_t));
  }
  at += words.size() * sizeof(std::uint64_t);
}

} // namespace

void Phases::start(std::uint32_t threads) {
  threads_ = threads;
  objects_.clear();
  known_.clear();
  words_.clear();
  questions_.clear();
}

Phases::Entry* Phases::find(Object object) {
  const auto known = std::ranges::find(objects_, object, &Entry::object);
  return known != objects_.end() && known->valid ? &*known : nullptr;
}
const Phases::Entry* Phases::find(Object object) const {
  return const_cast<Phases*>(this)->find(object);
}

template <class F> void Phases::each_known(F&& f) {
  std::ranges::for_each(known_, f);
  for (Entry& entry : objects_) {
    f(entry.arriving);
    f(entry.complete);
  }
  for (auto& [at, word] : words_) {
    f(word);
  }
}

/// `from` may be empty: nothing.
void Phases::join(Known& into, const Known& from) const {
  if (from.empty()) {
    return;
  }
  if (into.empty()) {
    into = from;
    return;
  }
  for (std::size_t e = 0; e < objects_.size(); ++e) {
    const std::size_t at = place(e);
    const auto age = [&](std::uint64_t phase) { // how many phases ago
      return phase == unknown ? phases : (objects_[e].phase - phase) % phases;
    };
    into[at] = age(from[at]) < age(into[at]) ? from[at] : into[at];
    for (std::size_t w = 0; w < 2 * words(); ++w) {
      into[at + 1 + w] |= from[at + 1 + w];
    }
  }
}

/// Does who knows this know of all that have passed a wait in the present phase?
bool Phases::covers(const Known& known, const Entry& entry) const {
  const std::size_t at = place(number(entry));
  for (std::size_t w = 0; w < words(); ++w) {
    if ((entry.passed[w] & ~(known.empty() ? 0 : known[at + 1 + w])) != 0) {
      return false;
    }
  }
  return true;
}

void Phases::forget_passes(std::size_t entry) {
  std::ranges::fill(objects_[entry].passed, 0);
  const auto first = static_cast<std::ptrdiff_t>(place(entry) + 1);
  each_known([&](Known& known) {
    if (!known.empty()) {
      std::fill_n(known.begin() + first, words(), 0);
    }
  });
}

/// The thread has done something again. Who knows that it did so before does not know of this time.
void Phases::only_knows_itself(Thread thread, std::size_t first_word) {
  const std::size_t at = first_word + thread / 64;
  const std::uint64_t own = std::uint64_t{1} << thread % 64;
  each_known([&](Known& known) {
    if (!known.empty()) {
      known[at] &= ~own;
    }
  });
  known_[thread][at] |= own;
}

void Phases::note_arrival(Thread thread, Entry& entry) {
  only_knows_itself(thread, place(number(entry)) + 1 + words());
  entry.arrived[thread / 64] |= std::uint64_t{1} << thread % 64;
}

void Phases::note_pass(Thread thread, Entry& entry) {
  only_knows_itself(thread, place(number(entry)) + 1);
  entry.passed[thread / 64] |= std::uint64_t{1} << thread % 64;
}

bool Phases::init(Thread thread, Object object) {
  if (find(object) != nullptr && !inval(thread, object)) {
    return false;
  }
  auto entry = std::ranges::find(objects_, object, &Entry::object);
  if (entry == objects_.end()) {
    if ((objects_.size() + 1) * stride() * sizeof(std::uint64_t) * threads_ > largest) {
      return false; // too much to keep
    }
    known_.resize(threads_);
    objects_.push_back({});
    objects_.back().object = object;
    objects_.back().passed.resize(words());
    objects_.back().arrived.resize(words());
    objects_.back().expecting.resize(words());
    entry = objects_.end() - 1;
    for (Known& known : known_) {
      known.resize(place(objects_.size()));
    }
    each_known([&](Known& known) {
      if (!known.empty()) {
        known.resize(place(objects_.size()));
      }
    });
  }
  const std::size_t e = number(*entry);
  forget_passes(e);
  each_known([&](Known& known) {
    if (!known.empty()) {
      known[place(e)] = unknown;
      std::fill_n(&known[place(e) + 1 + words()], words(), 0);
    }
  });
  std::ranges::fill(entry->arrived, 0);
  std::ranges::fill(entry->expecting, 0);
  entry->valid = true;
  entry->phase = 0;
  entry->arriving.clear();
  entry->complete.clear();
  known_[thread][place(e)] = 0;
  return true;
}

bool Phases::inval(Thread thread, Object object) {
  Entry* entry = find(object);
  if (entry == nullptr || !covers(known_[thread], *entry)) {
    return false;
  }
  // Nobody need have waited for the last phase: it is enough to know of all arrivals.
  const std::size_t at = place(number(*entry));
  const std::uint64_t* const arrivals = &known_[thread][at + 1 + words()];
  if (known_[thread][at] != entry->phase &&
      !std::equal(entry->arrived.begin(), entry->arrived.end(), arrivals, [](auto did, auto known) {
        return (did & ~known) == 0;
      })) {
    return false;
  }
  entry->valid = false;
  return true;
}

bool Phases::arrive(Thread thread, Object object, unsigned before, unsigned after) {
  Entry* entry = find(object);
  if (entry == nullptr || entry->phase != before ||
      known_[thread][place(number(*entry))] != before) {
    return false;
  }
  note_arrival(thread, *entry);
  join(entry->arriving, known_[thread]);
  if (after == before) {
    return true;
  }
  const bool all_known = covers(entry->arriving, *entry);
  entry->complete = std::exchange(entry->arriving, {});
  entry->phase = after;
  forget_passes(number(*entry));
  return all_known;
}

void Phases::note_expecting(Thread thread, Object object, bool expecting) {
  if (Entry* entry = find(object)) {
    const std::uint64_t own = std::uint64_t{1} << thread % 64;
    std::uint64_t& word = entry->expecting[thread / 64];
    word = expecting ? word | own : word & ~own;
  }
}

bool Phases::some_expecting(Object object) const {
  const Entry* entry = find(object);
  return entry != nullptr &&
         std::ranges::any_of(entry->expecting, [](std::uint64_t word) { return word != 0; });
}

std::optional<unsigned> Phases::known_phase(Thread thread, Object object) const {
  const Entry* entry = find(object);
  if (entry == nullptr) {
    return std::nullopt;
  }
  const std::uint64_t phase = known_[thread][place(number(*entry))];
  return phase == unknown ? std::nullopt : std::optional(static_cast<unsigned>(phase));
}

std::optional<Phases::Waited>
Phases::waited_by_token(Thread thread, Object object, unsigned phase) const {
  const std::optional<unsigned> now = known_phase(thread, object);
  if (!now) {
    return std::nullopt;
  }
  if (phase == *now) {
    return Waited{phase, /*known=*/false};
  }
  return phase == (*now + phases - 1) % phases ? std::optional(Waited{phase, /*known=*/true})
                                               : std::nullopt;
}

std::optional<Phases::Waited>
Phases::waited_by_parity(Thread thread, Object object, unsigned parity) const {
  const std::optional<unsigned> now = known_phase(thread, object);
  if (!now) {
    return std::nullopt;
  }
  const bool before = (*now & 1) != (parity & 1);
  return Waited{before ? (*now + phases - 1) % phases : *now, before};
}

bool Phases::pass(Thread thread, Object object, const std::optional<Waited>& waited, unsigned now) {
  Entry* entry = find(object);
  if (entry == nullptr || !waited || entry->phase != now || (waited->phase + 1) % phases != now) {
    return false;
  }
  if (has_asked(thread, object, waited->phase)) {
    questions_.erase(thread);
  }
  if (!waited->known) {
    join(known_[thread], entry->complete);
    known_[thread][place(number(*entry))] = now;
  }
  note_pass(thread, *entry);
  return true;
}

void Phases::meet(std::span<const Thread> threads, std::uint32_t with) {
  if (!in_use() || threads.empty()) {
    words_.erase(with);
    return;
  }
  Known all;
  if (const auto word = words_.find(with); word != words_.end()) {
    all = std::move(word->second);
    words_.erase(word);
  }
  for (const Thread thread : threads) {
    join(all, known_[thread]);
  }
  for (const Thread thread : threads) {
    known_[thread] = all;
  }
}

void Phases::leave_word(std::span<const Thread> threads, std::uint32_t at) {
  if (in_use()) {
    for (const Thread thread : threads) {
      join(words_[at], known_[thread]);
    }
  }
}

void Phases::move_word(std::uint32_t from, std::uint32_t to) {
  if (const auto word = words_.find(from); word != words_.end()) {
    words_[to] = std::move(word->second);
    words_.erase(from);
  }
}

void Phases::take_word(std::span<const Thread> threads, std::uint32_t at) {
  if (const auto word = words_.find(at); in_use() && word != words_.end()) {
    for (const Thread thread : threads) {
      join(known_[thread], word->second);
    }
  }
}

void Phases::save(std::vector<std::byte>& bytes) const {
  put(bytes, static_cast<std::uint32_t>(objects_.size()));
  if (objects_.empty()) {
    return;
  }
  for (const Entry& entry : objects_) {
    put(bytes, entry.object);
    put(bytes, entry.valid);
    put(bytes, entry.phase);
    put(bytes, entry.arriving);
    put(bytes, entry.complete);
    put(bytes, entry.passed);
    put(bytes, entry.arrived);
    put(bytes, entry.expecting);
  }
  for (std::size_t t = 0; t < known_.size(); ++t) {
    const bool same = t > 0 && known_[t] == known_[t - 1];
    put(bytes, same);
    if (!same) {
      put(bytes, known_[t]);
    }
  }
  put(bytes, static_cast<std::uint32_t>(words_.size()));
  for (const auto& [at, word] : words_) {
    put(bytes, at);
    put(bytes, word);
  }
  put(bytes, static_cast<std::uint32_t>(questions_.size()));
  for (const auto& [thread, question] : questions_) {
    put(bytes, thread);
    put(bytes, question.object);
    put(bytes, question.phase);
  }
}

const std::byte* Phases::load(const std::byte* bytes, std::uint32_t threads) {
  start(threads);
  objects_.resize(get<std::uint32_t>(bytes));
  if (objects_.empty()) {
    return bytes;
  }
  for (Entry& entry : objects_) {
    entry.object = get<Object>(bytes);
    entry.valid = get<bool>(bytes);
    entry.phase = get<unsigned>(bytes);
    get(bytes, entry.arriving);
    get(bytes, entry.complete);
    get(bytes, entry.passed);
    get(bytes, entry.arrived);
    get(bytes, entry.expecting);
  }
  known_.resize(threads);
  for (std::size_t t = 0; t < known_.size(); ++t) {
    if (get<bool>(bytes)) {
      known_[t] = known_[t - 1];
    } else {
      get(bytes, known_[t]);
    }
  }
  for (auto left = get<std::uint32_t>(bytes); left > 0; --left) {
    const auto at = get<std::uint32_t>(bytes);
    get(bytes, words_[at]);
  }
  for (auto left = get<std::uint32_t>(bytes); left > 0; --left) {
    const auto thread = get<Thread>(bytes);
    const auto object = get<Object>(bytes);
    note_question(thread, object, get<unsigned>(bytes));
  }
  return bytes;
}

// --- Barriers ------------------------------------------------------------------------------------

namespace {

constexpr std::uint32_t barriers = 16; // of a block
constexpr std::uint32_t cluster_arriving = ~2U, cluster_complete = ~1U;

} // namespace

std::vector<Phases::Thread> PhaseMonitor::threads(std::size_t w, isa::LaneMask lanes) const {
  std::vector<Phases::Thread> result;
  for (; lanes != 0; lanes &= lanes - 1) {
    result.push_back(
        first_ + static_cast<std::uint32_t>(w) * isa::warp_size +
        static_cast<std::uint32_t>(std::countr_zero(lanes))
    );
  }
  return result;
}

std::uint32_t PhaseMonitor::word(std::size_t barrier) const {
  return block_.rank() * barriers + static_cast<std::uint32_t>(barrier);
}

void PhaseMonitor::arrived(std::size_t id, std::size_t w, isa::LaneMask lanes) {
  phases_.leave_word(threads(w, lanes), word(id));
}

void PhaseMonitor::opened(
    std::size_t id,
    std::span<const isa::LaneMask> waiting,
    bool /*counted*/
) {
  std::vector<Phases::Thread> all;
  for (std::size_t w = 0; w < waiting.size(); ++w) {
    const std::vector<Phases::Thread> own = threads(w, waiting[w]);
    all.insert(all.end(), own.begin(), own.end());
  }
  phases_.meet(all, word(id));
}

void PhaseMonitor::cluster_arrived(std::size_t w, isa::LaneMask lanes, bool /*release*/) {
  phases_.leave_word(threads(w, lanes), cluster_arriving);
}

void PhaseMonitor::cluster_opened() {
  phases_.move_word(cluster_arriving, cluster_complete);
}

void PhaseMonitor::cluster_passed(std::size_t w, isa::LaneMask lanes) {
  phases_.take_word(threads(w, lanes), cluster_complete);
}

void PhaseMonitor::warp_synced(std::size_t w, isa::LaneMask lanes) {
  phases_.meet(threads(w, lanes));
}

} // namespace heddle::reduce
