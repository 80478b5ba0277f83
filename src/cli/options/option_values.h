// What the values of options must be, checked before anything is done: a search of ten minutes is
// not lost because its report cannot be written.
#pragma once

#include <CLI/CLI.hpp>

namespace heddle::cli {

/// A number of seconds above 0.
CLI::Validator seconds();

/// A file that settings are read from: no folder, and no program, which would be the argument that
/// follows an option without its value.
CLI::Validator file_to_read();

/// A file that is written, or "-" for standard output: the same, and it exists and may be written,
/// or can be made.
CLI::Validator file_to_write();

/// A file that another one takes the place of, each time it is written: the same, but no device and
/// no standard output.
CLI::Validator file_to_replace();

} // namespace heddle::cli
