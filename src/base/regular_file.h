// Opening files whose names come from somebody else: a setting, a search through folders, debug
// information. A pipe or a terminal of that name would never end, and opening a pipe would wait.
//
//   const int fd = open_regular_file(".heddle.yaml");      // -1 and errno; EINVAL: something else
//   const auto text = read_regular_file("src/scan.cu");    // nothing: it cannot be read
//
// A name that the user has typed may be that of a pipe: `--config <(…)`.
#pragma once

#include <optional>
#include <string>

namespace heddle {

/// For reading; closed in programs that are started.
int open_regular_file(const std::string& path);

/// All of it.
std::optional<std::string> read_regular_file(const std::string& path);

/// What is left of an open file; nothing, and errno: it cannot be read.
std::optional<std::string> read_to_end(int fd);

} // namespace heddle
