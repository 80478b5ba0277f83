// Where device memory would lie in a search, in a process that has it elsewhere (base/outside.h): a
// repetition takes what the search has learned of places.
#pragma once

#include "memory/address_space.h"

#include <cstdint>

namespace heddle::memory {

/// Of the one space of this process. `a` itself, where nothing lies elsewhere.
Address usual_address(Address a);
/// Part of an allocation lies where `usual` would be.
void note_usual_address(Address base, std::uint64_t bytes, Address usual);

} // namespace heddle::memory
