// StateTable::take_in(): the parts of one search that several ranks have made become one table.
//
// A state is the same state everywhere if its hash is. What a part has announced of a state and not
// made another one has made, so how many edges are missing adds up. Where two ranks have claimed
// the same moves of a state, since neither knew of the other one, the edges of the lower one stay:
// which claim an edge belongs to is known of those that have been given away (StoredGranted), and
// all others belong to the rank that made them. Texts, actors and labels are found again by their
// content. A state is described in full if one rank has had to (Record::describe): as it would be
// by the first of all that come there.
//
// Is everything there that one process would have found? Which moves of a state are made depends on
// what all arrivals together ask for, and each rank has made, or left to one that has claimed it,
// what was asked for at its own arrivals. Only one thing depends on how many arrivals there are:
// the moves of devices that are put off as long as a state has been met once ([RED-HOST-FIRST]). If
// two ranks have met it once each, nobody has asked for them: left_unclaimed() counts such states.
//
// restore() of several parts is how a divided search goes on: the parts become one table as above,
// and that one is saved and restored ([RANK-CHECKPOINT] in spec/ranks.md).
#include "explore/table/saved_soundness.h"
#include "explore/table/state_table_saved.h"

#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <charconv>
#include <cstdlib>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <unordered_set>
#include <vector>

namespace heddle::explore {

namespace {

/// Values that lie anywhere.
template <class T> class Values {
public:
  std::size_t size() const { return bytes_.size() / sizeof(T); }
  T operator[](std::size_t index) const {
    T value{};
    std::memcpy(static_cast<void*>(&value), bytes_.data() + index * sizeof(T), sizeof(T));
    return value;
  }
  /// From the beginning of `rest`. False: there are not so many.
  bool take(std::size_t count, std::string_view& rest) {
    if (count > rest.size() / sizeof(T)) {
      return false;
    }
    bytes_ = rest.substr(0, count * sizeof(T));
    rest.remove_prefix(bytes_.size());
    return true;
  }
  std::string_view bytes() const { return bytes_; }

private:
  std::string_view bytes_;
};

/// A table that save() has written.
class RankPart {
public:
  explicit RankPart(int fd) {
    struct stat status{};
    void* const p =
        ::fstat(fd, &status) == 0 && status.st_size > 0
            ? ::mmap(nullptr, status.st_size, PROT_READ, MAP_PRIVATE | MAP_POPULATE, fd, 0)
            : MAP_FAILED;
    if (p != MAP_FAILED) {
      file_ = {static_cast<const char*>(p), static_cast<std::size_t>(status.st_size)};
    }
  }
  ~RankPart() {
    if (!file_.empty()) {
      ::munmap(const_cast<char*>(file_.data()), file_.size()); // munmap's signature
    }
  }
  RankPart(const RankPart&) = delete;
  RankPart& operator=(const RankPart&) = delete;

  Saved saved;
  Values<StoredState> states;
  Values<std::uint8_t> devices;
  Values<StoredWays> ways;
  Values<ShortEdge> edges;
  Values<StoredText> texts;
  Values<char> bytes;
  Values<StoredActor> actors;
  Values<Event> events;
  Values<StoredTold> told;
  Values<StoredAgain> again;
  Values<StoredGranted> granted;

