// WeakBarriers: tells WeakOrder which threads have met at the barriers of a block, or of its
// cluster, in terms of its warps and lanes.
#pragma once

#include "model/weak_order.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace heddle::model {

class WeakBarriers {
public:
  /// Of a block whose first thread that is; `cluster` names it and its neighbours, and is even.
  WeakBarriers(WeakOrder* weak, weak::Thread first, std::uint64_t cluster)
      : weak_(weak),
        first_(first),
        cluster_(cluster) {}
  explicit operator bool() const { return weak_ != nullptr; }
  void opened(std::size_t id, std::span<const isa::LaneMask> waiting);
  void arrived(std::uint64_t key, std::size_t w, isa::LaneMask lanes);
  void left(std::uint64_t key, std::size_t w, isa::LaneMask lanes);
  void met(std::size_t w, isa::LaneMask lanes);
  void cluster_opened();
  std::uint64_t key(std::size_t id) const { return first_ << 5 ^ (id + 1); }
  std::uint64_t cluster() const { return cluster_; }

private:
  void add(std::vector<weak::Thread>& threads, std::size_t w, isa::LaneMask lanes) const;
  WeakOrder* weak_;
  weak::Thread first_;
  std::uint64_t cluster_;
};

} // namespace heddle::model
