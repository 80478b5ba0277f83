// Shadow: who has accessed each piece of memory, as far as a later access might race with it.
//
//   shadow.touch(address, bytes, by, [&](const Access& before) { return ordered(before); },
//                [&](const Access& before, address, bytes) { return report(before); });
//
// One Cell for each aligned word of four bytes; a word of which single bytes are accessed is split
// into cells for each byte, so that neighbours never look like one. A cell keeps the last writes
// and reads that are not ordered before a later one: of each the last and one that is as far from
// it as possible (another block rather than another warp rather than another lane), which is enough
// to find some race wherever one of many readers or atomic writers races with an access.
//
// May be wrong in this direction: of three and more unordered readers (or atomic writers) two are
// kept, so a race with the third only may be missed. Past the limit no new memory is looked at.
// What is reported as unordered has really happened: it never invents.
#pragma once

#include "memory/address_space.h"
#include "race/clock.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <deque>
#include <map>
#include <memory>
#include <unordered_map>
#include <vector>

namespace heddle::race {

enum class Scope : std::uint8_t {
  Cta,
  Cluster,
  Gpu,
  Sys
};

enum AccessFlags : std::uint8_t {
  Write = 1,
  Read = 2,   // with Write: an atomic update
  Strong = 4, // relaxed or stronger, volatile or atomic
  Past = 8    // in a cell. A read: of a value before the last write's. A write: a store, which does
              // not go on from its value as an atomic update would, has followed
};

/// One access of one thread: to `bytes` of each cell that it is recorded in.
struct Access {
  std::uint32_t block = 0; // ThreadName; 0: no access
  std::uint32_t tick = 0;  // on the thread's clock
  std::uint32_t site = 0;  // which instruction
  std::uint16_t thread = 0;
  std::uint8_t flags = 0;
  std::uint8_t size_and_scope = 0; // log2 of the element's bytes, scope << 4

  bool any() const { return block != 0; }
  bool writes() const { return (flags & Write) != 0; }
  bool strong() const { return (flags & Strong) != 0; }
  Scope scope() const { return static_cast<Scope>(size_and_scope >> 4); }
  std::uint8_t size() const { return size_and_scope & 15; }
  ThreadName by() const { return {block, thread}; }
};
static_assert(sizeof(Access) == 16);

struct Cell {
  Access write, read, far_read;
  std::uint32_t more = 0; // index in kept_; with split_bit: index in bytes_
  std::uint32_t sync = 0; // index of what the synchronisation on this location is; 0: none
};
inline constexpr std::uint32_t split_bit = 1U << 31;

/// What few cells need: a second writer, and the last plain accesses before strong ones.
struct Kept {
  Access far_write, plain_write, plain_read;
};

/// Cells for 64 bytes of memory. As long as half a warp at a time accesses them, lane n the n-th
/// word, one cell says it all.
struct Segment {
  static constexpr std::uint64_t bytes = 64;
  static constexpr std::uint16_t words = bytes / 4;
  using Cells = std::array<Cell, words>;
  Cell cell;              // of the first word; the others' differ in that threads are n higher
  Cells* apart = nullptr; // else: each word's

  /// Of the n-th word.
  Cell cell_of(std::uint16_t n) const {
    if (apart != nullptr) {
      return (*apart)[n];
    }
    Cell result = cell;
    for (Access* a : {&result.write, &result.read, &result.far_read}) {
      a->thread = static_cast<std::uint16_t>(a->thread + (a->any() ? n : 0));
    }
    return result;
  }
};

/// What there is for 4 KiB of memory.
struct Page {
  static constexpr std::uint64_t bytes = 4096;
  std::uint32_t life = 0; // of the shadow, when it was last used
  bool touched = false;   // some cell is not empty
  Access write, read;     // of the whole page, by something on the host's side
  std::array<Segment, bytes / Segment::bytes> segments{};

  Segment& segment(std::uint64_t address) { return segments[address % bytes / Segment::bytes]; }
  const Segment& segment(std::uint64_t address) const {
    return segments[address % bytes / Segment::bytes];
  }
};

/// What of the order of earlier accesses and one by a thread is known without a look at clocks.
struct NearOrder {
  std::uint32_t block = 0;  // of the thread
  std::uint32_t before = 0; // agents below have ended before the thread's kernel began
  std::uint32_t beside = 0; // agents from here on, but for the thread's block, are of its kernel
  std::uint32_t block_known = 0;
  std::uint32_t warp_known = 0;
  std::uint16_t thread = 0;
  bool knows_others = false; // perhaps: it has been told of others by more than barriers

