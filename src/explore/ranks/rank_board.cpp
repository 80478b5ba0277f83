// Implements rank_board.h. A bucket of claims is one cache line, 64-bit words that are read and
// written one by one: half of one claim beside half of another is taken for a third one only if
// both halves are its own.
#include "explore/ranks/rank_board.h"

#include "base/check.h"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <bit>
#include <climits>
#include <cstring>

namespace heddle::explore {

namespace {

constexpr auto relaxed = std::memory_order_relaxed;
constexpr std::size_t line = 64, claims_in_line = 4;
constexpr std::uint64_t ring_places = 1 << 18;
// As many processes may find the ring nearly full at the same moment.
constexpr std::uint64_t places_kept = 8192;

enum Mail : std::uint32_t {
  AtWork,
  Idle,
  Full,
  Over
};
enum Offer : std::uint32_t {
  NotAsked,
  Asked,
  Promised, // a piece is being written
  Given
};

template <class T> std::atomic_ref<T> shared(T& value) {
  return std::atomic_ref<T>(value);
}

} // namespace

struct RankBoard::Header {
  std::uint32_t rank, ranks, errands;
  alignas(128) std::uint32_t mail, offer;
  std::uint64_t in_bytes, out_bytes;
  alignas(128) std::uint64_t tail; // of the ring: places that processes have taken
  alignas(128) std::uint64_t head; // … and the tool has read
};

namespace {
constexpr std::size_t head_bytes = 4096;

std::uint64_t buckets_for(std::uint32_t max_states) {
  return std::bit_ceil(std::uint64_t{max_states} / 2 + 1024);
}
} // namespace

std::size_t RankBoard::bytes(std::uint32_t max_states) {
  return head_bytes + ring_places * sizeof(Hash128) + 2 * most_bytes +
         buckets_for(max_states) * line;
}

RankBoard::RankBoard(void* memory, std::uint32_t max_states)
    : base_(static_cast<std::byte*>(memory)),
      buckets_(buckets_for(max_states)) {
  static_assert(sizeof(Header) <= head_bytes);
}

void RankBoard::divide(std::uint32_t rank, std::uint32_t ranks, bool does_errands) {
  Header& h = header();
  h.rank = rank;
  h.ranks = ranks;
  h.errands = does_errands ? 1 : 0;
}

bool RankBoard::does_errands() const {
  return header().errands != 0;
}

void RankBoard::set_errands() {
  header().errands = 1;
}

RankBoard::Header& RankBoard::header() const {
  return *reinterpret_cast<Header*>(base_);
}
std::uint64_t* RankBoard::ring() const {
  return reinterpret_cast<std::uint64_t*>(base_ + head_bytes);
}
std::byte* RankBoard::outbox() const {
  return base_ + head_bytes + ring_places * sizeof(Hash128);
}
std::byte* RankBoard::inbox() const {
  return outbox() + most_bytes;
}
std::uint64_t* RankBoard::bucket(const Hash128& claim) const {
  auto* const buckets = reinterpret_cast<std::uint64_t*>(inbox() + most_bytes);
  return buckets + (claim.low >> 2 & (buckets_ - 1)) * (line / sizeof(std::uint64_t));
}

std::uint32_t RankBoard::rank() const {
  return header().rank;
}
std::uint32_t RankBoard::ranks() const {
  return header().ranks;
}

// --- Claims --------------------------------------------------------------------------------------

bool RankBoard::is_elsewhere(const Hash128& claim) const {
  std::uint64_t* const words = bucket(claim);
  for (std::size_t i = 0; i < claims_in_line; ++i) {
    if (shared(words[2 * i]).load(relaxed) == claim.low &&
        shared(words[2 * i + 1]).load(relaxed) == claim.high) {
      return true;
    }
  }
  return false;
}

void RankBoard::fetch(const Hash128& claim) const {
  __builtin_prefetch(bucket(claim));
}

void RankBoard::note_elsewhere(const Hash128& claim) {
  if (is_elsewhere(claim)) {
    return;
  }
  std::uint64_t* const words = bucket(claim);
  std::size_t place = claim.high % claims_in_line; // whose claim is forgotten if all are taken
  for (std::size_t i = 0; i < claims_in_line; ++i) {
    if (words[2 * i] == 0 && words[2 * i + 1] == 0) {
      place = i;
      break;
    }
  }
  shared(words[2 * place]).store(claim.low, relaxed);
  shared(words[2 * place + 1]).store(claim.high, relaxed);
}

void RankBoard::announce(const Hash128& claim) {
  Header& h = header();
  if (shared(h.tail).load(relaxed) - shared(h.head).load(std::memory_order_acquire) >
      ring_places - places_kept) {
    return; // the tool is late
  }
  std::uint64_t* const place = ring() + 2 * (shared(h.tail).fetch_add(1) % ring_places);
  shared(place[1]).store(claim.high, relaxed);
  shared(place[0]).store(claim.low, std::memory_order_release); // it is not zero
}

std::vector<Hash128> RankBoard::take_announced() {
  Header& h = header();
  std::vector<Hash128> claims;
  const std::uint64_t end = shared(h.tail).load();
  std::uint64_t at = h.head;
  for (; at != end; ++at) {
    std::uint64_t* const place = ring() + 2 * (at % ring_places);
    const std::uint64_t low = shared(place[0]).load(std::memory_order_acquire);
    if (low == 0) {
      break; // it is being written
    }
    claims.push_back({low, place[1]});
    shared(place[0]).store(0, relaxed);
  }
  shared(h.head).store(at, std::memory_order_release);
  return claims;
}

// --- Work ----------------------------------------------------------------------------------------

bool RankBoard::wants_work() const {
  return shared(header().offer).load(relaxed) == Asked;
}

bool RankBoard::give(std::span<const std::byte> work) {
  Header& h = header();
  std::uint32_t asked = Asked;
  if (work.size() > most_bytes || !shared(h.offer).compare_exchange_strong(asked, Promised)) {
    return false;
  }
  std::memcpy(outbox(), work.data(), work.size());
  h.out_bytes = work.size();
  shared(h.offer).store(Given);
  return true;
}

void RankBoard::ask() {
  std::uint32_t not_asked = NotAsked;
  shared(header().offer).compare_exchange_strong(not_asked, Asked);
}

void RankBoard::ask_no_more() {
  std::uint32_t asked = Asked;
  shared(header().offer).compare_exchange_strong(asked, NotAsked);
}

std::optional<std::vector<std::byte>> RankBoard::take_given() {
  Header& h = header();
  if (shared(h.offer).load() != Given) {
    return std::nullopt;
  }
  std::vector<std::byte> work(outbox(), outbox() + h.out_bytes);
  shared(h.offer).store(NotAsked);
  return work;
}

std::optional<std::vector<std::byte>> RankBoard::await() {
  Header& h = header();
  std::uint32_t at_work = AtWork;
  shared(h.mail).compare_exchange_strong(at_work, Idle);
  for (;;) {
    const std::uint32_t mail = shared(h.mail).load();
    if (mail == Over) {
      return std::nullopt;
    }
    if (mail == Full) {
      std::vector<std::byte> work(inbox(), inbox() + h.in_bytes);
      shared(h.mail).store(AtWork);
      return work;
    }
    ::syscall(SYS_futex, &h.mail, FUTEX_WAIT, mail, nullptr, nullptr, 0);
  }
}

void RankBoard::leave(std::span<const std::byte> work) {
  Header& h = header();
  std::memcpy(inbox(), work.data(), work.size());
  h.in_bytes = work.size();
  std::uint32_t at_work = AtWork;
  shared(h.mail).compare_exchange_strong(at_work, Full); // else all is over
}

bool RankBoard::is_idle() const {
  return shared(header().mail).load() == Idle;
}

void RankBoard::put(std::span<const std::byte> work) {
  Header& h = header();
  HEDDLE_CHECK(is_idle() && work.size() <= most_bytes, "a piece of work that nobody waits for");
  std::memcpy(inbox(), work.data(), work.size());
  h.in_bytes = work.size();
  shared(h.mail).store(Full);
  ::syscall(SYS_futex, &h.mail, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
}

void RankBoard::end() {
  Header& h = header();
  shared(h.mail).store(Over);
  ::syscall(SYS_futex, &h.mail, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
}

} // namespace heddle::explore
