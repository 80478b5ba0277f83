// Implements memory_journal.h.
#include "model/memory_journal.h"

#include <algorithm>
#include <cstring>

namespace heddle::model {

namespace {

// Up to so many notes looking through them is faster than a hash table.
constexpr std::size_t few = 32;
constexpr std::uintptr_t word_bytes = sizeof(std::uint64_t);
// A run that reads more is not worth comparing.
constexpr std::size_t max_reads = 256;

std::uint64_t* word_of(const std::byte* p) {
  return reinterpret_cast<std::uint64_t*>(
      reinterpret_cast<std::uintptr_t>(p) / word_bytes * word_bytes
  );
}

/// Calls f(word, mask, place in the access) for each word that an access has to do with.
template <class F> void each_word(std::byte* at, std::uint32_t bytes, F&& f) {
  for (std::uint32_t done = 0; done < bytes;) {
    std::uint64_t* word = word_of(at + done);
    const auto offset = static_cast<std::size_t>(at + done - reinterpret_cast<std::byte*>(word));
    const std::size_t count = std::min<std::size_t>(word_bytes - offset, bytes - done);
    const std::uint64_t ones = count == word_bytes ? ~0ULL : (1ULL << 8 * count) - 1;
    f(word, ones << 8 * offset, offset, done, count);
    done += static_cast<std::uint32_t>(count);
  }
}

/// One part for each word, in ascending order. All that are about one word say what all of it
/// holds.
void join_parts(std::vector<WordPart>& parts) {
  std::ranges::sort(parts, std::less<>(), &WordPart::at);
  std::size_t kept = 0;
  for (const WordPart& part : parts) {
    if (kept != 0 && parts[kept - 1].at == part.at) {
      parts[kept - 1].mask |= part.mask;
    } else {
      parts[kept++] = part;
    }
  }
  parts.resize(kept);
  for (WordPart& part : parts) {
    part.value &= part.mask;
  }
}

} // namespace

MemoryJournal::MemoryJournal(memory::AddressSpace& space, isa::Exec& exec)
    : space_(space),
      notes_(exec, max_reads) {}

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
  if (counts(at)) {
    sum_.subtract(hash(at, before));
    sum_.add(hash(at, after));
  }
}

MemoryJournal::Word* MemoryJournal::find_touched(const std::uint64_t* word) {
  if (notes_.writes.size() <= few) {
    const auto known = std::ranges::find(touched_, word, &Word::at);
    return known != touched_.end() ? &*known : nullptr;
  }
  const auto known = index_.find(word);
  return known != index_.end() ? &touched_[known->second] : nullptr;
}

/// The entry of a word in touched_, made if there is none.
MemoryJournal::Word& MemoryJournal::touched(std::uint64_t* word) {
  if (Word* known = find_touched(word)) {
    return *known;
  }
  if (notes_.writes.size() > few) {
    index_.emplace(word, touched_.size());
  }
  return touched_.emplace_back(word, *word);
}

void MemoryJournal::absorb(std::span<const Bytes> elsewhere) {
  // Newest first: what is left in the end is the value before the first write.
  touched_.clear();
  index_.clear();
  const auto range_of = [&](const std::byte* at) {
    const auto range =
        std::ranges::find_if(elsewhere, [&](const Bytes& r) { return r.contains(at); });
    return range != elsewhere.end() ? &*range : nullptr;
  };
  const auto name_in = [](const Bytes& range, const std::uint64_t* at) {
    return range.as + (at - reinterpret_cast<const std::uint64_t*>(range.begin));
  };
  for (auto note = notes_.writes.rbegin(); note != notes_.writes.rend(); ++note) {
    const Bytes* const range = range_of(note->at);
    if (range != nullptr && range->as == nullptr) {
      continue;
    }
    each_word(
        note->at,
        note->bytes,
        [&](std::uint64_t* at,
            std::uint64_t mask,
            std::size_t offset,
            std::uint32_t done,
            std::size_t count) {
          Word& word = touched(at);
          word.written |= mask;
          word.as = range != nullptr ? name_in(*range, at) : nullptr;
          std::memcpy(
              reinterpret_cast<std::byte*>(&word.before) + offset,
              note->before.data() + done,
              count
          );
        }
    );
  }
  written_.clear();
  written_shared_.clear();
  for (const Word& word : touched_) {
    if (word.as != nullptr) {
      written_shared_.push_back({word.as, word.written, *word.at & word.written});
      continue;
    }
    written_.push_back({word.at, word.written, *word.at & word.written});
    if (*word.at != word.before) {
      changed(word.at, word.before, *word.at);
      undo_.push_back(word);
    }
  }
  read_.reset();
  read_shared_.clear();
  if (notes_.complete()) {
    read_.emplace();
    for (const AccessNotes::Read& note : notes_.reads) {
      const Bytes* const range = range_of(note.at);
      if (range != nullptr && range->as == nullptr) {
        continue;
      }
      each_word(
          note.at,
          note.bytes,
          [&](std::uint64_t* at, std::uint64_t mask, std::size_t, std::uint32_t, std::size_t) {
            const Word* known = find_touched(at);
            WordPart part{at, mask, known != nullptr ? known->before : *at};
            if (range != nullptr) {
              part.at = name_in(*range, at);
              read_shared_.push_back(part);
            } else {
              read_->push_back(part);
            }
          }
      );
    }
    join_parts(*read_);
    join_parts(read_shared_);
  }
  if (all_ != nullptr) {
    const auto append = [](std::vector<WordPart>& to, const std::vector<WordPart>& from) {
      to.insert(to.end(), from.begin(), from.end());
    };
    append(all_->written, written_);
    append(all_->written, written_shared_);
    if (read_) {
      append(all_->read, *read_);
      append(all_->read, read_shared_);
    }
  }
  notes_.clear();
}

