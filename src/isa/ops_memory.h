// ld and st: one element of memory to or from one register of one lane, and the loops over a warp.
//
// Implements PTX ISA 9.0, 9.7.9.8 (ld), 9.7.9.9 (ld.global.nc), 9.7.9.10 (ldu), 9.7.9.11 (st),
// and 9.4 (registers wider than the type: loads extend by the type's sign, stores take the low
// bits). A strong access (volatile, relaxed, acquire, release, mmio) is a real atomic access of its
// size on the host, 16 bytes included, because other workers and host threads may look at the same
// bytes; a vector is strong element by element. The orders weaker than the host's are not modelled:
// x86 gives acquire to every load and release to every store, so an outcome that only a weaker
// order allows is never seen.
#pragma once

#include "isa/ops_address.h"
#include "isa/ops_integer.h"

#include <immintrin.h>

#include <algorithm>
#include <utility>

namespace heddle::isa {

/// A poll costs this many ops of fuel, so that a thread which waits for another soon gives way.
inline constexpr std::uint32_t poll_cost = 32;
/// Goes on behind `op`, at once or, when the fuel is used up, in the group's next turn.
inline const Op* after_poll(Exec& exec, const Op& op) {
  return exec.spend_on_poll(op, poll_cost) ? exec.stop_at(Stop::Fuel, &op + 1) : &op + 1;
}

namespace ops {

template <class M> M weak_load(const std::byte* p) {
  M value;
  std::memcpy(&value, p, sizeof value);
  return value;
}
template <class M> void weak_store(std::byte* p, M value) {
  std::memcpy(p, &value, sizeof value);
}

template <class M> M strong_load(const std::byte* p) {
  if constexpr (sizeof(M) == 16) {
    // Aligned 16-byte vector accesses are single accesses on every x86 with AVX.
    __m128i value;
    asm volatile("vmovdqa %1, %0"
                 : "=x"(value)
                 : "m"(*reinterpret_cast<const __m128i*>(p))
                 : "memory");
    M result;
    std::memcpy(&result, &value, sizeof result);
    return result;
  } else {
    return __atomic_load_n(reinterpret_cast<const M*>(p), __ATOMIC_ACQUIRE);
  }
}
template <class M> void strong_store(std::byte* p, M value) {
  if constexpr (sizeof(M) == 16) {
    __m128i bits;
    std::memcpy(&bits, &value, sizeof bits);
    asm volatile("vmovdqa %1, %0" : "=m"(*reinterpret_cast<__m128i*>(p)) : "x"(bits) : "memory");
  } else {
    __atomic_store_n(reinterpret_cast<M*>(p), value, __ATOMIC_RELEASE);
  }
}

/// What a register of type R holds after a load of an M: sign- or zero-extended as M is signed or
/// not.
template <class R, class M> R widen(M value) {
  return static_cast<R>(value);
}

} // namespace ops

} // namespace heddle::isa

#if defined(HEDDLE_REGION_HANDLERS)
#include "isa/ops_memory_region.h"
#else

