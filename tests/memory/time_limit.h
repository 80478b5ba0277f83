#pragma once
// How long a program may look for something new; what is left is for another night.
#include <chrono>

namespace heddle::litmus {

class TimeLimit {
public:
  explicit TimeLimit(double seconds) : seconds_(seconds) {} // 0: no limit

  /// Is this part of it over?
  bool over(double part = 1) const {
    const std::chrono::duration<double> gone = std::chrono::steady_clock::now() - start_;
    return seconds_ != 0 && gone.count() > part * seconds_;
  }

private:
  double seconds_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

} // namespace heddle::litmus
