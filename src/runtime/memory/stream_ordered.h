// The lives of memory that streams allocate and free, and who uses it: a use that nothing orders
// behind the allocation, or before the free, is a defect on some device, and usually goes well.
//
// Plain `heddle run` looks at what each command is given: ranges of copies and sets, and pointers
// among the arguments of kernels. May invent: a kernel that is given a pointer and does not use it.
// Misses: pointers that kernels find in memory, and nodes of graphs. `--races` looks at the
// accesses themselves.
#pragma once

#include "machine/world.h"
#include "report/finding.h"
#include "runtime/streams/operation.h"

#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace heddle::runtime {

/// Thread safe.
class StreamOrdered {
public:
  explicit StreamOrdered(machine::World& world) : world_(world) {}

  /// The command that carries out `operation` has been submitted.
  void submitted(const Operation& operation, const machine::Command& command);
  /// The host frees memory without waiting for anything.
  void freed_by_host(memory::Address address);

private:
  struct Use {
    std::uint64_t command = 0;
    std::string what; // "kernel 'k<<<1,1>>>' in stream 2"
    std::string kernel;
    std::vector<const void*> called_from;
  };
  struct Life {
    std::uint64_t bytes = 0;
    std::uint64_t allocation = 0; // commands
    std::string allocated_in;
    std::optional<std::uint64_t> free;
    std::string freed_in;
    std::vector<Use> uses;
  };
  using Lives = std::map<memory::Address, Life>;

  Lives::iterator holding(memory::Address address);
  void use(memory::Address address, const Use& use);
  void end(memory::Address address, const machine::Command* command);
  void tell(report::Finding finding, const Use& use, const std::string& other);

  machine::World& world_;
  std::mutex mutex_;
  Lives lives_; // by address
  std::set<std::string> reported_;
};

} // namespace heddle::runtime
