// Implements rank_model.h: breadth first over situations. One step is one of
//   - a process makes its next move, gives a piece away, or begins to wait;
//   - a message arrives;
//   - a rank's link has its turn (rank_work.h), while its process goes on between any two looks.
// That a claim of another rank is known is chosen wherever a rank looks for it: so it may be late,
// be lost, or be forgotten. Between a rank's telling of a claim and its next look, processes of
// others may make a step.
#include "rank_model.h"

#include "base/check.h"
#include "explore/ranks/claim_rule.h"
#include "explore/ranks/rank_work.h"

#include <algorithm>
#include <bit>
#include <chrono>
#include <cstring>
#include <deque>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <utility>

namespace heddle::explore {

// --- Systems -------------------------------------------------------------------------------------

unsigned SmallSystem::moves() const {
  unsigned count = 0;
  for (unsigned s = 0; s < states; ++s) {
    count += static_cast<unsigned>(std::popcount(device[s])) + (way[s] != none ? 1 : 0);
  }
  return count;
}

std::string SmallSystem::text() const {
  std::string text = always ? "always: " : "";
  for (unsigned s = 0; s < states; ++s) {
    text += std::to_string(s) + ":";
    for (unsigned t = 0; t < states; ++t) {
      text += (device[s] >> t & 1) != 0 ? " " + std::to_string(t) : "";
    }
    text += (way[s] != none ? " host " + std::to_string(way[s]) : "") + "; ";
  }
  return text;
}

bool SmallSystem::is_wanted() const {
  unsigned met = 1;
  for (unsigned n = 0; n < states; ++n) {
    for (unsigned s = 0; s < states; ++s) {
      if ((met >> s & 1) != 0) {
        met |= device[s] | (way[s] != none ? 1U << way[s] : 0);
      }
    }
  }
  if (met != (1U << states) - 1) {
    return false;
  }
  std::array<std::uint8_t, most> name{0, 1, 2, 3};
  const auto key = [](const SmallSystem& s) { return std::pair(s.device, s.way); };
  while (std::next_permutation(name.begin() + 1, name.begin() + states)) {
    SmallSystem other;
    other.states = states;
    for (unsigned s = 0; s < states; ++s) {
      for (unsigned t = 0; t < states; ++t) {
        other.device[name[s]] |= (device[s] >> t & 1) != 0 ? 1U << name[t] : 0;
      }
      other.way[name[s]] = way[s] != none ? name[way[s]] : none;
    }
    if (key(other) < key(*this)) {
      return false;
    }
  }
  return true;
}

std::vector<SmallSystem> small_systems(unsigned states, unsigned moves) {
  const unsigned sets = 1U << states, all = sets * (states + 1);
  std::vector<SmallSystem> found;
  std::uint64_t count = 1;
  for (unsigned s = 0; s < states; ++s) {
    count *= all;
  }
  for (std::uint64_t n = 0; n < count; ++n) {
    SmallSystem system;
    system.states = states;
    std::uint64_t rest = n;
    for (unsigned s = 0; s < states; ++s, rest /= all) {
      system.device[s] = static_cast<std::uint8_t>(rest % all % sets);
      const auto way = static_cast<std::uint8_t>(rest % all / sets);
      system.way[s] = way < states ? way : SmallSystem::none;
    }
    if (system.moves() <= moves && system.is_wanted()) {
      found.push_back(system);
      system.always = true;
      found.push_back(system);
    }
  }
  return found;
}

namespace {

using Moves = std::uint32_t; // as bits: to t from s by a device s * most + t, by the host 16 + s
constexpr unsigned most = SmallSystem::most, most_ranks = 3, first_way = most * most;

Moves device_move(unsigned from, unsigned to) {
  return Moves{1} << (from * most + to);
}
Moves way_of(unsigned from) {
  return Moves{1} << (first_way + from);
}

/// What is chosen in one step: all runs of it, one after the other.
class Oracle {
public:
  unsigned choose(unsigned count) {
    if (at_ == chosen_.size()) {
      chosen_.push_back({0, count});
    }
    return chosen_[at_++].first;
  }
  /// False: that was the last one.
  bool next() {
    at_ = 0;
    while (!chosen_.empty() && chosen_.back().first + 1 == chosen_.back().second) {
      chosen_.pop_back();
    }
    if (!chosen_.empty()) {
      ++chosen_.back().first;
    }
    return !chosen_.empty();
  }

private:
  std::vector<std::pair<unsigned, unsigned>> chosen_;
  std::size_t at_ = 0;
};

struct ModelNode {
  std::uint8_t state = 0, claimer = 0;
  bool by_way = false; // the host went here: the process cannot go back, or give what is before
  Moves open = 0;
};

enum class ModelMail : std::uint8_t {
  AtWork,
  Idle,
  Full,
  Over
};
enum class ModelOffer : std::uint8_t {
  NotAsked,
  Asked,
  Given
};

struct ModelRank {
  // The table.
  std::uint8_t visited = 0, claimed = 0, elsewhere = 0, ways = 0;
  std::array<Moves, most_ranks> made{}; // by who has claimed them
  Moves arrived = 0;                    // moves that have led somewhere
  std::uint8_t told = 0, told_ways = 0; // claims, by state
  // The process.
  std::vector<ModelNode> path;
  // The board.
  ModelMail mail = ModelMail::AtWork;
  ModelOffer offer = ModelOffer::NotAsked;
  std::string inbox, outbox;
  WorkOfRank work;
  std::deque<std::string> to_zero, from_zero; // messages: a letter, and a piece
};

std::string encode_piece(const std::vector<ModelNode>& nodes) {
  std::string text;
  for (const ModelNode& node : nodes) {
    text += static_cast<char>(node.state);
    text += static_cast<char>(node.claimer);
    text.append(reinterpret_cast<const char*>(&node.open), sizeof node.open);
  }
  return text;
}

std::vector<ModelNode> decode_piece(std::string_view text) {
  std::vector<ModelNode> nodes;
  for (; !text.empty(); text.remove_prefix(2 + sizeof(Moves))) {
    ModelNode& node = nodes.emplace_back();
    node.state = static_cast<std::uint8_t>(text[0]);
    node.claimer = static_cast<std::uint8_t>(text[1]);
    std::memcpy(&node.open, text.data() + 2, sizeof node.open);
  }
  return nodes;
}

} // namespace

/// All ranks at one moment.
struct RankSituation {
  std::vector<ModelRank> ranks;
  WorkOfAll all;
  bool serves = false, over = false;

