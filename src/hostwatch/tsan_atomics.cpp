// The __tsan_atomic* entry points: announce, then perform.
//
// With -fsanitize=thread the compiler replaces every atomic operation by a call of one of these, so
// they must perform it. They do so sequentially consistently, whatever order was asked for: under
// the explorer threads move one at a time, and weaker orders have no further outcomes there.
#include "hostwatch/observing.h"

namespace {

using heddle::hostwatch::AtomicTurn;
using heddle::hostwatch::before;
using heddle::hostwatch::wrote;

using a8 = unsigned char;
using a16 = unsigned short;
using a32 = unsigned;
using a64 = unsigned long;
using a128 = unsigned __int128;

/// Operands as one number, by which states are told apart.
template <class T> std::uint64_t number_of(T value) {
  return sizeof(T) <= 8 ? static_cast<std::uint64_t>(value)
                        : static_cast<std::uint64_t>(value) * 0x9e37'79b9'7f4a'7c15ULL ^
                              static_cast<std::uint64_t>(static_cast<a128>(value) >> 64);
}
template <class T> std::uint64_t number_of(T first, T second) {
  return number_of(first) * 0x9e37'79b9'7f4a'7c15ULL + number_of(second);
}

/// Atomically replaces *p by change(*p); returns the old value.
template <class T, class F>
T update(volatile T* p, T operand, int order, const void* pc, F change) {
  before(HeddleAtomicUpdate, p, sizeof(T), number_of(operand));
  wrote(p, sizeof(T), pc);
  AtomicTurn turn(p, order, pc);
  turn.loads();
  turn.stores();
  T old = *p;
  for (;;) {
    const T seen = __sync_val_compare_and_swap(p, old, change(old));
    if (seen == old) {
      return old;
    }
    old = seen;
  }
}

template <class T> T load(const volatile T* p, int order, const void* pc) {
  before(HeddleAtomicLoad, p, sizeof(T));
  AtomicTurn turn(p, order, pc);
  turn.loads();
  if constexpr (sizeof(T) == 16) {
    return __sync_val_compare_and_swap(const_cast<volatile T*>(p), T{0}, T{0});
  } else {
    return __atomic_load_n(p, __ATOMIC_SEQ_CST);
  }
}

template <class T> void store(volatile T* p, T value, int order, const void* pc) {
  before(HeddleAtomicStore, p, sizeof(T), number_of(value));
  wrote(p, sizeof(T), pc);
  AtomicTurn turn(p, order, pc);
  turn.stores();
  if constexpr (sizeof(T) == 16) {
    T old = *p;
    for (T seen = 0; (seen = __sync_val_compare_and_swap(p, old, value)) != old; old = seen) {
    }
  } else {
    __atomic_store_n(p, value, __ATOMIC_SEQ_CST);
  }
}

template <class T>
T compare_exchange(volatile T* p, T expected, T desired, int order, const void* pc) {
  before(HeddleAtomicUpdate, p, sizeof(T), number_of(expected, desired));
  wrote(p, sizeof(T), pc);
  AtomicTurn turn(p, order, pc);
  turn.loads();
  turn.may_store();
  const T seen = __sync_val_compare_and_swap(p, expected, desired);
  if (seen == expected) {
    turn.stores();
  }
  return seen;
}

/// x86 has no exchange that fails without a reason, but C++ allows one.
template <class T>
int weak_exchange(volatile T* p, T* expected, T desired, int order, const void* pc) {
  const std::uint64_t operands = number_of<T>(*expected, desired);
  const bool fails = before(HeddleWeakExchange, p, sizeof(T), operands) != 0;
  const T wanted = *expected;
  T seen = wanted;
  AtomicTurn turn(p, order, pc);
  turn.loads();
  if (fails) {
    seen = __sync_val_compare_and_swap(p, wanted, wanted);
  } else {
    wrote(p, sizeof(T), pc);
    turn.may_store();
    seen = __sync_val_compare_and_swap(p, wanted, desired);
    if (seen == wanted) {
      turn.stores();
    }
  }
  if (seen != wanted) {
    wrote(expected, sizeof seen, pc);
    *expected = seen;
  }
  return !fails && seen == wanted ? 1 : 0;
}

} // namespace

