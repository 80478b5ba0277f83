// Implements host_threads.h.
#include "race/host_threads.h"

#include <algorithm>
#include <atomic>
#include <utility>

namespace heddle::race {
namespace {

/// Ids of parts, as of commands. Those of one thread follow each other.
constexpr std::uint64_t first_part_id = std::uint64_t{1} << 62;
constexpr unsigned thread_shift = 32;

bool acquires(int order) {
  return order != __ATOMIC_RELAXED && order != __ATOMIC_RELEASE;
}
bool releases(int order) {
  return order == __ATOMIC_RELEASE || order == __ATOMIC_ACQ_REL || order == __ATOMIC_SEQ_CST;
}

std::atomic<std::uint64_t> generations{0};

/// Which thread of which HostThreads the running one is.
struct Mine {
  std::uint64_t generation = 0;
  HostThreads::Thread* thread = nullptr;
};
thread_local Mine mine;

} // namespace

struct HostThreads::Thread {
  std::uint64_t number = 0;
  Known known;
  std::uint64_t parts = 0;                               // so far
  CommandInfoPtr part;                                   // under way; nullptr: none
  std::unordered_map<const void*, std::uint32_t> agents; // of it, by place
  CommandInfoPtr function;                               // of a stream, that it runs
  Known known_before_function;
  Known fenced;                           // what a release fence has released
  CommandSet observed;                    // by relaxed reads: for an acquire fence
  std::vector<const void*> read_volatile; // and not yet taken into account
  Hope hope;
};

HostThreads::HostThreads() : generation_(++generations) {
  make(std::make_shared<CommandSet>());
}

HostThreads::~HostThreads() = default;

HostThreads::Thread& HostThreads::make(Known known) {
  Thread& thread = threads_.emplace_back();
  thread.number = threads_.size();
  thread.known = std::move(known);
  return thread;
}

HostThreads::Thread& HostThreads::current() {
  if (!apart_) {
    return threads_.front();
  }
  if (mine.generation != generation_) {
    // The first one seen is the one that everything begins with.
    const bool first = threads_.size() == 1 && by_number_.empty();
    Thread& thread = first ? threads_.front() : make(of_all());
    by_number_[::pthread_self()] = &thread;
    mine = {generation_, &thread};
  }
  Thread& thread = *mine.thread;
  for (const void* object : std::exchange(thread.read_volatile, {})) {
    if (const auto known = objects_.find(object); known != objects_.end()) {
      learn(thread, *known->second);
    }
  }
  return thread;
}

// --- What they know ------------------------------------------------------------------------------

/// Returns whether that changes anything: sets are shared, and copied only then.
bool HostThreads::add(Known& into, const CommandSet& more) {
  if (into.get() == &more || into->includes(more)) {
    return false;
  }
  auto both = std::make_shared<CommandSet>(*into);
  both->add(more);
  into = std::move(both);
  return true;
}

/// Whatever it has done so far comes before what it hands its knowledge to.
HostThreads::Known HostThreads::end_part(Thread& thread) {
  if (thread.part != nullptr) {
    CommandSet own;
    own.add(thread.part->id, thread.part->id);
    add(thread.known, own);
    thread.part = nullptr;
    thread.agents.clear();
    all_ = nullptr;
  }
  return thread.known;
}

void HostThreads::learn(Thread& thread, const CommandSet& more) {
  if (thread.known->includes(more)) {
    return;
  }
  end_part(thread);
  add(thread.known, more);
  all_ = nullptr;
}

HostThreads::Known HostThreads::of_all() {
  if (all_ == nullptr) {
    for (Thread& thread : threads_) {
      end_part(thread);
    }
    Known all = threads_.front().known;
    for (const Thread& thread : threads_) {
      add(all, *thread.known);
    }
    all_ = std::move(all);
  }
  return all_;
}

HostThreads::Known HostThreads::known(bool with_call) {
  const std::lock_guard lock(mutex_);
  Thread& thread = current();
  if (with_call && threads_.size() > 1) { // else whoever comes knows it all
    part(thread);
  }
  return end_part(thread);
}

HostThreads::Known HostThreads::known_to_any() {
  const std::lock_guard lock(mutex_);
  return of_all();
}

HostThreads::Known HostThreads::released_at(const void* object) {
  const std::lock_guard lock(mutex_);
  const auto at = objects_.find(object);
  return apart_ && at != objects_.end() ? at->second : nullptr;
}

void HostThreads::learn(const CommandSet& more) {
  const std::lock_guard lock(mutex_);
  learn(current(), more);
}

void HostThreads::hope(const CommandSet& more, const char* call) {
  const std::lock_guard lock(mutex_);
  Thread& thread = current();
  if (thread.known->includes(more)) {
    return;
  }
  end_part(thread);
  if (thread.hope.known == nullptr) {
    thread.hope.known = std::make_shared<CommandSet>();
  }
  add(thread.hope.known, more);
  thread.hope.call = call;
}

HostThreads::Hope HostThreads::hope() {
  const std::lock_guard lock(mutex_);
  return current().hope;
}

bool HostThreads::several() const {
  const std::lock_guard lock(mutex_);
  return threads_.size() > 1;
}

// --- Order among threads -------------------------------------------------------------------------

void HostThreads::release(Thread& thread, const void* object) {
  const Known known = end_part(thread);
  const auto [at, first] = objects_.try_emplace(object, known);
  if (!first && known->includes(*at->second)) {
    at->second = known;
  } else {
    add(at->second, *known);
  }
}

void HostThreads::acquire(Thread& thread, const void* object) {
  if (const auto at = objects_.find(object); at != objects_.end()) {
    learn(thread, *at->second);
  }
}

void HostThreads::released(const void* object) {
  if (apart_) {
    const std::lock_guard lock(mutex_);
    release(current(), object);
  }
}

void HostThreads::acquired(const void* object) {
  if (apart_) {
    const std::lock_guard lock(mutex_);
    acquire(current(), object);
  }
}

void HostThreads::atomic(const void* object, int order, bool loads, bool stores) {
  if (!apart_) {
    return;
  }
  const std::lock_guard lock(mutex_);
  Thread& thread = current();
  if (loads && acquires(order)) {
    acquire(thread, object);
  } else if (const auto at = objects_.find(object); loads && at != objects_.end()) {
    thread.observed.add(*at->second);
  }
  if (stores && releases(order)) {
    release(thread, object);
  } else if (stores && thread.fenced != nullptr) {
    add(objects_.try_emplace(object, thread.fenced).first->second, *thread.fenced);
  } else if (stores) { // it says nothing
    objects_.try_emplace(object, std::make_shared<CommandSet>());
  }
}

void HostThreads::fence(int order) {
  if (!apart_) {
    return;
  }
  const std::lock_guard lock(mutex_);
  Thread& thread = current();
  if (acquires(order)) {
    learn(thread, std::exchange(thread.observed, {}));
  }
  if (releases(order)) {
    thread.fenced = end_part(thread);
  }
}

void HostThreads::about_to_read(const void* object) {
  if (apart_) {
    const std::lock_guard lock(mutex_);
    current().read_volatile.push_back(object);
  }
}

void* HostThreads::creates(bool same) {
  const std::lock_guard lock(mutex_);
  Thread& thread = current();
  return same || !apart_ ? &thread : &make(end_part(thread));
}

void HostThreads::begins(void* thread, pthread_t self) {
  const std::lock_guard lock(mutex_);
  mine = {generation_, static_cast<Thread*>(thread)};
  by_number_[self] = mine.thread;
}

// Everything that it has done, and what the destructors of its variables have.
void HostThreads::joined(pthread_t number) {
  const std::lock_guard lock(mutex_);
  const auto at = by_number_.find(number);
  if (apart_ && at != by_number_.end()) {
    learn(current(), *end_part(*at->second));
  }
}

// --- Host functions ------------------------------------------------------------------------------

// Functions may run on one thread or on several [HOST-CALL]: what that thread has done before
// orders nothing.
void HostThreads::function_begins(const CommandInfoPtr& command) {
  const std::lock_guard lock(mutex_);
  Thread& thread = current();
  if (command == nullptr) {
    return;
  }
  if (!apart_) {
    learn(thread, command->completed());
    return;
  }
  end_part(thread);
  thread.known_before_function = std::exchange(thread.known, command->before);
  thread.function = command;
  all_ = nullptr;
}

HostThreads::Known HostThreads::function_ends() {
  const std::lock_guard lock(mutex_);
  Thread& thread = current();
  if (thread.function == nullptr) {
    return std::make_shared<CommandSet>();
  }
  Known known = end_part(thread);
  thread.function = nullptr;
  thread.known = std::exchange(thread.known_before_function, nullptr);
  return known;
}

// --- Accesses ------------------------------------------------------------------------------------

const CommandInfoPtr& HostThreads::part(Thread& thread) {
  if (thread.part == nullptr) {
    auto info = std::make_shared<CommandInfo>();
    if (thread.function != nullptr) { // what follows the function follows this
      *info = *thread.function;
    } else {
      info->id = first_part_id + (thread.number << thread_shift) + ++thread.parts;
      info->label = "host code";
    }
    info->before = info->late = thread.known;
    info->hoped = thread.hope.known;
    info->hoped_call = thread.hope.call;
    thread.part = std::move(info);
    all_ = nullptr;
  }
  return thread.part;
}

std::uint32_t HostThreads::agent(
    const void* pc,
    const std::function<std::uint32_t(const CommandInfoPtr&)>& make
) {
  const std::lock_guard lock(mutex_);
  Thread& thread = current();
  const CommandInfoPtr& part = this->part(thread);
  std::uint32_t& number = thread.agents[pc];
  if (number == 0) {
    number = make(part);
  }
  return number;
}

bool HostThreads::is_part(const CommandInfo& command) {
  return command.id >= first_part_id;
}

} // namespace heddle::race