  /// It happened before.
  bool ordered(const Access& a) const {
    return a.block == block ? a.thread == thread || a.tick <= block_known ||
                                  (a.thread / 32 == thread / 32 && a.tick <= warp_known)
                            : a.block < before;
  }
  /// Nothing orders it, if not ordered().
  bool apart(const Access& a) const {
    return !knows_others && (a.block == block || a.block >= beside);
  }
};

class Shadow {
public:
  /// `bytes_left` is shared by all shadows: the limit of what they need. 0: it was reached.
  explicit Shadow(std::uint64_t& bytes_left) : bytes_left_(bytes_left) {}

  /// Forgets everything: a block begins anew.
  void restart();

  /// nullptr: the limit has been reached.
  Page* page(std::uint64_t number) {
    Recent& recent = recent_[number % recent_.size()];
    if (recent.number == number && recent.page != nullptr && recent.page->life == life_) {
      return recent.page;
    }
    return find_page(number);
  }
  Page* existing_page(std::uint64_t number);
  /// Nobody has accessed these bytes. Words that are in it in part stay, and what has accessed
  /// whole pages.
  void forget(std::uint64_t address, std::uint64_t bytes);
  /// The cell in which the synchronisation on a location is noted.
  Cell* cell(std::uint64_t address);

  /// Looks for races of `by` with what was before and records it.
  /// ordered(const Access&): it happened before `by`.
  /// race(const Access& before, std::uint64_t address, std::uint32_t bytes) -> bool: they race;
  /// false: both are strong enough, so that both stay of interest.
  template <class Ordered, class Race>
  void touch(
      std::uint64_t address,
      std::uint64_t bytes,
      const Access& by,
      const Ordered& ordered,
      const Race& race
  ) {
    ++changes_;
    while (bytes != 0) {
      Page* page = this->page(address / Page::bytes);
      std::uint64_t here = std::min(bytes, Page::bytes - address % Page::bytes);
      bytes -= here;
      if (page == nullptr) {
        address += here;
        continue;
      }
      if (page->write.any() && page->write.block != by.block && !ordered(page->write)) {
        race(page->write, address, static_cast<std::uint32_t>(here));
      }
      if (by.writes() && page->read.any() && page->read.block != by.block && !ordered(page->read)) {
        race(page->read, address, static_cast<std::uint32_t>(here));
      }
      page->touched = true;
      while (here != 0) {
        Cell* of_word = word(*page, address);
        if (of_word == nullptr) {
          const std::uint64_t rest = std::min(here, 4 - address % 4);
          address += rest;
          here -= rest;
          continue;
        }
        Cell& cell = *of_word;
        if (address % 4 == 0 && here >= 4) {
          if ((cell.more & split_bit) == 0) [[likely]] {
            touch_cell(cell, address, 4, by, ordered, race);
          } else {
            for (unsigned i = 0; i < 4; ++i) {
              touch_cell(byte_cell(cell, i), address + i, 1, by, ordered, race);
            }
          }
          address += 4;
          here -= 4;
        } else {
          if ((cell.more & split_bit) == 0) {
            split(cell);
          }
          touch_cell(
              byte_cell(cell, static_cast<unsigned>(address % 4)),
              address,
              1,
              by,
              ordered,
              race
          );
          ++address;
          --here;
        }
      }
    }
  }

