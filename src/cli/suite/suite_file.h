// The file of `heddle check --suite`: programs, and what is expected of them, in YAML as everything
// that a project states about itself (.heddle.yaml). The format is documented in docs/checking.md.
//
//   TRY(Suite suite, read_suite("tests/suite.yaml"));
//
// Paths of programs are relative to the file. A key or an expectation that nobody knows is an
// error.
#pragma once

#include "base/result.h"

#include <string>
#include <vector>

namespace heddle::cli {

struct SuiteEntry {
  std::string name;    // unique
  std::string program; // a path from the current folder
  std::vector<std::string> arguments;
  std::vector<std::string> options;  // of heddle check, with those of the whole suite before them
  std::vector<std::string> expected; // a verdict, or codes of findings
  std::string written;               // "suite.yaml:3"
};

struct Suite {
  std::string file; // as shown to users
  std::vector<SuiteEntry> entries;
};

/// Input error: "FILE:LINE:COLUMN: …".
Result<Suite> read_suite(const std::string& file);

} // namespace heddle::cli
