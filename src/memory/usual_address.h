// Where device memory would lie in a search, in a process that has it elsewhere (base/outside.h): a
// repetition takes what the search has learned of places.
#pragma once

#include "memory/address_space.h"

namespace heddle::memory {

/// Of the one space of this process. `a` itself, where nothing lies elsewhere.
Address usual_address(Address a);

} // namespace heddle::memory
