// Under which heading --help lists each flag. The flags themselves are defined in options.cpp.
#pragma once

namespace CLI {
class App;
}

namespace heddle::cli {

/// Gives each flag of each command the heading of the table in options_groups.cpp, and each command
/// the flag --help-all. What has the empty heading already stays hidden.
void group_options(CLI::App& app);

/// For --help-all: hidden flags get a heading, too.
void show_hidden_options(CLI::App& command);

} // namespace heddle::cli
