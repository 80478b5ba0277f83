// Cache: reads of global memory that may be out of date (`--stale-reads`), one cache per block.
//
// The hardware of that time had a first-level cache for each multiprocessor that nobody kept up to
// date: a plain read of global memory could see an old value until a fence or the end of the
// kernel ([SIMT-READ], [SIMT-FENCE]). This is the strongest such cache: whatever a block has read
// stays as it was until somebody in the block executes a fence, or writes to that line, or the
// block ends. Volatile, atomic and otherwise strong reads go past it.
//
// A read is made stale by putting the old bytes into memory while the instruction executes; so
// there is no second definition of any instruction, and no other thread may run meanwhile (the
// engine has one worker then). May be wrong in one direction: a real cache also forgets lines when
// it is full, so what a program reads here is one of the possible values.
#pragma once

#include "isa/exec.h"

#include <array>
#include <map>
#include <vector>

namespace heddle::simt {

class Cache {
public:
  /// The executing lanes of `exec` are about to execute `op`.
  void before(isa::Exec& exec, const isa::Op& op);
  /// They have.
  void after();
  void forget() { lines_.clear(); }
  /// For whoever comes back to a state: all lines, in the order of their addresses.
  void save(std::vector<std::byte>& bytes) const;
  const std::byte* load(const std::byte* bytes);
  /// Reads that saw something else than memory held.
  std::uint64_t stale() const { return stale_; }

private:
  static constexpr std::uint64_t line_bytes = 32;
  using Line = std::array<std::byte, line_bytes>;
  struct Swapped { // bytes of memory that have their old value now
    std::byte* at = nullptr;
    std::uint32_t bytes = 0;
    Line fresh{};
  };
  void read(std::byte* at, std::byte* line, std::uint32_t bytes);

  std::map<std::byte*, Line> lines_; // by host address
  std::vector<Swapped> swapped_;
  bool forget_ = false; // when the instruction is done
  std::uint64_t stale_ = 0;
};

} // namespace heddle::simt