#define HEDDLE_PC __builtin_return_address(0)
#define HEDDLE_UPDATE(bits, name, result)                                                          \
  HEDDLE_EXPORT a##bits __tsan_atomic##bits##_##name(volatile a##bits* p, a##bits v, int order) {  \
    return update(p, v, order, HEDDLE_PC, [v]([[maybe_unused]] a##bits old) {                      \
      return static_cast<a##bits>(result);                                                         \
    });                                                                                            \
  }
#define HEDDLE_ATOMIC(bits)                                                                        \
  HEDDLE_EXPORT a##bits __tsan_atomic##bits##_load(const volatile a##bits* p, int order) {         \
    return load(p, order, HEDDLE_PC);                                                              \
  }                                                                                                \
  HEDDLE_EXPORT void __tsan_atomic##bits##_store(volatile a##bits* p, a##bits v, int order) {      \
    store(p, v, order, HEDDLE_PC);                                                                 \
  }                                                                                                \
  HEDDLE_UPDATE(bits, exchange, v)                                                                 \
  HEDDLE_UPDATE(bits, fetch_add, old + v)                                                          \
  HEDDLE_UPDATE(bits, fetch_sub, old - v)                                                          \
  HEDDLE_UPDATE(bits, fetch_and, old& v)                                                           \
  HEDDLE_UPDATE(bits, fetch_or, old | v)                                                           \
  HEDDLE_UPDATE(bits, fetch_xor, old ^ v)                                                          \
  HEDDLE_UPDATE(bits, fetch_nand, ~(old & v))                                                      \
  HEDDLE_EXPORT a##bits __tsan_atomic##bits##_compare_exchange_val(                                \
      volatile a##bits* p,                                                                         \
      a##bits expected,                                                                            \
      a##bits desired,                                                                             \
      int order,                                                                                   \
      int                                                                                          \
  ) {                                                                                              \
    return compare_exchange(p, expected, desired, order, HEDDLE_PC);                               \
  }                                                                                                \
  HEDDLE_EXPORT int __tsan_atomic##bits##_compare_exchange_strong(                                 \
      volatile a##bits* p,                                                                         \
      a##bits* expected,                                                                           \
      a##bits desired,                                                                             \
      int order,                                                                                   \
      int                                                                                          \
  ) {                                                                                              \
    const a##bits wanted = *expected;                                                              \
    const a##bits seen = compare_exchange(p, wanted, desired, order, HEDDLE_PC);                   \
    if (seen != wanted) {                                                                          \
      wrote(expected, sizeof seen, HEDDLE_PC);                                                     \
      *expected = seen;                                                                            \
    }                                                                                              \
    return seen == wanted ? 1 : 0;                                                                 \
  }                                                                                                \
  HEDDLE_EXPORT int __tsan_atomic##bits##_compare_exchange_weak(                                   \
      volatile a##bits* p,                                                                         \
      a##bits* expected,                                                                           \
      a##bits desired,                                                                             \
      int order,                                                                                   \
      int                                                                                          \
  ) {                                                                                              \
    return weak_exchange(p, expected, desired, order, HEDDLE_PC);                                  \
  }
HEDDLE_ATOMIC(8)
HEDDLE_ATOMIC(16)
HEDDLE_ATOMIC(32)
HEDDLE_ATOMIC(64)
HEDDLE_ATOMIC(128)

HEDDLE_EXPORT void __tsan_atomic_thread_fence(int order) {
  __sync_synchronize();
  heddle::hostwatch::tell_fence(order);
}
HEDDLE_EXPORT void __tsan_atomic_signal_fence(int) {}
