// Implements weak_memory.h: what threads tell each other at barriers, and what the host tells them.
#include "weak/weak_memory.h"

#include <algorithm>
#include <unordered_map>
#include <utility>

namespace heddle::weak {

void WeakMemory::learn_told(Thread thread, const Range& range) {
  const Told told = told_at(range);
  if (!knows_all(thread, knowledge(thread).view, told.view)) {
    own_knowledge(thread).view.add_all(told.view);
  }
  hear(thread, told.heard);
}

void WeakMemory::meet(std::vector<Thread> threads, std::uint64_t barrier) {
  std::erase_if(threads, [&](Thread t) { return !has_thread(t); });
  std::ranges::sort(threads);
  Told all;
  bool fresh = true;
  if (const auto b = barriers_.find(barrier); b != barriers_.end()) {
    all = std::move(b->second);
    barriers_.erase(b);
    fresh = all.empty();
  }
  // Those side by side that know the same.
  std::vector<std::pair<Thread, std::uint64_t>> parts;
  for (std::size_t n = 0; n < threads.size();) {
    const auto& run = threads_.run_of(threads[n]);
    std::size_t end = n;
    while (end < threads.size() && threads[end] == threads[n] + (end - n) &&
           run.has(threads[end])) {
      ++end;
    }
    parts.emplace_back(threads[n], end - n);
    all.add_all({run.value.knows->view, run.value.knows->heard});
    fresh = fresh && run.value.knows->fresh;
    n = end;
  }
  for (const auto& [first, count] : parts) {
    events_.each_of(first, count, [&](std::uint32_t n) { all.view.add(n); });
  }
  std::unordered_map<const Knowledge*, KnowledgePtr> changed;
  std::vector<KnowledgePtr> before; // they stay until all have been looked up
  for (const auto& [first, count] : parts) {
    KnowledgePtr& own = threads_.part(first, count).value.knows;
    KnowledgePtr& after = changed[own.get()];
    if (after == nullptr) {
      after = std::make_shared<Knowledge>(*own);
      after->view = all.view;
      after->heard = all.heard;
      after->fresh = fresh;
    }
    before.push_back(std::exchange(own, after));
  }
}

void WeakMemory::arrive(std::uint64_t barrier, Thread thread) {
  barriers_[barrier].add_all(told_by(thread));
}

void WeakMemory::leave(std::uint64_t barrier, Thread thread) {
  if (const auto b = barriers_.find(barrier); b != barriers_.end()) {
    Knowledge& knowledge = own_knowledge(thread);
    knowledge.view.add_all(b->second.view);
    knowledge.fresh = knowledge.fresh && b->second.empty();
    hear(thread, b->second.heard);
  }
}

void WeakMemory::rename(std::uint64_t barrier, std::uint64_t as) {
  Told told;
  if (const auto b = barriers_.find(barrier); b != barriers_.end()) {
    told = std::move(b->second);
    barriers_.erase(b);
  }
  barriers_[as] = std::move(told);
}

WeakMemory::ScFences WeakMemory::sc_fences() const {
  const auto& all = *locations_;
  // With two threads, whoever hears of a fence hears of it at first hand, and knows it.
  const bool relays = all.size() > 2;
  return {
      .took = fences_took_ && relays,
      .heard = heard_of_fences_ && relays,
      .apart = least_sc_ && std::ranges::any_of(all, [&](const auto& run) {
                 return !includes(*least_sc_, all.begin()->value, run.value);
               })
  };
}

} // namespace heddle::weak
