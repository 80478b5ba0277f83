// Implements host_threads.h: fibers whose thread descriptors glibc takes for threads of its own.
//
// Layout of a slot (threads 1, 2, …; the thread of main keeps what the process has given it):
//
//   | guard page | stack, 8 MiB …                         | static TLS | struct pthread |
//   ^ slot(n)                                             ^ stack_top    ^ control_block = fs base
#include "explore/host/host_threads.h"

#include "base/check.h"
#include "base/outside.h"
#include "explore/process/quiet_fork.h"

#include <asm/prctl.h>
#include <dlfcn.h>
#include <errno.h>
#include <fmt/format.h>
#include <link.h>
#include <malloc.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>
#include <unwind.h>

#include <algorithm>
#include <bit>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <utility>

namespace heddle::explore {

namespace {

/// Not by the function of that name, which is the program's in a search (hostwatch/clocks.cpp).
void set_timer(const itimerval& value) {
  ::syscall(SYS_setitimer, ITIMER_VIRTUAL, &value, nullptr);
}

constexpr std::size_t page = 4096;
constexpr std::size_t stack_bytes = 8U << 20; // of a thread, with its guard page
constexpr std::size_t scheduler_stack_bytes = 8U << 20;

HostThreads* the_threads = nullptr; // hooks carry no context

/// What the program calls a thread. The numbers lie where nothing is mapped: who takes one for an
/// address faults at once.
pthread_t number_of(unsigned thread) {
  return is_other(SystemAnswer::Process) ? HeddleOtherMainNumber - thread * HeddleMainNumber
                                         : (thread + 1) * HeddleMainNumber;
}

std::byte* map(std::size_t bytes) {
  void* p = ::mmap(
      nullptr,
      bytes,
      PROT_READ | PROT_WRITE,
      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK,
      -1,
      0
  );
  HEDDLE_CHECK(p != MAP_FAILED, "no memory for the stacks of host threads");
  return static_cast<std::byte*>(p);
}

template <class T> T& at(std::byte* p, std::size_t offset) {
  return *reinterpret_cast<T*>(p + offset);
}

std::byte* thread_pointer() {
  std::byte* p = nullptr;
  asm volatile("movq %%fs:0, %0" : "=r"(p)); // not pthread_self(), which is a number of ours
  return p;
}

// From here to the call of the resumed code nothing may use thread-local storage.
__attribute__((noinline)) void set_thread_pointer(std::byte* p) {
  static const bool user_mode = (::getauxval(AT_HWCAP2) & 2) != 0; // wrfsbase is allowed
  if (user_mode) {
    asm volatile("wrfsbase %0" : : "r"(p) : "memory");
  } else {
    long result = 0;
    asm volatile("syscall"
                 : "=a"(result)
                 : "a"(SYS_arch_prctl), "D"(ARCH_SET_FS), "S"(p)
                 : "rcx", "r11", "memory");
  }
}

} // namespace

// Saves what a function preserves, stores the stack pointer in *from, and calls decide(self) on the
// stack that ends at `top`. That returns the saved stack pointer of whoever goes on.
extern "C" void heddle_leave_fiber(void** from, void* top, void* (*decide)(void*), void* self);
asm(R"(
  .text
  .p2align 4
  .hidden heddle_leave_fiber
  .globl heddle_leave_fiber
  .type heddle_leave_fiber, @function
heddle_leave_fiber:
  pushq %rbp
  pushq %rbx
  pushq %r12
  pushq %r13
  pushq %r14
  pushq %r15
  subq $8, %rsp
  stmxcsr (%rsp)
  fnstcw 4(%rsp)
  movq %rsp, (%rdi)
  movq %rsi, %rsp
  movq %rcx, %rdi
  callq *%rdx
  movq %rax, %rsp
  ldmxcsr (%rsp)
  fldcw 4(%rsp)
  addq $8, %rsp
  popq %r15
  popq %r14
  popq %r13
  popq %r12
  popq %rbx
  popq %rbp
  retq
  .size heddle_leave_fiber, . - heddle_leave_fiber
)");

/// What glibc's own pthread_create uses, and where the fields of its descriptor lie. It tells
/// debuggers (libthread_db) the latter, so we need not know its versions.
struct HostThreads::Library {
  using Descriptor = const std::uint32_t; // size in bits, number, offset

