// What names a state, besides the fingerprint of the devices: host threads and their memory, and
// how commands are referred to.
#include "explore/search/explorer_impl.h"

#include <cstddef>
#include <cstdint>

namespace heddle::explore {

/// What is added to that of devices in a state's fingerprint.
Hash128 Explorer::beside_device(std::uint64_t open) {
  // The move that led here, or going back, may have completed a kernel that a stream ends with.
  if (const auto commands = stepper_.works().names_of_commands(); commands != named_commands_) {
    hash_commands();
  }
  const std::uint64_t words[] =
      {host_hash_.low, host_hash_.high, command_hash_.low, command_hash_.high, open};
  const XXH128_hash_t h = XXH3_128bits(words, sizeof words);
  return {h.low64, h.high64};
}

void Explorer::hash_host() {
  Hasher hasher;
  threads_.hash(hasher);
  host_.hash_memory(hasher);
  hasher.value(changed_);
  host_hash_ = hasher.finish();
  hash_commands();
}

/// What commands that are not complete will do, and how the API's objects and calls that wait refer
/// to them.
void Explorer::hash_commands() {
  named_commands_ = stepper_.works().names_of_commands();
  Hasher hasher;
  stepper_.works().hash_contents(hasher);
  world_.hash_api_state(hasher, [this](const machine::Command& command) {
    return stepper_.works().name_of(command);
  });
  // A host function's thread knows only its place among the calls, which stands for the command.
  for (std::size_t call = 0; call < host_calls_.size(); ++call) {
    if (const machine::CommandPtr& command = host_calls_[call].command) {
      hasher.value(call);
      hasher.value(stepper_.works().name_of(*command));
    }
  }
  for (unsigned t = 0; t < threads_.count(); ++t) {
    if (threads_.state(t) != HostThreads::State::Live) {
      continue;
    }
    // A call that began before another thread submitted more does not wait for that.
    for (const machine::CommandPtr& command : threads_.point(t).commands) {
      if (const std::uint64_t name = stepper_.works().name_of(*command); name != 0) {
        hasher.value(t);
        hasher.value(name);
      }
    }
  }
  command_hash_ = hasher.finish();
}

} // namespace heddle::explore
