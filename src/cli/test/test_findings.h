// TestFindings: what `heddle test` has found so far, one finding for one cause.
//
//   TestFindings found;
//   for (Diagnostic& d : found.take(std::move(report.findings))) print(d);   // the new ones
//
// A later look finds again what an earlier one has found, and consequences of it. A finding is left
// out if
//   - one of the same kind is at the same line;
//   - both are hangs of the same kernel's line;
//   - it is about uninitialised memory and reads in a line that takes part in a data race: what is
//     missing is the order, not the value;
//   - it is about uninitialised memory, and an API call or a launch has failed;
//   - it is a race in a line that has accessed a wrong address;
//   - it is a race of two lines between which another one has been found, in the other order;
//   - it is about the mask of a shuffle whose value is uninitialised;
//   - it is about the exit status, and there is a defect that may be its cause.
// May hide a second defect that has the same kind and line as the first.
#pragma once

#include "report/diagnostic.h"
#include "report/static_report.h"

#include <vector>

namespace heddle::cli {

class TestFindings {
public:
  /// Those of `found` that are new, the heaviest first.
  std::vector<report::Diagnostic> take(std::vector<report::Diagnostic> found);
  /// Has a kernel hung, or something undefined been done? What follows in the program, such as
  /// calls that free nothing any more, is not another defect.
  bool has_fault() const;
  /// Leaves out what is said about a line that a finding names.
  void drop_known(std::vector<report::StaticFinding>& found) const;

  const std::vector<report::Diagnostic>& all() const { return all_; }
  std::vector<report::Diagnostic>& all() { return all_; }

private:
  bool knows(const report::Diagnostic& d) const;

  std::vector<report::Diagnostic> all_;
};

} // namespace heddle::cli
