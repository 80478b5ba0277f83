// CopyLooks: who has looked at which words of a copy that nothing orders with that.
//
// A copy of a flag is meant to be seen by whoever polls it with strong reads. But the words of one
// copy come in no order: a thread that has seen one of them knows nothing of another.
#pragma once

#include "race/clock.h"

#include <cstdint>
#include <unordered_map>
#include <utility>
#include <vector>

namespace heddle::race {

class CopyLooks {
public:
  /// `thread` looks at this word of what `copy`, an agent, writes. Has it looked at another one?
  bool is_second(std::uint32_t copy, ThreadName thread, std::uint64_t address) {
    bool other = false;
    auto& looks = looks_[copy];
    for (const auto& [who, where] : looks) {
      if (who == thread && where == address) {
        return other;
      }
      other = other || who == thread;
    }
    looks.emplace_back(thread, address);
    return other;
  }

private:
  std::unordered_map<std::uint32_t, std::vector<std::pair<ThreadName, std::uint64_t>>> looks_;
};

} // namespace heddle::race