  /// touch() of a plain read of a whole word, where it costs next to nothing: the last write and
  /// the reads that are kept are of the same block, at ticks that all of its threads know of
  /// (`block_known`) or at the present one. `No`: touch() has to do it. A read that would take the
  /// place of one that is as far from the other one is not kept.
  enum class WordRead : std::uint8_t {
    No,
    ForThread,
    ForWarp // there is nothing to do for other threads of its warp at this tick
  };
  [[gnu::always_inline]] WordRead
  read_word(std::uint64_t address, const Access& by, std::uint32_t block_known) {
    Page* page = page_to_read(address / Page::bytes);
    return page == nullptr ? WordRead::No : read_word(*page, address, by, block_known);
  }
  /// `page` is what page_to_read() has given.
  [[gnu::always_inline]] WordRead
  read_word(Page& page, std::uint64_t address, const Access& by, std::uint32_t block_known) {
    Cell* cell = word(page, address);
    return cell == nullptr ? WordRead::No : read_word(page, *cell, by, block_known);
  }
  /// The cell of a segment (at its first word) which half a warp accesses, lane n the n-th word:
  /// what is done with it for the first of these threads is done for all. nullptr: there is none.
  /// The threads must know the same.
  Cell* cell_for_half(Page& page, std::uint64_t address) {
    Segment& segment = page.segment(address);
    return segment.apart == nullptr ? &segment.cell : nullptr;
  }
  /// nullptr: read_word() answers `No`, wherever in the page it is.
  [[gnu::always_inline]] Page* page_to_read(std::uint64_t number) {
    const Recent& recent = recent_[number % recent_.size()];
    return recent.number == number && recent.page != nullptr && recent.page->life == life_ &&
                   !recent.page->write.any()
               ? recent.page
               : nullptr;
  }
  [[gnu::always_inline]] WordRead
  read_word(Page& page, Cell& cell, const Access& by, std::uint32_t block_known) {
    const auto known = [&](const Access& a) {
      return !a.any() || (a.block == by.block && a.tick <= block_known);
    };
    const auto now = [&](const Access& a) {
      return a.block == by.block && a.tick == by.tick && a.flags == by.flags &&
             a.size_and_scope == by.size_and_scope;
    };
    if (cell.more != 0 || !known(cell.write)) {
      return WordRead::No;
    }
    if (known(cell.read)) {
      if (!known(cell.far_read)) {
        return WordRead::No;
      }
      changes_ += is_settled(cell) ? 1 : 0;
      cell.read = by;
      cell.far_read = {};
      page.touched = true;
      return WordRead::ForThread;
    }
    if (!now(cell.read)) {
      return WordRead::No;
    }
    const unsigned apart = now(cell.far_read) ? distance(cell.read, cell.far_read) : 0;
    if (apart != 0 && apart >= distance(cell.read, by) && apart >= distance(cell.far_read, by)) {
      return WordRead::ForWarp;
    }
    if (cell.read.thread != by.thread) {
      keep_apart(cell.read, cell.far_read, by);
    }
    return WordRead::ForThread;
  }

  /// Two reads by different warps of one block are kept: read_word() has nothing to do for other
  /// reads of that block at that tick, as long as changes() is the same.
  static bool is_settled(const Page& page, std::uint64_t address) {
    const Segment& segment = page.segment(address);
    return is_settled(
        segment.apart == nullptr ? segment.cell : (*segment.apart)[address % Segment::bytes / 4]
    );
  }
  /// Goes up whenever what is kept of a word changes, except by a read of a word that is_settled()
  /// is not true of.
  std::uint64_t changes() const { return changes_; }

  /// The same of a plain write: false if touch() has to do it.
  [[gnu::always_inline]] bool
  write_word(std::uint64_t address, const Access& by, std::uint32_t block_known) {
    Page* page = page_to_read(address / Page::bytes);
    Cell* cell = page == nullptr || page->read.any() ? nullptr : word(*page, address);
    return cell != nullptr && write_word(*page, *cell, by, block_known);
  }
  [[gnu::always_inline]] bool
  write_word(Page& page, Cell& cell, const Access& by, std::uint32_t block_known) {
    const auto known = [&](const Access& a) {
      return !a.any() || (a.block == by.block && a.tick <= block_known);
    };
    if (cell.more != 0 || !known(cell.write) || !known(cell.read) || !known(cell.far_read)) {
      return false;
    }
    ++changes_;
    cell.write = by;
    cell.read = cell.far_read = {};
    cell.sync = 0; // what was released here before cannot be acquired through this value
    page.touched = true;
    return true;
  }

  /// touch() of a plain access to whole words, where `order` says all that it asks for and there is
  /// no race; false: touch() has to do it, to which it makes no difference what was done here.
  [[gnu::always_inline]] bool touch_words(
      std::uint64_t address,
      std::uint64_t words,
      const Access& by,
      const NearOrder& order
  ) {
    for (; words != 0; --words, address += 4) {
      Page* page = this->page(address / Page::bytes);
      Cell* cell = page == nullptr ? nullptr : word(*page, address);
      if (cell == nullptr || !touch_word(*page, *cell, by, order)) {
        return false;
      }
    }
    return true;
  }
  [[gnu::always_inline]] bool
  touch_word(Page& page, Cell& cell, const Access& by, const NearOrder& order) {
    ++changes_;
    const auto open = [&](const Access& a) { return a.any() && !order.ordered(a); };
    if (open(page.write) || (by.writes() && open(page.read)) || cell.more != 0 ||
        open(cell.write)) {
      return false;
    }
    page.touched = true;
    if (!by.writes()) {
      return read_cell(cell, by, order);
    }
    if (open(cell.read) || open(cell.far_read)) {
      return false;
    }
    cell.write = by;
    cell.read = cell.far_read = {};
    cell.sync = 0;
    return true;
  }

