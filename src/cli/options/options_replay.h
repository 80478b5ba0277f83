// The flags of heddle replay.
#pragma once

#include "cli/options/options.h"

namespace heddle::cli {

void define_replay(CLI::App& app, ReplayOptions& options);

} // namespace heddle::cli
