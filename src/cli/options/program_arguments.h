// Which words of `heddle run` and `heddle check` are Heddle's and which are the program's.
//
//   heddle run --seed 3 ./app --seed 4            everything behind PROGRAM is the program's
//   heddle run a.cu b.cu --seed 3 -- --seed 4     behind FILE.cu only what follows "--" is
#pragma once

#include "cli/options/options.h"

#include <CLI/CLI.hpp>

#include <string>
#include <vector>

namespace heddle::cli {

struct Split {
  std::vector<std::string> ours; // for a second look at options behind FILE.cu
  std::string program;
  std::vector<std::string> arguments; // of the program
};

/// PROGRAM takes everything that follows; FILE.cu only what follows "--".
Split split_arguments(
    const std::vector<std::string>& all,
    const std::vector<std::string>& remaining
);

/// CLI11 takes the arguments last first.
void parse(CLI::App& app, std::vector<std::string> arguments);

/// Options on both sides of FILE.cu, and further sources, which become flags for nvcc. What is left
/// over is neither.
std::vector<std::string> parse_around_source(
    CLI::App& app,
    const std::string& name,
    std::vector<std::string> ours,
    ProgramOptions& target
);

} // namespace heddle::cli