  /// The same for all of a page, by something on the host's side: one record for the whole.
  template <class Ordered, class Race>
  void
  touch_page(std::uint64_t number, const Access& by, const Ordered& ordered, const Race& race) {
    ++changes_;
    Page* page = this->page(number);
    if (page == nullptr) {
      return;
    }
    const std::uint64_t begin = number * Page::bytes;
    const auto look = [&](const Access& before, std::uint64_t address, std::uint32_t bytes) {
      if (before.any() && (before.writes() || by.writes()) && !ordered(before)) {
        race(before, address, bytes);
      }
    };
    look(page->write, begin, Page::bytes);
    look(page->read, begin, Page::bytes);
    const auto look_at_cell = [&](const Cell& cell, std::uint64_t address, std::uint32_t bytes) {
      look(cell.write, address, bytes);
      look(cell.read, address, bytes);
      look(cell.far_read, address, bytes);
    };
    if (page->touched) {
      for (std::uint64_t address = begin; address != begin + Page::bytes; address += 4) {
        const Cell cell = page->segment(address).cell_of(
            static_cast<std::uint16_t>(address / 4 % Segment::words)
        );
        if ((cell.more & split_bit) == 0) {
          look_at_cell(cell, address, 4);
        } else {
          for (unsigned i = 0; i < 4; ++i) {
            look_at_cell(byte_cell(cell, i), address + i, 1);
          }
        }
      }
    }
    if (by.writes()) {
      if (page->touched) {
        for (Segment& segment : page->segments) {
          if (segment.apart != nullptr) {
            free_.push_back(segment.apart);
          }
          segment = {};
        }
        page->touched = false;
      }
      page->write = by;
      page->read = {};
    } else {
      page->read = by;
    }
  }

  /// Whoever uses a whole page of these bytes for the first time finds it written by `by`.
  void set_first_write(std::uint64_t address, std::uint64_t bytes, const Access& by);

  std::uint64_t pages_refused() const { return refused_; }

private:
  struct Recent {
    std::uint64_t number = ~std::uint64_t{0};
    Page* page = nullptr;
  };
  Page* find_page(std::uint64_t number);
  /// The cell of a word; nullptr: the limit was reached.
  [[gnu::always_inline]] Cell* word(Page& page, std::uint64_t address) {
    Segment& segment = page.segment(address);
    if (segment.apart == nullptr && !part(segment)) [[unlikely]] {
      return nullptr;
    }
    return &(*segment.apart)[address % Segment::bytes / 4];
  }
  bool part(Segment& segment);
  bool may_take(std::uint64_t bytes);
  static bool is_settled(const Cell& cell) {
    return cell.read.any() && cell.far_read.any() && cell.read.block == cell.far_read.block &&
           cell.read.tick == cell.far_read.tick && distance(cell.read, cell.far_read) == 2;
  }
  void split(Cell& cell);
  Cell& byte_cell(const Cell& cell, unsigned i) { return bytes_[cell.more & ~split_bit][i]; }
  Kept& kept(Cell& cell) {
    if (cell.more == 0) {
      if (kept_.empty()) {
        kept_.emplace_back();
      }
      cell.more = static_cast<std::uint32_t>(kept_.size());
      kept_.emplace_back();
    }
    return kept_[cell.more];
  }
  static unsigned distance(const Access& a, const Access& b) {
    return a.block != b.block ? 3 : (a.thread / 32 != b.thread / 32 ? 2 : 1);
  }
  /// Neither is ordered before the other: keeps `by` as the last one, and of the two others that
  /// which is farther from it.
  static void keep_apart(Access& last, Access& far, const Access& by) {
    if (!far.any() || distance(last, by) >= distance(far, by)) {
      far = last;
    }
    last = by;
  }

  /// touch_cell() of a read, where the last write is ordered before it.
  [[gnu::always_inline]] static bool
  read_cell(Cell& cell, const Access& by, const NearOrder& order) {
    const Access& last = cell.read;
    if (last.block == by.block && last.tick == by.tick && last.thread == by.thread &&
        last.flags == by.flags && last.size_and_scope == by.size_and_scope) {
      return true;
    }
    if (!last.any() || order.ordered(last)) {
      if (cell.far_read.any()) {
        if (order.ordered(cell.far_read)) {
          cell.far_read = {};
        } else if (!order.apart(cell.far_read)) {
          return false;
        }
      }
      cell.read = by;
      return true;
    }
    if (!order.apart(last)) {
      return false;
    }
    keep_apart(cell.read, cell.far_read, by);
    return true;
  }

