// What instrumented host code tells the explorer, and what it asks of it.
//
// A program compiled with -fsanitize=thread calls __tsan_* functions on every access of its host
// code. For `heddle check` our own library of the name libtsan.so.2 provides them (tsan_*.cpp) and
// passes on what matters through these hooks, which the explorer inside libcudart sets when the
// process starts. Without hooks (heddle run, or no explorer) the library only performs the
// accesses, and the functions of the C library that it defines behave as the C library's own.
#pragma once

#include <pthread.h>

#include <cstddef>
#include <cstdint>

/// The name of the empty file in memory that stands for a pipe on standard input, which would give
/// what comes through it to one execution only; and what HeddleSystem says where it is read.
inline constexpr char heddle_piped_input_file[] = "heddle-piped-input";
inline constexpr char heddle_piped_input[] = "a pipe as standard input";

extern "C" {

/// What the host is about to do, visibly for others. Each is a scheduling point.
enum HeddleHostEvent : int {
  HeddleAtomicLoad,
  HeddleAtomicStore,
  HeddleAtomicUpdate, // read-modify-write
  HeddleVolatileRead,
  HeddleVolatileWrite,
  HeddleYield,       // sched_yield and the sleeping functions
  HeddleWeakExchange // compare_exchange_weak
};

/// What an execution could have done otherwise, and no search tries: a bound of the verdict.
enum HeddleLeftOut : int {
  HeddleOthersWoken,  // by a call that wakes several of those who wait, but not all
  HeddleWritersFirst, // a read-write lock that lets a writer in before readers that come later
  HeddleTeamSizes,    // of OpenMP, where the program does not say how many threads
  HeddleLaterTasks,   // of OpenMP: executed by another thread, or later
  HeddleTimerSignals, // that a timer of the process sends: none arrives
  HeddleOrderOfUses,  // of what the C library or the system keeps for all host threads
  HeddleFilesChanged  // what the program finds in files that it has changed, or where they were
};

/// What the system could answer otherwise (spec/answers.md).
enum HeddleAnswer : int {
  HeddleAnswerHostAddresses,
  HeddleAnswerHeap, // what lies in memory that nobody has written
  HeddleAnswerProcess,
  HeddleAnswerRandom,
  HeddleAnswerLoad // how busy the machine is
};

/// What the program reads from outside.
enum HeddleInput : int {
  HeddleVariable, // of the environment
  HeddleFileRead,
  HeddleFileLookedAt, // whether it is there, and what the system says about it
  HeddleFileWritten,
  HeddleSystem // what it is: "the number of processors"
};

/// Where a host thread stands before an operation on an object that threads share, and how it may
/// go on from there. Lies on that thread's stack for as long as it stands there.
struct HeddleHostPoint {
  const char* what;       // "waits to lock a mutex": for reports, and part of the state
  const void* object;     // the mutex …
  std::uint64_t argument; // for `ways`; part of the state
  /// Which ways to go on are open now, bit n for way n; 0: the thread is blocked. nullptr: way 0 is
  /// always open. Called while another thread runs: must depend on nothing thread-local.
  std::uint64_t (*ways)(const HeddleHostPoint* point, unsigned thread);
  /// Matters to other threads only: no scheduling point while there are none.
  bool for_others;
  /// Ways that may be taken without a reason, bit n for way n: nobody is owed one ([HOST-WAKE]).
  std::uint64_t without_reason = 0;
};

/// That a thread waits to be woken, by somebody who names `object`. Part of the state.
struct HeddleWaiter {
  const void* object;  // nullptr: it does not wait
  std::uint64_t group; // whom it waits among: the bit set of a futex
  bool woken;
  /// To be woken is all that it waits for: once it is, it can go on whatever others do.
  bool only;
};

enum : unsigned {
  HeddleNameBytes = 16, // of a thread, with the 0 at the end
  HeddleMaxThreads = 62 // ids are 0 (the thread of main) to 61; a set of threads fits in 64 bits
};

/// The pthread_t of main; that of thread n is n + 1 times as large.
inline constexpr pthread_t HeddleMainNumber = 16;
/// Where numbers of threads are others: those of later threads are smaller by HeddleMainNumber
/// each.
inline constexpr pthread_t HeddleOtherMainNumber = (HeddleMaxThreads + 1) * HeddleMainNumber;

/// What clocks show when the program starts, in ns: numbers that nothing else is, so that times can
/// be told from other words (explore/host/time_names.h). The machine was started nine and a half
/// years ago, and it is the first of January 2026.
inline constexpr std::uint64_t HeddleMonotonicStart = 300'000'000'000'000'000;
inline constexpr std::uint64_t HeddleRealtimeStart = 1'767'225'600'000'000'000;
/// Of a processor with 3 GHz; odd, so that cycles are, too.
inline constexpr std::uint64_t HeddleCyclesPerNanosecond = 3;

/// Host threads that the explorer schedules (explore/host/host_threads.h). Numbers that are
/// returned as int are error numbers, as the functions of POSIX return them.
struct HeddleThreadHooks {
  /// The running thread stands at `point`, called from `pc`. Returns the way that it goes on.
  unsigned (*stop)(const HeddleHostPoint* point, const void* pc);
  unsigned (*self)();
  /// `thread` stands where way 0 is open to it and stays open, whatever others do: it goes on now
  /// until it stops the next time, before the running thread does.
  void (*go_first)(unsigned thread);
  HeddleWaiter* (*waiter)(unsigned thread);
  int (*create)(
      pthread_t* thread,
      const pthread_attr_t* attributes,
      void* (*start)(void*),
      void* argument
  );
  /// Waits for the end of `thread`. `timed`: may also give up (ETIMEDOUT), as time passes until
  /// `deadline`; `block`: false to give up at once (EBUSY).
  int (*join)(
      pthread_t thread,
      void** result,
      bool block,
      bool timed,
      std::uint64_t deadline,
      const void* pc
  );
  int (*detach)(pthread_t thread);
  void (*exit)(void* result); // does not return
  /// The running thread's number: that of the thread of main is HeddleMainNumber, or the other one.
  pthread_t (*number)();
  /// What the C library calls the thread of main.
  pthread_t (*known)();
  /// The id of the thread with this number; HeddleMaxThreads: there is none.
  unsigned (*find)(pthread_t thread);
  /// Where the stack of thread `id` lies, unless it is 0.
  void* (*stack)(unsigned id, std::size_t* bytes);
  /// What the program calls thread `id`: HeddleNameBytes to read and to write.
  char* (*name)(unsigned id);
  /// Calls routine(); resets *control if that ends by an exception.
  void (*call_once)(void (*routine)(), int* control);
  /// Virtual time: ns since the program started, and HeddleMonotonicStart: so what is left of it in
  /// registers and on stacks looks like any other time. `look`: the program sees it. False: use
  /// real time.
  bool (*elapsed)(std::uint64_t* nanoseconds, bool look);
  /// Time has passed at least until then: as `elapsed` counts it.
  void (*pass)(std::uint64_t nanoseconds);
};

struct HeddleHostHooks {
  /// Called before the access is performed; returns when the host thread may go on. Returns 1 if a
  /// weak exchange is to fail whatever it finds, else 0.
  /// `operands`: what it will write or compare with, as a number; part of the state.
  unsigned (*before_event)(
      HeddleHostEvent event,
      const void* address,
      std::size_t bytes,
      std::uint64_t operands
  );
  /// [p, p + bytes) is about to be read or written, by a plain access of code that returns to `pc`.
  /// Not before anything has been submitted.
  void (*plain)(const void* p, std::size_t bytes, const void* pc) = nullptr;
  bool submitted = false; // set by the explorer
  /// [p, p + bytes) was or is about to be written by code that returns to `pc`.
  void (*wrote)(const void* p, std::size_t bytes, const void* pc);
  /// [p, p + bytes) is being returned to the heap: its contents mean nothing any more.
  void (*freed)(const void* p, std::size_t bytes);
  /// Memory is about to be taken from the heap.
  void (*allocates)() = nullptr;
  void (*left_out)(HeddleLeftOut what) = nullptr;
  /// Is code that returns to `pc` part of what is explored, and not of Heddle?
  bool (*explores)(const void* pc) = nullptr;
  /// There is no other host thread now.
  bool (*alone)() = nullptr;
  /// Code that returns to `pc` asks for that. True: it is the program's, and gets our answer.
  bool (*asks)(HeddleAnswer what, const void* pc) = nullptr;
  void (*input)(HeddleInput kind, const char* name, const void* pc) = nullptr;
  /// The program does something that cannot be explored yet. Does not return.
  void (*unsupported)(const char* what);
  /// exit has been called.
  void (*ends)(int status) = nullptr;
  /// The program ends without its exit handlers. May not return.
  void (*ends_at_once)(int status) = nullptr;
  /// quick_exit has been called; its handlers, which run now, are not told the status.
  void (*ends_quickly)(int status) = nullptr;
  /// nullptr: one host thread; creating another one is unsupported.
  const HeddleThreadHooks* threads = nullptr;
};

/// Who watches the host's plain accesses, and what orders its threads, in an execution that nobody
/// explores (`heddle run`). All are told on the thread that does it; `pc`: where that returns to.
struct HeddleAccessObserver {
  /// Bytes in [low, high) are of interest. Both may change at any time.
  std::uintptr_t low, high;
  /// [p, p + bytes) is about to be read or written.
  void (*access)(const void* p, std::size_t bytes, const void* pc, bool store);
  /// [p, p + bytes) is being returned to the heap.
  void (*freed)(const void* p, std::size_t bytes) = nullptr;
  /// What orders threads; `released` is nullptr where nobody wants to know, and so are the others.
  /// It is about to release `object` (to unlock a mutex), or has acquired it.
  void (*released)(const void* object, const void* pc) = nullptr;
  void (*acquired)(const void* object, const void* pc) = nullptr;
  /// It has performed an atomic operation, during which no other one on `object` was under way.
  void (*atomic)(const void* object, int order, bool loads, bool stores, const void* pc) = nullptr;
  void (*fence)(int order) = nullptr;
  /// It is about to make a volatile read.
  void (*reads_volatile)(const void* object, const void* pc) = nullptr;
  /// It makes a thread; what this returns that thread says when it begins.
  void* (*creates)(bool by_openmp, const void* pc) = nullptr;
  void (*begins)(void* thread, pthread_t self) = nullptr;
  void (*joined)(pthread_t thread, const void* pc) = nullptr;
};
/// nullptr: none. Looked up with dlsym by the runtime.
void heddle_set_access_observer(const HeddleAccessObserver* observer);

/// Counts there what the host does visibly for others (HeddleHostEvent) in an execution that nobody
/// explores. Looked up with dlsym by the runtime.
void heddle_count_operations(std::uint64_t* operations);

/// nullptr: none. Looked up with dlsym by the explorer; absent in a program without
/// instrumentation.
void heddle_set_host_hooks(const HeddleHostHooks* hooks);

/// Calls the destructors of the running thread's pthread keys, as at the end of a thread. Looked up
/// with dlsym.
void heddle_run_key_destructors();

} // extern "C"
