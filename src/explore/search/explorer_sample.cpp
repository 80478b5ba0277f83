// What the explorer does after a limit: single schedules (sampler.h), each in a process forked
// where the host program first stops.
//
// A schedule is first tried without writing anything down. If it comes to something new, it is made
// again, the same steps, and recorded as a search would have recorded it: states with all that is
// owed in them, the move that was made, and the moves that were not made although somebody could
// (their edges lead to a state that nobody has looked at). So judging it is no different.
#include "explore/search/explorer_sample.h"

#include "base/hash.h"
#include "explore/search/explorer_impl.h"
#include "explore/search/state_work.h"
#include "explore/single/sampler.h"
#include "explore/witness/schedule.h"

#include <fmt/format.h>
#include <sys/wait.h>

#include <algorithm>
#include <csignal>
#include <map>
#include <set>
#include <span>

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

// --- One schedule after the other ----------------------------------------------------------------

/// Returns in the process of a schedule.
void Explorer::serve_samples() {
  SharedSheet& sheet = sampling_->sheet;
  std::vector<std::uint64_t> recorded;
  const auto come_to_nothing = [&](std::uint32_t number) {
    return sheet->work >= sheet->most_work || (sheet->found > 0 && number % sweep == 0) ||
           recorded.size() == most_recorded ||
           (number == most_hopeless && recorded.size() == 1 && sheet->found == number);
  };
  sampling_->recorded = table_.add_process().value_or(0);
  std::uint32_t begun = 0;
  std::uint32_t number = 0;
  for (; number < sheet->schedules && !come_to_nothing(number); ++number) {
    for (; begun < sheet->schedules && begun < number + sheet->at_once; ++begun) {
      if (begin_sample(begun, /*record=*/false)) {
        return;
      }
    }
    await_sample(number, /*record=*/false);
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
    sampling_->crash_at = run.end == SampleEnd::Running ? std::optional(run.step) : std::nullopt;
    if (begin_sample(number, /*record=*/true)) {
      return;
    }
    await_sample(number, /*record=*/true);
  }
  for (; number < begun; ++number) {
    if (const pid_t child = sampling_->processes[number % sheet->at_once]; child > 0) {
      ::kill(child, SIGKILL); // -1, where none could be made, would be every process of the user
    }
    await_sample(number, /*record=*/false);
  }
  finish();
}

/// True in the child.
bool Explorer::begin_sample(std::uint32_t number, bool record) {
  SampleSheet::Run& run = sampling_->sheet->run(number);
  const std::uint32_t hang_at = run.hang_at; // of the time before
  run = {.end = SampleEnd::Running, .step = 0, .hang_at = 0, .signature = 0};
  const pid_t child = fork_child();
  if (child == 0) {
    SamplePlan plan = plan_for(sampling_->sheet->seed, number);
    plan.stop_at = record ? hang_at : plan.stop_at;
    sampling_->number = number;
    sampling_->record = record;
    sampling_->sampler.emplace(plan);
    if (record) {
      table_.become(sampling_->recorded); // others are under way, which say where they are, too
    }
    return true;
  }
  sampling_->processes[number % sampling_->sheet->at_once] = child;
  return false;
}

/// Its run says what it came to.
void Explorer::await_sample(std::uint32_t number, bool record) {
  SampleSheet::Run& run = sampling_->sheet->run(number);
  const pid_t child = sampling_->processes[number % sampling_->sheet->at_once];
  const int status = child > 0 ? wait_for(child) : 0;
  if (child < 0 || (WIFEXITED(status) && WEXITSTATUS(status) == finished_exit_code)) {
    if (run.end == SampleEnd::Running) { // no process could be made
      run.end = SampleEnd::CutOff;
    }
    return;
  }
  if (record) {
    look_at_end_of_child(status, sampling_->recorded);
  } else {
    run.end = SampleEnd::Running;
    run.signature = signature_of(static_cast<std::uint64_t>(status), "crash");
  }
}

/// The schedule is over. What it has met on the way counts more than how it ended.
void Explorer::end_sample(SampleEnd end) {
  SampleSheet::Run& run = sampling_->sheet->run(sampling_->number);
  run.end = end;
  if (sampling_->noted != 0) {
    run.end = SampleEnd::Event;
    run.signature = sampling_->noted;
  } else if (sampling_->sampler->best()) {
    run.end = SampleEnd::Hang;
    run.signature = sampling_->hang;
    run.hang_at = sampling_->sampler->best()->at;
  }
  finish();
}

/// Something worth a report has happened in a schedule that is not recorded.
void Explorer::note_in_sample(std::string_view text) {
  sampling_->noted = signature_of(1, text);
}

// --- One schedule --------------------------------------------------------------------------------

