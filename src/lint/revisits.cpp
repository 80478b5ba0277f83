#include "lint/revisits.h"

#include <algorithm>
#include <numeric>

namespace heddle::lint {

Revisits::Revisits(const Graph& graph)
    : graph_(graph),
      wanted_(graph.blocks.size(), 0),
      seen_(graph.blocks.size(), 0),
      count_(graph.sequence.size()),
      first_user_(graph.code.size() + 1, 0) {
  const auto each_use = [&](auto visit) {
    for (const std::uint32_t block : graph.sequence) {
      for (ValueId i = graph.blocks[block].first; i < graph.blocks[block].last; ++i) {
        for (const ValueId used : graph.code[i].operands) {
          if (used < graph.code.size() && graph.block_of[used] != block) {
            visit(used, block);
          }
        }
      }
    }
  };
  each_use([&](ValueId used, std::uint32_t) { ++first_user_[used + 1]; });
  std::partial_sum(first_user_.begin(), first_user_.end(), first_user_.begin());
  users_.resize(first_user_.back());
  std::vector<std::uint32_t> next(first_user_.begin(), first_user_.end() - 1);
  each_use([&](ValueId used, std::uint32_t block) { users_[next[used]++] = block; });
  for (const std::uint32_t block : graph.sequence) {
    wanted_[block] = 1;
  }
}

void Revisits::begin(std::uint32_t block) {
  count_ -= wanted_[block] != 0 ? 1 : 0;
  wanted_[block] = 0;
  now_ = block;
}

void Revisits::read(Readers& readers, std::uint32_t what) {
  if (what >= readers.size()) {
    readers.resize(std::max<std::size_t>(what + 1, readers.size() * 2));
  }
  auto& of_this = readers[what];
  if (of_this.empty() || of_this.back() != now_) {
    of_this.push_back(now_);
  }
}

void Revisits::wake(Readers& readers, std::uint32_t what) {
  if (what < readers.size()) {
    for (const std::uint32_t block : readers[what]) {
      want(block);
    }
    readers[what].clear();
  }
}

void Revisits::result_changed(ValueId instruction) {
  for (std::uint32_t i = first_user_[instruction]; i < first_user_[instruction + 1]; ++i) {
    want(users_[i]);
  }
}

void Revisits::end(std::uint32_t block, bool changed) {
  if (changed || seen_[block] == 0 || graph_.hands_over(block)) {
    seen_[block] = 1;
    for (const std::uint32_t to : graph_.blocks[block].end.successors) {
      mark(to);
    }
  }
}

/// What was handed over is gone: those that did so are wanted first. They stand right before it.
void Revisits::want(std::uint32_t block) {
  while (mark(block)) {
    const auto& before = graph_.blocks[block].predecessors;
    if (before.size() != 1 || !graph_.hands_over(before[0])) {
      return;
    }
    block = before[0];
  }
}

bool Revisits::mark(std::uint32_t block) {
  const bool is_new = wanted_[block] == 0;
  wanted_[block] = 1;
  count_ += is_new ? 1 : 0;
  return is_new;
}

} // namespace heddle::lint
