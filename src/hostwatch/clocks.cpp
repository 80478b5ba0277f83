// Clocks and sleeping. Under the explorer time is virtual: nobody sleeps, and a clock shows what
// explore/host/host_clock.h says, so that nothing depends on how fast the exploration is. Sleeping
// is a scheduling point, looking at a clock is none.
//
// May miss: clocks read through raw system calls or inside the C library (file times).
#include "hostwatch/hooks_internal.h"

#include <sys/time.h>
#include <sys/times.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <ctime>

namespace heddle::hostwatch {

namespace {

/// Another run begins at another time: where one is asked for (FromOutside in base/outside.h), each
/// unit of time from nanoseconds to days is larger by this. Of the five numbers some differ in each
/// of the lowest four bits, and in the remainder modulo 3, 5, 6, 7 …
std::uint64_t other_start() {
  static const std::uint64_t units = [] {
    static decltype(&std::getenv) real = nullptr; // ours tells who asks
    const char* const text = real_function(real, "getenv")("HEDDLE_OUTSIDE");
    constexpr struct {
      const char* word;
      std::uint64_t units;
    } others[] = {{"less", 1}, {"some", 6}, {"much", 11}, {"more", 13}};
    for (const auto& other : others) {
      if (text != nullptr && std::strcmp(text, other.word) == 0) {
        return other.units;
      }
    }
    return std::uint64_t{0};
  }();
  return units;
}

} // namespace

std::uint64_t start_of(clockid_t clock) {
  constexpr std::uint64_t short_units = 1 + 1'000 + 1'000'000; // a ns, a us and a ms
  constexpr std::uint64_t units = short_units + (1 + 60 + 3'600 + 86'400) * second;
  switch (clock) {
  case CLOCK_REALTIME:
  case CLOCK_REALTIME_COARSE:
  case CLOCK_TAI:
    return HeddleRealtimeStart + other_start() * units;
  case CLOCK_PROCESS_CPUTIME_ID:
  case CLOCK_THREAD_CPUTIME_ID:
    return other_start() * short_units;
  default:
    return HeddleMonotonicStart + other_start() * units;
  }
}

bool valid(const timespec& time) {
  return time.tv_nsec >= 0 && time.tv_nsec < static_cast<long>(second);
}

namespace {

/// Saturates: a century is as good as never.
std::uint64_t nanoseconds(const timespec& time) {
  constexpr std::int64_t century = 3'155'760'000;
  if (time.tv_sec < 0) {
    return 0;
  }
  if (time.tv_sec > century) {
    return static_cast<std::uint64_t>(century) * second;
  }
  return static_cast<std::uint64_t>(time.tv_sec) * second +
         static_cast<std::uint64_t>(time.tv_nsec);
}

} // namespace

bool look(clockid_t clock, std::uint64_t* shows) {
  std::uint64_t elapsed = 0;
  if (threads() == nullptr || !threads()->elapsed(&elapsed, true)) {
    return false;
  }
  *shows = start_of(clock) - HeddleMonotonicStart + elapsed;
  return true;
}

namespace {

void sleep_until(std::uint64_t deadline) {
  before(HeddleYield, nullptr, 0);
  if (threads() != nullptr) {
    threads()->pass(deadline);
  }
}

} // namespace

std::uint64_t deadline_at(clockid_t clock, const timespec& time) {
  const std::uint64_t then = nanoseconds(time);
  const std::uint64_t start = start_of(clock);
  return then > start ? then - (start - HeddleMonotonicStart) : HeddleMonotonicStart;
}

std::uint64_t deadline_after(const timespec& time) {
  std::uint64_t now = 0;
  if (threads() == nullptr || !threads()->elapsed(&now, false)) {
    return 0;
  }
  return now + nanoseconds(time);
}

} // namespace heddle::hostwatch

using namespace heddle::hostwatch;

HEDDLE_EXPORT int clock_gettime(clockid_t clock, timespec* time) {
  std::uint64_t shows = 0;
  if (!look(clock, &shows)) {
    static decltype(&clock_gettime) real = nullptr;
    return real_function(real, "clock_gettime")(clock, time);
  }
  time->tv_sec = static_cast<time_t>(shows / second);
  time->tv_nsec = static_cast<long>(shows % second);
  return 0;
}