  void (*tls_static_info)(std::size_t* bytes, std::size_t* alignment) = nullptr;
  void* (*allocate_tls)(void* control_block) = nullptr;
  void* (*initialise_tls)(void* control_block, bool all) = nullptr;
  void (*initialise_ctype)() = nullptr;
  void (*call_tls_destructors)() = nullptr;
  void (*call_key_destructors)() = nullptr;
  bool* single_threaded = nullptr;
  Descriptor* tid = nullptr;
  Descriptor* keys = nullptr;
  const std::uint32_t* descriptor_size = nullptr;

  // Derived.
  std::size_t tls_bytes = 0, tls_alignment = 0; // with the descriptor
  std::ptrdiff_t c_library_tls = 0;             // relative to the thread pointer
  std::size_t c_library_tls_bytes = 0;

  // At the beginning of every descriptor: the ABI between compiler and C library.
  static constexpr std::size_t self1 = 0, dtv = 8, self2 = 16, guards = 40, guard_bytes = 16;
  static constexpr std::size_t keys_inside = 32, key_bytes = 16; // values in the descriptor itself

  bool find();
  std::size_t slot_bytes() const {
    return (stack_bytes + tls_bytes + tls_alignment + page - 1) / page * page;
  }
};

bool HostThreads::Library::find() {
  const auto look_up = [](auto& pointer, const char* name) {
    pointer =
        reinterpret_cast<std::remove_reference_t<decltype(pointer)>>(::dlsym(RTLD_DEFAULT, name));
    return pointer != nullptr;
  };
  const bool all = look_up(tls_static_info, "_dl_get_tls_static_info") &&
                   look_up(allocate_tls, "_dl_allocate_tls") &&
                   look_up(initialise_tls, "_dl_allocate_tls_init") &&
                   look_up(initialise_ctype, "__ctype_init") &&
                   look_up(call_tls_destructors, "__call_tls_dtors") &&
                   look_up(call_key_destructors, "heddle_run_key_destructors") &&
                   look_up(single_threaded, "__libc_single_threaded") &&
                   look_up(tid, "_thread_db_pthread_tid") &&
                   look_up(keys, "_thread_db_pthread_specific") &&
                   look_up(descriptor_size, "_thread_db_sizeof_pthread");
  if (!all) {
    return false;
  }
  tls_static_info(&tls_bytes, &tls_alignment);
  ::dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* out) {
        auto& self = *static_cast<Library*>(out);
        const auto* block = static_cast<const std::byte*>(info->dlpi_tls_data);
        const auto* known = reinterpret_cast<const std::byte*>(&errno);
        for (int i = 0; i < info->dlpi_phnum && block != nullptr; ++i) {
          const std::size_t bytes = info->dlpi_phdr[i].p_memsz;
          if (info->dlpi_phdr[i].p_type == PT_TLS && known >= block && known < block + bytes) {
            self.c_library_tls = block - thread_pointer();
            self.c_library_tls_bytes = bytes;
          }
        }
        return 0;
      },
      this
  );
  return c_library_tls_bytes != 0;
}

