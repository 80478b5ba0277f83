// RegionFault: what the parts of a group have failed with that a region executes one after the
// other, as the interpreter would have found it for all of them at once.
#pragma once

#include "isa/exec.h"
#include "isa/region.h"

namespace heddle::isa {

struct RegionFault {
  /// A handler has stopped the group of the context. What comes later at another op does not count.
  void add(Exec& exec, const RegionContext& context);
  /// The exec is as if its handler had stopped with that.
  void put(Exec& exec) const;

  LaneMask lanes = 0; // that executed the op
  const Op* op = nullptr;
  Stop why{};
  Fault fault;
};

} // namespace heddle::isa
