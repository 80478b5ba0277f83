// Implements weak_barriers.h.
#include "model/weak_barriers.h"

#include <bit>

namespace heddle::model {

void WeakBarriers::opened(std::size_t id, std::span<const isa::LaneMask> waiting) {
  std::vector<weak::Thread> met;
  for (std::size_t w = 0; w < waiting.size(); ++w) {
    add(met, w, waiting[w]);
  }
  weak_->meet(met, key(id));
}

void WeakBarriers::add(
    std::vector<weak::Thread>& threads,
    std::size_t w,
    isa::LaneMask lanes
) const {
  for (; lanes != 0; lanes &= lanes - 1) {
    threads.push_back(
        first_ + w * isa::warp_size + static_cast<weak::Thread>(std::countr_zero(lanes))
    );
  }
}

void WeakBarriers::arrived(std::uint64_t key, std::size_t w, isa::LaneMask lanes) {
  std::vector<weak::Thread> threads;
  add(threads, w, lanes);
  for (const weak::Thread t : threads) {
    weak_->arrive(key, t);
  }
}

void WeakBarriers::left(std::uint64_t key, std::size_t w, isa::LaneMask lanes) {
  std::vector<weak::Thread> threads;
  add(threads, w, lanes);
  for (const weak::Thread t : threads) {
    weak_->leave(key, t);
  }
}

void WeakBarriers::met(std::size_t w, isa::LaneMask lanes) {
  std::vector<weak::Thread> threads;
  add(threads, w, lanes);
  weak_->meet(threads, first_ + w * isa::warp_size);
}

void WeakBarriers::cluster_opened() {
  weak_->open(cluster_, cluster_ + 1);
}

} // namespace heddle::model
