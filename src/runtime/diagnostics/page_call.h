// System calls of host code while pages are protected (page_fault.h): the kernel does not fault on
// such a page, but answers EFAULT. So a call is looked at before it is made, and what it may access
// is opened (Linux: "Syscall User Dispatch").
//
//   if (see_system_calls(watcher)) …        // those of the calling thread, while pages are
//   protected const QuietCalls quiet;                 // in what protects pages: its own calls are
//   not looked at
//
// Misses the calls of threads that have not asked for it: they may fail.
#pragma once

#include <cstdint>

namespace heddle::runtime {

class CallWatcher {
public:
  virtual ~CallWatcher() = default;
  virtual bool protects_pages() const = 0;
  /// The calling thread is about to make system call `number`. What that may access is open
  /// afterwards; if that is not known, everything.
  virtual void about_to_call(long number, const std::uint64_t (&arguments)[6], const void* pc) = 0;
  virtual void open_everything() = 0;
};

/// One watcher for the process. False: this system does not offer it, or the program uses it.
bool see_system_calls(CallWatcher* watcher);

class QuietCalls {
public:
  /// From here to the end of a call of the API.
  static void begin_call();
  static void end_call();
  QuietCalls();
  ~QuietCalls();
  QuietCalls(const QuietCalls&) = delete;
  QuietCalls& operator=(const QuietCalls&) = delete;
};

} // namespace heddle::runtime
