// OpenMP as GCC compiles it: the functions of libgomp that it calls, over host threads that the
// explorer schedules. libgomp itself waits by system calls of its own, which nobody can see.
// Without an explorer all of these are libgomp's.
//
// Where OpenMP leaves a choice: a region without a number of threads has OMP_NUM_THREADS, else 2;
// a region within a region has one thread; loops whose schedule is dynamic, guided or set at run
// time hand out one chunk after the other to whoever asks; tasks are executed at once by the thread
// that comes to them, which may miss what happens if another thread does so, or later.
//
// Not there, and unsupported: ordered loops, cancellation, doacross loops, loops over unsigned long
// long, nested locks, target regions, OpenMP as Clang compiles it (libomp).
#include "hostwatch/hooks_internal.h"

#include <cstdint>
#include <cstdlib>
#include <type_traits>

using namespace heddle::hostwatch;

#define HEDDLE_PC __builtin_return_address(0)
/// What a function of libgomp does if host threads are not explored.
#define HEDDLE_REAL_OMP(function, type, ...)                                                       \
  do {                                                                                             \
    if (threads() == nullptr) {                                                                    \
      const Around around(&observed_openmp, HEDDLE_PC);                                            \
      static std::type_identity_t<type>* real = nullptr;                                           \
      return real_function(real, #function)(__VA_ARGS__);                                          \
    }                                                                                              \
  } while (false)

namespace {

/// Without an explorer whatever OpenMP does counts as order among all who call it (misses).
constexpr char observed_openmp = 0;

constexpr unsigned most_loops =
    8; // that threads of a team are in at the same time, without waiting

/// A loop, or sections, of which threads take chunks.
struct Loop {
  std::uint64_t number = 0; // among the loops of the team, from 1
  long next = 0, end = 0, step = 1, chunk = 1;
};

struct Team {
  unsigned threads = 0; // 0: the place is free
  std::uint64_t singles = 0;
  void* copied = nullptr; // by the thread that executes a single region
  Loop loops[most_loops];
};

/// A thread as OpenMP sees it.
struct Member {
  Team* team = nullptr; // nullptr: outside of every region
  unsigned number = 0;
  std::uint64_t singles = 0, loops = 0; // that it has come to
  Team alone;                           // outside of every region
};

// Part of the state as all memory that wrote() is told of.
Team teams[HeddleMaxThreads];
Member members[HeddleMaxThreads];
unsigned wanted_threads = 0;   // omp_set_num_threads
const void* unnamed = nullptr; // who is in the critical section without a name …
const void* in_atomic = nullptr;

Member& self() {
  return members[threads()->self()];
}
Team& team() {
  Member& member = self();
  return member.team != nullptr ? *member.team : member.alone;
}

void stop_at(const char* what, const void* object, const void* pc) {
  const HeddleHostPoint point{what, object, 0, nullptr, true};
  threads()->stop(&point, pc);
}

unsigned default_threads() {
  if (wanted_threads != 0) {
    return wanted_threads;
  }
  const char* text = std::getenv("OMP_NUM_THREADS");
  const int number = text != nullptr ? std::atoi(text) : 0;
  if (number > 0) {
    return static_cast<unsigned>(number);
  }
  leave_out(HeddleTeamSizes);
  constexpr unsigned otherwise = 2;
  return otherwise;
}

void barrier(const void* pc) {
  const Member& member = self();
  if (member.team != nullptr && member.team->threads > 1) {
    meet(member.team, member.team->threads, pc);
  }
}

// --- Regions -------------------------------------------------------------------------------------

struct Start {
  void (*function)(void*);
  void* data;
  Team* team;
  unsigned number;
};

void enter(const Start& start, const void* pc) {
  Member& member = self();
  wrote(&member, sizeof member, pc);
  member.team = start.team;
  member.number = start.number;
  member.singles = member.loops = 0;
}

struct Worker {
  Start start;
  const void* pc;
};

void* work(void* argument) {
  const Worker& worker = *static_cast<const Worker*>(argument);
  enter(worker.start, worker.pc);
  worker.start.function(worker.start.data);
  Member& member = self();
  wrote(&member, sizeof member, worker.pc);
  member.team = nullptr;
  return nullptr;
}

/// The thread itself is number 0. The end of a region is a barrier: the end of all others.
void parallel(
    void (*function)(void*),
    void* data,
    unsigned wanted,
    const Loop* loop,
    const void* pc
) {
  const Member before = self();
  const bool nested = before.team != nullptr;
  unsigned count = nested ? 1 : wanted != 0 ? wanted : default_threads();
  count = count < HeddleMaxThreads ? count : HeddleMaxThreads - 1;
  Team* place = teams;
  while (place->threads != 0) {
    ++place; // each belongs to another thread, or to a region around
  }
  wrote(place, sizeof *place, pc);
  *place = {};
  place->threads = count;
  if (loop != nullptr) {
    place->loops[1] = *loop;
    place->loops[1].number = 1;
  }
  Worker workers[HeddleMaxThreads] = {};
  pthread_t ids[HeddleMaxThreads] = {};
  for (unsigned i = 1; i < count; ++i) {
    workers[i] = {{function, data, place, i}, pc};
    if (threads()->create(&ids[i], nullptr, work, &workers[i]) != 0) {
      hooks->unsupported("an OpenMP region of so many threads");
    }
  }
  enter({function, data, place, 0}, pc);
  function(data);
  for (unsigned i = 1; i < count; ++i) {
    threads()->join(ids[i], nullptr, true, false, 0, pc);
  }
  Member& member = self();
  wrote(&member, sizeof member, pc);
  member.team = before.team;
  member.number = before.number;
  member.singles = before.singles;
  member.loops = before.loops;
  wrote(place, sizeof *place, pc);
  *place = {};
}

// --- Loops and sections --------------------------------------------------------------------------

bool take_chunk(long* first, long* last, const void* pc) {
  const Member& member = self();
  Loop& loop = team().loops[member.loops % most_loops];
  stop_at("asks for a part of an OpenMP loop", &loop, pc);
  const bool up = loop.step > 0;
  if (up ? loop.next >= loop.end : loop.next <= loop.end) {
    return false;
  }
  wrote(&loop, sizeof loop, pc);
  *first = loop.next;
  loop.next += loop.chunk * loop.step;
  if (up ? loop.next > loop.end : loop.next < loop.end) {
    loop.next = loop.end;
  }
  *last = loop.next;
  return true;
}

/// The thread comes to its next loop; whoever is the first sets it up.
void come_to_loop(const Loop& description, const void* pc) {
  Member& member = self();
  wrote(&member, sizeof member, pc);
  ++member.loops;
  stop_at("begins an OpenMP loop", &team(), pc);
  Loop& loop = team().loops[member.loops % most_loops];
  if (loop.number > member.loops) {
    hooks->unsupported(
        "OpenMP loops without a barrier in between that threads are so far apart in"
    );
  }
  if (loop.number != member.loops) {
    wrote(&loop, sizeof loop, pc);
    loop = description;
    loop.number = member.loops;
  }
}

Loop loop_of(long start, long end, long step, long chunk) {
  return {0, start, end, step, chunk > 0 ? chunk : 1};
}

// --- Locks: a word that says who has it ----------------------------------------------------------

std::uint64_t ways_if_free(const HeddleHostPoint* point, unsigned) {
  return *static_cast<const void* const*>(point->object) == nullptr ? 1 : 0;
}

void lock_word(const void** word, const char* what, const void* pc) {
  const HeddleHostPoint point{what, word, 0, ways_if_free, false};
  threads()->stop(&point, pc);
  wrote(word, sizeof *word, pc);
  *word = &self();
}

void unlock_word(const void** word, const char* what, const void* pc) {
  stop_at(what, word, pc);
  wrote(word, sizeof *word, pc);
  *word = nullptr;
}

constexpr const char* enters = "waits to enter a critical section";
constexpr const char* leaves = "leaves a critical section";

} // namespace

using Region = void (*)(void*);

HEDDLE_EXPORT void GOMP_parallel(Region function, void* data, unsigned wanted, unsigned flags) {
  HEDDLE_REAL_OMP(
      GOMP_parallel,
      void(Region, void*, unsigned, unsigned),
      function,
      data,
      wanted,
      flags
  );
  parallel(function, data, wanted, nullptr, HEDDLE_PC);
}

HEDDLE_EXPORT void GOMP_barrier() {
  HEDDLE_REAL_OMP(GOMP_barrier, void());
  barrier(HEDDLE_PC);
}

// --- Critical sections, atomics, locks -----------------------------------------------------------

HEDDLE_EXPORT void GOMP_critical_start() {
  HEDDLE_REAL_OMP(GOMP_critical_start, void());
  lock_word(&unnamed, enters, HEDDLE_PC);
}
HEDDLE_EXPORT void GOMP_critical_end() {
  HEDDLE_REAL_OMP(GOMP_critical_end, void());
  unlock_word(&unnamed, leaves, HEDDLE_PC);
}
HEDDLE_EXPORT void GOMP_critical_name_start(const void** word) {
  HEDDLE_REAL_OMP(GOMP_critical_name_start, void(const void**), word);
  lock_word(word, enters, HEDDLE_PC);
}
HEDDLE_EXPORT void GOMP_critical_name_end(const void** word) {
  HEDDLE_REAL_OMP(GOMP_critical_name_end, void(const void**), word);
  unlock_word(word, leaves, HEDDLE_PC);
}
HEDDLE_EXPORT void GOMP_atomic_start() {
  HEDDLE_REAL_OMP(GOMP_atomic_start, void());
  lock_word(&in_atomic, "waits to begin an OpenMP atomic", HEDDLE_PC);
}
HEDDLE_EXPORT void GOMP_atomic_end() {
  HEDDLE_REAL_OMP(GOMP_atomic_end, void());
  unlock_word(&in_atomic, "ends an OpenMP atomic", HEDDLE_PC);
}

// omp_lock_t of libgomp is an int: 0 is free.
namespace {
std::uint64_t ways_if_zero(const HeddleHostPoint* point, unsigned) {
  return *static_cast<const int*>(point->object) == 0 ? 1 : 0;
}
void set_lock(int* lock, int value, const void* pc) {
  wrote(lock, sizeof *lock, pc);
  *lock = value;
}
} // namespace

HEDDLE_EXPORT void omp_init_lock(int* lock) {
  HEDDLE_REAL_OMP(omp_init_lock, void(int*), lock);
  set_lock(lock, 0, HEDDLE_PC);
}
HEDDLE_EXPORT void omp_destroy_lock(int* lock) {
  HEDDLE_REAL_OMP(omp_destroy_lock, void(int*), lock);
}
HEDDLE_EXPORT void omp_set_lock(int* lock) {
  HEDDLE_REAL_OMP(omp_set_lock, void(int*), lock);
  const HeddleHostPoint point{"waits to set an OpenMP lock", lock, 0, ways_if_zero, false};
  threads()->stop(&point, HEDDLE_PC);
  set_lock(lock, 1, HEDDLE_PC);
}
HEDDLE_EXPORT void omp_unset_lock(int* lock) {
  HEDDLE_REAL_OMP(omp_unset_lock, void(int*), lock);
  stop_at("unsets an OpenMP lock", lock, HEDDLE_PC);
  set_lock(lock, 0, HEDDLE_PC);
}
HEDDLE_EXPORT int omp_test_lock(int* lock) {
  HEDDLE_REAL_OMP(omp_test_lock, int(int*), lock);
  const HeddleHostPoint point{"tries to set an OpenMP lock", lock, 0, nullptr, false};
  threads()->stop(&point, HEDDLE_PC);
  if (*lock != 0) {
    return 0;
  }
  set_lock(lock, 1, HEDDLE_PC);
  return 1;
}

// --- Single --------------------------------------------------------------------------------------

namespace {
bool first_at_single(const void* pc) {
  Member& member = self();
  wrote(&member, sizeof member, pc);
  ++member.singles;
  stop_at("reaches an OpenMP single region", &team(), pc);
  if (team().singles >= member.singles) {
    return false;
  }
  wrote(&team(), sizeof(Team), pc);
  team().singles = member.singles;
  return true;
}
} // namespace

HEDDLE_EXPORT bool GOMP_single_start() {
  HEDDLE_REAL_OMP(GOMP_single_start, bool());
  return first_at_single(HEDDLE_PC);
}
HEDDLE_EXPORT void* GOMP_single_copy_start() {
  HEDDLE_REAL_OMP(GOMP_single_copy_start, void*());
  if (first_at_single(HEDDLE_PC)) {
    return nullptr;
  }
  barrier(HEDDLE_PC);
  return team().copied;
}
HEDDLE_EXPORT void GOMP_single_copy_end(void* data) {
  HEDDLE_REAL_OMP(GOMP_single_copy_end, void(void*), data);
  wrote(&team(), sizeof(Team), HEDDLE_PC);
  team().copied = data;
  barrier(HEDDLE_PC);
}

// --- Loops ---------------------------------------------------------------------------------------

#define HEDDLE_OMP_LOOP(kind)                                                                      \
  HEDDLE_EXPORT bool                                                                               \
  GOMP_loop_##kind##_start(long start, long end, long step, long chunk, long* first, long* last) { \
    using Type = bool(long, long, long, long, long*, long*);                                       \
    HEDDLE_REAL_OMP(GOMP_loop_##kind##_start, Type, start, end, step, chunk, first, last);         \
    come_to_loop(loop_of(start, end, step, chunk), HEDDLE_PC);                                     \
    return take_chunk(first, last, HEDDLE_PC);                                                     \
  }                                                                                                \
  HEDDLE_OMP_LOOP_PARTS(kind)                                                                      \
  HEDDLE_EXPORT void GOMP_parallel_loop_##kind(                                                    \
      Region function,                                                                             \
      void* data,                                                                                  \
      unsigned wanted,                                                                             \
      long start,                                                                                  \
      long end,                                                                                    \
      long step,                                                                                   \
      long chunk,                                                                                  \
      unsigned flags                                                                               \
  ) {                                                                                              \
    using Type = void(Region, void*, unsigned, long, long, long, long, unsigned);                  \
    HEDDLE_REAL_OMP(                                                                               \
        GOMP_parallel_loop_##kind,                                                                 \
        Type,                                                                                      \
        function,                                                                                  \
        data,                                                                                      \
        wanted,                                                                                    \
        start,                                                                                     \
        end,                                                                                       \
        step,                                                                                      \
        chunk,                                                                                     \
        flags                                                                                      \
    );                                                                                             \
    parallel_loop(function, data, wanted, loop_of(start, end, step, chunk), HEDDLE_PC);            \
  }