void MemoryJournal::write(std::span<const WordPart> parts) {
  for (const WordPart& part : parts) {
    const std::uint64_t before = *part.at;
    const std::uint64_t after = (before & ~part.mask) | part.value;
    if (after != before) {
      changed(part.at, before, after);
      undo_.emplace_back(part.at, before);
      *part.at = after;
    }
  }
}

void MemoryJournal::change_after(std::span<const WordPart> parts, HashSum& sum) const {
  for (const WordPart& part : parts) {
    const std::uint64_t after = (*part.at & ~part.mask) | part.value;
    if (after != *part.at && counts(part.at)) {
      sum.subtract(hash(part.at, *part.at));
      sum.add(hash(part.at, after));
    }
  }
}

void MemoryJournal::undo_notes(const NotesMark& mark) {
  for (; notes_.writes.size() > mark.writes; notes_.writes.pop_back()) {
    const Written& written = notes_.writes.back();
    std::memcpy(written.at, written.before.data(), written.bytes);
  }
  notes_.reads.resize(std::min(notes_.reads.size(), mark.reads));
  notes_.strong.resize(std::min(notes_.strong.size(), mark.strong));
}

bool MemoryJournal::only_wrote_in(
    const NotesMark& mark,
    const Bytes& here,
    const Bytes& there
) const {
  return std::all_of(
      notes_.writes.begin() + static_cast<std::ptrdiff_t>(mark.writes),
      notes_.writes.end(),
      [&](const Written& written) {
        return here.contains(written.at) || there.contains(written.at);
      }
  );
}

std::vector<WordPart> MemoryJournal::changed_since(std::size_t mark) const {
  std::vector<WordPart> result;
  for (std::size_t i = mark; i < undo_.size(); ++i) {
    std::uint64_t* const at = undo_[i].at;
    const auto earlier = [at](const WordPart& part) { return part.at == at; };
    if (*at != undo_[i].before && std::ranges::none_of(result, earlier)) {
      result.push_back({at, ~std::uint64_t{0}, *at});
    }
  }
  return result;
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
  if (left_out_ != nullptr) {
    left_out_->look_again();
  }
  space_.each_live([&](const memory::Allocation& allocation) {
    if (allocation.kind == memory::AllocationKind::Constant) {
      return; // device threads cannot change it
    }
    const std::uint64_t extent[2] = {allocation.base, allocation.size};
    const XXH128_hash_t h = XXH3_128bits(extent, sizeof extent);
    sum_.add({h.low64, h.high64});
    const auto add = [&](const std::byte* first, const std::byte* end) {
      for (const std::uint64_t* word = word_of(first);
           reinterpret_cast<const std::byte*>(word) < end;
           ++word) {
        sum_.add(hash(word, *word));
      }
    };
    host_addresses_ = host_addresses_ || allocation.kind == memory::AllocationKind::Registered;
    const auto* begin = reinterpret_cast<const std::byte*>(
        allocation.base + static_cast<std::uint64_t>(allocation.delta)
    );
    if (left_out_ != nullptr && left_out_->has(begin)) {
      return;
    }
    if (sparse_ != nullptr && sparse_->contains(begin)) {
      sparse_->each_part(add);
    } else {
      add(begin, begin + allocation.size);
    }
  });
}

} // namespace heddle::model
