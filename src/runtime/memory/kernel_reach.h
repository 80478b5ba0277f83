// KernelReach: what a kernel does with memory that it is given, as far as its text tells.
//
//   const KernelReach& reach = reaches.of(*grid.program(), grid.kernel());
//   if (reach.talks) …                     // with whoever else runs: the host may tell it things
//   reach.pointers                          // parameters that may be pointers, and managed
//   variables
//
// Conservative: what is not known counts as written, and who may talk as one that does.
#pragma once

#include "isa/program.h"
#include "memory/address_space.h"

#include <cstdint>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

namespace heddle::runtime {

struct KernelReach {
  struct Pointer { // 8 bytes of the parameter block that may be an address
    std::uint32_t offset = 0;
    bool written = true; // what it points into may be
  };
  struct Variable { // in whichever device's memory
    memory::Address address = 0;
    std::uint64_t bytes = 0;
    bool written = true; // it may be
  };
  std::vector<Pointer> pointers;
  std::vector<Variable> variables; // managed
  std::vector<Variable> others;
  /// It has accesses or fences by which threads of system scope, as the host's are, learn of each
  /// other.
  bool talks = false;
  /// It has accesses or fences by which it may learn of what other kernels have done.
  bool waits = false;
};

/// Thread safe.
class KernelReaches {
public:
  const KernelReach& of(const isa::Program& program, const isa::Kernel& kernel);

private:
  std::mutex mutex_;
  struct Known {
    std::weak_ptr<const isa::Program> program; // another one may lie at the same place
    KernelReach reach;
  };
  std::unordered_map<const isa::Kernel*, Known> known_;
};

} // namespace heddle::runtime
