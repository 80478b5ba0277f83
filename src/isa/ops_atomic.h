// atom and red: one read-modify-write of one lane, and the loop over a warp.
//
// Implements PTX ISA 9.0, 9.7.13.5 (atom) and 9.7.13.6 (red). Update functions are plain functions
// new = f(old, operand) over the bits of one element. On global memory (and generic addresses,
// which may lead there) an update is a real atomic operation of the host, because other workers and
// host threads take part; the shared memory of a cluster is touched by one worker at a time. All
// are sequentially consistent, so an outcome that only a weaker order allows is never seen.
//
// atom.add.f32 keeps subnormal numbers in shared memory and flushes them in global memory, as PTX
// says of the hardware; generic addresses do as the memory that they lead to.
#pragma once

#include "isa/ops_half.h"
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
template <class T> T atomic_inc(T old, T b) {
  return old >= b ? 0 : old + 1;
}
/// Counts down to 0, then starts at b again.
template <class T> T atomic_dec(T old, T b) {
  return old == 0 || old > b ? b : old - 1;
}
/// Bits are compared as Ss (signed or unsigned).
template <class T, class Ss> T atomic_min(T old, T b) {
  return static_cast<Ss>(b) < static_cast<Ss>(old) ? b : old;
}
template <class T, class Ss> T atomic_max(T old, T b) {
  return static_cast<Ss>(b) > static_cast<Ss>(old) ? b : old;
}

template <bool Ftz> std::uint32_t atomic_add_f32(std::uint32_t old, std::uint32_t b) {
  return bits(float_add<float, Round::Nearest, Ftz>(from_bits<float>(old), from_bits<float>(b)));
}
/// In shared memory the arithmetic is that of add.f64 b, old ...
inline std::uint64_t atomic_add_f64(std::uint64_t old, std::uint64_t b) {
  return bits(float_add<double>(from_bits<double>(b), from_bits<double>(old)));
}
/// ... in global memory a NaN comes out as it went in, not made quiet (seen on an H200).
inline std::uint64_t atomic_add_f64_global(std::uint64_t old, std::uint64_t b) {
  for (const std::uint64_t operand : {b, old}) {
    if (std::isnan(from_bits<double>(operand))) {
      return operand;
    }
  }
  return atomic_add_f64(old, b);
}

/// H: Half or Bfloat.
template <class H> std::uint16_t atomic_add_half(std::uint16_t old, std::uint16_t b) {
  return half_add<H>({old}, {b}).word;
}
/// One NaN loses against a number, two give the canonical one.
template <class H> std::uint16_t atomic_min_half(std::uint16_t old, std::uint16_t b) {
  return half_extremum<H, /*Max=*/false>({old}, {b}).word;
}
template <class H> std::uint16_t atomic_max_half(std::uint16_t old, std::uint16_t b) {
  return half_extremum<H, /*Max=*/true>({old}, {b}).word;
}
/// F on both halves. PTX promises atomicity of each half only; here the word changes as a whole.
template <auto F> std::uint32_t atomic_pair(std::uint32_t old, std::uint32_t b) {
  const auto low = F(static_cast<std::uint16_t>(old), static_cast<std::uint16_t>(b));
  const auto high = F(static_cast<std::uint16_t>(old >> 16), static_cast<std::uint16_t>(b >> 16));
  return static_cast<std::uint32_t>(low) | static_cast<std::uint32_t>(high) << 16;
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

/// The same where no other worker can look.
template <class T> T compare_and_swap_alone(std::byte* p, T expected, T desired) {
  const T old = weak_load<T>(p);
  if (old == expected) {
    weak_store<T>(p, desired);
  }
  return old;
}

} // namespace ops

} // namespace heddle::isa

#if defined(HEDDLE_REGION_HANDLERS)
#include "isa/ops_atomic_region.h"
#else

