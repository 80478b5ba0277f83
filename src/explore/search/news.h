// News: what one process of a search has seen that the others, or the report, have to know.
//
//   news.note_facts();               // what the last move has shown of the program
//   news.exchange();                 // assumptions may be wrong by what two processes have seen
//   news.tell_refuted();             // at the end: what this search has shown to be no assumption
#pragma once

#include "explore/search/ground.h"

#include <cstdint>
#include <string_view>
#include <variant>

namespace heddle::explore {

class News {
public:
  explicit News(Ground& ground);

  /// What the last move has shown of the program as a whole.
  void note_facts();
  /// What this process has noted of accesses (reduce/independence/sums.h,
  /// persistent_sets/meetings.h) the others have to know, and the other way round: an assumption
  /// may be wrong because of what two of them have seen.
  void exchange();
  void tell_refuted();
  /// A copy of a few words has been submitted, which others may look at.
  void copies_few_words() { copies_few_words_ = true; }
  /// What threads have executed since the last time (StateTable::computed).
  std::uint32_t computed_since();

private:
  /// Plain data, as it stands in the table.
  using Told = std::variant<reduce::Sums::Note, reduce::Meetings::Note>;
  void tell(const Told& news);
  void tell_once(bool left_out, bool& told, std::string_view what);

  Ground& ground_;
  StateTable& table_;
  Stepper& stepper_;
  std::uint64_t looked_at_allocations_ = 0; // AddressSpace::generation() then
  bool told_of_orders_ = false, told_of_looks_ = false, told_of_arrivals_ = false,
       told_of_times_ = false;
  bool copies_few_words_ = false;
  std::uint32_t heard_ = 0;   // of what is told in the table
  std::uint64_t counted_ = 0; // of the instructions that this process has executed
};

} // namespace heddle::explore
