// StateTable::save() and restore(): what a search has found, as a file, and how another one goes on
// from there.
//
// A file has what lies in the table, as it is. Where one process has searched it has the course,
// too (course.h): then nothing is taken back, and that process goes on where it stood (README.md).
//
// Else, what is *known* when it is read is each state all of whose claimed choices are there as
// edges (*finished*). All others, and the states of a shortest way to each of them, are taken back:
// their edges go, and the next one who comes there does what had been asked of them, and what it
// asks for itself. So going on needs nothing but a search from the beginning, which goes through
// these states and stops at all others, and no state of a process is kept.
//
// Where one process has searched and has come to the limit of states, the way to each state is the
// one that it took, as far as the edges tell: of the choices of a state the first one that leads
// somewhere new.
//
// A state that has been met once, so that moves of devices were put off ([RED-HOST-FIRST]), is
// taken back with the state that it was met from: else it would be met for the second time.
//
// Claim: it finds what the search that was stopped would have found.
// - Which choices of a state are made depends on what those who arrive ask for, not on their order
//   (state_table.h), and what had been asked for of states that are taken back is remembered.
// - An arrival's edge is added after what it asks for has been claimed (Search::arrive). So if
//   the edge of a finished state leads somewhere, what it asked for there is not lost.
// - Each state that is not finished is met again. The edges that have been recorded hold a way to
//   it, or to a state before it whose last move was under way, which is not finished either. All
//   states of the way are taken back; they make all their choices again; so by induction along the
//   way each is arrived at. If one is not (the program does something else now), all_met_again()
//   says so, and the search is invalid.
#include "base/check.h"
#include "explore/table/saved_soundness.h"
#include "explore/table/state_table_saved.h"
#include "explore/witness/schedule.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>
#include <numeric>
#include <tuple>

