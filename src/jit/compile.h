// compile_kernel(): the code of one kernel and of the functions that it calls, as an image.
#pragma once

#include "base/result.h"
#include "isa/program.h"
#include "jit/launch_shape.h"

#include <cstddef>
#include <vector>

namespace heddle::jit {

class Handlers; // handlers.h

/// Unsupported: nothing of it can be compiled.
Result<std::vector<std::byte>>
compile_kernel(const Handlers& handlers, const isa::Kernel& kernel, const LaunchShape& shape);

} // namespace heddle::jit
