// Handlers from plain functions: unary<F, D, A>, binary<F, D, A, B>, ternary<…>, compare<…>.
//
//   op.execute = binary<ops::add<std::int32_t>, std::int32_t, std::int32_t, std::int32_t>;
//
// F is the instruction's one definition: a plain function over typed values of one thread. It must
// be total: when many lanes execute, it is computed for all 32 and the others' results are dropped.
// The loop over 32 lanes is written without aliasing between iterations so that the compiler
// vectorises it.
#pragma once

#include "isa/exec.h"
#include "isa/lane_count.h"

#if defined(__AVX2__)
#include <immintrin.h>
#endif

namespace heddle::isa {

/// From so many executing lanes on all 32 are computed.
inline constexpr int dense_lanes = 8;

/// Copies the 32 elements of `bytes` each from source to d, for the lanes of mask only.
template <std::size_t bytes> inline void store_lanes(void* d, const void* source, LaneMask mask) {
#if defined(HEDDLE_REGION_HANDLERS)
  std::byte mixed[bytes];
  for (std::size_t i = 0; i < bytes; ++i) {
    mixed[i] = static_cast<const std::byte*>((mask & 1) != 0 ? source : d)[i];
  }
  std::memcpy(d, mixed, bytes);
  return;
#elif defined(__AVX2__)
  if constexpr (bytes == 2 || bytes == 4 || bytes == 8) {
    constexpr unsigned lanes_at_once = 32 / bytes;
    for (unsigned lane = 0; lane < warp_size; lane += lanes_at_once) {
      // Each element gets all ones if its lane's bit is set.
      __m256i chosen;
      const LaneMask few = mask >> lane;
      if constexpr (bytes == 2) {
        const __m256i bit = _mm256_set_epi16(
            static_cast<short>(0x8000),
            0x4000,
            0x2000,
            0x1000,
            0x800,
            0x400,
            0x200,
            0x100,
            0x80,
            0x40,
            0x20,
            0x10,
            8,
            4,
            2,
            1
        );
        chosen = _mm256_set1_epi16(static_cast<short>(few));
        chosen = _mm256_cmpeq_epi16(_mm256_and_si256(chosen, bit), bit);
      } else if constexpr (bytes == 4) {
        const __m256i bit = _mm256_set_epi32(0x80, 0x40, 0x20, 0x10, 8, 4, 2, 1);
        chosen = _mm256_set1_epi32(static_cast<int>(few));
        chosen = _mm256_cmpeq_epi32(_mm256_and_si256(chosen, bit), bit);
      } else {
        const __m256i bit = _mm256_set_epi64x(8, 4, 2, 1);
        chosen = _mm256_set1_epi64x(static_cast<long long>(few));
        chosen = _mm256_cmpeq_epi64(_mm256_and_si256(chosen, bit), bit);
      }
      auto* to = reinterpret_cast<__m256i*>(static_cast<char*>(d) + lane * bytes);
      const auto* from =
          reinterpret_cast<const __m256i*>(static_cast<const char*>(source) + lane * bytes);
      __m256i mixed = _mm256_blendv_epi8(_mm256_loadu_si256(to), _mm256_loadu_si256(from), chosen);
      // Keeps the compiler from making this a masked store, which takes many cycles on some
      // processors.
      __asm__("" : "+x"(mixed));
      _mm256_storeu_si256(to, mixed);
    }
    return;
  }
#endif
  for (LaneMask m = mask; m != 0; m &= m - 1) {
    const auto at = static_cast<std::size_t>(std::countr_zero(m)) * bytes;
    std::memcpy(static_cast<char*>(d) + at, static_cast<const char*>(source) + at, bytes);
  }
}

/// d[lane] = f(lane) for the executing lanes.
template <class D, class F> inline void for_lanes(const Exec& exec, D* d, F&& f) {
  const LaneMask mask = exec.mask();
  if (mask != all_lanes && std::popcount(mask) < dense_lanes) {
    for (LaneMask m = mask; m != 0; m &= m - 1) {
      const int lane = std::countr_zero(m);
      d[lane] = f(lane);
    }
    return;
  }
  alignas(64) D result[lane_count];
  for (int lane = 0; lane < lane_count; ++lane) {
    result[lane] = f(lane);
  }
  if (mask == all_lanes) {
    std::memcpy(d, result, sizeof result);
  } else {
    store_lanes<sizeof(D)>(d, result, mask);
  }
}

template <auto F, class D, class A> const Op* unary(Exec& exec, const Op& op) {
  const A* a = exec.in<A>(op.a);
  for_lanes(exec, exec.out<D>(op.d), [a](int lane) -> D { return F(a[lane]); });
  return &op + 1;
}

template <auto F, class D, class A, class B> const Op* binary(Exec& exec, const Op& op) {
  const A* a = exec.in<A>(op.a);
  const B* b = exec.in<B>(op.b);
  for_lanes(exec, exec.out<D>(op.d), [a, b](int lane) -> D { return F(a[lane], b[lane]); });
  return &op + 1;
}

template <auto F, class D, class A, class B, class C> const Op* ternary(Exec& exec, const Op& op) {
  const A* a = exec.in<A>(op.a);
  const B* b = exec.in<B>(op.b);
  const C* c = exec.in<C>(op.c);
  for_lanes(exec, exec.out<D>(op.d), [a, b, c](int lane) -> D {
    return F(a[lane], b[lane], c[lane]);
  });
  return &op + 1;
}

template <auto F, class D, class A, class B, class C, class E>
const Op* quaternary(Exec& exec, const Op& op) {
  const A* a = exec.in<A>(op.a);
  const B* b = exec.in<B>(op.b);
  const C* c = exec.in<C>(op.c);
  const E* e = exec.in<E>(op.e);
  for_lanes(exec, exec.out<D>(op.d), [a, b, c, e](int lane) -> D {
    return F(a[lane], b[lane], c[lane], e[lane]);
  });
  return &op + 1;
}

/// Bit `lane` of the result is the sign bit of flags[lane].
inline LaneMask mask_of(const std::int32_t (&flags)[lane_count]) {
#if defined(__AVX2__) && !defined(HEDDLE_REGION_HANDLERS)
  LaneMask result = 0;
  for (int i = 0; i < lane_count; i += 8) {
    const __m256i eight = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(flags + i));
    result |= static_cast<LaneMask>(_mm256_movemask_ps(_mm256_castsi256_ps(eight))) << i;
  }
  return result;
#else
  LaneMask result = 0;
  for (int lane = 0; lane < lane_count; ++lane) {
    result |= (static_cast<LaneMask>(flags[lane]) >> 31) << lane;
  }
  return result;
#endif
}