HostThreads::HostThreads(HostScheduler& scheduler, HostState& state)
    : scheduler_(scheduler),
      state_(state) {
  HEDDLE_CHECK(the_threads == nullptr, "two sets of host threads in one process");
  the_threads = this;
  static Library library;
  library_ = &library;
  supported_ = library.find();
  hooks_ = {
      .stop = [](const HeddleHostPoint* point,
                 const void* pc) { return the_threads->stop_for(*point, pc); },
      .self = [] { return the_threads->current_; },
      .go_first = [](unsigned thread) { the_threads->go_first(thread); },
      .waiter = [](unsigned thread) { return &the_threads->threads_[thread].waiter; },
      .create = [](pthread_t* id,
                   const pthread_attr_t* attributes,
                   void* (*start)(void*),
                   void* argument) { return the_threads->create(id, attributes, start, argument); },
      .join = [](pthread_t id,
                 void** result,
                 bool block,
                 bool timed,
                 std::uint64_t deadline,
                 const void*) { return the_threads->join(id, result, block, timed, deadline); },
      .detach = [](pthread_t id) { return the_threads->detach(id); },
      .exit = [](void* result) { the_threads->exit(result); },
      .number = [] { return number_of(the_threads->current_); },
      .known = [] { return reinterpret_cast<pthread_t>(the_threads->threads_[0].control_block); },
      .find = [](pthread_t number) { return the_threads->find(number); },
      .stack = [](unsigned id, std::size_t* bytes) -> void* {
        *bytes = stack_bytes - page;
        return the_threads->slot(id) + page;
      },
      .name = [](unsigned id) { return the_threads->threads_[id].name; },
      .call_once =
          [](void (*routine)(), int* control) {
            try {
              routine();
            } catch (...) {
              *control = 0;
              throw;
            }
          },
      .elapsed =
          [](std::uint64_t* nanoseconds, bool look) {
            if (the_threads->inside_) {
              return false;
            }
            *nanoseconds =
                look ? the_threads->look() : HeddleMonotonicStart + the_threads->clock_.now();
            return true;
          },
      .pass = [](std::uint64_t nanoseconds) { the_threads->pass(nanoseconds); },
  };
  threads_[0].state = State::Live;
  threads_[0].started = true;
  threads_[0].control_block = thread_pointer();
  for (unsigned thread = 0; thread < HeddleMaxThreads; ++thread) {
    names_.push_back(thread == 0 ? "the host thread" : fmt::format("host thread {}", thread + 1));
    joins_.push_back(fmt::format("waits for {} to end", names_.back()));
  }
  scheduler_stack_ = map(scheduler_stack_bytes);
  struct sigaction action{};
  action.sa_sigaction = [](int signal, siginfo_t*, void* context) {
    the_threads->interrupted(signal, *static_cast<ucontext_t*>(context));
  };
  action.sa_flags = SA_SIGINFO | SA_RESTART | SA_NODEFER; // others run before it returns
  ::sigaction(SIGVTALRM, &action, nullptr);
  ::sigaction(SIGTRAP, &action, nullptr);
  interrupt_after(threads_[0].computing.first_look_us());
  if (supported_) {
    // All of it now, so that where it lies does not depend on what the program does before.
    slots_ = map(HeddleMaxThreads * library.slot_bytes());
    state_.add_stacks(slots_, HeddleMaxThreads - 1, library.slot_bytes(), stack_bytes);
    make_control_block(scheduler_thread_, HeddleMaxThreads);
    set_thread_pointer(scheduler_thread_.control_block);
    library.initialise_ctype();
    set_thread_pointer(threads_[0].control_block);
    // What is larger than this threshold lies among the other mappings, in the order in which they
    // were made, whoever made them.
    ::mallopt(M_MMAP_THRESHOLD, 32 << 20);
  }
}

HostThreads::~HostThreads() {
  const itimerval never{};
  set_timer(never);
  ::signal(SIGVTALRM, SIG_IGN);
  ::signal(SIGTRAP, SIG_DFL);
  the_threads = nullptr;
  ::munmap(scheduler_stack_, scheduler_stack_bytes);
  if (slots_ != nullptr) {
    ::munmap(slots_, HeddleMaxThreads * library_->slot_bytes());
  }
}

std::byte* HostThreads::slot(unsigned thread) const {
  return slots_ + (thread - 1) * library_->slot_bytes();
}

// --- Stopping and going on -----------------------------------------------------------------------

std::uint64_t ways_without_reason(const HostPoint& point) {
  const std::uint64_t fails = point.may_fail ? 2 : 0;
  return point.sync == nullptr ? fails : point.sync->without_reason;
}

static std::uint64_t ways_of(const HeddleHostPoint& point, unsigned thread) {
  return point.ways == nullptr ? 1 : point.ways(&point, thread);
}

unsigned HostThreads::stop_for(const HeddleHostPoint& point, const void* pc) {
  const std::uint64_t open = ways_of(point, current_) & ~point.without_reason;
  // Code of our own is not explored, and with one thread only blocking is worth a stop.
  const bool silent = inside_ || state_.ours(reinterpret_cast<std::uintptr_t>(pc)) || !ever_two_ ||
                      (point.for_others && live() == 1);
  if (silent && open != 0) {
    return static_cast<unsigned>(std::countr_zero(open));
  }
  return stop({.kind = HostPoint::Kind::Sync, .what = point.what, .sync = &point, .position = {}});
}

