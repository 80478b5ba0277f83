// PhaseTime: how long the parts of a check take, for whoever makes them faster (bench/check).
//
//   const PhaseTime time("edges by state");     // until the end of the scope
//
// With HEDDLE_PHASES in the environment each part prints one line to standard error: wall clock,
// processor time of the tool's own threads (not of the explored processes), name.
#pragma once

#include <chrono>
#include <string>

namespace heddle::explore {

class PhaseTime {
public:
  explicit PhaseTime(const char* name);
  ~PhaseTime() { end(); }
  PhaseTime(const PhaseTime&) = delete;
  PhaseTime& operator=(const PhaseTime&) = delete;
  /// Before the end of the scope.
  void end();
  /// Something else that has been measured, for the same readers.
  static void note(const std::string& text);

private:
  const char* name_; // nullptr: nobody wants to know, or it has been printed
  std::chrono::steady_clock::time_point begun_;
  double processor_begun_ = 0;
};

} // namespace heddle::explore
