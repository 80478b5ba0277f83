// Implements samples.h.
#include "explore/search/samples.h"

#include "base/hash.h"
#include "explore/search/explorer.h"
#include "explore/search/state_work.h"
#include "explore/witness/schedule.h"

#include <fmt/format.h>
#include <sys/wait.h>

#include <algorithm>
#include <csignal>
#include <map>
#include <set>
#include <span>
#include <utility>

namespace heddle::explore {

namespace {

constexpr std::uint32_t steps_between_cleaning = 64;
constexpr std::uint32_t most_before_schedules = 10'000; // moves that all schedules have in common
constexpr std::size_t most_recorded = 32;               // different defects
// If the first ones all come to nothing that could be explored, the others will, too.
constexpr std::uint32_t most_hopeless = 8;

std::uint64_t signature_of(std::uint64_t kind, std::string_view text) {
  Hasher hasher;
  hasher.value(kind);
  hasher.text(text);
  return hasher.finish().low;
}

std::uint64_t signature_of(std::span<const std::uint32_t> sites) {
  return XXH3_64bits(sites.data(), sites.size_bytes());
}

/// Leaves in `all` the places that are in `other`, too.
void keep_common(SpinPlaces& all, const SpinPlaces& other) {
  std::uint32_t kept = 0;
  for (std::uint32_t i = 0; i < all.count; ++i) {
    const auto* const end = other.sites.begin() + other.count;
    if (std::find(other.sites.begin(), end, all.sites[i]) != end) {
      all.sites[kept] = all.sites[i];
      all.words[kept++] = all.words[i];
    }
  }
  all.count = kept;
}

} // namespace

Samples::Samples(
    Ground& ground,
    const Search::Parts& parts,
    Search& search,
    ReportNames& names,
    SharedSheet sheet
)
    : ground_(ground),
      table_(ground.table),
      stepper_(ground.stepper),
      parts_(parts),
      search_(search),
      names_(names),
      sampling_(std::move(sheet)) {}

// --- One schedule after the other ----------------------------------------------------------------

/// Returns in the process of a schedule.
void Samples::serve() {
  SharedSheet& sheet = sampling_.sheet;
  std::vector<std::uint64_t> recorded;
  const auto come_to_nothing = [&](std::uint32_t number) {
    return sheet->work >= sheet->most_work || (sheet->found > 0 && number % sweep == 0) ||
           recorded.size() == most_recorded ||
           (number == most_hopeless && recorded.size() == 1 && sheet->found == number);
  };
  sampling_.recorded = table_.add_process().value_or(0);
  std::uint32_t begun = 0;
  std::uint32_t number = 0;
  for (; number < sheet->schedules && !come_to_nothing(number); ++number) {
    for (; begun < sheet->schedules && begun < number + sheet->at_once; ++begun) {
      if (begin(begun, /*record=*/false)) {
        return;
      }
    }
    await(number, /*record=*/false);
    const SampleSheet::Run run = sheet->run(number);
    sheet->run(number).step = 0;
    ++sheet->done;
    sheet->steps += run.step;
    sheet->work += run.work;
    if (run.end == SampleEnd::CutOff && sheet->cut_off++ == 0) {
      sheet->spins = run.spins;
    } else if (run.end == SampleEnd::CutOff) {
      keep_common(sheet->spins, run.spins);
    }
    if (run.end == SampleEnd::Ended || run.end == SampleEnd::CutOff) {
      continue;
    }
    ++sheet->found;
    if (std::ranges::find(recorded, run.signature) != recorded.end()) {
      continue;
    }
    recorded.push_back(run.signature);
    sampling_.crash_at = run.end == SampleEnd::Running ? std::optional(run.step) : std::nullopt;
    if (begin(number, /*record=*/true)) {
      return;
    }
    await(number, /*record=*/true);
  }
  for (; number < begun; ++number) {
    if (const pid_t child = sampling_.processes[number % sheet->at_once]; child > 0) {
      ::kill(child, SIGKILL); // -1, where none could be made, would be every process of the user
    }
    await(number, /*record=*/false);
  }
  parts_.processes.finish();
}

/// True in the child.
bool Samples::begin(std::uint32_t number, bool record) {
  SampleSheet::Run& run = sampling_.sheet->run(number);
  const std::uint32_t hang_at = run.hang_at; // of the time before
  run = {.end = SampleEnd::Running, .step = 0, .hang_at = 0, .signature = 0};
  const pid_t child = parts_.processes.fork_child();
  if (child == 0) {
    SamplePlan plan = plan_for(sampling_.sheet->seed, number);
    plan.stop_at = record ? hang_at : plan.stop_at;
    sampling_.number = number;
    sampling_.record = record;
    ground_.purpose.unrecorded = !record;
    sampling_.sampler.emplace(plan);
    if (record) {
      table_.become(sampling_.recorded); // others are under way, which say where they are, too
    }
    return true;
  }
  sampling_.processes[number % sampling_.sheet->at_once] = child;
  return false;
}

/// Its run says what it came to.
void Samples::await(std::uint32_t number, bool record) {
  SampleSheet::Run& run = sampling_.sheet->run(number);
  const pid_t child = sampling_.processes[number % sampling_.sheet->at_once];
  const int status = child > 0 ? Processes::wait_for(child) : 0;
  if (child < 0 || (WIFEXITED(status) && WEXITSTATUS(status) == finished_exit_code)) {
    if (run.end == SampleEnd::Running) { // no process could be made
      run.end = SampleEnd::CutOff;
    }
    return;
  }
  if (record) {
    parts_.processes.look_at_end_of_child(status, sampling_.recorded);
  } else {
    run.end = SampleEnd::Running;
    run.signature = signature_of(static_cast<std::uint64_t>(status), "crash");
  }
}

/// The schedule is over. What it has met on the way counts more than how it ended.
void Samples::end(SampleEnd end) {
  SampleSheet::Run& run = sampling_.sheet->run(sampling_.number);
  run.end = end;
  if (sampling_.noted != 0) {
    run.end = SampleEnd::Event;
    run.signature = sampling_.noted;
  } else if (sampling_.sampler->best()) {
    run.end = SampleEnd::Hang;
    run.signature = sampling_.hang;
    run.hang_at = sampling_.sampler->best()->at;
  }
  parts_.processes.finish();
}

/// Something worth a report has happened in a schedule that is not recorded.
void Samples::note(std::string_view text) {
  sampling_.noted = signature_of(1, text);
}

// --- One schedule --------------------------------------------------------------------------------

void Samples::go_on() {
  if (!sampling_.sampler && go_to_first_choice()) {
    return;
  }
  Sampler& sampler = *sampling_.sampler;
  std::vector<Sampler::Candidate> candidates;
  for (;;) {
    const Node node = arrive();
    std::uint64_t could_return = 0;
    std::vector<Demand> demands;
    parts_.record.demands_of(node, /*of_device=*/true, demands, could_return);
    candidates.clear();
    for (const Choice& choice : node.choices) {
      candidates.push_back(candidate_of(node, choice));
    }
    const Sampler::Next next = sampler.next(
        {.state = sum_of(stepper_.fingerprint(), parts_.system.beside_device(node.open)),
         .candidates = candidates,
         .demands = demands}
    );
    sampling_.sheet->run(sampling_.number).step = sampler.steps();
    sampling_.sheet->run(sampling_.number).work +=
        work_of(node.moves.size()) + parts_.news.computed_since();
    if (next.hang && !sampling_.record) {
      sampling_.hang = signature_of_hang();
    }
    const bool over = next.answer != Sampler::Answer::Move;
    const auto chosen = over ? std::nullopt : std::optional(node.choices[next.candidate]);
    if (sampling_.record) {
      note_alternatives(node, chosen);
    }
    if (over) {
      if (!sampling_.record) {
        sampling_.sheet->run(sampling_.number).spins =
            everybody_spins(node) ? spin_places(node) : SpinPlaces{};
      }
      end(SampleEnd::CutOff);
    }
    const Choice& choice = *chosen;
    if (choice.kind == Choice::Kind::Thread) {
      const std::uint32_t site = names_.of(node.moves[choice.move]).site;
      sampling_.recent[sampler.steps() % Sampling::most_recent] = site;
      ++sampling_.rounds[{candidates[next.candidate].actor, site}];
    }
    const bool host = parts_.mover.go(node, choice);
    std::vector<ClassChange> changes;
    for (const Stepper::Change& change :
         host ? std::vector<Stepper::Change>() : stepper_.changes()) {
      changes.push_back({change.from, change.to});
      if (change.to == 0) {
        sampling_.rounds.clear();
      }
    }
    sampler.moved(*parts_.record.last(), changes);
    if (host) {
      return;
    }
    if (sampler.steps() % steps_between_cleaning == 0) {
      stepper_.forget();
    }
  }
}

/// Has every device thread that can move been where it is again and again, and has none ended
/// since? A schedule that is cut off because there is much to do has not.
bool Samples::everybody_spins(const Node& node) {
  return std::ranges::all_of(node.choices, [&](const Choice& choice) {
    if (choice.kind != Choice::Kind::Thread) {
      return true;
    }
    const auto rounds = sampling_.rounds.find(
        {candidate_of(node, choice).actor, names_.of(node.moves[choice.move]).site}
    );
    return rounds != sampling_.rounds.end() && rounds->second >= Sampling::spinning_rounds;
  });
}

/// Where device threads have been of late, and who is there now.
SpinPlaces Samples::spin_places(const Node& node) {
  SpinPlaces places;
  std::set<std::uint32_t> sites(sampling_.recent.begin(), sampling_.recent.end());
  sites.erase(0);
  std::map<std::uint32_t, std::pair<std::string, std::uint64_t>>
      threads; // the first one, and how many
  for (const Stepper::Move& move : node.moves) {
    if (move.thread) {
      auto& [first, count] = threads[names_.of(move).site];
      if (count == 0) {
        first = stepper_.names().actor(move) + " of " + stepper_.names().kernel(move);
      }
      count += move.count;
    }
  }
  for (const std::uint32_t site : sites) {
    if (places.count == SpinPlaces::most) {
      break;
    }
    std::string words = "part of the loop";
    if (const auto at = threads.find(site); at != threads.end()) {
      const auto& [first, count] = at->second;
      words = count == 1 ? fmt::format("{} spins here", first)
                         : fmt::format("{} and {} more spin here", first, count - 1);
    }
    places.sites[places.count] = site;
    places.words[places.count++] = table_.intern(std::string_view(words));
  }
  return places;
}

/// Equal for hangs of the same threads at the same places.
std::uint64_t Samples::signature_of_hang() {
  std::vector<std::uint32_t> sites = sampling_.sampler->best()->sites;
  if (sites.empty()) { // everybody is blocked, or could be
    for (const Stepper::Wait& wait : stepper_.report().waits()) {
      sites.push_back(wait.op->instruction);
    }
    for (unsigned t = 0; t < ground_.threads.count(); ++t) {
      if (ground_.threads.state(t) == HostThreads::State::Live) {
        sites.push_back(names_.site(ground_.threads.point(t)));
      }
    }
  }
  return signature_of(sites);
}

/// What could be done where the last move has led.
Node Samples::arrive() {
  if (!ground_.purpose.unrecorded) {
    if (!search_.enter({.host = false, .open = 0})) {
      parts_.processes.finish();
    }
    Node node = parts_.way.take_last();
    leave_out_wake_ups(node);
    return node;
  }
  if (stepper_.failure()) {
    const auto& [report, incomplete, race] = *stepper_.failure();
    note(report.kernel + report.instruction + report.fault.text + incomplete);
    end(SampleEnd::Event);
  }
  Node node;
  node.open = parts_.system.open_waits();
  stepper_.moves(node.moves);
  parts_.system.all_choices(node);
  leave_out_wake_ups(node);
  return node;
}

/// [HOST-WAKE] A schedule that lets a waiting thread return again and again comes to nothing.
void Samples::leave_out_wake_ups(Node& node) const {
  const auto left_out = std::erase_if(node.choices, [&](const Choice& choice) {
    return parts_.system.unprovoked_by(choice) == Unprovoked::WakeUp;
  });
  if (left_out != 0) {
    table_.note(Fact::NoSpuriousWakeUps);
  }
}

/// As long as only the host can go on, it does so for all schedules together, so that loading the
/// kernels and what else comes first is done once. True: it goes on. False: in the process of a
/// schedule.
bool Samples::go_to_first_choice() {
  const Node node = arrive();
  if (node.choices.size() == 1 && node.choices.front().kind == Choice::Kind::Host &&
      sampling_.before_schedules++ < most_before_schedules) {
    return parts_.mover.go(node, node.choices.front());
  }
  parts_.record.forget_last(); // that has been written down
  serve();
  return false;
}

Sampler::Candidate Samples::candidate_of(const Node& node, const Choice& choice) const {
  if (choice.kind == Choice::Kind::Host) {
    return {
        .kind = ActorKind::Host,
        .actor = choice.host,
        .owed = parts_.record.owed_by_host_rule(ground_.threads.point(choice.host))
    };
  }
  const Stepper::Move& move = node.moves[choice.move];
  const auto [command, number] = stepper_.names().id(move);
  const std::uint64_t base = (move.thread ? 1ULL << 63 : 1ULL << 62) | command << 32;
  if (!move.thread) {
    return {.kind = ActorKind::Command, .actor = base};
  }
  return {
      .kind = ActorKind::DeviceThread,
      .actor = base | number,
      .warp = base | number / isa::warp_size,
      .cluster = base | move.cluster,
      .owed = ground_.options.host_progress && move.guarantee != Stepper::Guarantee::None
  };
}

/// Moves that could be made and need not be: those who make them are left out of a hang. Of those
/// that do the same one is written down. Before a crash all of them, so that the move that is
/// missing is the one that crashed.
void Samples::note_alternatives(const Node& node, const std::optional<Choice>& chosen) {
  const bool all = sampling_.crash_at == sampling_.sampler->steps();
  // No real state has this hash.
  const auto unknown = table_.visit({~1ULL, ~0ULL}, {});
  if (!unknown) {
    return;
  }
  std::map<std::pair<std::uint32_t, std::size_t>, Edge> alternatives;
  for (const Choice& choice : node.choices) {
    if (chosen && choice.number == chosen->number) {
      continue;
    }
    if (!all && candidate_of(node, choice).owed) {
      continue;
    }
    Edge edge = parts_.record.edge_for(node, choice);
    edge.to = unknown->id;
    edge.choice = pack_choice(edge.choice, unchecked);
    if (all || choice.kind == Choice::Kind::Host) {
      table_.add_edge(edge);
      continue;
    }
    const auto [known, is_new] =
        alternatives.try_emplace({edge.site, node.moves[choice.move].work}, edge);
    if (!is_new) {
      known->second.count += edge.count;
    }
  }
  for (const auto& [key, edge] : alternatives) {
    table_.add_edge(edge);
  }
}

} // namespace heddle::explore
