// HostThreads: the host threads of the explored program, as fibers of one thread of the kernel.
//
//   class Explorer : HostScheduler { void next(HostThreads&) override; … };   // decides
//   HostThreads threads(*this, host_state);
//   hooks.threads = threads.hooks();                   // hostwatch: pthread_create and so on
//   const unsigned way = threads.stop(point);          // an API call of the running thread
//
// The explorer saves a state by fork(), which keeps only the thread of the kernel that calls it. So
// each thread that the program creates is a fiber: a stack, a thread-local storage with a thread
// descriptor of the C library, and saved registers. One runs at a time. It runs until it stands
// before something that others can see (a HostPoint). There the scheduler decides who goes on and
// which way; it runs on a stack and with a storage of its own. That of the main thread is the one
// which the kernel and fork() know.
//
// The numbers by which the program knows its threads (pthread_t, std::thread::id)
// are the same ones in each execution: programs hash and print them. They are no addresses.
//
// A thread that computes for long without coming to such a place is interrupted by a timer
// (computing.h). If its state repeats, it is in an endless loop, and the others may go on. As long
// as it does not, they wait: nothing depends on how fast the processor is. (A loop that reads,
// without an atomic or a volatile access, what another thread shall write is a data race. It is an
// endless one, or ends when the limit of time does.)
//
// Direction of error: see hostwatch/*.cpp for each function. A thread that blocks in the kernel (a
// pipe, a lock of stdio) blocks all of them. Needs glibc on x86-64.
#pragma once

#include "base/hash.h"
#include "base/outside.h"
#include "explore/host/computing.h"
#include "explore/host/host_clock.h"
#include "explore/host/host_state.h"
#include "hostwatch/hooks.h"
#include "machine/world.h"
#include "memory/access_value.h"

#include <unistd.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

namespace heddle::explore {

/// Where a host thread has stopped, and how it may go on from there.
struct HostPoint {
  enum class Kind : std::uint8_t {
    Start,   // a new thread, not begun
    Access,  // instrumented code: an atomic or volatile access, or yielding
    Sync,    // an operation on a mutex, a condition variable, … (`sync`)
    ApiCall, // inside a call that could return at any time
    Return,  // the same, after it has submitted work
    Wait,    // inside a call that returns when `condition` holds
    MayWait, // … or before, at any time [API-WAIT]
    Query    // asks whether `condition` holds: way 0 says yes, way 1 says no
  };
  Kind kind{};
  const char* what = "";
  const std::function<bool()>* condition =
      nullptr; // Wait, MayWait, Query: are `commands` complete …
  std::span<const machine::CommandPtr> commands{}; // … which were there when the call was made
  const HeddleHostPoint* sync = nullptr;           // Sync
  bool device_visible = true;                      // Access: device threads could tell
  bool may_fail = false;                           // Access: way 1 is to fail without a reason
  bool reads = false;                              // Access: worth_stopping_to_read() was asked
  std::uint64_t operands = 0;                      // names what the operation is given
  HostPosition position{};                         // set by HostThreads::stop, if empty
};

/// Of its ways, those that are taken without a reason: nobody is owed one.
std::uint64_t ways_without_reason(const HostPoint& point);

class HostThreads;

class HostScheduler {
public:
  virtual ~HostScheduler() = default;
  /// The running host thread has stopped or ended: choose() who goes on. Called on a stack of its
  /// own; may fork, with fork_process(). Not called when all host threads have ended: then the
  /// process exits.
  virtual void next(HostThreads& threads) = 0;
  /// Does not return.
  virtual void unsupported(const char* what) = 0;
};

class HostThreads {
public:
  HostThreads(HostScheduler& scheduler, HostState& state);
  ~HostThreads();
  HostThreads(const HostThreads&) = delete;
  HostThreads& operator=(const HostThreads&) = delete;

