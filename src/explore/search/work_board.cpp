// Implements work_board.h. All that several processes change is sequentially consistent: work is
// handed over thousands of times a second at most.
#include "explore/search/work_board.h"

#include "base/check.h"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <climits>
#include <cstring>
#include <ctime>

namespace heddle::explore {

namespace {

constexpr std::size_t head = 128;

template <class T> std::atomic_ref<T> shared(T& value) {
  return std::atomic_ref<T>(value);
}

/// Until *word is not `value`, or for so long; it may return early.
void sleep_on(void* word, std::uint32_t value, std::chrono::nanoseconds time) {
  timespec wait{};
  wait.tv_sec = static_cast<time_t>(time.count() / 1'000'000'000);
  wait.tv_nsec = static_cast<long>(time.count() % 1'000'000'000);
  ::syscall(SYS_futex, word, FUTEX_WAIT, value, &wait, nullptr, 0);
}

void wake(void* word) {
  ::syscall(SYS_futex, word, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
}

} // namespace

std::size_t WorkBoard::bytes(std::uint32_t processes) {
  return head + processes * (sizeof(Member) + most_bytes);
}

WorkBoard::WorkBoard(void* memory, std::uint32_t processes)
    : highest_(static_cast<std::uint32_t*>(memory)),
      members_(reinterpret_cast<Member*>(static_cast<std::byte*>(memory) + head)),
      boxes_(reinterpret_cast<std::byte*>(members_ + processes)) {}

void WorkBoard::found(std::uint32_t process) {
  Member& m = member(process);
  shared(m.resting).store(0);
  shared(m.working).store(0);
  join(process, process);
}

void WorkBoard::join(Family family, std::uint32_t process) {
  Member& m = member(process);
  shared(m.mail).store(Mail::Away);
  shared(m.family).store(family);
  shared(member(family).working).fetch_add(1);
  std::uint32_t highest = shared(*highest_).load();
  while (highest < process && !shared(*highest_).compare_exchange_weak(highest, process)) {
  }
}

bool WorkBoard::turn(std::uint32_t process, Mail from, Mail to) {
  return shared(member(process).mail).compare_exchange_strong(from, to);
}

bool WorkBoard::some_idle(Family family) const {
  return shared(member(family).resting).load() != 0;
}

bool WorkBoard::give(Family family, std::span<const std::byte> work) {
  if (work.size() > most_bytes) {
    return false;
  }
  const std::uint32_t highest = shared(*highest_).load();
  for (std::uint32_t p = 0; p <= highest && some_idle(family); ++p) {
    Member& m = member(p);
    // A process rests in one family only, so that the number cannot change behind this.
    if (shared(m.mail).load() != Mail::Resting || shared(m.family).load() != family ||
        !turn(p, Mail::Resting, Mail::Promised)) {
      continue;
    }
    if (shared(m.family).load() != family) { // it has left and rests elsewhere
      shared(m.mail).store(Mail::Resting);
      wake(&m.mail);
      continue;
    }
    shared(member(family).resting).fetch_sub(1);
    shared(member(family).working).fetch_add(1);
    std::memcpy(box(p), work.data(), work.size());
    m.bytes = static_cast<std::uint32_t>(work.size());
    shared(m.mail).store(Mail::Full);
    wake(&m.mail);
    return true;
  }
  return false;
}

void WorkBoard::rest(std::uint32_t process) {
  Member& m = member(process);
  const Family family = m.family;
  shared(member(family).resting).fetch_add(1);
  shared(m.mail).store(Mail::Resting);
  if (shared(member(family).working).fetch_sub(1) == 1) {
    dismiss(family);
  }
}

/// Nobody works any more: so nobody gives work to those who rest, and no one begins to rest.
void WorkBoard::dismiss(Family family) {
  const std::uint32_t highest = shared(*highest_).load();
  for (std::uint32_t p = 0; p <= highest; ++p) {
    Member& m = member(p);
    if (shared(m.family).load() == family && turn(p, Mail::Resting, Mail::Over)) {
      shared(member(family).resting).fetch_sub(1);
      wake(&m.mail);
    }
  }
}

std::variant<WorkBoard::NoWork, std::vector<std::byte>>
WorkBoard::await(std::uint32_t process, int milliseconds) {
  using Clock = std::chrono::steady_clock;
  Member& m = member(process);
  const auto until = Clock::now() + std::chrono::milliseconds(milliseconds);
  for (;;) {
    const Mail mail = shared(m.mail).load();
    if (mail == Mail::Full) {
      std::vector<std::byte> work(box(process), box(process) + m.bytes);
      shared(m.mail).store(Mail::Away);
      return work;
    }
    if (mail == Mail::Over) {
      shared(m.mail).store(Mail::Away);
      return NoWork::Over;
    }
    const auto left = until - Clock::now();
    if (mail == Mail::Resting && left.count() <= 0) {
      if (turn(process, Mail::Resting, Mail::Away)) {
        shared(member(m.family).resting).fetch_sub(1);
        return NoWork::Tired;
      }
      continue;
    }
    constexpr std::chrono::nanoseconds soon = std::chrono::milliseconds(1);
    sleep_on(&m.mail, static_cast<std::uint32_t>(mail), mail == Mail::Resting ? left : soon);
  }
}

void WorkBoard::quit(std::uint32_t process) {
  const Family family = member(process).family;
  if (shared(member(family).working).fetch_sub(1) == 1) {
    dismiss(family);
  }
}

} // namespace heddle::explore