// Those whose schedule is set at run time have no chunk.
#define HEDDLE_OMP_RUNTIME_LOOP(kind)                                                              \
  HEDDLE_EXPORT bool                                                                               \
  GOMP_loop_##kind##_start(long start, long end, long step, long* first, long* last) {             \
    using Type = bool(long, long, long, long*, long*);                                             \
    HEDDLE_REAL_OMP(GOMP_loop_##kind##_start, Type, start, end, step, first, last);                \
    come_to_loop(loop_of(start, end, step, 1), HEDDLE_PC);                                         \
    return take_chunk(first, last, HEDDLE_PC);                                                     \
  }                                                                                                \
  HEDDLE_OMP_LOOP_PARTS(kind)                                                                      \
  HEDDLE_EXPORT void GOMP_parallel_loop_##kind(                                                    \
      Region function,                                                                             \
      void* data,                                                                                  \
      unsigned wanted,                                                                             \
      long start,                                                                                  \
      long end,                                                                                    \
      long step,                                                                                   \
      unsigned flags                                                                               \
  ) {                                                                                              \
    using Type = void(Region, void*, unsigned, long, long, long, unsigned);                        \
    HEDDLE_REAL_OMP(                                                                               \
        GOMP_parallel_loop_##kind,                                                                 \
        Type,                                                                                      \
        function,                                                                                  \
        data,                                                                                      \
        wanted,                                                                                    \
        start,                                                                                     \
        end,                                                                                       \
        step,                                                                                      \
        flags                                                                                      \
    );                                                                                             \
    parallel_loop(function, data, wanted, loop_of(start, end, step, 1), HEDDLE_PC);                \
  }
