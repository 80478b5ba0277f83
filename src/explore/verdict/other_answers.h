// What a verdict leaves out because the program decides by what another run may answer otherwise
// (spec/answers.md), in words.
//
//   for (report::LeftOut& one : other_answers(repeated.decides, judged.asked)) …
#pragma once

#include "explore/table/state_table.h"
#include "explore/witness/repetition.h"
#include "report/coverage.h"

#include <map>
#include <string>
#include <vector>

namespace heddle::explore {

/// `asked`: by the word of an answer, where the program asks for it.
std::vector<report::LeftOut>
other_answers(const Decides& decides, const std::map<std::string, Site>& asked);

} // namespace heddle::explore
