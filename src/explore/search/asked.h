// Asked: what the program asks of the system in an execution that is explored (spec/answers.md):
// answers that could be others, and inputs that the verdict assumes.
//
//   if (asked.answer(HeddleAnswerProcess, pc)) …   // it is the program that asks: it gets our
//   answer asked.input(HeddleFileRead, "data.txt", pc);
//
// May miss: what libraries ask for on their own.
#pragma once

#include "explore/search/ground.h"
#include "hostwatch/hooks.h"

#include <cstddef>
#include <set>
#include <string>
#include <utility>

namespace heddle::explore {

class Asked {
public:
  explicit Asked(Ground& ground) : ground_(ground) {}

  bool answer(HeddleAnswer what, const void* pc);
  void input(HeddleInput kind, const std::string& name, const void* pc);

private:
  bool is_new(int kind, const std::string& name);

  Ground& ground_;
  std::set<std::pair<int, std::string>> known_; // places of questions, and inputs
  std::set<std::string> written_;               // files
};

} // namespace heddle::explore