namespace heddle::isa {

// --- Handlers
// ------------------------------------------------------------------------------------------ S:
// where; M: element in memory (signed: sign-extends); R: element of the register, at least as wide.

/// Accesses, if all executing lanes access their own local memory by generic addresses.
template <class F>
bool each_on_stack(
    Exec& exec,
    const std::uint64_t (&address)[warp_size],
    std::uint32_t bytes,
    F access
) {
  const std::uint64_t size = exec.warp().local_bytes;
  const int first = std::countr_zero(exec.mask());
  if (address[first] - memory::local_window >= size || bytes > size || exec.is_watched()) {
    return false;
  }
  const std::uint64_t last = size - bytes;
  bool fits = true;
  exec.each([&](int lane) {
    fits =
        fits && address[lane] - memory::local_window <= last && (address[lane] & (bytes - 1)) == 0;
  });
  if (fits) {
    std::byte* local = exec.warp().local;
    const std::uint64_t stride = exec.warp().local_stride;
    exec.each([&](int lane) {
      const std::uint64_t offset = address[lane] - memory::local_window;
      access(lane, local + static_cast<std::uint64_t>(lane) * stride + offset);
    });
  }
  return fits;
}

/// Calls access(lane, host pointer) for each executing lane, lowest first. False: fault() is filled
/// in.
template <Space S, class F>
bool each_access(
    Exec& exec,
    const Op& op,
    const std::uint64_t (&address)[warp_size],
    std::uint32_t bytes,
    bool store,
    F access
) {
  if constexpr (S == Space::Generic || S == Space::Shared) {
    if (exec.mask() == all_lanes) {
      const memory::Range range = range_at_hand<S>(exec);
      if (all_in(range, address, bytes, store)) {
        for (int lane = 0; lane < warp_size; ++lane) {
          access(
              lane,
              reinterpret_cast<std::byte*>(address[lane] + static_cast<std::uint64_t>(range.delta))
          );
        }
        return true;
      }
    }
  } else if constexpr (S == Space::Local) {
    if (pattern(&address[0], std::uint64_t{0}) ==
        Pattern::Consecutive) { // all the same: lanes differ by their stride
      const int first = std::countr_zero(exec.mask());
      std::byte* p = host<S>(exec, op, first, address[first], bytes, store);
      if (p == nullptr) {
        return false;
      }
      const auto stride = static_cast<std::ptrdiff_t>(exec.warp().local_stride);
      exec.each([&](int lane) { access(lane, p + (lane - first) * stride); });
      return true;
    }
  }
  if constexpr (S == Space::Generic) {
    if ((op.imm2 & NoWindow) == 0 && each_on_stack(exec, address, bytes, access)) {
      return true;
    }
  }
  for (LaneMask m = exec.mask(); m != 0; m &= m - 1) {
    const int lane = std::countr_zero(m);
    std::byte* p = host<S>(exec, op, lane, address[lane], bytes, store);
    if (p == nullptr) [[unlikely]] {
      return false;
    }
    access(lane, p);
  }
  return true;
}

/// Elements of neighbouring lanes that lie next to each other.
template <class M, int lanes, class R> void load_row(const std::byte* from, R* d) {
  if constexpr (sizeof(M) == sizeof(R)) {
    std::memcpy(d, from, lanes * sizeof(R));
  } else {
    M value[lanes];
    std::memcpy(value, from, sizeof value);
    for (int lane = 0; lane < lanes; ++lane) {
      d[lane] = ops::widen<R>(value[lane]);
    }
  }
}

/// ld of one element: op.d.
template <Space S, class M, class R> const Op* load(Exec& exec, const Op& op) {
  R* d = exec.out<R>(op.d);
  if constexpr (S == Space::Param) {
    if (op.a.none()) {
      const std::byte* p = exec.translate_param(
          std::countr_zero(exec.mask()),
          static_cast<std::uint64_t>(op.imm),
          sizeof(M)
      );
      if (p == nullptr) {
        return access_fault(exec, op);
      }
      const R value = ops::widen<R>(ops::weak_load<M>(p));
      exec.each([&](int lane) { d[lane] = value; });
      return &op + 1;
    }
  }
  std::uint64_t address[warp_size];
  addresses<S>(exec, op, address);
  if constexpr (S == Space::Generic || S == Space::Shared) {
    if (exec.mask() == all_lanes) {
      const memory::Range range = range_at_hand<S>(exec);
      const Pattern p = pattern_of<S, /*Eights=*/false>(exec, op, address, sizeof(M));
      if (p == Pattern::Consecutive) {
        if (const std::byte* from =
                host_in(range, address[0], warp_size * sizeof(M), sizeof(M), /*store=*/false)) {
          load_row<M, warp_size>(from, d);
          return &op + 1;
        }
      } else if (p == Pattern::Same) {
        if (const std::byte* from =
                host_in(range, address[0], sizeof(M), sizeof(M), /*store=*/false)) {
          const R value = ops::widen<R>(ops::weak_load<M>(from));
          for (int lane = 0; lane < warp_size; ++lane) {
            d[lane] = value;
          }
          return &op + 1;
        }
      } else {
        constexpr int rows = warp_size / pattern_lanes;
        const Pattern row = pattern_of<S, /*Eights=*/true>(exec, op, address, sizeof(M));
        std::byte* from[rows];
        if (row == Pattern::Consecutive && eights_in(
                                               range,
                                               address,
                                               pattern_lanes * sizeof(M),
                                               sizeof(M),
                                               /*store=*/false,
                                               from
                                           )) {
          for (int n = 0; n < rows; ++n) {
            load_row<M, pattern_lanes>(from[n], d + n * pattern_lanes);
          }
          return &op + 1;
        }
        if (row == Pattern::Same &&
            eights_in(range, address, sizeof(M), sizeof(M), /*store=*/false, from)) {
          for (int n = 0; n < rows; ++n) {
            const R value = ops::widen<R>(ops::weak_load<M>(from[n]));
            for (int lane = 0; lane < pattern_lanes; ++lane) {
              d[n * pattern_lanes + lane] = value;
            }
          }
          return &op + 1;
        }
      }
    }
  }
  const bool done = each_access<S>(
      exec,
      op,
      address,
      sizeof(M),
      /*store=*/false,
      [&](int lane, const std::byte* p) { d[lane] = ops::widen<R>(ops::weak_load<M>(p)); }
  );
  return done ? &op + 1 : access_fault(exec, op);
}

/// ld.v2, .v4, .v8, and strong loads of one: op.count registers from op.list, any of which may be
/// none (`_`).
template <Space S, class M, class R, bool Strong> const Op* load_vector(Exec& exec, const Op& op) {
  std::uint64_t address[warp_size];
  addresses<S>(exec, op, address);
  R* d[8];
  const Ref* refs = exec.refs(op);
  for (int k = 0; k < op.count; ++k) {
    d[k] = refs[k].none() ? nullptr : exec.out<R>(refs[k]);
  }
  const auto bytes = static_cast<std::uint32_t>(op.count * sizeof(M));
  const auto access = [&](int lane, const std::byte* p) {
    for (int k = 0; k < op.count; ++k, p += sizeof(M)) {
      if (d[k] != nullptr) {
        d[k][lane] = ops::widen<R>(Strong ? ops::strong_load<M>(p) : ops::weak_load<M>(p));
      }
    }
  };
  if (!each_access<S>(exec, op, address, bytes, /*store=*/false, access)) {
    return access_fault(exec, op);
  }
  if constexpr (Strong) {
    return after_poll(exec, op);
  } else {
    return &op + 1;
  }
}

/// The common ones of these, unrolled: N weak elements of the registers' size, all wanted.
template <Space S, class M, int N> const Op* load_elements(Exec& exec, const Op& op) {
  std::uint64_t address[warp_size];
  addresses<S>(exec, op, address);
  M* d[N];
  for (int k = 0; k < N; ++k) {
    d[k] = exec.out<M>(exec.refs(op)[k]);
  }
  if constexpr (S == Space::Generic || S == Space::Shared) {
    if (exec.mask() == all_lanes) {
      const memory::Range range = range_at_hand<S>(exec);
      const Pattern p = pattern_of<S, /*Eights=*/false>(exec, op, address, N * sizeof(M));
      if (p == Pattern::Same) {
        if (const std::byte* from =
                host_in(range, address[0], N * sizeof(M), N * sizeof(M), /*store=*/false)) {
          M value[N];
          std::memcpy(value, from, sizeof value);
          for (int k = 0; k < N; ++k) {
            for (int lane = 0; lane < warp_size; ++lane) {
              d[k][lane] = value[k];
            }
          }
          return &op + 1;
        }
      } else if (p == Pattern::Consecutive) {
        if (const std::byte* from = host_in(
                range,
                address[0],
                warp_size * N * sizeof(M),
                N * sizeof(M),
                /*store=*/false
            )) {
          M value[warp_size * N];
          std::memcpy(value, from, sizeof value);
          for (int k = 0; k < N; ++k) {
            for (int lane = 0; lane < warp_size; ++lane) {
              d[k][lane] = value[lane * N + k];
            }
          }
          return &op + 1;
        }
      }
    }
  }
  return [&]<std::size_t... K>(std::index_sequence<K...>) {
    const bool done = each_access<S>(
        exec,
        op,
        address,
        N * sizeof(M),
        /*store=*/false,
        [&](int lane, const std::byte* p) {
          ((d[K][lane] = ops::weak_load<M>(p + K * sizeof(M))), ...);
        }
    );
    return done ? &op + 1 : access_fault(exec, op);
  }(std::make_index_sequence<N>{});
}

/// st of one element: op.b.
template <Space S, class M, class R> const Op* store(Exec& exec, const Op& op) {
  const R* b = exec.in<R>(op.b);
  std::uint64_t address[warp_size];
  addresses<S>(exec, op, address);
  if constexpr (S == Space::Generic || S == Space::Shared) {
    if (exec.mask() == all_lanes) {
      const memory::Range range = range_at_hand<S>(exec);
      if (pattern_of<S, /*Eights=*/false>(exec, op, address, sizeof(M)) == Pattern::Consecutive) {
        if (std::byte* to = host_in(
                range,
                address[0],
                warp_size * sizeof(M),
                sizeof(M),
                /*store=*/true
            )) {
          M value[warp_size];
          for (int lane = 0; lane < warp_size; ++lane) {
            value[lane] = static_cast<M>(b[lane]);
          }
          std::memcpy(to, value, sizeof value);
          return &op + 1;
        }
      } else if (
          pattern_of<S, /*Eights=*/true>(exec, op, address, sizeof(M)) == Pattern::Consecutive
      ) {
        constexpr std::uint64_t bytes = pattern_lanes * sizeof(M);
        std::byte* to[warp_size / pattern_lanes];
        if (eights_in(range, address, bytes, sizeof(M), /*store=*/true, to)) {
          for (int n = 0; n < warp_size / pattern_lanes; ++n) { // rows may overlap: lowest first
            M value[pattern_lanes];
            for (int lane = 0; lane < pattern_lanes; ++lane) {
              value[lane] = static_cast<M>(b[n * pattern_lanes + lane]);
            }
            std::memcpy(to[n], value, bytes);
          }
          return &op + 1;
        }
      }
    }
  }
  const bool done =
      each_access<S>(exec, op, address, sizeof(M), /*store=*/true, [&](int lane, std::byte* p) {
        ops::weak_store<M>(p, static_cast<M>(b[lane]));
      });
  return done ? &op + 1 : access_fault(exec, op);
}

/// st.v2, .v4, .v8, and strong stores of one: op.count registers from op.list.
template <Space S, class M, class R, bool Strong> const Op* store_vector(Exec& exec, const Op& op) {
  std::uint64_t address[warp_size];
  addresses<S>(exec, op, address);
  const R* b[8];
  const Ref* refs = exec.refs(op);
  for (int k = 0; k < op.count; ++k) {
    b[k] = exec.in<R>(refs[k]);
  }
  const auto bytes = static_cast<std::uint32_t>(op.count * sizeof(M));
  const auto access = [&](int lane, std::byte* p) {
    for (int k = 0; k < op.count; ++k, p += sizeof(M)) {
      const M value = static_cast<M>(b[k][lane]);
      if constexpr (Strong) {
        ops::strong_store<M>(p, value);
      } else {
        ops::weak_store<M>(p, value);
      }
    }
  };
  return each_access<S>(exec, op, address, bytes, /*store=*/true, access) ? &op + 1
                                                                          : access_fault(exec, op);
}

/// The common ones of these, unrolled: N weak elements of the registers' size.
template <Space S, class M, int N> const Op* store_elements(Exec& exec, const Op& op) {
  std::uint64_t address[warp_size];
  addresses<S>(exec, op, address);
  const Ref* refs = exec.refs(op);
  return [&]<std::size_t... K>(std::index_sequence<K...>) {
    const M* b[N] = {exec.in<M>(refs[K])...};
    const bool done = each_access<S>(
        exec,
        op,
        address,
        N * sizeof(M),
        /*store=*/true,
        [&](int lane, std::byte* p) { (ops::weak_store<M>(p + K * sizeof(M), b[K][lane]), ...); }
    );
    return done ? &op + 1 : access_fault(exec, op);
  }(std::make_index_sequence<N>{});
}

} // namespace heddle::isa

#endif