#define HEDDLE_OMP_LOOP_PARTS(kind)                                                                \
  HEDDLE_EXPORT bool GOMP_loop_##kind##_next(long* first, long* last) {                            \
    HEDDLE_REAL_OMP(GOMP_loop_##kind##_next, bool(long*, long*), first, last);                     \
    return take_chunk(first, last, HEDDLE_PC);                                                     \
  }

namespace {
/// The threads of the region are in its loop from the beginning: they only ask for chunks.
struct LoopRegion {
  Region function;
  void* data;
};
void enter_loop(void* argument) {
  const LoopRegion& region = *static_cast<const LoopRegion*>(argument);
  self().loops = 1;
  region.function(region.data);
}
void parallel_loop(Region function, void* data, unsigned wanted, const Loop& loop, const void* pc) {
  LoopRegion region{function, data};
  parallel(enter_loop, &region, wanted, &loop, pc);
}
} // namespace

HEDDLE_OMP_LOOP(static)
HEDDLE_OMP_LOOP(dynamic)
HEDDLE_OMP_LOOP(guided)
HEDDLE_OMP_LOOP(nonmonotonic_dynamic)
HEDDLE_OMP_LOOP(nonmonotonic_guided)
HEDDLE_OMP_RUNTIME_LOOP(runtime)
HEDDLE_OMP_RUNTIME_LOOP(nonmonotonic_runtime)
HEDDLE_OMP_RUNTIME_LOOP(maybe_nonmonotonic_runtime)