unsigned HostThreads::stop(HostPoint point) {
  Thread& self = threads_[current_];
  if (inside_) {
    self.point = &point;
    const std::uint64_t open = ways(current_) & ~ways_without_reason(point);
    self.point = nullptr;
    HEDDLE_CHECK(open != 0, "Heddle itself {} while it explores", point.what);
    return static_cast<unsigned>(std::countr_zero(open));
  }
  inside_ = true;
  if (point.position.stack_pointer == 0) {
    point.position = state_.capture();
    self.computing.begin();
  }
  if (!point.reads) {
    self.poll = {};
  }
  complete(point.position);
  self.point = &point;
  arrived_ |= std::uint64_t{1} << current_;
  leave();
  self.origin = origin_at(point.position, combined(point.operands, self.way));
  scrub_stack();
  self.point = nullptr;
  self.stopped_since_yield = true;
  if (point.reads) { // as it goes on: what lies on its stack may be shared
    self.poll.thread = state_.hash_alone(point.position, clock_, false);
  }
  inside_ = false;
  return self.way;
}

void HostThreads::leave() {
  heddle_leave_fiber(
      &threads_[current_].saved_stack_pointer,
      scheduler_stack_ + scheduler_stack_bytes,
      &decide,
      this
  );
}

/// `thread` can go on, whatever others do meanwhile, and what it does until it stops the next time
/// nobody else can tell: it does so now, and then the running thread goes on.
void HostThreads::go_first(unsigned thread) {
  if (inside_ || !eager_) {
    return;
  }
  Thread& first = threads_[thread];
  first.way = 0;
  first.after = std::exchange(current_, thread);
  inside_ = true;
  heddle_leave_fiber(
      &threads_[first.after].saved_stack_pointer,
      scheduler_stack_ + scheduler_stack_bytes,
      [](void* argument) -> void* {
        HostThreads& self = *static_cast<HostThreads*>(argument);
        const Thread& chosen = self.threads_[self.current_];
        set_thread_pointer(chosen.control_block);
        return chosen.saved_stack_pointer;
      },
      this
  );
  scrub_stack();
  inside_ = false;
}

void* HostThreads::decide(void* argument) {
  HostThreads& self = *static_cast<HostThreads*>(argument);
  Thread& stopped = self.threads_[self.current_];
  if (const unsigned after = std::exchange(stopped.after, HeddleMaxThreads);
      after != HeddleMaxThreads) {
    self.current_ = after;
    set_thread_pointer(self.threads_[after].control_block);
    return self.threads_[after].saved_stack_pointer;
  }
  self.enter_own_storage();
  if (self.to_release_ != HeddleMaxThreads) {
    self.release(self.to_release_);
    self.to_release_ = HeddleMaxThreads;
  }
  if (self.live() == 0) {
    self.inside_ = false;
    set_thread_pointer(self.threads_[0].control_block);
    ::exit(EXIT_SUCCESS); // main has left by pthread_exit, and this was the last thread
  }
  self.scheduler_.next(self);
  self.arrived_ = 0;
  Thread& chosen = self.threads_[self.current_];
  self.interrupt_after(chosen.computing.first_look_us());
  self.leave_own_storage(chosen);
  return chosen.saved_stack_pointer;
}

/// The scheduler has thread-local storage of its own, and with it an arena of the C library's
/// allocator: what it allocates does not decide where the program's objects come to lie, which is
/// part of states.
void HostThreads::enter_own_storage() {
  std::byte* const main = threads_[0].control_block;
  if (scheduler_thread_.control_block == nullptr) {
    set_thread_pointer(main);
    return;
  }
  const std::size_t tid = library_->tid[2];
  at<int>(scheduler_thread_.control_block, tid) =
      at<int>(main, tid); // which another process has after a fork
  single_threaded_ = std::exchange(*library_->single_threaded, false); // else there is one arena
  set_thread_pointer(scheduler_thread_.control_block);
}

