// Implements divided_search.h.
#include "explore/ranks/divided_search.h"

#include "explore/process/explored_process.h"
#include "explore/process/fork_server.h"
#include "explore/process/phase_time.h"

#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <csignal>
#include <cstring>
#include <thread>
#include <utility>

extern char** environ;

namespace heddle::explore {

namespace {

// Ranks join a search that has so many states: starting the program and its first pieces of work
// take about as long as that.
constexpr std::uint32_t times_alone = 4; // Workers::states_alone
constexpr auto between_looks = std::chrono::milliseconds(2);
constexpr char begins = 'B', dismissed = 'Q';

/// What the others need to know: how many states are to be met again, and which; then lines that
/// end with a zero, the options first.
std::string message_for(const Options& options, const StateTable& table) {
  const std::vector<StateTable::MetAgain> again = table.to_meet_again();
  const std::uint64_t count = again.size();
  std::string text(reinterpret_cast<const char*>(&count), sizeof count);
  text.append(reinterpret_cast<const char*>(again.data()), count * sizeof again.front());
  text += to_text(options) + '\0';
  for (char** variable = environ; *variable != nullptr; ++variable) {
    text += *variable;
    text += '\0';
  }
  return text;
}

/// Takes the first part of the message.
std::vector<StateTable::MetAgain> to_meet_again(std::string_view& text) {
  std::uint64_t count = 0;
  if (text.size() < sizeof count) {
    return {};
  }
  std::memcpy(&count, text.data(), sizeof count);
  text.remove_prefix(sizeof count);
  std::vector<StateTable::MetAgain> again(
      std::min<std::uint64_t>(count, text.size() / sizeof(StateTable::MetAgain))
  );
  std::memcpy(static_cast<void*>(again.data()), text.data(), again.size() * sizeof again.front());
  text.remove_prefix(again.size() * sizeof again.front());
  return again;
}

std::vector<std::string> lines_of(std::string_view text) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\0'), text.size());
    lines.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

/// A rank's part of one search.
Result<void> serve_one(
    const CheckRequest& request,
    ForkServer& server,
    Peers& peers,
    std::uint32_t attempt,
    const Options& options,
    std::span<const StateTable::MetAgain> again
) {
  const StateTable::Limits limits{
      .max_states = options.max_states + static_cast<std::uint32_t>(again.size()),
      .processes = jobs_of(request.workers),
      .alone = 0
  };
  TRY(StateTable table, StateTable::create(limits));
  table.expect(again);
  table.rank_board().divide(
      static_cast<std::uint32_t>(peers.rank()),
      static_cast<std::uint32_t>(peers.size()),
      /*does_errands=*/true
  );
  const Handover handover{.table = table.fd(), .options = options};
  const int log = ::memfd_create("heddle-log", 0);
  TRY_VOID(server.fork(handover, log));
  RankLink link(
      peers,
      {.table = table,
       .board = table.rank_board(),
       .attempt = attempt,
       .end_all = [&server] { server.end_all(); },
       .starts_at_once = starts_at_once(options),
       .leader = [&server] { return server.leader(); }}
  );
  link.start();
  const auto [status, limit] =
      Watch(table, options, {.log = log, .begun = std::chrono::steady_clock::now()})
          .wait_for(
              {server.leader(),
               server.ended(),
               [&] { return server.status(); },
               [&] { server.end_all(); }}
          );
  table.users_have_died();
  if (!link.stopped() && limit.empty()) { // a limit is rank 0's to say, for it is not kept
    note_end(table, status, limit, read_log(log));
  }
  ::close(log);
  link.finish(
      limit.empty() && !ended_well(status) ? "a rank's part of the search ended by itself" : limit
  );
  return {};
}

} // namespace

DividedSearch::DividedSearch(const CheckRequest& request, const Options& options, Of of)
    : options_(options),
      table_(of.table),
      checkpoint_(of.checkpoint),
      link_(
          *request.peers,
          {.table = table_,
           .board = table_.rank_board(),
           .attempt = request.peers->next_attempt(),
           .begin = message_for(options, table_),
           .states_alone = times_alone * request.workers.states_alone,
           .end_all = std::move(of.end_all),
           .starts_at_once = starts_at_once(options),
           .max_states = options.max_states,
           .claims = table_.claims_made()}
      ),
      has_file_(table_.goes_on()) {
  table_.rank_board()
      .divide(0, static_cast<std::uint32_t>(request.peers->size()), /*does_errands=*/false);
  link_.start();
  if (request.workers.states_alone == 0) {
    link_.await_others();
  }
}

bool DividedSearch::goes_on(const std::optional<int>& status, const std::string& limit) {
  divided_ = link_.own_search_over();
  if (!divided_ || link_.stopped() || !limit.empty() || !ended_well(status)) {
    return false;
  }
  table_.go_on(); // with the permit that the process has given back
  table_.rank_board().set_errands();
  return true;
}

Watch::Of DividedSearch::rest(Watch::Of of, const Options& options) const {
  const std::chrono::duration<double> gone = std::chrono::steady_clock::now() - begun_;
  of.share -= gone.count() / options.max_seconds;
  return of;
}

void DividedSearch::keep() {
  if (const auto others = link_.cut()) {
    checkpoint_->save(options_, table_, *others);
    has_file_ = has_file_ || !others->empty();
  }
  link_.let_go();
}

/// All processes have ended. Where a part is missing, a file that has all of what it has is better.
void DividedSearch::keep_at_end(bool all_there) {
  if (checkpoint_ != nullptr && (all_there || !has_file_)) {
    checkpoint_->save(options_, table_, link_.parts());
  }
}

Result<void> DividedSearch::put_together(std::string& limit) {
  link_.finish(limit);
  if (!divided_) {
    return {};
  }
  if (limit.empty()) {
    limit = link_.problem();
  }
  const std::size_t missing = link_.parts_missing();
  if (!limit.empty() || missing != 0 || table_.saw(Fact::OutOfStates)) {
    keep_at_end(missing == 0);
  }
  if (!link_.told_to_end().empty()) { // this is no part of what is kept
    table_.add_event(EventKind::Incomplete, 0, 0, link_.told_to_end());
  }
  if (missing != 0 && limit.empty()) {
    table_.distrust_other_ranks();
    table_.note(Fact::Unrepeatable); // by this rank, once more
    return {};
  }
  const auto twice = table_.take_in(link_.parts());
  if (!twice) {
    table_.distrust_other_ranks();
    return unexpected(twice.error());
  }
  if (missing != 0) {
    table_.add_event(
        EventKind::Incomplete,
        0,
        0,
        fmt::format("what {} of {} ranks have found is missing", missing, link_.parts().size())
    );
  }
  const RankLink::Cost& cost = link_.cost();
  PhaseTime::note(
      fmt::format(
          "all ranks have sent {} messages, {} bytes, {} claims, {} pieces of work; {} states more "
          "were explored twice",
          cost.messages,
          cost.bytes,
          cost.claims,
          cost.pieces,
          *twice
      )
  );
  if (!limit.empty() || link_.is_void()) {
    table_.distrust_other_ranks(); // not all that has been left to others has been done
  } else if (table_.left_unclaimed() != 0) {
    table_.note(Fact::Unrepeatable); // by one rank, then
  }
  return {};
}

Result<void> serve_searches(CheckRequest request, Peers& peers) {
  std::optional<ForkServers> servers;
  for (;;) {
    const auto message = peers.receive();
    if (!message) {
      std::this_thread::sleep_for(between_looks);
      continue;
    }
    std::uint32_t attempt = 0;
    if (message->bytes.size() < 1 + sizeof attempt || message->from != 0) {
      continue; // a claim that was long under way
    }
    if (message->bytes.front() == dismissed) {
      return {};
    }
    if (message->bytes.front() != begins) {
      continue;
    }
    std::memcpy(&attempt, message->bytes.data() + 1, sizeof attempt);
    std::string_view rest = std::string_view(message->bytes).substr(1 + sizeof attempt);
    const std::vector<StateTable::MetAgain> again = to_meet_again(rest);
    std::vector<std::string> lines = lines_of(rest);
    if (lines.empty()) {
      continue;
    }
    TRY(const Options options, parse_options(lines.front()));
    lines.erase(lines.begin());
    if (!servers || lines != request.whole_environment) {
      servers.reset();
      request.whole_environment = std::move(lines);
      servers.emplace(request);
    }
    TRY_VOID(serve_one(request, servers->fixed, peers, attempt, options, again));
  }
}

void dismiss_ranks(Peers& peers) {
  for (int rank = 1; rank < peers.size(); ++rank) {
    peers.send(rank, std::string(1, dismissed) + std::string(sizeof(std::uint32_t), '\0'));
  }
}

} // namespace heddle::explore