namespace heddle::explore {

namespace {

/// What says of a search that it has ended, and not what it has met.
constexpr std::uint64_t facts_of_an_end =
    bit_of(Fact::OutOfStates) | bit_of(Fact::GaveUp) | bit_of(Fact::Unrepeatable);

bool write_all(int fd, const void* bytes, std::size_t count) {
  for (const auto* at = static_cast<const char*>(bytes); count != 0;) {
    const ssize_t some = ::write(fd, at, count);
    if (some < 0 && errno != EINTR) {
      return false;
    }
    at += std::max<ssize_t>(some, 0);
    count -= static_cast<std::size_t>(std::max<ssize_t>(some, 0));
  }
  return true;
}

/// What nobody has written is not touched: it would need memory.
bool copy_part(int from, std::size_t at, int to, std::size_t count) {
  for (auto offset = static_cast<off_t>(at); count != 0;) {
    const ssize_t some = ::sendfile(to, from, &offset, count);
    if (some <= 0 && errno != EINTR) {
      return false;
    }
    count -= static_cast<std::size_t>(std::max<ssize_t>(some, 0));
  }
  return true;
}

/// Does a file have what it says that it has, from where it stands on? Else memory would be taken
/// for it.
bool has_all(int fd, const Saved& saved) {
  struct stat about{};
  const off_t at = ::lseek(fd, 0, SEEK_CUR);
  if (::fstat(fd, &about) != 0 || at < 0 || at > about.st_size) {
    return false;
  }
  auto left = static_cast<std::uint64_t>(about.st_size - at);
  const auto take = [&](std::uint64_t count, std::uint64_t each) {
    const bool there = count <= left / each;
    left -= there ? count * each : 0;
    return there;
  };
  return take(saved.states, sizeof(StoredState) + 1 + sizeof(StoredWays)) &&
         take(saved.edges, sizeof(ShortEdge)) && take(saved.texts, sizeof(StoredText)) &&
         take(saved.text_bytes, 1) && take(saved.actors, sizeof(StoredActor)) &&
         take(saved.events, sizeof(Event)) && take(saved.told, sizeof(StoredTold)) &&
         take(saved.again, sizeof(StoredAgain)) && take(saved.granted, sizeof(StoredGranted)) &&
         take(saved.steps, sizeof(Course::Step)) && take(saved.numbers, sizeof(std::uint32_t));
}

/// It has been met once, so moves of devices have been put off.
bool is_put_off(const StoredState& state, std::uint8_t devices) {
  return (devices & DevicesBits) == NotClaimed && state.end == NoEnd;
}

constexpr StateId nobody = ~0U;

/// Before each state, the one before it on the way that one process took; `out`: of each state from
/// `first`, where its choices lead, in their order.
void go_deep(
    std::span<const std::uint32_t> first,
    std::span<const StateId> out,
    std::vector<StateId>& before
) {
  struct Place {
    StateId state;
    std::uint32_t next;
  };
  std::vector<Place> way{{0, first[0]}};
  while (!way.empty()) {
    Place& last = way.back();
    if (last.next == first[last.state + 1]) {
      way.pop_back();
      continue;
    }
    const StateId to = out[last.next++];
    if (before[to] == nobody) {
      before[to] = last.state;
      way.push_back({to, first[to]});
    }
  }
}

/// Those that are not finished, those on a way to each of them (a shortest one, or that of one
/// process), and those that have been met once, from one of these: else they would be met for the
/// second time.
std::vector<bool> taken_back(
    std::span<const StoredState> states,
    std::span<const std::uint8_t> devices,
    std::span<const ShortEdge> edges,
    bool of_one_process
) {
  const std::size_t count = states.size();
  std::vector<std::uint32_t> first(count + 2, 0);
  for (const ShortEdge& edge : edges) {
    ++first[edge.from + 2];
  }
  for (std::size_t s = 1; s < count; ++s) {
    first[s + 1] += first[s];
  }
  std::vector<StateId> targets(edges.size());
  std::vector<std::uint32_t> numbers(of_one_process ? edges.size() : 0); // of their choices
  for (const ShortEdge& edge : edges) {
    const std::uint32_t place = first[edge.from + 1]++;
    targets[place] = edge.to;
    if (of_one_process) {
      numbers[place] = unpack_choice(edge.choice).number;
    }
  }
  std::vector<StateId> before(count, nobody), queue{0};
  before[0] = 0;
  if (of_one_process) {
    std::vector<StateId> in_order(edges.size());
    std::vector<std::uint32_t> places(edges.size());
    std::iota(places.begin(), places.end(), 0U);
    for (std::size_t s = 0; s < count; ++s) {
      std::sort(
          places.begin() + first[s],
          places.begin() + first[s + 1],
          [&](std::uint32_t a, std::uint32_t b) {
            return std::tie(numbers[a], a) < std::tie(numbers[b], b);
          }
      );
    }
    std::ranges::transform(places, in_order.begin(), [&](std::uint32_t p) { return targets[p]; });
    go_deep(first, in_order, before);
  }
  std::vector<bool> result(count, false), queued(count, false);
  queued[0] = true;
  for (std::size_t n = 0; n < queue.size(); ++n) {
    const StateId s = queue[n];
    if (!is_finished(states[s])) {
      for (StateId on_way = s; !result[on_way]; on_way = before[on_way]) {
        result[on_way] = true;
      }
    }
    for (std::uint32_t e = first[s]; e < first[s + 1]; ++e) {
      const StateId to = targets[e];
      if (!queued[to]) {
        queued[to] = true;
        before[to] = before[to] == nobody ? s : before[to];
        queue.push_back(to);
      }
    }
  }
  for (std::size_t s = 0; s < count; ++s) { // whose edge was under way
    result[s] = result[s] || !is_finished(states[s]);
  }
  result[0] = result[0] || is_put_off(states[0], devices[0]); // a search begins there, once
  queue.clear();
  for (StateId s = 0; s < count; ++s) {
    if (result[s]) {
      queue.push_back(s);
    }
  }
  for (std::size_t n = 0; n < queue.size(); ++n) {
    for (std::uint32_t e = first[queue[n]]; e < first[queue[n] + 1]; ++e) {
      const StateId to = targets[e];
      if (!result[to] && is_put_off(states[to], devices[to])) {
        result[to] = true;
        queue.push_back(to);
      }
    }
  }
  return result;
}

/// What had been asked for of a state that was to be met again when the file was written.
void ask_again(
    const StoredAgain& old,
    StoredState& state,
    std::uint8_t& devices,
    StoredWays& ways
) {
  devices = (devices & DevicesBits) != 0 || old.device != 0 ? Claimed : NotClaimed;
  state.first_ways |= static_cast<std::uint8_t>(old.first);
  state.other_ways |= static_cast<std::uint8_t>(old.other);
  ways.first |= old.first >> narrow_ways;
  ways.other |= old.other >> narrow_ways;
}

/// The state is to be met again, and then this is asked for.
StoredAgain
take_back(StateId id, StoredState& state, std::uint8_t& devices, const StoredWays& ways) {
  const StoredAgain asked{
      .first = ways.first << narrow_ways | state.first_ways,
      .other = ways.other << narrow_ways | state.other_ways,
      .state = id,
      .device = (devices & DevicesBits) != 0 ? 1U : 0U
  };
  const Hash128 hash = state.hash;
  state = {};
  state.hash = hash;
  state.visited = ToBeMetAgain;
  devices = 0;
  return asked;
}

/// States without the numbers that nobody has used; `now`: of each one the number that it has now.
/// Returns how many there are.
std::uint32_t close_up(
    std::span<StoredState> states,
    std::span<std::uint8_t> devices,
    std::span<StoredWays> ways,
    std::vector<StateId>& now
) {
  std::uint32_t left = 0;
  for (std::size_t s = 0; s < states.size(); ++s) {
    now.push_back(left);
    if (states[s].visited != NotVisited) {
      states[left] = states[s];
      devices[left] = devices[s];
      ways[left++] = ways[s];
    }
  }
  std::ranges::fill(states.subspan(left), StoredState{});
  std::ranges::fill(devices.subspan(left), std::uint8_t{0});
  return left;
}

/// The same for edges of such states.
std::uint32_t close_up(std::span<ShortEdge> edges, const std::vector<StateId>& now) {
  std::uint32_t left = 0;
  for (const ShortEdge& edge : edges) {
    if (edge.label != 0) {
      edges[left++] = {now[edge.from], now[edge.to], edge.label, edge.choice};
    }
  }
  return left;
}

} // namespace

bool StateTable::save(int fd) const {
  const Header& h = header();
  const Course course = this->course();
  const std::span<const Course::Step> steps = course.steps();
  const std::span<const std::uint32_t> numbers = course.numbers();
  const Saved saved{
      .magic = saved_magic,
      .text_bytes = h.text_bytes,
      .work = h.work,
      .computed = h.computed,
      .states = std::min(h.states, h.max_states),
      .edges = std::min(h.edges, h.max_edges),
      .texts = h.texts,
      .actors = h.actors,
      .events = h.events,
      .told = h.told,
      .again = h.again,
      .granted = std::min(h.granted, max_granted),
      .facts = h.facts,
      .irrevocable = h.irrevocable,
      .several = h.several | h.several_before,
      .steps = static_cast<std::uint32_t>(steps.size()),
      .numbers = static_cast<std::uint32_t>(numbers.size()),
      .learned = h.learned
  };
  const auto part = [&](std::size_t at, std::size_t bytes) {
    return copy_part(fd_, at, fd, bytes);
  };
  return write_all(fd, &saved, sizeof saved) &&
         part(h.states_at, saved.states * sizeof(StoredState)) &&
         part(h.devices_at, saved.states) && part(h.ways_at, saved.states * sizeof(StoredWays)) &&
         part(h.edges_at, saved.edges * sizeof(ShortEdge)) &&
         part(h.texts_at, saved.texts * sizeof(StoredText)) &&
         part(h.text_bytes_at, saved.text_bytes) &&
         part(h.actors_at, saved.actors * sizeof(StoredActor)) &&
         part(h.events_at, saved.events * sizeof(Event)) &&
         part(h.told_at, saved.told * sizeof(StoredTold)) &&
         part(h.again_at, saved.again * sizeof(StoredAgain)) &&
         part(h.granted_at, saved.granted * sizeof(StoredGranted)) &&
         write_all(fd, steps.data(), steps.size_bytes()) &&
         write_all(fd, numbers.data(), numbers.size_bytes());
}

Result<StateTable> StateTable::restore(int fd, Limits limits) {
  return restore(fd, limits, Purpose::GoOn);
}

Result<StateTable> StateTable::read(int fd, Limits limits) {
  return restore(fd, limits, Purpose::Read);
}

Result<StateTable> StateTable::restore(int fd, Limits limits, Purpose purpose) {
  const bool goes_on = purpose == Purpose::GoOn;
  const auto damaged = [] { return input_error("the checkpoint is damaged"); };
  Saved saved;
  if (!read_all(fd, &saved, sizeof saved) || saved.magic != saved_magic || !has_all(fd, saved)) {
    return damaged();
  }
  limits.max_states = std::max(limits.max_states, saved.states);
  TRY(StateTable table, create(limits));
  Header& h = table.header();
  if (saved.states >= h.max_states || saved.edges > h.max_edges || saved.texts > h.max_texts ||
      saved.text_bytes > h.max_text_bytes || saved.actors > h.max_actors ||
      saved.events > h.max_events || saved.told > h.max_told || saved.again > h.max_states) {
    return damaged();
  }
  auto* states = table.region<StoredState>(h.states_at);
  auto* devices = table.region<std::uint8_t>(h.devices_at);
  auto* ways = table.region<StoredWays>(h.ways_at);
  auto* edges = table.region<ShortEdge>(h.edges_at);
  std::vector<StoredWays> all_ways(saved.states);
  std::vector<StoredText> texts(saved.texts);
  std::string bytes(saved.text_bytes, '\0');
  std::vector<Event> events(saved.events);
  std::vector<StoredAgain> again(saved.again);
  std::vector<StoredGranted> granted(saved.granted);
  std::vector<Course::Step> steps(saved.steps);
  std::vector<std::uint32_t> numbers(saved.numbers);
  const auto array = [&](auto* values, std::size_t count) {
    return read_all(fd, values, count * sizeof *values);
  };
  if (!array(states, saved.states) || !array(devices, saved.states) ||
      !array(all_ways.data(), saved.states) || !array(edges, saved.edges) ||
      !array(texts.data(), saved.texts) || !array(bytes.data(), saved.text_bytes) ||
      !array(table.region<StoredActor>(h.actors_at), saved.actors) ||
      !array(events.data(), saved.events) ||
      !array(table.region<StoredTold>(h.told_at), saved.told) ||
      !array(again.data(), saved.again) || !array(granted.data(), saved.granted) ||
      !array(steps.data(), saved.steps) || !array(numbers.data(), saved.numbers)) {
    return damaged();
  }
  const SavedArrays all{
      .states = {states, saved.states},
      .edges = {edges, saved.edges},
      .texts = texts,
      .bytes = bytes,
      .actors = {table.region<StoredActor>(h.actors_at), saved.actors},
      .events = events,
      .told = {table.region<StoredTold>(h.told_at), saved.told}
  };
  if (!is_sound(all) || !Course::is_sound(steps, numbers, saved.states, h.max_states)) {
    return damaged();
  }
  for (const StoredText& text : texts) {
    const auto id = static_cast<std::uint32_t>(&text - texts.data());
    if (table.intern(std::string_view(bytes).substr(text.offset, text.bytes)) != id) {
      return damaged();
    }
  }
  h.actors = saved.actors;
  h.told = saved.told;
  h.facts = goes_on ? saved.facts & ~facts_of_an_end : saved.facts;
  h.irrevocable = saved.irrevocable;
  h.work = saved.work;
  h.computed = saved.computed;
  h.learned = saved.learned;
  h.several_before = saved.several;
  if (saved.states == 0 || states[0].visited == NotVisited) {
    std::fill_n(states, saved.states, StoredState{});
    std::fill_n(devices, saved.states, std::uint8_t{0});
    std::fill_n(edges, saved.edges, ShortEdge{});
    return table; // nobody has come far
  }
  std::vector<StateId> now;
  const std::uint32_t left =
      close_up({states, saved.states}, {devices, saved.states}, all_ways, now);
  const std::uint32_t edges_left = close_up({edges, saved.edges}, now);
  const bool has_course = goes_on && !limits.divided && !steps.empty();
  std::vector<bool> back(left, false);
  if (has_course) {
    for (Course::Step& step : steps) {
      step.state = now[step.state];
    }
    table.course().restore(steps, numbers);
    std::transform(states, states + left, back.begin(), [](const StoredState& state) {
      return state.visited == ToBeMetAgain;
    });
  } else if (goes_on) {
    back = taken_back({states, left}, {devices, left}, {edges, edges_left}, saved.several == 0);
  }
  std::uint32_t kept = 0;
  for (std::uint32_t e = 0; e < edges_left; ++e) {
    if (!back[edges[e].from]) {
      edges[kept++] = edges[e];
    }
  }
  std::fill(edges + kept, edges + saved.edges, ShortEdge{});
  for (const StoredAgain& old : again) {
    const StateId s = old.state < saved.states ? now[old.state] : left;
    if (s < left && back[s]) {
      ask_again(old, states[s], devices[s], all_ways[s]);
    }
  }
  auto* fresh = table.region<StoredAgain>(h.again_at);
  for (StateId s = 0; s < left; ++s) {
    if (back[s]) {
      fresh[h.again++] = take_back(s, states[s], devices[s], all_ways[s]);
      continue;
    }
    devices[s] &= DevicesBits; // all is here
    if (all_ways[s].first != 0 || all_ways[s].other != 0) {
      ways[s] = all_ways[s];
    }
  }
  h.states = left;
  h.edges = kept;
  if (left > visited_room(0, h.max_states)) {
    table.make_room(left);
  }
  for (StateId s = 0; s < left; ++s) {
    table.visited().insert(states[s].hash, s);
  }
  for (Event event : events) {
    const bool is_written = event.text != 0 && event.text < saved.texts;
    if (is_written && event.from < saved.states &&
        (!goes_on ||
         bytes.substr(texts[event.text].offset, texts[event.text].bytes) != limit_of_states)) {
      event.from = now[event.from];
      if (event.from == 0 || (event.from < left && !back[event.from])) { // else it happens again
        table.region<Event>(h.events_at)[h.events++] = event;
      }
    }
  }
  return table;
}

bool StateTable::goes_on() const {
  return header().again != 0 || course().was_restored();
}

Choices StateTable::asked_before(StateId state) const {
  const Header& h = header();
  const std::span<const StoredAgain> all(region<StoredAgain>(h.again_at), h.again);
  const auto known = std::ranges::lower_bound(all, state, {}, &StoredAgain::state);
  if (known == all.end() || known->state != state) {
    return {};
  }
  return {known->device != 0, known->first, known->other};
}

std::vector<StateTable::MetAgain> StateTable::to_meet_again() const {
  const Header& h = header();
  const auto* states = region<StoredState>(h.states_at);
  const auto* devices = region<std::uint8_t>(h.devices_at);
  std::vector<MetAgain> result;
  if (!goes_on()) {
    return result;
  }
  const std::span<const StoredAgain> all(region<StoredAgain>(h.again_at), h.again);
  for (const StoredAgain& one : all) {
    result.push_back({states[one.state].hash, one.first, one.other, one.device});
  }
  for (StateId s = 0; s < h.states; ++s) { // one arrival has been, so the next one is the second
    if (is_finished(states[s]) && is_put_off(states[s], devices[s])) {
      result.push_back({.hash = states[s].hash, .device = 1});
    }
  }
  return result;
}

void StateTable::expect(std::span<const MetAgain> states) {
  Header& h = header();
  auto* const again = region<StoredAgain>(h.again_at);
  for (const MetAgain& one : states) {
    const auto id = find_or_add(one.hash, Seen::Perhaps); // in ascending order
    HEDDLE_CHECK(id && h.again < h.max_states, "no room for {} states", states.size());
    region<StoredState>(h.states_at)[*id].visited = ToBeMetAgain;
    again[h.again++] = {
        .first = one.first,
        .other = one.other,
        .state = *id,
        .device = static_cast<std::uint32_t>(one.device)
    };
  }
}

std::vector<Hash128> StateTable::claims_made() const {
  const Header& h = header();
  const auto* states = region<StoredState>(h.states_at);
  const auto* devices = region<std::uint8_t>(h.devices_at);
  const auto* ways = region<StoredWays>(h.ways_at);
  std::vector<Hash128> claims;
  for (StateId s = 0; goes_on() && s < h.states; ++s) {
    if (!is_finished(states[s])) {
      continue;
    }
    const Hash128& hash = states[s].hash;
    if (devices[s] == Claimed) {
      claims.push_back(claim_of_devices(hash));
    }
    const auto add_ways = [&](std::uint64_t bits, bool first) {
      for (; bits != 0; bits &= bits - 1) {
        claims.push_back(claim_of_way(hash, static_cast<unsigned>(std::countr_zero(bits)), first));
      }
    };
    add_ways(ways[s].first << narrow_ways | states[s].first_ways, /*first=*/true);
    add_ways(ways[s].other << narrow_ways | states[s].other_ways, /*first=*/false);
  }
  return claims;
}

bool StateTable::all_met_again() const {
  const Header& h = header();
  const auto* states = region<StoredState>(h.states_at);
  const std::span<const StoredAgain> all(region<StoredAgain>(h.again_at), h.again);
  return std::ranges::all_of(all, [&](const StoredAgain& one) {
    return states[one.state].visited == Visited;
  });
}

} // namespace heddle::explore
