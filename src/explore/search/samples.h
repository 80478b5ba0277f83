// Samples: what the explorer does after a limit: single schedules (sampler.h), each in a process
// forked where the host program first stops.
//
//   samples.go_on();                        // the host has stopped
//
// A schedule is first tried without writing anything down. If it comes to something new, it is made
// again, the same steps, and recorded as a search would have recorded it: states with all that is
// owed in them, the move that was made, and the moves that were not made although somebody could
// (their edges lead to a state that nobody has looked at). So judging it is no different.
#pragma once

#include "explore/search/sampling.h"
#include "explore/search/search.h"

#include <cstdint>
#include <optional>
#include <string_view>

namespace heddle::explore {

class Samples {
public:
  Samples(
      Ground& ground,
      const Search::Parts& parts,
      Search& search,
      ReportNames& names,
      SharedSheet sheet
  );

  /// Returns when the host goes on.
  void go_on();
  /// The schedule is over.
  [[noreturn]] void end(SampleEnd end);
  /// Something worth a report has happened in a schedule that is not recorded.
  void note(std::string_view text);

private:
  void serve();
  bool begin(std::uint32_t number, bool record);
  void await(std::uint32_t number, bool record);
  Node arrive();
  void leave_out_wake_ups(Node& node) const;
  bool go_to_first_choice();
  std::uint64_t signature_of_hang();
  Sampler::Candidate candidate_of(const Node& node, const Choice& choice) const;
  void note_alternatives(const Node& node, const std::optional<Choice>& chosen);
  bool everybody_spins(const Node& node);
  SpinPlaces spin_places(const Node& node);

  Ground& ground_;
  StateTable& table_;
  Stepper& stepper_;
  Search::Parts parts_;
  Search& search_;
  ReportNames& names_;
  Sampling sampling_;
};

} // namespace heddle::explore
