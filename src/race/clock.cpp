// Implements clock.h.
#include "race/clock.h"

#include <algorithm>

namespace heddle::race {

// --- Knowing -----------------------------------------------------------------------------------

const Clock::Block* Clock::find_block(std::uint32_t block) const {
  if (!root_) {
    return nullptr;
  }
  const auto& chunks = root_->chunks;
  const auto at = std::ranges::lower_bound(chunks, block / fan, {}, [](const auto& entry) {
    return entry.first;
  });
  return at != chunks.end() && at->first == block / fan ? at->second->block[block % fan].get()
                                                        : nullptr;
}

bool Clock::knows(ThreadName thread, std::uint32_t tick) const {
  const Block* block = find_block(thread.block);
  if (block == nullptr) {
    return false;
  }
  if (tick <= block->all) {
    return true;
  }
  const Warp* warp = block->warp[thread.thread / fan].get();
  return warp != nullptr && (tick <= warp->all || tick <= warp->lane[thread.thread % fan]);
}

// --- Learning ----------------------------------------------------------------------------------

Clock::Block& Clock::own_block(std::uint32_t block) {
  auto& chunks = root_.own().chunks;
  auto at = std::ranges::lower_bound(chunks, block / fan, {}, [](const auto& entry) {
    return entry.first;
  });
  if (at == chunks.end() || at->first != block / fan) {
    at = chunks.emplace(at, block / fan, Shared<Chunk>());
  }
  return at->second.own().block[block % fan].own();
}

void Clock::learn(ThreadName thread, std::uint32_t tick) {
  if (!knows(thread, tick)) {
    Warp& warp = own_block(thread.block).warp[thread.thread / fan].own();
    warp.lane[thread.thread % fan] = tick;
  }
}

void Clock::learn_warp(std::uint32_t block, std::uint32_t warp, std::uint32_t tick) {
  const Block* known = find_block(block);
  if (tick == 0 || (known != nullptr && (tick <= known->all ||
                                         (known->warp[warp] && tick <= known->warp[warp]->all)))) {
    return;
  }
  own_block(block).warp[warp].own().all = tick;
}

void Clock::learn_block(std::uint32_t block, std::uint32_t tick) {
  const Block* known = find_block(block);
  if (tick != 0 && (known == nullptr || known->all < tick)) {
    own_block(block).all = tick;
  }
}

// --- Joining: where one side covers the other nothing is copied --------------------------------

bool Clock::covers(const Warp& a, const Warp& b) {
  std::uint32_t missing = b.all > a.all ? 1 : 0;
  for (std::uint32_t i = 0; i < fan; ++i) {
    missing |= b.lane[i] > std::max(a.lane[i], a.all) ? 1 : 0;
  }
  return missing == 0;
}

bool Clock::covers(const Block& a, const Block& b) {
  if (b.all > a.all) {
    return false;
  }
  for (std::uint32_t i = 0; i < fan; ++i) {
    const Warp* theirs = b.warp[i].get();
    const Warp* ours = a.warp[i].get();
    if (theirs == nullptr || theirs == ours) {
      continue;
    }
    if (ours != nullptr && covers(*ours, *theirs)) {
      continue;
    }
    const std::uint32_t most = std::max(theirs->all, *std::ranges::max_element(theirs->lane));
    if (most > a.all) {
      return false;
    }
  }
  return true;
}

bool Clock::covers(const Chunk& a, const Chunk& b) {
  for (std::uint32_t i = 0; i < fan; ++i) {
    const Block* theirs = b.block[i].get();
    const Block* ours = a.block[i].get();
    if (theirs != nullptr && theirs != ours && (ours == nullptr || !covers(*ours, *theirs))) {
      return false;
    }
  }
  return true;
}

bool Clock::covers(const Root& a, const Root& b) {
  auto ours = a.chunks.begin();
  for (const auto& [number, theirs] : b.chunks) {
    while (ours != a.chunks.end() && ours->first < number) {
      ++ours;
    }
    if (ours == a.chunks.end() || ours->first != number ||
        (ours->second.get() != theirs.get() && !covers(*ours->second.get(), *theirs.get()))) {
      return false;
    }
  }
  return true;
}

template <class Node> void Clock::join(Shared<Node>& into, const Shared<Node>& from) {
  if (!from || from == into) {
    return;
  }
  if (!into || covers(*from.get(), *into.get())) {
    into = from;
  } else if (!covers(*into.get(), *from.get())) {
    join(into.own(), *from.get());
  }
}

void Clock::join(Warp& into, const Warp& from) {
  into.all = std::max(into.all, from.all);
  for (std::uint32_t i = 0; i < fan; ++i) {
    into.lane[i] = std::max(into.lane[i], from.lane[i]);
  }
}

void Clock::join(Block& into, const Block& from) {
  into.all = std::max(into.all, from.all);
  for (std::uint32_t i = 0; i < fan; ++i) {
    join(into.warp[i], from.warp[i]);
  }
}

void Clock::join(Chunk& into, const Chunk& from) {
  for (std::uint32_t i = 0; i < fan; ++i) {
    join(into.block[i], from.block[i]);
  }
}

void Clock::join(Root& into, const Root& from) {
  std::vector<std::pair<std::uint32_t, Shared<Chunk>>> merged;
  merged.reserve(into.chunks.size() + from.chunks.size());
  auto ours = into.chunks.begin();
  for (const auto& [number, theirs] : from.chunks) {
    while (ours != into.chunks.end() && ours->first < number) {
      merged.push_back(std::move(*ours++));
    }
    if (ours != into.chunks.end() && ours->first == number) {
      join(ours->second, theirs);
      merged.push_back(std::move(*ours++));
    } else {
      merged.emplace_back(number, theirs);
    }
  }
  while (ours != into.chunks.end()) {
    merged.push_back(std::move(*ours++));
  }
  into.chunks = std::move(merged);
}

void Clock::learn(const Clock& other) {
  join(root_, other.root_);
}

} // namespace heddle::race