  /// Whether to do at once what nobody else can tell: the beginning of a thread, what
  /// follows once it is woken or another one has ended, and reading again and again (Poll).
  void set_eager(bool eager) { eager_ = eager; }

  /// For hostwatch. nullptr if the C library is not one that we know: then there is one thread.
  const HeddleThreadHooks* hooks() const { return supported_ ? &hooks_ : nullptr; }

  // --- For the explorer, in the running thread ---------------------------------------------------
  /// The running thread stands at `point`. Returns the way that it goes on. While the scheduler
  /// itself runs: way 0 at once.
  unsigned stop(HostPoint point);
  /// The running thread is about to read [address, address + bytes), a place that is shared. False:
  /// no point to stop at, see Poll. `position` is set.
  bool worth_stopping_to_read(const void* address, std::size_t bytes, HostPosition& position);
  /// The running thread yields or sleeps. False: no point to stop at. To yield is to do nothing
  /// that others could see; it only has to be seen in loops that do nothing else.
  bool worth_stopping_to_yield();
  // What a thread keeps in registers across no call comes from its state when it last went on, and
  // from what the operation gave it at which it stood. Together these are its origin.
  /// Names that of the running thread.
  std::uint64_t origin() const { return threads_[current_].origin; }
  /// It is about to find what lies there, where it has stopped.
  void reads(const void* address, std::size_t bytes);
  /// The same where it does not stop: it stands at `position`.
  void reads_on(HostPosition position, const void* address, std::size_t bytes);
  /// A call of the API has come back to it, with this code.
  void came_back(std::uint64_t code);
  /// Names what the API keeps of the running thread: part of its state.
  void hold(std::uint64_t held) { threads_[current_].held = held; }
  /// The scheduler is running, not the program.
  bool inside() const { return inside_; }

  // --- For the scheduler -------------------------------------------------------------------------
  enum class State : std::uint8_t {
    Free, // the id is not in use
    Live,
    Ended // and not joined yet
  };
  /// Ids in use are below this; 0 is the thread that runs main.
  unsigned count() const { return count_; }
  unsigned current() const { return current_; }
  State state(unsigned thread) const { return threads_[thread].state; }
  unsigned live() const;
  /// Those that have stopped since the scheduler ran last, as a set: the one that it chose, and
  /// those that went first.
  std::uint64_t arrived() const { return arrived_; }
  /// Where a live thread stands.
  const HostPoint& point(unsigned thread) const { return *threads_[thread].point; }
  /// False while it lets another one go first.
  bool stands(unsigned thread) const { return threads_[thread].point != nullptr; }
  /// Which ways are open to it, bit n for way n; 0: it is blocked, or has ended.
  std::uint64_t ways(unsigned thread) const;
  /// Who goes on when next() returns. The way must be open.
  void choose(unsigned thread, unsigned way);
  /// "the host thread", "host thread 2".
  const std::string& name(unsigned thread) const { return names_[thread]; }

  /// As fork(), in the scheduler.
  pid_t fork_process();
  /// While it lives, the running thread has the scheduler's thread-local storage, for work of the
  /// scheduler's that allocates memory.
  class Aside {
  public:
    explicit Aside(HostThreads& threads) : threads_(threads.inside_ ? nullptr : &threads) {
      if (threads_ != nullptr) {
        threads_->inside_ = true; // what is allocated and written meanwhile is not the program's
        threads_->enter_own_storage();
      }
    }
    ~Aside() {
      if (threads_ != nullptr) {
        threads_->leave_own_storage(threads_->threads_[threads_->current_]);
        threads_->inside_ = false;
      }
    }
    Aside(const Aside&) = delete;
    Aside& operator=(const Aside&) = delete;

  private:
    HostThreads* threads_;
  };