  template <class Ordered, class Race>
  void touch_cell(
      Cell& cell,
      std::uint64_t address,
      std::uint32_t bytes,
      const Access& by,
      const Ordered& ordered,
      const Race& race
  ) {
    const auto same = [&](const Access& a) {
      return a.block == by.block && a.tick == by.tick && a.thread == by.thread &&
             a.flags == by.flags && a.size_and_scope == by.size_and_scope;
    };
    Access* far = cell.more != 0 ? &kept_[cell.more].far_write : nullptr;
    if (by.writes() && !by.strong()) {
      cell.sync = 0; // what was released here before cannot be acquired through this value
    }
    // What has read the last write's value, or goes on from it, has observed that write and all
    // that atomic updates made it of: they happened before what that access happened before.
    const auto has_observed = [&](const Access& reader) {
      constexpr std::uint8_t strong_read = Read | Strong;
      return (reader.flags & (strong_read | Past)) == strong_read && ordered(reader);
    };
    bool observed_last = false;
    bool observed_far = false;
    if (cell.write.any() && cell.write.strong() && !by.strong()) {
      observed_last = has_observed(cell.read) || has_observed(cell.far_read);
      observed_far = observed_last || has_observed(cell.write);
    }
    // Is `before` of no interest any more? Reports it if it races.
    const auto passed = [&](const Access& before) {
      if (!before.any() || ordered(before)) {
        return true;
      }
      if (&before == &cell.write ? observed_last
                                 : &before == far && observed_far && (before.flags & Past) == 0) {
        return true;
      }
      return race(before, address, bytes);
    };
    const bool takes_over = by.strong();
    if (!by.writes()) {
      if (same(cell.read)) {
        return; // the same thread read it at the same tick: nothing new can be found
      }
      if (far != nullptr) {
        passed(kept_[cell.more].plain_write);
      }
      if (cell.write.any()) {
        passed(cell.write);
        if (far != nullptr) {
          passed(*far);
        }
      }
      if (!cell.read.any() || ordered(cell.read)) {
        if (takes_over && cell.read.any() && !cell.read.strong()) {
          kept(cell).plain_read = cell.read;
        }
        cell.read = by;
        if (cell.far_read.any() && ordered(cell.far_read)) {
          cell.far_read = {};
        }
      } else {
        keep_apart(cell.read, cell.far_read, by);
      }
      return;
    }
    if (same(cell.write) && !cell.read.any()) {
      return;
    }
    if (cell.more != 0) {
      Kept& plain = kept_[cell.more];
      passed(plain.plain_write);
      passed(plain.plain_read);
      if (!takes_over) {
        plain.plain_write = plain.plain_read = {};
      }
    }
    if (takes_over && cell.write.any() && !cell.write.strong()) {
      kept(cell).plain_write = cell.write;
    }
    if (takes_over && cell.read.any() && !cell.read.strong()) {
      kept(cell).plain_read = cell.read;
    }
    far = cell.more != 0 ? &kept_[cell.more].far_write : nullptr;
    if (cell.read.any()) {
      if (passed(cell.read)) {
        cell.read = {};
      }
      if (cell.far_read.any() && passed(cell.far_read)) {
        cell.far_read = {};
      }
      if (!cell.read.any()) {
        std::swap(cell.read, cell.far_read);
      }
      cell.read.flags |= Past;
      cell.far_read.flags |= Past;
    }
    if (far != nullptr && far->any() && passed(*far)) {
      *far = {};
    }
    if (passed(cell.write)) {
      cell.write = by;
    } else {
      keep_apart(cell.write, kept(cell).far_write, by);
    }
    if ((by.flags & Read) == 0 && cell.more != 0) {
      kept(cell).far_write.flags |= Past;
    }
  }

  std::uint64_t& bytes_left_;
  std::uint64_t refused_ = 0;
  std::uint64_t changes_ = 0;
  std::uint32_t life_ = 1;
  struct FirstWrite {
    std::uint64_t last = 0; // page
    Access by;
  };
  std::unordered_map<std::uint64_t, std::unique_ptr<Page>> pages_;
  std::map<std::uint64_t, FirstWrite> first_writes_; // by the first page
  std::array<Recent, 64> recent_{};
  std::deque<Segment::Cells> cells_;  // of segments
  std::vector<Segment::Cells*> free_; // of them
  std::deque<Kept> kept_;             // 0 stays free
  std::deque<std::array<Cell, 4>> bytes_;
};

} // namespace heddle::race