namespace heddle::isa {

// --- Handlers

/// Calls access(lane, host pointer, alone) for each executing lane, lowest first, like each_access;
/// `alone`: nobody else can be about to read or write that place.
template <Space S, class F>
bool each_update(
    Exec& exec,
    const Op& op,
    const std::uint64_t (&address)[warp_size],
    std::uint32_t bytes,
    F access
) {
  const memory::Range range = range_at_hand<S>(exec);
  const bool alone = S == Space::Shared || exec.is_alone_with(range);
  const LaneMask mask = exec.mask();
  std::uint64_t executing[warp_size];
  const std::uint64_t some = address[std::countr_zero(mask)];
  for (int lane = 0; lane < warp_size; ++lane) {
    executing[lane] = (mask >> lane & 1) != 0 ? address[lane] : some;
  }
  if (all_in(range, executing, bytes, /*store=*/true)) {
    const auto each = [&]<bool Alone>() {
      exec.each([&](int lane) {
        const std::uint64_t at = executing[lane] + static_cast<std::uint64_t>(range.delta);
        access.template operator()<Alone>(lane, reinterpret_cast<std::byte*>(at));
      });
    };
    alone ? each.template operator()<true>() : each.template operator()<false>();
    return true;
  }
  return each_access<S>(exec, op, address, bytes, /*store=*/true, [&](int lane, std::byte* p) {
    // What the access has found is the last range now.
    const memory::Range& last = exec.last_range();
    const bool own =
        S == Space::Shared || (exec.is_alone_with(last) && address[lane] - last.base < last.size);
    own ? access.template operator()<true>(lane, p) : access.template operator()<false>(lane, p);
  });
}

/// All 32 lanes update one and the same place: it changes once, by all of them in their order. That
/// is one of the orders that they may have, and nobody can tell it from the others.
template <class T, auto F, bool Alone> void update_by_all(std::byte* p, const T* b, T* d) {
  T before[warp_size]; // d may be the register of b
  T old = Alone ? ops::weak_load<T>(p) : ops::strong_load<T>(p);
  for (;;) {
    T value = old;
    for (int lane = 0; lane < warp_size; ++lane) {
      before[lane] = value;
      value = F(value, b[lane]);
    }
    if constexpr (Alone) {
      ops::weak_store<T>(p, value);
      break;
    } else {
      const T seen = ops::compare_and_swap<T>(p, old, value);
      if (seen == old) {
        break;
      }
      old = seen;
    }
  }
  if (d != nullptr) {
    std::ranges::copy(before, d);
  }
}

/// atom and red with one operand: op.b; op.d (none for red) gets the old value. T: unsigned type of
/// the element's size. F: on global memory and generic addresses; Shared: on shared memory.
template <Space S, class T, auto F, auto InShared = F> const Op* atomic(Exec& exec, const Op& op) {
  static_assert(S == Space::Generic || S == Space::Shared);
  std::uint64_t address[warp_size];
  addresses<S>(exec, op, address);
  T* d = op.d.none() ? nullptr : exec.out<T>(op.d);
  const T* b = exec.in<T>(op.b);
  if (exec.mask() == all_lanes &&
      pattern_of<S, /*Eights=*/false>(exec, op, address, sizeof(T)) == Pattern::Same) {
    // Not in a window, which is no range: there InShared counts.
    std::byte* p =
        host_in(range_at_hand<S>(exec), address[0], sizeof(T), sizeof(T), /*store=*/true);
    if (p != nullptr) {
      if constexpr (S == Space::Shared) {
        update_by_all<T, InShared, /*Alone=*/true>(p, b, d);
      } else if (exec.is_alone_with(range_at_hand<S>(exec))) {
        update_by_all<T, F, /*Alone=*/true>(p, b, d);
      } else {
        update_by_all<T, F, /*Alone=*/false>(p, b, d);
      }
      return op.d.none() ? &op + 1 : after_poll(exec, op);
    }
  }
  const auto update = [&]<bool Alone>(int lane, std::byte* p) {
    const T old = S == Space::Shared || (F != InShared && in_window(address[lane]))
                      ? ops::update_alone<T, InShared>(p, b[lane])
                  : Alone ? ops::update_alone<T, F>(p, b[lane])
                          : ops::update_atomically<T, F>(p, b[lane]);
    if (d != nullptr) {
      d[lane] = old;
    }
  };
  if (!each_update<S>(exec, op, address, sizeof(T), update)) {
    return access_fault(exec, op);
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
  const auto swap = [&]<bool Alone>(int lane, std::byte* p) {
    const T old = Alone ? ops::compare_and_swap_alone<T>(p, b[lane], c[lane])
                        : ops::compare_and_swap<T>(p, b[lane], c[lane]);
    if (d != nullptr) {
      d[lane] = old;
    }
  };
  if (!each_update<S>(exec, op, address, sizeof(T), swap)) {
    return access_fault(exec, op);
  }
  return after_poll(exec, op);
}

/// The vector forms: op.count registers from op.list, which are the operands and (atom) as many
/// destinations. Each element is an atomic update of its own.
template <Space S, class T, auto F, auto InShared = F>
const Op* atomic_vector(Exec& exec, const Op& op) {
  std::uint64_t address[warp_size];
  addresses<S>(exec, op, address);
  const Ref* refs = exec.code().refs.data() + op.list;
  const bool returns = op.imm2 >> 8 != 0;
  const int elements = returns ? op.count / 2 : op.count;
  const auto bytes = static_cast<std::uint32_t>(elements * sizeof(T));
  for (LaneMask m = exec.mask(); m != 0; m &= m - 1) {
    const int lane = std::countr_zero(m);
    std::byte* p = host<S>(exec, op, lane, address[lane], bytes, /*store=*/true);
    if (p == nullptr) [[unlikely]] {
      return access_fault(exec, op);
    }
    for (int k = 0; k < elements; ++k, p += sizeof(T)) {
      const T old = ops::update_atomically<T, F>(p, exec.in<T>(refs[k])[lane]);
      if (returns && !refs[elements + k].none()) {
        exec.out<T>(refs[elements + k])[lane] = old;
      }
    }
  }
  return returns ? after_poll(exec, op) : &op + 1;
}

} // namespace heddle::isa

#endif
