// Device functions that belong to no program: NVIDIA's linker or driver brings them. Heddle has
// them as PTX, so that searches and monitors see what they do to memory as they see everything
// else.
#pragma once

#include "base/result.h"
#include "ptx/module.h"
#include "runtime/registration/fatbin.h"

#include <memory>
#include <vector>

namespace heddle::runtime {

/// Is this NVIDIA's library of the device runtime (libcudadevrt)? nvcc adds it as a unit to
/// programs that are linked with -lcudadevrt. It is never loaded: isa/lower_device_runtime.h and
/// built-in functions stand for it.
bool is_device_runtime(const std::vector<FatbinEntry>& entries);

/// Adds those that a unit declares and none defines.
Result<void> add_built_in(std::vector<std::shared_ptr<const ptx::Module>>& units);

} // namespace heddle::runtime
