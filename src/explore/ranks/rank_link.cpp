// Implements rank_link.h. A message is one letter, the number of the attempt, and a body:
//   B what is searched    C claims             F facts, and what is learned   N notes of accesses
//   P a piece of work     W give one away      I idle                         A alive
//   L a limit was met     E it is over         T a piece of a table           D that was all of it
//   X told to end
//   G a piece of a table has been taken                                        Z it takes no work
// and for a checkpoint, each with the number of the cut:
//   H stand still and send what there is; 0: go on       S a piece of a table  K that was all, or
//   none
#include "explore/ranks/rank_link.h"

#include "base/check.h"
#include "explore/process/interruption.h"
#include "explore/process/pause.h"

#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstring>
#include <optional>
#include <utility>

namespace heddle::explore {

namespace {

using Clock = std::chrono::steady_clock;
constexpr auto tick = std::chrono::milliseconds(1);
constexpr std::size_t most_messages_at_once = 256, most_claims_at_once = 1 << 16;
// After an interruption. A launcher kills its ranks a second later.
constexpr auto patience_of_the_interrupted = std::chrono::milliseconds(700);

template <class T> std::string_view bytes_of_value(const T& value) {
  return {reinterpret_cast<const char*>(&value), sizeof value};
}
std::string_view as_text(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}
std::span<const std::byte> as_bytes(std::string_view text) {
  return {reinterpret_cast<const std::byte*>(text.data()), text.size()};
}

/// At the beginning of a message.
std::uint32_t number_in(std::string_view body) {
  std::uint32_t number = 0;
  if (body.size() >= sizeof number) {
    std::memcpy(&number, body.data(), sizeof number);
  }
  return number;
}

struct Facts {
  std::uint64_t facts = 0;
  reduce::Learned learned;
};

} // namespace

/// The board of this rank, and messages. A piece, and that a rank is idle, are sent behind all that
/// it has found out before.
class RankLink::Around final : public AroundWork {
public:
  explicit Around(RankLink& link) : link_(link), board_(link.of_.board) {}
  bool is_idle() override { return board_.is_idle(); }
  std::optional<std::string> take_given() override {
    const auto given = board_.take_given();
    if (!given) {
      return std::nullopt;
    }
    ++link_.cost_.pieces;
    return std::string(as_text(*given));
  }
  void put(std::string_view piece) override { board_.put(as_bytes(piece)); }
  void ask() override { board_.ask(); }
  void ask_no_more() override { board_.ask_no_more(); }
  void end() override {
    link_.ended_ = true;
    board_.end();
  }
  void send_piece(int to, std::string_view piece) override {
    link_.exchange();
    link_.send(to, 'P', piece);
  }
  void send_wish(int to) override { link_.send(to, 'W'); }
  void send_idle() override {
    link_.exchange();
    link_.send(0, 'I');
  }

private:
  RankLink& link_;
  RankBoard board_;
};

RankLink::RankLink(Peers& peers, Of of)
    : peers_(peers),
      of_(std::move(of)),
      around_(std::make_unique<Around>(*this)),
      work_of_all_(peers.size()),
      tally_(peers.size()),
      cut_(peers.size()),
      others_(static_cast<std::size_t>(peers.size())) {
  begun_ = !leads();
  starting_ = peers.size() - 1;
  parts_.resize(others_.size(), -1);
  claims_ = std::exchange(of_.claims, {});
  std::ranges::for_each(claims_, [&](const Hash128& claim) { tally_.claimed(claim); });
}

RankLink::~RankLink() {
  if (thread_.joinable()) {
    finish("");
  }
  for (const int fd : parts_) {
    if (fd >= 0) {
      ::close(fd);
    }
  }
}

void RankLink::start() {
  thread_ = std::thread([this] { run(); });
}

// --- Messages ------------------------------------------------------------------------------------

void RankLink::send(int to, char kind, std::string_view body) {
  std::string message(1, kind);
  message += bytes_of_value(of_.attempt);
  message += body;
  ++cost_.messages;
  cost_.bytes += message.size();
  peers_.send(to, message);
}

void RankLink::send_to_others(char kind, std::string_view body, int except) {
  for (int rank = 0; rank < peers_.size(); ++rank) {
    if (rank != peers_.rank() && rank != except) {
      send(rank, kind, body);
    }
  }
}

void RankLink::receive() {
  for (std::size_t n = 0; n < most_messages_at_once; ++n) {
    const auto message = peers_.receive();
    if (!message) {
      return;
    }
    std::string_view bytes = message->bytes;
    std::uint32_t attempt = 0;
    if (bytes.size() < 1 + sizeof attempt) {
      continue;
    }
    std::memcpy(&attempt, bytes.data() + 1, sizeof attempt);
    if (attempt != of_.attempt) {
      continue; // a claim that was long under way
    }
    others_[static_cast<std::size_t>(message->from)].heard = Clock::now();
    take(message->from, bytes.front(), bytes.substr(1 + sizeof attempt));
  }
}

/// Of another rank.
void RankLink::note_claims(std::string_view body) {
  constexpr std::size_t ahead = 16;
  const std::size_t count = body.size() / sizeof(Hash128);
  const std::lock_guard hold(tally_mutex_);
  const auto claim = [&](std::size_t n) {
    Hash128 value;
    std::memcpy(&value, body.data() + n * sizeof value, sizeof value);
    return value;
  };
  for (std::size_t n = 0; n < count; ++n) {
    if (n + ahead < count) {
      of_.board.fetch(claim(n + ahead));
    }
    of_.board.note_elsewhere(claim(n));
    if (leads()) {
      tally_.claimed(claim(n));
    }
  }
}

void RankLink::take(int from, char kind, std::string_view body) {
  switch (kind) {
  case 'C':
    note_claims(body);
    break;
  case 'F': {
    Facts facts;
    if (body.size() == sizeof facts) {
      std::memcpy(static_cast<void*>(&facts), body.data(), sizeof facts);
      of_.table.note_facts(facts.facts);
      of_.table.learn(facts.learned);
    }
    break;
  }
  case 'N':
    tell(body, from);
    break;
  case 'P':
    if (leads()) {
      work_of_all_.heard_piece(from, std::string(body));
    } else {
      work_.take(std::string(body));
    }
    break;
  case 'W':
    of_.board.ask();
    break;
  case 'E':
    unwanted_ = unwanted_ || !body.empty();
    stop();
    break;
  case 'G':
    ++parts_taken_;
    break;
  case 'H':
    cut_told_ = number_in(body);
    break;
  default:
    take_from(from, kind, body);
  }
}

/// Rank 0.
void RankLink::take_from(int from, char kind, std::string_view body) {
  Other& other = others_[static_cast<std::size_t>(from)];
  int& part = parts_[static_cast<std::size_t>(from)];
  switch (kind) {
  case 'I':
    has_started(from);
    work_of_all_.heard_idle(from);
    break;
  case 'Z':
    has_started(from);
    if (work_of_all_.state(from) == WorkOfAll::State::Busy && !is_void()) {
      note_problem("a rank's part of the search ended before it was over");
    }
    work_of_all_.gone(from);
    break;
  case 'L':
    has_started(from);
    note_problem(body);
    break;
  case 'X':
    has_started(from);
    if (Interruption::received() == 0) { // else all ranks were told
      told_to_end_ = body;
      ::kill(::getpid(), SIGTERM); // whoever ends one of the ranks means all of them
    }
    note_problem(body);
    break;
  case 'T':
    if (part < 0) {
      part = ::memfd_create("heddle-part", MFD_CLOEXEC);
    }
    send(from, 'G');
    while (!body.empty()) {
      const ssize_t some = ::write(part, body.data(), body.size());
      HEDDLE_CHECK(some > 0, "no memory for what rank {} has found", from);
      body.remove_prefix(static_cast<std::size_t>(some));
    }
    break;
  case 'S':
    send(from, 'G');
    cut_.add(from, number_in(body), body.substr(std::min(body.size(), sizeof(std::uint32_t))));
    break;
  case 'K':
    cut_.finish(from, number_in(body), body.size() > sizeof(std::uint32_t));
    break;
  case 'A': {
    RankTally::Part tally;
    if (body.size() == sizeof tally) {
      std::memcpy(&tally, body.data(), sizeof tally);
      const std::lock_guard hold(tally_mutex_);
      tally_.heard(from, tally);
    }
    break;
  }
  case 'D':
    other.ended = true;
    other.is_here = part >= 0;
    add_cost(body);
    break;
  default:
    break;
  }
}

/// Rank 0: the processes of another one are there, or have been.
void RankLink::has_started(int rank) {
  starting_ -= work_of_all_.state(rank) == WorkOfAll::State::Starts ? 1 : 0;
}

/// Rank 0: it will not be everything.
void RankLink::note_problem(std::string_view why) {
  if (problem_.empty()) {
    problem_ = why;
  }
  stop();
}

/// Rank 0: what another one has sent.
void RankLink::add_cost(std::string_view body) {
  Cost cost;
  if (body.size() == sizeof cost) {
    std::memcpy(&cost, body.data(), sizeof cost);
    cost_.messages += cost.messages;
    cost_.bytes += cost.bytes;
    cost_.claims += cost.claims;
    cost_.pieces += cost.pieces;
  }
}

/// Rank 0 passes it on to the others.
void RankLink::tell(std::string_view body, int from) {
  const auto number = of_.table.tell(as_bytes(body));
  if (number) {
    told_by_others_.push_back(*number);
  }
  if (leads()) {
    send_to_others('N', body, from);
  }
}

void RankLink::exchange_claims() {
  const std::vector<Hash128> fresh = of_.board.take_announced();
  claims_.insert(claims_.end(), fresh.begin(), fresh.end());
  if (leads()) {
    const std::lock_guard hold(tally_mutex_);
    std::ranges::for_each(fresh, [&](const Hash128& claim) { tally_.claimed(claim); });
  }
  if (!begun_ || claims_.empty()) {
    return;
  }
  cost_.claims += claims_.size();
  for (std::span<const Hash128> rest = claims_; !rest.empty();) {
    const auto some = rest.first(std::min(rest.size(), most_claims_at_once));
    send_to_others('C', {reinterpret_cast<const char*>(some.data()), some.size_bytes()});
    rest = rest.subspan(some.size());
  }
  claims_.clear();
}

/// What all have to know.
void RankLink::exchange() {
  exchange_claims();
  if (!begun_) {
    return;
  }
  for (; told_ < of_.table.told(); ++told_) {
    const auto known = std::ranges::find(told_by_others_, told_);
    if (known != told_by_others_.end()) {
      told_by_others_.erase(known);
      continue;
    }
    const std::string_view note = as_text(of_.table.told(told_));
    if (leads()) {
      send_to_others('N', note);
    } else {
      send(0, 'N', note);
    }
  }
  const Facts now{.facts = of_.table.facts(), .learned = of_.table.learned()};
  if (now.facts != facts_sent_ || now.learned != learned_sent_) {
    facts_sent_ = now.facts;
    learned_sent_ = now.learned;
    if (leads()) {
      send_to_others('F', bytes_of_value(now));
    } else {
      send(0, 'F', bytes_of_value(now));
    }
  }
}

// --- Rank 0 --------------------------------------------------------------------------------------

void RankLink::begin_if_large() {
  const std::lock_guard hold(mutex_);
  if (begun_ || !may_begin_ || of_.table.effort() < of_.states_alone ||
      of_.table.saw(Fact::HostAllocates) || is_void()) {
    return;
  }
  begun_ = true;
  send_to_others('B', of_.begin);
  for (Other& other : others_) {
    other.heard = Clock::now();
  }
}

void RankLink::await_others() {
  const auto end = Clock::now() + silence_of_the_dead;
  while (starting_ != 0 && Clock::now() < end && Interruption::received() == 0) {
    std::this_thread::sleep_for(tick);
  }
}

bool RankLink::own_search_over() {
  const std::lock_guard hold(mutex_);
  may_begin_ = false;
  serves_ = begun_;
  return begun_;
}

bool RankLink::is_void() const {
  const auto facts = {
      Fact::SumsClash,
      Fact::Refuted,
      Fact::HostClash,
      Fact::GaveUp,
      Fact::Unrepeatable,
      Fact::OutOfStates,
      Fact::HostAllocates
  };
  return std::ranges::any_of(facts, [&](Fact fact) { return of_.table.saw(fact); }) ||
         (of_.starts_at_once && of_.table.saw(Fact::Circle));
}

void RankLink::lead() {
  begin_if_large();
  if (!begun_) {
    return;
  }
  bool serves = false;
  {
    const std::lock_guard hold(mutex_);
    serves = serves_;
  }
  if (!stopped_ && tally_.are_more_than(of_.max_states)) {
    of_.table.note_limit_of_states();
  }
  if (is_void() && !stopped_) {
    stop();
  }
  if (stopped_) {
    if (serves && of_.board.is_idle() && !std::exchange(ended_, true)) {
      of_.board.end();
    }
    return;
  }
  const auto now = Clock::now();
  for (std::size_t rank = 1; rank < others_.size(); ++rank) {
    if (now - others_[rank].heard > silence_of_the_dead) {
      give_up(static_cast<int>(rank));
      stop(); // nobody knows what it has done
      of_.end_all();
      return;
    }
  }
  if (work_of_all_.turn(*around_, serves, now)) {
    stop();
  }
}

/// It has been silent.
void RankLink::give_up(int rank) {
  lost_ = true;
  peers_.lose(rank);
  others_[static_cast<std::size_t>(rank)].ended = true;
  send(rank, 'E', "-"); // it may only have been slow
}

/// Rank 0: until all tables are here, or somebody is silent, or it takes too long after an
/// interruption.
void RankLink::collect() {
  std::optional<Clock::time_point> end;
  for (;;) {
    receive();
    if (!end && Interruption::received() != 0) {
      end = Clock::now() + patience_of_the_interrupted;
    }
    bool all = true;
    for (std::size_t rank = 1; rank < others_.size(); ++rank) {
      Other& other = others_[rank];
      if (!other.ended && Clock::now() - other.heard > silence_of_the_dead) {
        give_up(static_cast<int>(rank));
      }
      all = all && other.ended;
    }
    if (all || !peers_.are_reachable()) {
      return;
    }
    if (end && Clock::now() >= *end) {
      send_to_others('E', "-");
      return;
    }
    std::this_thread::sleep_for(tick / 10);
  }
}

std::size_t RankLink::parts_missing() const {
  return static_cast<std::size_t>(std::ranges::count(parts_, -1)) - 1;
}

void RankLink::add_others(Progress& progress) {
  const std::lock_guard hold(tally_mutex_);
  const RankTally::Part others = tally_.of_others();
  progress.states = std::max(progress.states, tally_.states());
  progress.depth = std::max(progress.depth, others.depth);
  progress.open_moves += others.open_moves;
  progress.processes += others.processes;
  progress.explored = std::max(progress.explored - others.open_share, 0.0);
}

// --- The others ----------------------------------------------------------------------------------

void RankLink::follow() {
  if (stopped_) {
    if (std::exchange(ended_, true)) {
      return; // its processes are about to end
    }
    if (of_.board.is_idle()) {
      of_.board.end();
    } else {
      of_.end_all();
    }
    return;
  }
  work_.turn(*around_);
}

// --- Both ----------------------------------------------------------------------------------------

void RankLink::stop() {
  if (stopped_.exchange(true)) {
    return;
  }
  if (leads() && begun_) {
    send_to_others('E', lost_ ? "-" : "");
  }
}

void RankLink::show_life() {
  if (Clock::now() >= next_sign_) {
    const StateTable::Frontier now = of_.table.frontier();
    const RankTally::Part part{
        .depth = now.depth,
        .open_moves = now.queue,
        .processes = now.processes,
        .open_share = 1 - now.explored
    };
    send(0, 'A', bytes_of_value(part));
    next_sign_ = Clock::now() + between_signs_of_life;
  }
}

void RankLink::run() {
  while (!quit_) {
    if (begun_) {
      receive();
    }
    exchange();
    if (leads()) {
      pass_on_cut();
      lead();
    } else {
      follow();
      stand_still();
      show_life();
    }
    std::this_thread::sleep_for(tick);
  }
}

// --- A checkpoint --------------------------------------------------------------------------------

std::optional<std::vector<int>> RankLink::cut() {
  {
    const std::lock_guard hold(mutex_);
    if (!begun_) {
      return std::vector<int>();
    }
  }
  cut_.begin();
  while (!cut_.is_over()) {
    if (stopped_ || Interruption::received() != 0) {
      return std::nullopt; // what is kept then is kept in the end
    }
    std::this_thread::sleep_for(tick / 10);
  }
  return cut_.copies();
}

/// Rank 0: to the others, once they have heard of the search.
void RankLink::pass_on_cut() {
  const std::uint32_t wanted = cut_.wanted();
  if (begun_ && std::exchange(cut_told_, wanted) != wanted) {
    send_to_others('H', bytes_of_value(wanted));
  }
}

/// Another rank, if rank 0 wants it to.
void RankLink::stand_still() {
  const std::uint32_t number = cut_told_;
  if (number == 0 || stopped_) {
    return;
  }
  const auto is_wanted = [&] { return cut_told_ == number && !stopped_ && !unwanted_; };
  const pid_t leader = of_.leader();
  std::optional<Pause> pause;
  if (leader > 0) {
    pause.emplace(leader);
  }
  std::string answer(bytes_of_value(number));
  if ((!pause || pause->all_stopped()) && send_copy('S', answer, is_wanted)) {
    answer += '+';
  }
  send(0, 'K', answer);
  while (is_wanted() && !quit_) { // else its processes have ended
    receive();
    show_life();
    std::this_thread::sleep_for(tick / 10);
  }
  cut_told_ = cut_told_ == number ? 0 : cut_told_;
}

void RankLink::finish(const std::string& limit) {
  quit_ = true;
  thread_.join();
  if (!begun_) {
    return;
  }
  exchange();
  if (leads()) {
    stop();
    if (!lost_) {
      collect();
    }
    for (std::size_t rank = 1; rank < parts_.size(); ++rank) {
      if (!others_[rank].is_here && parts_[rank] >= 0) {
        ::close(std::exchange(parts_[rank], -1)); // a piece of it
      }
    }
    return;
  }
  if (!stopped_ && Interruption::received() != 0) {
    send(0, 'X', fmt::format("rank {} was told to end", peers_.name(peers_.rank())));
  } else if (!stopped_) {
    send(0, limit.empty() ? 'Z' : 'L', limit);
  }
  while (!stopped_) {
    receive();
    stand_still();
    show_life();
    std::this_thread::sleep_for(tick);
  }
  if (!unwanted_) {
    send_table();
  }
  send(0, 'D', bytes_of_value(cost_));
}

void RankLink::send_table() {
  if (!send_copy('T', "", [&] { return !unwanted_; })) { // else rank 0 has waited for too long
    send(0, 'L', "a rank has no memory left for what it has found");
  }
}

/// The table, in pieces behind `before`, while `is_wanted`. False: there is no memory for it.
bool RankLink::send_copy(
    char kind,
    std::string_view before,
    const std::function<bool()>& is_wanted
) {
  // Small enough for the allocator not to ask the kernel for each; and few are under way.
  constexpr std::size_t part_of_table = 64 << 10;
  constexpr std::uint64_t most_under_way = 16;
  const int file = ::memfd_create("heddle-part", MFD_CLOEXEC);
  const bool is_saved = file >= 0 && of_.table.save(file) && ::lseek(file, 0, SEEK_SET) == 0;
  const std::uint64_t taken_before = parts_taken_;
  std::uint64_t sent = 0;
  std::string piece(before);
  piece.resize(before.size() + part_of_table);
  for (ssize_t some = 0; is_saved && is_wanted() &&
                         (some = ::read(file, piece.data() + before.size(), part_of_table)) > 0;) {
    send(
        0,
        kind,
        std::string_view(piece).substr(0, before.size() + static_cast<std::size_t>(some))
    );
    for (++sent; taken_before + sent > parts_taken_ + most_under_way && is_wanted(); receive()) {
    }
  }
  ::close(file);
  return is_saved;
}

} // namespace heddle::explore