void HostThreads::leave_own_storage(const Thread& to) {
  if (scheduler_thread_.control_block != nullptr) {
    *library_->single_threaded = single_threaded_;
  }
  set_thread_pointer(to.control_block);
}

pid_t HostThreads::fork_process() {
  leave_own_storage(threads_[0]); // whose thread the new process has
  const pid_t child = quiet_fork();
  enter_own_storage();
  return child;
}

/// Sets the timer; before each return to the program, because a process that was forked has none.
void HostThreads::interrupt_after(long microseconds) {
  itimerval timer{};
  timer.it_value.tv_usec = microseconds;
  set_timer(timer);
}

/// In a signal handler. In the executable's own code nothing is half done that others might need.
void HostThreads::interrupted(int signal, ucontext_t& context) {
  Computing& computing = threads_[current_].computing;
  if (inside_) {
    if (signal == SIGTRAP) {
      interrupt_after(computing.left(context));
    }
    return;
  }
  std::optional<HostPosition> position = state_.interrupted(context);
  const int error = errno;
  if (position) {
    complete(*position);
  }
  const std::uintptr_t pc = position ? position->return_addresses.front() : 0;
  const auto again = computing.interrupted(signal, context, pc, [&] {
    return state_.hash_alone(*position, clock_, true);
  });
  if (!again) {
    stop({.kind = HostPoint::Kind::Access, .what = "computes", .position = *position});
  } else if (*again != 0) {
    interrupt_after(*again);
  }
  errno = error;
}

/// Where the stack of the running thread ends, unless it is the main thread's.
void HostThreads::complete(HostPosition& position) const {
  if (current_ != 0) {
    position.stack_end = reinterpret_cast<std::uintptr_t>(slot(current_) + stack_bytes);
  }
}

unsigned HostThreads::live() const {
  return static_cast<unsigned>(
      std::count_if(threads_.begin(), threads_.begin() + count_, [](const Thread& thread) {
        return thread.state == State::Live;
      })
  );
}

std::uint64_t HostThreads::ways(unsigned thread) const {
  const HostPoint* point = threads_[thread].point;
  if (threads_[thread].state != State::Live || point == nullptr) {
    return 0;
  }
  switch (point->kind) {
  case HostPoint::Kind::Access:
    return point->may_fail ? 3 : 1;
  case HostPoint::Kind::Sync:
    return ways_of(*point->sync, thread);
  case HostPoint::Kind::Wait:
    return (*point->condition)() ? 1 : 0;
  case HostPoint::Kind::Query:
    return (*point->condition)() ? 3 : 2;
  default: // at any time
    return 1;
  }
}

void HostThreads::choose(unsigned thread, unsigned way) {
  HEDDLE_CHECK(
      (ways(thread) >> way & 1) != 0,
      "way {} is not open to {}, which {}",
      way,
      name(thread),
      point(thread).what
  );
  threads_[thread].way = way;
  current_ = thread;
}

// --- Threads -------------------------------------------------------------------------------------

unsigned HostThreads::find(pthread_t number) const {
  for (unsigned thread = 0; thread < count_; ++thread) {
    if (threads_[thread].state != State::Free && number_of(thread) == number) {
      return thread;
    }
  }
  return HeddleMaxThreads;
}

