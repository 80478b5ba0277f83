// Pipes, sockets and the like: what they hold is kept by the kernel, so that all executions of a
// search would share it, and who waits for something from them blocks all host threads. Under the
// explorer making one is unsupported, which names the place; without it all of these are the C
// library's.
//
// May miss: such objects that the program inherits (standard input), or that libraries make for
// themselves.
#include "hostwatch/hooks_internal.h"

#include <fcntl.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/msg.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/timerfd.h>
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
