// PendingChoice: which commands a plain run keeps back in order to see what host code does
// meanwhile (pending_memory.h), and where they may touch memory that the host reaches.
//
//   if (const auto parts = choice.parts_to_watch(command); !parts.empty()) …
//
// None while an order may come about that nobody sees: a stream waits for a value or for a function
// of the host, or a kernel runs that can talk to the host. Not thread safe, but for may_contain().
#pragma once

#include "runtime/diagnostics/pending_work.h"
#include "runtime/memory/kernel_reach.h"

#include <atomic>
#include <map>
#include <vector>

namespace heddle::runtime {

class PendingChoice {
public:
  explicit PendingChoice(memory::AddressSpace& space);

  /// Has the host memory that devices reach?
  bool is_possible() const { return low_ < high_; }
  /// May some of it lie there?
  bool may_contain(memory::Address at, std::uint64_t bytes) const {
    return at + bytes > low_.load(std::memory_order_relaxed) &&
           at < high_.load(std::memory_order_relaxed);
  }
  /// The command is being submitted. Empty: it is not to be kept back.
  std::vector<PendingPart> parts_to_watch(const machine::CommandPtr& command);

private:
  std::vector<PendingPart> parts_of(const machine::Command& command);
  void add_part(
      std::vector<PendingPart>& parts,
      memory::Address begin,
      memory::Address end,
      bool write
  ) const;
  bool is_worth(const machine::Command& command);
  bool is_order_unseen(const machine::Command& command);

  memory::AddressSpace& space_;
  KernelReaches reaches_;
  std::atomic<memory::Address> low_{~memory::Address{0}}, high_{0};
  std::vector<machine::CommandPtr> unseen_;         // pending ones that order what nobody sees
  std::map<std::uint64_t, std::uint64_t> launches_; // by place in the program
};

} // namespace heddle::runtime
