// Implements host_functions.h.
#include "explore/search/host_functions.h"

#include <algorithm>

namespace heddle::explore {

/// Its thread gets no memory that was allocated here: where that lies depends on the search, and
/// the address would be part of states.
void HostFunctions::begin(const machine::CommandPtr& command) {
  if (command == nullptr) {
    return;
  }
  const HeddleThreadHooks* hooks = ground_.threads.hooks();
  const auto call = std::ranges::find(calls_, nullptr, &Call::command);
  if (hooks == nullptr || call == calls_.end()) {
    ground_.scheduler.unsupported("a host function, with this C library");
  }
  *call = {&ground_, command};
  pthread_t id{};
  hooks->create(&id, nullptr, run, &*call);
  hooks->detach(id);
}

void* HostFunctions::run(void* argument) {
  auto& call = *static_cast<Call*>(argument);
  call.command->work();
  const HostThreads::Aside aside(call.ground->threads);
  call.ground->stepper.returned(call.command);
  call.command = nullptr;
  return nullptr;
}

/// The thread of a host function knows only its place among the calls, which stands for the
/// command.
void HostFunctions::hash(Hasher& hasher) const {
  for (std::size_t call = 0; call < calls_.size(); ++call) {
    if (const machine::CommandPtr& command = calls_[call].command) {
      hasher.value(call);
      hasher.value(ground_.stepper.works().name_of(*command));
    }
  }
}

} // namespace heddle::explore