  /// All threads: where they stand, their stacks, who waits for whom, the clock, and the memory
  /// that they share.
  void hash(Hasher& all) const;

private:
  /// A thread reads the same place again and again, and does nothing else that others could see: a
  /// loop that asks so many times before it waits otherwise (std::atomic::wait does, 16 times, and
  /// so does libcu++). That a change comes between two such reads is the same as that it comes
  /// before the first, but for the number of reads. So only the first two of a loop are stops, and
  /// each `period`-th. Loops that come back to their state are none of these: they stop each time.
  /// Misses: what depends on the number of reads, or on three in a row that differ.
  struct Poll {
    Hash128 place;  // address and position
    Hash128 thread; // its state
    memory::AccessValue value;
    unsigned count = 0;
    static constexpr unsigned stops = 2, period = 64;
  };

  struct Thread {
    State state = State::Free;
    bool detached = false;
    bool started = false;
    bool used_before = false;          // this id: its stack is not clean
    bool stopped_since_yield = false;  // somewhere else
    Computing computing;               // since it last stopped by itself
    const HostPoint* point = nullptr;  // on its stack, while it stands there
    unsigned way = 0;                  // out: how it goes on
    unsigned after = HeddleMaxThreads; // who goes on when it stops: go_first()
    Poll poll;
    std::uint64_t origin = 0; // see origin()
    std::uint64_t held = 0;   // see hold()
    HeddleWaiter waiter{};
    HostClock::Looks looks;
    char name[HeddleNameBytes] = ""; // that the program has given it; no part of the state
    void* (*start)(void*) = nullptr;
    void* argument = nullptr;
    void* result = nullptr;
    void* saved_stack_pointer = nullptr; // while it does not run
    std::byte* control_block = nullptr;  // glibc's struct pthread: the fs base
  };
  struct Library; // what we must know of the C library

  unsigned stop_for(const HeddleHostPoint& point, const void* pc);
  std::uint64_t origin_at(const HostPosition& position, std::uint64_t given) const;
  void goes_on_from(HostPosition position, std::uint64_t given);
  int create(
      pthread_t* id,
      const pthread_attr_t* attributes,
      void* (*start)(void*),
      void* argument
  );
  int join(pthread_t id, void** result, bool block, bool timed, std::uint64_t deadline);
  static std::uint64_t join_ways(const HeddleHostPoint* point, unsigned thread);
  static std::uint64_t join_ways_in_time(const HeddleHostPoint* point, unsigned thread);
  int detach(pthread_t id);
  [[noreturn]] void exit(void* result);
  [[noreturn]] void end();
  std::uint64_t look();
  void pass(std::uint64_t until);
  unsigned find(pthread_t number) const; // HeddleMaxThreads: none
  void release(unsigned thread);
  void leave();
  void go_first(unsigned thread);
  void interrupt_after(long microseconds);
  void interrupted(int signal, ucontext_t& context);
  void complete(HostPosition& position) const;
  static void* decide(void* self);
  static void choose_arena(const Thread& thread);
  void enter_own_storage();
  void leave_own_storage(const Thread& to);
  static void begin();
  std::byte* slot(unsigned thread) const;
  void make_control_block(Thread& thread, unsigned id);

  HostScheduler& scheduler_;
  HostState& state_;
  const Library* library_;
  HeddleThreadHooks hooks_;
  bool supported_ = false;
  bool inside_ = false, eager_ = true;
  std::array<Thread, HeddleMaxThreads> threads_;
  unsigned count_ = 1, current_ = 0;
  std::uint64_t arrived_ = 0;
  bool ever_two_ = false;
  unsigned to_release_ = HeddleMaxThreads; // has ended detached; its stack was in use until now
  std::byte* slots_ = nullptr;             // of threads 1, 2, … and of the scheduler
  Thread scheduler_thread_;                // its storage; nothing else of it is used
  bool single_threaded_ = false;           // what the C library believed before
  std::byte* scheduler_stack_ = nullptr;
  HostClock clock_{outside_of_process() != FromOutside::Usual};
  std::vector<std::string> names_, joins_;
};

} // namespace heddle::explore
