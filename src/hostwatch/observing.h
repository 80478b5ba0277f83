// What the observer of a run is told (HeddleAccessObserver), and what keeps it from being told of
// itself. Shared by the files of the instrumentation library; nobody else includes it.
#pragma once

#include "hostwatch/hooks_internal.h"

namespace heddle::hostwatch {

/// What the observer accesses and locks itself is its own business.
class Observing {
public:
  Observing() : first_(!under_way) { under_way = true; }
  ~Observing() { under_way = !first_; }
  Observing(const Observing&) = delete;
  Observing& operator=(const Observing&) = delete;
  bool first() const { return first_; }

private:
  static thread_local bool under_way;
  bool first_;
};

inline void reads_volatile(const volatile void* object, const void* pc) {
  if (observes_order()) {
    if (const Observing observing; observing.first()) {
      observer->reads_volatile(const_cast<const void*>(object), pc);
    }
  }
}

/// While it lives no other atomic operation on the object is under way that is one of instrumented
/// code: what is told at its end is then in the order in which these took place. Devices take no
/// turns: of memory that they reach, too, what the operation releases is told before it, as well.
class AtomicTurn {
public:
  AtomicTurn(const volatile void* object, int order, const void* pc);
  ~AtomicTurn();
  AtomicTurn(const AtomicTurn&) = delete;
  AtomicTurn& operator=(const AtomicTurn&) = delete;
  void loads() { loads_ = true; }
  void stores() {
    stores_ = true;
    may_store();
  }
  /// It is not known yet whether it will.
  void may_store();

private:
  const void* object_;
  const void* pc_;
  int order_;
  bool loads_ = false, stores_ = false;
  bool told_ = false; // before the operation
  bool observed_;
};

void tell_fence(int order);

/// What a thread that the observer knows of is started with.
struct Beginning {
  void* (*start)(void*);
  void* argument;
  void* thread; // HeddleAccessObserver::creates
};
/// nullptr: nobody observes; else what begin_observed() is to be called with.
Beginning* observe_creation(void* (*start)(void*), void* argument, bool by_openmp, const void* pc);
void* begin_observed(void* beginning);
void tell_joined(pthread_t thread, const void* pc);

} // namespace heddle::hostwatch