  std::string key() const {
    std::string text;
    const auto add = [&](const std::string& part) {
      text += static_cast<char>(part.size());
      text += part;
    };
    for (const ModelRank& rank : ranks) {
      text.append(
          {static_cast<char>(rank.visited),
           static_cast<char>(rank.claimed),
           static_cast<char>(rank.elsewhere),
           static_cast<char>(rank.ways),
           static_cast<char>(rank.told),
           static_cast<char>(rank.told_ways),
           static_cast<char>(rank.mail),
           static_cast<char>(rank.offer),
           static_cast<char>(rank.work.said_idle())}
      );
      text.append(reinterpret_cast<const char*>(rank.made.data()), sizeof rank.made);
      text.append(reinterpret_cast<const char*>(&rank.arrived), sizeof rank.arrived);
      std::string ways;
      for (const ModelNode& node : rank.path) {
        ways += static_cast<char>(node.by_way);
      }
      add(encode_piece(rank.path));
      add(ways);
      add(rank.inbox);
      add(rank.outbox);
      for (const auto* queue : {&rank.work.pieces(), &rank.to_zero, &rank.from_zero}) {
        text += static_cast<char>(queue->size());
        std::ranges::for_each(*queue, add);
      }
    }
    for (int rank = 0; rank < static_cast<int>(ranks.size()); ++rank) {
      text += static_cast<char>(all.state(rank));
    }
    text += static_cast<char>(all.next_asked());
    text += static_cast<char>(all.pieces().size());
    std::ranges::for_each(all.pieces(), add);
    text += static_cast<char>(serves);
    return text;
  }
};

namespace {

/// One step, from a copy of a situation.
class RankStep {
public:
  RankStep(const SmallSystem& system, RankMutant mutant, RankSituation& now, Oracle& oracle)
      : system_(system),
        mutant_(mutant),
        now_(now),
        oracle_(oracle) {}