HEDDLE_EXPORT void GOMP_loop_end() {
  HEDDLE_REAL_OMP(GOMP_loop_end, void());
  barrier(HEDDLE_PC);
}
HEDDLE_EXPORT void GOMP_loop_end_nowait() {
  HEDDLE_REAL_OMP(GOMP_loop_end_nowait, void());
}

namespace {
unsigned next_section(const void* pc) {
  long first = 0;
  long last = 0;
  return take_chunk(&first, &last, pc) ? static_cast<unsigned>(first) : 0;
}
Loop sections(unsigned count) {
  return loop_of(1, static_cast<long>(count) + 1, 1, 1);
}
} // namespace

HEDDLE_EXPORT unsigned GOMP_sections_start(unsigned count) {
  HEDDLE_REAL_OMP(GOMP_sections_start, unsigned(unsigned), count);
  come_to_loop(sections(count), HEDDLE_PC);
  return next_section(HEDDLE_PC);
}
HEDDLE_EXPORT unsigned GOMP_sections_next() {
  HEDDLE_REAL_OMP(GOMP_sections_next, unsigned());
  return next_section(HEDDLE_PC);
}
HEDDLE_EXPORT void GOMP_parallel_sections(
    Region function,
    void* data,
    unsigned wanted,
    unsigned count,
    unsigned flags
) {
  using Type = void(Region, void*, unsigned, unsigned, unsigned);
  HEDDLE_REAL_OMP(GOMP_parallel_sections, Type, function, data, wanted, count, flags);
  parallel_loop(function, data, wanted, sections(count), HEDDLE_PC);
}
HEDDLE_EXPORT void GOMP_sections_end() {
  HEDDLE_REAL_OMP(GOMP_sections_end, void());
  barrier(HEDDLE_PC);
}
HEDDLE_EXPORT void GOMP_sections_end_nowait() {
  HEDDLE_REAL_OMP(GOMP_sections_end_nowait, void());
}

