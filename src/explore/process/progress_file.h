// ProgressFile: where lines of progress are written (progress.h).
//
//   TRY(const auto file, ProgressFile::create("progress.json"));     // empty, or an input error
//   file->add(progress_json(…));
//   file->problem()                                                  // for the report
//
// What cannot be written is lost, and the search goes on.
#pragma once

#include "base/result.h"

#include <memory>
#include <string>
#include <string_view>
#include <utility>

namespace heddle::explore {

class ProgressFile {
public:
  static Result<std::shared_ptr<ProgressFile>> create(const std::string& path);
  ~ProgressFile();
  ProgressFile(const ProgressFile&) = delete;
  ProgressFile& operator=(const ProgressFile&) = delete;

  void add(std::string_view line);
  /// Why lines are missing; empty: none are.
  const std::string& problem() const { return problem_; }

private:
  ProgressFile(std::string path, int fd) : path_(std::move(path)), fd_(fd) {}

  std::string path_;
  int fd_; // opened once: what bears the name later may be somebody else's
  std::string problem_;
};

} // namespace heddle::explore