  bool can_move(unsigned number) const {
    const ModelRank& rank = now_.ranks[number];
    return !rank.path.empty() || rank.mail == ModelMail::AtWork || rank.mail == ModelMail::Full;
  }

  /// The process of a rank.
  void move(unsigned number, bool alone = false) {
    ModelRank& rank = now_.ranks[number];
    if (rank.path.empty()) {
      wait(number);
      return;
    }
    if (rank.offer == ModelOffer::Asked && can_give(rank) && oracle_.choose(2) == 1) {
      give(rank);
      return;
    }
    const ModelNode& node = rank.path.back();
    if (node.open == 0) {
      rank.path.pop_back();
      return;
    }
    // Ranks begin at different ends (Errands::begin_elsewhere).
    const auto bit = static_cast<unsigned>(
        number % 2 == 0 ? std::countr_zero(node.open) : std::bit_width(node.open) - 1
    );
    make(number, bit, alone);
  }

  /// A message from rank 0, or to it.
  void deliver_from_zero(unsigned number) {
    ModelRank& rank = now_.ranks[number];
    const std::string message = std::move(rank.from_zero.front());
    rank.from_zero.pop_front();
    if (message[0] == 'P') {
      rank.work.take(message.substr(1));
    } else if (rank.offer == ModelOffer::NotAsked) {
      rank.offer = ModelOffer::Asked;
    }
  }
  void deliver_to_zero(unsigned number) {
    ModelRank& rank = now_.ranks[number];
    const std::string message = std::move(rank.to_zero.front());
    rank.to_zero.pop_front();
    if (message[0] == 'P') {
      now_.all.heard_piece(static_cast<int>(number), message.substr(1));
    } else {
      now_.all.heard_idle(static_cast<int>(number));
    }
  }

  void turn(unsigned number) {
    Around around(*this, number);
    if (number != 0) {
      now_.ranks[number].work.turn(around);
    } else {
      // So late that whoever has been asked is asked again.
      static constexpr auto later = std::chrono::hours(1);
      now_.over = now_.all.turn(around, now_.serves, WorkOfAll::Clock::time_point() + later);
    }
  }

private:
  /// RankBoard and messages.
  class Around final : public AroundWork {
  public:
    Around(RankStep& step, unsigned number)
        : step_(step),
          number_(number),
          rank_(step.now_.ranks[number]) {}
    bool is_idle() override {
      go_on();
      return rank_.mail == ModelMail::Idle;
    }
    std::optional<std::string> take_given() override {
      go_on();
      if (rank_.offer != ModelOffer::Given) {
        return std::nullopt;
      }
      rank_.offer = ModelOffer::NotAsked;
      return std::exchange(rank_.outbox, {});
    }
    void put(std::string_view piece) override {
      HEDDLE_CHECK(rank_.mail == ModelMail::Idle, "a piece of work that nobody waits for");
      rank_.inbox = piece;
      rank_.mail = ModelMail::Full;
    }
    void ask() override {
      if (rank_.offer == ModelOffer::NotAsked) {
        rank_.offer = ModelOffer::Asked;
      }
    }
    void ask_no_more() override {
      if (rank_.offer == ModelOffer::Asked) {
        rank_.offer = ModelOffer::NotAsked;
      }
    }
    void end() override {}
    void send_piece(int to, std::string_view piece) override {
      (number_ == 0 ? step_.now_.ranks[static_cast<std::size_t>(to)].from_zero : rank_.to_zero)
          .push_back("P" + std::string(piece));
    }
    void send_wish(int to) override {
      auto& queue = step_.now_.ranks[static_cast<std::size_t>(to)].from_zero;
      if (queue.empty() || queue.back() != "W") { // another one changes nothing
        queue.emplace_back("W");
      }
    }
    void send_idle() override { rank_.to_zero.emplace_back("I"); }

