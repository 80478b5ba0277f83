// Implements messages.h.
#include "race/messages.h"

#include <algorithm>
#include <utility>

namespace heddle::race {

bool BrokenLink::takes(const BrokenLink& other) {
  if (why != other.why || read_site != other.read_site || write_site != other.write_site ||
      writer.block != other.writer.block) {
    return false;
  }
  clock.learn(other.clock);
  tick = std::max(tick, other.tick);
  return true;
}

void Messages::broken(BrokenLink link) {
  constexpr std::size_t most = 64;
  for (BrokenLink& known : broken_) {
    if (known.reader == link.reader && known.takes(link)) {
      return;
    }
  }
  if (broken_.size() < most) {
    broken_.push_back(std::move(link));
  } else {
    broken_[next_++ % most] = std::move(link);
  }
}

} // namespace heddle::race