void Explorer::sample() {
  if (!sampling_->sampler && go_to_first_choice()) {
    return;
  }
  Sampler& sampler = *sampling_->sampler;
  std::vector<Sampler::Candidate> candidates;
  for (;;) {
    const Node node = arrive_in_sample();
    std::uint64_t could_return = 0;
    std::vector<Demand> demands;
    demands_of(node, /*of_device=*/true, demands, could_return);
    candidates.clear();
    for (const Choice& choice : node.choices) {
      candidates.push_back(candidate_of(node, choice));
    }
    const Sampler::Next next = sampler.next(
        {.state = sum_of(stepper_.fingerprint(), beside_device(node.open)),
         .candidates = candidates,
         .demands = demands}
    );
    sampling_->sheet->run(sampling_->number).step = sampler.steps();
    sampling_->sheet->run(sampling_->number).work += work_of(node.moves.size()) + computed_since();
    if (next.hang && !sampling_->record) {
      sampling_->hang = signature_of_hang();
    }
    const bool over = next.answer != Sampler::Answer::Move;
    const auto chosen = over ? std::nullopt : std::optional(node.choices[next.candidate]);
    if (sampling_->record) {
      note_alternatives(node, chosen);
    }
    if (over) {
      if (!sampling_->record) {
        sampling_->sheet->run(sampling_->number).spins =
            everybody_spins(node) ? spin_places(node) : SpinPlaces{};
      }
      end_sample(SampleEnd::CutOff);
    }
    const Choice& choice = *chosen;
    if (choice.kind == Choice::Kind::Thread) {
      const std::uint32_t site = names_of(node.moves[choice.move]).site;
      sampling_->recent[sampler.steps() % Sampling::most_recent] = site;
      ++sampling_->rounds[{candidates[next.candidate].actor, site}];
    }
    const bool host = go(node, choice);
    std::vector<ClassChange> changes;
    for (const Stepper::Change& change :
         host ? std::vector<Stepper::Change>() : stepper_.changes()) {
      changes.push_back({change.from, change.to});
      if (change.to == 0) {
        sampling_->rounds.clear();
      }
    }
    sampler.moved(*last_, changes);
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
bool Explorer::everybody_spins(const Node& node) {
  return std::ranges::all_of(node.choices, [&](const Choice& choice) {
    if (choice.kind != Choice::Kind::Thread) {
      return true;
    }
    const auto rounds = sampling_->rounds.find(
        {candidate_of(node, choice).actor, names_of(node.moves[choice.move]).site}
    );
    return rounds != sampling_->rounds.end() && rounds->second >= Sampling::spinning_rounds;
  });
}

/// Where device threads have been of late, and who is there now.
SpinPlaces Explorer::spin_places(const Node& node) {
  SpinPlaces places;
  std::set<std::uint32_t> sites(sampling_->recent.begin(), sampling_->recent.end());
  sites.erase(0);
  std::map<std::uint32_t, std::pair<std::string, std::uint64_t>>
      threads; // the first one, and how many
  for (const Stepper::Move& move : node.moves) {
    if (move.thread) {
      auto& [first, count] = threads[names_of(move).site];
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
std::uint64_t Explorer::signature_of_hang() {
  std::vector<std::uint32_t> sites = sampling_->sampler->best()->sites;
  if (sites.empty()) { // everybody is blocked, or could be
    for (const Stepper::Wait& wait : stepper_.waits()) {
      sites.push_back(wait.op->instruction);
    }
    for (unsigned t = 0; t < threads_.count(); ++t) {
      if (threads_.state(t) == HostThreads::State::Live) {
        sites.push_back(site(threads_.point(t)));
      }
    }
  }
  return signature_of(sites);
}

/// What could be done where the last move has led.
Explorer::Node Explorer::arrive_in_sample() {
  Node node;
  if (!unrecorded()) {
    if (!enter({.host = false, .open = 0})) {
      finish();
    }
    node = std::move(path_.back());
    path_.clear();
    return node;
  }
  if (stepper_.failure()) {
    const auto& [report, incomplete, race] = *stepper_.failure();
    note_in_sample(report.kernel + report.instruction + report.fault.text + incomplete);
    end_sample(SampleEnd::Event);
  }
  node.open = open_waits();
  stepper_.moves(node.moves);
  all_choices(node);
  return node;
}

/// As long as only the host can go on, it does so for all schedules together, so that loading the
/// kernels and what else comes first is done once. True: it goes on. False: in the process of a
/// schedule.
bool Explorer::go_to_first_choice() {
  const Node node = arrive_in_sample();
  if (node.choices.size() == 1 && node.choices.front().kind == Choice::Kind::Host &&
      sampling_->before_schedules++ < most_before_schedules) {
    return go(node, node.choices.front());
  }
  last_.reset(); // that has been written down
  serve_samples();
  return false;
}

Sampler::Candidate Explorer::candidate_of(const Node& node, const Choice& choice) const {
  if (choice.kind == Choice::Kind::Host) {
    return {
        .kind = ActorKind::Host,
        .actor = choice.host,
        .owed = owed_by_host_rule(threads_.point(choice.host))
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
      .owed = options_.host_progress && move.guarantee != Stepper::Guarantee::None
  };
}

/// Moves that could be made and need not be: those who make them are left out of a hang. Of those
/// that do the same one is written down. Before a crash all of them, so that the move that is
/// missing is the one that crashed.
void Explorer::note_alternatives(const Node& node, const std::optional<Choice>& chosen) {
  const bool all = sampling_->crash_at == sampling_->sampler->steps();
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
    Edge edge = edge_for(node, choice);
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
