// atom and red: one read-modify-write of one lane, and the loop over a warp.
//
// Implements PTX ISA 9.0, 9.7.13.5 (atom) and 9.7.13.6 (red). Update functions are plain functions
// new = f(old, operand) over the bits of one element. On global memory (and generic addresses,
// which may lead there) an update is a real atomic operation of the host, because other workers and
// host threads take part; the shared memory of a cluster is touched by one worker at a time. All
// are sequentially consistent, so an outcome that only a weaker order allows is never seen.
//
// atom.add.f32 keeps subnormal numbers in shared memory and flushes them in global memory, as PTX
// says of the hardware.
#pragma once

#include "isa/ops_memory.h"

#include <algorithm>

namespace heddle::isa {

namespace ops {

template <class T> T atomic_add(T old, T b) {
  return static_cast<T>(old + b);
}
template <class T> T atomic_and(T old, T b) {
  return old & b;
}
template <class T> T atomic_or(T old, T b) {
  return old | b;
}
template <class T> T atomic_xor(T old, T b) {
  return old ^ b;
}
template <class T> T atomic_exch(T, T b) {
  return b;
}
/// Counts up to b, then starts at 0 again.
inline std::uint32_t atomic_inc(std::uint32_t old, std::uint32_t b) {
  return old >= b ? 0 : old + 1;
}
/// Counts down to 0, then starts at b again.
inline std::uint32_t atomic_dec(std::uint32_t old, std::uint32_t b) {
  return old == 0 || old > b ? b : old - 1;
}
/// Bits are compared as Ss (signed or unsigned).
template <class T, class Ss> T atomic_min(T old, T b) {
  return static_cast<Ss>(b) < static_cast<Ss>(old) ? b : old;
}
template <class T, class Ss> T atomic_max(T old, T b) {
  return static_cast<Ss>(b) > static_cast<Ss>(old) ? b : old;
}

/// NVIDIA's NaN for f32 results.
inline std::uint32_t add_f32_bits(std::uint32_t a, std::uint32_t b) {
  const float sum = std::bit_cast<float>(a) + std::bit_cast<float>(b);
  return sum != sum ? 0x7fff'ffffU : std::bit_cast<std::uint32_t>(sum);
}
inline std::uint32_t flush_f32_bits(std::uint32_t a) {
  return (a & 0x7f80'0000U) == 0 ? a & 0x8000'0000U : a;
}
inline std::uint32_t atomic_add_f32(std::uint32_t old, std::uint32_t b) {
  return add_f32_bits(old, b);
}
inline std::uint32_t atomic_add_f32_ftz(std::uint32_t old, std::uint32_t b) {
  return flush_f32_bits(add_f32_bits(flush_f32_bits(old), flush_f32_bits(b)));
}
inline std::uint64_t atomic_add_f64(std::uint64_t old, std::uint64_t b) {
  const double sum = std::bit_cast<double>(old) + std::bit_cast<double>(b);
  return sum != sum ? 0x7fff'ffff'ffff'ffffULL : std::bit_cast<std::uint64_t>(sum);
}

/// *p = F(*p, b) as one step with respect to every thread of the process; returns the old value.
template <class T, auto F> T update_atomically(std::byte* p, T b) {
  if constexpr (sizeof(T) == 16) {
    auto* cell = reinterpret_cast<T*>(p);
    T old = strong_load<T>(p);
    for (;;) {
      const T seen = __sync_val_compare_and_swap(cell, old, F(old, b)); // cmpxchg16b
      if (seen == old) {
        return old;
      }
      old = seen;
    }
  } else {
    auto* cell = reinterpret_cast<T*>(p);
    if constexpr (F == static_cast<T (*)(T, T)>(atomic_add<T>)) {
      return __atomic_fetch_add(cell, b, __ATOMIC_SEQ_CST);
    } else if constexpr (F == static_cast<T (*)(T, T)>(atomic_and<T>)) {
      return __atomic_fetch_and(cell, b, __ATOMIC_SEQ_CST);
    } else if constexpr (F == static_cast<T (*)(T, T)>(atomic_or<T>)) {
      return __atomic_fetch_or(cell, b, __ATOMIC_SEQ_CST);
    } else if constexpr (F == static_cast<T (*)(T, T)>(atomic_xor<T>)) {
      return __atomic_fetch_xor(cell, b, __ATOMIC_SEQ_CST);
    } else if constexpr (F == static_cast<T (*)(T, T)>(atomic_exch<T>)) {
      return __atomic_exchange_n(cell, b, __ATOMIC_SEQ_CST);
    } else {
      T old = __atomic_load_n(cell, __ATOMIC_SEQ_CST);
      while (!__atomic_compare_exchange_n(
          cell,
          &old,
          F(old, b),
          /*weak=*/true,
          __ATOMIC_SEQ_CST,
          __ATOMIC_SEQ_CST
      )) {
      }
      return old;
    }
  }
}
/// The same where no other worker can look.
template <class T, auto F> T update_alone(std::byte* p, T b) {
  const T old = weak_load<T>(p);
  weak_store<T>(p, F(old, b));
  return old;
}

/// If *p == expected then *p = desired; returns the old value.
template <class T> T compare_and_swap(std::byte* p, T expected, T desired) {
  auto* cell = reinterpret_cast<T*>(p);
  if constexpr (sizeof(T) == 16) {
    return __sync_val_compare_and_swap(cell, expected, desired);
  } else {
    __atomic_compare_exchange_n(
        cell,
        &expected,
        desired,
        /*weak=*/false,
        __ATOMIC_SEQ_CST,
        __ATOMIC_SEQ_CST
    );
    return expected;
  }
}

} // namespace ops

// --- Handlers
// ------------------------------------------------------------------------------------------

/// atom and red with one operand: op.b; op.d (none for red) gets the old value. T: unsigned type of
/// the element's size. F: on global memory and generic addresses; Shared: on shared memory.
template <Space S, class T, auto F, auto InShared = F> const Op* atomic(Exec& exec, const Op& op) {
  static_assert(S == Space::Generic || S == Space::Shared);
  std::uint64_t address[warp_size];
  addresses<S>(exec, op, address);
  T* d = op.d.none() ? nullptr : exec.out<T>(op.d);
  const T* b = exec.in<T>(op.b);
  for (LaneMask m = exec.mask(); m != 0; m &= m - 1) {
    const int lane = std::countr_zero(m);
    std::byte* p = host<S>(exec, op, lane, address[lane], sizeof(T), /*store=*/true);
    if (p == nullptr) [[unlikely]] {
      return access_fault(exec, op);
    }
    T old;
    if constexpr (S == Space::Shared) {
      old = ops::update_alone<T, InShared>(p, b[lane]);
    } else if (F != InShared && in_window(address[lane])) {
      old = ops::update_alone<T, InShared>(p, b[lane]);
    } else {
      old = ops::update_atomically<T, F>(p, b[lane]);
    }
    if (d != nullptr) {
      d[lane] = old;
    }
  }
  return op.d.none() ? &op + 1 : after_poll(exec, op);
}

/// atom.cas: op.b is expected, op.c desired.
template <Space S, class T> const Op* atomic_cas(Exec& exec, const Op& op) {
  std::uint64_t address[warp_size];
  addresses<S>(exec, op, address);
  T* d = op.d.none() ? nullptr : exec.out<T>(op.d);
  const T* b = exec.in<T>(op.b);
  const T* c = exec.in<T>(op.c);
  for (LaneMask m = exec.mask(); m != 0; m &= m - 1) {
    const int lane = std::countr_zero(m);
    std::byte* p = host<S>(exec, op, lane, address[lane], sizeof(T), /*store=*/true);
    if (p == nullptr) [[unlikely]] {
      return access_fault(exec, op);
    }
    const T old = ops::compare_and_swap<T>(p, b[lane], c[lane]);
    if (d != nullptr) {
      d[lane] = old;
    }
  }
  return after_poll(exec, op);
}

/// The vector forms: op.count operands from op.list, then (atom) op.count destinations. Each
/// element is an atomic update of its own.
template <Space S, class T, auto F, auto InShared = F>
const Op* atomic_vector(Exec& exec, const Op& op) {
  std::uint64_t address[warp_size];
  addresses<S>(exec, op, address);
  const Ref* refs = exec.code().refs.data() + op.list;
  const bool returns = op.imm2 >> 8 != 0;
  const auto bytes = static_cast<std::uint32_t>(op.count * sizeof(T));
  for (LaneMask m = exec.mask(); m != 0; m &= m - 1) {
    const int lane = std::countr_zero(m);
    std::byte* p = host<S>(exec, op, lane, address[lane], bytes, /*store=*/true);
    if (p == nullptr) [[unlikely]] {
      return access_fault(exec, op);
    }
    for (int k = 0; k < op.count; ++k, p += sizeof(T)) {
      const T old = ops::update_atomically<T, F>(p, exec.in<T>(refs[k])[lane]);
      if (returns && !refs[op.count + k].none()) {
        exec.out<T>(refs[op.count + k])[lane] = old;
      }
    }
  }
  return returns ? after_poll(exec, op) : &op + 1;
}

} // namespace heddle::isa
