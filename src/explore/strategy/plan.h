// Plan: a list of attempts, each a search with an abstraction and a budget, until one holds. The
// plan knows no processes and no table: its caller searches, and knows what a state is
// (search_all.h, tests/reduce). It knows no clock either: which attempt follows depends on what the
// ones before have met, and an attempt that may be given up is so after a number of states. Time
// ends all of them: stop().
//
//   Plan plan(asked);
//   for (;;) {
//     const Plan::Attempt attempt = plan.next();              // which abstraction, how far
//     … search …
//     switch (plan.after(seen, [&] { return judge(…); })) …   // evidence in: what follows
//   }
//
// The list; an attempt that holds ends it:
//
//   blocks start   states have      orders   budget      is left out, or ends the list
//   at any time    everything       every    First       …
//   at once        everything       every    AtOnce      a state repeats
//   at once, and   everything       every    InGroups    …
//   in groups
//   at once        decisions        every    AtOnce      a state repeats, or nothing is left out
//   at once        decisions        one      AtOnce      … or one order would not do
//   at any time    the next of the three     Beginning   …
//   at any time    the last of the three     Whole       never: it goes to the end
//
// - First: every order, with blocks that start at any time; given up early if it is large and an
//   attempt that follows may do.
// - AtOnce ([RED-STRAIGHT]): a block's start commutes with every move of others, so each infinite
//   execution has an equivalent one here; if no state repeats, there is none. Then no thread ever
//   waits in a loop for another block, nor does a block stay blocked by one: such a state would
//   have been found. What blocks do before others have started is done here, too. In the same way
//   copies and grids that run through are carried out in one order, unless the host asks what has
//   completed, or a thread may choose by what a copy brings.
// - In groups ([RED-GROUPS]): of threads that meet nobody else some go first. Who comes where is
//   known by the numbers of threads, so equal ones are told apart: this is for programs whose
//   threads meet here and there, and which symmetry does not make small.
// - Decisions ([RED-CONE]): states leave out data which decides nothing.
// - One order ([RED-DATA-ORDER]): besides, the host is taken to decide nothing by data, and
//   accesses on whose order only data depends are not chosen. The verdict names that, so the
//   attempts before are better if they are small.
// - An attempt that finds a defect is followed by a whole one of the same abstraction, with blocks
//   that start at any time: nothing must be lost.
//
// An attempt that refutes one of its assumptions (evidence.h) is made again without it.
#pragma once

#include "base/result.h"
#include "explore/options.h"
#include "explore/strategy/evidence.h"
#include "reduce/mutant.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace heddle::explore {

class Plan {
public:
  /// `tries_groups`: for tests of other attempts.
  explicit Plan(
      const Options& asked,
      reduce::Mutant mutant = reduce::Mutant::None,
      bool tries_groups = true
  );

  /// How far an attempt goes. All but the last are given up early if they are large and an attempt
  /// that tells less apart may do.
  enum class Budget : std::uint8_t {
    First,     // … or one with blocks that start at once
    AtOnce,    // blocks do
    Beginning, // blocks start at any time
    Whole
  };
  struct Attempt {
    Options options; // its abstraction, with the limits that are its budget
    Budget budget{};
    unsigned number = 1;
    bool is_beginning = false; // it is given up early if it is large
  };
  /// The same until after() or stop() is called.
  Attempt next() const;
  /// What all searches so far have found out to be wrong is no assumption any more.
  const Options& options() const { return assumed_; }

  using Seen = explore::Seen;
  /// What the judge of a search says.
  struct Found {
    bool clean = false, complete = false; // no finding; everything has been searched
    bool straight = false;                // no way leads back to any state
  };
  enum class Next : std::uint8_t {
    Again,
    KeepAndAgain, // what this search has found is true, but not everything
    This,         // holds
    Kept          // the one that was kept tells more than this one
  };
  Next after(const Seen& seen, const std::function<Found()>& judge);
  /// The time, or the memory, is over, or nobody wants to wait any longer: the search that tells
  /// most, whether it holds or not.
  Next stop(const Seen& seen);
  /// Has the search shown that an assumption does not hold on which it rests?
  bool is_void(const Seen& seen) const { return explore::is_void(seen, assumed_); }

  /// Where the plan stands, in one line: for a search that is stopped and goes on.
  std::string to_text() const;
  /// Of a plan for the same options. Input error: this is no such line.
  Result<void> go_on_from(std::string_view text);

private:
  bool one_order_may_do() const { return one_order_untried_ && evidence_.only_data() != 0; }
  bool less_may_do() const;
  void tell_less_apart();
  bool is_in_groups() const { return assumed_.starts == Starts::InGroups; }
  void begin_again(const Seen& seen);
  Next decide(const Seen& seen, const std::function<Found()>& judge);
  Next follow(const Found& found, bool circles);
  template <class Self, class F> static void each_number(Self& self, F&& f);

  Options asked_;
  reduce::Mutant mutant_;
  Evidence evidence_;
  // The attempt under way: its abstraction, its budget, its number.
  Options assumed_;
  Budget budget_;
  std::uint32_t number_ = 1;
  // Abstractions that have not been tried.
  bool groups_untried_, decisions_untried_, one_order_untried_;
  std::optional<Options> kept_; // of an attempt with a defect, with blocks that start at once
};

/// What the beginning of a search may cost (Options::max_work) that is over after so many states.
std::uint32_t work_for(std::uint32_t states);
/// "blocks start at once, one order": which kind of search this is.
std::string kind_of(const Plan::Attempt& attempt);

} // namespace heddle::explore