int HostThreads::create(
    pthread_t* id,
    const pthread_attr_t* attributes,
    void* (*start)(void*),
    void* argument
) {
  static const HostPoint begins{.kind = HostPoint::Kind::Start, .what = "begins", .position = {}};
  unsigned free = 1;
  while (free < HeddleMaxThreads && threads_[free].state != State::Free) {
    ++free;
  }
  std::size_t wanted_stack = 0;
  int detached = PTHREAD_CREATE_JOINABLE;
  if (attributes != nullptr) {
    ::pthread_attr_getstacksize(attributes, &wanted_stack);
    ::pthread_attr_getdetachstate(attributes, &detached);
  }
  if (free == HeddleMaxThreads) {
    scheduler_.unsupported("more than 61 host threads at a time");
  }
  if (wanted_stack > stack_bytes) {
    scheduler_.unsupported("a host thread with more than 8 MiB of stack");
  }
  Thread& thread = threads_[free];
  if (thread.used_before) {
    ::madvise(slot(free) + page, stack_bytes - page, MADV_DONTNEED); // as clean as a new one
  } else {
    ::mprotect(slot(free), page, PROT_NONE);
  }
  make_control_block(thread, free);
  const bool used_before = std::exchange(thread.used_before, true);
  thread.state = State::Live;
  thread.detached = detached == PTHREAD_CREATE_DETACHED;
  thread.started = false;
  thread.point = &begins;
  thread.waiter = {};
  thread.origin = thread.held = 0;
  thread.looks = {};
  thread.poll = {};
  thread.name[0] = '\0';
  thread.stopped_since_yield = false;
  thread.computing = {};
  thread.after = HeddleMaxThreads;
  thread.start = start;
  thread.argument = argument;
  thread.result = nullptr;
  // As heddle_leave_fiber leaves it behind: control words, six registers, where to return to. Above
  // that a return address of 0, which ends every walk along the stack.
  std::byte* frame = slot(free) + stack_bytes - 72;
  std::memset(frame, 0, 72);
  asm volatile("stmxcsr (%0)\n\tfnstcw 4(%0)" : : "r"(frame) : "memory");
  at<void (*)()>(frame, 56) = &begin;
  thread.saved_stack_pointer = frame;
  count_ = std::max(count_, free + 1);
  ever_two_ = true;
  // Reference counts of shared pointers must be atomic now, also when the scheduler has done this.
  *library_->single_threaded = single_threaded_ = false;
  if (!used_before) {
    const bool inside = std::exchange(inside_, true); // it is not the program that allocates
    choose_arena(thread); // now, so that which one it is does not depend on who allocates first
    inside_ = inside;
  }
  *id = number_of(free);
  go_first(free);
  return 0;
}

void HostThreads::make_control_block(Thread& thread, unsigned id) {
  const Library& library = *library_;
  const std::size_t descriptor = *library.descriptor_size;
  std::byte* const main = threads_[0].control_block;
  const auto end = reinterpret_cast<std::uintptr_t>(slot(id) + library.slot_bytes());
  auto* block = reinterpret_cast<std::byte*>(
      (end - descriptor) / library.tls_alignment * library.tls_alignment
  );
  thread.control_block = block;
  if (!thread.used_before) {
    HEDDLE_CHECK(library.allocate_tls(block) == block, "no thread-local storage");
  } else {
    // As glibc cleans the storage of an ended thread for the next one. What the C library itself
    // keeps there stays: among it what the allocator has set aside for this thread.
    void* table = at<void*>(block, Library::dtv);
    struct Entry {
      void* value;
      void* to_free;
    };
    auto* entries = static_cast<Entry*>(table);
    const auto count = reinterpret_cast<std::size_t>(entries[-1].value);
    for (std::size_t i = 1; i <= count; ++i) {
      std::free(entries[i].to_free);
    }
    std::memset(entries, 0, (count + 1) * sizeof(Entry));
    const std::vector<std::byte> kept(
        block + library.c_library_tls,
        block + library.c_library_tls + library.c_library_tls_bytes
    );
    std::memset(block, 0, descriptor);
    at<void*>(block, Library::dtv) = table;
    library.initialise_tls(block, true);
    std::copy(kept.begin(), kept.end(), block + library.c_library_tls);
  }
  at<void*>(block, Library::self1) = block;
  at<void*>(block, Library::self2) = block;
  std::memcpy(block + Library::guards, main + Library::guards, Library::guard_bytes);
  const std::size_t keys = library.keys[2];
  at<void*>(block, keys) = block + keys - Library::keys_inside * Library::key_bytes;
  at<int>(block, library.tid[2]) = at<int>(main, library.tid[2]) + static_cast<int>(id);
}

/// The C library's allocator gives a thread its arena when it first allocates.
void HostThreads::choose_arena(const Thread& thread) {
  std::byte* const now = thread_pointer();
  set_thread_pointer(thread.control_block);
  void* volatile first = std::malloc(1);
  std::free(first);
  set_thread_pointer(now);
}

