// HostEvents: what the instrumentation of the host tells of the program (hostwatch/hooks.h): where
// a host thread stops, what it writes, and what it does that cannot be a choice.
//
//   events.access(HeddleAtomicLoad, address, bytes, operands);   // returns the way that it goes on
//   const HostEvents::InCall call(events);                       // what is allocated meanwhile …
#pragma once

#include "explore/search/ground.h"
#include "hostwatch/hooks.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <set>

namespace heddle::explore {

class HostEvents {
public:
  explicit HostEvents(Ground& ground);

  /// An atomic or volatile access is about to be made, or the thread yields.
  unsigned
  access(HeddleHostEvent event, const void* address, std::size_t bytes, std::uint64_t operands);
  /// Threads have stopped: did any of them read a place again and again before (HostThreads::Poll)?
  void arrived();
  /// The program ends.
  void ended();
  /// Has the host written, where it stopped last, what device threads may look at?
  bool tells_devices() const { return tells_devices_; }
  /// A plain access to memory that devices reach, while work is under way: when it happens is not a
  /// choice, so what devices do before or after it is not looked at.
  void meets_work(const void* p, const void* pc);
  void wrote(const void* p, std::size_t bytes, const void* pc);
  void freed(const void* p, std::size_t bytes);
  /// What the allocator has free is no part of a state: where the next object lies may depend on
  /// the way to it.
  void allocates();
  void left_out(HeddleLeftOut what);
  /// Is that the program, or a library that is not Heddle's?
  bool explores(const void* pc) const;
  bool alone() const { return threads_.live() == 1; }

  /// A call of the API begins, or ends, in the running thread. What that allocates meanwhile is not
  /// the program's.
  void begin_call();
  void end_call();

private:
  class InCall;
  std::uint64_t current() const { return std::uint64_t{1} << threads_.current(); }
  void note_weak_exchange();

  machine::World& world_;
  StateTable& table_;
  const Options& options_;
  Stepper& stepper_;
  HostState& host_;
  HostThreads& threads_;
  const Purpose& purpose_;
  std::set<const void*> met_work_; // code that meets_work() has named
  std::uint64_t in_calls_ = 0;     // host threads, as bits
  std::uint64_t passed_reads_ = 0; // those that have not stopped at a read since they stopped last
  std::array<std::uint32_t, HeddleMaxThreads> passed_at_{}; // by host thread: sites of these reads
  std::set<std::uint32_t> told_weak_;                       // sites of weak exchanges
  std::set<std::uint32_t> told_reads_; // sites of those after which a thread has slept
  bool tells_devices_ = false;
  bool said_timers_ = false;
};

} // namespace heddle::explore