// --- Tasks ---------------------------------------------------------------------------------------

HEDDLE_EXPORT void GOMP_task(
    Region function,
    void* data,
    void (*copy)(void*, void*),
    long bytes,
    long alignment,
    bool deferred,
    unsigned flags,
    void** depend,
    int priority,
    void* detach
) {
  using Type =
      void(Region, void*, void (*)(void*, void*), long, long, bool, unsigned, void**, int, void*);
  HEDDLE_REAL_OMP(
      GOMP_task,
      Type,
      function,
      data,
      copy,
      bytes,
      alignment,
      deferred,
      flags,
      depend,
      priority,
      detach
  );
  leave_out(HeddleLaterTasks);
  if (copy == nullptr) {
    function(data);
    return;
  }
  auto* place = static_cast<char*>(__builtin_alloca(static_cast<std::size_t>(bytes + alignment)));
  place += (-reinterpret_cast<std::intptr_t>(place)) & (alignment - 1);
  copy(place, data);
  function(place);
}
HEDDLE_EXPORT void GOMP_taskwait() {
  HEDDLE_REAL_OMP(GOMP_taskwait, void());
}
HEDDLE_EXPORT void GOMP_taskyield() {
  HEDDLE_REAL_OMP(GOMP_taskyield, void());
}
HEDDLE_EXPORT void GOMP_taskgroup_start() {
  HEDDLE_REAL_OMP(GOMP_taskgroup_start, void());
}
HEDDLE_EXPORT void GOMP_taskgroup_end() {
  HEDDLE_REAL_OMP(GOMP_taskgroup_end, void());
}

