// Whether somebody looks at a copy of a few words while it is under way
// (explore/host/copy_words.h): then a search that takes it for one move says nothing, and the next
// one takes it word by word.
#pragma once

#include "explore/search/ground.h"
#include "memory/address_space.h"

namespace heddle::explore {

bool copies_few_words(const machine::Command& command);
/// Is one under way that reads or writes some of these bytes, which a host thread accesses?
bool host_looks_at_copy(const Stepper& stepper, memory::Address address, std::size_t bytes);
/// Where one has been submitted: may a kernel have looked at it? (At it or at another command.)
bool device_looks_at_copy(const Stepper& stepper);
/// Somebody looks.
void refute_whole_copies(StateTable& table);

} // namespace heddle::explore