/// Lanes for which F holds, as a mask; only the executing lanes' bits mean anything.
template <auto F, class... A> LaneMask lanes_where(LaneMask mask, const A*... a) {
  if (mask != all_lanes && std::popcount(mask) < dense_lanes) {
    LaneMask result = 0;
    for (LaneMask m = mask; m != 0; m &= m - 1) {
      const int lane = std::countr_zero(m);
      result |= static_cast<LaneMask>(F(a[lane]...)) << lane;
    }
    return result;
  }
  alignas(64) std::int32_t flags[lane_count];
  for (int lane = 0; lane < lane_count; ++lane) {
    flags[lane] = F(a[lane]...) ? -1 : 0;
  }
  return mask_of(flags);
}

/// How a comparison's result t becomes the predicates p and q: bits of Op::imm.
struct Combine {
  static constexpr std::int64_t invert = 1; // the comparison is the opposite of F
  static constexpr std::int64_t plain = 0;  // p = t, q = !t
  static constexpr std::int64_t with_and = 2;
  static constexpr std::int64_t with_or = 4;
  static constexpr std::int64_t with_xor = 6;
  static constexpr std::int64_t operation = 6;
  static constexpr std::int64_t negate_c = 8;
};

/// p = BoolOp(t, c), q = BoolOp(!t, c); op.d is p, op.e is q (each may be none), op.c is c.
inline void store_comparison(Exec& exec, const Op& op, LaneMask t) {
  t ^= (op.imm & Combine::invert) != 0 ? all_lanes : 0;
  LaneMask p = t;
  LaneMask q = ~t;
  if (!op.c.none()) {
    const LaneMask c = exec.predicate(op.c) ^ ((op.imm & Combine::negate_c) != 0 ? all_lanes : 0);
    switch (op.imm & Combine::operation) {
    case Combine::with_and:
      p = t & c;
      q = ~t & c;
      break;
    case Combine::with_or:
      p = t | c;
      q = ~t | c;
      break;
    default:
      p = t ^ c;
      q = ~t ^ c;
      break;
    }
  }
  if (!op.d.none()) {
    exec.set_predicate(op.d, p);
  }
  if (!op.e.none()) {
    exec.set_predicate(op.e, q);
  }
}

/// setp: F compares op.a and op.b.
template <auto F, class T> const Op* compare(Exec& exec, const Op& op) {
  store_comparison(exec, op, lanes_where<F>(exec.mask(), exec.in<T>(op.a), exec.in<T>(op.b)));
  return &op + 1;
}

/// One operand, one predicate (testp, isspacep).
template <auto F, class T> const Op* test(Exec& exec, const Op& op) {
  store_comparison(exec, op, lanes_where<F>(exec.mask(), exec.in<T>(op.a)));
  return &op + 1;
}

} // namespace heddle::isa
