// one_file.h: what lint() does with one file: read, judge, apply the options, suppress.
//
//   TRY(const FileResult result, lint_file(request, job, toolkit));
//
// A result that an earlier run has kept (LintRequest::kept) takes the place of all of it.
#pragma once

#include "base/result.h"
#include "lint/lint.h"

#include <string>
#include <vector>

namespace heddle::lint {

struct Job {
  std::string file;
  std::string folder; // where its command runs
  std::vector<std::string> flags;
  std::string architecture;
};

struct FileResult {
  std::vector<report::StaticFinding> findings;
  report::FileTime time;
  std::vector<std::string> read; // every file on the disk that it depends on
};

Result<FileResult>
lint_file(const LintRequest& request, const Job& job, const std::string& toolkit);

} // namespace heddle::lint
