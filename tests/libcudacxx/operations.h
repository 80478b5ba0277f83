// Every operation of cuda::atomic and cuda::atomic_ref with every memory order, checked by one thread.
// The functions are the same on host and device; what differs between types is in Traits.
#pragma once

#include "tally.h"

#include <cuda/atomic>

/// Small structures: compared by value, exchanged as a whole. They are aligned to their size because
/// libcu++ reads the expected value of a compare-exchange as one word, wherever the caller has it.
struct alignas(2) Pair16 {
  char a, b;
  __host__ __device__ bool operator==(const Pair16& o) const { return a == o.a && b == o.b; }
};
struct alignas(4) Pair32 {
  short a, b;
  __host__ __device__ bool operator==(const Pair32& o) const { return a == o.a && b == o.b; }
};
struct alignas(8) Pair64 {
  int a;
  float b;
  __host__ __device__ bool operator==(const Pair64& o) const { return a == o.a && b == o.b; }
};

enum class Kind { Integer, Floating, Pointer, Other };

template <class T> struct Traits {
  static constexpr Kind kind = Kind::Integer;
  __host__ __device__ static T make(int n) { return static_cast<T>(n * 37 + 5); }
};
template <> struct Traits<bool> {
  static constexpr Kind kind = Kind::Other;
  __host__ __device__ static bool make(int n) { return n % 2; }
};
template <> struct Traits<float> {
  static constexpr Kind kind = Kind::Floating;
  __host__ __device__ static float make(int n) { return n * 0.5f + 1; }
};
template <> struct Traits<double> {
  static constexpr Kind kind = Kind::Floating;
  __host__ __device__ static double make(int n) { return n * 0.25 - 3; }
};
template <class P> struct Traits<P*> {
  static constexpr Kind kind = Kind::Pointer;
  __host__ __device__ static P* make(int n) { return reinterpret_cast<P*>(0x1000ull + n * sizeof(P)); }
};
template <> struct Traits<Pair16> {
  static constexpr Kind kind = Kind::Other;
  __host__ __device__ static Pair16 make(int n) { return {static_cast<char>(n), static_cast<char>(n * 3)}; }
};
template <> struct Traits<Pair32> {
  static constexpr Kind kind = Kind::Other;
  __host__ __device__ static Pair32 make(int n) { return {static_cast<short>(n), static_cast<short>(-n)}; }
};
template <> struct Traits<Pair64> {
  static constexpr Kind kind = Kind::Other;
  __host__ __device__ static Pair64 make(int n) { return {n, n * 0.5f}; }
};

using cuda::std::memory_order;
constexpr memory_order relaxed = cuda::std::memory_order_relaxed, consume = cuda::std::memory_order_consume,
                       acquire = cuda::std::memory_order_acquire, release = cuda::std::memory_order_release,
                       acq_rel = cuda::std::memory_order_acq_rel, seq_cst = cuda::std::memory_order_seq_cst;

__host__ __device__ inline memory_order any_order(int i) {
  constexpr memory_order orders[] = {relaxed, consume, acquire, release, acq_rel, seq_cst};
  return orders[i];
}
__host__ __device__ inline memory_order load_order(int i) {
  constexpr memory_order orders[] = {relaxed, consume, acquire, seq_cst};
  return orders[i];
}
__host__ __device__ inline memory_order store_order(int i) {
  constexpr memory_order orders[] = {relaxed, release, seq_cst};
  return orders[i];
}
constexpr int any_orders = 6, load_orders = 4, store_orders = 3;

/// What every type has.
template <class T, class A> __host__ __device__ void check_common(A& a, Tally& tally) {
  using Values = Traits<T>;
  const T x = Values::make(1), y = Values::make(2), z = Values::make(4);
  for (int i = 0; i < load_orders; ++i) {
    a.store(y);
    CHECK_STEP(i, a.load(load_order(i)) == y);
  }
  for (int i = 0; i < store_orders; ++i) {
    a.store(x, store_order(i));
    CHECK_STEP(i, a.load() == x);
  }
  for (int i = 0; i < any_orders; ++i) {
    a.store(x);
    CHECK_STEP(i, a.exchange(y, any_order(i)) == x);
    CHECK_STEP(i, a.load() == y);
    // The forms with one order; the failure order follows from it.
    T expected = y;
    CHECK_STEP(i, a.compare_exchange_strong(expected, x, any_order(i)));
    CHECK_STEP(i, a.load() == x && expected == y);
    expected = y;
    CHECK_STEP(i, !a.compare_exchange_strong(expected, z, any_order(i)));
    CHECK_STEP(i, expected == x && a.load() == x);
    expected = x;
    while (!a.compare_exchange_weak(expected, y, any_order(i))) { // may fail without a reason
    }
    CHECK_STEP(i, a.load() == y);
    expected = x;
    CHECK_STEP(i, !a.compare_exchange_weak(expected, z, any_order(i)));
    CHECK_STEP(i, expected == y);
    for (int j = 0; j < load_orders; ++j) {
      a.store(x);
      expected = x;
      CHECK_STEP(i * 10 + j, a.compare_exchange_strong(expected, y, any_order(i), load_order(j)));
      CHECK_STEP(i * 10 + j, !a.compare_exchange_strong(expected, z, any_order(i), load_order(j)));
      CHECK_STEP(i * 10 + j, expected == y && a.load() == y);
      while (!a.compare_exchange_weak(expected, x, any_order(i), load_order(j))) {
      }
      CHECK_STEP(i * 10 + j, a.load() == x);
    }
  }
  a = z;
  CHECK(static_cast<T>(a) == z);
  CHECK(a.is_lock_free());
  CHECK(A::is_always_lock_free);
  // Waiting for a value that is not there any more does not block.
  for (int i = 0; i < load_orders; ++i) {
    a.wait(x, load_order(i));
  }
  a.notify_one();
  a.notify_all();
  CHECK(a.load() == z);
}