  bool read() {
    std::string_view rest = file_;
    Values<Saved> head;
    if (!head.take(1, rest)) {
      return false;
    }
    saved = head[0];
    return saved.magic == saved_magic && states.take(saved.states, rest) &&
           devices.take(saved.states, rest) && ways.take(saved.states, rest) &&
           edges.take(saved.edges, rest) && texts.take(saved.texts, rest) &&
           bytes.take(saved.text_bytes, rest) && actors.take(saved.actors, rest) &&
           events.take(saved.events, rest) && told.take(saved.told, rest) &&
           again.take(saved.again, rest) && granted.take(saved.granted, rest);
  }
  bool is_text(std::uint32_t id) const {
    return id < texts.size() && texts[id].offset <= bytes.size() &&
           texts[id].bytes <= bytes.size() - texts[id].offset;
  }
  std::string_view text(std::uint32_t id) const {
    return is_text(id) ? bytes.bytes().substr(texts[id].offset, texts[id].bytes)
                       : std::string_view();
  }

private:
  std::string_view file_;
};

constexpr std::uint32_t unknown = ~0U;
constexpr std::uint8_t no_rank = 0xff; // of ranks, which are told apart by eight bits here
std::uint8_t short_rank(std::size_t rank) {
  return static_cast<std::uint8_t>(std::min<std::size_t>(rank, no_rank - 1));
}

} // namespace

/// Puts parts into a table, one after the other.
class StateTable::Merger {
public:
  /// `files`: by rank; -1: there is none. Rank 0's may be the table itself.
  Merger(StateTable& table, std::span<const int> files)
      : table_(table),
        files_(files),
        header_(table.header()),
        states_(table.region<StoredState>(header_.states_at)),
        devices_(table.region<std::uint8_t>(header_.devices_at)),
        ways_(table.region<StoredWays>(header_.ways_at)),
        edges_(table.region<ShortEdge>(header_.edges_at)) {
    header_.several = 1;
    table.become(0);
    claimers_.assign(header_.edges, 0);
    const auto* const granted = table.region<StoredGranted>(header_.granted_at);
    for (std::uint32_t g = 0; g < std::min(header_.granted, max_granted); ++g) {
      claimers_[granted[g].edge] = claimer(granted[g].claimer, edges_[granted[g].edge].from);
    }
  }

  /// False: there is no more room.
  bool add(const RankPart& part, std::size_t rank) {
    part_ = &part;
    left_out_.clear();
    texts_.assign(part.texts.size(), unknown);
    descriptions_ = labels_ = texts_;
    actors_.clear();
    for (std::size_t a = 0; a < part.actors.size(); ++a) {
      const StoredActor actor = part.actors[a];
      actors_.push_back(table_.add_actor(
          {actor.kind,
           std::string(part.text(actor.name)),
           std::string(part.text(actor.group)),
           std::string(part.text(actor.kernel))}
      ));
    }
    if (add_states() && add_edges(rank)) {
      add_rest();
    }
    return !full_;
  }
  /// For a search that goes on, after add(): what its processes have told each other, and what had
  /// been asked for of states that nobody has met again.
  bool keep_for_later(const RankPart& part) {
    for (std::size_t n = 0; n < part.told.size() && !full_; ++n) {
      const StoredTold note = part.told[n];
      const std::span<const std::byte> what(
          note.bytes.data(),
          std::min<std::size_t>(note.count, most_told)
      );
      if (told_.insert(std::string(bytes_of(what))).second) {
        full_ = !table_.tell(what);
      }
    }
    for (std::size_t n = 0; n < part.again.size(); ++n) {
      const StoredAgain again = part.again[n];
      if (is_there(again.state) && !left_out_.contains(again.state)) {
        again_.push_back(again);
        again_.back().state = now_[again.state];
      }
    }
    return !full_;
  }
  /// After all of them. Restored, a state is met again where this has left a claim open.
  void leave_open_what_is() {
    for (const StoredAgain& again : again_) {
      StoredState& state = states_[again.state];
      if (state.described != 0) {
        continue; // whoever has described it has claimed what he was asked for
      }
      ask_for_devices(again.state, again.device != 0);
      state.first_ways |= static_cast<std::uint8_t>(again.first);
      state.other_ways |= static_cast<std::uint8_t>(again.other);
      add_ways(again.state, {again.first >> narrow_ways, again.other >> narrow_ways});
    }
    for (const StateId s : table_.unclaimed()) {
      ask_for_devices(s, true);
      ++states_[s].claims;
    }
  }

