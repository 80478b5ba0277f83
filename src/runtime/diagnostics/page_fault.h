// Faults of host code on pages that we have protected ourselves: who asked for that is told of the
// access before it happens, and the program goes on.
//
//   watch_page_faults(&watcher);            // once
//   if (page_faults_are_seen()) …           // protect pages; the program has not taken the signals
//
// A handler of SIGSEGV calls take_page_fault first. An access that is to be seen alone is executed
// with the processor's trap flag: the page is open for that one instruction. Other threads that
// access the page meanwhile are not seen (misses).
#pragma once

#include "memory/address_space.h"

#include <csignal>

namespace heddle::runtime {

class PageWatcher {
public:
  virtual ~PageWatcher() = default;
  enum class Answer {
    NotOurs,
    GoesOn, // the page is open
    Steps   // the page is open for one instruction: stepped() protects it
  };
  /// The calling thread is in a handler of a signal, at `pc`.
  virtual Answer faulted(memory::Address at, bool store, const void* pc) = 0;
  virtual void stepped() = 0;
};

void watch_page_faults(PageWatcher* watcher);
bool take_page_fault(const siginfo_t* info, void* context);
/// Is whoever calls take_page_fault the one that gets the signal? Set by that one.
void set_fault_handler(void (*handler)(int, siginfo_t*, void*));
bool page_faults_are_seen();

} // namespace heddle::runtime
