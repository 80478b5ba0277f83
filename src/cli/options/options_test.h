// The command line of `heddle test`, which is also what `heddle app.cu` means.
#pragma once

#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace heddle::cli {

struct CheckOptions;

/// The flags that only this command has, or that mean something else in it.
void define_test_options(CLI::App& command, CheckOptions& options);

/// With the command that a command line without one means: `heddle app.cu`, `heddle ./app`. As it
/// is if it has a command, or asks for none.
std::vector<std::string>
with_command(std::vector<std::string> arguments, const std::vector<std::string>& commands);

} // namespace heddle::cli
