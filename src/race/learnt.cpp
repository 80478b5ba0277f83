// Implements learnt.h.
#include "race/learnt.h"

namespace heddle::race {

void Learnt::add(const CommandInfoPtr& teacher, Knowledge knowledge) {
  if (teacher != nullptr &&
      (!knowledge.clock.empty() || !teacher->completed().includes(knowledge.commands))) {
    teachers_.emplace_back(teacher->id, std::move(knowledge));
    asked_ = nullptr;
    answer_ = {};
  }
}

const Learnt::Knowledge& Learnt::by(const CommandInfo& command) {
  if (asked_ != command.before) {
    answer_ = {};
    for (const auto& [teacher, knowledge] : teachers_) {
      if (command.before != nullptr && command.before->contains(teacher)) {
        answer_.commands.add(knowledge.commands);
        answer_.clock.learn(knowledge.clock);
      }
    }
    asked_ = command.before;
  }
  return answer_;
}

} // namespace heddle::race
