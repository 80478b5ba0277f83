// HostFunctions: host functions of streams that have begun. Each runs on a host thread of its own.
//
//   functions.begin(stepper.works().host_function(move));   // nullptr: it is none
//   functions.hash(hasher);                                 // which ones are under way
#pragma once

#include "explore/search/ground.h"

#include <array>

namespace heddle::explore {

class HostFunctions {
public:
  explicit HostFunctions(Ground& ground) : ground_(ground) {}
  void begin(const machine::CommandPtr& command);
  void hash(Hasher& hasher) const;

private:
  struct Call {
    Ground* ground = nullptr;
    machine::CommandPtr command;
  };
  static void* run(void* call);

  Ground& ground_;
  std::array<Call, HeddleMaxThreads> calls_;
};

} // namespace heddle::explore
