// PendingMemory: host code that touches memory which work in flight accesses, found by plain
// `heddle run` (RACE-HOST).
//
// A copy, a set or a kernel that is given memory which the host reaches, too, is kept back
// (machine/held_back.h) until the host waits for it, and meanwhile the pages of that memory are
// protected. So the first access of host code to each of them is seen, in code that is not
// instrumented, too. What the command accesses of the same bytes settles it: of a copy and a set
// that is known; a kernel whose memory the host has touched is then executed an access at a time.
//
// A false alarm would need an order that is not seen: while a stream waits for a value or for a
// function of the host, or a kernel runs that can talk to the host by strong accesses, nothing is
// kept back. Host code that reads a place again and again is taken to poll it: nothing is reported.
//
// A call that waits and need not ([API-WAIT]) is no order either: the command is carried out then,
// so that the host finds what it would find with today's drivers, what it has accessed is noted,
// and the pages are protected again until the host waits in a way that it may go by. An access that
// meets what was noted is a warning. Commands that nothing orders with each other are
// pending_pairs.h's. Misses: what comes later than device work is put off; pointers that kernels
// find in memory; of each place in a program all but its first launches; after so many accesses to
// a page the later ones; what host code accesses of small copies (flags).
#pragma once

#include "machine/access_listener.h"
#include "machine/held_back.h"
#include "report/diagnostic.h"
#include "runtime/diagnostics/page_call.h"
#include "runtime/diagnostics/page_fault.h"
#include "runtime/diagnostics/pending_choice.h"
#include "runtime/diagnostics/pending_pairs.h"
#include "runtime/diagnostics/pending_work.h"

#include <atomic>
#include <list>
#include <map>
#include <mutex>
#include <set>
#include <string>

namespace heddle::runtime {

/// Thread safe. One per process.
class PendingMemory final : public machine::Holder, private PageWatcher, private CallWatcher {
public:
  explicit PendingMemory(memory::AddressSpace& space);
  /// The program dies in a handler of a signal: what host code has touched may be why. Carries out
  /// what is left, and tells.
  static void settle();
  /// The calling thread knows of work that is over, by a call that promises it.
  static void host_knows();
  /// The calling thread has freed memory: time to say what was found.
  static void host_has_freed();
  /// Its memory is about to go.
  static void forget(memory::Address base, std::uint64_t bytes);

  // --- machine::Holder ---------------------------------------------------------------------------
  bool holds(const machine::CommandPtr& command, const std::set<std::uint64_t>& before) override;
  void lets_go(const machine::Command& command, const char* unpromised) override;
  void call_begins() override { QuietCalls::begin_call(); }
  void call_ends() override { QuietCalls::end_call(); }
  void host_waited(Promise promise) override;

private:
  using Address = memory::Address;
  class Listener;

  Answer faulted(Address at, bool store, const void* pc) override;
  void stepped() override;
  bool protects_pages() const override { return protects_; }
  void about_to_call(long number, const std::uint64_t (&arguments)[6], const void* pc) override;
  void open_everything() override;

  bool watches(const machine::CommandPtr& command);
  bool tells_host(const machine::Command& command, const char* unpromised, PendingWorkPtr& to);
  static bool covers(const PendingWork& work, Address at, bool store);
  void claim_all(const PendingClaim& claim);
  void judge_kept(PendingWork& work, const PendingClaim& claim);
  static void keep(PendingWork& work);
  void keep_few();
  static bool uses(const PendingWork& work, Address base, std::uint64_t bytes);
  void tell(report::Diagnostic diagnostic);
  bool drop_what_is_over(Promise promise);
  void note_protected();
  static void claim(PendingWork& work, const PendingClaim& claim);
  void protect(const PendingWork& work) const;
  void protect_all();
  static void open(PendingPart& part);
  void open_all(Address at);
  void
  accessed(PendingWork& work, const isa::Exec& exec, Address at, std::uint32_t bytes, bool store);

  memory::AddressSpace& space_;
  PendingChoice choice_;
  PendingPairs pairs_;
  std::atomic<bool> protects_{false};
  std::atomic<bool> keeps_{false};
  std::mutex mutex_;
  std::list<PendingWorkPtr> works_;   // held, or not complete
  std::map<Address, unsigned> steps_; // by page
  std::uint64_t submissions_ = 0;
  std::vector<PendingRace> found_;
  std::vector<PendingFree> freed_;
  std::mutex telling_;
  std::set<std::string> told_;
};

} // namespace heddle::runtime
