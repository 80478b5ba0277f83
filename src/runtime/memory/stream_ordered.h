// The lives of memory that streams allocate and free, and of what a call of the host ends without
// waiting (mappings, textures, surfaces), and who uses it: a use that nothing orders behind the
// beginning, or before the end, is a defect on some device, and usually goes well.
//
// Plain `heddle run` looks at what each command is given: ranges of copies and sets, and pointers
// and handles among the arguments of kernels. May invent: a kernel that is given a pointer and does
// not use it. Misses: pointers that kernels find in memory, and nodes of graphs. `--races` looks at
// the accesses themselves, and here only at what accesses do not show: handles, and the code that a
// kernel executes while its module is unloaded.
#pragma once

#include "machine/world.h"
#include "report/finding.h"
#include "runtime/streams/operation.h"

#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace heddle::runtime {

/// Thread safe.
class StreamOrdered {
public:
  /// `accesses_are_seen`: by a monitor.
  StreamOrdered(machine::World& world, bool accesses_are_seen)
      : world_(world),
        accesses_are_seen_(accesses_are_seen) {}

  enum class Kind : std::uint8_t {
    Memory,
    Texture,
    Surface,
    Code // of a library; its handle stands for the address
  };

  /// The command that carries out `operation` has been submitted.
  void submitted(const Operation& operation, const machine::Command& command);
  void made_by_host(memory::Address address, std::uint64_t bytes, Kind kind);
  /// The host ends it by `call`, which waits for nothing, or need not, as for code.
  void ended_by_host(memory::Address address, const char* call);
  /// Is the fault an access of which it was said that it may come after the end?
  bool has_told(const machine::FaultReport& fault);

private:
  struct Use {
    std::uint64_t command = 0;
    std::string what; // "kernel 'k<<<1,1>>>' in stream 2"
    std::string kernel;
    std::vector<const void*> called_from;
  };
  struct Life {
    Kind kind = Kind::Memory;
    std::uint64_t bytes = 0;
    std::uint64_t allocation = 0; // commands; 0: it was there before all of them
    std::string allocated_in;
    std::optional<std::uint64_t> free;
    std::string freed_in;
    std::vector<Use> uses;
  };
  using Lives = std::map<memory::Address, Life>;

  Lives::iterator holding(memory::Address address);
  void use(memory::Address address, const Use& use);
  void end(memory::Address address, const machine::Command* command, const char* call);
  void tell(report::Finding finding, const Use& use, const Lives::value_type& life);
  bool sees(Kind kind) const;

  machine::World& world_;
  const bool accesses_are_seen_;
  std::mutex mutex_;
  Lives lives_; // by address
  std::set<std::string> reported_;
  std::set<std::pair<std::string, memory::Address>>
      told_; // kernels, and what they use after its end
};

} // namespace heddle::runtime
