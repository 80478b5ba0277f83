// The smallest program, and the fewest reductions, that still disagree with the reference.
#pragma once

#include "reduce/configurations.h"

#include <functional>

namespace heddle::enumeration {

struct Case {
  MicroProgram program;
  Configuration configuration;
};

/// `fails(c)`: the searches disagree. It holds for `found`, and for what is returned.
Case minimised(Case found, const std::function<bool(const Case&)>& fails);

} // namespace heddle::enumeration
