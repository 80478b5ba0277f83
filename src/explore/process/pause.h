// Pause: all processes of a search stand still, so that what they share can be read as it is.
//
//   const Pause pause(leader);                  // of their process group
//   if (pause.all_stopped()) …                  // until the end of the scope
#pragma once

#include <sys/types.h>

namespace heddle::explore {

class Pause {
public:
  explicit Pause(pid_t leader);
  ~Pause(); // they go on
  Pause(const Pause&) = delete;
  Pause& operator=(const Pause&) = delete;
  /// False: one of them could not be stopped in time.
  bool all_stopped() const { return all_stopped_; }

private:
  pid_t leader_;
  bool all_stopped_ = false;
};

} // namespace heddle::explore
