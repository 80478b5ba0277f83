// Implements memory_journal.h.
#include "machine/memory_journal.h"

#include <algorithm>
#include <cstring>

namespace heddle::machine {

namespace {

// Up to so many notes looking through them is faster than a hash table.
constexpr std::size_t few = 32;
constexpr std::uintptr_t word_bytes = sizeof(std::uint64_t);

std::uint64_t* word_of(const std::byte* p) {
  return reinterpret_cast<std::uint64_t*>(
      reinterpret_cast<std::uintptr_t>(p) / word_bytes * word_bytes
  );
}

} // namespace

/// Zero adds nothing, so that memory which was never written costs nothing to count.
Hash128 MemoryJournal::hash(const std::uint64_t* at, std::uint64_t value) {
  if (value == 0) {
    return {};
  }
  const std::uint64_t both[2] = {reinterpret_cast<std::uintptr_t>(at), value};
  const XXH128_hash_t h = XXH3_128bits(both, sizeof both);
  return {h.low64, h.high64};
}

void MemoryJournal::changed(const std::uint64_t* at, std::uint64_t before, std::uint64_t after) {
  sum_.subtract(hash(at, before));
  sum_.add(hash(at, after));
}

/// The entry of a word in touched_, made if there is none.
MemoryJournal::Word* MemoryJournal::touched(std::uint64_t* word) {
  if (notes_.size() <= few) {
    for (Word& known : touched_) {
      if (known.at == word) {
        return &known;
      }
    }
    return &touched_.emplace_back(word, *word);
  }
  const auto [place, is_new] = index_.try_emplace(word, touched_.size());
  return is_new ? &touched_.emplace_back(word, *word) : &touched_[place->second];
}

void MemoryJournal::absorb(std::span<const Bytes> elsewhere) {
  // Newest first: what is left in the end is the value before the first write.
  touched_.clear();
  index_.clear();
  for (auto note = notes_.rbegin(); note != notes_.rend(); ++note) {
    if (std::any_of(elsewhere.begin(), elsewhere.end(), [&](const Bytes& range) {
          return range.contains(note->at);
        })) {
      continue;
    }
    for (std::uint32_t done = 0; done < note->bytes;) {
      std::byte* at = note->at + done;
      std::uint64_t* word = word_of(at);
      Word* known = touched(word);
      const auto offset = static_cast<std::size_t>(at - reinterpret_cast<std::byte*>(word));
      const std::size_t count = std::min<std::size_t>(word_bytes - offset, note->bytes - done);
      std::memcpy(
          reinterpret_cast<std::byte*>(&known->before) + offset,
          note->before.data() + done,
          count
      );
      done += static_cast<std::uint32_t>(count);
    }
  }
  notes_.clear();
  for (const Word& word : touched_) {
    if (*word.at != word.before) {
      changed(word.at, word.before, *word.at);
      undo_.push_back(word);
    }
  }
}

void MemoryJournal::undo_to(std::size_t mark) {
  for (; undo_.size() > mark; undo_.pop_back()) {
    const Word& word = undo_.back();
    changed(word.at, *word.at, word.before);
    *word.at = word.before;
  }
}

void MemoryJournal::recount() {
  undo_.clear();
  notes_.clear();
  sum_ = {};
  space_.each_live([&](const memory::Allocation& allocation) {
    if (allocation.kind == memory::AllocationKind::Constant) {
      return; // device threads cannot change it
    }
    const std::uint64_t extent[2] = {allocation.base, allocation.size};
    const XXH128_hash_t h = XXH3_128bits(extent, sizeof extent);
    sum_.add({h.low64, h.high64});
    const auto* begin = reinterpret_cast<const std::byte*>(
        allocation.base + static_cast<std::uint64_t>(allocation.delta)
    );
    for (const std::uint64_t* word = word_of(begin);
         reinterpret_cast<const std::byte*>(word) < begin + allocation.size;
         ++word) {
      sum_.add(hash(word, *word));
    }
  });
}

} // namespace heddle::machine
