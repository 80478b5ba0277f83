// The switches that turn off one reduction of the search each (spec/reductions.md): they test
// Heddle itself, so --help-all shows them and --help does not.
#pragma once

#include "explore/session.h"

namespace CLI {
class App;
}

namespace heddle::cli {

void define_switches(CLI::App& check, explore::Options& search);

} // namespace heddle::cli