  private:
    /// The process goes on between two looks.
    void go_on() {
      while (looks_ != 0 && step_.can_move(number_) && step_.oracle_.choose(2) == 1) {
        step_.move(number_, /*alone=*/true);
      }
      ++looks_;
    }

    RankStep& step_;
    unsigned number_;
    ModelRank& rank_;
    unsigned looks_ = 0;
  };

  /// What keep_ours() and done_somewhere() see of the other ranks.
  struct Board {
    RankStep& step;
    unsigned number;
    bool alone; // nobody makes a step meanwhile

    static std::pair<unsigned, bool> read(const RankStep& step, const Hash128& claim) {
      for (unsigned s = 0; s < step.system_.states; ++s) {
        if (claim == claim_of_devices(name(s))) {
          return {s, false};
        }
        if (claim == claim_of_way(name(s), 0, /*first=*/true)) {
          return {s, true};
        }
      }
      HEDDLE_CHECK(false, "a claim of no state");
      return {};
    }
    bool is_elsewhere(const Hash128& claim) {
      const auto count = static_cast<unsigned>(step.now_.ranks.size());
      for (unsigned r = 0; r < count && !alone; ++r) {
        if (r != number && step.can_move(r) && step.oracle_.choose(2) == 1) {
          step.move(r, /*alone=*/true);
        }
      }
      const auto [state, is_way] = read(step, claim);
      bool some = false;
      for (unsigned r = 0; r < count; ++r) {
        const ModelRank& rank = step.now_.ranks[r];
        some = some || (r != number && ((is_way ? rank.told_ways : rank.told) >> state & 1) != 0);
      }
      return some && step.oracle_.choose(2) == 1; // late, lost, or forgotten
    }
    void announce(const Hash128& claim) {
      const auto [state, is_way] = read(step, claim);
      ModelRank& rank = step.now_.ranks[number];
      std::uint8_t& told = is_way ? rank.told_ways : rank.told;
      told = static_cast<std::uint8_t>(told | 1U << state);
    }
  };

  /// StateTable, as the rule sees it.
  struct Table {
    ModelRank& rank;
    static unsigned number(const Hash128& hash) { return static_cast<unsigned>(hash.high) - 1; }
    std::optional<StateId> find_done(const Hash128& hash) const {
      const unsigned s = number(hash);
      return ((rank.claimed | rank.elsewhere) >> s & 1) != 0 ? std::optional<StateId>(s)
                                                             : std::nullopt;
    }
    std::optional<StateId> know(const Hash128& hash) const { return number(hash); }
    void note_elsewhere(StateId s) const {
      if ((rank.claimed >> s & 1) == 0) {
        rank.elsewhere = static_cast<std::uint8_t>(rank.elsewhere | 1U << s);
      }
    }
    void leave_elsewhere(StateId s) const {
      rank.claimed = static_cast<std::uint8_t>(rank.claimed & ~(1U << s));
      rank.elsewhere = static_cast<std::uint8_t>(rank.elsewhere | 1U << s);
    }
    void leave_ways_elsewhere(StateId) const {} // nobody here claims them again
  };

