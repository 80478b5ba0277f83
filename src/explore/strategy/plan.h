// Plan: which searches there are, one after the other, until one holds. The plan knows no processes
// and no table: its caller searches, and knows what a state is (search_all.h, tests/reduce). It
// knows no clock either: which search follows depends on what the one before has met, and a search
// that is only tried is given up after a number of states. Time ends all of them: stop().
//
//   Plan plan(asked);
//   for (;;) {
//     const Plan::Attempt attempt = plan.next();              // which assumptions, how far
//     … search …
//     switch (plan.after(seen, [&] { return judge(…); })) …   // what its outcome leads to
//   }
//
// One search, and, if it does not hold, the next kind:
// - every order, with blocks that start at any time; given up early if it is large and one of the
//   two that follow may do;
// - straight ([RED-STRAIGHT]): blocks start at once. A block's start commutes with every move of
//   others, so each infinite execution has an equivalent one here; if no state repeats, there is
//   none. Then no thread ever waits in a loop for another block, nor does a block stay blocked by
//   one: such a state would have been found. What blocks do before others have started is done
//   here, too. In the same way copies and grids that run through are carried out in one order,
//   unless the host asks what has completed, or a thread may choose by what a copy brings;
// - with states that leave out data which decides nothing ([RED-CONE]);
// - and besides, the host is taken to decide nothing by data, and accesses on whose order only data
//   depends ([RED-DATA-ORDER]) are not chosen. The verdict names that, so the searches before are
//   better if they are small;
// - like the first, to the end.
// Each begins again without those assumptions about sums and phases (reduce/sums.h, phases.h), and
// about what a host need not wait for, that turn out to be wrong.
#pragma once

#include "base/result.h"
#include "explore/options.h"
#include "reduce/mutant.h"

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace heddle::explore {

class Plan {
public:
  explicit Plan(const Options& asked, reduce::Mutant mutant = reduce::Mutant::None);

  struct Attempt {
    Options options;
    unsigned number = 1;
    bool is_beginning = false; // one that is given up early if it is large
  };
  /// The same until after() or stop() is called.
  Attempt next();
  /// What all searches so far have found out to be wrong is no assumption any more.
  const Options& options() const { return options_; }

  /// What a search has met.
  struct Seen {
    bool sums_clash = false, refuted = false, host_clash = false;
    bool retries = false, gave_up = false; // Fact::Retries and so on
    bool host_got_data = false, circle = false;
    reduce::Learned learned{}; // what is to blame for clashes
  };
  /// What its judge says.
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
  bool is_void(const Seen& seen) const;

  /// Where the plan stands, in one line: for a search that is stopped and goes on.
  std::string to_text() const;
  /// Of a plan for the same options. Input error: this is no such line.
  Result<void> go_on_from(std::string_view text);

private:
  struct Flag;
  struct Set;
  struct Count;
  static const Flag flags[];
  static const Set sets[];
  static const Count counts[];
  bool one_order_may_do() const { return every_order_ && (could_be_ & ~contended_) != 0; }
  /// Is there a search that tells less apart, and has not been tried?
  bool less_may_do() const {
    return cone_ || one_order_may_do() || (options_.host_decides && host_got_data_);
  }
  void with_less();
  void begin_again(const Seen& seen);
  Next decide(const Seen& seen, const std::function<Found()>& judge);

  Options asked_, options_;
  reduce::Mutant mutant_;
  std::uint64_t could_be_ = 0;  // unordered
  std::uint64_t contended_ = 0; // that could not be
  bool every_order_ = false;
  bool small_ = true;     // a search of every order is given up early
  bool straight_ = false; // not tried yet
  bool kept_ = false;
  bool cone_ = false;                      // a search by decisions has not been tried yet
  bool host_got_data_ = false;             // in it
  bool one_order_might_have_done_ = false; // before the search under way
  bool less_might_have_done_ = false;      // the same
  unsigned place_rounds_ = 0;              // searches that were invalid only for a place
  unsigned rewritten_rounds_ = 0;          // … that was written again
  unsigned number_ = 1;                    // of the search under way
  Options kept_with_;
};

/// What the beginning of a search may cost (Options::max_work) that is over after so many states.
std::uint32_t work_for(std::uint32_t states);
/// "blocks start at once, one order": which kind of search this is.
std::string kind_of(const Plan::Attempt& attempt);

} // namespace heddle::explore
