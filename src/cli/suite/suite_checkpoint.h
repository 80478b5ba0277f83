// What a suite has found so far, in a file: so that it goes on after a stop, a crash or a full
// disk.
//
//   SuiteCheckpoint checkpoint(file);
//   TRY_VOID(checkpoint.read());                          // --resume
//   if (const auto* known = checkpoint.find(identity)) …  // checked before, exactly so
//   checkpoint.add(result);
//
// The file is replaced as a whole, after the new one is on the disk: it is never half written. It
// is compressed by zstd; its lines are results (report/suite.h), each with the identity of what was
// checked.
#pragma once

#include "base/result.h"
#include "report/suite.h"

#include <map>
#include <string>

namespace heddle::cli {

class SuiteCheckpoint {
public:
  /// Empty: nothing is kept.
  explicit SuiteCheckpoint(std::string file) : file_(std::move(file)) {}

  /// Input error: the file cannot be read, or is not a checkpoint.
  Result<void> read();
  const report::SuiteResult* find(const std::string& identity) const;
  /// Input error: it cannot be written; then the file is as it was.
  Result<void> add(const report::SuiteResult& result);

private:
  std::string file_;
  std::map<std::string, report::SuiteResult> results_; // by identity
};

} // namespace heddle::cli
