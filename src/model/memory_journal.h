// MemoryJournal: global memory that can be taken back, and its fingerprint.
//
//   MemoryJournal journal(space, exec);          // watches it: notes what it reads and writes
//   journal.absorb(private_ranges);              // after each run; tells of shared memory, too
//   const auto mark = journal.mark();  …  journal.undo_to(mark);
//   journal.written()                            // what the run absorbed last did, to
//   journal.write(written);                      // do it once more
//   journal.fingerprint();                       // equal contents, equal fingerprint
//
// The fingerprint is a sum over words, so a write costs what it changes and not what there is.
// Whoever changes memory in another way (the host, a copy) calls recount() afterwards; marks do not
// survive that. May be wrong: with a probability of 2^-128 per pair of states.
#pragma once

#include "base/hash.h"
#include "machine/access_notes.h"
#include "memory/address_space.h"

#include <cstdint>
#include <cstring>
#include <functional>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

namespace heddle::model {

using namespace machine;

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

/// Some bytes of a word of memory.
struct WordPart {
  std::uint64_t* at = nullptr;
  std::uint64_t mask = 0;  // 0xff for each byte that is meant
  std::uint64_t value = 0; // 0 outside of the mask
};

/// Names a word of a cluster's shared memory in the place of an address: it is kept with the
/// cluster, and lies wherever its present contents are.
inline constexpr std::uint64_t in_shared_memory = std::uint64_t{1} << 63; // no address has it
inline std::uint64_t* shared_word(std::uint64_t offset) {
  return reinterpret_cast<std::uint64_t*>(in_shared_memory | offset);
}
inline bool is_shared(const std::uint64_t* at) {
  return (reinterpret_cast<std::uintptr_t>(at) & in_shared_memory) != 0;
}
/// What the word holds, in a cluster whose shared memory is `shared`.
inline std::uint64_t contents(const std::uint64_t* at, const std::byte* shared) {
  std::uint64_t value = 0;
  const std::uint64_t offset = reinterpret_cast<std::uintptr_t>(at) & ~in_shared_memory;
  std::memcpy(
      &value,
      is_shared(at) ? shared + offset : reinterpret_cast<const std::byte*>(at),
      sizeof value
  );
  return value;
}

class MemoryJournal {
public:
  MemoryJournal(memory::AddressSpace& space, isa::Exec& exec);
  /// Has to watch `exec` for as long as there is anything to note.
  isa::AccessWatch& watch() { return notes_; }
  /// See AccessNotes.
  void tell(isa::AccessWatch& watcher) { notes_.tell(watcher); }
  void tell_last(isa::AccessWatch& watcher) { notes_.tell_last(watcher); }
  /// Says which memory is no part of the fingerprint.
  class LeftOut {
  public:
    /// Allocations may have changed.
    virtual void look_again() = 0;
    virtual bool has(const void* at) const = 0;

  protected:
    ~LeftOut() = default;
  };
  void leave_out(LeftOut& left_out) { left_out_ = &left_out; }
  /// Memory of which most is zero.
  class Sparse : public AccessNotes::Records {
  public:
    /// Calls f(begin, end) for all parts in which something other than zero may be.
    virtual void
    each_part(const std::function<void(const std::byte*, const std::byte*)>& f) const = 0;

  protected:
    ~Sparse() = default;
  };
  void check(const Sparse& sparse) {
    sparse_ = &sparse;
    notes_.check(sparse);
  }
  /// For whoever writes without an instruction.
  void about_to_write(std::byte* at, std::uint32_t bytes) { notes_.written(at, bytes); }
  /// An access to memory with records that was wrong, since the last absorb().
  const AccessNotes::Misuse& misuse() const { return notes_.misuse; }

  struct Bytes {
    const std::byte* begin = nullptr;
    std::uint64_t size = 0;
    std::uint64_t* as = nullptr; // shared memory: the name of its first word
    bool contains(const std::byte* p) const { return static_cast<std::uint64_t>(p - begin) < size; }
  };
  /// Takes over what was noted, except writes into `elsewhere`, which are somebody else's business.
  void absorb(std::span<const Bytes> elsewhere);
  /// Of what was absorbed last: what was read, with the values before anything was written, in
  /// ascending order; nothing if it was too much. And what was written, with the values afterwards.
  const std::optional<std::vector<WordPart>>& read() const { return read_; }
  const std::vector<WordPart>& written() const { return written_; }
  /// The same of shared memory.
  const std::vector<WordPart>& read_shared() const { return read_shared_; }
  const std::vector<WordPart>& written_shared() const { return written_shared_; }
  void write(std::span<const WordPart> parts);
  /// What fingerprint() would change by if that were done, added to `sum`.
  void change_after(std::span<const WordPart> parts, HashSum& sum) const;
  /// From now on read() and written() of every absorb() are appended to `*all`, those of shared
  /// memory too: a move may consist of several. nullptr: no more.
  struct Accesses {
    std::vector<WordPart> read, written;
  };
  void collect(Accesses* all) { all_ = all; }
  /// As if the instruction were one.
  void count_as_strong(const isa::Op& op) { notes_.also_strong.insert(&op); }
  /// Since the last absorb().
  std::span<const AccessNotes::Strong> strong() const { return notes_.strong; }

  // --- Before it is absorbed ---------------------------------------------------------------------
  struct NotesMark {
    std::size_t writes = 0, reads = 0, strong = 0;
  };
  NotesMark mark_notes() const {
    return {notes_.writes.size(), notes_.reads.size(), notes_.strong.size()};
  }
  /// Takes back what was noted since then, and the writes themselves.
  void undo_notes(const NotesMark& mark);
  /// Since then nothing was written but in one of the two.
  bool only_wrote_in(const NotesMark& mark, const Bytes& here, const Bytes& there) const;

  std::size_t mark() const { return undo_.size(); }
  void undo_to(std::size_t mark);
  /// Words whose contents are not what they were then, as they are now.
  std::vector<WordPart> changed_since(std::size_t mark) const;
  /// What was done until now stays: marks are invalid.
  void forget() { undo_.clear(); }
  /// Forgets what could be undone and looks at all of memory.
  void recount();
  const HashSum& fingerprint() const { return sum_; }
  /// What a word adds to a fingerprint.
  static Hash128 hash(const std::uint64_t* at, std::uint64_t value);
  /// True once memory of the host's own was among it: it lies elsewhere in each execution.
  bool saw_host_addresses() const { return host_addresses_; }

private:
  struct Word {
    std::uint64_t* at;
    std::uint64_t before;
    std::uint64_t written = 0;   // mask
    std::uint64_t* as = nullptr; // its name, if it is one of shared memory
    Word(std::uint64_t* at_, std::uint64_t before_) : at(at_), before(before_) {}
  };
  Word* find_touched(const std::uint64_t* word);
  Word& touched(std::uint64_t* word);
  bool counts(const std::uint64_t* at) const { return left_out_ == nullptr || !left_out_->has(at); }
  void changed(const std::uint64_t* at, std::uint64_t before, std::uint64_t after);

  memory::AddressSpace& space_;
  AccessNotes notes_;
  const Sparse* sparse_ = nullptr;
  LeftOut* left_out_ = nullptr;
  std::vector<Word> touched_; // scratch of absorb
  std::optional<std::vector<WordPart>> read_;
  std::vector<WordPart> written_, read_shared_, written_shared_;
  Accesses* all_ = nullptr;
  std::unordered_map<const std::uint64_t*, std::size_t> index_;
  std::vector<Word> undo_;
  HashSum sum_;
  bool host_addresses_ = false;
};

} // namespace heddle::model