void HostThreads::begin() {
  HostThreads& all = *the_threads;
  Thread& self = all.threads_[all.current_];
  self.started = true;
  self.point = nullptr;
  self.origin = all.origin_at(
      {},
      combined(
          reinterpret_cast<std::uintptr_t>(self.start),
          reinterpret_cast<std::uintptr_t>(self.argument)
      )
  );
  all.library_->initialise_ctype();
  all.inside_ = false;
  self.result = self.start(self.argument);
  all.end();
}

void HostThreads::end() {
  library_->call_tls_destructors();
  library_->call_key_destructors();
  inside_ = true;
  Thread& self = threads_[current_];
  self.state = State::Ended;
  self.point = nullptr;
  if (self.detached) {
    to_release_ = current_;
  }
  // Who waits for it to end goes on at once: it can, whatever others do.
  for (unsigned thread = 0; eager_ && thread < count_; ++thread) {
    Thread& waits = threads_[thread];
    if (waits.point != nullptr && waits.point->sync != nullptr &&
        waits.point->sync->ways == &join_ways && waits.point->sync->argument == current_ &&
        waits.after == HeddleMaxThreads) {
      waits.after = self.after;
      waits.way = 0;
      self.after = thread;
      break;
    }
  }
  leave();
  HEDDLE_CHECK(false, "an ended host thread went on");
  ::abort();
}

void HostThreads::exit(void* result) {
  // Runs the destructors of what lies on the stack, as glibc does. The exception must not lie there
  // itself.
  static std::array<_Unwind_Exception, HeddleMaxThreads> exceptions;
  threads_[current_].result = result;
  _Unwind_Exception& exception = exceptions[current_];
  std::memset(&exception, 0, sizeof exception);
  _Unwind_ForcedUnwind(
      &exception,
      [](int,
         _Unwind_Action actions,
         _Unwind_Exception_Class,
         _Unwind_Exception*,
         _Unwind_Context*,
         void*) {
        if ((actions & _UA_END_OF_STACK) != 0) {
          the_threads->end();
        }
        return _URC_NO_REASON;
      },
      nullptr
  );
  end();
}

std::uint64_t HostThreads::join_ways(const HeddleHostPoint* point, unsigned) {
  return the_threads->threads_[point->argument].state == State::Ended ? 1 : 0;
}

std::uint64_t HostThreads::join_ways_in_time(const HeddleHostPoint* point, unsigned thread) {
  return join_ways(point, thread) != 0 ? 1 : 2;
}

int HostThreads::join(pthread_t id, void** result, bool block, bool timed, std::uint64_t deadline) {
  const unsigned thread = find(id);
  if (thread == HeddleMaxThreads) {
    return ESRCH;
  }
  if (thread == current_) {
    return EDEADLK;
  }
  if (threads_[thread].detached) {
    return EINVAL;
  }
  const bool ended =
      eager_ && threads_[thread].state == State::Ended; // and will have, whatever others do
  const HeddleHostPoint point{
      joins_[thread].c_str(),
      threads_[thread].control_block,
      thread,
      timed || !block ? join_ways_in_time : join_ways,
      false
  };
  if (!ended && stop_for(point, nullptr) == 1) {
    pass(deadline);
    return block ? ETIMEDOUT : EBUSY;
  }
  if (result != nullptr) {
    *result = threads_[thread].result;
  }
  release(thread);
  return 0;
}

int HostThreads::detach(pthread_t id) {
  const unsigned thread = find(id);
  if (thread == HeddleMaxThreads) {
    return ESRCH;
  }
  if (threads_[thread].detached) {
    return EINVAL;
  }
  threads_[thread].detached = true;
  if (threads_[thread].state == State::Ended) {
    release(thread);
  }
  return 0;
}

void HostThreads::release(unsigned thread) {
  if (thread == 0) {
    return; // its stack and storage are the process's
  }
  Thread& ended = threads_[thread];
  ended.state = State::Free;
  ended.detached = false;
  ended.result = nullptr;
  const std::byte* storage = slot(thread) + stack_bytes;
  state_.freed(storage, library_->slot_bytes() - stack_bytes);
  while (count_ > 1 && threads_[count_ - 1].state == State::Free) {
    --count_;
  }
}

} // namespace heddle::explore
