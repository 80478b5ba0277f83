// HostThreads: a clock for each thread of the host.
//
//   HostThreads threads;
//   threads.tell_apart();                 // host code is instrumented; else all count as one
//   threads.released(&mutex);             // by the calling thread, which unlocks it …
//   threads.acquired(&mutex);             // … and by another one, which locks it
//   command.before = threads.known();     // a command that the calling thread submits
//
// What a thread does between two moments at which it hands on or takes knowledge is a part: it has
// an id like a command, so that a set of ids is all that anybody knows. Of an object that threads
// synchronise by it keeps what all have released there.
//
// May be wrong in this direction: what a thread may have been told in ways that are not seen counts
// as known where a thread appears from nowhere, and threads that a library makes (OpenMP) count as
// the one that called it (misses). Thread safe.
#pragma once

#include "machine/monitor.h"
#include "race/command.h"

#include <pthread.h>

#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

namespace heddle::race {

class HostThreads final : public machine::HostOrder {
public:
  using Known = std::shared_ptr<const CommandSet>;
  struct Thread;

  HostThreads();
  ~HostThreads() override;
  HostThreads(const HostThreads&) = delete;
  HostThreads& operator=(const HostThreads&) = delete;

  /// What the calling thread knows, itself included. What it does next is another part.
  /// With its call: whoever knows that knows that it has made the call that it is in.
  Known known(bool with_call = false);
  /// What any of them knows.
  Known known_to_any();
  /// What they have released there, for whoever reads it. nullptr: none of them has been seen to
  /// write it by an atomic or volatile access.
  Known released_at(const void* object);
  void learn(const CommandSet& more);
  /// The calling thread knows more if `call` has waited, which it need not have.
  void hope(const CommandSet& more, const char* call);
  struct Hope {
    Known known;
    const char* call = nullptr;
  };
  Hope hope();
  bool several() const;

  // --- machine::HostOrder ------------------------------------------------------------------------
  void tell_apart() override { apart_ = true; }
  void released(const void* object) override;
  void acquired(const void* object) override;
  void atomic(const void* object, int order, bool loads, bool stores) override;
  void fence(int order) override;
  void about_to_read(const void* object) override;
  void* creates(bool same) override;
  void begins(void* thread, pthread_t self) override;
  void joined(pthread_t thread) override;

  // --- Host functions ----------------------------------------------------------------------------
  /// The calling thread runs a function of a stream: what it knows is what comes before that.
  void function_begins(const CommandInfoPtr& command);
  /// Returns what it knows at the end.
  Known function_ends();

  // --- Accesses ----------------------------------------------------------------------------------
  /// The number that what the calling thread does has as an agent at this place. `make` gives it
  /// one.
  std::uint32_t
  agent(const void* pc, const std::function<std::uint32_t(const CommandInfoPtr&)>& make);
  /// Is it what a host thread does, in no function that a stream has called?
  static bool is_part(const CommandInfo& command);

private:
  Thread& current();
  Thread& make(Known known);
  Known end_part(Thread& thread);
  Known of_all();
  const CommandInfoPtr& part(Thread& thread);
  static bool add(Known& into, const CommandSet& more);
  void learn(Thread& thread, const CommandSet& more);
  void release(Thread& thread, const void* object);
  void acquire(Thread& thread, const void* object);

  mutable std::mutex mutex_;
  std::atomic<bool> apart_{false};
  const std::uint64_t generation_; // of this object, among those of the process
  std::deque<Thread> threads_;
  std::map<pthread_t, Thread*> by_number_;
  std::unordered_map<const void*, Known> objects_;
  Known all_; // of_all(); nullptr: something has changed
};

} // namespace heddle::race