HEDDLE_EXPORT int gettimeofday(timeval* time, void* zone) {
  std::uint64_t shows = 0;
  if (!look(CLOCK_REALTIME, &shows)) {
    using GetTime = int(timeval*, void*);
    static GetTime* real = nullptr;
    return real_function(real, "gettimeofday")(time, zone);
  }
  time->tv_sec = static_cast<time_t>(shows / second);
  time->tv_usec = static_cast<suseconds_t>(shows % second / 1000);
  return 0;
}

HEDDLE_EXPORT time_t time(time_t* out) {
  std::uint64_t shows = 0;
  if (!look(CLOCK_REALTIME, &shows)) {
    static decltype(&time) real = nullptr;
    return real_function(real, "time")(out);
  }
  const auto seconds = static_cast<time_t>(shows / second);
  if (out != nullptr) {
    *out = seconds;
  }
  return seconds;
}

HEDDLE_EXPORT clock_t clock() {
  std::uint64_t shows = 0;
  if (!look(CLOCK_PROCESS_CPUTIME_ID, &shows)) {
    static decltype(&clock) real = nullptr;
    return real_function(real, "clock")();
  }
  return static_cast<clock_t>(shows / (second / CLOCKS_PER_SEC));
}

HEDDLE_EXPORT int timespec_get(timespec* time, int base) {
  std::uint64_t shows = 0;
  if (base != TIME_UTC || !look(CLOCK_REALTIME, &shows)) {
    static decltype(&timespec_get) real = nullptr;
    return real_function(real, "timespec_get")(time, base);
  }
  time->tv_sec = static_cast<time_t>(shows / second);
  time->tv_nsec = static_cast<long>(shows % second);
  return base;
}

HEDDLE_EXPORT clock_t times(tms* used) {
  std::uint64_t shows = 0;
  if (!look(CLOCK_PROCESS_CPUTIME_ID, &shows)) {
    static decltype(&times) real = nullptr;
    return real_function(real, "times")(used);
  }
  const auto ticks =
      static_cast<clock_t>(shows / (second / static_cast<std::uint64_t>(::sysconf(_SC_CLK_TCK))));
  if (used != nullptr) {
    *used = {.tms_utime = ticks, .tms_stime = 0, .tms_cutime = 0, .tms_cstime = 0};
  }
  return ticks;
}

// --- Sleeping ------------------------------------------------------------------------------------
// Without an explorer all of these are the C library's.

#define HEDDLE_REAL_SLEEP(function, ...)                                                           \
  if (hooks == nullptr) {                                                                          \
    static decltype(&function) real = nullptr;                                                     \
    return real_function(real, #function)(__VA_ARGS__);                                            \
  }

HEDDLE_EXPORT int sched_yield() {
  HEDDLE_REAL_SLEEP(sched_yield)
  before(HeddleYield, nullptr, 0);
  return 0;
}

HEDDLE_EXPORT int nanosleep(const timespec* time, timespec* left) {
  HEDDLE_REAL_SLEEP(nanosleep, time, left)
  if (!valid(*time) || time->tv_sec < 0) {
    errno = EINVAL;
    return -1;
  }
  sleep_until(deadline_after(*time));
  return 0;
}

HEDDLE_EXPORT int
clock_nanosleep(clockid_t clock, int flags, const timespec* time, timespec* left) {
  HEDDLE_REAL_SLEEP(clock_nanosleep, clock, flags, time, left)
  if (!valid(*time) || time->tv_sec < 0) {
    return EINVAL;
  }
  sleep_until((flags & TIMER_ABSTIME) != 0 ? deadline_at(clock, *time) : deadline_after(*time));
  return 0;
}

HEDDLE_EXPORT int usleep(useconds_t microseconds) {
  HEDDLE_REAL_SLEEP(usleep, microseconds)
  sleep_until(deadline_after({0, static_cast<long>(microseconds) * 1000}));
  return 0;
}

HEDDLE_EXPORT unsigned sleep(unsigned seconds) {
  HEDDLE_REAL_SLEEP(sleep, seconds)
  sleep_until(deadline_after({static_cast<time_t>(seconds), 0}));
  return 0;
}
