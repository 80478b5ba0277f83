// Implements early_commands.h.
#include "reduce/persistent_sets/early_commands.h"

namespace heddle::reduce {

void EarlyCommands::submitted(
    const CommandPtr& command,
    Identity identity,
    const std::function<void(Identity)>& together
) {
  std::set<std::uint64_t>& before = before_[command->id];
  for (const std::uint64_t other : command->behind) {
    before.insert(other);
    if (const auto known = before_.find(other); known != before_.end()) {
      before.insert(known->second.begin(), known->second.end());
    }
  }
  for (const Submitted& other : submitted_) {
    if (!before.contains(other.command->id)) {
      together(other.identity);
    }
  }
  submitted_.push_back({command, identity});
}

void EarlyCommands::host_waited(const std::function<bool()>& condition) {
  std::set<std::uint64_t> over;
  for (const Submitted& submitted : submitted_) {
    Command& command = *submitted.command;
    if (over.contains(command.id) || !command.done) {
      continue;
    }
    command.done = false;
    const bool holds = condition();
    command.done = true;
    if (!holds) {
      over.insert(command.id);
      over.insert(before_[command.id].begin(), before_[command.id].end());
    }
  }
  std::erase_if(submitted_, [&](const Submitted& s) { return over.contains(s.command->id); });
}

void EarlyCommands::add_carried_out(std::vector<Identity>& under_way) const {
  for (const Submitted& submitted : submitted_) {
    if (submitted.command->done) {
      under_way.push_back(submitted.identity);
    }
  }
}

} // namespace heddle::reduce
