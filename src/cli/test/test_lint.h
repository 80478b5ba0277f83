// What `heddle lint` says about a source, while something else runs.
//
//   TestLint lint("app.cu", nvcc_flags, config);      // starts
//   TestLint::Result result = lint.wait();
#pragma once

#include "cli/config/config_file.h"
#include "report/static_report.h"

#include <future>
#include <optional>
#include <string>
#include <vector>

namespace heddle::cli {

class TestLint {
public:
  TestLint(
      const std::string& source,
      const std::vector<std::string>& nvcc_flags,
      const ConfigOptions& config
  );
  struct Result {
    report::StaticReport report;
    std::string problem; // why nothing, or not everything, was looked at; empty: it was
  };
  Result wait() { return result_.get(); }

private:
  std::future<Result> result_;
};

} // namespace heddle::cli