// --- What programs ask ---------------------------------------------------------------------------

HEDDLE_EXPORT int omp_get_thread_num() {
  HEDDLE_REAL_OMP(omp_get_thread_num, int());
  return static_cast<int>(self().number);
}
HEDDLE_EXPORT int omp_get_num_threads() {
  HEDDLE_REAL_OMP(omp_get_num_threads, int());
  return self().team != nullptr ? static_cast<int>(self().team->threads) : 1;
}
HEDDLE_EXPORT int omp_get_max_threads() {
  HEDDLE_REAL_OMP(omp_get_max_threads, int());
  return static_cast<int>(default_threads());
}
HEDDLE_EXPORT int omp_get_num_procs() {
  HEDDLE_REAL_OMP(omp_get_num_procs, int());
  return static_cast<int>(default_threads());
}
HEDDLE_EXPORT int omp_in_parallel() {
  HEDDLE_REAL_OMP(omp_in_parallel, int());
  return self().team != nullptr && self().team->threads > 1 ? 1 : 0;
}
HEDDLE_EXPORT void omp_set_num_threads(int count) {
  HEDDLE_REAL_OMP(omp_set_num_threads, void(int), count);
  wrote(&wanted_threads, sizeof wanted_threads, HEDDLE_PC);
  wanted_threads = count > 0 ? static_cast<unsigned>(count) : 0;
}

// --- What is not there ---------------------------------------------------------------------------

