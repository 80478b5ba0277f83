// heddle check --reference: what the reference says of a program's kernels
// (runtime/reference_driver.h).
#pragma once

#include "cli/options/options.h"

namespace heddle::cli {

/// The exit code: 1 if some kernels may hang, fail or race, else 4, since the host is not looked
/// at.
int check_by_reference(const CheckOptions& options);

} // namespace heddle::cli
