// Structural equality of modules: what printing and parsing must keep.
//
// Text positions do not count, nor the order of functions (printing declares before it defines) and
// of source locations, which are compared by what they say.
#pragma once

#include "ptx/module.h"

#include <optional>
#include <string>

namespace heddle::ptx {

/// Nothing if the modules are equal, else where they first differ.
std::optional<std::string> difference(const Module& a, const Module& b);

} // namespace heddle::ptx