  /// Some ranks are missing: nobody knows what else they had been asked for, so their claims will
  /// be made again; and only they may know a way to a state.
  void leave_open_what_is_missing() {
    std::vector<std::vector<StateId>> targets(header_.states);
    for (EdgeId e = 0; e < header_.edges; ++e) {
      if (claimers_[e] == no_rank) {
        edges_[e] = {};
      } else if (edges_[e].label != 0) {
        targets[edges_[e].from].push_back(edges_[e].to);
      }
    }
    std::vector<bool> reached(header_.states, false);
    for (std::vector<StateId> queue{0}; !queue.empty();) {
      const StateId s = queue.back();
      queue.pop_back();
      if (s < reached.size() && !reached[s]) {
        reached[s] = true;
        queue.insert(queue.end(), targets[s].begin(), targets[s].end());
      }
    }
    for (StateId s = 0; s < header_.states; ++s) {
      states_[s].claims += reached[s] ? 0 : 1;
    }
  }

  /// Of moves that several ranks have claimed; where some are missing, all stay if `open_stay`,
  /// since what the others have led to is known.
  void drop_edges_of_all_but_one(bool open_stay = false) {
    std::vector<std::uint8_t> first(header_.states, no_rank); // who has claimed moves of devices
    std::map<std::tuple<StateId, ThreadClass, bool>, std::uint8_t> first_of_way;
    std::vector<std::uint8_t> of_host(header_.texts, no_rank); // labels
    const auto is_host = [&](std::uint32_t label) {
      if (of_host[label] == no_rank) {
        of_host[label] = label_at(label).step == Step::Host ? 1 : 0;
      }
      return of_host[label] != 0;
    };
    const auto claim = [&](const ShortEdge& edge) -> std::uint8_t& {
      if (!is_host(edge.label)) {
        return first[edge.from];
      }
      const Label label = label_at(edge.label);
      return first_of_way.try_emplace({edge.from, label.who, label.is_other_way()}, no_rank)
          .first->second;
    };
    for (EdgeId e = 0; e < header_.edges; ++e) {
      if (edges_[e].label != 0) {
        std::uint8_t& lowest = claim(edges_[e]);
        lowest = std::min(lowest, claimers_[e]);
      }
    }
    for (EdgeId e = 0; e < header_.edges; ++e) {
      const bool stays = open_stay && !is_finished(states_[edges_[e].from]);
      if (edges_[e].label != 0 && !stays && claim(edges_[e]) != claimers_[e]) {
        edges_[e] = {};
      }
    }
  }
  std::size_t claimed_twice() const { return claimed_twice_; }

private:
  /// Whose claim an edge from a state belongs to. If what that rank has is missing, nothing says
  /// how many edges its claim has: then this one does not count.
  std::uint8_t claimer(std::uint32_t rank, StateId from) {
    const bool is_there = rank == 0 || (rank < files_.size() && files_[rank] >= 0);
    states_[from].missing += is_there ? 0 : 1;
    return is_there ? short_rank(rank) : no_rank;
  }
  void ask_for_devices(StateId s, bool asked) {
    if (asked && (devices_[s] & DevicesBits) == NotClaimed) {
      devices_[s] |= Claimed;
    }
  }
  void add_ways(StateId s, const StoredWays& ways) {
    if (ways.first != 0 || ways.other != 0) { // else no page is touched
      ways_[s].first |= ways.first;
      ways_[s].other |= ways.other;
    }
  }
  Label label_at(std::uint32_t id) const { return values_of<Label>(table_.text(id)).front(); }

