// heddle --completion SHELL: a script that completes commands, flags and their words.
#pragma once

#include <string>

namespace CLI {
class App;
}

namespace heddle::cli {

/// `shell`: bash, zsh or fish.
std::string completion_script(const CLI::App& app, const std::string& shell);

} // namespace heddle::cli
