// Pipes, sockets and the like: what they hold is kept by the kernel, so that all executions of a
// search would share it, and who waits for something from them blocks all host threads. Under the
// explorer making one is unsupported, which names the place; without it all of these are the C
// library's.
//
// May miss: such objects that the program inherits (standard input), or that libraries make for
// themselves. Without an explorer, who reads from any of them may have been told of what others did
// before they wrote to any (misses).
#include "hostwatch/answers.h"
#include "hostwatch/hooks_internal.h"
#include "hostwatch/shared_use.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/msg.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/timerfd.h>
#include <sys/uio.h>
#include <unistd.h>

using namespace heddle::hostwatch;

#define HEDDLE_KEPT_BY_THE_KERNEL(type, function, parameters, ...)                                 \
  HEDDLE_EXPORT type function parameters {                                                         \
    if (hooks != nullptr) {                                                                        \
      hooks->unsupported(#function "(), as what the kernel keeps is the same for all schedules");  \
    }                                                                                              \
    static decltype(&function) real = nullptr;                                                     \
    return real_function(real, #function)(__VA_ARGS__);                                            \
  }

HEDDLE_KEPT_BY_THE_KERNEL(int, pipe, (int ends[2]), ends)
HEDDLE_KEPT_BY_THE_KERNEL(int, pipe2, (int ends[2], int flags), ends, flags)
HEDDLE_KEPT_BY_THE_KERNEL(int, eventfd, (unsigned value, int flags), value, flags)
HEDDLE_KEPT_BY_THE_KERNEL(
    int,
    socketpair,
    (int domain, int type, int protocol, int ends[2]),
    domain,
    type,
    protocol,
    ends
)
HEDDLE_KEPT_BY_THE_KERNEL(int, mkfifo, (const char* path, mode_t mode), path, mode)
HEDDLE_KEPT_BY_THE_KERNEL(int, msgget, (key_t key, int flags), key, flags)
HEDDLE_KEPT_BY_THE_KERNEL(int, timerfd_create, (clockid_t clock, int flags), clock, flags)
HEDDLE_KEPT_BY_THE_KERNEL(
    int,
    signalfd,
    (int old, const sigset_t* signals, int flags),
    old,
    signals,
    flags
)
HEDDLE_KEPT_BY_THE_KERNEL(int, epoll_create, (int size), size)
HEDDLE_KEPT_BY_THE_KERNEL(int, epoll_create1, (int flags), flags)

// --- What comes through them ---------------------------------------------------------------------

namespace {
constexpr char channels = 0; // stands for all of them
} // namespace

#define HEDDLE_CHANNEL(moment, type, function, parameters, ...)                                    \
  HEDDLE_EXPORT type function parameters {                                                         \
    static decltype(&function) real = nullptr;                                                     \
    const moment told(HEDDLE_CHANNEL_PC);                                                          \
    return real_function(real, #function)(__VA_ARGS__);                                            \
  }
#define HEDDLE_CHANNEL_PC __builtin_return_address(0)

namespace {
struct Sends {
  explicit Sends(const void* pc) { released(&channels, pc); }
};
struct Receives {
  explicit Receives(const void* pc) : pc(pc) {}
  ~Receives() { acquired(&channels, pc); }
  Receives(const Receives&) = delete;
  Receives& operator=(const Receives&) = delete;
  const void* pc;
};
} // namespace

namespace {

/// The contents of a file that the program has open to change it are the same for all executions:
/// what it reads there another one may have written.
void reads_from_file(int file, const void* pc) {
  if (!is_explored(pc)) {
    return;
  }
  reads_input(file, pc);
  struct stat status;
  if (::fstat(file, &status) == 0 && S_ISREG(status.st_mode) &&
      (::fcntl(file, F_GETFL) & O_ACCMODE) == O_RDWR) {
    leave_out(HeddleFilesChanged);
  }
  position_of(file).next("reads from a file", pc);
}

} // namespace

#define HEDDLE_SEEK(function)                                                                      \
  HEDDLE_EXPORT off_t function(int f, off_t by, int from) noexcept {                               \
    static decltype(&::function) real = nullptr;                                                   \
    position_of(f).next("asks or sets the position in a file", __builtin_return_address(0));       \
    return real_function(real, #function)(f, by, from);                                            \
  }
HEDDLE_SEEK(lseek)
HEDDLE_SEEK(lseek64)

// What the kernel reads and writes for the program are accesses of the program's.
HEDDLE_EXPORT ssize_t write(int f, const void* p, size_t n) {
  static decltype(&write) real = nullptr;
  reads(p, n, __builtin_return_address(0));
  const Sends told(__builtin_return_address(0));
  return real_function(real, "write")(f, p, n);
}
HEDDLE_EXPORT ssize_t send(int f, const void* p, size_t n, int how) {
  static decltype(&send) real = nullptr;
  reads(p, n, __builtin_return_address(0));
  const Sends told(__builtin_return_address(0));
  return real_function(real, "send")(f, p, n, how);
}
HEDDLE_EXPORT ssize_t read(int f, void* p, size_t n) {
  static decltype(&read) real = nullptr;
  writes(p, n, __builtin_return_address(0));
  if (read_random(f, p, n, __builtin_return_address(0))) {
    return static_cast<ssize_t>(n);
  }
  wrote(p, n, __builtin_return_address(0));
  reads_from_file(f, __builtin_return_address(0));
  const Receives told(__builtin_return_address(0));
  return real_function(real, "read")(f, p, n);
}
HEDDLE_EXPORT ssize_t recv(int f, void* p, size_t n, int how) {
  static decltype(&recv) real = nullptr;
  writes(p, n, __builtin_return_address(0));
  const Receives told(__builtin_return_address(0));
  return real_function(real, "recv")(f, p, n, how);
}
HEDDLE_CHANNEL(Sends, ssize_t, writev, (int f, const iovec* p, int n), f, p, n)
HEDDLE_CHANNEL(Sends, ssize_t, sendmsg, (int f, const msghdr* m, int how), f, m, how)
HEDDLE_CHANNEL(Sends, int, eventfd_write, (int f, eventfd_t value), f, value)
HEDDLE_EXPORT ssize_t readv(int f, const iovec* p, int n) {
  static decltype(&readv) real = nullptr;
  reads_from_file(f, __builtin_return_address(0));
  const Receives told(__builtin_return_address(0));
  return real_function(real, "readv")(f, p, n);
}
HEDDLE_CHANNEL(Receives, ssize_t, recvmsg, (int f, msghdr* m, int how), f, m, how)
HEDDLE_CHANNEL(Receives, int, eventfd_read, (int f, eventfd_t* value), f, value)
HEDDLE_CHANNEL(Receives, int, poll, (pollfd * p, nfds_t n, int time), p, n, time)
HEDDLE_CHANNEL(
    Receives,
    int,
    epoll_wait,
    (int f, epoll_event* events, int most, int time),
    f,
    events,
    most,
    time
)
