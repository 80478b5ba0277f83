// Sampler: one schedule, chosen step by step: at random, or to do harm.
//
//   Sampler sampler(plan_for(seed, number));
//   const Sampler::Next next = sampler.next({.state = hash, .candidates = …, .demands = …});
//   if (next.answer == Sampler::Answer::Move) … make candidates[next.candidate], then
//     sampler.moved(edge, changes);
//   if (next.answer == Sampler::Answer::Hang) …      // an allowed endless execution, no guess
//
// What `heddle check` goes on with when the exhaustive search has reached a limit. A schedule has
// two parts. First the plan's strategy moves: somebody is left behind, or priorities decide that
// change now and then, or chance. Then everybody who is owed moves takes turns, and nobody else
// moves unless the rules demand it. The second part makes a hang exact: turns lead back to a state
// sooner or later, and whether what lies in between may go on forever is asked of find_endless
// (progress_graph.h). If it may not, somebody who was left out gets one move.
//
// "Priorities that change" is probabilistic concurrency testing: Burckhardt, Kothari, Musuvathi,
// Nagarakatte, "A randomized scheduler with probabilistic guarantees of finding bugs" (ASPLOS
// 2010); whoever leads back to a state that was seen before gets the lowest priority, so that a
// loop that waits does not keep the others from moving.
//
// Direction of error: a hang that is found is one. Schedules whose states never repeat are cut off
// and prove nothing.
#pragma once

#include "base/hash.h"
#include "base/random.h"
#include "explore/judge/progress_graph.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string_view>
#include <unordered_set>
#include <vector>

namespace heddle::explore {

enum class Strategy : std::uint8_t {
  Turns,      // everybody who can move takes turns
  Lazy,       // who need not start does not
  Few,        // so do all but a few
  Cluster,    // one cluster is left behind
  Warp,       // one warp
  Thread,     // one thread
  Host,       // the host
  Priorities, // of threads at random, and a few changes of them
  Random      // each step by chance
};
inline constexpr int strategy_count = 9;
std::string_view name(Strategy strategy);

/// Everything that a schedule depends on, but for the program.
struct SamplePlan {
  Strategy strategy = Strategy::Turns;
  std::uint64_t seed = 0;
  std::uint32_t first_part = 0; // steps of it
  std::uint32_t changes = 0;    // of priorities in it
  std::uint32_t most_steps = 0; // in all
  std::uint32_t stop_at = ~0U;  // a hang after so many steps is the one that is wanted
};
/// The same for the same arguments. Schedules come in sweeps that try each strategy twice; those of
/// later sweeps may be longer.
inline constexpr std::uint32_t sweep = 2 * strategy_count;
SamplePlan plan_for(std::uint64_t seed, std::uint32_t number);

class Sampler {
public:
  explicit Sampler(const SamplePlan& plan);

  /// A move that could be made.
  struct Candidate {
    ActorKind kind = ActorKind::Host;
    std::uint64_t actor = 0; // in every state the same
    std::uint64_t warp = 0, cluster = 0;
    bool owed = false; // a demand names it, other than [API]
  };
  struct Here {
    Hash128 state;
    std::span<const Candidate> candidates;
    std::span<const Demand> demands;
  };
  enum class Answer : std::uint8_t {
    Move,
    Hang,  // as best() says, and nobody is left to be let in
    CutOff // too many steps
  };
  struct Next {
    Answer answer{};
    std::size_t candidate = 0;
    bool hang = false; // there is one here, the best so far; see best()
  };
  Next next(const Here& here);
  /// The candidate has moved: `edge` says how, `from` and `to` aside.
  void moved(const Edge& edge, std::span<const ClassChange> changes);

  std::uint32_t steps() const { return steps_; }
  /// A hang: what was done in its last steps can be repeated forever, or nobody has to move.
  struct Hang {
    std::uint32_t at = 0;             // after so many steps
    std::size_t left_out = 0;         // moves that were possible and that nobody was owed
    std::vector<std::uint32_t> sites; // of the moves of the loop, sorted; empty: nobody moves
  };
  /// Of those that the schedule has met the one that leaves out fewest: who is left out of a hang
  /// is let in afterwards, to see whether it was for him that the others waited.
  const std::optional<Hang>& best() const { return best_; }

private:
  struct Moved { // in the second part
    Hash128 from;
    std::vector<Demand> demands;
    Edge edge;
    std::vector<ClassChange> changes;
  };

  std::size_t freely(const Here& here);
  Next in_turn(const Here& here);
  Next without_turn(const Here& here);
  std::size_t release(const Here& here);
  Next hang(const Here& here);
  Analysis analyse(const Here& here) const;
  void begin_turns(const Here& here);
  static std::size_t round_of(const Here& here);
  bool left_out(const Candidate& candidate) const;
  void pick_left_out(const Here& here);
  std::uint64_t& priority(std::uint64_t actor);
  std::size_t any_of(std::span<const std::size_t> numbers);

  SamplePlan plan_;
  Random random_;
  std::uint32_t steps_ = 0;
  std::uint32_t first_part_ends_;
  std::uint64_t last_ = 0; // who moved last
  ActorKind kind_{};       // the same

  // The first part.
  std::unordered_set<std::uint64_t> seen_; // states; a wrong answer costs a change of priority
  std::uint32_t stale_ = 0;                // states in a row that were seen before
  std::map<std::uint64_t, std::uint64_t> priorities_;
  std::uint64_t lowest_;
  std::vector<std::uint32_t> change_at_; // steps, the last one first
  std::uint32_t started_ = 0;            // moves of those who were not owed one
  bool picked_ = false;
  std::uint64_t picked_one_ = 0; // cluster, warp or actor that is left behind

  // The second part: what was done since the anchor, which moves on when that has doubled (Brent).
  bool turns_ = false;
  Hash128 anchor_;
  std::vector<Moved> moved_;
  std::vector<Demand> demands_; // of the state in which the move under way is made
  Hash128 from_;
  std::size_t power_ = 0;
  std::size_t look_at_ = 0; // whether the way back to the anchor is allowed forever, not before
  int refuted_ = 0;         // how often the anchor was met and the way back was not allowed forever
  std::optional<Hang> best_;
};

} // namespace heddle::explore
