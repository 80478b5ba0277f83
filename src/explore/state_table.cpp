// The shared tables: a header, then arrays of fixed capacity in one sparse memory file.
#include "explore/state_table.h"

#include "base/check.h"

#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

namespace heddle::explore {

namespace {

struct StoredState {
  Hash128 hash;
  std::uint32_t demands = 0; // interned array of packed demands
  std::uint32_t moves = 0;
  std::uint32_t edges = 0; // out of this state so far
  std::uint32_t host_site = 0, waits = 0;
  std::uint64_t could_return = 0;
  bool terminal = false;
  bool described = false;
  bool partly = false;
};

struct StoredActor {
  ActorKind kind{};
  std::uint32_t name = 0, group = 0, kernel = 0;
};

struct StoredText {
  std::uint64_t offset = 0;
  std::uint32_t bytes = 0;
};

/// Arrays are kept as texts of their bytes.
template <class T> std::string_view bytes_of(std::span<const T> values) {
  return {reinterpret_cast<const char*>(values.data()), values.size_bytes()};
}
template <class T> std::vector<T> values_of(std::string_view bytes) {
  std::vector<T> values(bytes.size() / sizeof(T));
  if (!values.empty()) {
    std::memcpy(values.data(), bytes.data(), values.size() * sizeof(T));
  }
  return values;
}

struct StoredDemand {
  std::uint64_t rule;
  ThreadClass who;
};

} // namespace

struct StateTable::Header {
  std::uint64_t magic;
  std::uint64_t total_bytes;
  std::uint32_t max_states, state_slots, max_edges, max_texts, text_slots, max_actors, max_events;
  std::uint64_t max_text_bytes;
  std::size_t states_at, slots_at, edges_at, texts_at, text_slots_at, text_bytes_at, actors_at,
      events_at;
  std::uint32_t states, edges, texts, actors, events;
  std::uint64_t text_bytes;
  std::uint64_t executions;
  std::uint64_t depth, queue;
  std::uint32_t position_state, position_site;
  std::uint32_t facts;
};

static constexpr std::uint64_t table_magic = 0x3174'6576'656c'6465ULL;

StateTable::StateTable(int fd, std::byte* base, std::size_t bytes)
    : fd_(fd),
      base_(base),
      bytes_(bytes) {}

StateTable::StateTable(StateTable&& other) noexcept
    : fd_(std::exchange(other.fd_, -1)),
      base_(std::exchange(other.base_, nullptr)),
      bytes_(std::exchange(other.bytes_, 0)) {}

StateTable::~StateTable() {
  if (base_ != nullptr) {
    ::munmap(base_, bytes_);
  }
  if (fd_ >= 0) {
    ::close(fd_);
  }
}

StateTable::Header& StateTable::header() const {
  return *reinterpret_cast<Header*>(base_);
}

template <class T> T* StateTable::region(std::size_t offset) const {
  return reinterpret_cast<T*>(base_ + offset);
}

Result<StateTable> StateTable::create(Limits limits) {
  Header h{};
  h.magic = table_magic;
  h.max_states = std::max(limits.max_states, 16U) + 1; // one for the end
  h.state_slots = 1;
  while (h.state_slots < h.max_states * 2ULL) {
    h.state_slots *= 2;
  }
  h.max_edges = static_cast<std::uint32_t>(std::min<std::uint64_t>(h.max_states * 32ULL, ~0U));
  h.max_texts = h.max_states * 2 + 65536;
  h.text_slots = 1;
  while (h.text_slots < h.max_texts * 2ULL) {
    h.text_slots *= 2;
  }
  h.max_actors = 1U << 20;
  h.max_events = 4096;
  h.max_text_bytes = h.max_texts * 256ULL;
  std::size_t at = sizeof(Header);
  const auto place = [&](std::size_t bytes) {
    at = (at + 4095) / 4096 * 4096;
    return std::exchange(at, at + bytes);
  };
  h.states_at = place(h.max_states * sizeof(StoredState));
  h.slots_at = place(h.state_slots * sizeof(std::uint32_t));
  h.edges_at = place(h.max_edges * sizeof(Edge));
  h.texts_at = place(h.max_texts * sizeof(StoredText));
  h.text_slots_at = place(h.text_slots * sizeof(std::uint32_t));
  h.text_bytes_at = place(h.max_text_bytes);
  h.actors_at = place(h.max_actors * sizeof(StoredActor));
  h.events_at = place(h.max_events * sizeof(Event));
  h.total_bytes = place(0);

  const int fd = ::memfd_create("heddle-states", 0); // inherited by the explored process
  if (fd < 0 || ::ftruncate(fd, static_cast<off_t>(h.total_bytes)) != 0) {
    return input_error(fmt::format("cannot create the table of states: {}", std::strerror(errno)));
  }
  void* p = ::mmap(nullptr, h.total_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (p == MAP_FAILED) {
    ::close(fd);
    return input_error(fmt::format("cannot map the table of states: {}", std::strerror(errno)));
  }
  std::memcpy(p, &h, sizeof h);
  StateTable table(fd, static_cast<std::byte*>(p), h.total_bytes);
  HEDDLE_CHECK(table.intern(std::string_view()) == 0, "the empty text has id 0");
  return table;
}

Result<StateTable> StateTable::open(int fd) {
  Header h{};
  if (::pread(fd, &h, sizeof h, 0) != static_cast<ssize_t>(sizeof h) || h.magic != table_magic) {
    return input_error(fmt::format("file descriptor {} is no table of states", fd));
  }
  void* p = ::mmap(nullptr, h.total_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (p == MAP_FAILED) {
    return input_error(fmt::format("cannot map the table of states: {}", std::strerror(errno)));
  }
  return StateTable(fd, static_cast<std::byte*>(p), h.total_bytes);
}

std::optional<StateTable::Visit> StateTable::visit(const Hash128& hash) {
  Header& h = header();
  auto* slots = region<std::uint32_t>(h.slots_at);
  auto* states = region<StoredState>(h.states_at);
  const std::uint32_t mask = h.state_slots - 1;
  std::uint32_t slot = static_cast<std::uint32_t>(hash.low) & mask;
  for (; slots[slot] != 0; slot = (slot + 1) & mask) {
    const StateId id = slots[slot] - 1;
    if (states[id].hash == hash) {
      return Visit{id, /*fresh=*/false, states[id].partly};
    }
  }
  if (h.states + 1 >= h.max_states) {
    return std::nullopt;
  }
  const StateId id = h.states++;
  states[id] = {};
  states[id].hash = hash;
  slots[slot] = id + 1;
  return Visit{id, /*fresh=*/true, /*partly=*/false};
}

std::optional<StateId> StateTable::find_done(const Hash128& hash) const {
  const Header& h = header();
  const auto* slots = region<std::uint32_t>(h.slots_at);
  const auto* states = region<StoredState>(h.states_at);
  const std::uint32_t mask = h.state_slots - 1;
  for (std::uint32_t slot = static_cast<std::uint32_t>(hash.low) & mask; slots[slot] != 0;
       slot = (slot + 1) & mask) {
    const StateId id = slots[slot] - 1;
    if (states[id].hash == hash) {
      return states[id].partly ? std::nullopt : std::optional(id);
    }
  }
  return std::nullopt;
}

void StateTable::describe(StateId state, const Description& description) {
  StoredState& stored = region<StoredState>(header().states_at)[state];
  if (!description.demands.empty()) {
    std::vector<StoredDemand> demands;
    demands.reserve(description.demands.size());
    for (const Demand& demand : description.demands) {
      demands.push_back({static_cast<std::uint64_t>(demand.rule), demand.who});
    }
    stored.demands = intern(bytes_of(std::span<const StoredDemand>(demands)));
  }
  stored.partly = description.partly;
  stored.moves = description.moves;
  stored.host_site = description.host_site;
  stored.waits = description.waits;
  stored.could_return = description.could_return;
  stored.described = true;
}

std::optional<StateId> StateTable::end_state() {
  // No real state has this hash: both halves are all ones.
  const auto visited = visit({~0ULL, ~0ULL});
  if (!visited) {
    return std::nullopt;
  }
  StoredState& stored = region<StoredState>(header().states_at)[visited->id];
  stored.terminal = true;
  stored.described = true;
  return visited->id;
}

void StateTable::add_edge(const Edge& edge) {
  Header& h = header();
  if (h.edges < h.max_edges) { // else `from` stays unexpanded, which is true
    region<Edge>(h.edges_at)[h.edges++] = edge;
    ++region<StoredState>(h.states_at)[edge.from].edges;
  }
}

void StateTable::add_event(
    EventKind kind,
    StateId from,
    std::uint32_t site,
    std::string_view text
) {
  Header& h = header();
  const std::uint32_t id = intern(text);
  if (h.events < h.max_events) {
    region<Event>(h.events_at)[h.events++] = {kind, site, from, id};
  }
}

std::uint32_t StateTable::intern(std::string_view text) {
  Header& h = header();
  auto* slots = region<std::uint32_t>(h.text_slots_at);
  auto* texts = region<StoredText>(h.texts_at);
  char* bytes = region<char>(h.text_bytes_at);
  const std::uint32_t mask = h.text_slots - 1;
  std::uint32_t slot = static_cast<std::uint32_t>(XXH3_64bits(text.data(), text.size())) & mask;
  for (; slots[slot] != 0; slot = (slot + 1) & mask) {
    const StoredText& known = texts[slots[slot] - 1];
    if (std::string_view(bytes + known.offset, known.bytes) == text) {
      return slots[slot] - 1;
    }
  }
  HEDDLE_CHECK(
      h.texts < h.max_texts && h.text_bytes + text.size() <= h.max_text_bytes,
      "no room for texts of the exploration"
  );
  const std::uint32_t id = h.texts++;
  texts[id] = {h.text_bytes, static_cast<std::uint32_t>(text.size())};
  if (!text.empty()) {
    std::memcpy(bytes + h.text_bytes, text.data(), text.size());
  }
  h.text_bytes += text.size();
  slots[slot] = id + 1;
  return id;
}

std::uint32_t StateTable::intern(std::span<const ClassChange> changes) {
  return intern(bytes_of(changes));
}

std::uint32_t StateTable::intern(const Site& site) {
  return intern(fmt::format("{}\t{}\t{}\t{}", site.file, site.line, site.column, site.what));
}

ActorId StateTable::add_actor(const Actor& actor) {
  Header& h = header();
  const StoredActor
      stored{actor.kind, intern(actor.name), intern(actor.group), intern(actor.kernel)};
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

void StateTable::set_position(StateId from, std::uint32_t site) {
  header().position_state = from;
  header().position_site = site;
}
std::pair<StateId, std::uint32_t> StateTable::position() const {
  return {header().position_state, header().position_site};
}
void StateTable::count_execution() {
  ++header().executions;
}

void StateTable::set_frontier(std::uint64_t depth, std::uint64_t queue) {
  header().depth = depth;
  header().queue = queue;
}
std::pair<std::uint64_t, std::uint64_t> StateTable::frontier() const {
  return {header().depth, header().queue};
}

void StateTable::note(Fact fact) {
  header().facts |= 1U << static_cast<unsigned>(fact);
}

bool StateTable::saw(Fact fact) const {
  return (header().facts >> static_cast<unsigned>(fact) & 1) != 0;
}

ProgressGraph StateTable::load() const {
  const Header& h = header();
  ProgressGraph graph;
  const auto* actors = region<StoredActor>(h.actors_at);
  for (ActorId id = 0; id < h.actors; ++id) {
    graph.actors.push_back(
        {actors[id].kind,
         std::string(text(actors[id].name)),
         std::string(text(actors[id].group)),
         std::string(text(actors[id].kernel))}
    );
  }
  const auto* states = region<StoredState>(h.states_at);
  graph.states.resize(h.states);
  constexpr std::uint32_t unread = ~0U;
  std::vector<std::uint32_t> demand_lists(h.texts, unread),
      change_lists(h.texts, unread); // by text
  demand_lists[0] = change_lists[0] = 0;
  for (StateId id = 0; id < h.states; ++id) {
    State& state = graph.states[id];
    std::uint32_t& demands = demand_lists[states[id].demands];
    if (demands == unread) {
      std::vector<Demand> list;
      for (const auto& [rule, who] : values_of<StoredDemand>(text(states[id].demands))) {
        list.push_back({static_cast<Rule>(rule), who});
      }
      std::ranges::sort(list);
      demands = graph.demands.add(list);
    }
    state.demands = demands;
    state.host_site = states[id].host_site;
    state.waits = states[id].waits;
    state.could_return = states[id].could_return;
    state.terminal = states[id].terminal;
    state.expanded = states[id].described && states[id].edges >= states[id].moves;
  }
  const auto* edges = region<Edge>(h.edges_at);
  graph.edges.assign(edges, edges + h.edges);
  for (Edge& edge : graph.edges) {
    std::uint32_t& changes = change_lists[edge.changes];
    if (changes == unread) {
      changes = graph.changes.add(values_of<ClassChange>(text(edge.changes)));
    }
    edge.changes = changes;
  }
  return graph;
}

std::uint32_t StateTable::state_count() const {
  return header().states;
}
std::uint64_t StateTable::executions() const {
  return header().executions;
}

std::vector<Event> StateTable::events() const {
  const auto* events = region<Event>(header().events_at);
  return {events, events + header().events};
}

std::string_view StateTable::text(std::uint32_t id) const {
  const StoredText& stored = region<StoredText>(header().texts_at)[id];
  return {region<char>(header().text_bytes_at) + stored.offset, stored.bytes};
}

Site StateTable::site(std::uint32_t id) const {
  std::string_view rest = text(id);
  const auto next = [&] {
    const std::size_t tab = std::min(rest.find('\t'), rest.size());
    std::string part(rest.substr(0, tab));
    rest.remove_prefix(std::min(tab + 1, rest.size()));
    return part;
  };
  const auto number = [](const std::string& text) {
    return static_cast<std::uint32_t>(std::strtoul(text.c_str(), nullptr, 10));
  };
  Site site;
  site.file = next();
  site.line = number(next());
  site.column = number(next());
  site.what = std::string(rest);
  return site;
}

} // namespace heddle::explore