  // --- Texts -------------------------------------------------------------------------------------
  std::uint32_t own(std::string_view text) {
    const auto id = table_.intern(text, Kept{});
    full_ = full_ || !id;
    return id.value_or(0);
  }
  /// One that holds no numbers.
  std::uint32_t text(std::uint32_t id) {
    if (id >= texts_.size()) {
      return 0;
    }
    if (texts_[id] == unknown) {
      texts_[id] = own(part_->text(id));
    }
    return texts_[id];
  }
  /// "12 7 ": numbers of texts.
  std::uint32_t list(std::uint32_t id) {
    std::string result;
    for (std::string_view rest = part_->text(id); !rest.empty();) {
      std::uint32_t site = 0;
      const auto [end, failure] = std::from_chars(rest.data(), rest.data() + rest.size(), site);
      if (failure != std::errc()) {
        break;
      }
      result += std::to_string(text(site)) + " ";
      rest.remove_prefix(std::min<std::size_t>(end - rest.data() + 1, rest.size()));
    }
    return result.empty() ? 0 : own(result);
  }
  std::uint32_t description(std::uint32_t id) {
    std::string bytes(part_->text(id));
    StoredDescription fixed{};
    if (bytes.size() < sizeof fixed) {
      return 0;
    }
    if (descriptions_[id] == unknown) {
      std::memcpy(&fixed, bytes.data(), sizeof fixed);
      fixed.host_site = text(fixed.host_site);
      fixed.waits = list(fixed.waits);
      std::memcpy(bytes.data(), &fixed, sizeof fixed);
      descriptions_[id] = own(bytes);
    }
    return descriptions_[id];
  }
  std::uint32_t label(std::uint32_t id) {
    if (!is_label(part_->text(id))) {
      return 0;
    }
    if (labels_[id] == unknown) {
      Label value = values_of<Label>(part_->text(id)).front();
      value.actor = value.actor < actors_.size() ? actors_[value.actor] : 0;
      value.changes = text(value.changes);
      value.site = text(value.site);
      labels_[id] = own(bytes_of(std::span<const Label>(&value, 1)));
    }
    return labels_[id];
  }

  /// Does the part have it? Others have no number here.
  bool is_there(StateId s) const {
    return s < part_->states.size() && part_->states[s].visited != NotVisited;
  }

