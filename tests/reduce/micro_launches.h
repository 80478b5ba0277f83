// What micro-programs ask of the device runtime: launches of children, and copies.
#pragma once

#include "reduce/micro_program.h"

#include <string>

namespace heddle::enumeration {

/// What a kernel launches, and the functions that it calls to do so.
std::string children_as_ptx();

/// With the pieces of text `#` of micro_program.cpp. `value` goes to the child.
std::string launch_as_ptx(Kind kind, const std::string& value);

} // namespace heddle::enumeration
