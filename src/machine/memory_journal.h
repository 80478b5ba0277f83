// MemoryJournal: global memory that can be taken back, and its fingerprint.
//
//   MemoryJournal journal(space);
//   exec.note_writes(&journal.notes());          // every write is noted before it happens
//   journal.absorb(private_ranges);              // after each run
//   const auto mark = journal.mark();  …  journal.undo_to(mark);
//   journal.fingerprint();                       // equal contents, equal fingerprint
//
// The fingerprint is a sum over words, so a write costs what it changes and not what there is.
// Whoever changes memory in another way (the host, a copy) calls recount() afterwards; marks do not
// survive that. May be wrong: with a probability of 2^-128 per pair of states.
#pragma once

#include "base/hash.h"
#include "isa/exec.h"
#include "memory/address_space.h"

#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

namespace heddle::machine {

/// A sum of 128-bit hashes; the order of what is added does not matter.
struct HashSum {
  std::uint64_t low = 0, high = 0;
  void add(const Hash128& h) {
    low += h.low;
    high += h.high;
  }
  void subtract(const Hash128& h) {
    low -= h.low;
    high -= h.high;
  }
  bool operator==(const HashSum&) const = default;
};

class MemoryJournal {
public:
  explicit MemoryJournal(memory::AddressSpace& space) : space_(space) {}

  std::vector<isa::Exec::Written>& notes() { return notes_; }

  struct Bytes {
    const std::byte* begin = nullptr;
    std::uint64_t size = 0;
    bool contains(const std::byte* p) const { return static_cast<std::uint64_t>(p - begin) < size; }
  };
  /// Takes over what was noted, except writes into `elsewhere`, which are somebody else's business.
  void absorb(std::span<const Bytes> elsewhere);

  std::size_t mark() const { return undo_.size(); }
  void undo_to(std::size_t mark);
  /// Forgets what could be undone and looks at all of memory.
  void recount();
  const HashSum& fingerprint() const { return sum_; }

private:
  struct Word {
    std::uint64_t* at;
    std::uint64_t before;
    Word(std::uint64_t* at_, std::uint64_t before_) : at(at_), before(before_) {}
  };
  Word* touched(std::uint64_t* word);
  static Hash128 hash(const std::uint64_t* at, std::uint64_t value);
  void changed(const std::uint64_t* at, std::uint64_t before, std::uint64_t after);

  memory::AddressSpace& space_;
  std::vector<isa::Exec::Written> notes_;
  std::vector<Word> touched_; // scratch of absorb
  std::unordered_map<std::uint64_t*, std::size_t> index_;
  std::vector<Word> undo_;
  HashSum sum_;
};

} // namespace heddle::machine
