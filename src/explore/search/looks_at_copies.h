// Whether somebody looks at a copy of a few words while it is under way
// (explore/host/copy_words.h): then a search that takes it for one move says nothing, and the next
// one takes it word by word.
#pragma once

#include "explore/search/ground.h"
#include "memory/address_space.h"

namespace heddle::explore {

bool copies_few_words(const machine::Command& command);
/// Is one under way that reads or writes the byte at `address`?
bool meets_copy_of_few_words(const reduce::Works& works, memory::Address address);
/// Somebody looks.
void refute_whole_copies(StateTable& table, const Options& options, const Purpose& purpose);

} // namespace heddle::explore