template <class T, class A> __host__ __device__ void check_integer(A& a, Tally& tally) {
  const T x = static_cast<T>(0x5a), y = static_cast<T>(0x33);
  const T lowest = cuda::std::numeric_limits<T>::min(), highest = cuda::std::numeric_limits<T>::max();
  for (int i = 0; i < any_orders; ++i) {
    memory_order order = any_order(i);
    a.store(x);
    CHECK_STEP(i, a.fetch_add(y, order) == x && a.load() == static_cast<T>(x + y));
    CHECK_STEP(i, a.fetch_sub(x, order) == static_cast<T>(x + y) && a.load() == y);
    CHECK_STEP(i, a.fetch_and(x, order) == y && a.load() == static_cast<T>(x & y));
    a.store(x);
    CHECK_STEP(i, a.fetch_or(y, order) == x && a.load() == static_cast<T>(x | y));
    a.store(x);
    CHECK_STEP(i, a.fetch_xor(y, order) == x && a.load() == static_cast<T>(x ^ y));
    a.store(x);
    CHECK_STEP(i, a.fetch_min(y, order) == x && a.load() == y);
    CHECK_STEP(i, a.fetch_min(x, order) == y && a.load() == y);
    CHECK_STEP(i, a.fetch_max(x, order) == y && a.load() == x);
    CHECK_STEP(i, a.fetch_max(y, order) == x && a.load() == x);
    // Arithmetic wraps around, and the sign decides minima and maxima.
    a.store(highest);
    CHECK_STEP(i, a.fetch_add(1, order) == highest && a.load() == lowest);
    CHECK_STEP(i, a.fetch_sub(1, order) == lowest && a.load() == highest);
    CHECK_STEP(i, a.fetch_min(lowest, order) == highest && a.load() == lowest);
    CHECK_STEP(i, a.fetch_max(static_cast<T>(-1), order) == lowest);
    CHECK_STEP(i, a.load() == static_cast<T>(-1));
  }
  a.store(x);
  CHECK(a++ == x && a.load() == static_cast<T>(x + 1));
  CHECK(++a == static_cast<T>(x + 2));
  CHECK(a-- == static_cast<T>(x + 2) && --a == x);
  CHECK((a += y) == static_cast<T>(x + y));
  CHECK((a -= y) == x);
  CHECK((a |= y) == static_cast<T>(x | y));
  CHECK((a &= y) == y);
  CHECK((a ^= x) == static_cast<T>(x ^ y));
}

template <class T, class A> __host__ __device__ void check_floating(A& a, Tally& tally) {
  for (int i = 0; i < any_orders; ++i) {
    memory_order order = any_order(i);
    a.store(T(1.5));
    CHECK_STEP(i, a.fetch_add(T(2.25), order) == T(1.5) && a.load() == T(3.75));
    CHECK_STEP(i, a.fetch_sub(T(0.5), order) == T(3.75) && a.load() == T(3.25));
  }
  CHECK((a += T(1)) == T(4.25));
  CHECK((a -= T(4)) == T(0.25));
  // Operations compare representations: zeros of different sign differ.
  a.store(T(0));
  T expected = -T(0);
  CHECK(!a.compare_exchange_strong(expected, T(1)));
}

template <class T, class A> __host__ __device__ void check_pointer(A& a, Tally& tally) {
  const T x = Traits<T>::make(10);
  for (int i = 0; i < any_orders; ++i) {
    memory_order order = any_order(i);
    a.store(x);
    CHECK_STEP(i, a.fetch_add(3, order) == x && a.load() == x + 3);
    CHECK_STEP(i, a.fetch_sub(5, order) == x + 3 && a.load() == x - 2);
  }
  a.store(x);
  CHECK(a++ == x && ++a == x + 2);
  CHECK(a-- == x + 2 && --a == x);
  CHECK((a += 4) == x + 4);
  CHECK((a -= 1) == x + 3);
}

/// Everything that the type offers. Not inlined: one copy serves objects in every kind of memory.
template <class T, class A> __host__ __device__ __noinline__ void check_operations(A& a, Tally& tally) {
  check_common<T>(a, tally);
  if constexpr (Traits<T>::kind == Kind::Integer) {
    check_integer<T>(a, tally);
  } else if constexpr (Traits<T>::kind == Kind::Floating) {
    check_floating<T>(a, tally);
  } else if constexpr (Traits<T>::kind == Kind::Pointer) {
    check_pointer<T>(a, tally);
  }
}

/// A cuda::atomic and a cuda::atomic_ref of T in scope `scope`, one after the other.
template <class T, cuda::thread_scope scope> struct Objects {
  alignas(8) cuda::atomic<T, scope> atomic;
  alignas(8) T plain;
  alignas(8) unsigned char guard[8]; // neighbours that narrow operations must leave alone

  __host__ __device__ void check(Tally& tally) {
    for (unsigned char& byte : guard) {
      byte = 0xa5;
    }
    check_operations<T>(atomic, tally);
    cuda::atomic_ref<T, scope> reference(plain);
    check_operations<T>(reference, tally);
    for (unsigned char byte : guard) {
      CHECK(byte == 0xa5);
    }
  }
};
