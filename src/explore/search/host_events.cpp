// Implements host_events.h.
#include "explore/search/host_events.h"

#include "explore/search/launches.h"
#include "explore/search/looks_at_copies.h"

#include <bit>
#include <string_view>
#include <utility>

namespace heddle::explore {

HostEvents::HostEvents(Ground& ground)
    : world_(ground.world),
      table_(ground.table),
      options_(ground.options),
      stepper_(ground.stepper),
      host_(ground.host),
      threads_(ground.threads),
      purpose_(ground.purpose) {}

namespace {

/// A futex is about to look whether it has to wait (hostwatch/waiting.cpp).
constexpr std::string_view reads_to_sleep = "an atomic read before waiting";

/// libstdc++ reads a place some times before it sleeps until that changes (std::atomic::wait,
/// latches, barriers, semaphores): the futex reads it once more. Which of the reads sees a change
/// nobody can tell: what sees it goes on at once, in the same way. If none of them does, the thread
/// has been the same before the first as behind the last, and nothing that others do in between is
/// seen by it. Code of the program that does the same may count its reads: the tool looks where
/// they are (verdict/source_places.h).
bool sleeps_until_a_change(const HostPoint& point) {
  return point.kind == HostPoint::Kind::Sync && point.what == reads_to_sleep;
}

} // namespace

void HostEvents::arrived() {
  tells_devices_ = false;
  std::uint64_t threads = std::exchange(passed_reads_, passed_reads_ & ~threads_.arrived());
  for (threads &= ~passed_reads_; threads != 0; threads &= threads - 1) {
    const auto thread = static_cast<unsigned>(std::countr_zero(threads));
    if (!sleeps_until_a_change(threads_.point(thread))) {
      table_.note(Fact::Reads);
    } else if (!purpose_.one_way() && told_reads_.insert(passed_at_[thread]).second) {
      table_.add_event(EventKind::Unchosen, 0, passed_at_[thread], reads_before_sleeping);
    }
  }
}

void HostEvents::ended() {
  if (passed_reads_ != 0) {
    table_.note(Fact::Reads);
  }
}

void HostEvents::begin_call() {
  in_calls_ |= current();
}

void HostEvents::end_call() {
  in_calls_ &= ~current();
}

/// What the running host thread allocates meanwhile is not the program's.
class HostEvents::InCall {
public:
  explicit InCall(HostEvents& events)
      : events_(events),
        thread_(events.current() & ~events.in_calls_) {
    events.in_calls_ |= thread_;
  }
  ~InCall() { events_.in_calls_ &= ~thread_; }
  InCall(const InCall&) = delete;
  InCall& operator=(const InCall&) = delete;

private:
  HostEvents& events_;
  std::uint64_t thread_;
};

unsigned HostEvents::access(
    HeddleHostEvent event,
    const void* address,
    std::size_t bytes,
    std::uint64_t operands
) {
  if (threads_.inside() || (event == HeddleYield && !threads_.worth_stopping_to_yield())) {
    return 0;
  }
  const InCall call(*this);
  static constexpr const char* what[] = {
      "an atomic read",
      "an atomic write",
      "an atomic update",
      "a volatile read",
      "a volatile write",
      "yields or sleeps",
      "an atomic update"
  };
  const auto a = reinterpret_cast<std::uintptr_t>(address);
  const auto note_access = [&] {
    if (event != HeddleYield) {
      const HostThreads::Aside aside(threads_);
      if (threads_.count() > 1) {
        table_.note(Fact::HostAtomics);
      }
      stepper_.host_accesses(a, bytes);
      if (!purpose_.one_way() && stepper_.assumed().takes_copies_for_one_move() &&
          host_looks_at_copy(stepper_, a, bytes)) {
        refute_whole_copies(table_);
      }
    }
  };
  note_access();
  const bool reads = event == HeddleAtomicLoad || event == HeddleVolatileRead;
  HostPosition position;
  if (reads && !threads_.worth_stopping_to_read(address, bytes, position)) {
    passed_reads_ |= current();
    {
      const HostThreads::Aside aside(threads_);
      passed_at_[threads_.current()] = table_.intern(Site{addresses(host_, position), 0, 0, ""});
    }
    threads_.reads_on(position, address, bytes);
    return 0;
  }
  const bool is_weak = event == HeddleWeakExchange;
  const bool may_fail = is_weak && options_.spurious_failures;
  if (is_weak && !may_fail) {
    note_weak_exchange();
  }
  const unsigned way = threads_.stop(
      {.kind = HostPoint::Kind::Access,
       .what = may_fail ? "a weak exchange" : what[event],
       .device_visible = event != HeddleYield && world_.space().find_range(a).size != 0,
       .may_fail = may_fail,
       .reads = reads,
       .operands = combined(a, operands),
       .position = std::move(position)}
  );
  note_access(); // while it stood there others may have submitted work, which it meets
  if (!reads && event != HeddleYield) {
    tells_devices_ = world_.space().find_range(a).size != 0;
    const HostThreads::Aside aside(threads_);
    if (reduce::WeakMoves* const weak = stepper_.weak()) {
      weak->host_writes(a, bytes);
    }
  }
  threads_.reads(address, bytes);
  return way;
}

/// That it does not fail without a reason leaves something out, unless it is one of libstdc++'s
/// stop tokens: these try again at once, and what such a failure leaves behind is the value that
/// the next try expects, so the thread is the same as before. Where it is the tool finds out
/// (verdict/source_places.h).
void HostEvents::note_weak_exchange() {
  const HostThreads::Aside aside(threads_);
  const HostPosition position = host_.capture();
  const std::uint32_t site = table_.intern(Site{addresses(host_, position), 0, 0, ""});
  if (!purpose_.one_way() && told_weak_.insert(site).second) {
    table_.add_event(EventKind::Unchosen, 0, site, no_weak_failures);
  }
}

void HostEvents::meets_work(const void* p, const void* pc) {
  const auto place = reinterpret_cast<std::uintptr_t>(pc);
  if (threads_.inside() || !stepper_.works().busy() || host_.ours(place)) {
    return;
  }
  const HostThreads::Aside aside(threads_);
  const auto address = reinterpret_cast<std::uintptr_t>(p);
  const bool shared = world_.space().find_range(address).size != 0;
  const reduce::Works& works = stepper_.works();
  if (shared ? works.may_reach(address) : works.names(address)) {
    table_.note(Fact::HostAccess);
    constexpr std::size_t most = 4; // places, in one process
    if (!purpose_.one_way() && met_work_.size() < most && met_work_.insert(pc).second) {
      const HostPosition position{.return_addresses = {place}};
      table_.add_event(
          EventKind::Unchosen,
          0,
          table_.intern(Site{addresses(host_, position), 0, 0, ""}),
          "other moments of a plain host access to memory that kernels or copies under way can "
          "reach"
      );
    }
  }
}

void HostEvents::wrote(const void* p, std::size_t bytes, const void* pc) {
  if (threads_.inside() || !host_.remembers(p, pc)) {
    return;
  }
  const HostThreads::Aside aside(threads_);
  const auto a = reinterpret_cast<std::uintptr_t>(p);
  if (world_.space().find_range(a).size != 0 &&
      world_.space().find(a)->kind != memory::AllocationKind::Registered) {
    return; // managed or pinned: the device's memory, and gone when it is freed
  }
  host_.wrote(p, bytes);
}

void HostEvents::freed(const void* p, std::size_t bytes) {
  if (!threads_.inside()) {
    const HostThreads::Aside aside(threads_);
    host_.freed(p, bytes);
  }
}

void HostEvents::allocates() {
  const bool own = threads_.inside() || (in_calls_ & current()) != 0;
  if (!own && (threads_.count() > 1 || stepper_.works().busy())) {
    table_.note(Fact::HostAllocates);
  }
}

bool HostEvents::explores(const void* pc) const {
  return !threads_.inside() && (in_calls_ & current()) == 0 &&
         !host_.ours(reinterpret_cast<std::uintptr_t>(pc));
}

void HostEvents::left_out(HeddleLeftOut what) {
  if (threads_.inside()) {
    return; // our own locks
  }
  switch (what) {
  case HeddleOthersWoken:
    table_.note(Fact::FirstWoken);
    break;
  case HeddleWritersFirst:
    table_.note(Fact::ReadersFirst);
    break;
  case HeddleTeamSizes:
    table_.note(Fact::TeamsOfTwo);
    break;
  case HeddleLaterTasks:
    table_.note(Fact::TasksAtOnce);
    break;
  case HeddleOrderOfUses:
    table_.note(Fact::UsesInOneOrder);
    break;
  case HeddleFilesChanged:
    table_.note(Fact::FilesChanged);
    break;
  case HeddleTimerSignals:
    if (!std::exchange(said_timers_, true) && !purpose_.one_way()) {
      table_.add_event(
          EventKind::LeftOut,
          0,
          0,
          "executions in which a signal of a timer or of another process arrives elsewhere (alarm, "
          "setitimer, timer_settime, sigtimedwait)"
      );
    }
    break;
  }
}

} // namespace heddle::explore
