// Implements state_table.h, but for what the tool reads at the end (state_table_load.cpp).
#include "explore/table/state_table.h"

#include "base/check.h"
#include "explore/search/explorer.h"
#include "explore/table/state_table_layout.h"

#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <thread>
#include <utility>

namespace heddle::explore {

namespace {

constexpr std::uint64_t table_magic = 0x3174'6576'656c'6465ULL;
// So many a process takes at most: a page of each, so that no two write to the same one.
constexpr std::uint32_t edges_at_once = 4096 / sizeof(ShortEdge),
                        states_at_once = 4096 / sizeof(StoredState);
constexpr auto short_time = std::chrono::microseconds(20);
constexpr std::size_t labels_known = 2048; // to a process
constexpr auto relaxed = std::memory_order_relaxed;
constexpr int from_shift = 56, to_shift = 48; // Header::next_piece

/// Half of them stay free.
std::uint32_t text_slots(std::size_t table, std::uint32_t max_texts) {
  return std::bit_ceil(2 * text_room(table, max_texts));
}

} // namespace

StateTable::StateTable(int fd, std::byte* base, std::size_t bytes)
    : fd_(fd),
      base_(base),
      bytes_(bytes),
      visited_number_(header().visited),
      visited_(visited_set(visited_number_)),
      wanted_(base + header().wanted_at, header().max_states) {}

StateTable::StateTable(StateTable&& other) noexcept
    : fd_(std::exchange(other.fd_, -1)),
      base_(std::exchange(other.base_, nullptr)),
      bytes_(std::exchange(other.bytes_, 0)),
      visited_number_(other.visited_number_),
      visited_(std::move(other.visited_)),
      wanted_(std::move(other.wanted_)),
      process_(other.process_),
      known_labels_(std::move(other.known_labels_)) {}

StateTable::~StateTable() {
  if (base_ != nullptr) {
    ::munmap(base_, bytes_);
  }
  if (fd_ >= 0) {
    ::close(fd_);
  }
}

Result<StateTable> StateTable::create(Limits limits) {
  Header h{};
  h.magic = table_magic;
  h.max_states = std::max(limits.max_states, 16U) + 1; // one for the end
  h.max_edges = static_cast<std::uint32_t>(std::min<std::uint64_t>(h.max_states * 32ULL, ~0U));
  h.max_texts =
      static_cast<std::uint32_t>(std::min<std::uint64_t>(h.max_states * 8ULL + 65536, 1U << 30));
  h.max_actors = 1U << 20;
  h.max_events = 4096;
  h.max_told = 1U << 22;
  h.max_processes = 8192;
  h.max_text_bytes = h.max_texts * 128ULL;
  h.alone = limits.alone;
  h.permits = static_cast<std::int32_t>(std::max(limits.processes, 1U) - 1);
  std::size_t at = sizeof(Header);
  const auto place = [&](std::size_t bytes) {
    const std::size_t unit = bytes < huge_page ? page : huge_page;
    at = (at + unit - 1) / unit * unit;
    return std::exchange(at, at + bytes);
  };
  for (std::size_t n = 0; n < visited_sets; ++n) {
    h.visited_at[n] = place(VisitedSet::bytes(visited_room(n, h.max_states)));
  }
  h.wanted_at = place(VisitedSet::bytes(h.max_states));
  h.again_at = place(h.max_states * sizeof(StoredAgain));
  h.devices_at = place(h.max_states);
  h.ways_at = place(h.max_states * sizeof(StoredWays));
  h.states_at = place(h.max_states * sizeof(StoredState));
  h.edges_at = place(h.max_edges * sizeof(ShortEdge));
  h.texts_at = place(h.max_texts * sizeof(StoredText));
  for (std::size_t n = 0; n < text_tables; ++n) {
    h.text_slots_at[n] = place(text_slots(n, h.max_texts) * sizeof(std::uint32_t));
  }
  h.text_bytes_at = place(h.max_text_bytes);
  h.actors_at = place(h.max_actors * sizeof(StoredActor));
  h.events_at = place(h.max_events * sizeof(Event));
  h.granted_at = place(max_granted * sizeof(StoredGranted));
  h.told_at = place(h.max_told * sizeof(StoredTold));
  h.processes_at = place(h.max_processes * sizeof(StoredProcess));
  h.boards_at[OfWork] = place(WorkBoard::bytes(h.max_processes));
  h.boards_at[OfRanks] = place(RankBoard::bytes(h.max_states));
  h.boards_at[OfCourse] = place(Course::bytes(h.max_states));
  h.total_bytes = place(0);

  const int fd = ::memfd_create("heddle-states", 0); // inherited by the explored process
  if (fd < 0 || ::ftruncate(fd, static_cast<off_t>(h.total_bytes)) != 0) {
    return input_error(fmt::format("cannot create the table of states: {}", std::strerror(errno)));
  }
  void* const p = map_table(fd, h.total_bytes);
  if (p == nullptr) {
    ::close(fd);
    return input_error(fmt::format("cannot map the table of states: {}", std::strerror(errno)));
  }
  std::memcpy(p, static_cast<const void*>(&h), sizeof h);
  StateTable table(fd, static_cast<std::byte*>(p), h.total_bytes);
  HEDDLE_CHECK(table.intern(std::string_view()) == 0, "the empty text has id 0");
  HEDDLE_CHECK(table.add_process() == 0, "the first process is number 0");
  return table;
}

Result<StateTable> StateTable::open(int fd) {
  Header h{};
  if (::pread(fd, static_cast<void*>(&h), sizeof h, 0) != static_cast<ssize_t>(sizeof h) ||
      h.magic != table_magic) {
    return input_error(fmt::format("file descriptor {} is no table of states", fd));
  }
  void* const p = map_table(fd, h.total_bytes);
  if (p == nullptr) {
    return input_error(fmt::format("cannot map the table of states: {}", std::strerror(errno)));
  }
  return StateTable(fd, static_cast<std::byte*>(p), h.total_bytes);
}

// --- States --------------------------------------------------------------------------------------

VisitedSet StateTable::visited_set(std::uint32_t number) const {
  const Header& h = header();
  return {base_ + h.visited_at[number], visited_room(number, h.max_states)};
}

/// The one that is in use. Another process may have put it in the place of a smaller one.
VisitedSet& StateTable::visited() const {
  Header& h = header();
  const std::uint32_t number = atomic_of(h.visited).load(std::memory_order_acquire);
  if (number != visited_number_) {
    visited_number_ = number;
    visited_ = visited_set(number);
  }
  return visited_;
}

std::optional<StateId> StateTable::find_or_add(const Hash128& hash, Seen seen) {
  Header& h = header();
  auto* states = region<StoredState>(h.states_at);
  std::optional<StateId> id = seen == Seen::Never ? std::nullopt : visited().find(hash);
  if (!id) {
    StoredProcess& own = region<StoredProcess>(h.processes_at)[process_];
    if (own.next_state == own.end_of_states && !take_states(own)) {
      return std::nullopt;
    }
    const StateId fresh = own.next_state++; // now: who is killed meanwhile leaves a gap
    states[fresh].hash = hash;
    begin_insertion();
    id = visited().insert(hash, fresh);
    end_insertion();
    if (*id != fresh) {
      own.next_state = fresh;
    }
  }
  return id;
}

std::optional<StateTable::Visit>
StateTable::visit(const Hash128& hash, const Choices& asked, Seen seen) {
  Header& h = header();
  const std::optional<StateId> id = find_or_add(hash, seen);
  if (!id) {
    return std::nullopt;
  }
  StoredState& state = region<StoredState>(h.states_at)[*id];
  const std::atomic_ref visited = atomic_of(state.visited);
  const std::uint8_t before = visited.load(relaxed);
  bool first = before != Visited;
  if (first && atomic_of(h.several).load(relaxed) != 0) {
    first = visited.exchange(Visited, relaxed) != Visited;
  } else if (first) {
    visited.store(Visited, relaxed);
  }
  const bool nothing_new = !first && is_done(*id) && all_claimed(*id, asked);
  return Visit{*id, first, nothing_new, before == ToBeMetAgain};
}

/// The ways of host threads.
bool StateTable::all_claimed(StateId id, const Choices& asked) const {
  const StoredState& state = region<StoredState>(header().states_at)[id];
  const auto missing = [](std::uint64_t asked, auto& claimed) {
    return (asked & ~std::uint64_t{atomic_of(claimed).load(relaxed)}) != 0;
  };
  auto& narrow = const_cast<StoredState&>(state); // atomic_of, which only reads here
  if (missing(asked.first_ways & 0xff, narrow.first_ways) ||
      missing(asked.other_ways & 0xff, narrow.other_ways)) {
    return false;
  }
  const std::uint64_t first = asked.first_ways >> narrow_ways,
                      other = asked.other_ways >> narrow_ways;
  if ((first | other) == 0) {
    return true;
  }
  StoredWays& wide = region<StoredWays>(header().ways_at)[id];
  return !missing(first, wide.first) && !missing(other, wide.other);
}

/// How many numbers a process takes at once. As long as there is one, none is left out; of the last
/// ones each takes few, since others would reach the limit while some are not in use.
std::uint32_t
StateTable::taken_at_once(std::uint32_t used, std::uint32_t limit, std::uint32_t most) const {
  const Header& h = header();
  if (atomic_of(const_cast<std::uint32_t&>(h.several)).load(relaxed) == 0 || used >= limit) {
    return 1;
  }
  return std::clamp((limit - used) / h.max_processes, 1U, most);
}

/// Numbers for states that are new. False: the table is full.
bool StateTable::take_states(StoredProcess& own) {
  Header& h = header();
  const std::uint32_t limit = h.max_states - 1; // the last one is for the end
  const std::uint32_t some =
      taken_at_once(atomic_of(h.states).load(relaxed), limit, states_at_once);
  const StateId fresh = count(h.several, h.states, some);
  const std::uint32_t got = fresh < limit ? std::min(some, limit - fresh) : 0;
  if (got < some) {
    count(h.several, h.states, got - some);
  }
  if (got == 0) {
    return false;
  }
  own.next_state = fresh;
  own.end_of_states = fresh + got;
  if (own.end_of_states > visited_room(visited_number_, h.max_states)) {
    make_room(own.end_of_states);
  }
  return true;
}

/// Until end_insertion() the set of visited states is not replaced.
void StateTable::begin_insertion() {
  Header& h = header();
  if (atomic_of(h.several).load(relaxed) == 0) {
    return;
  }
  std::uint32_t& inserts = region<StoredProcess>(h.processes_at)[process_].inserts;
  for (;;) {
    atomic_of(inserts).store(1); // before the look at `enlarging`, for everybody
    if (atomic_of(h.enlarging).load() == NotEnlarging) {
      return;
    }
    atomic_of(inserts).store(0);
    help_enlarging();
  }
}

void StateTable::end_insertion() {
  Header& h = header();
  if (atomic_of(h.several).load(relaxed) != 0) {
    atomic_of(region<StoredProcess>(h.processes_at)[process_].inserts)
        .store(0, std::memory_order_release);
  }
}

/// Another process enlarges the set of visited states.
void StateTable::help_enlarging() {
  Header& h = header();
  if (atomic_of(h.enlarging).load() == Copies) {
    copy_visited();
  }
  std::this_thread::sleep_for(short_time);
}

/// Copies pieces of a set of visited states to a larger one until none is left.
void StateTable::copy_visited() {
  Header& h = header();
  std::uint64_t next = atomic_of(h.next_piece).load();
  if (static_cast<std::uint32_t>(next) >= atomic_of(h.pieces).load()) {
    return; // all are taken. Whoever waits looks often, and a VisitedSet takes microseconds to make
  }
  const VisitedSet from = visited_set(static_cast<std::uint32_t>(next >> from_shift)),
                   to = visited_set(static_cast<std::uint32_t>(next >> to_shift & 0xff));
  const std::uint64_t end = (next >> to_shift << to_shift) + from.pieces();
  while (next < end) {
    if (!atomic_of(h.next_piece).compare_exchange_weak(next, next + 1)) {
      if (next >> to_shift != end >> to_shift) {
        return; // that is another copy
      }
      continue;
    }
    to.insert_piece(from, static_cast<std::uint32_t>(next));
    atomic_of(h.pieces_done).fetch_add(1);
    next = atomic_of(h.next_piece).load();
    if (next >> to_shift != end >> to_shift) {
      return;
    }
  }
}

/// For so many states in the set of visited ones.
void StateTable::make_room(std::uint32_t states) {
  Header& h = header();
  while (!h.enlarge_mutex.try_lock()) {
    help_enlarging();
  }
  const std::uint32_t before = atomic_of(h.visited).load(std::memory_order_acquire);
  std::uint32_t number = before;
  while (states > visited_room(number, h.max_states)) {
    ++number;
  }
  if (number != before) { // else another process has been faster
    enlarge_visited(before, number);
  }
  h.enlarge_mutex.unlock();
}

/// Nobody inserts while they move to a larger set; who looks for one meanwhile may miss it, and
/// finds it when it inserts it.
void StateTable::enlarge_visited(std::uint32_t before, std::uint32_t number) {
  Header& h = header();
  atomic_of(h.enlarging).store(WaitsForInsertions);
  auto* processes = region<StoredProcess>(h.processes_at);
  for (std::uint32_t n = 0; n < h.max_processes; ++n) {
    // One that dies within an insertion ends the search, at its limit of time at the latest.
    while (atomic_of(processes[n].used).load(relaxed) != 0 &&
           atomic_of(processes[n].inserts).load() != 0) {
      std::this_thread::sleep_for(short_time);
    }
  }
  const std::uint32_t pieces = visited_set(before).pieces();
  atomic_of(h.pieces).store(pieces); // before next_piece, for everybody
  atomic_of(h.pieces_done).store(0);
  atomic_of(h.next_piece)
      .store(std::uint64_t{before} << from_shift | std::uint64_t{number} << to_shift);
  atomic_of(h.enlarging).store(Copies);
  copy_visited();
  while (atomic_of(h.pieces_done).load() != pieces) {
    std::this_thread::yield();
  }
  atomic_of(h.visited).store(number, std::memory_order_release);
  atomic_of(h.enlarging).store(NotEnlarging);
  give_back(h.visited_at[before], VisitedSet::bytes(visited_room(before, h.max_states)));
}

bool StateTable::is_done(StateId id) const {
  return (atomic_of(region<std::uint8_t>(header().devices_at)[id]).load(relaxed) & DevicesBits) !=
         NotClaimed;
}

std::optional<StateId> StateTable::find_done(const Hash128& hash) const {
  const auto id = visited().find(hash);
  return id && is_done(*id) ? id : std::nullopt;
}

void StateTable::fetch(const Hash128& hash) const {
  visited().fetch(hash);
}

Choices StateTable::claim(StateId id, const Choices& wanted) {
  Header& h = header();
  StoredState& state = region<StoredState>(h.states_at)[id];
  std::uint8_t& device = region<std::uint8_t>(h.devices_at)[id];
  count(h.several, state.claims, std::uint16_t{1});
  const auto claim_bits = [](auto& ways, std::uint64_t bits) -> std::uint64_t {
    using Ways = std::remove_reference_t<decltype(ways)>;
    const auto own = static_cast<Ways>(bits);
    const bool new_ones = (own & ~atomic_of(ways).load(relaxed)) != 0;
    return new_ones ? own & ~atomic_of(ways).fetch_or(own, relaxed) : 0;
  };
  const auto claim_ways =
      [&](std::uint8_t& narrow, std::uint64_t StoredWays::* of, std::uint64_t bits) {
        const std::uint64_t rest = bits >> narrow_ways;
        std::uint64_t granted = claim_bits(narrow, bits & 0xff);
        if (rest != 0) {
          granted |= claim_bits(region<StoredWays>(h.ways_at)[id].*of, rest) << narrow_ways;
        }
        return granted;
      };
  Choices granted;
  const auto not_claimed = [](std::uint8_t before) { return (before & DevicesBits) == NotClaimed; };
  std::uint8_t before = atomic_of(device).load(relaxed);
  while (wanted.device && not_claimed(before) && !granted.device) {
    granted.device = atomic_of(device).compare_exchange_weak(before, before | Claimed, relaxed);
  }
  granted.first_ways = claim_ways(state.first_ways, &StoredWays::first, wanted.first_ways);
  granted.other_ways = claim_ways(state.other_ways, &StoredWays::other, wanted.other_ways);
  return granted;
}

void StateTable::describe(StateId id, const Description& description, std::uint32_t moves) {
  StoredState& state = region<StoredState>(header().states_at)[id];
  const Described about{description.could_return, description.host_site, description.waits};
  // As long as the host stands still it is the same.
  if (last_description_id_ == 0 || about != last_description_ ||
      !std::ranges::equal(description.demands, last_demands_)) {
    last_description_ = about;
    last_demands_.assign(description.demands.begin(), description.demands.end());
    const StoredDescription fixed{about.could_return, about.host_site, about.waits};
    std::string text(bytes_of(std::span(&fixed, 1)));
    for (const Demand& demand : description.demands) {
      const StoredDemand stored{static_cast<std::uint64_t>(demand.rule), demand.who};
      text += bytes_of(std::span(&stored, 1));
    }
    last_description_id_ = intern(std::string_view(text));
  }
  state.description = last_description_id_;
  state.described = description.moves_follow ? MovesFollow : InFull;
  add_moves(id, static_cast<std::int32_t>(moves));
}

void StateTable::add_moves(StateId id, std::int32_t moves) {
  Header& h = header();
  StoredState& state = region<StoredState>(h.states_at)[id];
  count(h.several, state.missing, moves);
  count(h.several, state.claims, static_cast<std::uint16_t>(moves < 0 ? 0 : -1));
}

std::optional<StateId> StateTable::end_state(std::optional<std::uint8_t> unexpected) {
  // No real state has this hash: one half is all ones, the other one almost. (~1 is taken, see
  // samples.h.)
  const std::uint64_t which = unexpected ? 2ULL + *unexpected : 0;
  const auto visited = visit({~which, ~0ULL}, {});
  if (!visited) {
    return std::nullopt;
  }
  StoredState& stored = region<StoredState>(header().states_at)[visited->id];
  stored.end = unexpected ? UnexpectedEnd : ExpectedEnd;
  stored.exit_status = unexpected.value_or(0);
  stored.described = MovesFollow;
  return visited->id;
}

void StateTable::keep_to(std::span<const Hash128> states) {
  Header& h = header();
  for (const Hash128& state : states) {
    wanted_.insert(state, h.keeps_to++);
  }
}

bool StateTable::keeps_to_some() const {
  return header().keeps_to != 0;
}

bool StateTable::keeps_out(const Hash128& state) const {
  return keeps_to_some() && !wanted_.find(state);
}

void StateTable::add_edge(const Edge& edge) {
  add_edge(ShortEdge{edge.from, edge.to, label(edge), edge.choice});
}

void StateTable::add_edge(const ShortEdge& edge, std::uint32_t claimer) {
  Header& h = header();
  StoredProcess& own = region<StoredProcess>(h.processes_at)[process_];
  if (own.next_edge == own.end_of_edges) {
    const std::uint32_t used = atomic_of(h.edges).load(relaxed),
                        some = taken_at_once(used, h.max_edges, edges_at_once);
    const std::uint32_t fresh = count(h.several, h.edges, some);
    if (fresh > h.max_edges || h.max_edges - fresh < some) { // `from` stays unexpanded
      count(h.several, h.edges, 0U - some);
      return;
    }
    own.next_edge = fresh;
    own.end_of_edges = fresh + some;
  }
  if (claimer != own_claim) {
    const std::uint32_t number = atomic_of(h.granted).fetch_add(1, relaxed);
    if (number < max_granted) {
      region<StoredGranted>(h.granted_at)[number] = {own.next_edge, claimer};
    }
  }
  ShortEdge& stored = region<ShortEdge>(h.edges_at)[own.next_edge++];
  stored.from = edge.from;
  stored.to = edge.to;
  stored.choice = edge.choice;
  // Last: who reads the table while its processes stand still takes none that is half written.
  atomic_of(stored.label).store(edge.label, std::memory_order_release);
  count(h.several, region<StoredState>(h.states_at)[edge.from].missing, -1);
}

std::uint32_t StateTable::label(const Edge& edge) {
  const Label label = label_of(edge);
  const std::uint64_t mixed =
      (label.who ^ (std::uint64_t{label.changes} << 32 | label.actor) ^
       std::uint64_t{label.count} << 48 ^ static_cast<std::uint64_t>(label.step) << 20) *
      0x9e37'79b9'7f4a'7c15ULL;
  if (known_labels_.empty()) {
    known_labels_.resize(labels_known);
  }
  KnownLabel& known = known_labels_[(mixed >> 32) % labels_known];
  if (known.id == 0 || known.label != label) {
    known = {label, intern(bytes_of(std::span(&label, 1)))};
  }
  return known.id;
}

// --- What is written once ------------------------------------------------------------------------

void StateTable::add_event(
    EventKind kind,
    StateId from,
    std::uint32_t site,
    std::string_view text
) {
  Header& h = header();
  const auto id = intern(text, Kept{});
  const heddle::lock_guard hold(h.mutex);
  if (id && h.events < h.max_events) {
    region<Event>(h.events_at)[h.events++] = {kind, site, from, *id};
  }
}

void StateTable::note_limit_of_states() {
  add_event(EventKind::Incomplete, 0, 0, limit_of_states);
  note(Fact::OutOfStates);
  course().give_up();
}

bool StateTable::has_fault_from(StateId from) const {
  Header& h = header();
  const heddle::lock_guard hold(h.mutex);
  const auto* events = region<Event>(h.events_at);
  return std::any_of(events, events + h.events, [&](const Event& event) {
    return event.from == from && event.kind == EventKind::Fault;
  });
}

bool StateTable::has_faults() const {
  const Header& h = header();
  const auto* events = region<Event>(h.events_at);
  return std::any_of(events, events + h.events, [](const Event& event) {
    return event.kind < EventKind::Incomplete;
  });
}

std::uint32_t StateTable::intern(std::string_view text) {
  const auto id = intern(text, {.texts = header().max_events, .bytes = 1 << 20});
  if (!id) {
    add_event(EventKind::Incomplete, 0, 0, "what threads do is more than can be kept in mind");
    ::_exit(finished_exit_code);
  }
  return *id;
}

/// Nothing if there is no more room but what is kept.
std::optional<std::uint32_t> StateTable::intern(std::string_view text, const Kept& kept) {
  Header& h = header();
  auto* texts = region<StoredText>(h.texts_at);
  char* bytes = region<char>(h.text_bytes_at);
  const auto hash = static_cast<std::uint32_t>(XXH3_64bits(text.data(), text.size()));
  std::size_t table = 0;
  std::uint32_t slot = 0; // where the search has ended
  const auto slots = [&] { return region<std::uint32_t>(h.text_slots_at[table]); };
  const auto find_in_table = [&]() -> std::optional<std::uint32_t> {
    const std::uint32_t mask = text_slots(table, h.max_texts) - 1;
    for (slot = hash & mask;; slot = (slot + 1) & mask) {
      const std::uint32_t known = atomic_of(slots()[slot]).load(std::memory_order_acquire);
      if (known == 0) {
        return std::nullopt;
      }
      const StoredText& stored = texts[known - 1];
      if (std::string_view(bytes + stored.offset, stored.bytes) == text) {
        return known - 1;
      }
    }
  };
  // Texts are numbered in order, so that a table holds those below a number.
  const auto find = [&]() -> std::optional<std::uint32_t> {
    for (;; ++table) {
      const std::uint32_t texts_before = atomic_of(h.texts).load(std::memory_order_acquire);
      if (const auto known = find_in_table()) {
        return known;
      }
      if (texts_before < text_room(table, h.max_texts)) {
        return std::nullopt;
      }
    }
  };
  if (const auto known = find()) {
    return known;
  }
  const heddle::lock_guard hold(h.mutex);
  if (const auto known = find()) { // from that table on: another process may have added it
    return known;
  }
  if (h.texts + kept.texts >= h.max_texts ||
      h.text_bytes + text.size() + kept.bytes > h.max_text_bytes) {
    return std::nullopt;
  }
  const std::uint32_t id = h.texts;
  texts[id] = {h.text_bytes, static_cast<std::uint32_t>(text.size())};
  if (!text.empty()) {
    std::memcpy(bytes + h.text_bytes, text.data(), text.size());
  }
  h.text_bytes += text.size();
  atomic_of(slots()[slot]).store(id + 1, std::memory_order_release);
  atomic_of(h.texts).store(id + 1, std::memory_order_release);
  return id;
}

std::uint32_t StateTable::intern(std::span<const ClassChange> changes) {
  return intern(bytes_of(changes));
}

std::uint32_t StateTable::intern(const Site& site) {
  std::string calls;
  for (const Site::Call& call : site.calls) {
    calls += fmt::format("{}\v{}\v{}\v{}\f", call.file, call.line, call.column, call.how);
  }
  return intern(
      fmt::format("{}\t{}\t{}\t{}\t{}", site.file, site.line, site.column, calls, site.what)
  );
}

ActorId StateTable::add_actor(const Actor& actor) {
  Header& h = header();
  const StoredActor
      stored{actor.kind, intern(actor.name), intern(actor.group), intern(actor.kernel)};
  const heddle::lock_guard hold(h.mutex);
  auto* actors = region<StoredActor>(h.actors_at);
  for (ActorId id = 0; id < h.actors; ++id) {
    if (actors[id].name == stored.name && actors[id].kind == stored.kind) {
      return id;
    }
  }
  HEDDLE_CHECK(h.actors < h.max_actors, "more than {} threads take part", h.max_actors);
  actors[h.actors] = stored;
  return h.actors++;
}

void StateTable::users_have_died() {
  header().mutex.unlock();
  header().enlarge_mutex.unlock();
}

void StateTable::note(Fact fact) {
  if (!saw(fact)) {
    atomic_of(header().facts).fetch_or(bit_of(fact), relaxed);
  }
}

bool StateTable::saw(Fact fact) const {
  return (atomic_of(header().facts).load(relaxed) & bit_of(fact)) != 0;
}

// --- Processes -----------------------------------------------------------------------------------

std::optional<std::uint32_t> StateTable::add_process() {
  Header& h = header();
  auto* processes = region<StoredProcess>(h.processes_at);
  for (std::uint32_t n = 0; n < h.max_processes; ++n) {
    // What is behind it: the numbers that the process before has left.
    if (atomic_of(processes[n].used).exchange(1, std::memory_order_acquire) == 0) {
      processes[n].depth = processes[n].queue = 0;
      processes[n].open = n == 0 ? 1 : 0; // the first one has everything before it
      processes[n].inserts = 0;
      return n;
    }
  }
  return std::nullopt;
}

void StateTable::remove_process(std::uint32_t process) {
  StoredProcess& record = region<StoredProcess>(header().processes_at)[process];
  atomic_of(record.queue).store(0, relaxed);
  atomic_of(record.open).store(0, relaxed);
  atomic_of(record.used).store(0, std::memory_order_release);
}

void StateTable::become(std::uint32_t process) {
  process_ = process;
}

WorkBoard StateTable::work_board() const {
  const Header& h = header();
  return {base_ + h.boards_at[OfWork], h.max_processes};
}

Course StateTable::course() const {
  return {base_ + header().boards_at[OfCourse], header().max_states};
}

void StateTable::set_position(StateId from, std::uint32_t site) {
  StoredProcess& own = region<StoredProcess>(header().processes_at)[process_];
  own.position_state = from;
  own.position_site = site;
}

std::pair<StateId, std::uint32_t> StateTable::position(std::uint32_t process) const {
  const StoredProcess& record = region<StoredProcess>(header().processes_at)[process];
  return {record.position_state, record.position_site};
}

void StateTable::set_frontier(std::uint64_t depth, std::uint64_t queue) {
  StoredProcess& own = region<StoredProcess>(header().processes_at)[process_];
  atomic_of(own.depth).store(depth, relaxed);
  atomic_of(own.queue).store(queue, relaxed);
}

void StateTable::set_open(double share) {
  StoredProcess& own = region<StoredProcess>(header().processes_at)[process_];
  atomic_of(own.open).store(share, relaxed);
}

void StateTable::abandon(double share) {
  atomic_of(header().abandoned).fetch_add(share, relaxed);
}

bool StateTable::help_wanted() const {
  Header& h = header();
  return atomic_of(h.permits).load(relaxed) > 0 && is_large() && !saw(Fact::HostAllocates);
}

std::uint64_t StateTable::effort() const {
  Header& h = header();
  return atomic_of(h.states).load(relaxed) +
         states_for_irrevocable * atomic_of(h.irrevocable).load(relaxed);
}

void StateTable::add_work(std::uint32_t more, std::uint32_t irrevocable) {
  Header& h = header();
  count(h.several, h.work, std::uint64_t{more + irrevocable * states_for_irrevocable});
  if (irrevocable != 0) {
    atomic_of(h.irrevocable).fetch_add(irrevocable, relaxed);
  }
}

void StateTable::add_computed(std::uint32_t more) {
  Header& h = header();
  count(h.several, h.computed, std::uint64_t{more});
}

std::uint64_t StateTable::computed() const {
  return atomic_of(header().computed).load(relaxed);
}

std::uint64_t StateTable::work() const {
  return atomic_of(header().work).load(relaxed);
}

/// Of the whole search this does not depend on how many processes make it.
bool StateTable::is_large() const {
  return effort() >= header().alone;
}

bool StateTable::take_permit() {
  Header& h = header();
  std::int32_t permits = atomic_of(h.permits).load(relaxed);
  while (help_wanted() && permits > 0) {
    if (atomic_of(h.permits).compare_exchange_weak(permits, permits - 1, relaxed)) {
      atomic_of(h.several).store(1, relaxed);
      return true;
    }
  }
  return false;
}

void StateTable::give_permit() {
  atomic_of(header().permits).fetch_add(1, relaxed);
}

void StateTable::go_on() {
  atomic_of(header().permits).fetch_sub(1, relaxed);
}

} // namespace heddle::explore