  // --- What a part has ---------------------------------------------------------------------------
  std::optional<StateId> number_of(const StoredState& theirs) {
    if (theirs.visited == ToBeMetAgain) {
      return table_.know(theirs.hash); // which may be all that the rank has heard of it
    }
    const auto visit = table_.visit(theirs.hash, {});
    return visit ? std::optional(visit->id) : std::nullopt;
  }
  bool add_states() {
    now_.assign(part_->states.size(), 0);
    for (StateId s = 0; s < now_.size() && !full_; ++s) {
      const StoredState theirs = part_->states[s];
      if (theirs.visited == NotVisited) {
        continue;
      }
      const auto known = number_of(theirs);
      if (!known) { // a limit like any other
        left_out_.insert(s);
        continue;
      }
      now_[s] = *known;
      StoredState& state = states_[*known];
      if (theirs.described > state.described) {
        state.description = description(theirs.description);
        state.described = theirs.described;
      }
      state.missing = static_cast<std::int32_t>(
          static_cast<std::uint32_t>(state.missing) + static_cast<std::uint32_t>(theirs.missing)
      );
      state.claims = static_cast<std::uint16_t>(state.claims + theirs.claims);
      state.first_ways |= theirs.first_ways;
      state.other_ways |= theirs.other_ways;
      state.end = std::max(state.end, theirs.end);
      state.exit_status = std::max(state.exit_status, theirs.exit_status);
      add_claims(*known, part_->devices[s], part_->ways[s]);
    }
    if (!left_out_.empty()) {
      table_.note_limit_of_states();
    }
    return !full_;
  }
  void add_claims(StateId s, std::uint8_t devices, const StoredWays& ways) {
    const std::uint8_t own = devices_[s] & DevicesBits, theirs = devices & DevicesBits;
    claimed_twice_ += own == Claimed && theirs == Claimed ? 1 : 0;
    const std::uint8_t left = (devices_[s] | devices) & WaysElsewhere; // if somebody's are missing
    devices_[s] =
        static_cast<std::uint8_t>((theirs == Claimed || own == NotClaimed ? theirs : own) | left);
    add_ways(s, ways);
  }
  bool add_edges(std::size_t rank) {
    std::map<EdgeId, std::uint32_t> granted;
    for (std::size_t g = 0; g < part_->granted.size(); ++g) {
      granted[part_->granted[g].edge] = part_->granted[g].claimer;
    }
    for (EdgeId e = 0; e < part_->edges.size() && !full_; ++e) {
      const ShortEdge edge = part_->edges[e];
      if (edge.label == 0 || !is_there(edge.from) || !is_there(edge.to)) {
        continue;
      }
      if (left_out_.contains(edge.from)) {
        continue;
      }
      const std::uint32_t before = header_.edges;
      const StateId from = now_[edge.from];
      ++states_[from].missing; // it is not among those that are missing …
      if (left_out_.contains(edge.to)) {
        continue; // … but now it is
      }
      StoredProcess& process = table_.region<StoredProcess>(header_.processes_at)[0];
      table_.add_edge(ShortEdge{from, now_[edge.to], label(edge.label), edge.choice});
      if (header_.edges != before) {
        claimers_.resize(header_.edges, no_rank);
      }
      const auto known = granted.find(e);
      claimers_[process.next_edge - 1] =
          known != granted.end() ? claimer(known->second, from) : short_rank(rank);
    }
    return !full_;
  }
  void add_rest() {
    for (std::size_t e = 0; e < part_->events.size(); ++e) {
      const Event event = part_->events[e];
      if (left_out_.contains(event.from)) {
        continue; // nobody could go there
      }
      const StateId from = event.from < now_.size() ? now_[event.from] : 0;
      const std::uint32_t site = text(event.site), words = text(event.text);
      const auto* const events = table_.region<Event>(header_.events_at);
      const bool is_known = std::any_of(events, events + header_.events, [&](const Event& known) {
        return known.kind == event.kind && known.site == site && known.text == words &&
               known.from == from;
      });
      if (!is_known) {
        table_.add_event(event.kind, from, site, part_->text(event.text));
      }
    }
    table_.note_facts(part_->saved.facts);
    header_.irrevocable += part_->saved.irrevocable;
    header_.work += part_->saved.work;
    header_.computed += part_->saved.computed;
    for (std::size_t i = 0; i < header_.learned.size(); ++i) {
      header_.learned[i] |= part_->saved.learned[i];
    }
  }

