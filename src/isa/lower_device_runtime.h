// Functions of the CUDA device runtime (lower_device_runtime.cpp).
#pragma once

#include "isa/op.h"

#include <string_view>

namespace heddle::isa {

/// The handler of a call of `name`; nullptr: it is no such function, or one that is not served.
Handler device_runtime_function(std::string_view name);
/// Is `name` the function by which a kernel is named that is to be launched?
bool names_launched_kernel(std::string_view name);

} // namespace heddle::isa
