// What a verdict leaves out because the program decides by what another run may answer otherwise
// (spec/answers.md), in words.
//
//   for (report::LeftOut& one : other_answers(repeated.decides, places_of_questions(table,
//   sources))) …
#pragma once

#include "explore/table/state_table.h"
#include "explore/verdict/source_places.h"
#include "explore/witness/repetition.h"
#include "report/coverage.h"

#include <map>
#include <string>
#include <vector>

namespace heddle::explore {

/// By the word of an answer: where the program asks for it, the first place by file and line.
std::map<std::string, Site> places_of_questions(const StateTable& table, HostSources& sources);

/// `asked`: by the word of an answer, where the program asks for it.
std::vector<report::LeftOut>
other_answers(const Decides& decides, const std::map<std::string, Site>& asked);

} // namespace heddle::explore
