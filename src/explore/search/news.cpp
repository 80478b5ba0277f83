// Implements news.h.
#include "explore/search/news.h"

#include "explore/search/looks_at_copies.h"

#include <cstring>
#include <span>
#include <type_traits>
#include <utility>

namespace heddle::explore {

namespace {

/// Without instrumentation the host is seen at API calls only. That leaves nothing out while no
/// other thread, and no device, reaches what it accesses between them.
bool devices_reach_host(memory::AddressSpace& space) {
  bool result = false;
  space.each_live([&](const memory::Allocation& allocation) {
    result = result || allocation.kind == memory::AllocationKind::Managed ||
             allocation.kind == memory::AllocationKind::Pinned ||
             allocation.kind == memory::AllocationKind::Registered;
  });
  return result;
}

} // namespace

News::News(Ground& ground) : ground_(ground), table_(ground.table), stepper_(ground.stepper) {}

void News::note_facts() {
  const reduce::SearchFacts facts = stepper_.facts();
  const auto& fences = facts.sc_fences;
  for (const auto& [seen, fact] : {
           std::pair(facts.dependency, Fact::Dependency),
           std::pair(facts.plain_access, Fact::PlainAccess),
           std::pair(facts.more_active, Fact::ActiveSets),
           std::pair(facts.more_old_values, Fact::OldValues),
           std::pair(facts.vectors_at_once, Fact::Vectors),
           std::pair(facts.reductions_at_once, Fact::Reductions),
           std::pair(fences.heard, Fact::FenceHeard),
           std::pair(fences.took, Fact::FencesTook),
           std::pair(fences.apart, Fact::FencesApart),
           std::pair(facts.same_value, Fact::SameValue),
           std::pair(facts.host_got_data, Fact::HostGotData),
           std::pair(facts.unordered, Fact::DataOrder),
           std::pair(facts.retries, Fact::Retries),
           std::pair(facts.choice, Fact::Choice),
       }) {
    seen ? table_.note(fact) : void();
  }
  if (const std::uint64_t now = ground_.world.space().generation();
      (now != looked_at_allocations_ || ground_.threads.count() > 1) &&
      table_.saw(Fact::HostUnseen)) {
    looked_at_allocations_ = now;
    if (ground_.threads.count() > 1 || devices_reach_host(ground_.world.space())) {
      table_.note(Fact::HostShares);
    }
  }
  tell_once(facts.more_looks, told_of_looks_, "more looks at a clock before a time limit is over");
  tell_once(!facts.times.empty(), told_of_times_, facts.times);
  tell_once(
      facts.more_orders,
      told_of_orders_,
      "more orders in which lanes of a warp do one atomic operation"
  );
  tell_once(
      facts.late_arrivals,
      told_of_arrivals_,
      "bytes of an asynchronous copy that arrive later at an mbarrier, which threads may notice"
  );
}

void News::tell_once(bool left_out, bool& told, std::string_view what) {
  if (left_out && !ground_.purpose.one_way() && !std::exchange(told, true)) {
    table_.add_event(EventKind::LeftOut, 0, 0, what);
  }
}

void News::exchange() {
  if (ground_.purpose.one_way()) {
    return;
  }
  for (const reduce::Sums::Note& note : stepper_.sums().take_news()) {
    tell(note);
  }
  for (const reduce::Meetings::Note& note : stepper_.persistent().groups().meetings().take_news()) {
    tell(note);
  }
  for (; heard_ < table_.told(); ++heard_) {
    Told told;
    std::memcpy(static_cast<void*>(&told), table_.told(heard_).data(), sizeof told);
    if (const auto* const access = std::get_if<reduce::Sums::Note>(&told)) {
      stepper_.sums().learn(*access);
    } else if (const auto* const meeting = std::get_if<reduce::Meetings::Note>(&told)) {
      stepper_.persistent().groups().meetings().learn(*meeting);
    }
  }
}

void News::tell(const Told& news) {
  static_assert(std::is_trivially_copyable_v<Told> && sizeof news <= StateTable::most_told);
  const auto number = table_.tell(std::as_bytes(std::span(&news, 1)));
  if (!number) {
    table_.add_event(EventKind::Incomplete, 0, 0, "more accesses than can be kept in mind");
    leave(ground_);
  }
  heard_ += *number == heard_ ? 1 : 0; // nobody else has said anything meanwhile
}

void News::tell_refuted() {
  const bool sums = stepper_.sums_clash(); // it may be what others have said last that shows it
  if ((sums || stepper_.some_last() || stepper_.refuted()) && !ground_.purpose.one_way()) {
    if (sums) {
      table_.note(Fact::SumsClash);
    }
    table_.learn(stepper_.learned());
  }
  if (starts_at_once(ground_.options) && stepper_.choice_met_command()) {
    table_.note(Fact::Circle); // the same: one has seen the command, another one the choice
  }
  if (copies_few_words_ && !ground_.purpose.one_way() &&
      stepper_.assumed().takes_copies_for_one_move() && device_looks_at_copy(stepper_)) {
    refute_whole_copies(table_);
  }
}

std::uint32_t News::computed_since() {
  constexpr std::uint64_t instructions_for_one = 256;
  const std::uint64_t computed = (stepper_.executed() - counted_) / instructions_for_one;
  counted_ += computed * instructions_for_one;
  return static_cast<std::uint32_t>(computed);
}

} // namespace heddle::explore