  StateTable& table_;
  std::span<const int> files_;
  Header& header_;
  StoredState* states_;
  std::uint8_t* devices_;
  StoredWays* ways_;
  ShortEdge* edges_;
  const RankPart* part_ = nullptr;
  bool full_ = false;
  std::vector<std::uint32_t> texts_, descriptions_, labels_; // by number in the part
  std::vector<ActorId> actors_;
  std::vector<StateId> now_;
  std::unordered_set<StateId> left_out_; // states of the part that do not fit
  std::vector<std::uint8_t> claimers_;   // of each edge of the table
  std::size_t claimed_twice_ = 0;
  std::set<std::string> told_;
  std::vector<StoredAgain> again_;
};

Result<std::size_t> StateTable::take_in(std::span<const int> files) {
  Merger merger(*this, files);
  for (std::size_t rank = 0; rank < files.size(); ++rank) {
    if (files[rank] < 0) {
      continue;
    }
    RankPart part(files[rank]);
    if (!part.read()) {
      return input_error(fmt::format("what rank {} has found cannot be read", rank));
    }
    if (!merger.add(part, rank)) {
      distrust_all(); // edges may be missing anywhere
      return input_error("what the ranks have found is more than can be kept in mind");
    }
  }
  merger.drop_edges_of_all_but_one();
  return merger.claimed_twice();
}

Result<StateTable> StateTable::restore(std::span<const int> parts, Limits limits) {
  std::vector<std::unique_ptr<RankPart>> read(parts.size());
  std::uint64_t states = 0;
  bool all = true;
  for (std::size_t rank = 0; rank < parts.size(); ++rank) {
    if (parts[rank] < 0) {
      all = false;
      continue;
    }
    read[rank] = std::make_unique<RankPart>(parts[rank]);
    if (!read[rank]->read()) {
      return input_error("the checkpoint is damaged");
    }
    states += read[rank]->saved.states;
  }
  Limits limits_of_all = limits;
  limits_of_all.max_states = static_cast<std::uint32_t>(std::min<std::uint64_t>(states, 1U << 31));
  TRY(StateTable together, create(limits_of_all));
  Merger merger(together, parts);
  for (std::size_t rank = 0; rank < parts.size(); ++rank) {
    if (read[rank] == nullptr) {
      continue;
    }
    bool fits = merger.add(*read[rank], rank);
    if (fits) {
      fits = merger.keep_for_later(*read[rank]);
    }
    if (!fits) {
      return input_error("what the ranks have found is more than can be kept in mind");
    }
    read[rank].reset();
  }
  if (!all) {
    together.distrust_other_ranks();
    merger.leave_open_what_is_missing();
  }
  merger.leave_open_what_is();
  merger.drop_edges_of_all_but_one(/*open_stay=*/true);
  const int file = ::memfd_create("heddle-part", MFD_CLOEXEC);
  const bool is_saved = file >= 0 && together.save(file) && ::lseek(file, 0, SEEK_SET) == 0;
  auto restored = is_saved ? restore(file, limits)
                           : input_error("no memory is left for what the ranks have found");
  ::close(file);
  return restored;
}

void StateTable::distrust_all() {
  const Header& h = header();
  for (StateId s = 0; s < h.states; ++s) {
    ++region<StoredState>(h.states_at)[s].claims; // so none is expanded
  }
}

void StateTable::distrust_other_ranks() {
  Header& h = header();
  h.several = 1;
  auto* const states = region<StoredState>(h.states_at);
  const auto* const devices = region<std::uint8_t>(h.devices_at);
  for (StateId s = 0; s < h.states; ++s) {
    const std::uint8_t of_devices = devices[s] & DevicesBits;
    // Put off; it may have been met by several ranks, once by each.
    const bool put_off =
        of_devices == NotClaimed && states[s].visited != NotVisited && states[s].end == NoEnd;
    if (put_off || of_devices == ClaimedElsewhere || (devices[s] & WaysElsewhere) != 0) {
      ++states[s].claims; // so it is not expanded
    }
  }
}

std::size_t StateTable::left_unclaimed() const {
  return unclaimed().size();
}

std::vector<StateId> StateTable::unclaimed() const {
  const Header& h = header();
  const auto* const states = region<StoredState>(h.states_at);
  const auto* const devices = region<std::uint8_t>(h.devices_at);
  const auto* const edges = region<ShortEdge>(h.edges_at);
  // Distinct moves that lead to a state whose moves of devices are put off.
  std::set<std::tuple<StateId, StateId, ThreadClass, std::uint32_t, Step, bool>> arrivals;
  std::vector<StateId> result;
  for (EdgeId e = 0; e < h.edges; ++e) {
    const ShortEdge& edge = edges[e];
    if (edge.label == 0 || (devices[edge.to] & DevicesBits) != NotClaimed ||
        states[edge.to].end != NoEnd) {
      continue;
    }
    const Label label = values_of<Label>(text(edge.label)).front();
    arrivals.insert({edge.to, edge.from, label.who, label.count, label.step, label.is_other_way()});
  }
  StateId before = ~0U;
  std::size_t ways = 0;
  for (const auto& arrival : arrivals) {
    const StateId to = std::get<0>(arrival);
    ways = to == before ? ways + 1 : (to == 0 ? 2 : 1); // the search begins in the first one
    if (ways == 2) {
      result.push_back(to);
    }
    before = to;
  }
  for (StateId s = 0; s < h.states; ++s) {
    const bool left = (devices[s] & DevicesBits) == ClaimedElsewhere;
    if (states[s].visited != NotVisited && left) {
      result.push_back(s);
    }
  }
  return result;
}

} // namespace heddle::explore
