// The pages of a StateTable. All processes of a search write to all parts of it, and each of them
// maps each page for itself: with 32 processes and pages of 4 KiB that took as long as the search.
// So the tool makes huge pages (2 MiB) of what is going to be needed soon, which are mapped at
// once; with MADV_COLLAPSE, since most systems have no huge pages for shared memory unless they are
// asked for in this way (Linux 6.1). bench/scaling.md has figures. Where that does not work,
// nothing is lost.
#include "explore/table/state_table_layout.h"

#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <cerrno>

namespace heddle::explore {

namespace {

#ifndef MADV_POPULATE_WRITE
constexpr int MADV_POPULATE_WRITE = 23;
#endif
#ifndef MADV_COLLAPSE
constexpr int MADV_COLLAPSE = 25;
#endif

// So much of an array is made ready beyond what is used, at once: a sixteenth, since more processes
// are likely to take part in a large search, and a process that comes to a page before it is huge
// makes all of them map it anew. Each call makes the kernel empty lists of all processors, so it is
// worth while to make many pages in one.
std::size_t ahead_of(std::size_t used) {
  return std::clamp(used / 16 / huge_page * huge_page, 2 * huge_page, 64 * huge_page);
}

} // namespace

std::byte* map_table(int fd, std::size_t bytes) {
  const std::size_t whole = (bytes + page - 1) / page * page;
  void* const room = ::mmap(
      nullptr,
      whole + huge_page,
      PROT_NONE,
      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
      -1,
      0
  );
  if (room == MAP_FAILED) {
    return nullptr;
  }
  auto* const first = static_cast<std::byte*>(room);
  const std::size_t before = -reinterpret_cast<std::uintptr_t>(first) % huge_page;
  void* const p =
      ::mmap(first + before, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd, 0);
  if (before != 0) {
    ::munmap(first, before);
  }
  ::munmap(first + before + whole, huge_page - before);
  if (p == MAP_FAILED) {
    return nullptr;
  }
  ::madvise(p, whole, MADV_HUGEPAGE); // where shared memory has them by itself
  return static_cast<std::byte*>(p);
}

/// Memory of the table that nobody needs any more; who reads it finds zeros.
void StateTable::give_back(std::size_t at, std::size_t bytes) {
  const std::size_t begin = (at + page - 1) / page * page, end = (at + bytes) / page * page;
  if (begin < end) {
    ::madvise(base_ + begin, end - begin, MADV_REMOVE);
  }
}

void StateTable::make_huge(std::size_t at, std::size_t bytes, Ready& ready) const {
  const std::size_t whole = bytes / huge_page * huge_page;
  if (ready.in_vain || whole == 0) {
    return;
  }
  for (std::size_t n = at; n < at + whole; n += huge_page) {
    ::madvise(base_ + n, page, MADV_POPULATE_WRITE); // one without any page is left as it is
  }
  ready.in_vain = ::madvise(base_ + at, whole, MADV_COLLAPSE) != 0 && errno == EINVAL;
}

void StateTable::make_ready(Ready& ready) const {
  constexpr auto relaxed = std::memory_order_relaxed;
  Header& h = header();
  if (ready.in_vain || atomic_of(h.several).load(relaxed) == 0) {
    return;
  }
  const auto follow = [&](std::size_t at, std::size_t& bytes, std::size_t used, std::size_t most) {
    const std::size_t ahead = ahead_of(used);
    while (bytes < std::min(used + ahead, most)) {
      const std::size_t end = std::min(bytes + ahead, most);
      make_huge(at + bytes, end - bytes, ready);
      bytes = end;
    }
  };
  const auto follow_both = [&] {
    const std::size_t states = atomic_of(h.states).load(relaxed),
                      edges = atomic_of(h.edges).load(relaxed);
    follow(
        h.states_at,
        ready.states,
        states * sizeof(StoredState),
        h.max_states * sizeof(StoredState)
    );
    follow(h.edges_at, ready.edges, edges * sizeof(ShortEdge), h.max_edges * sizeof(ShortEdge));
    return states;
  };
  const std::size_t states = follow_both();
  const std::uint32_t now = atomic_of(h.visited).load(relaxed);
  const bool next_soon = states > visited_room(now, h.max_states) / 2;
  for (std::uint32_t n = now; n <= now + (next_soon ? 1 : 0) && n < visited_sets; ++n) {
    if ((ready.visited_sets >> n & 1) != 0) {
      continue;
    }
    ready.visited_sets |= 1U << n;
    const std::size_t bytes = VisitedSet::bytes(visited_room(n, h.max_states));
    // A large one takes long, and the arrays grow meanwhile.
    constexpr std::size_t piece = 16 * huge_page;
    for (std::size_t at = 0; at < bytes; at += piece) {
      make_huge(h.visited_at[n] + at, std::min(piece, bytes - at), ready);
      follow_both();
    }
  }
}

} // namespace heddle::explore