#define HEDDLE_OMP_UNSUPPORTED(name)                                                               \
  HEDDLE_EXPORT std::uint64_t name(                                                                \
      std::uint64_t a,                                                                             \
      std::uint64_t b,                                                                             \
      std::uint64_t c,                                                                             \
      std::uint64_t d,                                                                             \
      std::uint64_t e,                                                                             \
      std::uint64_t f,                                                                             \
      std::uint64_t g,                                                                             \
      std::uint64_t h,                                                                             \
      std::uint64_t i,                                                                             \
      std::uint64_t j                                                                              \
  ) {                                                                                              \
    using Type = std::uint64_t(                                                                    \
        std::uint64_t,                                                                             \
        std::uint64_t,                                                                             \
        std::uint64_t,                                                                             \
        std::uint64_t,                                                                             \
        std::uint64_t,                                                                             \
        std::uint64_t,                                                                             \
        std::uint64_t,                                                                             \
        std::uint64_t,                                                                             \
        std::uint64_t,                                                                             \
        std::uint64_t                                                                              \
    );                                                                                             \
    HEDDLE_REAL_OMP(name, Type, a, b, c, d, e, f, g, h, i, j);                                     \
    hooks->unsupported("OpenMP: " #name);                                                          \
    return 0;                                                                                      \
  }
// Whatever their arguments are, all of them lie in the first six registers or on the stack.
HEDDLE_OMP_UNSUPPORTED(GOMP_barrier_cancel)
HEDDLE_OMP_UNSUPPORTED(GOMP_cancel)
HEDDLE_OMP_UNSUPPORTED(GOMP_doacross_post)
HEDDLE_OMP_UNSUPPORTED(GOMP_doacross_wait)
HEDDLE_OMP_UNSUPPORTED(GOMP_loop_doacross_dynamic_start)
HEDDLE_OMP_UNSUPPORTED(GOMP_loop_doacross_static_start)
HEDDLE_OMP_UNSUPPORTED(GOMP_loop_ordered_dynamic_start)
HEDDLE_OMP_UNSUPPORTED(GOMP_loop_ordered_guided_start)
HEDDLE_OMP_UNSUPPORTED(GOMP_loop_ordered_runtime_start)
HEDDLE_OMP_UNSUPPORTED(GOMP_loop_ordered_start)
HEDDLE_OMP_UNSUPPORTED(GOMP_loop_ordered_static_start)
HEDDLE_OMP_UNSUPPORTED(GOMP_loop_start)
HEDDLE_OMP_UNSUPPORTED(GOMP_loop_ull_dynamic_start)
HEDDLE_OMP_UNSUPPORTED(GOMP_loop_ull_guided_start)
HEDDLE_OMP_UNSUPPORTED(GOMP_loop_ull_nonmonotonic_dynamic_start)
HEDDLE_OMP_UNSUPPORTED(GOMP_loop_ull_nonmonotonic_guided_start)
HEDDLE_OMP_UNSUPPORTED(GOMP_loop_ull_runtime_start)
HEDDLE_OMP_UNSUPPORTED(GOMP_loop_ull_start)
HEDDLE_OMP_UNSUPPORTED(GOMP_loop_ull_static_start)
HEDDLE_OMP_UNSUPPORTED(GOMP_ordered_start)
HEDDLE_OMP_UNSUPPORTED(GOMP_parallel_reductions)
HEDDLE_OMP_UNSUPPORTED(GOMP_scope_start)
HEDDLE_OMP_UNSUPPORTED(GOMP_sections2_start)
HEDDLE_OMP_UNSUPPORTED(GOMP_target_data_ext)
HEDDLE_OMP_UNSUPPORTED(GOMP_target_ext)
HEDDLE_OMP_UNSUPPORTED(GOMP_taskloop)
HEDDLE_OMP_UNSUPPORTED(GOMP_taskloop_ull)
HEDDLE_OMP_UNSUPPORTED(GOMP_taskgroup_reduction_register)
HEDDLE_OMP_UNSUPPORTED(GOMP_teams4)
HEDDLE_OMP_UNSUPPORTED(GOMP_teams_reg)
HEDDLE_OMP_UNSUPPORTED(omp_init_nest_lock)