  static Hash128 name(unsigned state) {
    return {(state + 1) * 0x9e37'79b9'7f4a'7c14ULL, state + 1};
  }

  void wait(unsigned number) {
    ModelRank& rank = now_.ranks[number];
    if (number == 0 && !now_.serves) {
      now_.serves = true; // another process takes its place
    } else if (rank.mail == ModelMail::AtWork) {
      rank.mail = ModelMail::Idle;
    } else {
      rank.mail = ModelMail::AtWork;
      rank.path = decode_piece(std::exchange(rank.inbox, {}));
      const Table table{rank};
      for (const ModelNode& node : rank.path) {
        // The way goes on by a move of a device, or some are in the piece: they have been claimed.
        if (&node != &rank.path.back() || (node.open & (way_of(0) - 1)) != 0) {
          table.note_elsewhere(node.state);
        }
      }
    }
  }

  // --- Work to give away, as Shares::halve() and piece_of_work() -------------------------------
  static std::size_t base_of(const ModelRank& rank) {
    std::size_t base = rank.path.size() - 1;
    while (base != 0 && !rank.path[base].by_way) {
      --base;
    }
    return base;
  }
  static unsigned to_give(const ModelRank& rank, std::size_t n) {
    const auto open = static_cast<unsigned>(std::popcount(rank.path[n].open));
    return open - (n + 1 == rank.path.size() && open != 0 ? 1 : 0);
  }
  static bool can_give(const ModelRank& rank) {
    for (std::size_t n = base_of(rank); n < rank.path.size(); ++n) {
      if (to_give(rank, n) != 0) {
        return true;
      }
    }
    return false;
  }
  static void give(ModelRank& rank) {
    unsigned all = 0;
    const std::size_t base = base_of(rank);
    for (std::size_t n = base; n < rank.path.size(); ++n) {
      all += to_give(rank, n);
    }
    unsigned wanted = (all + 1) / 2;
    std::vector<ModelNode> piece;
    std::size_t last = 0;
    for (std::size_t n = base; n < rank.path.size(); ++n) {
      ModelNode& node = rank.path[n];
      ModelNode given = node;
      given.open = 0;
      for (unsigned could = to_give(rank, n); could != 0 && wanted != 0; --could, --wanted) {
        const Moves one = std::bit_floor(node.open);
        node.open &= ~one;
        given.open |= one;
        last = n - base;
      }
      given.by_way = false;
      piece.push_back(given);
    }
    piece.resize(last + 1);
    rank.outbox = encode_piece(piece);
    rank.offer = ModelOffer::Given;
  }

  // --- Moves -------------------------------------------------------------------------------------
  void make(unsigned number, unsigned bit, bool alone) {
    ModelRank& rank = now_.ranks[number];
    ModelNode& node = rank.path.back();
    const bool by_host = bit >= first_way;
    const unsigned to = by_host ? system_.way[bit - first_way] : bit % most;
    node.open &= ~(Moves{1} << bit);
    rank.made[node.claimer] |= Moves{1} << bit;
    rank.arrived |= Moves{1} << bit;
    Board board{*this, number, alone};
    Table table{rank};
    if (!by_host && done_somewhere(board, table, name(to), mutant_)) {
      return;
    }
    arrive(number, to, by_host, alone);
  }

public:
  void arrive(unsigned number, unsigned state, bool by_host, bool alone) {
    ModelRank& rank = now_.ranks[number];
    const auto bit = static_cast<std::uint8_t>(1U << state);
    const bool first = (rank.visited & bit) == 0;
    rank.visited = static_cast<std::uint8_t>(rank.visited | bit);
    const bool is_asked = (by_host || system_.always) && system_.way[state] != SmallSystem::none;
    // Moves of devices are put off where the host goes on ([RED-HOST-FIRST]).
    const bool device = !(first && is_asked);
    Choices granted;
    if (device && ((rank.claimed | rank.elsewhere) & bit) == 0) {
      rank.claimed = static_cast<std::uint8_t>(rank.claimed | bit);
      granted.device = true;
    }
    if (is_asked && (rank.ways & bit) == 0) {
      rank.ways = static_cast<std::uint8_t>(rank.ways | bit);
      granted.first_ways = 1;
    }
    if (granted.none()) {
      return;
    }
    Board board{*this, number, alone};
    Table table{rank};
    granted = keep_ours(board, table, name(state), state, /*threads=*/1, granted, mutant_);
    ModelNode node;
    node.state = static_cast<std::uint8_t>(state);
    node.claimer = static_cast<std::uint8_t>(number);
    node.by_way = by_host;
    for (unsigned t = 0; granted.device && t < system_.states; ++t) {
      node.open |= (system_.device[state] >> t & 1) != 0 ? device_move(state, t) : 0;
    }
    node.open |= granted.first_ways != 0 ? way_of(state) : 0;
    rank.path.push_back(node);
  }

private:
  const SmallSystem& system_;
  RankMutant mutant_;
  RankSituation& now_;
  Oracle& oracle_;
};

/// What is wrong with saying now that the search is over; empty: nothing. `is_void`: one rank makes
/// it again.
std::string problem_of_end(const SmallSystem& system, const RankSituation& now, bool& is_void) {
  unsigned claimed = 0, elsewhere = 0;
  Moves arrived = 0;
  std::array<Moves, most_ranks> made{};
  for (std::size_t r = 0; r < now.ranks.size(); ++r) {
    const ModelRank& rank = now.ranks[r];
    if (!rank.path.empty() || rank.mail == ModelMail::Full || rank.offer == ModelOffer::Given ||
        !rank.work.pieces().empty() ||
        std::ranges::any_of(rank.to_zero, [](const std::string& m) { return m[0] == 'P'; }) ||
        std::ranges::any_of(rank.from_zero, [](const std::string& m) { return m[0] == 'P'; })) {
      return "rank " + std::to_string(r) + " has work when the search is said to be over";
    }
    claimed |= rank.claimed;
    elsewhere |= rank.elsewhere;
    arrived |= rank.arrived;
    for (std::size_t c = 0; c < made.size(); ++c) {
      made[c] |= rank.made[c];
    }
  }
  if (!now.all.pieces().empty()) {
    return "a piece is left with rank 0";
  }
  if ((elsewhere & ~claimed) != 0) {
    return "moves are left to a claim that nobody has made";
  }
  // Who has claimed moves has made all of them, or others have for him: the edges of one claim are
  // kept (StateTable::take_in).
  for (unsigned s = 0; s < system.states; ++s) {
    Moves all = 0;
    for (unsigned t = 0; t < system.states; ++t) {
      all |= (system.device[s] >> t & 1) != 0 ? device_move(s, t) : 0;
    }
    for (std::size_t r = 0; r < now.ranks.size(); ++r) {
      if (((now.ranks[r].claimed >> s & 1) != 0 && (made[r] & all) != all)) {
        return "not all moves of state " + std::to_string(s) + " have been made for rank " +
               std::to_string(r);
      }
    }
  }
  // What one process finds: a least fixed point of states and what is asked for in them.
  Moves expected = 0;
  std::uint8_t met = 1; // the program begins by an arrival of the host
  std::uint8_t asked = system.always ? 0xff : 1;
  std::array<unsigned, most> arrivals{1};
  for (bool more = true; std::exchange(more, false);) {
    for (unsigned s = 0; s < system.states; ++s) {
      if ((met >> s & 1) == 0) {
        continue;
      }
      const bool is_put_off = (asked >> s & 1) != 0 && system.way[s] != SmallSystem::none;
      bool is_wanted = !is_put_off || arrivals[s] > 1;
      for (unsigned from = 0; !system.always && from < system.states; ++from) {
        is_wanted = is_wanted || (expected & device_move(from, s)) != 0;
      }
      Moves mine = is_put_off ? way_of(s) : 0;
      if (is_wanted) {
        for (unsigned t = 0; t < system.states; ++t) {
          mine |= (system.device[s] >> t & 1) != 0 ? device_move(s, t) : 0;
        }
      }
      const Moves fresh = mine & ~expected;
      expected |= mine;
      more = more || fresh != 0;
      for (unsigned t = 0; t < system.states; ++t) {
        if ((fresh & device_move(s, t)) != 0) {
          met = static_cast<std::uint8_t>(met | 1U << t);
          ++arrivals[t];
        }
      }
      if ((fresh & way_of(s)) != 0) {
        met = static_cast<std::uint8_t>(met | 1U << system.way[s]);
        asked = static_cast<std::uint8_t>(asked | 1U << system.way[s]);
        ++arrivals[system.way[s]];
      }
    }
  }
  if (arrived == expected) {
    return "";
  }
  // StateTable::left_unclaimed()
  for (unsigned s = 0; s < system.states; ++s) {
    unsigned count = s == 0 ? 1 : 0;
    for (unsigned from = 0; from < system.states; ++from) {
      count += (arrived & device_move(from, s)) != 0 ? 1 : 0;
      count += (arrived & way_of(from)) != 0 && system.way[from] == s ? 1 : 0;
    }
    if ((claimed >> s & 1) == 0 && count > 1) {
      is_void = true;
      return "";
    }
  }
  return "moves " + std::to_string(expected & ~arrived) + " (bits) have not been made";
}

} // namespace

RankModel::Result RankModel::run(bool serves) const {
  Result result;
  RankSituation first{
      .ranks = std::vector<ModelRank>(ranks_),
      .all = WorkOfAll(static_cast<int>(ranks_), mutant_)
  };
  for (ModelRank& rank : first.ranks) {
    rank.work = WorkOfRank(mutant_);
  }
  first.serves = serves;
  {
    Oracle none;
    RankStep(system_, mutant_, first, none).arrive(0, 0, /*by_host=*/true, /*alone=*/true);
  }
  std::unordered_map<std::string, std::uint32_t> known{{first.key(), 0}};
  std::vector<RankSituation> open{first};
  std::vector<std::uint32_t> numbers{0}, ends;
  std::vector<std::vector<std::uint32_t>> before(1); // of each: from which it is reached
  const auto meet = [&](const RankSituation& now, std::uint32_t from) {
    if (now.over) {
      bool is_void = false;
      result.problem = problem_of_end(system_, now, is_void);
      result.ends += 1;
      result.void_ends += is_void ? 1 : 0;
      ends.push_back(from);
      return;
    }
    const auto [at, is_new] =
        known.try_emplace(now.key(), static_cast<std::uint32_t>(known.size()));
    if (is_new) {
      open.push_back(now);
      numbers.push_back(at->second);
      before.emplace_back();
    }
    if (at->second != from) {
      before[at->second].push_back(from);
    }
  };
  while (!open.empty() && result.problem.empty()) {
    const RankSituation now = std::move(open.back());
    const std::uint32_t number = numbers.back();
    open.pop_back();
    numbers.pop_back();
    const auto all_ways = [&](const auto& act) {
      Oracle oracle;
      do {
        RankSituation next = now;
        RankStep step(system_, mutant_, next, oracle);
        act(step);
        meet(next, number);
      } while (oracle.next() && result.problem.empty());
    };
    for (unsigned r = 0; r < ranks_ && result.problem.empty(); ++r) {
      Oracle none;
      RankSituation copy = now;
      if (RankStep(system_, mutant_, copy, none).can_move(r)) {
        all_ways([&](RankStep& step) { step.move(r); });
      }
      if (!now.ranks[r].from_zero.empty()) {
        all_ways([&](RankStep& step) { step.deliver_from_zero(r); });
      }
      if (!now.ranks[r].to_zero.empty()) {
        all_ways([&](RankStep& step) { step.deliver_to_zero(r); });
      }
      all_ways([&](RankStep& step) { step.turn(r); });
    }
  }
  result.situations = known.size();
  if (!result.problem.empty()) {
    return result;
  }
  // From each situation the search can end.
  std::vector<bool> can_end(known.size());
  for (std::size_t n = 0; n < ends.size(); ++n) {
    const std::uint32_t at = ends[n];
    if (!can_end[at]) {
      can_end[at] = true;
      ends.insert(ends.end(), before[at].begin(), before[at].end());
    }
  }
  if (std::ranges::find(can_end, false) != can_end.end()) {
    result.problem = "the search never ends";
  }
  return result;
}

} // namespace heddle::explore
